//! Which slots are in use, and when one may be used again.

use crate::host::{Cells, HostData, HostInfo, Table};
use crate::sync::Arc;

/// The slots of a cluster.
#[derive(Debug, Default)]
pub(super) struct Slots {
    next: u32,
    free: Vec<u32>,
    /// Hosts that left the model while snapshots or requests may still name them.
    departed: Vec<Arc<HostInfo>>,
    /// The cells of all slots so far.
    cells: Cells,
}

impl Slots {
    /// A slot for a new host and its generation.
    pub(super) fn allocate(&mut self, table: &Table) -> (u32, u32) {
        let slot = self.free.pop().unwrap_or_else(|| {
            let slot = self.next;
            self.next += 1;
            if !table.has(slot) {
                self.cells = table.grow(self.next as usize);
            }
            slot
        });
        (slot, table.generation(slot))
    }

    /// One more than the highest slot in use.
    pub(super) fn end(&self) -> usize {
        self.next as usize
    }

    /// The counters for a snapshot that names these slots.
    pub(super) fn cells(&self) -> Cells {
        self.cells.clone()
    }

    /// Takes a host that left the model.
    pub(super) fn depart(&mut self, host: Arc<HostInfo>) {
        self.departed.push(host);
    }

    /// Hosts that left and whose slots are still in use.
    pub(super) fn departed(&self) -> usize {
        self.departed.len()
    }

    /// Frees the slots that nothing can name any more, and says which. What was attached to their hosts is
    /// returned, to be dropped when no lock is held.
    pub(super) fn reclaim(
        &mut self,
        table: &Table,
        mut released: impl FnMut(u32),
    ) -> Vec<HostData> {
        let mut data = Vec::new();
        let free = &mut self.free;
        self.departed.retain_mut(|host| {
            // The last reference means that every snapshot which named the host is gone, and what
            // their readers counted is visible (edge H1; the count of references synchronizes).
            let Some(info) = Arc::get_mut(host) else { return true };
            if !table.is_idle(info.slot) {
                return true;
            }
            data.extend(info.data.take());
            table.advance_generation(info.slot);
            released(info.slot);
            free.push(info.slot);
            false
        });
        data
    }
}
