//! Tables with what they were made from, so that those which would come out the same stay.

use std::collections::HashMap;

use super::Settings;
use super::build::{Built, Member, TableWeight, build};
use crate::host::{Entry, Locality};
use crate::policy::hashed::HashTable;
use crate::policy::{HostId, Source};
use crate::sync::Arc;

/// Publishes that a table is kept without being in use.
const KEPT: u32 = 64;

/// Which part of the traffic a table is for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Part {
    pub(super) priority: u32,
    pub(super) source: Source,
    pub(super) locality: Option<Arc<Locality>>,
}

/// A host that belongs into a table, and its weight there.
pub(super) type Candidate<'a, W> = (HostId, W, &'a Entry);

/// See the module.
#[derive(Debug)]
pub(super) struct Cache<W>(HashMap<Part, Kept<W>>);

/// The tables of one part.
#[derive(Debug)]
struct Kept<W> {
    current: Built<W>,
    /// The one before, for hosts that come and go.
    last: Option<Built<W>>,
    /// Publishes since it was in use.
    age: u32,
}

impl<W> Default for Cache<W> {
    fn default() -> Self {
        Self(HashMap::new())
    }
}

impl<W: TableWeight> Cache<W> {
    /// The table over these hosts, and whether it had to be built; `None` if there are none.
    pub(super) fn table(
        &mut self,
        part: Part,
        candidates: &[Candidate<'_, W>],
        settings: Settings,
    ) -> (Option<Arc<HashTable<W>>>, bool) {
        if candidates.is_empty() {
            return (None, false);
        }
        let mut kept = self.0.remove(&part);
        let mut is_new = false;
        let fits = |built: &Built<W>| is_made_from(&built.members, candidates, settings);
        let kept = match kept.take() {
            None => {
                is_new = true;
                Kept { current: build(candidates, settings, None), last: None, age: 0 }
            }
            Some(kept) if fits(&kept.current) => Kept { age: 0, ..kept },
            Some(Kept { current, last: Some(last), .. }) if fits(&last) => {
                Kept { current: last, last: Some(current), age: 0 }
            }
            Some(Kept { current, .. }) => {
                is_new = true;
                let built = build(candidates, settings, Some(&current));
                Kept { current: built, last: Some(current), age: 0 }
            }
        };
        let table = Arc::clone(&kept.current.table);
        self.0.insert(part, kept);
        (Some(table), is_new)
    }

    /// The tables that the present snapshot uses.
    pub(super) fn in_use(&self) -> impl Iterator<Item = &Built<W>> {
        self.0.values().filter(|kept| kept.age == 0).map(|kept| &kept.current)
    }

    /// Forgets tables that have been out of use for long: those of a priority that is only used while
    /// another one is down should be there when it comes to that.
    pub(super) fn settle(&mut self) {
        self.0.retain(|_, kept| {
            kept.age += 1;
            kept.age <= KEPT
        });
    }
}

/// Whether members are these hosts with these keys and weights, in this order.
fn is_made_from<W: TableWeight>(
    members: &[Member<W>],
    candidates: &[Candidate<'_, W>],
    settings: Settings,
) -> bool {
    let is_same = |(member, &(host, weight, entry)): (&Member<W>, &Candidate<'_, W>)| {
        member.host == host && member.weight == weight && member.has_key_of(entry, settings)
    };
    members.len() == candidates.len() && members.iter().zip(candidates).all(is_same)
}
