//! How the slots of a table are handed out.
//!
//! In each turn every member that is due claims a slot, in the order of members, until no slot is
//! left. The heaviest member is due in every turn, so there are at most as many turns as slots.
//!
//! //= envoy v1.40 source/extensions/load_balancing_policies/maglev/maglev_lb.cc#constructImplementationInternals
//!
//! envoy-differs: where most members are idle in most turns, Envoy asks each of them in each turn.
//! Here a calendar says who is due in which turn; the table is the same.

use super::slots::Slots;
use super::weight::{Weight, next_turn};
use super::{Modulus, Permutation};

/// From so many members for each that is due in a turn on, a calendar is faster than asking.
const CROWD: f64 = 16.0;

/// The member that owns each slot; `permutations` and `weights` are those of the members in order.
pub(super) fn fill<W: Weight>(
    modulus: Modulus,
    permutations: &[Permutation],
    weights: &[W],
) -> Vec<u32> {
    let members = Members::new(modulus, permutations, weights);
    let slots = Slots::new(modulus);
    if members.crowd() > CROWD { members.by_calendar(slots) } else { members.by_asking(slots) }
}

struct Member<W: Weight> {
    weight: W,
    target: W::Target,
    /// The slots that it prefers from now on.
    order: Permutation,
}

/// At least one member, and the heaviest weight.
pub(super) struct Members<W: Weight> {
    members: Vec<Member<W>>,
    heaviest: W,
}

impl<W: Weight> Members<W> {
    pub(super) fn new(modulus: Modulus, permutations: &[Permutation], weights: &[W]) -> Self {
        let has_weight = weights.iter().any(|weight| weight.sound().is_positive());
        let sound = |weight: W| if has_weight { weight.sound() } else { W::ONE };
        let member = |(order, &weight): (&Permutation, &W)| Member {
            weight: sound(weight),
            target: W::NOTHING,
            order: order.within(modulus),
        };
        let members: Vec<Member<W>> = permutations.iter().zip(weights).map(member).collect();
        let heavier = |one: W, other: W| if other > one { other } else { one };
        let heaviest = members.iter().map(|member| member.weight).reduce(heavier);
        Self { members, heaviest: heaviest.unwrap_or(W::ONE) }
    }

    /// How many members there are for each one that is due in a turn.
    #[allow(clippy::cast_precision_loss)]
    fn crowd(&self) -> f64 {
        let sum: f64 = self.members.iter().map(|member| member.weight.as_float()).sum();
        self.members.len() as f64 * self.heaviest.as_float() / sum
    }

    /// Asks every member in every turn.
    pub(super) fn by_asking(mut self, mut slots: Slots) -> Vec<u32> {
        for turn in 1.. {
            for (index, member) in (0..).zip(&mut self.members) {
                if !member.weight.is_due(turn, member.target) {
                    continue;
                }
                member.target = W::plus(member.target, self.heaviest);
                slots.claim(index, &mut member.order);
                if slots.is_full() {
                    return slots.into_owners();
                }
            }
        }
        slots.into_owners()
    }

    /// Asks only those that are due.
    pub(super) fn by_calendar(mut self, mut slots: Slots) -> Vec<u32> {
        // No turn has a greater number: each hands out a slot or more.
        let last = slots.size() + 1;
        let mut calendar = Calendar::new(last, self.members.len());
        let mut due: Vec<u32> = (0..).zip(&self.members).map(|(index, _)| index).collect();
        for turn in 1..last {
            for &index in &due {
                let Some(member) = self.members.get_mut(index as usize) else { continue };
                member.target = W::plus(member.target, self.heaviest);
                slots.claim(index, &mut member.order);
                if slots.is_full() {
                    return slots.into_owners();
                }
                let is_heaviest = member.weight >= self.heaviest;
                let next = if is_heaviest {
                    turn + 1
                } else {
                    next_turn(member.weight, member.target, turn, last)
                };
                calendar.put(next, index);
            }
            calendar.take(turn + 1, &mut due);
        }
        slots.into_owners()
    }
}

/// Members by the turn in which they are due next: a list for each turn.
struct Calendar {
    /// For each turn the member that was put there last, plus one; 0 if there is none.
    first: Vec<u32>,
    /// For each member the one that was put there before it, likewise.
    next: Vec<u32>,
}

impl Calendar {
    fn new(last: u32, members: usize) -> Self {
        Self { first: vec![0; last as usize + 1], next: vec![0; members] }
    }

    fn put(&mut self, turn: u32, member: u32) {
        let first = self.first.get_mut(turn as usize);
        if let (Some(first), Some(next)) = (first, self.next.get_mut(member as usize)) {
            *next = std::mem::replace(first, member + 1);
        }
    }

    /// Replaces `due` by the members that are due in a turn, in their order.
    fn take(&mut self, turn: u32, due: &mut Vec<u32>) {
        due.clear();
        let mut member = self.first.get(turn as usize).copied().unwrap_or(0);
        while let Some(index) = member.checked_sub(1) {
            due.push(index);
            member = self.next.get(index as usize).copied().unwrap_or(0);
        }
        if due.len() > 1 {
            due.sort_unstable();
        }
    }
}
