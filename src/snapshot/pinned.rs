//! The newest value for a thread that has no reader.

use std::fmt;
use std::ops::Deref;

use super::{Cell, Protocol, Sound};
use crate::sync::{Ordering, WatchedArc, epoch};

/// A value that stays while the guard lives. See [`Cell::pin`].
pub struct Pinned<T, P: Protocol = Sound> {
    value: *const T,
    // Declared before `cell`, so that the pin ends while the collector is certainly there.
    _guard: epoch::Guard,
    _cell: WatchedArc<Cell<T, P>>,
}

impl<T: Send + Sync + 'static, P: Protocol> Pinned<T, P> {
    pub(super) fn new(cell: WatchedArc<Cell<T, P>>) -> Self {
        let guard = cell.collector.register().pin();
        // S1, acquire side. After the pin, so that whatever this loads is retired only later.
        let value = cell.current.load(Ordering::Acquire);
        Self { value, _guard: guard, _cell: cell }
    }
}

impl<T, P: Protocol> Deref for Pinned<T, P> {
    type Target = T;

    fn deref(&self) -> &T {
        // SAFETY: the pointer was current after the pin began, so its value was retired, if at
        // all, later than that; the collector waits for this guard (S5).
        #[allow(unsafe_code)]
        unsafe {
            &*self.value
        }
    }
}

impl<T, P: Protocol> fmt::Debug for Pinned<T, P> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Pinned").field("value", &self.value).finish_non_exhaustive()
    }
}
