//! The order in which members are asked: a Fisher-Yates shuffle, drawn as far as it is needed.
//!
//! Most searches end after a few members, so at first only the places that were swapped are kept.
//! A search that goes on gets all places at once.

use super::twister::Twister;

/// So many swaps are kept in pairs; after that a list of all members is faster.
const SWAPS: usize = 16;

/// All members in an order that depends on the hash.
pub(super) struct Shuffle<'a> {
    /// Who is at a place: pairs of a place and a member at first, in which places that are not
    /// found hold the member of their own number; later each place's member.
    places: &'a mut Vec<u32>,
    is_whole: bool,
    twister: Twister,
    done: u32,
    members: u32,
}

impl<'a> Shuffle<'a> {
    /// Needs room for `members` numbers in `places`, whatever is in there. Only the low half of
    /// the hash counts.
    #[allow(clippy::cast_possible_truncation)]
    pub(super) fn new(hash: u64, members: usize, places: &'a mut Vec<u32>) -> Self {
        places.clear();
        let members = u32::try_from(members).unwrap_or(u32::MAX);
        let is_whole = members as usize <= 2 * SWAPS;
        if is_whole {
            places.extend(0..members);
        }
        Self { places, is_whole, twister: Twister::new(hash as u32), done: 0, members }
    }

    /// A number below `bound`, as Envoy's standard library draws it.
    fn below(&mut self, bound: u32) -> u32 {
        if bound < 2 {
            // Envoy draws here as well, but nothing is drawn after that.
            return 0;
        }
        let part = u32::try_from((1_u64 << 32) / u64::from(bound)).unwrap_or(u32::MAX);
        loop {
            let number = self.twister.draw() / part;
            if number < bound {
                return number;
            }
        }
    }

    /// Takes the member from a place that is still to come and leaves there the one that is next.
    fn take(&mut self, next: u32, place: u32) -> u32 {
        if !self.is_whole && self.places.len() >= 2 * SWAPS {
            self.make_whole();
        }
        if self.is_whole {
            self.places.swap(next as usize, place as usize);
            return self.places.get(next as usize).copied().unwrap_or(next);
        }
        let (left, taken) = (self.at(next), self.at(place));
        let (pairs, _) = self.places.as_chunks_mut::<2>();
        match pairs.iter_mut().find(|pair| pair[0] == place) {
            Some(pair) => pair[1] = left,
            None => self.places.extend([place, left]),
        }
        taken
    }

    /// The member at a place, looked up in the pairs.
    fn at(&self, place: u32) -> u32 {
        let (pairs, _) = self.places.as_chunks::<2>();
        pairs.iter().find(|pair| pair[0] == place).map_or(place, |pair| pair[1])
    }

    /// Goes from pairs to all places.
    fn make_whole(&mut self) {
        let mut pairs = [0; 2 * SWAPS];
        pairs[..self.places.len()].copy_from_slice(self.places);
        let swaps = self.places.len() / 2;
        self.places.clear();
        self.places.extend(0..self.members);
        let (pairs, _) = pairs.as_chunks::<2>();
        for [place, member] in &pairs[..swaps] {
            self.places[*place as usize] = *member;
        }
        self.is_whole = true;
    }
}

impl Iterator for Shuffle<'_> {
    type Item = usize;

    fn next(&mut self) -> Option<usize> {
        let next = self.done;
        let bound = self.members.checked_sub(next).filter(|&bound| bound > 0)?;
        let place = next + self.below(bound);
        self.done += 1;
        Some(self.take(next, place) as usize)
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn order(hash: u64, members: usize) -> Vec<usize> {
        Shuffle::new(hash, members, &mut vec![7; 3]).collect()
    }

    //= envoy v1.40 source/extensions/load_balancing_policies/common/thread_aware_lb_impl.cc#BoundedLoadHashingLoadBalancer
    #[test]
    fn members_are_asked_in_envoys_order() {
        let ten = [4, 2, 1, 9, 7, 3, 0, 8, 6, 5];
        let rows: [(u64, &[usize]); 15] = [
            (0, &[2, 3, 4, 0, 1]),
            (1, &[2, 4, 1, 0, 3]),
            (2, &[2, 1, 0, 4, 3]),
            (3, &[2, 1, 4, 0, 3]),
            (4, &[4, 0, 3, 2, 1]),
            (5, &[1, 0, 4, 2, 3]),
            (6, &[4, 0, 2, 3, 1]),
            (7, &[0, 1, 4, 3, 2]),
            (8, &[4, 1, 0, 3, 2]),
            (9, &[0, 2, 3, 1, 4]),
            (0, &[1, 2, 0]),
            (2, &ten),
            ((1 << 32) + 2, &ten),
            (42, &[3, 8, 9, 4, 1, 0, 5, 6, 7, 2]),
            (u64::MAX, &[0, 2, 9, 6, 8, 7, 1, 3, 4, 5]),
        ];
        for (hash, expected) in rows {
            assert_eq!(order(hash, expected.len()), expected, "hash {hash}");
        }
        assert_eq!(order(4_952_883_123_889_572_249, 6), [1, 4, 2, 0, 3, 5], "the header abc");
    }

    /// The definition, over a list of all members.
    fn naive(hash: u64, members: usize) -> Vec<usize> {
        let mut twister = Twister::new((hash & 0xFFFF_FFFF) as u32);
        let mut order: Vec<usize> = (0..members).collect();
        for place in 0..members {
            let bound = (members - place) as u64;
            let draws = || u64::from(twister.draw()) / ((1 << 32) / bound);
            let mut draws = std::iter::repeat_with(draws);
            let step = draws.find(|&number| number < bound).expect("draws never end");
            order.swap(place, place + step as usize);
        }
        order
    }

    proptest! {
        #[test]
        fn keeping_swaps_first_makes_no_difference(hash: u64, members in 0..300_usize) {
            prop_assert_eq!(order(hash, members), naive(hash, members));
        }
    }

    #[test]
    fn a_short_search_among_many_members_keeps_a_few_numbers() {
        let mut places = Vec::with_capacity(64);
        let members: Vec<usize> = Shuffle::new(3, 1_000_000, &mut places).take(16).collect();
        assert_eq!(members, naive(3, 1_000_000)[..16]);
        assert_eq!(places.capacity(), 64, "no more room was taken");
    }
}
