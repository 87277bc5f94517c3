//! One table and what of the traffic goes to it.

use super::low_half;
use crate::hashing::Bound;
use crate::policy::hashed::{Balance, HashTable};
use crate::policy::{Counter, State};
use crate::rng::{GOLDEN, splitmix64};
use crate::sync::Arc;

/// How many hosts are drawn for a request whose own is full, before all of them are asked. Each
/// has room with a chance of 1 - 100 / factor at least, so that 16 of them seldom all are full.
const DRAWS: u64 = 16;

/// See the module.
#[derive(Debug)]
pub(super) struct Leaf {
    /// The index of its locality, if traffic divides among them.
    pub(super) locality: Option<u32>,
    pub(super) table: Arc<HashTable<u64>>,
    /// Its part of all traffic.
    pub(super) share: f64,
    /// The same in units of 2^-32.
    part: u64,
}

impl Leaf {
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // 0 to 1
    pub(super) fn new(locality: Option<u32>, table: Arc<HashTable<u64>>, share: f64) -> Self {
        let part = (share * 4_294_967_296.0) as u64;
        Self { locality, table, share, part }
    }

    /// The host of a hash, unless it has as many requests as it may have; then the first of some
    /// drawn ones that has room, always the same for a hash; then any that has. All together have
    /// room for the leaf's part of the requests only, so that if more come here than that, none
    /// may have any; then it is the one that is least full.
    //= the bound is that of Mirrokni, Thorup and Zadimoghaddam, Consistent Hashing with Bounded Loads
    #[inline(never)]
    pub(super) fn balanced(
        &self,
        balance: &Balance,
        state: &State,
        (hash, attempt): (u64, u32),
    ) -> u32 {
        let table = &*self.table;
        let bound = Bound::new(balance.total(), balance.factor);
        let active = |member: u32| balance.load(table.host(member));
        let has_room = |member: u32| {
            let part = (u128::from(table.part(member)) * u128::from(self.part)) >> 32;
            bound.has_room(active(member), low_half(part))
        };
        let own = table.distinct(hash, attempt);
        if has_room(own) {
            return own;
        }
        state.count(Counter::BoundedLoad);
        let drawn =
            |step: u64| table.find(splitmix64(hash.wrapping_add(GOLDEN.wrapping_mul(step))));
        let first = u64::from(attempt) * DRAWS;
        let drawn = (first + 1..=first + DRAWS).map(drawn).find(|&member| has_room(member));
        drawn.unwrap_or_else(|| {
            let count = u32::try_from(table.len()).unwrap_or(u32::MAX);
            let start = drawn_start(hash, count);
            let all = (start..count).chain(0..start);
            let fullness = |member: &u32| {
                ((u128::from(active(*member)) + 1) << 32) / u128::from(table.part(*member).max(1))
            };
            let found = all.clone().find(|&member| has_room(member));
            found.or_else(|| all.min_by_key(fullness)).unwrap_or(own)
        })
    }
}

/// Where a hash begins to look through all hosts.
fn drawn_start(hash: u64, count: u32) -> u32 {
    u32::try_from((u128::from(splitmix64(!hash)) * u128::from(count)) >> 64).unwrap_or(0)
}
