//! Choices of peers in C++: `peers/choosers.cc`.

use std::rc::Rc;

use super::{Chooser, Maker};
use crate::peer::PeerCluster;
use crate::scenario::{Host, Layout};

mod raw {
    use crate::peer::raw::Cluster;

    #[repr(C)]
    pub(super) struct Chooser {
        _opaque: [u8; 0],
    }

    unsafe extern "C" {
        pub(super) fn peer_chooser_new(cluster: *mut Cluster, kind: u32) -> *mut Chooser;
        pub(super) fn peer_chooser_free(chooser: *mut Chooser);
        pub(super) fn peer_chooser_pick(chooser: *mut Chooser) -> u32;
        pub(super) fn peer_chooser_picks(chooser: *mut Chooser, count: u64) -> u64;
        pub(super) fn peer_heap_bytes() -> usize;
    }
}

#[derive(Clone, Copy)]
#[repr(u32)]
enum Rule {
    Edf = 0,
    Smooth = 1,
}

/// Holds weak pointers to the hosts of its cluster.
struct PeerChooser {
    raw: *mut raw::Chooser,
    _cluster: Rc<PeerCluster>,
}

impl Chooser for PeerChooser {
    fn pick(&mut self) -> u32 {
        // SAFETY: alive and exclusive.
        unsafe { raw::peer_chooser_pick(self.raw) }
    }

    fn picks(&mut self, count: u64) -> u64 {
        // SAFETY: alive and exclusive.
        unsafe { raw::peer_chooser_picks(self.raw, count) }
    }
}

impl Drop for PeerChooser {
    fn drop(&mut self) {
        // SAFETY: alive.
        unsafe { raw::peer_chooser_free(self.raw) };
    }
}

/// Earliest deadline first, over shared pointers.
pub(super) fn edf(weights: &[u32]) -> Maker {
    maker(weights, Rule::Edf)
}

/// nginx's smooth weighted round robin.
pub(super) fn smooth(weights: &[u32]) -> Maker {
    maker(weights, Rule::Smooth)
}

fn maker(weights: &[u32], rule: Rule) -> Maker {
    let host = |(index, &weight)| Host { index, priority: 0, locality: 0, weight, healthy: true };
    let hosts: Vec<Host> = (0..).zip(weights).map(host).collect();
    let cluster = Rc::new(PeerCluster::new(Layout::Flat, &hosts));
    Box::new(move || {
        // SAFETY: the cluster is alive, and the chooser keeps it so.
        let raw = unsafe { raw::peer_chooser_new(cluster.raw, rule as u32) };
        Box::new(PeerChooser { raw, _cluster: Rc::clone(&cluster) })
    })
}

/// The bytes that the process has on its heap, whichever language asked for them.
#[must_use]
pub fn heap_bytes() -> usize {
    // SAFETY: has no arguments, and the allocator locks itself.
    unsafe { raw::peer_heap_bytes() }
}
