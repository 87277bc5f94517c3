//! The error object: what a status alone cannot say.
//!
//! An object belongs to the call that made it and to nobody else. There is no "last error" of a
//! thread, which a Go program could not use: its goroutines move between threads.

use std::ptr;

use crate::failure::Failure;
use crate::guard::{guard, silent};
use crate::handle;
use crate::status::Status;
use crate::text::Str;

/// The guard of control calls: a failure, panics included, becomes a status and, where `error` is
/// not null, an object.
///
/// # Safety
///
/// `error` is null or writable.
pub(crate) unsafe fn report(
    error: *mut *mut Failure,
    body: impl FnOnce() -> Result<(), Failure>,
) -> Status {
    let panicked = |message| Err(Failure::new(Status::Panic, "", message));
    let (status, object) = match guard(body, panicked) {
        Ok(()) => (Status::Ok, ptr::null_mut()),
        Err(failure) if error.is_null() => (failure.status, ptr::null_mut()),
        Err(failure) => (failure.status, handle::into_raw(failure)),
    };
    if !error.is_null() {
        // SAFETY: not null, and then the caller promises that it is writable.
        unsafe { error.write(object) };
    }
    status
}

/// Frees an error object and the texts that were read from it. NULL is fine.
///
/// Thread: any. Allocates: no. Blocks: no.
///
/// # Safety
///
/// `error` is NULL or came from a call of this library and was not freed before.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_error_free(error: *mut Failure) {
    // SAFETY: passed on from the caller.
    silent(|| unsafe { handle::free(error) });
}

/// The status that the failed call returned; `PLIMSOLL_STATUS_NULL_ARGUMENT` for NULL.
///
/// Thread: any. Allocates: no. Blocks: no.
///
/// # Safety
///
/// `error` is NULL or came from a call of this library and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_error_status(error: *const Failure) -> Status {
    let read = || {
        // SAFETY: the caller promises that it is null or alive.
        unsafe { handle::alive(error) }.map_or_else(|status| status, |error| error.status)
    };
    guard(read, |_| Status::Panic)
}

/// The status as a word, such as `invalid_argument`: the same that replays and the command line
/// print. A text of length 0 for NULL.
///
/// The text is never NULL and ends in a NUL that `len` does not count; it stays as it is for as
/// long as the program runs.
///
/// Thread: any. Allocates: no. Blocks: no.
///
/// # Safety
///
/// `error` is NULL or came from a call of this library and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_error_code(error: *const Failure) -> Str {
    // SAFETY: the caller promises that it is null or alive.
    unsafe { read(error, |error| Str::lend_c(error.status.code())) }
}

/// Which value is at fault: the path of a field in Envoy's messages
/// (`endpoints[2].lb_endpoints[0].load_balancing_weight`), the name of an argument or of a member
/// of one (`changes[3].kind`), or the address of the host that is not there, has data already or
/// reported what is of no use. A text of length 0 where no single value is at fault, and for NULL.
///
/// The text is never NULL and ends in a NUL that `len` does not count; it is valid until
/// `plimsoll_error_free`.
///
/// Thread: any. Allocates: no. Blocks: no.
///
/// # Safety
///
/// `error` is NULL or came from a call of this library and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_error_field(error: *const Failure) -> Str {
    // SAFETY: the caller promises that it is null or alive.
    unsafe { read(error, |error| Str::lend_terminated(&error.field)) }
}

/// What is wrong, in a sentence for a human; Envoy's text where Envoy has one. A text of length 0
/// for NULL.
///
/// The text is never NULL and ends in a NUL that `len` does not count; it is valid until
/// `plimsoll_error_free`.
///
/// Thread: any. Allocates: no. Blocks: no.
///
/// # Safety
///
/// `error` is NULL or came from a call of this library and was not freed.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_error_message(error: *const Failure) -> Str {
    // SAFETY: the caller promises that it is null or alive.
    unsafe { read(error, |error| Str::lend_terminated(&error.message)) }
}

/// Lends one text of the object.
///
/// # Safety
///
/// `error` is null or alive.
unsafe fn read(error: *const Failure, text: impl Fn(&Failure) -> Str) -> Str {
    let read = || {
        // SAFETY: passed on from the caller.
        unsafe { handle::alive(error) }.map_or(Str::EMPTY, text)
    };
    guard(read, |_| Str::EMPTY)
}
