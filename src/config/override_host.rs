//! Hosts that the caller names, in place of a pick by policy: which of them are let through, and
//! where their addresses come from.

use super::error::{ConfigError, Problem};
use crate::host::EdsHealth;

/// A set of health statuses. The default is what Envoy allows unless told otherwise: unknown,
/// healthy and degraded.
///
/// ```
/// use plimsoll::EdsHealth;
/// use plimsoll::config::HostStatuses;
///
/// let statuses = HostStatuses::from_iter([EdsHealth::Healthy, EdsHealth::Draining]);
/// assert!(statuses.contains(EdsHealth::Draining) && !statuses.contains(EdsHealth::Degraded));
/// assert!(HostStatuses::default().contains(EdsHealth::Degraded));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct HostStatuses(u8);

impl HostStatuses {
    /// No status at all.
    pub const NONE: Self = Self(0);
    /// Every status.
    pub const ALL: Self = Self(0x3f);

    /// Whether the set has this status.
    #[must_use]
    pub fn contains(self, status: EdsHealth) -> bool {
        self.0 >> (status as u8) & 1 == 1
    }
}

impl FromIterator<EdsHealth> for HostStatuses {
    fn from_iter<I: IntoIterator<Item = EdsHealth>>(statuses: I) -> Self {
        Self(statuses.into_iter().fold(0, |bits, status| bits | 1 << (status as u8)))
    }
}

//= envoy v1.40 source/common/upstream/host_utility.cc#HostUtility::createOverrideHostStatus
impl Default for HostStatuses {
    fn default() -> Self {
        Self::from_iter([EdsHealth::Unknown, EdsHealth::Healthy, EdsHealth::Degraded])
    }
}

/// Envoy's policy `override_host`: hosts that the request names come first, whatever their health,
/// priority and locality are; the cluster's [`policy`](super::ClusterConfig::policy) is what it
/// falls back to.
///
/// The engine sees no requests: the caller looks its sources up and hands the addresses to
/// [`Worker::pick_override`](crate::Worker::pick_override), one attempt of a request after the
/// other. See [`addresses`](Self::addresses).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OverrideHost {
    /// Where addresses are looked for, in order; at least one.
    pub sources: Vec<OverrideSource>,
    /// Where the address of the picked host is to be written, also if the policy picked it. The
    /// caller's to do.
    pub selected_host_key: Option<MetadataKey>,
}

/// A place with addresses of hosts.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum OverrideSource {
    /// The first value of the request header of this name, in any case; not empty.
    Header(String),
    /// A value of the request's dynamic metadata, if it is a string.
    Metadata(MetadataKey),
}

/// A place in metadata: Envoy's `MetadataKey`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MetadataKey {
    /// The namespace, such as `envoy.lb`; not empty.
    pub key: String,
    /// The fields from the outside in; at least one, none empty.
    pub path: Vec<String>,
}

impl OverrideHost {
    /// The addresses that a request names, in order: those of each source for which `value_of` has
    /// a text.
    ///
    /// ```
    /// use plimsoll::config::{OverrideHost, OverrideSource};
    ///
    /// let policy = OverrideHost {
    ///     sources: vec![OverrideSource::Header("x-destination".to_owned())],
    ///     selected_host_key: None,
    /// };
    /// let request = [("x-destination", "10.0.0.1:80, 10.0.0.2:80")];
    /// let addresses = policy.addresses(|source| match source {
    ///     OverrideSource::Header(name) => {
    ///         let mut headers = request.iter().filter(|(header, _)| header == name);
    ///         headers.next().map(|(_, value)| *value)
    ///     }
    ///     _ => None,
    /// });
    /// assert_eq!(addresses.collect::<Vec<_>>(), ["10.0.0.1:80", "10.0.0.2:80"]);
    /// ```
    pub fn addresses<'s, 'a>(
        &'s self,
        value_of: impl FnMut(&'s OverrideSource) -> Option<&'a str>,
    ) -> impl Iterator<Item = &'a str> {
        let values = self.sources.iter().filter_map(value_of);
        values.flat_map(override_addresses)
    }

    /// Checks that nothing is empty that must not be. Fields are named as in Envoy's message.
    ///
    /// # Errors
    ///
    /// The first mistake.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.sources.is_empty() {
            let message = "OverrideHostValidationError.OverrideHostSources: value must contain at \
                           least 1 item(s)";
            return invalid("override_host_sources", message);
        }
        for (index, source) in self.sources.iter().enumerate() {
            let path = format!("override_host_sources[{index}]");
            source.validate().map_err(|error| error.within(&path))?;
        }
        let key = self.selected_host_key.as_ref().map_or(Ok(()), MetadataKey::validate);
        key.map_err(|error| error.within("selected_host_key"))
    }
}

/// The addresses in the text of an [`OverrideSource`]: between commas, without the white space
/// around them, blank ones left out. They are not read any further, so that what is no address
/// names no host.
///
/// ```
/// use plimsoll::config::override_addresses;
///
/// let addresses = override_addresses("10.0.0.1:80,\t[::1]:80 , ,not an address");
/// assert_eq!(addresses.collect::<Vec<_>>(), ["10.0.0.1:80", "[::1]:80", "not an address"]);
/// ```
//= envoy v1.40 source/extensions/load_balancing_policies/override_host/load_balancer.cc#getSelectedHosts
pub fn override_addresses(text: &str) -> impl Iterator<Item = &str> {
    // What the C library takes for white space, which is one character more than in Rust.
    let is_space = |c: char| c.is_ascii_whitespace() || c == '\x0b';
    text.split(',').map(move |part| part.trim_matches(is_space)).filter(|part| !part.is_empty())
}

impl OverrideSource {
    fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Self::Header(name) if name.is_empty() => invalid("", "Empty override source"),
            Self::Header(_) => Ok(()),
            Self::Metadata(key) => key.validate().map_err(|error| error.within("metadata")),
        }
    }
}

impl MetadataKey {
    /// Checks that nothing is empty. Fields are named as in Envoy's message.
    ///
    /// # Errors
    ///
    /// The first mistake.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.key.is_empty() {
            return invalid("key", &too_short("MetadataKeyValidationError.Key"));
        }
        if self.path.is_empty() {
            let rule = "MetadataKeyValidationError.Path";
            return invalid("path", &format!("{rule}: value must contain at least 1 item(s)"));
        }
        match self.path.iter().position(String::is_empty) {
            Some(index) => {
                let rule = "MetadataKey_PathSegmentValidationError.Key";
                invalid(&format!("path[{index}].key"), &too_short(rule))
            }
            None => Ok(()),
        }
    }
}

fn too_short(rule: &str) -> String {
    format!("{rule}: value length must be at least 1 characters")
}

fn invalid(field: &str, message: &str) -> Result<(), ConfigError> {
    Err(ConfigError::new(field, Problem::Invalid { message: message.to_owned() }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const STATUSES: [EdsHealth; 6] = [
        EdsHealth::Unknown,
        EdsHealth::Healthy,
        EdsHealth::Unhealthy,
        EdsHealth::Draining,
        EdsHealth::Timeout,
        EdsHealth::Degraded,
    ];

    fn key(key: &str, path: &[&str]) -> MetadataKey {
        MetadataKey { key: key.to_owned(), path: path.iter().map(|&it| it.to_owned()).collect() }
    }

    #[test]
    fn a_set_has_what_it_was_made_of_and_by_default_what_envoy_allows() {
        for status in STATUSES {
            let alone = HostStatuses::from_iter([status]);
            for other in STATUSES {
                assert_eq!(alone.contains(other), status == other);
            }
            assert!(HostStatuses::ALL.contains(status) && !HostStatuses::NONE.contains(status));
        }
        let allowed = STATUSES.map(|status| HostStatuses::default().contains(status));
        assert_eq!(allowed, [true, true, false, false, false, true]);
        assert_eq!(HostStatuses::from_iter(STATUSES), HostStatuses::ALL);
    }

    #[test]
    fn texts_are_cut_at_commas_and_trimmed() {
        for (text, expected) in [
            ("", &[][..]),
            (" ,\t,\r\n,\x0b\x0c,", &[]),
            ("a", &["a"]),
            ("a,a", &["a", "a"]),
            ("\x0b a b ,\u{a0}c", &["a b", "\u{a0}c"]),
        ] {
            assert_eq!(override_addresses(text).collect::<Vec<_>>(), expected, "{text:?}");
        }
    }

    #[test]
    fn sources_are_walked_in_order_and_those_without_a_value_passed_over() {
        let header = |name: &str| OverrideSource::Header(name.to_owned());
        let metadata = OverrideSource::Metadata(key("envoy.lb", &["hosts"]));
        let sources = vec![header("a"), header("none"), metadata, header("b")];
        let policy = OverrideHost { sources, selected_host_key: None };
        let addresses = policy.addresses(|source| match source {
            OverrideSource::Header(name) if name == "none" => None,
            OverrideSource::Header(name) => Some(name),
            OverrideSource::Metadata(_) => Some("1,2"),
        });
        assert_eq!(addresses.collect::<Vec<_>>(), ["a", "1", "2", "b"]);
    }

    #[test]
    fn what_is_empty_is_named() {
        let header = OverrideSource::Header("a".to_owned());
        let with = |sources, selected_host_key| OverrideHost { sources, selected_host_key };
        let valid = with(vec![header.clone()], Some(key("a", &["b"])));
        assert_eq!(valid.validate(), Ok(()));
        let metadata = |key| with(vec![header.clone(), OverrideSource::Metadata(key)], None);
        for (policy, field) in [
            (with(Vec::new(), None), "override_host_sources"),
            (with(vec![OverrideSource::Header(String::new())], None), "override_host_sources[0]"),
            (metadata(key("", &["b"])), "override_host_sources[1].metadata.key"),
            (metadata(key("a", &[])), "override_host_sources[1].metadata.path"),
            (metadata(key("a", &["b", ""])), "override_host_sources[1].metadata.path[1].key"),
            (with(vec![header.clone()], Some(key("a", &[]))), "selected_host_key.path"),
        ] {
            assert_eq!(policy.validate().expect_err(field).field(), field);
        }
    }
}
