//! Tables of peers in C++: `peers/tables.cc`.

use super::{Hosts, SLOTS, Table};
use crate::peer::start_a_thread;

mod raw {
    use std::ffi::c_char;

    #[repr(C)]
    pub(super) struct Hosts {
        _opaque: [u8; 0],
    }

    #[repr(C)]
    #[derive(Debug)]
    pub(super) struct Table {
        _opaque: [u8; 0],
    }

    unsafe extern "C" {
        pub(super) fn peer_hosts_new(
            addresses: *const c_char,
            weights: *const u32,
            count: usize,
        ) -> *mut Hosts;
        pub(super) fn peer_hosts_free(hosts: *mut Hosts);
        pub(super) fn peer_table_new(hosts: *const Hosts, kind: u32, size: u64) -> *mut Table;
        pub(super) fn peer_table_free(table: *mut Table);
        pub(super) fn peer_table_size(table: *const Table) -> u64;
        pub(super) fn peer_table_at(table: *const Table, place: u64) -> u32;
        pub(super) fn peer_table_find(table: *const Table, hash: u64) -> u32;
        pub(super) fn peer_table_finds(table: *const Table, first: u64, count: u64) -> u64;
    }
}

#[derive(Clone, Copy)]
#[repr(u32)]
enum Rule {
    PointerMaglev = 0,
    CompactMaglev = 1,
    Ring = 2,
}

/// A table of shared pointers to hosts.
#[derive(Debug)]
pub struct PeerTable(*mut raw::Table);

impl PeerTable {
    /// A Maglev table with a shared pointer for each slot.
    #[must_use]
    pub fn pointer_maglev(hosts: &Hosts) -> Self {
        Self::new(hosts, Rule::PointerMaglev, SLOTS)
    }

    /// The same with the bits of an index.
    #[must_use]
    pub fn compact_maglev(hosts: &Hosts) -> Self {
        Self::new(hosts, Rule::CompactMaglev, SLOTS)
    }

    /// A ring of at least so many points.
    #[must_use]
    pub fn ring(hosts: &Hosts, points: u32) -> Self {
        Self::new(hosts, Rule::Ring, points)
    }

    fn new(hosts: &Hosts, rule: Rule, size: u32) -> Self {
        start_a_thread();
        let addresses: String = hosts.keys.iter().flat_map(|key| [key, "\0"]).collect();
        let (given, count) = (addresses.as_ptr().cast(), hosts.weights.len());
        // SAFETY: both arrays are alive during the call and have as many items.
        let raw_hosts = unsafe { raw::peer_hosts_new(given, hosts.weights.as_ptr(), count) };
        // SAFETY: alive.
        let table = unsafe { raw::peer_table_new(raw_hosts, rule as u32, size.into()) };
        // SAFETY: alive; the table has shared pointers of its own.
        unsafe { raw::peer_hosts_free(raw_hosts) };
        Self(table)
    }

    /// The host of each slot or point.
    #[must_use]
    pub fn members(&self) -> Vec<u32> {
        // SAFETY: alive.
        let size = unsafe { raw::peer_table_size(self.0) };
        // SAFETY: alive, and the place is below the size.
        (0..size).map(|place| unsafe { raw::peer_table_at(self.0, place) }).collect()
    }
}

impl Table for PeerTable {
    fn find(&self, hash: u64) -> u32 {
        // SAFETY: alive.
        unsafe { raw::peer_table_find(self.0, hash) }
    }

    fn finds(&self, first: u64, count: u64) -> u64 {
        // SAFETY: alive.
        unsafe { raw::peer_table_finds(self.0, first, count) }
    }
}

impl Drop for PeerTable {
    fn drop(&mut self) {
        // SAFETY: alive.
        unsafe { raw::peer_table_free(self.0) };
    }
}

pub(super) fn pointer_maglev(hosts: &Hosts, _: u32) -> Box<dyn Table> {
    Box::new(PeerTable::pointer_maglev(hosts))
}

pub(super) fn compact_maglev(hosts: &Hosts, _: u32) -> Box<dyn Table> {
    Box::new(PeerTable::compact_maglev(hosts))
}

pub(super) fn ring(hosts: &Hosts, points: u32) -> Box<dyn Table> {
    Box::new(PeerTable::ring(hosts, points))
}
