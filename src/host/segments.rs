//! A growing array whose elements never move.
//!
//! Workers index it while the control side makes it longer, without a lock: segment `k` holds
//! `2^(FIRST + k)` elements, so that a few pointers cover every index and growing copies nothing.
//! The standard library's `OnceLock` publishes a segment; only the control side installs, under
//! its lock, so that no worker ever waits in it.

use crate::sync::OnceLock;

/// See the module. `SEGMENTS` segments hold `2^FIRST * (2^SEGMENTS - 1)` elements.
#[derive(Debug)]
pub(crate) struct Segments<T, const FIRST: u32, const SEGMENTS: usize> {
    segments: [OnceLock<Box<[T]>>; SEGMENTS],
}

impl<T, const FIRST: u32, const SEGMENTS: usize> Segments<T, FIRST, SEGMENTS> {
    /// The number of elements it can grow to.
    pub(crate) const CAPACITY: usize = ((1 << SEGMENTS) - 1) << FIRST;

    pub(crate) fn new() -> Self {
        Self { segments: [const { OnceLock::new() }; SEGMENTS] }
    }

    /// Makes sure that elements `0..length` exist. Control side.
    pub(crate) fn grow(&self, length: usize, mut element: impl FnMut(usize) -> T) {
        debug_assert!(length <= Self::CAPACITY, "{length} elements of {}", Self::CAPACITY);
        for (k, segment) in self.segments.iter().enumerate() {
            let start = ((1 << k) - 1) << FIRST;
            if start >= length {
                return;
            }
            let end = start + (1 << k << FIRST);
            segment.get_or_init(|| (start..end).map(&mut element).collect());
        }
    }

    /// Element `index`, if it has been installed.
    #[inline]
    pub(crate) fn get(&self, index: usize) -> Option<&T> {
        let shifted = index + (1 << FIRST);
        let k = shifted.ilog2() - FIRST;
        let segment = self.segments.get(k as usize)?.get()?;
        segment.get(shifted ^ (1 << k << FIRST))
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
        let segments = Segments::<usize, 4, 6>::new();
        assert_eq!(segments.get(0), None);
        for length in [1, 16, 17, 100, 1008] {
            segments.grow(length, |index| index);
            for index in 0..length {
                assert_eq!(segments.get(index), Some(&index), "index {index} of {length}");
            }
        }
        assert_eq!(segments.get(Segments::<usize, 4, 6>::CAPACITY), None);
        assert_eq!(segments.get(usize::MAX - 16), None);
        assert!(segments.iter().copied().eq(0..1008));
    }

    #[test]
    fn the_first_segment_may_hold_one_element() {
        let segments = Segments::<usize, 0, 3>::new();
        segments.grow(2, |index| index);
        assert_eq!((segments.get(0), segments.get(2), segments.get(3)), (Some(&0), Some(&2), None));
    }

    #[test]
    fn growing_moves_nothing() {
        let segments = Segments::<usize, 4, 6>::new();
        segments.grow(3, |index| index);
        let before = std::ptr::from_ref(segments.get(2).unwrap());
        segments.grow(900, |index| index);
        assert!(std::ptr::eq(before, segments.get(2).unwrap()));
    }
}
