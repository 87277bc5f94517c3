//! A scenario as it is written. Types say what is well-formed; whether it can be simulated is up to
//! [`scenario`](super::scenario).

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use super::curve::{Capacity, Demand, Shape};
use super::units::{SECOND, Time};

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a scenario")]
pub(crate) struct Written {
    pub(crate) title: String,
    #[serde(default)]
    pub(crate) about: String,
    #[serde(default)]
    pub(crate) seed: u64,
    pub(crate) duration: Time,
    #[serde(default)]
    pub(crate) warm_up: Time,
    pub(crate) cluster: Value,
    /// The proxies are the local cluster that zone-aware routing compares with.
    #[serde(default)]
    pub(crate) local_cluster: bool,
    pub(crate) zones: Vec<Zone>,
    pub(crate) proxies: Vec<WrittenProxy>,
    #[serde(default)]
    pub(crate) requests: Requests,
    #[serde(default)]
    pub(crate) reports: Reports,
    #[serde(default)]
    pub(crate) events: Vec<WrittenEvent>,
    #[serde(default)]
    pub(crate) expect: WrittenExpectations,
}

/// The hosts of one zone.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a zone")]
pub(crate) struct Zone {
    pub(crate) name: String,
    pub(crate) hosts: u32,
    /// Requests per second; needed where there are hosts.
    pub(crate) capacity: Option<Capacity>,
    /// The weight of the locality.
    pub(crate) weight: Option<u32>,
    #[serde(default)]
    pub(crate) priority: u32,
}

/// A proxy and who uses it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "a proxy")]
pub(crate) struct WrittenProxy {
    pub(crate) name: String,
    pub(crate) zone: String,
    pub(crate) demand: Demand,
    #[serde(default)]
    pub(crate) curve: Shape,
}

/// What requests are like.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "arrivals and latency")]
pub(crate) struct Requests {
    pub(crate) arrivals: Arrivals,
    /// The mean; how long each takes is drawn from an exponential distribution.
    pub(crate) latency: Time,
}

/// How requests follow each other.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Arrivals {
    /// At equal distances.
    #[default]
    Steady,
    /// Independent of each other.
    Poisson,
}

/// What hosts say of their load, and how it gets to the proxies.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(
    deny_unknown_fields,
    default,
    expecting = "window, utilization_window, rps, delay, loss and out_of_band"
)]
pub(crate) struct Reports {
    /// How far back a host looks to measure its rate.
    pub(crate) window: Time,
    /// How far back it looks to measure its utilization; `None` as far.
    pub(crate) utilization_window: Option<Time>,
    /// It says how many requests it serves.
    pub(crate) rps: bool,
    /// How old a report is when it gets to the proxy.
    pub(crate) delay: Time,
    /// The part of the reports that gets lost.
    pub(crate) loss: f64,
    /// Reports do not come with responses, but so often.
    pub(crate) out_of_band: Option<Time>,
}

impl Default for Reports {
    fn default() -> Self {
        Self {
            window: Time(5 * SECOND),
            utilization_window: None,
            rps: true,
            delay: Time(0),
            loss: 0.0,
            out_of_band: None,
        }
    }
}

/// Something that happens; exactly one of the keys besides `at` is there.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "an event")]
pub(crate) struct WrittenEvent {
    pub(crate) at: Time,
    pub(crate) hosts_down: Option<HostsDown>,
    pub(crate) hosts_up: Option<HostsUp>,
    pub(crate) add_zone: Option<Zone>,
    pub(crate) remove_zone: Option<String>,
    pub(crate) silence: Option<String>,
    pub(crate) end_silence: Option<String>,
    pub(crate) restart: Option<String>,
    pub(crate) new_worker: Option<String>,
    pub(crate) stall: Option<Stall>,
    pub(crate) clock_jump: Option<ClockJump>,
}

/// Hosts stop serving.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "zone, hosts and noticed_after")]
pub(crate) struct HostsDown {
    pub(crate) zone: String,
    /// How many of those that are up; all without it.
    pub(crate) hosts: Option<u32>,
    /// How long it takes the proxies to eject them.
    #[serde(default)]
    pub(crate) noticed_after: Time,
}

/// Hosts serve again, and the proxies know it at once.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "zone and hosts")]
pub(crate) struct HostsUp {
    pub(crate) zone: String,
    pub(crate) hosts: Option<u32>,
}

/// A control loop that does not run.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "proxy and lasts")]
pub(crate) struct Stall {
    /// Of which proxy; of all without it.
    pub(crate) proxy: Option<String>,
    pub(crate) lasts: Time,
}

/// A clock that leaps.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, expecting = "proxy and by")]
pub(crate) struct ClockJump {
    /// Of which proxy; of all without it.
    pub(crate) proxy: Option<String>,
    pub(crate) by: Time,
}

/// Bounds by name, for each behavior.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default, expecting = "bounds for envoy and native")]
pub(crate) struct WrittenExpectations {
    pub(crate) envoy: BTreeMap<String, f64>,
    pub(crate) native: BTreeMap<String, f64>,
}
