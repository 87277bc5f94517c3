//! Comparing loads per weight without dividing.

/// How busy something is, its weight aside. `a` is busier for its weight `v` than `b` for its
/// weight `w` if `a.product(w)` is more than `b.product(v)`.
pub(crate) trait Load: Copy + PartialOrd {
    /// Large enough to be exact, if loads are.
    type Product: Copy + PartialOrd;

    /// The load times a weight: that of what it is compared with.
    fn product(self, weight: u64) -> Self::Product;
}

impl Load for u32 {
    type Product = u128;

    #[inline]
    fn product(self, weight: u64) -> u128 {
        u128::from(self) * u128::from(weight)
    }
}

impl Load for u64 {
    type Product = u128;

    #[inline]
    fn product(self, weight: u64) -> u128 {
        u128::from(self) * u128::from(weight)
    }
}

/// Not exact: for loads that are not to begin with.
impl Load for f64 {
    type Product = f64;

    #[inline]
    #[allow(clippy::cast_precision_loss)] // as is the load
    fn product(self, weight: u64) -> f64 {
        self * weight as f64
    }
}
