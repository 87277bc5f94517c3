//! Load reports: as a response brings them, or as an object.

use plimsoll::orca::{Headers, Parser, Report, ReportError};
use plimsoll::{Error, ReportRejected, ResponseLoad};
use plimsoll_envoy_config::parse_load_report;
use plimsoll_json::load_report;
use serde_json::{Value, json};

use super::cluster::{ReplayCluster, open_worker_of};
use super::op::{HeaderValues, Report as Operation};
use super::session::invalid;

/// What became of a report.
pub(crate) enum Reported {
    Taken,
    Echo(Value),
}

/// Why a report was refused: the error that results show.
pub(crate) enum Refused {
    Error(Error),
    /// It cannot be read: Envoy's text.
    Unreadable(String),
}

impl From<Error> for Refused {
    fn from(error: Error) -> Self {
        Self::Error(error)
    }
}

impl ReplayCluster {
    /// Takes a report of a host in. With `echo` the report comes back, whatever the policy makes of
    /// it. A policy that does not go by reports ignores them.
    pub(super) fn report(&mut self, operation: &Operation) -> Result<Reported, Refused> {
        open_worker_of(&mut self.workers, operation.worker)?;
        self.check_hosts(std::slice::from_ref(&operation.host))?;
        let Operation { host, orca, headers, trailers, echo, .. } = operation;
        let (cluster, behavior) = (&self.cluster, self.behavior);
        let take = |report: Report<'_>| {
            let taken = cluster.report(host, &report, 0);
            match taken {
                _ if *echo => Ok(Reported::Echo(load_report(&report.to_owned_report()))),
                Ok(()) | Err(Error::ReportRejected { why: ReportRejected::NotWanted, .. }) => {
                    Ok(Reported::Taken)
                }
                Err(error) => Err(Refused::Error(error)),
            }
        };
        if let Some(orca) = orca {
            if headers.is_some() || trailers.is_some() {
                let message = "a report is either an object or in headers and trailers";
                return Err(Refused::Error(invalid("orca", message)));
            }
            let text = Value::Object(orca.clone()).to_string();
            let report = parse_load_report(text.as_bytes());
            let report = report.map_err(|error| invalid("orca", error.to_string()))?;
            return take(report.as_report());
        }
        let headers = bytes("headers", headers.iter().flatten())?;
        let trailers = bytes("trailers", trailers.iter().flatten())?;
        let load = ResponseLoad {
            headers: found(&headers),
            trailers: found(&trailers),
            json: Some(&parse_load_report),
        };
        load.read(&mut Parser::new(), behavior, |report| match report {
            Ok(report) => take(report),
            Err(error) => Err(unreadable(&error)),
        })
    }
}

impl Refused {
    /// What an operation that failed gives.
    pub(super) fn to_json(&self) -> Value {
        match self {
            Self::Error(error) => {
                json!({"code": error.code(), "field": error.field(), "message": error.to_string()})
            }
            Self::Unreadable(message) => {
                json!({"code": "report_rejected", "field": "", "message": message})
            }
        }
    }
}

fn unreadable(error: &ReportError<'_>) -> Refused {
    Refused::Unreadable(error.to_string())
}

/// Names and values as bytes.
pub(super) type Bytes<'a> = Vec<(&'a str, Vec<u8>)>;

/// Every value with its name; `field` is what they stand in.
pub(super) fn bytes<'a>(
    field: &str,
    headers: impl IntoIterator<Item = (&'a String, &'a HeaderValues)>,
) -> Result<Bytes<'a>, Error> {
    let mut all = Vec::new();
    for (name, values) in headers {
        let values = match values {
            HeaderValues::One(value) => std::slice::from_ref(value),
            HeaderValues::Several(values) => values,
        };
        for value in values {
            let value =
                value.bytes().map_err(|message| invalid(format!("{field}.{name}"), message))?;
            all.push((name.as_str(), value));
        }
    }
    Ok(all)
}

fn found<'a>(headers: &'a Bytes<'_>) -> Headers<'a> {
    Headers::find(headers.iter().map(|(name, value)| (*name, value.as_slice())))
}
