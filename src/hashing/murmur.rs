//! MurmurHash2 in 64 bits as the GNU C++ library has it (`_Hash_bytes`): what a ring hashes its
//! points with if it is told to.
//!
//! It is not MurmurHash64A: the last one to seven bytes are one integer, which is not mixed.
//!
//! //= envoy v1.40 source/common/common/hash.h#MurmurHash

const SEED: u64 = 0xC70F_6907;
const MULTIPLIER: u64 = 0xC6A4_A793_5BD1_E995;

/// The hash of `bytes`.
pub(crate) fn murmur2(bytes: &[u8]) -> u64 {
    let (words, rest) = bytes.as_chunks::<8>();
    let start = SEED ^ (bytes.len() as u64).wrapping_mul(MULTIPLIER);
    let hash = words.iter().fold(start, |hash, word| {
        let word = u64::from_le_bytes(*word).wrapping_mul(MULTIPLIER);
        (hash ^ mix(word).wrapping_mul(MULTIPLIER)).wrapping_mul(MULTIPLIER)
    });
    let hash = if rest.is_empty() { hash } else { (hash ^ last(rest)).wrapping_mul(MULTIPLIER) };
    mix(mix(hash).wrapping_mul(MULTIPLIER))
}

/// The bytes after the last word as an integer, the first one lowest.
fn last(rest: &[u8]) -> u64 {
    rest.iter().rev().fold(0, |word, &byte| word << 8 | u64::from(byte))
}

fn mix(word: u64) -> u64 {
    word ^ word >> 47
}

#[cfg(test)]
mod tests {
    use super::*;

    //= envoy v1.40 source/common/common/hash.h#MurmurHash
    #[test]
    fn known_inputs_have_their_known_hashes() {
        for (input, expected) in [
            ("foo", 9_631_199_822_919_835_226),
            ("bar", 11_474_628_671_133_349_555),
            ("foo\nbar", 16_306_510_975_912_980_159),
            ("lyft", 12_847_078_931_730_529_320),
            ("", 6_142_509_188_972_423_790),
        ] {
            assert_eq!(murmur2(input.as_bytes()), expected, "{input:?}");
        }
    }

    /// The definition over bytes one by one: each of them is shifted into a word that is taken
    /// when it is full or when the input ends.
    fn naive(bytes: &[u8]) -> u64 {
        let mul = u64::wrapping_mul;
        let mut hash = SEED ^ mul(bytes.len() as u64, MULTIPLIER);
        let (mut word, mut taken) = (0_u64, 0);
        for &byte in bytes {
            word |= u64::from(byte) << (8 * taken);
            taken += 1;
            if taken == 8 {
                word = mul(word, MULTIPLIER);
                word = mul(word ^ word >> 47, MULTIPLIER);
                hash = mul(hash ^ word, MULTIPLIER);
                (word, taken) = (0, 0);
            }
        }
        if taken > 0 {
            hash = mul(hash ^ word, MULTIPLIER);
        }
        hash = mul(hash ^ hash >> 47, MULTIPLIER);
        hash ^ hash >> 47
    }

    #[test]
    fn every_length_up_to_a_hundred_is_hashed_as_defined() {
        let bytes: Vec<u8> = (0..100_u8).map(|byte| byte.wrapping_mul(157) ^ 0x5A).collect();
        for length in 0..=bytes.len() {
            assert_eq!(murmur2(&bytes[..length]), naive(&bytes[..length]), "{length} bytes");
        }
    }
}
