//! A growing array whose elements never move.
//!
//! Workers index it while the control side makes it longer, without a lock: segment `k` holds
//! `FIRST << k` elements, so that a few pointers cover every index and growing copies nothing.
//! The standard library's `OnceLock` publishes a segment; only the control side installs, under
//! its lock, so that no worker ever waits in it.

use crate::sync::OnceLock;

const FIRST_BITS: u32 = 4;
/// Elements of the first segment.
const FIRST: usize = 1 << FIRST_BITS;

/// See the module. `N` segments hold `FIRST * (2^N - 1)` elements.
#[derive(Debug)]
pub(crate) struct Segments<T, const N: usize> {
    segments: [OnceLock<Box<[T]>>; N],
}

impl<T, const N: usize> Segments<T, N> {
    /// The number of elements it can grow to.
    pub(crate) const CAPACITY: usize = FIRST * ((1 << N) - 1);

    pub(crate) fn new() -> Self {
        Self { segments: [const { OnceLock::new() }; N] }
    }

    /// Makes sure that elements `0..length` exist. Control side.
    pub(crate) fn grow(&self, length: usize, mut element: impl FnMut(usize) -> T) {
        debug_assert!(length <= Self::CAPACITY, "{length} elements in {N} segments");
        for (k, segment) in self.segments.iter().enumerate() {
            let start = FIRST * ((1 << k) - 1);
            if start >= length {
                return;
            }
            segment.get_or_init(|| (start..start + (FIRST << k)).map(&mut element).collect());
        }
    }

    /// Element `index`, if it has been installed.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        let shifted = index + FIRST;
        let k = shifted.ilog2() - FIRST_BITS;
        let segment = self.segments.get(k as usize)?.get()?;
        segment.get(shifted ^ (FIRST << k))
    }

    /// All installed elements in order.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &T> {
        self.segments.iter().map_while(OnceLock::get).flat_map(|segment| segment.iter())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_finds_its_own_element_and_none_beyond() {
        let segments = Segments::<usize, 6>::new();
        assert_eq!(segments.get(0), None);
        for length in [1, 16, 17, 100, 1008] {
            segments.grow(length, |index| index);
            for index in 0..length {
                assert_eq!(segments.get(index), Some(&index), "index {index} of {length}");
            }
        }
        assert_eq!(segments.get(Segments::<usize, 6>::CAPACITY), None);
        assert_eq!(segments.get(usize::MAX - 16), None);
        assert!(segments.iter().copied().eq(0..1008));
    }

    #[test]
    fn growing_moves_nothing() {
        let segments = Segments::<usize, 6>::new();
        segments.grow(3, |index| index);
        let before = std::ptr::from_ref(segments.get(2).unwrap());
        segments.grow(900, |index| index);
        assert!(std::ptr::eq(before, segments.get(2).unwrap()));
    }
}
