//! The records of all hosts by slot.

use super::{Exact, Kept, Origin, Packed, Periods, Record, Sample, Verdict};
use crate::config::Behavior;
use crate::host::Segments;

/// Segments from 512 on that hold a record for every slot there can be.
const SEGMENTS: usize = 18;

/// Records by slot; the control side installs them before a snapshot names their hosts.
type RecordTable<R> = Segments<R, 9, SEGMENTS>;

/// The records of one policy, of the kind that its behaviour needs.
#[derive(Debug)]
pub(crate) enum Records {
    Packed(RecordTable<Packed>),
    Exact(RecordTable<Exact>),
}

impl Records {
    pub(crate) fn new(behavior: Behavior) -> Self {
        match behavior {
            Behavior::Native => Self::Packed(RecordTable::new()),
            Behavior::Envoy => Self::Exact(RecordTable::new()),
        }
    }

    /// Makes sure that slots `0..slots` have records. Control side.
    pub(crate) fn grow(&self, slots: usize) {
        match self {
            Self::Packed(table) => table.grow(slots, |_| Packed::new()),
            Self::Exact(table) => table.grow(slots, |_| Exact::new()),
        }
    }

    /// Takes a report of the host in `slot` in, unless reports of a stream are preferred.
    pub(crate) fn report(&self, slot: u32, sample: Sample, origin: Origin) -> bool {
        let taken = match self {
            Self::Packed(table) => with(table, slot, |record| record.report(sample, origin)),
            Self::Exact(table) => with(table, slot, |record| record.report(sample, origin)),
        };
        taken.unwrap_or(true)
    }

    /// Takes note of how a request to the host in `slot` ended.
    #[inline]
    pub(crate) fn outcome(&self, slot: u32, succeeded: bool) {
        match self {
            Self::Packed(table) => with(table, slot, |record| record.outcome(succeeded)),
            Self::Exact(table) => with(table, slot, |record| record.outcome(succeeded)),
        };
    }

    /// What the record of `slot` is worth. Control side.
    pub(crate) fn judge(&self, slot: u32, now_ns: u64, periods: Periods) -> Verdict {
        let verdict = match self {
            Self::Packed(table) => with(table, slot, |record| record.judge(now_ns, periods)),
            Self::Exact(table) => with(table, slot, |record| record.judge(now_ns, periods)),
        };
        verdict.unwrap_or(Verdict::Unknown)
    }

    /// The last report of the host in `slot`, for people.
    pub(crate) fn last(&self, slot: u32, now_ns: u64) -> Option<Sample> {
        match self {
            Self::Packed(table) => with(table, slot, |record| record.last(now_ns)),
            Self::Exact(table) => with(table, slot, |record| record.last(now_ns)),
        }?
    }

    /// What the record of `slot` has to keep. Control side.
    pub(crate) fn keep(&self, slot: u32, now_ns: u64) -> Option<Kept> {
        match self {
            Self::Packed(table) => with(table, slot, |record| record.keep(now_ns)),
            Self::Exact(table) => with(table, slot, |record| record.keep(now_ns)),
        }?
    }

    /// Takes over what the record of the host in `slot` was, unless it has reported. Control side.
    pub(crate) fn restore(&self, slot: u32, kept: Kept, now_ns: u64) -> bool {
        let restored = match self {
            Self::Packed(table) => with(table, slot, |record| record.restore(kept, now_ns)),
            Self::Exact(table) => with(table, slot, |record| record.restore(kept, now_ns)),
        };
        restored.unwrap_or(false)
    }

    /// Forgets what the host in `slot` reported. Control side.
    pub(crate) fn forget(&self, slot: u32) {
        match self {
            Self::Packed(table) => with(table, slot, Record::forget),
            Self::Exact(table) => with(table, slot, Record::forget),
        };
    }
}

fn with<R, T>(table: &RecordTable<R>, slot: u32, action: impl FnOnce(&R) -> T) -> Option<T> {
    table.get(slot as usize).map(action)
}
