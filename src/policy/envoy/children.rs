//! The policies of load-aware routing's localities: in Envoy each locality has one for each source,
//! with a seed, a position and peeks of its own.

use std::collections::VecDeque;

use super::super::{Method, State};
use super::{Mode, Tables};

/// What a worker remembers of them.
#[derive(Debug, Clone, Default)]
pub(crate) struct Child {
    /// Which one it is; 0 for none.
    id: u64,
    pub(crate) seed: u64,
    /// How many turns it has given.
    turns: u64,
    /// How many of its turns were peeked and not picked.
    ahead: u64,
    /// Numbers of peeks that no pick has used yet.
    stash: VecDeque<u64>,
}

impl Child {
    /// Whether there is one.
    pub(crate) fn is_any(&self) -> bool {
        self.id != 0
    }

    /// The number of a pick.
    pub(super) fn number(&mut self, draw: impl FnOnce() -> u64) -> u64 {
        self.stash.pop_front().unwrap_or_else(draw)
    }

    /// Keeps the number of a look ahead, unless as many are kept as there are hosts.
    pub(super) fn stash(&mut self, hosts: usize, draw: impl FnOnce() -> u64) -> Option<u64> {
        if self.stash.len() >= hosts {
            return None;
        }
        let number = draw();
        self.stash.push_back(number);
        Some(number)
    }

    /// The turn of a pick, or the one that is next after those that were peeked.
    pub(super) fn turn(&mut self, mode: Mode) -> u64 {
        let turn = self.seed.wrapping_add(self.turns);
        match mode {
            Mode::Pick => {
                self.turns += 1;
                self.ahead = self.ahead.saturating_sub(1);
                turn
            }
            Mode::Peek => {
                self.ahead += 1;
                turn.wrapping_add(self.ahead - 1)
            }
        }
    }

    pub(crate) fn forget_peeks(&mut self) {
        self.stash.clear();
        self.ahead = 0;
    }
}

impl Tables {
    /// Makes the policies that are new, each with a generated seed: by priority, locality, source.
    /// Other weights make none, and are not looked at.
    pub(crate) fn adopt_children(&self, state: &mut State) {
        if std::mem::replace(&mut state.children_seen, self.children) == self.children {
            return;
        }
        let is_seeded = !matches!(self.method, Method::Random | Method::Hash);
        let lists = self.lists.iter().flat_map(|lists| lists.localities.iter().flatten());
        for list in lists.filter(|list| list.child != 0) {
            if state.children.len() <= list.number {
                state.children.resize_with(list.number + 1, Child::default);
            }
            if state.children[list.number].id != list.child {
                let seed = if is_seeded { state.draws.generate() } else { 0 };
                state.children[list.number] = Child { id: list.child, seed, ..Child::default() };
                state.forget_scheduler(list.number);
            }
        }
    }
}
