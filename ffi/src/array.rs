//! Arrays that the caller lends. Those of structs that may grow are in `growable`.

use std::slice;

use crate::status::Status;

/// The items, for as long as the call lasts; none if `count` is 0, whatever the pointer.
///
/// # Safety
///
/// Unless `count` is 0 or `from` is null, `from` is aligned and points to `count` readable items
/// that nobody changes during `'call`.
///
/// # Errors
///
/// NULL with a count, or a count that no array can have.
pub(crate) unsafe fn items<'call, T: Copy>(
    from: *const T,
    count: usize,
) -> Result<&'call [T], Status> {
    if count == 0 {
        return Ok(&[]);
    }
    if from.is_null() {
        return Err(Status::NullArgument);
    }
    let length = count.checked_mul(size_of::<T>()).ok_or(Status::InvalidArgument)?;
    isize::try_from(length).map_err(|_| Status::InvalidArgument)?;
    // SAFETY: not null and of a possible length; the caller promises the rest.
    Ok(unsafe { slice::from_raw_parts(from, count) })
}
