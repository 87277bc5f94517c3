//! The maps of a report that was parsed: one table in order of map and key, over the bytes that the
//! keys stand in.
//!
//! A table is a parser's and serves one report after the other. Its order finds a key by bisection
//! and keeps it unique, so that no report takes quadratic time; putting an entry in its place moves
//! at most 24 KiB.

use super::{MAX_METRICS, MetricMap};

/// Entries that fit before the first report makes a table larger.
const ROOM: usize = 32;

/// One number, and where its key stands. Texts of at most 64 KiB fit 32 bits.
#[derive(Debug, Clone, Copy)]
pub(super) struct Entry {
    map: MetricMap,
    start: u32,
    length: u32,
    value: f64,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Table {
    list: Vec<Entry>,
}

/// A table with the bytes that it is over.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Entries<'a> {
    list: &'a [Entry],
    bytes: &'a [u8],
}

/// There are [`MAX_METRICS`] entries already.
#[derive(Debug, Clone, Copy)]
pub(super) struct Full;

impl Table {
    pub(super) fn new() -> Self {
        Self { list: Vec::with_capacity(ROOM) }
    }

    pub(super) fn clear(&mut self) {
        self.list.clear();
    }

    /// What is in the table; `bytes` are those that all entries were inserted with.
    pub(super) fn entries<'a>(&'a self, bytes: &'a [u8]) -> Entries<'a> {
        Entries { list: &self.list, bytes }
    }

    /// The number under a key, made 0 if it is new: `start` is where in `bytes` the key stands.
    /// And whether it is new.
    #[inline]
    pub(super) fn entry(
        &mut self,
        bytes: &[u8],
        map: MetricMap,
        key: &[u8],
        start: usize,
    ) -> Result<(&mut f64, bool), Full> {
        let place = self.entries(bytes).find(map, key);
        if let Err(place) = place {
            let (start, length) = (u32::try_from(start), u32::try_from(key.len()));
            let (Ok(start), Ok(length)) = (start, length) else { return Err(Full) };
            if self.list.len() == MAX_METRICS {
                return Err(Full);
            }
            self.list.insert(place, Entry { map, start, length, value: 0.0 });
        }
        let (Ok(index) | Err(index)) = place;
        Ok((&mut self.list[index].value, place.is_err()))
    }
}

impl<'a> Entries<'a> {
    pub(super) fn get(self, map: MetricMap, key: &[u8]) -> Option<f64> {
        self.find(map, key).ok().map(|index| self.list[index].value)
    }

    /// The entries of one map, in order of their keys.
    pub(super) fn of(self, map: MetricMap) -> Self {
        let end = self.list.partition_point(|entry| entry.map <= map);
        let start = self.list[..end].partition_point(|entry| entry.map < map);
        Self { list: &self.list[start..end], ..self }
    }

    /// Takes the first entry off.
    pub(super) fn take_first(&mut self) -> Option<(&'a [u8], f64)> {
        let (first, rest) = self.list.split_first()?;
        self.list = rest;
        Some((self.key(first), first.value))
    }

    pub(super) fn len(self) -> usize {
        self.list.len()
    }

    /// Where a key is, or where it would have to be.
    #[inline]
    fn find(self, map: MetricMap, key: &[u8]) -> Result<usize, usize> {
        self.list.binary_search_by(|entry| (entry.map, self.key(entry)).cmp(&(map, key)))
    }

    #[inline]
    fn key(self, entry: &Entry) -> &'a [u8] {
        &self.bytes[entry.start as usize..][..entry.length as usize]
    }
}
