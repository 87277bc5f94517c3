//! Remainders of one divisor by multiplication.

use crate::config::MAX_TABLE_SIZE;

/// The size of a table: a prime, and what takes the place of division by it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Modulus {
    size: u32,
    /// `(2^64 - 1) / size`, rounded down.
    reciprocal: u64,
}

impl Modulus {
    /// For a prime from 2 to [`MAX_TABLE_SIZE`]. Anything else, which a valid configuration does
    /// not have, becomes the next prime, because with others a table may never be full.
    pub(crate) fn new(size: u32) -> Self {
        let size = (size.clamp(2, MAX_TABLE_SIZE)..).find(|&size| is_prime(size)).unwrap_or(2);
        Self { size, reciprocal: u64::MAX / u64::from(size) }
    }

    pub(crate) fn size(&self) -> u32 {
        self.size
    }

    /// `x` modulo the size.
    #[inline(always)]
    #[allow(clippy::cast_possible_truncation)] // the quotient is of 64 bits, the rest of 32
    pub(crate) fn of(&self, x: u64) -> u32 {
        let size = u64::from(self.size);
        // Too small by one at most: the reciprocal lacks at most 1 of 2^64 / size, so the product
        // lacks less than 1 of x / size before it is rounded down.
        let quotient = ((u128::from(x) * u128::from(self.reciprocal)) >> 64) as u64;
        let rest = x - quotient * size;
        rest.min(rest.wrapping_sub(size)) as u32
    }
}

fn is_prime(number: u32) -> bool {
    let mut divisors = (2..).take_while(|divisor| divisor * divisor <= number);
    number > 1 && divisors.all(|divisor| !number.is_multiple_of(divisor))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn check(modulus: Modulus, x: u64) {
        let expected = x % u64::from(modulus.size());
        assert_eq!(u64::from(modulus.of(x)), expected, "{x} modulo {}", modulus.size());
    }

    #[test]
    fn remainders_are_exact_at_the_edges() {
        for size in [2, 3, 5, 7, 17, 251, 1009, 65_521, 65_537, 655_373, 4_999_999, MAX_TABLE_SIZE]
        {
            let modulus = Modulus::new(size);
            assert_eq!(modulus.size(), size, "{size} is a prime");
            let size = u64::from(size);
            let multiples = [0, 1, 2, u64::MAX / size / 2, u64::MAX / size - 1, u64::MAX / size];
            for multiple in multiples.map(|times| times * size) {
                for x in [multiple.wrapping_sub(1), multiple, multiple.wrapping_add(1)] {
                    check(modulus, x);
                }
            }
            for x in (0..64).flat_map(|bit| [(1_u64 << bit) - 1, 1 << bit, !(1 << bit)]) {
                check(modulus, x);
            }
        }
    }

    #[test]
    fn what_is_not_a_prime_becomes_the_next_one() {
        for (size, prime) in [(0, 2), (1, 2), (4, 5), (8, 11), (65_536, 65_537)] {
            assert_eq!(Modulus::new(size).size(), prime, "from {size} on");
        }
        assert_eq!(Modulus::new(u32::MAX).size(), MAX_TABLE_SIZE);
    }

    proptest! {
        #[test]
        fn remainders_are_exact(size in 2..MAX_TABLE_SIZE, x: u64) {
            check(Modulus::new(size), x);
        }
    }
}
