//! All hosts by slot, in a form that snapshots share.
//!
//! The directory is an array of blocks. A snapshot takes a copy of the array of pointers; a
//! change copies the one block it falls into, if a snapshot has it too. So adding one host to
//! 100 000 copies a block and a few hundred pointers, and a batch copies each block once.

use super::info::HostInfo;
use super::{Address, CoarseHealth, EdsHealth, HealthFlags, Locality};
use crate::sync::Arc;

/// Hosts in a block: large enough that the pointers are few, small enough to copy for one flip.
const BLOCK: usize = 128;

/// What describes a host and seldom changes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) locality: Arc<Locality>,
    pub(crate) hostname: String,
    /// Its key for consistent hashing, in place of its name or address; may be empty.
    pub(crate) hash_key: String,
    pub(crate) disable_active_health_check: bool,
    /// Where its health checks go, if not to its address.
    pub(crate) health_check_address: Option<Address>,
}

/// One host.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    pub(crate) info: Arc<HostInfo>,
    pub(crate) place: Arc<Place>,
    /// That of `info`, at hand.
    pub(crate) generation: u32,
    pub(crate) weight: u32,
    pub(crate) priority: u32,
    pub(crate) flags: HealthFlags,
    pub(crate) eds: EdsHealth,
    /// When its slow start began: when it first turned healthy, or when an active health check last
    /// passed that had failed before. Envoy's `last_hc_pass_time`.
    pub(crate) up_since_ns: Option<u64>,
}

impl Entry {
    /// When the host came up, while that matters: a host that is not healthy is not warmed up.
    pub(crate) fn warming_since_ns(&self) -> Option<u64> {
        self.up_since_ns.filter(|_| self.flags.coarse() == CoarseHealth::Healthy)
    }
}

type Block = Arc<[Option<Entry>]>;

/// See the module.
#[derive(Debug, Clone, Default)]
pub(crate) struct Directory {
    blocks: Vec<Block>,
}

impl Directory {
    /// The host in `slot`.
    #[inline]
    pub(crate) fn get(&self, slot: u32) -> Option<&Entry> {
        let slot = slot as usize;
        self.blocks.get(slot / BLOCK)?.get(slot % BLOCK)?.as_ref()
    }

    /// The host in `slot`, to change it. Copies its block if a snapshot shares it, so call it
    /// only when something changes.
    pub(crate) fn get_mut(&mut self, slot: u32) -> Option<&mut Entry> {
        self.place_of(slot).as_mut()
    }

    /// Puts a host into its slot and returns the one that was there.
    pub(crate) fn insert(&mut self, entry: Entry) -> Option<Entry> {
        self.place_of(entry.info.slot).replace(entry)
    }

    /// Takes the host out of `slot`.
    pub(crate) fn remove(&mut self, slot: u32) -> Option<Entry> {
        self.place_of(slot).take()
    }

    fn place_of(&mut self, slot: u32) -> &mut Option<Entry> {
        let slot = slot as usize;
        while self.blocks.len() <= slot / BLOCK {
            self.blocks.push(std::iter::repeat_n(None, BLOCK).collect());
        }
        &mut Arc::make_mut(&mut self.blocks[slot / BLOCK])[slot % BLOCK]
    }
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    fn entry(slot: u32) -> Entry {
        entry_at(&format!("10.0.0.1:{slot}"), slot)
    }

    pub(in crate::host) fn entry_at(address: &str, slot: u32) -> Entry {
        let place = Place {
            locality: Arc::default(),
            hostname: String::new(),
            hash_key: String::new(),
            disable_active_health_check: false,
            health_check_address: None,
        };
        Entry {
            info: Arc::new(HostInfo::new(address.into(), slot, 0)),
            place: Arc::new(place),
            generation: 0,
            weight: 1,
            priority: 0,
            flags: HealthFlags::NONE,
            eds: EdsHealth::Unknown,
            up_since_ns: None,
        }
    }

    #[test]
    fn a_copy_keeps_what_the_original_changes() {
        let mut directory = Directory::default();
        (0..300).for_each(|slot| drop(directory.insert(entry(slot))));
        let copy = directory.clone();
        directory.get_mut(200).unwrap().weight = 9;
        directory.remove(201);
        assert_eq!(copy.get(200).unwrap().weight, 1);
        assert!(copy.get(201).is_some() && directory.get(201).is_none());
        assert!(directory.get(300).is_none() && directory.get(u32::MAX).is_none());
    }

    #[test]
    fn one_change_copies_one_block() {
        let mut directory = Directory::default();
        (0..100_000).for_each(|slot| drop(directory.insert(entry(slot))));
        let copy = directory.clone();
        directory.insert(entry(100_000));
        directory.get_mut(5_000).unwrap().weight = 2;
        let shared = directory.blocks.iter().zip(&copy.blocks).filter(|(a, b)| Arc::ptr_eq(a, b));
        assert_eq!(shared.count() + 2, copy.blocks.len(), "blocks copied besides the two changed");
    }
}
