//! Where a host is.

use std::fmt;

/// A place in Envoy's three levels. Empty parts are allowed; the order is by region, zone, then
/// sub-zone, bytewise, which is the order of Envoy's locality buckets.
///
/// ```
/// use plimsoll::Locality;
///
/// let mut places = [Locality::new("eu", "b", ""), Locality::new("eu", "a", "2")];
/// places.sort();
/// assert_eq!(places[0].zone, "a");
/// assert_eq!(places[0].to_string(), "eu/a/2");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Locality {
    /// The region, the widest of the three.
    pub region: String,
    /// The zone inside the region.
    pub zone: String,
    /// The part of the zone.
    pub sub_zone: String,
}

impl Locality {
    /// A locality of these three parts.
    #[must_use]
    pub fn new(
        region: impl Into<String>,
        zone: impl Into<String>,
        sub_zone: impl Into<String>,
    ) -> Self {
        Self { region: region.into(), zone: zone.into(), sub_zone: sub_zone.into() }
    }
}

/// The parts that are not empty, with slashes between them; `-` if all are.
impl fmt::Display for Locality {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = [&self.region, &self.zone, &self.sub_zone];
        let parts: Vec<&str> =
            parts.into_iter().map(String::as_str).filter(|part| !part.is_empty()).collect();
        if parts.is_empty() { f.write_str("-") } else { f.write_str(&parts.join("/")) }
    }
}
