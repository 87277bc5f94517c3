//! From the hash of a request to one of many members: rings, Maglev tables and bounded load.
//! Arithmetic only; no atomics, no time.
//!
//! A member is an index into the caller's list. Tables are made from keys and weights, so that
//! proxies which know the same hosts agree about every request. What is Envoy's is exact to the
//! bit; where the native behaviour differs, there is a function of its own beside it.

pub(crate) mod bounded;
mod distinct;
mod indexes;
mod maglev;
mod murmur;
mod ring;
mod weights;
mod xxhash;

pub(crate) use bounded::Bound;
pub(crate) use distinct::LAST_ATTEMPT;
pub(crate) use maglev::{Maglev, Modulus, Permutation, Weight};
pub(crate) use murmur::murmur2;
pub(crate) use ring::{Before, Ring, envoy_counts, native_counts};
pub(crate) use weights::{Group, normalized};
pub(crate) use xxhash::{xxhash64, xxhash64_of_list};

use crate::config::HashFunction;

/// The hash of a point's or a request's bytes.
pub(crate) fn hash(function: HashFunction, bytes: &[u8]) -> u64 {
    match function {
        HashFunction::XxHash => xxhash64(bytes, 0),
        HashFunction::MurmurHash2 => murmur2(bytes),
    }
}
