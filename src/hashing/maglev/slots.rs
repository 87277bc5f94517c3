//! The slots of a table while it is filled: who owns which, and the next free one for a member.
//!
//! A member prefers slots in an order of its own, from an offset on in equal steps around the
//! table. Most of the time that filling takes goes into looking at slots that are not free, so
//! that is a bit for each slot, which keeps all of them in the nearest cache. To look at several
//! together does not pay. When few slots are left, each one's place in a member's order is computed
//! instead.

use super::{Modulus, Permutation};

/// See the module.
pub(super) struct Slots {
    modulus: Modulus,
    /// A bit for each slot, set if it is taken.
    taken: Vec<u64>,
    owners: Vec<u32>,
    free: u32,
    /// So few are few.
    few: u32,
    /// The free slots once they are few.
    last: Vec<u32>,
}

impl Slots {
    pub(super) fn new(modulus: Modulus) -> Self {
        let size = modulus.size();
        Self {
            modulus,
            taken: vec![0; size as usize / 64 + 1],
            owners: vec![0; size as usize],
            free: size,
            few: size.isqrt() / 2 + 2,
            last: Vec::new(),
        }
    }

    /// The number of slots.
    pub(super) fn size(&self) -> u32 {
        self.modulus.size()
    }

    pub(super) fn is_full(&self) -> bool {
        self.free == 0
    }

    /// The owner of each slot.
    pub(super) fn into_owners(self) -> Vec<u32> {
        self.owners
    }

    /// Gives a member the first free slot in its order, which from then on begins after that one.
    #[inline]
    pub(super) fn claim(&mut self, member: u32, order: &mut Permutation) {
        let slot = if self.free > self.few { self.walk(order) } else { self.leap(order) };
        if let (Some(taken), Some(owner)) =
            (self.taken.get_mut(slot as usize / 64), self.owners.get_mut(slot as usize))
        {
            *taken |= 1 << (slot % 64);
            *owner = member;
        }
        order.offset = self.sum(slot, order.skip);
        self.free = self.free.saturating_sub(1);
    }

    /// Looks at one slot after the other.
    #[inline]
    fn walk(&self, order: &Permutation) -> u32 {
        let mut slot = order.offset;
        while self.is_taken(slot) {
            slot = self.sum(slot, order.skip);
        }
        slot
    }

    /// Computes which of the few free slots comes first.
    #[cold]
    fn leap(&mut self, order: &Permutation) -> u32 {
        if self.last.is_empty() {
            self.last = (0..self.modulus.size()).filter(|&slot| !self.is_taken(slot)).collect();
        }
        let size = u64::from(self.modulus.size());
        let inverse = u64::from(inverse(order.skip, self.modulus.size()));
        let steps = |&slot: &u32| {
            self.modulus.of((u64::from(slot) + size - u64::from(order.offset)) * inverse)
        };
        let nearest = (0..self.last.len()).min_by_key(|&place| steps(&self.last[place]));
        nearest.map_or(0, |place| self.last.swap_remove(place))
    }

    #[inline(always)]
    fn is_taken(&self, slot: u32) -> bool {
        self.taken.get(slot as usize / 64).is_some_and(|taken| taken >> (slot % 64) & 1 != 0)
    }

    /// The sum of two numbers below the size, modulo the size.
    #[inline(always)]
    fn sum(&self, one: u32, other: u32) -> u32 {
        let sum = one + other;
        sum.min(sum.wrapping_sub(self.modulus.size()))
    }
}

/// What `number` is to be multiplied by to give 1 modulo the prime `size`.
fn inverse(number: u32, size: u32) -> u32 {
    let (mut high, mut low) = (i64::from(size), i64::from(number));
    let (mut before, mut now) = (0_i64, 1_i64);
    while low > 1 {
        let quotient = high / low;
        (high, low) = (low, high % low);
        (before, now) = (now, before - quotient * now);
    }
    u32::try_from(now.rem_euclid(i64::from(size))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inverses_multiply_to_one() {
        for size in [2, 3, 7, 65_537, 5_000_011] {
            for number in (1..size).step_by(1 + size as usize / 1000).chain([size - 1]) {
                let product = u64::from(number) * u64::from(inverse(number, size));
                assert_eq!(product % u64::from(size), 1, "of {number} modulo {size}");
            }
        }
    }
}
