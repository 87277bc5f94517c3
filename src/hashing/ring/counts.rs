//! How many points each member of a ring has.

/// Envoy's numbers of points for members with these parts of the whole, and the size that its
/// gauge tells, which is not always their sum.
///
/// The least part gets a whole number of points as long as `maximum` allows. A running sum of
/// what members deserve is rounded up to whole points, so a member's points depend on the
/// members before it.
///
/// //= envoy v1.40 source/extensions/load_balancing_policies/ring_hash/ring_hash_lb.cc#Ring
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // whole numbers below 2^32 + 2
pub(crate) fn envoy_counts(weights: &[f64], minimum: u32, maximum: u32) -> (Vec<u32>, u64) {
    let least = weights.iter().copied().fold(1.0, f64::min);
    let scale = ((least * f64::from(minimum)).ceil() / least).min(f64::from(maximum));
    let size = scale.ceil();
    let (mut placed, mut deserved) = (0.0, 0.0_f64);
    let counts = weights.iter().map(|weight| {
        deserved += scale * weight;
        // Envoy adds one point after the other while it has placed less than is deserved. Rounding
        // can make that one more than the size, never two.
        let end = deserved.ceil().min(size + 1.0).max(placed);
        let count = end - placed;
        placed = end;
        count as u32
    });
    (counts.collect(), size as u64)
}

/// The numbers of points of members with these weights: `per_weight` for each unit of weight,
/// halved for all as often as their sum is more than `maximum`, but at least one for each. If even
/// that is too much, each has one.
///
/// envoy-differs: a member's points depend on its own weight only, unless the number of halvings
/// changes. So members come and go without moving keys between others, and none that deserves a
/// point is without one.
pub(crate) fn native_counts(weights: &[u64], per_weight: u32, maximum: u32) -> Vec<u32> {
    let points = |weight: u64, halvings: u32| -> u128 {
        ((u128::from(weight) * u128::from(per_weight)) >> halvings).max(1)
    };
    let sum = |halvings| weights.iter().map(|&weight| points(weight, halvings)).sum::<u128>();
    let fits = |&halvings: &u32| sum(halvings) <= u128::from(maximum);
    let most = u64::BITS + u32::BITS;
    let halvings = (0..most).find(fits).unwrap_or(most);
    // None is more than the sum, which fits 32 bits.
    weights.iter().map(|&weight| u32::try_from(points(weight, halvings)).unwrap_or(1)).collect()
}
