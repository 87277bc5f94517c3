//! The policy `override_host`: where requests name their hosts, and the policy that picks one if
//! they do not, in `fallback_policy`.
//!
//! Values are checked in Envoy's order: the rules of the message, then the sources, then the policy
//! inside.

use plimsoll::config::{ConfigError, MetadataKey, OverrideHost, OverrideSource, Problem};

use crate::extension;
use crate::locality_policy::{load_aware_locality, wrr_locality};
use crate::message::{self, Message, Result, required, unsupported};
use crate::policy::{Chosen, Kind, first_known, host_policy, not_there};

/// A source as it stands, which may be none or two.
type Source<'a> = (&'a str, Option<MetadataKey>);

//= envoy v1.40 source/extensions/load_balancing_policies/override_host/load_balancer.cc#OverrideHostLbConfig::make
/// Reads an `OverrideHost`.
pub(crate) fn override_host(config: &mut Message<'_>) -> Result<Chosen> {
    let sources = config.each("override_host_sources", |value| message::read(value, source))?;
    if sources.is_empty() {
        let nothing = OverrideHost { sources: Vec::new(), selected_host_key: None };
        nothing.validate()?;
    }
    let selected_host_key = config.message("selected_host_key", metadata_key)?;
    required("fallback_policy", config.value("fallback_policy")?)?;
    let one_of = |(index, source)| {
        let place = format!("override_host_sources[{index}]");
        one_of(source).map_err(|error| error.within(&place))
    };
    let sources = sources.into_iter().enumerate().map(one_of).collect::<Result<_>>()?;
    let chosen = config.message("fallback_policy", fallback_policy)?;
    let chosen = required("fallback_policy", chosen)?;
    Ok(Chosen { override_host: Some(OverrideHost { sources, selected_host_key }), ..chosen })
}

fn source<'a>(source: &mut Message<'a>) -> Result<Source<'a>> {
    let header = source.string("header")?;
    if header.contains(['\0', '\r', '\n']) {
        let message = "value does not match regex pattern \"^[^\\u0000\\n\\r]*$\"";
        return invalid("header", message);
    }
    Ok((header, source.message("metadata", metadata_key)?))
}

fn one_of(source: Source<'_>) -> Result<OverrideSource> {
    match source {
        ("", None) => invalid("", "Empty override source"),
        ("", Some(key)) => Ok(OverrideSource::Metadata(key)),
        (header, None) => Ok(OverrideSource::Header(header.to_owned())),
        (_, Some(_)) => invalid("", "Only one override source must be set"),
    }
}

fn metadata_key(key: &mut Message<'_>) -> Result<MetadataKey> {
    let segment = |value| {
        message::read(value, |segment| {
            // A oneof with one member: not there is another mistake than empty.
            required("", segment.value("key")?)?;
            segment.string("key").map(str::to_owned)
        })
    };
    let key = MetadataKey { key: key.string("key")?.to_owned(), path: key.each("path", segment)? };
    key.validate()?;
    Ok(key)
}

fn fallback_policy(list: &mut Message<'_>) -> Result<Chosen> {
    let policies = extension::policies(list)?;
    let chosen = first_known(&policies, |kind, extension| match kind {
        Kind::Hosts(known) => extension.read(|config| host_policy(known, config)),
        Kind::WrrLocality => extension.read(wrr_locality),
        Kind::LoadAwareLocality => extension.read(load_aware_locality),
        Kind::OverrideHost => Err(unsupported("", "the policy override_host in override_host")),
        Kind::EnvoysOther(policy) => Err(not_there(policy)),
    })?;
    if let Some(chosen) = chosen {
        return Ok(chosen);
    }
    let names: Vec<&str> = policies.iter().map(|extension| extension.name).collect();
    let message = "dynamic forwarding LB: didn't find a registered fallback load balancer factory \
                   with names from ";
    invalid("", &format!("{message}{}", names.join(", ")))
}

fn invalid<T>(field: &str, message: &str) -> Result<T> {
    Err(ConfigError::new(field, Problem::Invalid { message: message.to_owned() }))
}
