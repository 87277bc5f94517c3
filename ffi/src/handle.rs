//! Handles: values behind a pointer that C keeps.
//!
//! A release build trusts the caller with them, as every C library does. A debug build knows which
//! ones are alive and who is using them, and answers [`Status::Misuse`] to what would otherwise be
//! undefined behaviour: a handle that was freed, is another one's, or was made before a `fork`, and a
//! worker that two threads use at once. As `_free` answers nothing, it says so on standard error and
//! ends the program, as `malloc` does.

use crate::failure::Failure;
use crate::status::Status;

/// Gives a value to C.
pub(crate) fn into_raw<T: 'static>(value: T) -> *mut T {
    let handle = Box::into_raw(Box::new(value));
    #[cfg(debug_assertions)]
    registry::add(handle);
    handle
}

/// The value behind a handle, for as long as the call lasts.
///
/// # Safety
///
/// `handle` is null or alive.
///
/// # Errors
///
/// NULL, and in a debug build a handle that is not alive.
#[inline]
pub(crate) unsafe fn alive<'call, T: 'static>(handle: *const T) -> Result<&'call T, Status> {
    #[cfg(debug_assertions)]
    registry::check(handle)?;
    // SAFETY: null is handled; otherwise the caller promises that it is alive.
    unsafe { handle.as_ref() }.ok_or(Status::NullArgument)
}

/// The same with words; `name` is the argument's.
///
/// # Safety
///
/// As for [`alive`].
///
/// # Errors
///
/// Those of [`alive`].
pub(crate) unsafe fn named<'call, T: 'static>(
    handle: *const T,
    name: &str,
) -> Result<&'call T, Failure> {
    // SAFETY: passed on from the caller.
    unsafe { alive(handle) }.map_err(|status| match status {
        Status::NullArgument => Failure::null(name),
        other => Failure::new(other, name, format!("{name} is not a handle that is alive")),
    })
}

/// Takes a value back from C and drops it; NULL is fine.
///
/// # Safety
///
/// `handle` is null or alive, and nobody uses it any more.
pub(crate) unsafe fn free<T: 'static>(handle: *mut T) {
    if handle.is_null() {
        return;
    }
    #[cfg(debug_assertions)]
    registry::remove(handle);
    // SAFETY: not null, so that it came from `into_raw`, and is alive and freed once.
    drop(unsafe { Box::from_raw(handle) });
}

/// Says what is wrong and ends the program, as `malloc` does.
#[cfg(debug_assertions)]
fn give_up(problem: &str) -> ! {
    eprintln!("plimsoll: {problem}");
    std::process::abort()
}

/// Which handles are alive, in a debug build.
#[cfg(debug_assertions)]
mod registry {
    use std::any::TypeId;
    use std::collections::HashMap;
    use std::process;
    use std::sync::{LazyLock, Mutex, MutexGuard, PoisonError};

    use crate::status::Status;

    #[derive(PartialEq)]
    struct Entry {
        kind: TypeId,
        process: u32,
    }

    impl Entry {
        fn of<T: 'static>() -> Self {
            Self { kind: TypeId::of::<T>(), process: process::id() }
        }
    }

    type Entries = HashMap<usize, Entry>;

    static LIVE: LazyLock<Mutex<Entries>> = LazyLock::new(Mutex::default);

    fn live() -> MutexGuard<'static, Entries> {
        LIVE.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn add<T: 'static>(handle: *const T) {
        live().insert(handle.addr(), Entry::of::<T>());
    }

    pub(super) fn check<T: 'static>(handle: *const T) -> Result<(), Status> {
        let is_alive = handle.is_null() || live().get(&handle.addr()) == Some(&Entry::of::<T>());
        if is_alive { Ok(()) } else { Err(Status::Misuse) }
    }

    pub(super) fn remove<T: 'static>(handle: *const T) {
        // One look, so that of two threads that free it one is told.
        let removed = live().remove(&handle.addr());
        if removed != Some(Entry::of::<T>()) {
            super::give_up(&format!("{handle:p} is freed, but is not a handle that is alive"));
        }
    }
}

/// Who is using something that one thread at a time may use. Costs nothing in a release build.
#[derive(Debug, Default)]
pub(crate) struct Occupancy {
    /// The thread that is inside, and how deep its calls are nested.
    #[cfg(debug_assertions)]
    inside: std::sync::Mutex<Option<(usize, u32)>>,
}

/// A call that is inside, until it is dropped.
#[derive(Debug)]
pub(crate) struct Occupied<'a>(
    #[cfg(debug_assertions)] &'a Occupancy,
    #[cfg(not(debug_assertions))] std::marker::PhantomData<&'a Occupancy>,
);

#[cfg(not(debug_assertions))]
impl Occupancy {
    /// # Errors
    ///
    /// None, in a release build.
    #[inline(always)]
    pub(crate) fn enter(&self) -> Result<Occupied<'_>, Status> {
        Ok(Occupied(std::marker::PhantomData))
    }
}

#[cfg(debug_assertions)]
impl Occupancy {
    /// Ends the program if a call is inside; `what` it is that is freed.
    pub(crate) fn assert_empty(&self, what: &str) {
        if self.inside().is_some() {
            give_up(&format!("a {what} is freed while a call uses it"));
        }
    }

    /// Lets a call in.
    ///
    /// # Errors
    ///
    /// Another thread is inside.
    pub(crate) fn enter(&self) -> Result<Occupied<'_>, Status> {
        let mut inside = self.inside();
        let depth = match *inside {
            None => 0,
            Some((thread, depth)) if thread == this_thread() => depth,
            Some(_) => return Err(Status::Misuse),
        };
        *inside = Some((this_thread(), depth + 1));
        Ok(Occupied(self))
    }

    fn inside(&self) -> std::sync::MutexGuard<'_, Option<(usize, u32)>> {
        self.inside.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

#[cfg(debug_assertions)]
impl Drop for Occupied<'_> {
    fn drop(&mut self) {
        let mut inside = self.0.inside();
        *inside = inside.filter(|(_, depth)| *depth > 1).map(|(thread, depth)| (thread, depth - 1));
    }
}

/// A number that no two threads have at once; costs no allocation.
#[cfg(debug_assertions)]
fn this_thread() -> usize {
    thread_local! {
        static HERE: u8 = const { 0 };
    }
    HERE.with(|here| std::ptr::from_ref(here).addr())
}

#[cfg(all(test, debug_assertions))]
mod tests {
    use super::*;

    #[test]
    fn a_handle_is_alive_until_it_is_freed_and_only_as_what_it_is() {
        let handle = into_raw(7_u32);
        // SAFETY: it was made just now.
        assert_eq!(unsafe { alive(handle) }, Ok(&7));
        // SAFETY: what is not alive is refused before it is read.
        assert_eq!(unsafe { alive(handle.cast::<i32>()) }, Err(Status::Misuse));
        // SAFETY: it is alive.
        unsafe { free(handle) };
        // SAFETY: as above.
        assert_eq!(unsafe { alive(handle) }, Err(Status::Misuse));
        // SAFETY: NULL is handled.
        assert_eq!(unsafe { alive(std::ptr::null::<u32>()) }, Err(Status::NullArgument));
    }

    #[test]
    fn one_thread_may_be_inside_and_nest_its_calls() {
        let occupancy = Occupancy::default();
        let enter_elsewhere =
            || std::thread::scope(|scope| scope.spawn(|| occupancy.enter().err()).join().ok());
        let outer = occupancy.enter().expect("nobody is inside");
        let inner = occupancy.enter().expect("the same thread");
        assert_eq!(enter_elsewhere(), Some(Some(Status::Misuse)));
        drop(inner);
        assert_eq!(enter_elsewhere(), Some(Some(Status::Misuse)));
        drop(outer);
        assert_eq!(enter_elsewhere(), Some(None));
    }
}
