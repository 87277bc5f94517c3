//! Which policy a cluster uses: `load_balancing_policy`, or the older `lb_policy`.
//!
//! Envoy goes through the list of `load_balancing_policy` and takes the first entry whose
//! `typed_config` has a type that it knows; entries before it are for other or newer proxies and
//! are skipped. So an entry that Envoy 1.40 would take and this version does not have is an error,
//! never skipped: the next entry would balance differently from Envoy.
//!
//! //= envoy v1.40 source/common/upstream/upstream_impl.cc#ClusterInfoImpl::configureLbPolicies

use plimsoll::config::{ConfigError, OverrideHost, Policy, Problem};

use crate::extension::{self, Extension};
use crate::locality::{Localities, locality_lb_config, locality_weighted_lb_config};
use crate::locality_policy::{load_aware_locality, wrr_locality};
use crate::message::{Message, Result, unsupported};
use crate::override_host::override_host;
use crate::scalars::Choices;
use crate::settings::{self, Known, LocalityConfig};

/// A policy that chooses hosts, and what comes before it: hosts that the request names, and the
/// choice of a locality.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    pub(crate) policy: Policy,
    pub(crate) localities: Localities,
    pub(crate) override_host: Option<OverrideHost>,
}

const PREFIX: &str = "envoy.extensions.load_balancing_policies.";

/// The types that Envoy 1.40.0 takes and this version does not, without their common prefix. The
/// first part is the policy's name.
const ENVOYS_OTHERS: [&str; 3] = [
    "cluster_provided.v3.ClusterProvided",
    "dynamic_modules.v3.DynamicModulesLoadBalancerConfig",
    "subset.v3.Subset",
];

/// A type that Envoy 1.40.0 takes.
pub(crate) enum Kind<'a> {
    /// One that chooses hosts.
    Hosts(Known),
    /// One that weighs localities, with another inside.
    WrrLocality,
    /// One that compares the load of localities, with another inside.
    LoadAwareLocality,
    /// One that lets requests name their hosts, with another inside.
    OverrideHost,
    /// One that the engine does not have, by its name.
    EnvoysOther(&'a str),
}

impl<'a> Kind<'a> {
    fn of(type_name: &'a str) -> Option<Self> {
        let kind = match type_name.strip_prefix(PREFIX)? {
            "round_robin.v3.RoundRobin" => Self::Hosts(Known::RoundRobin),
            "least_request.v3.LeastRequest" => Self::Hosts(Known::LeastRequest),
            "client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin" => {
                Self::Hosts(Known::ClientSideWeightedRoundRobin)
            }
            "random.v3.Random" => Self::Hosts(Known::Random),
            "ring_hash.v3.RingHash" => Self::Hosts(Known::RingHash),
            "maglev.v3.Maglev" => Self::Hosts(Known::Maglev),
            "wrr_locality.v3.WrrLocality" => Self::WrrLocality,
            "load_aware_locality.v3.LoadAwareLocality" => Self::LoadAwareLocality,
            "override_host.v3.OverrideHost" => Self::OverrideHost,
            other if ENVOYS_OTHERS.contains(&other) => {
                Self::EnvoysOther(other.split_once('.').map_or(other, |(policy, _)| policy))
            }
            _ => return None,
        };
        Some(kind)
    }
}

/// Reads `load_balancing_policy`; `cluster` is the cluster's name for Envoy's text.
pub(crate) fn load_balancing_policy(list: &mut Message<'_>, cluster: &str) -> Result<Chosen> {
    let policies = extension::policies(list)?;
    let chosen = first_known(&policies, |kind, extension| match kind {
        Kind::Hosts(known) => extension.read(|config| host_policy(known, config)),
        Kind::WrrLocality => extension.read(wrr_locality),
        Kind::LoadAwareLocality => extension.read(load_aware_locality),
        Kind::OverrideHost => extension.read(override_host),
        Kind::EnvoysOther(policy) => Err(not_there(policy)),
    })?;
    chosen.ok_or_else(|| {
        let names: Vec<&str> = policies.iter().map(|extension| extension.name).collect();
        let message = format!(
            "cluster: didn't find a registered load balancer factory implementation for cluster: \
             '{cluster}' with names from [{}]",
            names.join(", ")
        );
        ConfigError::new("", Problem::Invalid { message })
    })
}

/// Reads the first entry of a list that Envoy knows, if it knows any. Errors of `read` get the path
/// of that entry.
pub(crate) fn first_known<T>(
    policies: &[Extension<'_>],
    read: impl FnOnce(Kind<'_>, &Extension<'_>) -> Result<T>,
) -> Result<Option<T>> {
    let known = policies.iter().enumerate().find_map(|(index, extension)| {
        Kind::of(extension.type_name).map(|kind| (index, kind, extension))
    });
    let Some((index, kind, extension)) = known else { return Ok(None) };
    let path = format!("policies[{index}].typed_extension_config.typed_config");
    read(kind, extension).map(Some).map_err(|error| error.within(&path))
}

/// Reads the own message of a policy that chooses hosts.
pub(crate) fn host_policy(known: Known, config: &mut Message<'_>) -> Result<Chosen> {
    let policy = settings::own(known, config)?;
    let localities = match known.locality_config() {
        LocalityConfig::Any => config.message("locality_lb_config", locality_lb_config)?,
        LocalityConfig::Weighted => locality_weighted_lb_config(config)?,
        LocalityConfig::Nothing => None,
    };
    Ok(Chosen { policy, localities: localities.unwrap_or_default(), override_host: None })
}

/// The error for a policy of Envoy's that the engine does not have.
pub(crate) fn not_there(policy: &str) -> ConfigError {
    unsupported("", format!("the policy {policy}"))
}

/// A value of the older `lb_policy`.
#[derive(Debug, Clone, Copy)]
pub(crate) enum LegacyPolicy {
    /// One that the engine has.
    Known(Known),
    /// One that Envoy has, by its name.
    EnvoysOther(&'static str),
    /// The policy is in `load_balancing_policy`.
    Elsewhere,
}

/// The values of `lb_policy`. 4 was `ORIGINAL_DST_LB`, which Envoy no longer has.
pub(crate) const LB_POLICY: Choices<LegacyPolicy> = Choices {
    expected: "ROUND_ROBIN, LEAST_REQUEST, RING_HASH, RANDOM, MAGLEV, CLUSTER_PROVIDED or \
               LOAD_BALANCING_POLICY_CONFIG",
    values: &[
        ("ROUND_ROBIN", 0, LegacyPolicy::Known(Known::RoundRobin)),
        ("LEAST_REQUEST", 1, LegacyPolicy::Known(Known::LeastRequest)),
        ("RING_HASH", 2, LegacyPolicy::Known(Known::RingHash)),
        ("RANDOM", 3, LegacyPolicy::Known(Known::Random)),
        ("MAGLEV", 5, LegacyPolicy::Known(Known::Maglev)),
        ("CLUSTER_PROVIDED", 6, LegacyPolicy::EnvoysOther("CLUSTER_PROVIDED")),
        ("LOAD_BALANCING_POLICY_CONFIG", 7, LegacyPolicy::Elsewhere),
    ],
};
