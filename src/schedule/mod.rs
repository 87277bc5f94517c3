//! From a number to a host: tables over weights. Arithmetic only; no atomics, no time.

mod alias;
mod guide;

pub(crate) use alias::Alias;
pub(crate) use guide::Guide;

/// How the hosts of one list divide the unit interval among them.
///
/// Every variant maps a number below 2^64 to an index; a uniform number gives each host exactly
/// its share.
#[derive(Debug)]
pub(crate) enum Schedule {
    /// All weights are equal: the interval is cut into `n` equal pieces.
    Uniform,
    /// The fastest table; a host's share is scattered over the interval, so it wants random
    /// numbers.
    Alias(Alias),
    /// A host's share is one piece of the interval, so that a cursor which walks the interval
    /// evenly visits every host evenly.
    Guide(Guide),
}

/// What kind of numbers a schedule is made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Walk {
    /// Independent random numbers.
    Random,
    /// A low-discrepancy cursor.
    Cursor,
}

impl Schedule {
    /// A schedule over `weights`, each at least 1.
    pub(crate) fn new(weights: &[u32], walk: Walk) -> Self {
        if weights.windows(2).all(|pair| pair[0] == pair[1]) {
            return Self::Uniform;
        }
        match walk {
            Walk::Random => Self::Alias(Alias::new(weights)),
            Walk::Cursor => Self::Guide(Guide::new(weights.iter().map(|&weight| weight.into()))),
        }
    }

    /// The index for `x`, below `length`, which is the number of weights and not 0.
    #[inline]
    pub(crate) fn find(&self, length: usize, x: u64) -> usize {
        match self {
            Self::Uniform => scale(x, length).0,
            Self::Alias(alias) => alias.find(x),
            Self::Guide(guide) => guide.find(x),
        }
    }
}

/// Cuts the unit interval into `length` equal pieces: the piece that `x` is in, and where in it.
#[inline]
#[allow(clippy::cast_possible_truncation)] // the two halves of a product
fn scale(x: u64, length: usize) -> (usize, u64) {
    let product = u128::from(x) * length as u128;
    ((product >> 64) as usize, product as u64)
}

#[cfg(test)]
mod tests;
