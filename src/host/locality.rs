//! Where a host is.

/// A place in Envoy's three levels. Empty parts are allowed; the order is by region, zone, then
/// sub-zone, bytewise, which is the order of Envoy's locality buckets.
///
/// ```
/// use plimsoll::Locality;
///
/// let mut places = [Locality::new("eu", "b", ""), Locality::new("eu", "a", "2")];
/// places.sort();
/// assert_eq!(places[0].zone, "a");
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
