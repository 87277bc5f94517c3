//! Text as a pointer and a length: lent by the caller, or lent to it.
//!
//! What comes in is checked to be UTF-8, but for values of headers. What goes out this way has a
//! life that is easy to see, as long as an error object or as one call of a callback; all other text
//! is written into the caller's own buffer (module `out`), so that nothing that C holds can be freed
//! or changed by a later call.

use std::ffi::{CStr, c_char};
use std::fmt::Display;
use std::{ptr, slice};

use crate::array;
use crate::failure::Failure;
use crate::status::Status;

/// Text as a pointer and a length.
///
/// As an argument it is UTF-8 unless something else is said, need not end in a NUL, and is read
/// during the call only. A length of 0 is the empty text, whatever the pointer.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Str {
    /// The first byte. May be NULL if `len` is 0.
    pub data: *const c_char,
    /// How many bytes.
    pub len: usize,
}

impl Str {
    pub(crate) const EMPTY: Self = Self::lend_c(c"");

    /// What a text is that nobody has set.
    pub(crate) const NULL: Self = Self { data: ptr::null(), len: 0 };

    /// Lends a text that ends in a NUL.
    pub(crate) const fn lend_c(text: &'static CStr) -> Self {
        Self { data: text.as_ptr(), len: text.count_bytes() }
    }

    /// Lends a text that need not end in a NUL. The pointer is a good one for an empty text as well.
    pub(crate) fn lend(text: &str) -> Self {
        if text.is_empty() {
            return Self::EMPTY;
        }
        Self { data: text.as_ptr().cast(), len: text.len() }
    }

    /// Lends a text whose last byte is a NUL that the length is not to count.
    pub(crate) fn lend_terminated(text: &str) -> Self {
        Self { data: text.as_ptr().cast(), len: text.len().saturating_sub(1) }
    }

    /// The text, for as long as the call lasts. The name is put together for an error only.
    ///
    /// # Safety
    ///
    /// As for [`bytes`].
    ///
    /// # Errors
    ///
    /// Those of [`bytes`], or bytes that are not UTF-8.
    pub(crate) unsafe fn read<'call>(self, name: impl Display) -> Result<&'call str, Failure> {
        // SAFETY: passed on from the caller.
        let bytes = unsafe { self.bytes() }.map_err(|status| failure(status, &name.to_string()))?;
        std::str::from_utf8(bytes.unwrap_or_default()).map_err(|error| {
            let byte = error.valid_up_to();
            let message = format!("{name} is not UTF-8 from byte {byte} on");
            Failure::invalid(&name.to_string(), message)
        })
    }

    /// The bytes, whether they are a text or not.
    ///
    /// # Safety
    ///
    /// As for [`bytes`].
    ///
    /// # Errors
    ///
    /// Those of [`bytes`].
    pub(crate) unsafe fn bytes<'call>(self) -> Result<Option<&'call [u8]>, Status> {
        // SAFETY: passed on from the caller.
        unsafe { bytes(self.data.cast(), self.len) }
    }
}

/// Bytes that the caller lends, for as long as the call lasts; `None` for NULL.
///
/// # Safety
///
/// Unless `len` is 0 or `data` is null, `data` points to `len` readable bytes that nobody changes
/// during `'call`.
///
/// # Errors
///
/// NULL with a length, or a length that no object can have.
pub(crate) unsafe fn bytes<'call>(
    data: *const u8,
    len: usize,
) -> Result<Option<&'call [u8]>, Status> {
    match (data.is_null(), len) {
        (true, 0) => return Ok(None),
        (true, _) => return Err(Status::NullArgument),
        // The pointer need not lead anywhere.
        (false, 0) => return Ok(Some(&[])),
        (false, _) => {}
    }
    isize::try_from(len).map_err(|_| Status::InvalidArgument)?;
    // SAFETY: not null and of a possible length; the caller promises the rest.
    Ok(Some(unsafe { slice::from_raw_parts(data, len) }))
}

/// Copies of all texts of an array; `name` is the array's.
///
/// # Safety
///
/// `from` is null or points to `count` texts that are readable during the call.
///
/// # Errors
///
/// NULL with a count, a count that no array can have, or the first text that [`Str::read`] refuses.
pub(crate) unsafe fn all(
    from: *const Str,
    count: usize,
    name: &str,
) -> Result<Vec<String>, Failure> {
    // SAFETY: passed on from the caller.
    let texts = unsafe { array::items(from, count) }.map_err(|status| failure(status, name))?;
    let copy = |(index, text): (usize, &Str)| {
        // SAFETY: passed on from the caller.
        unsafe { text.read(format_args!("{name}[{index}]")) }.map(str::to_owned)
    };
    texts.iter().enumerate().map(copy).collect()
}

/// An error of [`bytes`] with words; `name` is the argument's.
pub(crate) fn failure(status: Status, name: &str) -> Failure {
    match status {
        Status::NullArgument => Failure::null(name),
        _ => Failure::invalid(name, format!("{name} is longer than memory")),
    }
}
