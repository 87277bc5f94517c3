//! What goes back through pointers of the caller.
//!
//! An out-parameter gets its value for the case of a failure before anything can fail, so that it
//! is never read uninitialised, whatever the status.

use std::ffi::c_char;
use std::ptr;

use crate::failure::Failure;
use crate::status::Status;

/// An out-parameter, set to what it holds after a failure. `None` for null.
///
/// # Safety
///
/// `out` is null or points to writable memory for one `T` that nobody else uses during `'call`.
pub(crate) unsafe fn fresh<'call, T>(out: *mut T, after_failure: T) -> Option<&'call mut T> {
    if out.is_null() {
        return None;
    }
    // SAFETY: not null, so the caller promises that it is writable. It may be uninitialised, which
    // is why it is written before there is a reference to it.
    unsafe { out.write(after_failure) };
    // SAFETY: initialised just now.
    Some(unsafe { &mut *out })
}

/// The caller's buffer for a text and a NUL. Invariant: null with a capacity of 0, or `capacity`
/// writable bytes; nobody else uses them during `'call`.
pub(crate) struct TextBuffer<'call> {
    start: *mut c_char,
    capacity: usize,
    needed: &'call mut usize,
}

impl TextBuffer<'_> {
    /// Takes the buffer and empties it, so that printing it after a failure prints nothing.
    ///
    /// # Safety
    ///
    /// `start` is null or points to `capacity` writable bytes, `needed` is null or writable, and
    /// nobody else uses them while the value lives.
    ///
    /// # Errors
    ///
    /// `needed` is null, or `start` is null although it has a capacity.
    pub(crate) unsafe fn new(
        start: *mut c_char,
        capacity: usize,
        needed: *mut usize,
    ) -> Result<Self, Status> {
        if capacity > 0 && !start.is_null() {
            // SAFETY: there is a buffer with room for one byte.
            unsafe { start.write(0) };
        }
        // SAFETY: passed on from the caller.
        let needed = unsafe { fresh(needed, 0) }.ok_or(Status::NullArgument)?;
        if capacity > 0 && start.is_null() {
            return Err(Status::NullArgument);
        }
        Ok(Self { start, capacity, needed })
    }

    /// As [`new`](Self::new), for a call with an error object.
    ///
    /// # Safety
    ///
    /// As for [`new`](Self::new).
    ///
    /// # Errors
    ///
    /// Those of [`new`](Self::new), in words.
    pub(crate) unsafe fn named(
        start: *mut c_char,
        capacity: usize,
        needed: *mut usize,
    ) -> Result<Self, Failure> {
        let argument = if needed.is_null() { "needed" } else { "buffer" };
        // SAFETY: passed on from the caller.
        unsafe { Self::new(start, capacity, needed) }.map_err(|_| Failure::null(argument))
    }

    /// Copies `text` and a NUL, and says how many bytes that takes.
    ///
    /// # Errors
    ///
    /// The text does not fit; then the buffer stays empty.
    pub(crate) fn put(self, text: &str) -> Result<(), Status> {
        *self.needed = text.len() + 1;
        if *self.needed > self.capacity {
            return Err(Status::BufferTooSmall);
        }
        // SAFETY: the text is shorter than the capacity, and is ours: it does not overlap.
        unsafe { ptr::copy_nonoverlapping(text.as_ptr().cast(), self.start, text.len()) };
        // SAFETY: the text is shorter than the capacity.
        let end = unsafe { self.start.add(text.len()) };
        // SAFETY: as above, there is room for one more byte.
        unsafe { end.write(0) };
        Ok(())
    }
}
