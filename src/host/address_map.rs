//! All current hosts by address, in a form that snapshots share.
//!
//! Hosts stand in the order of their addresses' hashes, cut into shards of equally many hashes. A
//! snapshot takes one pointer; a change copies the one shard it falls into and, if a snapshot has
//! it too, the array of pointers to shards. The shards are cut in two as hosts come, and stay as
//! they go. Equal hashes stand side by side: what decides are the addresses.
//!
//! Those are not in here. A host's slot is, and the directory that goes with the map has the rest.

use super::directory::{Directory, Entry};
use crate::rng::splitmix64;
use crate::sync::Arc;

/// With more hosts in a shard on the average, all shards are cut in two: enough that the pointers
/// are few, few enough to find one among them in five steps.
const CROWDED: usize = 64;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Pair {
    hash: u32,
    slot: u32,
}

type Shard = Arc<[Pair]>;

/// See the module.
#[derive(Debug, Clone, Default)]
pub(crate) struct AddressMap {
    /// None, or a power of two.
    shards: Arc<[Shard]>,
    hosts: usize,
}

impl AddressMap {
    /// The current host of this address. `directory` has all hosts of the map.
    pub(crate) fn get<'a>(&self, address: &str, directory: &'a Directory) -> Option<&'a Entry> {
        let hash = hash_of(address);
        let shard = self.shards.get(index(hash, self.shards.len()))?;
        let first = shard.partition_point(|pair| pair.hash < hash);
        let equal = shard[first..].iter().take_while(|pair| pair.hash == hash);
        let mut entries = equal.filter_map(|pair| directory.get(pair.slot));
        entries.find(|entry| entry.info.address.as_str() == address)
    }

    /// Makes the host in `slot`, which `directory` has, the current one of this address.
    pub(crate) fn insert(&mut self, address: &str, slot: u32, directory: &Directory) {
        if let Some(replaced) = self.get(address, directory) {
            self.remove(address, replaced.info.slot);
        }
        if self.hosts >= self.shards.len() * CROWDED {
            self.cut_in_two();
        }
        let hash = hash_of(address);
        let pair = Pair { hash, slot };
        let shard = self.shard_mut(hash);
        if let Err(place) = shard.binary_search(&pair) {
            let (before, after) = shard.split_at(place);
            *shard = before.iter().chain([&pair]).chain(after).copied().collect();
            self.hosts += 1;
        }
    }

    /// Takes the host in `slot` out, if it is the current one of its address.
    pub(crate) fn remove(&mut self, address: &str, slot: u32) {
        let hash = hash_of(address);
        if self.shards.is_empty() {
            return;
        }
        let shard = self.shard_mut(hash);
        if let Ok(place) = shard.binary_search(&Pair { hash, slot }) {
            let (before, after) = shard.split_at(place);
            *shard = before.iter().chain(&after[1..]).copied().collect();
            self.hosts -= 1;
        }
    }

    /// The number of hosts.
    pub(crate) fn len(&self) -> usize {
        self.hosts
    }

    /// The slots of all hosts, in no order that means anything.
    pub(crate) fn slots(&self) -> impl Iterator<Item = u32> + '_ {
        self.shards.iter().flat_map(|shard| shard.iter()).map(|pair| pair.slot)
    }

    /// The shard of a hash, to replace it. There is one.
    fn shard_mut(&mut self, hash: u32) -> &mut Shard {
        let index = index(hash, self.shards.len());
        &mut Arc::make_mut(&mut self.shards)[index]
    }

    fn cut_in_two(&mut self) {
        let count = 2 * self.shards.len();
        let halves = |(number, shard): (usize, &Shard)| {
            let lower = shard.partition_point(|pair| index(pair.hash, count) == 2 * number);
            let (lower, upper) = shard.split_at(lower);
            [Shard::from(lower), Shard::from(upper)]
        };
        self.shards = match count {
            0 => Arc::new([Shard::default()]),
            _ => self.shards.iter().enumerate().flat_map(halves).collect(),
        };
    }
}

/// Which of `count` shards has a hash: the first ones have the smallest hashes.
#[allow(clippy::cast_possible_truncation)] // less than `count`
fn index(hash: u32, count: usize) -> usize {
    ((u64::from(hash) * count as u64) >> 32) as usize
}

/// Nothing secret: whoever names the hosts of a cluster has better ways to make it slow.
#[allow(clippy::cast_possible_truncation)] // half of the bits
fn hash_of(address: &str) -> u32 {
    let (words, rest) = address.as_bytes().as_chunks::<8>();
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    let mix = |hash: u64, word: &[u8; 8]| splitmix64(hash ^ u64::from_le_bytes(*word));
    (words.iter().chain([&last]).fold(address.len() as u64, mix) >> 32) as u32
}

#[cfg(test)]
mod tests {
    use std::collections::HashMap;

    use proptest::prelude::*;

    use super::*;
    use crate::host::directory::tests::entry_at;

    /// A map, the directory that goes with it, and what should be in both.
    #[derive(Debug, Clone, Default)]
    struct Subject {
        map: AddressMap,
        directory: Directory,
        expected: HashMap<String, u32>,
        next: u32,
    }

    impl Subject {
        /// A new host, also if there is one of this address. The one before is let go afterwards.
        fn add(&mut self, address: &str) {
            let slot = self.next;
            self.next += 1;
            self.directory.insert(entry_at(address, slot));
            self.map.insert(address, slot, &self.directory);
            if let Some(before) = self.expected.insert(address.to_owned(), slot) {
                self.let_go(address, before);
            }
        }

        fn remove(&mut self, address: &str) {
            if let Some(slot) = self.expected.remove(address) {
                self.let_go(address, slot);
            }
        }

        fn let_go(&mut self, address: &str, slot: u32) {
            self.directory.remove(slot);
            self.map.remove(address, slot);
        }

        fn slot(&self, address: &str) -> Option<u32> {
            self.map.get(address, &self.directory).map(|entry| entry.info.slot)
        }

        fn check(&self) {
            assert_eq!(self.map.len(), self.expected.len());
            for (address, slot) in &self.expected {
                assert_eq!(self.slot(address), Some(*slot), "{address}");
            }
            let mut slots: Vec<u32> = self.map.slots().collect();
            let mut expected: Vec<u32> = self.expected.values().copied().collect();
            slots.sort_unstable();
            expected.sort_unstable();
            assert_eq!(slots, expected);
        }
    }

    fn address(host: u32) -> String {
        format!("10.0.{}.{}:80", host / 256, host % 256)
    }

    #[derive(Debug, Clone)]
    enum Operation {
        Add(u32),
        Remove(u32),
        AddMany(u32),
    }

    fn operation() -> impl Strategy<Value = Operation> {
        prop_oneof![
            (0..300_u32).prop_map(Operation::Add),
            (0..300_u32).prop_map(Operation::Remove),
            (0..200_u32).prop_map(Operation::AddMany),
        ]
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        #[test]
        fn it_holds_what_a_plain_map_holds_and_copies_keep_what_they_have(
            operations in prop::collection::vec(operation(), 0..60),
            copied_at in 0..60_usize,
        ) {
            let mut subject = Subject::default();
            let mut copy = Subject::default();
            for (step, operation) in operations.iter().enumerate() {
                if step == copied_at {
                    copy = subject.clone();
                }
                match *operation {
                    Operation::Add(host) => subject.add(&address(host)),
                    Operation::Remove(host) => subject.remove(&address(host)),
                    Operation::AddMany(first) => {
                        (first..first + 100).for_each(|host| subject.add(&address(host)));
                    }
                }
            }
            subject.check();
            copy.check();
            for host in 0..300 {
                let address = address(host);
                prop_assert_eq!(subject.slot(&address), subject.expected.get(&address).copied());
                prop_assert_eq!(copy.slot(&address), copy.expected.get(&address).copied());
            }
        }
    }

    #[test]
    fn nothing_is_found_in_an_empty_map() {
        let mut subject = Subject::default();
        assert_eq!((subject.slot(""), subject.slot("10.0.0.1:80")), (None, None));
        subject.map.remove("10.0.0.1:80", 0);
        subject.add("10.0.0.1:80");
        subject.remove("10.0.0.1:80");
        assert_eq!((subject.slot("10.0.0.1:80"), subject.map.len()), (None, 0));
    }

    #[test]
    fn a_host_that_was_replaced_does_not_take_its_successor_with_it() {
        let mut subject = Subject::default();
        subject.add("10.0.0.1:80");
        subject.add("10.0.0.1:80");
        subject.map.remove("10.0.0.1:80", 0);
        assert_eq!((subject.slot("10.0.0.1:80"), subject.map.len()), (Some(1), 1));
    }

    #[test]
    fn addresses_of_one_hash_are_told_apart() {
        // Among so many there are about five pairs with the same 32 bits.
        let mut by_hash = HashMap::new();
        let same = (0..200_000).map(address).find_map(|address| {
            let other = by_hash.insert(hash_of(&address), address.clone())?;
            Some([other, address])
        });
        let [first, second] = same.expect("two addresses of one hash");
        let mut subject = Subject::default();
        subject.add(&first);
        assert_eq!((subject.slot(&first), subject.slot(&second)), (Some(0), None));
        subject.add(&second);
        subject.check();
        subject.remove(&first);
        assert_eq!((subject.slot(&first), subject.slot(&second)), (None, Some(1)));
    }

    #[test]
    fn one_change_among_many_hosts_copies_one_shard() {
        let mut subject = Subject::default();
        (0..100_000).for_each(|host| subject.add(&format!("10.0.0.1:{host}")));
        subject.check();
        let shards = subject.map.shards.len();
        let sizes = subject.map.shards.iter().map(|shard| shard.len());
        assert!(sizes.max() < Some(2 * CROWDED) && (1024..4096).contains(&shards), "{shards}");
        let shared = |map: &AddressMap, copy: &AddressMap| {
            let pairs = map.shards.iter().zip(&*copy.shards);
            pairs.filter(|(shard, other)| Arc::ptr_eq(shard, other)).count()
        };
        let copy = subject.map.clone();
        assert!(Arc::ptr_eq(&copy.shards, &subject.map.shards), "a copy is one pointer");
        subject.add("10.0.0.2:80");
        assert_eq!(shared(&subject.map, &copy), shards - 1);
        let copy = subject.map.clone();
        subject.remove("10.0.0.1:777");
        assert_eq!(shared(&subject.map, &copy), shards - 1);
    }
}
