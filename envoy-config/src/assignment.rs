//! The `ClusterLoadAssignment` message: groups of hosts by locality and priority.

use plimsoll::config::{Assignment, ConfigError, Endpoint, LocalityEndpoints, Problem};
use plimsoll::{Address, EdsHealth, Locality};
use serde_json::{Map, Value};

use crate::address::{self, HostAddress};
use crate::fields::{
    IGNORED_ENDPOINT_FIELDS, IGNORED_HEALTH_CHECK_FIELDS, IGNORED_LOCALITY_FIELDS,
    IGNORED_METADATA_FIELDS, REFUSED_ASSIGNMENT_FIELDS, REFUSED_LB_ENDPOINT_FIELDS,
    REFUSED_LOCALITY_FIELDS,
};
use crate::message::{self, Message, Result, required, unsupported};
use crate::scalars::Choices;

pub(crate) const HEALTH_STATUS: Choices<EdsHealth> = Choices {
    expected: "UNKNOWN, HEALTHY, UNHEALTHY, DRAINING, TIMEOUT or DEGRADED",
    values: &[
        ("UNKNOWN", 0, EdsHealth::Unknown),
        ("HEALTHY", 1, EdsHealth::Healthy),
        ("UNHEALTHY", 2, EdsHealth::Unhealthy),
        ("DRAINING", 3, EdsHealth::Draining),
        ("TIMEOUT", 4, EdsHealth::Timeout),
        ("DEGRADED", 5, EdsHealth::Degraded),
    ],
};

/// Reads an assignment; the engine's own ranges are not checked yet.
pub(crate) fn read(value: &Value) -> Result<Assignment> {
    message::read(value, |assignment| {
        let rule = "ClusterLoadAssignmentValidationError.ClusterName";
        let cluster = assignment.required_string("cluster_name", rule)?;
        assignment.refuse(REFUSED_ASSIGNMENT_FIELDS)?;
        let endpoints = assignment.each("endpoints", |group| locality_endpoints(group, cluster))?;
        let hosts = Assignment { endpoints, ..Assignment::default() };
        let policy = assignment.message("policy", policy)?.unwrap_or_default();
        Ok(Assignment {
            overprovisioning_factor: policy
                .overprovisioning_factor
                .unwrap_or(hosts.overprovisioning_factor),
            weighted_priority_health: policy.weighted_priority_health,
            ..hosts
        })
    })
}

#[derive(Default)]
struct AssignmentPolicy {
    overprovisioning_factor: Option<u32>,
    weighted_priority_health: bool,
}

fn policy(policy: &mut Message<'_>) -> Result<AssignmentPolicy> {
    let overloads = policy.each("drop_overloads", |_| Ok(()))?.len();
    drop_overloads(overloads)?;
    if policy.duration("endpoint_stale_after")?.is_some_and(|after| after.is_zero()) {
        let message = "PolicyValidationError.EndpointStaleAfter: value must be greater than 0s";
        let problem = Problem::Invalid { message: message.to_owned() };
        return Err(ConfigError::new("endpoint_stale_after", problem));
    }
    Ok(AssignmentPolicy {
        overprovisioning_factor: policy.uint32("overprovisioning_factor")?,
        weighted_priority_health: policy.boolean("weighted_priority_health")?,
    })
}

/// Envoy drops a share of the requests for one category, and refuses more than one.
fn drop_overloads(categories: usize) -> Result<()> {
    match categories {
        0 => Ok(()),
        1 => Err(unsupported("drop_overloads", "drop_overloads")),
        _ => {
            let message = format!(
                "Cluster drop_overloads config has {categories} categories. Envoy only support one."
            );
            Err(ConfigError::new("drop_overloads", Problem::Invalid { message }))
        }
    }
}

fn locality_endpoints(value: &Value, cluster: &str) -> Result<LocalityEndpoints> {
    message::read(value, |group| {
        let endpoints = group.each("lb_endpoints", |host| message::read(host, lb_endpoint))?;
        endpoint_discovery(group, cluster, endpoints.is_empty())?;
        group.refuse(REFUSED_LOCALITY_FIELDS)?;
        group.ignore(IGNORED_LOCALITY_FIELDS)?;
        Ok(LocalityEndpoints {
            locality: group.message("locality", locality)?.unwrap_or_default(),
            priority: group.uint32("priority")?.unwrap_or_default(),
            load_balancing_weight: group.uint32("load_balancing_weight")?,
            endpoints,
        })
    })
}

/// Hosts that come from a collection elsewhere. Even without any setting Envoy would look for
/// them there; besides a list of hosts it refuses them itself.
fn endpoint_discovery(group: &mut Message<'_>, cluster: &str, alone: bool) -> Result<()> {
    let name = "leds_cluster_locality_config";
    let Some(discovery) = group.value(name)? else { return Ok(()) };
    if alone {
        return Err(unsupported(name, name));
    }
    let resource = discovery
        .get("leds_collection_name")
        .or_else(|| discovery.get("ledsCollectionName"))
        .and_then(Value::as_str)
        .unwrap_or_default();
    let message = format!(
        "A ClusterLoadAssignment for cluster {cluster} cannot include both LEDS (resource: \
         {resource}) and a list of endpoints."
    );
    Err(ConfigError::new(name, Problem::Invalid { message }))
}

fn locality(locality: &mut Message<'_>) -> Result<Locality> {
    Ok(Locality::new(
        locality.string("region")?,
        locality.string("zone")?,
        locality.string("sub_zone")?,
    ))
}

fn lb_endpoint(host: &mut Message<'_>) -> Result<Endpoint> {
    host.refuse(REFUSED_LB_ENDPOINT_FIELDS)?;
    let endpoint = required("endpoint", host.message("endpoint", endpoint)?)?;
    Ok(Endpoint {
        load_balancing_weight: host
            .uint32("load_balancing_weight")?
            .unwrap_or(endpoint.load_balancing_weight),
        health_status: host.choice("health_status", &HEALTH_STATUS)?.unwrap_or_default(),
        hash_key: host.message("metadata", hash_key)?.unwrap_or_default(),
        ..endpoint
    })
}

//= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#ThreadAwareLoadBalancerBase::hashKey
/// The only metadata that is read: `hash_key` of `envoy.lb`. If it is no string, Envoy goes by the
/// address.
fn hash_key(metadata: &mut Message<'_>) -> Result<String> {
    metadata.ignore(IGNORED_METADATA_FIELDS)?;
    let name = "filter_metadata";
    let Some(filters) = metadata.value(name)? else { return Ok(String::new()) };
    let filters = object(filters).map_err(|error| error.within(name))?;
    let Some(own) = filters.get(LOAD_BALANCERS) else { return Ok(String::new()) };
    let own = object(own).map_err(|error| error.within(&format!("{name}.{LOAD_BALANCERS}")))?;
    Ok(own.get("hash_key").and_then(Value::as_str).unwrap_or_default().to_owned())
}

/// Whose metadata balancing goes by.
const LOAD_BALANCERS: &str = "envoy.lb";

fn object(value: &Value) -> Result<&Map<String, Value>> {
    let problem = Problem::WrongType { expected: "an object" };
    value.as_object().ok_or_else(|| ConfigError::new("", problem))
}

fn endpoint(host: &mut Message<'_>) -> Result<Endpoint> {
    host.ignore(IGNORED_ENDPOINT_FIELDS)?;
    let address = required("address", address(host)?)?;
    let checks =
        host.message("health_check_config", |config| health_check_config(config, address.clone()))?;
    let (check_address, disable_active_health_check) = checks.unwrap_or_default();
    let address = Address::from(address.into_text());
    Ok(Endpoint {
        hostname: host.string("hostname")?.to_owned(),
        disable_active_health_check,
        health_check_address: check_address.filter(|checked| *checked != address),
        ..Endpoint::new(address)
    })
}

//= envoy v1.40 source/common/upstream/upstream_impl.cc#resolveHealthCheckAddress
/// Where health checks go, and whether there are none. A port of its own replaces the port of
/// whichever address the checks would go to otherwise.
fn health_check_config(
    config: &mut Message<'_>,
    host: HostAddress,
) -> Result<(Option<Address>, bool)> {
    config.ignore(IGNORED_HEALTH_CHECK_FIELDS)?;
    let port = address::port(config, "HealthCheckConfigValidationError.PortValue")?;
    let address = address(config)?.unwrap_or(host);
    let address = match port {
        None | Some(0) => address,
        Some(port) => address.with_port(port).ok_or_else(|| {
            let message = "a port needs a socket_address".to_owned();
            ConfigError::new("port_value", Problem::Invalid { message })
        })?,
    };
    let disabled = config.boolean("disable_active_health_check")?;
    Ok((Some(Address::from(address.into_text())), disabled))
}

fn address(message: &mut Message<'_>) -> Result<Option<HostAddress>> {
    let value = message.value("address")?;
    value.map(address::read).transpose().map_err(|error| error.within("address"))
}
