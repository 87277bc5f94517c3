//! Which members of a hash table the attempts of one request go to: each to another one.
//!
//! envoy-differs: Envoy's later attempts often go to a member that was tried before.
//!
//! A key has a sequence of members, such as those of the points of a ring from the key's hash on.
//! The attempt's number says which *distinct* member of the sequence is meant. A sequence may
//! repeat one heavy member for long, so a walk that meets nobody new for too long is given up,
//! and the attempts left over go through all members by index. When that happens depends on the
//! sequence alone and not on the attempt, so that attempts agree about those before them.

use crate::rng::splitmix64;

/// Attempts from 0 to this one have members of their own; later ones begin again.
pub(crate) const LAST_ATTEMPT: u32 = 128;
const ATTEMPTS: usize = LAST_ATTEMPT as usize + 1;
/// A walk may take so many steps at first, and so many more for each member that it met.
const STEPS: usize = 64;
const STEPS_PER_MEMBER: usize = 16;

/// The member of an attempt (from 0 on) of the request with this hash, among `members` members;
/// `at` gives the member at a step of the sequence. Attempts from the number of members on begin
/// again.
pub(crate) fn distinct(hash: u64, attempt: u32, members: usize, at: impl Fn(usize) -> u32) -> u32 {
    let first = at(0);
    if attempt == 0 || members < 2 {
        return first;
    }
    let attempt = attempt as usize % members.min(ATTEMPTS);
    let mut seen = Seen::new(first);
    let mut step = 1;
    while seen.count <= attempt && step < STEPS + STEPS_PER_MEMBER * seen.count {
        seen.add(at(step));
        step += 1;
    }
    for member in by_index(hash, members) {
        if seen.count > attempt {
            break;
        }
        seen.add(member);
    }
    seen.members[attempt]
}

/// All members by index, from one on that the hash decides.
#[allow(clippy::cast_possible_truncation)] // members have indexes of 32 bits
fn by_index(hash: u64, members: usize) -> impl Iterator<Item = u32> {
    // Not of the hash itself, for that decides about levels of tables.
    let start = (u128::from(splitmix64(hash.rotate_left(32))) * members as u128) >> 64;
    let start = start as u32;
    (start..members as u32).chain(0..start)
}

/// The members met so far, in order.
struct Seen {
    members: [u32; ATTEMPTS],
    count: usize,
    /// A bit for each remainder of the index, so that most of those who are new need no search.
    bits: u64,
}

impl Seen {
    fn new(first: u32) -> Self {
        let mut members = [0; ATTEMPTS];
        members[0] = first;
        Self { members, count: 1, bits: 1 << (first % u64::BITS) }
    }

    /// Notes a member unless it is there already.
    fn add(&mut self, member: u32) {
        let bit = 1 << (member % u64::BITS);
        if self.bits & bit != 0 && self.members[..self.count].contains(&member) {
            return;
        }
        if let Some(place) = self.members.get_mut(self.count) {
            *place = member;
            self.count += 1;
            self.bits |= bit;
        }
    }
}

#[cfg(test)]
#[allow(clippy::cast_possible_truncation)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::HashSet;

    /// All members of a sequence in the order in which it names them.
    fn naive(sequence: &[u32]) -> Vec<u32> {
        let mut order = Vec::new();
        for &member in sequence {
            if !order.contains(&member) {
                order.push(member);
            }
        }
        order
    }

    proptest! {
        #[test]
        fn attempts_go_through_all_members(
            hash: u64,
            members in 1..=129_usize,
            // Skewed, so that some members are met late or never.
            draws in prop::collection::vec((0..129_usize, 1..129_usize), 1..300),
        ) {
            let sequence: Vec<u32> =
                draws.iter().map(|&(draw, limit)| (draw % limit % members) as u32).collect();
            let at = |step: usize| sequence[step % sequence.len()];
            let order: Vec<u32> =
                (0..members as u32).map(|attempt| distinct(hash, attempt, members, at)).collect();
            let all: HashSet<u32> = order.iter().copied().collect();
            prop_assert_eq!(all.len(), members, "attempts repeat a member: {:?}", order);
            let again = distinct(hash, members as u32, members, at);
            prop_assert_eq!(again, order[0], "attempt {} begins again", members);
            let near = naive(&sequence[..sequence.len().min(STEPS)]);
            prop_assert_eq!(&order[..near.len()], &near[..], "the sequence's own order");
        }
    }

    #[test]
    fn a_heavy_member_does_not_hold_up_the_walk() {
        let steps = std::cell::Cell::new(0);
        let at = |_| {
            steps.set(steps.get() + 1);
            7
        };
        let tried: HashSet<u32> = (0..=128).map(|attempt| distinct(1, attempt, 9000, at)).collect();
        assert_eq!(tried.len(), 129, "each attempt has a member of its own");
        let most = 129 * (STEPS + STEPS_PER_MEMBER);
        assert!(steps.get() <= most, "{} steps for 129 attempts, at most {most}", steps.get());
    }

    #[test]
    fn attempts_beyond_the_last_begin_again() {
        let at = |step: usize| step as u32 % 1000;
        assert_eq!(distinct(5, 129, 1000, at), distinct(5, 0, 1000, at));
        assert_eq!(distinct(5, u32::MAX, 1, at), 0);
        assert_eq!(distinct(5, 3, 0, |_| 0), 0, "no members, no search");
    }
}
