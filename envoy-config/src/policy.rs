//! Which policy a cluster uses: `load_balancing_policy`, or the older `lb_policy`.
//!
//! Envoy goes through the list of `load_balancing_policy` and takes the first entry whose
//! `typed_config` has a type that it knows; entries before it are for other or newer proxies and
//! are skipped. So an entry that Envoy 1.40 would take and this version does not have is an error,
//! never skipped: the next entry would balance differently from Envoy.
//!
//! //= envoy v1.40 source/common/upstream/upstream_impl.cc#ClusterInfoImpl::configureLbPolicies

use plimsoll::config::{ConfigError, Policy, Problem};
use serde_json::Value;

use crate::locality::{ZoneAware, locality_lb_config};
use crate::message::{self, Message, Result, required, unsupported};
use crate::scalars::Choices;
use crate::settings::{self, Known};

/// A policy with those of its settings that the engine has.
#[derive(Debug, Clone)]
pub(crate) struct Chosen {
    pub(crate) policy: Policy,
    pub(crate) zone_aware: ZoneAware,
}

const PREFIX: &str = "envoy.extensions.load_balancing_policies.";

/// The other types that Envoy 1.40.0 takes, without their common prefix. The first part is the
/// policy's name.
const ENVOYS_OTHERS: [&str; 8] = [
    "cluster_provided.v3.ClusterProvided",
    "dynamic_modules.v3.DynamicModulesLoadBalancerConfig",
    "load_aware_locality.v3.LoadAwareLocality",
    "maglev.v3.Maglev",
    "override_host.v3.OverrideHost",
    "ring_hash.v3.RingHash",
    "subset.v3.Subset",
    "wrr_locality.v3.WrrLocality",
];

/// Messages that carry any other message as plain JSON, with its type beside it.
const TYPED_STRUCTS: [&str; 2] = ["xds.type.v3.TypedStruct", "udpa.type.v1.TypedStruct"];

enum Kind<'a> {
    Known(Known),
    EnvoysOther(&'a str),
    Unknown,
}

impl<'a> Kind<'a> {
    fn of(type_name: &'a str) -> Self {
        match type_name.strip_prefix(PREFIX) {
            Some("round_robin.v3.RoundRobin") => Self::Known(Known::RoundRobin),
            Some("least_request.v3.LeastRequest") => Self::Known(Known::LeastRequest),
            Some("client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin") => {
                Self::Known(Known::ClientSideWeightedRoundRobin)
            }
            Some("random.v3.Random") => Self::Known(Known::Random),
            Some(other) if ENVOYS_OTHERS.contains(&other) => {
                Self::EnvoysOther(other.split_once('.').map_or(other, |(policy, _)| policy))
            }
            _ => Self::Unknown,
        }
    }
}

/// One entry of the list.
struct Extension<'a> {
    name: &'a str,
    type_name: &'a str,
    /// Where the policy's own message is, below `typed_config`.
    place: Place<'a>,
}

enum Place<'a> {
    /// It is `typed_config` itself, with `@type` among its fields.
    Inline(&'a Value),
    /// It is the `value` of a `TypedStruct`.
    Struct(Option<&'a Value>),
}

/// Reads `load_balancing_policy`; `cluster` is the cluster's name for Envoy's text.
pub(crate) fn load_balancing_policy(list: &mut Message<'_>, cluster: &str) -> Result<Chosen> {
    let policies = list.each("policies", |policy| {
        message::read(policy, |policy| {
            let extension = policy.message("typed_extension_config", extension)?;
            required("typed_extension_config", extension)
        })
    })?;
    for (index, extension) in policies.iter().enumerate() {
        let within = |error: ConfigError| {
            error.within(&format!("policies[{index}].typed_extension_config.typed_config"))
        };
        match Kind::of(extension.type_name) {
            Kind::Known(known) => return chosen(known, &extension.place).map_err(within),
            Kind::EnvoysOther(policy) => {
                return Err(within(unsupported("", format!("the policy {policy}"))));
            }
            Kind::Unknown => {}
        }
    }
    let names: Vec<&str> = policies.iter().map(|extension| extension.name).collect();
    let message = format!(
        "cluster: didn't find a registered load balancer factory implementation for cluster: \
         '{cluster}' with names from [{}]",
        names.join(", ")
    );
    Err(ConfigError::new("", Problem::Invalid { message }))
}

fn extension<'a>(extension: &mut Message<'a>) -> Result<Extension<'a>> {
    let name = extension.required_string("name")?;
    let config = required("typed_config", extension.value("typed_config")?)?;
    let (type_name, place) = any(config).map_err(|error| error.within("typed_config"))?;
    Ok(Extension { name, type_name, place })
}

/// The type of an `Any` and where its message is. Nothing else is looked at: an unknown type has
/// unknown fields.
fn any(config: &Value) -> Result<(&str, Place<'_>)> {
    let Value::Object(fields) = config else {
        return Err(ConfigError::new("", Problem::WrongType { expected: "an object" }));
    };
    let name = type_name("@type", fields.get("@type"))?;
    if !TYPED_STRUCTS.contains(&name) {
        return Ok((name, Place::Inline(config)));
    }
    message::read(config, |typed_struct| {
        typed_struct.value("@type")?;
        let name = type_name("type_url", typed_struct.value("type_url")?)?;
        Ok((name, Place::Struct(typed_struct.value("value")?)))
    })
}

/// The name of a type without the host that its URL starts with.
fn type_name<'a>(field: &str, url: Option<&'a Value>) -> Result<&'a str> {
    let expected = "a type URL such as \"type.googleapis.com/package.Message\"";
    let url = required(field, url)?.as_str();
    let name = url.and_then(|url| url.rsplit('/').next()).filter(|name| !name.is_empty());
    name.ok_or_else(|| ConfigError::new(field, Problem::WrongType { expected }))
}

fn chosen(known: Known, place: &Place<'_>) -> Result<Chosen> {
    match *place {
        Place::Inline(config) => message::read(config, |config| {
            config.value("@type")?;
            policy_config(known, config)
        }),
        Place::Struct(None) => {
            Ok(Chosen { policy: known.plain(), zone_aware: ZoneAware::default() })
        }
        Place::Struct(Some(config)) => message::read(config, |config| policy_config(known, config))
            .map_err(|error| error.within("value")),
    }
}

fn policy_config(known: Known, config: &mut Message<'_>) -> Result<Chosen> {
    let policy = settings::own(known, config)?;
    let zone_aware = match known.has_locality_config() {
        true => config.message("locality_lb_config", locality_lb_config)?,
        false => None,
    };
    Ok(Chosen { policy, zone_aware: zone_aware.unwrap_or_default() })
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
        ("RING_HASH", 2, LegacyPolicy::EnvoysOther("RING_HASH")),
        ("RANDOM", 3, LegacyPolicy::Known(Known::Random)),
        ("MAGLEV", 5, LegacyPolicy::EnvoysOther("MAGLEV")),
        ("CLUSTER_PROVIDED", 6, LegacyPolicy::EnvoysOther("CLUSTER_PROVIDED")),
        ("LOAD_BALANCING_POLICY_CONFIG", 7, LegacyPolicy::Elsewhere),
    ],
};
