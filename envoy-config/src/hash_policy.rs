//! What a request is hashed from: the `HashPolicy` messages of routes, which policies have too.
//!
//! envoy-differs: a policy that says nothing of where its value comes from is refused, as Envoy
//! means to; Envoy 1.40 ends with `hash policy not set` instead. So is `regex_rewrite`, whose
//! expressions are of a library that is not here.

use plimsoll::config::{ConfigError, ConsistentHashing, HashPolicy, HashPolicyKind, Problem};
use serde_json::Value;

use crate::message::{self, Message, Result};

/// The members of the oneof `policy_specifier`.
const KINDS: [&str; 5] =
    ["header", "cookie", "connection_properties", "query_parameter", "filter_state"];

/// Reads the field `hash_policy`. Values are checked here, so that an error has the path in the
/// message that it is in.
pub(crate) fn read(message: &mut Message<'_>) -> Result<Vec<HashPolicy>> {
    let policies = message.each("hash_policy", |policy| message::read(policy, hash_policy))?;
    Ok(policies.into_iter().flatten().collect())
}

/// Reads a list of policies as if it were a field `hash_policy`.
pub(crate) fn list(value: &Value) -> Result<Vec<HashPolicy>> {
    let route = Value::Object([("hash_policy".to_owned(), value.clone())].into_iter().collect());
    message::read(&route, read)
}

/// The fields that the two messages `ConsistentHashingLbConfig` have in common, that of policies
/// and the older one.
pub(crate) fn consistent_hashing(config: &mut Message<'_>) -> Result<ConsistentHashing> {
    let rule = "ConsistentHashingLbConfigValidationError.HashBalanceFactor";
    Ok(ConsistentHashing {
        use_hostname_for_hashing: config.boolean("use_hostname_for_hashing")?,
        hash_balance_factor: config.uint32_in("hash_balance_factor", 100..=u32::MAX, rule)?,
        hash_policy: Vec::new(),
    })
}

/// `None` for one that never finds anything, whatever else it says.
fn hash_policy(policy: &mut Message<'_>) -> Result<Option<HashPolicy>> {
    policy.only_one_of(&KINDS)?;
    let terminal = policy.boolean("terminal")?;
    let header = policy.message("header", header)?;
    let cookie = policy.message("cookie", cookie)?;
    //= envoy v1.40 source/common/http/hash_policy.cc#HashPolicyImpl::HashPolicyImpl
    let source_ip = policy.message("connection_properties", |properties| {
        Ok(properties.boolean("source_ip")?.then_some(HashPolicyKind::SourceIp))
    })?;
    let query_parameter = policy.message("query_parameter", |parameter| {
        Ok(HashPolicyKind::QueryParameter { name: parameter.string("name")?.to_owned() })
    })?;
    let filter_state = policy.message("filter_state", |state| {
        Ok(HashPolicyKind::FilterState { key: state.string("key")?.to_owned() })
    })?;
    let kind = match header.or(cookie).or(query_parameter).or(filter_state) {
        Some(kind) => Some(kind),
        None => source_ip.ok_or_else(|| {
            ConfigError::new("", Problem::Invalid { message: "hash policy not set".to_owned() })
        })?,
    };
    let policy = kind.map(|kind| HashPolicy { kind, terminal });
    policy.as_ref().map_or(Ok(()), HashPolicy::validate)?;
    Ok(policy)
}

/// Names of headers are compared in lower case.
fn header(header: &mut Message<'_>) -> Result<HashPolicyKind> {
    if header.value("regex_rewrite")?.is_some() {
        return Err(message::unsupported("regex_rewrite", "regex_rewrite"));
    }
    let header_name = header.string("header_name")?.to_ascii_lowercase();
    Ok(HashPolicyKind::Header { header_name })
}

fn cookie(cookie: &mut Message<'_>) -> Result<HashPolicyKind> {
    Ok(HashPolicyKind::Cookie {
        name: cookie.string("name")?.to_owned(),
        ttl: cookie.duration("ttl")?,
        path: cookie.string("path")?.to_owned(),
        attributes: cookie
            .each("attributes", |attribute| message::read(attribute, cookie_attribute))?,
    })
}

fn cookie_attribute(attribute: &mut Message<'_>) -> Result<(String, String)> {
    Ok((attribute.string("name")?.to_owned(), attribute.string("value")?.to_owned()))
}
