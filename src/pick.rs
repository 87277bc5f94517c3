//! What a pick is told, what it gives, and how its request ends.

use std::fmt;

use crate::hashing::LAST_ATTEMPT;
use crate::policy::{Candidate, Request};

/// More attempts than this are not made, whatever [`PickContext::retries`] asks for.
pub const MAX_RETRIES: u32 = LAST_ATTEMPT;

/// What a pick is told about its request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct PickContext {
    /// How many more hosts to try while the filter refuses; at most [`MAX_RETRIES`].
    pub retries: u32,
    /// Do not count an active request. Such a pick needs no [`Worker::done`](crate::Worker::done) and is valid until
    /// the worker's next pick.
    pub uncounted: bool,
    /// What the clock shows now, in nanoseconds on the scale of [`Cluster::tick`](crate::Cluster::tick); 0 for what the
    /// last tick was told. `behavior: envoy` weighs hosts in slow start by it; nothing else reads
    /// it.
    pub now_ns: u64,
    /// The hash of the request, for policies that go by it; if `None`, they draw a number. See
    /// [`hash_request`](crate::hash_request).
    pub hash: Option<u64>,
    /// Which attempt at the same request this is, from 0 on; at most [`MAX_RETRIES`]. Policies that
    /// go by a hash give another host each time.
    pub attempt: u32,
}

impl PickContext {
    /// A request that counts, of which nothing is known.
    #[must_use]
    pub const fn new() -> Self {
        Self { retries: 0, uncounted: false, now_ns: 0, hash: None, attempt: 0 }
    }

    /// The same, but not counted.
    #[must_use]
    pub const fn uncounted() -> Self {
        Self { uncounted: true, ..Self::new() }
    }
}

/// A picked host: a small value that may be copied, stored, and sent to other threads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Pick {
    /// The host's number, dense and reusable: an index for the caller's own arrays.
    pub slot: u32,
    /// Which host of that number.
    pub generation: u32,
    /// The priority it was picked from.
    pub priority: u32,
    /// Whether the pick counts as an active request until [`Worker::done`](crate::Worker::done).
    pub counted: bool,
    /// Whether it counts in the total that a policy with a `hash_balance_factor` goes by.
    pub in_total: bool,
}

/// How a request ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Outcome {
    /// The host answered.
    #[default]
    Success,
    /// The host could not be reached, or failed the request.
    Error,
}

/// Why the end of a request was refused. Both are mistakes of the caller, and have no effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum DoneError {
    /// The pick was not counted.
    NotCounted,
    /// The pick has ended before.
    Stale,
}

impl fmt::Display for DoneError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotCounted => "the pick was not counted",
            Self::Stale => "the pick has ended before",
        })
    }
}

impl std::error::Error for DoneError {}

impl PickContext {
    pub(crate) fn request(&self) -> Request {
        Request { hash: self.hash, attempt: self.bounded_attempt() }
    }

    #[inline]
    pub(crate) fn bounded_attempt(&self) -> u32 {
        self.attempt.min(MAX_RETRIES)
    }
}

impl Candidate {
    pub(crate) fn uncounted(self) -> Pick {
        Pick {
            slot: self.host.slot,
            generation: self.host.generation,
            priority: self.priority,
            counted: false,
            in_total: false,
        }
    }
}
