//! What a policy that follows load reports says about the reports. Envoy has these fields in
//! `ClientSideWeightedRoundRobin` and in `LoadAwareLocality`, with the same meaning.

use std::time::Duration;

use plimsoll::config::{ConfigError, OutOfBandReporting};
use serde_json::Value;

use crate::message::{Message, Result};
use crate::scalars;

/// Which reports there are, and what counts in them.
pub(crate) struct Reporting {
    pub(crate) enable_oob_load_report: bool,
    pub(crate) oob_reporting_period: Option<Duration>,
    pub(crate) oob_reporting_config: OutOfBandReporting,
    pub(crate) metric_names_for_computing_utilization: Vec<String>,
}

/// Takes the fields of a policy's message that are about reports.
pub(crate) fn read(config: &mut Message<'_>) -> Result<Reporting> {
    let reporting = config.message("oob_reporting_config", oob_reporting_config)?;
    Ok(Reporting {
        enable_oob_load_report: config.boolean("enable_oob_load_report")?,
        oob_reporting_period: config.duration("oob_reporting_period")?,
        oob_reporting_config: reporting.unwrap_or_default(),
        metric_names_for_computing_utilization: config
            .each("metric_names_for_computing_utilization", name)?,
    })
}

fn name(value: &Value) -> Result<String> {
    scalars::string(value).map(str::to_owned).map_err(|problem| ConfigError::new("", problem))
}

/// Which transport socket a stream takes is the caller's business.
fn oob_reporting_config(config: &mut Message<'_>) -> Result<OutOfBandReporting> {
    config.value("transport_socket_match_criteria")?;
    Ok(OutOfBandReporting {
        port_value: config.uint32("port_value")?.unwrap_or_default(),
        authority: config.string("authority")?.to_owned(),
    })
}
