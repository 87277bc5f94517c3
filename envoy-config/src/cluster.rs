//! The `Cluster` message: the settings of a cluster, and its hosts if it carries them.

use plimsoll::config::{Assignment, ClusterConfig, ConfigError, Problem};
use serde_json::Value;

use crate::assignment;
use crate::common::{self, CommonLbConfig};
use crate::fields::{IGNORED_CLUSTER_FIELDS, REFUSED_CLUSTER_FIELDS};
use crate::message::{self, Message, Result, unsupported};
use crate::policy::{self, Chosen, LB_POLICY, LegacyPolicy};
use crate::scalars::Choices;
use crate::settings::{self, Known};

/// What a `Cluster` message says.
///
/// [`behavior`](ClusterConfig::behavior) is not part of Envoy's message: it is
/// [`Native`](plimsoll::config::Behavior::Native), and the caller may overwrite it.
#[derive(Debug, Clone, PartialEq)]
pub struct ClusterFile {
    /// The settings.
    pub config: ClusterConfig,
    /// The hosts, if the message has a `load_assignment`.
    pub assignment: Option<Assignment>,
}

/// Whether hosts come from somewhere that this crate can follow.
const DISCOVERY_TYPE: Choices<bool> = Choices {
    expected: "STATIC, STRICT_DNS, LOGICAL_DNS, EDS or ORIGINAL_DST",
    values: &[
        ("STATIC", 0, true),
        ("STRICT_DNS", 1, true),
        ("LOGICAL_DNS", 2, true),
        ("EDS", 3, true),
        ("ORIGINAL_DST", 4, false),
    ],
};

/// The extensions that do the same as a plain `type`.
const PLAIN_CLUSTER_TYPES: [&str; 5] = [
    "envoy.cluster.static",
    "envoy.cluster.strict_dns",
    "envoy.cluster.logical_dns",
    "envoy.cluster.eds",
    "envoy.clusters.dns",
];

/// The five places for settings of a policy, of which a cluster has one.
const LB_CONFIGS: [&str; 5] = [
    "ring_hash_lb_config",
    "maglev_lb_config",
    "original_dst_lb_config",
    "least_request_lb_config",
    "round_robin_lb_config",
];

/// Reads a cluster and checks it whole, the engine's ranges last.
pub(crate) fn read(value: &Value) -> Result<ClusterFile> {
    let file = message::read(value, cluster)?;
    file.config.validate()?;
    if let Some(assignment) = &file.assignment {
        assignment.validate().map_err(|error| error.within("load_assignment"))?;
    }
    Ok(file)
}

fn cluster(cluster: &mut Message<'_>) -> Result<ClusterFile> {
    let name = cluster.required_string("name", "ClusterValidationError.Name")?;
    discovery_type(cluster)?;
    let common = cluster.message("common_lb_config", common::read)?.unwrap_or_default();
    let chosen = chosen_policy(cluster, name, &common)?;
    cluster.refuse(REFUSED_CLUSTER_FIELDS)?;
    cluster.ignore(IGNORED_CLUSTER_FIELDS)?;

    let defaults = ClusterConfig::new(name);
    let threshold = common.healthy_panic_threshold.unwrap_or(defaults.healthy_panic_threshold);
    let checks = cluster.each("health_checks", |check| match check {
        Value::Object(_) => Ok(()),
        _ => Err(ConfigError::new("", Problem::WrongType { expected: "an object" })),
    })?;
    let config = ClusterConfig {
        policy: chosen.policy,
        healthy_panic_threshold: threshold,
        locality_routing: chosen.localities.routing,
        override_host: chosen.override_host,
        fail_traffic_on_panic: chosen.localities.fail_traffic_on_panic,
        active_health_checks: !checks.is_empty(),
        ignore_new_hosts_until_first_hc: common.ignore_new_hosts_until_first_hc,
        ignore_health_on_host_removal: cluster.boolean("ignore_health_on_host_removal")?,
        override_host_status: common.override_host_status.unwrap_or_default(),
        ..defaults
    };
    let assignment = cluster.value("load_assignment")?.map(assignment::read).transpose();
    let assignment = assignment.map_err(|error| error.within("load_assignment"))?;
    Ok(ClusterFile { config, assignment })
}

fn discovery_type(cluster: &mut Message<'_>) -> Result<()> {
    cluster.only_one_of(&["type", "cluster_type"])?;
    if cluster.choice("type", &DISCOVERY_TYPE)? == Some(false) {
        return Err(unsupported("type", "the type ORIGINAL_DST"));
    }
    let custom = cluster.message("cluster_type", |custom| {
        custom.value("typed_config")?;
        custom.required_string("name", "CustomClusterTypeValidationError.Name")
    })?;
    match custom {
        Some(name) if !PLAIN_CLUSTER_TYPES.contains(&name) => {
            Err(unsupported("cluster_type", format!("the cluster type {name}")))
        }
        _ => Ok(()),
    }
}

/// `load_balancing_policy` wins over `lb_policy`, but does not tolerate the older settings of
/// localities beside it.
fn chosen_policy(cluster: &mut Message<'_>, name: &str, common: &CommonLbConfig) -> Result<Chosen> {
    let legacy = cluster.choice("lb_policy", &LB_POLICY)?;
    let legacy = legacy.unwrap_or(LegacyPolicy::Known(Known::RoundRobin));
    cluster.only_one_of(&LB_CONFIGS)?;
    // Those of another policy than the chosen one have no effect, whatever their value is.
    settings::OLDER.iter().try_for_each(|name| cluster.value(name).map(drop))?;
    let listed = cluster
        .message("load_balancing_policy", |list| policy::load_balancing_policy(list, name))?;
    match (listed, legacy) {
        (Some(chosen), _) => {
            no_older_settings_beside_a_list(common)?;
            Ok(chosen)
        }
        (None, LegacyPolicy::Known(known)) => {
            let policy = settings::older(known, cluster, common.consistent_hashing.as_ref())?;
            let localities = common.localities.clone().unwrap_or_default();
            let chosen = Chosen { policy, localities, override_host: None };
            no_zones_with_hashes(&chosen)?;
            Ok(chosen)
        }
        (None, LegacyPolicy::EnvoysOther(policy)) => {
            Err(unsupported("lb_policy", format!("the policy {policy}")))
        }
        (None, LegacyPolicy::Elsewhere) => {
            let message = "cluster: field load_balancing_policy need to be set".to_owned();
            Err(ConfigError::new("load_balancing_policy", Problem::Invalid { message }))
        }
    }
}

/// The engine refuses them together, too, but does not know where they were said.
fn no_zones_with_hashes(chosen: &Chosen) -> Result<()> {
    let settings = ClusterConfig {
        policy: chosen.policy.clone(),
        locality_routing: chosen.localities.routing.clone(),
        ..ClusterConfig::new("")
    };
    settings.validate().map_err(|error| error.within("common_lb_config"))
}

fn no_older_settings_beside_a_list(common: &CommonLbConfig) -> Result<()> {
    if common.localities.is_none() && common.consistent_hashing.is_none() {
        return Ok(());
    }
    let message = "cluster: load_balancing_policy cannot be combined with partial fields \
                   (zone_aware_lb_config, locality_weighted_lb_config, \
                   consistent_hashing_lb_config) of common_lb_config";
    Err(ConfigError::new("common_lb_config", Problem::Invalid { message: message.to_owned() }))
}
