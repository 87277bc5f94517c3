//! The policy's own configuration: the part of Envoy's `Cluster` message that concerns balancing,
//! in its JSON form, and four fields of ours.
//!
//! Everything that would have no effect inside Envoy is refused, because whoever writes it expects
//! one.

use plimsoll::config::{
    Behavior, ClusterConfig, ConfigError, HostStatuses, LocalityRouting, Policy, Problem,
};
use plimsoll::{Locality, Options};
use plimsoll_envoy_config::{
    ParseError, assignment_from_value, cluster_from_value, is_field, parse_value,
};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// What a cluster's configuration says. The cluster's name is not known when it is read.
#[derive(Debug, Clone)]
pub(crate) struct Settings {
    pub(crate) config: ClusterConfig,
    pub(crate) overprovisioning_factor: u32,
    pub(crate) weighted_priority_health: bool,
    node_locality: Option<Locality>,
    seed: Option<u64>,
}

/// The fields of `Cluster` that may stand in it.
const CLUSTER_FIELDS: [&str; 8] = [
    "common_lb_config",
    "lb_policy",
    "least_request_lb_config",
    "load_assignment",
    "load_balancing_policy",
    "maglev_lb_config",
    "ring_hash_lb_config",
    "round_robin_lb_config",
];

/// A place in Envoy's JSON form.
#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Place {
    region: String,
    zone: String,
    #[serde(alias = "subZone")]
    sub_zone: String,
}

impl Settings {
    /// Reads a `google.protobuf.Struct`, which Envoy hands over as JSON, or the text of a
    /// `StringValue`, which may be YAML as well. Nothing at all is the default of everything.
    pub(crate) fn read(policy_name: &str, text: &[u8]) -> Result<Self, ParseError> {
        if policy_name != "plimsoll" {
            let message = format!("there is no policy {policy_name:?} here, only \"plimsoll\"");
            return Err(invalid("lb_policy_name", message).into());
        }
        let text = str::from_utf8(text).map_err(|error| invalid("", error.to_string()))?;
        let fields = match text.trim() {
            "" => Map::new(),
            text => match parse_value(text)? {
                Value::Object(fields) => fields,
                _ => return Err(wrong_type("", "an object").into()),
            },
        };
        Ok(Self::of(fields)?)
    }

    fn of(mut fields: Map<String, Value>) -> Result<Self, ConfigError> {
        let behavior = behavior(fields.remove("behavior"))?;
        let seed = seed(fields.remove("seed"))?;
        let node_locality = node_locality(take(&mut fields, "node_locality"))?;
        let (overprovisioning_factor, weighted_priority_health) = of_assignment(&mut fields)?;
        let known = |key: &str| CLUSTER_FIELDS.iter().any(|name| is_field(key, name));
        if let Some(name) = fields.keys().find(|key| !known(key)) {
            return Err(ConfigError::new(name, Problem::UnknownField { name: name.clone() }));
        }
        // A name is required there, and Envoy does not say it here.
        fields.insert("name".to_owned(), json!("plimsoll"));
        let mut config = cluster_from_value(&Value::Object(fields))?.config;
        if is_switched_off(&config.locality_routing) {
            config.locality_routing = LocalityRouting::Unset;
        }
        has_all_it_needs(&config)?;
        config.behavior = behavior;
        // Envoy decides which hosts requests may name, before it asks its policy.
        config.override_host_status = HostStatuses::ALL;
        Ok(Self { config, overprovisioning_factor, weighted_priority_health, node_locality, seed })
    }

    /// The same for a cluster of this name.
    pub(crate) fn named(&self, cluster: &str) -> ClusterConfig {
        ClusterConfig { name: cluster.to_owned(), ..self.config.clone() }
    }

    pub(crate) fn options(&self, now_ns: u64) -> Options {
        Options {
            node_locality: self.node_locality.clone(),
            seed: self.seed,
            now_ns,
            ..Options::default()
        }
    }
}

/// `fail_traffic_on_panic` stands among the settings of zone-aware routing, which may be for that alone.
fn is_switched_off(routing: &LocalityRouting) -> bool {
    matches!(routing, LocalityRouting::ZoneAware(routing) if routing.routing_enabled <= 0.0)
}

/// What Envoy does not tell a module cannot be gone by.
fn has_all_it_needs(config: &ClusterConfig) -> Result<(), ConfigError> {
    let unsupported = |field: &str, what: &str| {
        Err(ConfigError::new(field, Problem::Unsupported { what: what.to_owned() }))
    };
    let routing = &config.locality_routing;
    let streams = match (&config.policy, routing) {
        (Policy::ClientSideWeightedRoundRobin(policy), _) if policy.enable_oob_load_report => true,
        (_, LocalityRouting::LoadAware(routing)) => routing.enable_oob_load_report,
        _ => false,
    };
    if streams {
        let what = "a stream of load reports: a module of Envoy has no connections of its own";
        return unsupported("enable_oob_load_report", what);
    }
    if matches!(routing, LocalityRouting::ZoneAware(_)) {
        let what = "zone-aware routing: Envoy does not show its modules the local cluster \
                    (routing_enabled: {value: 0} switches it off)";
        return unsupported("zone_aware_lb_config", what);
    }
    if config.override_host.is_some() {
        let what =
            "override_host inside: put Envoy's own around, with this policy as fallback_policy";
        return unsupported("override_host", what);
    }
    if config.ignore_new_hosts_until_first_hc {
        let what = "ignore_new_hosts_until_first_hc: Envoy does not tell its modules which hosts \
                    wait for a check";
        return unsupported("ignore_new_hosts_until_first_hc", what);
    }
    if config.override_host_status != HostStatuses::default() {
        let what = "override_host_status here: it belongs to Envoy's own cluster";
        return unsupported("override_host_status", what);
    }
    let Some(hashing) = config.policy.consistent_hashing() else { return Ok(()) };
    if hashing.use_hostname_for_hashing {
        let what = "use_hostname_for_hashing: Envoy does not tell its modules the names of hosts";
        return unsupported("use_hostname_for_hashing", what);
    }
    if !hashing.hash_policy.is_empty() {
        let what = "hash_policy here: the route's own hash_policy is what counts";
        return unsupported("hash_policy", what);
    }
    Ok(())
}

fn behavior(value: Option<Value>) -> Result<Behavior, ConfigError> {
    match value {
        None | Some(Value::Null) => Ok(Behavior::default()),
        Some(Value::String(name)) if name == "native" => Ok(Behavior::Native),
        Some(Value::String(name)) if name == "envoy" => Ok(Behavior::Envoy),
        Some(_) => Err(wrong_type("behavior", "native or envoy")),
    }
}

/// A number of 64 bits does not fit into JSON as Envoy writes it, so that it may be a text.
fn seed(value: Option<Value>) -> Result<Option<u64>, ConfigError> {
    let seed = match value {
        None | Some(Value::Null) => return Ok(None),
        Some(Value::String(text)) => text.parse().ok(),
        Some(number) => number.as_u64(),
    };
    let expected = "an integer from 0 to 18446744073709551615, in quotes above 2^53";
    seed.map(Some).ok_or_else(|| wrong_type("seed", expected))
}

fn node_locality(value: Option<Value>) -> Result<Option<Locality>, ConfigError> {
    let Some(value) = value.filter(|value| !value.is_null()) else { return Ok(None) };
    let place = Place::deserialize(value);
    let Place { region, zone, sub_zone } =
        place.map_err(|error| invalid("node_locality", error.to_string()))?;
    Ok(Some(Locality { region, zone, sub_zone }))
}

/// Of `load_assignment` only its `policy` means something: hosts are Envoy's.
fn of_assignment(fields: &mut Map<String, Value>) -> Result<(u32, bool), ConfigError> {
    let Some(value) = take(fields, "load_assignment") else { return Ok((140, false)) };
    let Value::Object(mut assignment) = value else {
        return Err(wrong_type("load_assignment", "an object"));
    };
    assignment.insert("cluster_name".to_owned(), json!("plimsoll"));
    let assignment = assignment_from_value(&Value::Object(assignment))
        .map_err(|error| error.within("load_assignment"))?;
    if !assignment.endpoints.is_empty() {
        let message = "hosts are those of Envoy's cluster; only policy belongs here".to_owned();
        return Err(invalid("load_assignment.endpoints", message));
    }
    Ok((assignment.overprovisioning_factor, assignment.weighted_priority_health))
}

/// Takes a field out, in either spelling.
fn take(fields: &mut Map<String, Value>, name: &str) -> Option<Value> {
    let key = fields.keys().find(|key| is_field(key, name)).cloned()?;
    fields.remove(&key)
}

fn invalid(field: &str, message: String) -> ConfigError {
    ConfigError::new(field, Problem::Invalid { message })
}

fn wrong_type(field: &str, expected: &'static str) -> ConfigError {
    ConfigError::new(field, Problem::WrongType { expected })
}

#[cfg(test)]
mod tests;
