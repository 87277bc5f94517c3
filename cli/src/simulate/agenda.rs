//! What is due when. What is due at the same time comes in a fixed order, so that a scenario always
//! gives the same result.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use plimsoll::Pick;

/// Something that is due.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Due {
    /// A second is over; it counts what came before everything else at that time.
    Second,
    /// The event of this number.
    Event(usize),
    /// The proxies eject the hosts that the event of this number took down.
    Notice(usize),
    /// A request comes to a proxy.
    Request { proxy: usize },
    /// A request ends.
    End(Request),
    /// A report that was on its way comes to a proxy.
    Report { proxy: usize, host: usize, load: Load },
    /// A host sends a report out of band.
    Send { proxy: usize, host: usize },
    /// A proxy's control loop runs; only the newest of its plans counts.
    Tick { proxy: usize, plan: u64 },
}

/// A request that was sent.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Request {
    pub(crate) proxy: usize,
    /// Which life of the proxy it belongs to.
    pub(crate) life: u64,
    pub(crate) host: usize,
    pub(crate) pick: Pick,
    /// The host took it.
    pub(crate) served: bool,
}

/// What a host measures.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Load {
    /// Requests per second.
    pub(crate) rps: f64,
    /// What part of its capacity that is; above 1 it has too many.
    pub(crate) utilization: f64,
}

impl Due {
    fn rank(&self) -> u8 {
        match self {
            Self::Second => 0,
            Self::Event(_) => 1,
            Self::Notice(_) => 2,
            _ => 3,
        }
    }
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Agenda {
    heap: BinaryHeap<Reverse<Entry>>,
    entered: u64,
}

#[derive(Debug)]
struct Entry {
    key: (u64, u8, u64),
    due: Due,
}

impl Agenda {
    /// Plans something.
    pub(crate) fn add(&mut self, at_ns: u64, due: Due) {
        self.entered += 1;
        let key = (at_ns, due.rank(), self.entered);
        self.heap.push(Reverse(Entry { key, due }));
    }

    /// What is due next, and when.
    pub(crate) fn next(&mut self) -> Option<(u64, Due)> {
        let Reverse(Entry { key: (at_ns, ..), due }) = self.heap.pop()?;
        Some((at_ns, due))
    }
}

impl PartialEq for Entry {
    fn eq(&self, other: &Self) -> bool {
        self.key == other.key
    }
}

impl Eq for Entry {}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}
