//! Text as a pointer and a length: lent by the caller, or lent to it.
//!
//! What comes in is checked to be UTF-8. What goes out this way has a life that is easy to see, as
//! long as an error object or as one call of a callback; all other text is written into the
//! caller's own buffer (module `out`), so that nothing that C holds can be freed or changed by a
//! later call.

use std::ffi::{CStr, c_char};
use std::slice;

use crate::failure::Failure;

/// Text as a pointer and a length.
///
/// As an argument it is UTF-8, need not end in a NUL, and is read during the call only. A length
/// of 0 is the empty text, whatever the pointer.
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

    /// The text, for as long as the call lasts.
    ///
    /// # Safety
    ///
    /// Unless `len` is 0 or `data` is null, `data` points to `len` readable bytes that nobody
    /// changes during `'call`.
    ///
    /// # Errors
    ///
    /// NULL with a length, a length that no object can have, or bytes that are not UTF-8.
    pub(crate) unsafe fn read<'call>(self, name: &str) -> Result<&'call str, Failure> {
        if self.len == 0 {
            return Ok("");
        }
        if self.data.is_null() {
            return Err(Failure::null(name));
        }
        if isize::try_from(self.len).is_err() {
            return Err(Failure::invalid(name, format!("{name} is longer than memory")));
        }
        // SAFETY: not null and of a possible length; the caller promises the rest.
        let bytes = unsafe { slice::from_raw_parts(self.data.cast::<u8>(), self.len) };
        std::str::from_utf8(bytes).map_err(|error| {
            let byte = error.valid_up_to();
            Failure::invalid(name, format!("{name} is not UTF-8 from byte {byte} on"))
        })
    }
}
