//! Structs that may grow, alone and in arrays.
//!
//! A growable struct says in its first member how large its caller thinks it is. A caller with an
//! older, smaller header leaves the rest as the `_INIT` macro has it. A caller with a newer, larger
//! header is served as long as it does not use what this library does not know: a non-zero byte
//! there is refused, because ignoring a setting would send traffic elsewhere in silence. So every
//! member that comes later is 0 in the macro, and must take that as "not set".

use std::mem::{MaybeUninit, size_of};
use std::{ptr, slice};

use crate::failure::Failure;
use crate::status::Status;
use crate::text;

/// A struct that may grow.
///
/// # Safety
///
/// The type is `repr(C)`, starts with a `usize` that says its size, has no padding, and is valid
/// for any bytes.
pub(crate) unsafe trait Growable: Copy {
    /// The struct as its `_INIT` macro has it, but for the size: what a member stands for that the
    /// caller does not have.
    fn unset() -> Self {
        // SAFETY: the type is valid for any bytes, zeroes included.
        unsafe { MaybeUninit::zeroed().assume_init() }
    }
}

/// No struct of this interface will be larger. A size above it is a member that was never set.
const LARGEST: usize = 4096;

/// Why a growable struct was refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SizeProblem {
    /// `size` cannot be the size of this struct.
    Impossible { size: usize },
    /// A byte beyond what this library knows is not zero.
    Unknown { offset: usize },
}

impl SizeProblem {
    pub(crate) fn status(self) -> Status {
        match self {
            Self::Impossible { .. } => Status::InvalidArgument,
            Self::Unknown { .. } => Status::UnsupportedField,
        }
    }

    /// The same with words; `name` is the argument's.
    pub(crate) fn failure(self, name: &str) -> Failure {
        match self {
            Self::Impossible { size: 0 } => {
                let message = "size is 0: start from the struct's _INIT macro";
                Failure::invalid(&format!("{name}.size"), message)
            }
            Self::Impossible { size } => {
                Failure::invalid(&format!("{name}.size"), format!("{size} bytes cannot be it"))
            }
            Self::Unknown { offset } => {
                let message = format!(
                    "byte {offset} is set, and this library knows of none there: it is older \
                     than the header of its caller"
                );
                Failure::new(Status::UnsupportedField, name, message)
            }
        }
    }
}

/// A growable struct of any vintage, in the form that this library knows.
///
/// # Safety
///
/// `from` is aligned and points to as many readable bytes as its first member says, and to that
/// member at least.
///
/// # Errors
///
/// A size that cannot be, or a byte that is set and not known here.
#[inline]
pub(crate) unsafe fn read<T: Growable>(from: *const T) -> Result<T, SizeProblem> {
    let mut room = MaybeUninit::uninit();
    // SAFETY: passed on from the caller; nobody writes to it before it is copied.
    unsafe { lend(from, &mut room) }.copied()
}

/// The same without a copy, where the struct is of our own vintage; `room` is for one that is not.
///
/// # Safety
///
/// As for [`read`]; nobody writes to the struct as long as it is lent.
///
/// # Errors
///
/// Those of [`read`].
#[inline(always)]
pub(crate) unsafe fn lend<T: Growable>(
    from: *const T,
    room: &mut MaybeUninit<T>,
) -> Result<&T, SizeProblem> {
    // SAFETY: the first member is a `usize` (`Growable`), and the caller promises that it is there.
    let size = unsafe { from.cast::<usize>().read() };
    if size == size_of::<T>() {
        // SAFETY: as many bytes as `T` has are readable, and `T` is valid for any.
        return Ok(unsafe { &*from });
    }
    // SAFETY: passed on from the caller.
    unsafe { lend_other(from, size, room) }
}

/// The same for a size that is not ours.
///
/// # Safety
///
/// As for [`read_other`].
#[cold]
#[inline(never)]
unsafe fn lend_other<T: Growable>(
    from: *const T,
    size: usize,
    room: &mut MaybeUninit<T>,
) -> Result<&T, SizeProblem> {
    // SAFETY: passed on from the caller.
    Ok(room.write(unsafe { read_other(from, size) }?))
}

/// The same for a size that is not ours.
///
/// # Safety
///
/// `from` is aligned and points to `size` readable bytes.
#[cold]
unsafe fn read_other<T: Growable>(from: *const T, size: usize) -> Result<T, SizeProblem> {
    if !(size_of::<usize>()..=LARGEST).contains(&size) {
        return Err(SizeProblem::Impossible { size });
    }
    let known = size.min(size_of::<T>());
    // SAFETY: `size` bytes are readable, and this is within them.
    let tail = unsafe { from.cast::<u8>().add(known) };
    // SAFETY: what is left of the `size` readable bytes.
    let tail = unsafe { slice::from_raw_parts(tail, size - known) };
    if let Some(set) = tail.iter().position(|byte| *byte != 0) {
        return Err(SizeProblem::Unknown { offset: known + set });
    }
    let mut value = T::unset();
    let bytes = ptr::from_mut(&mut value).cast::<u8>();
    // SAFETY: `known` is at most the size of either side, and `value` is our own and valid for any
    // bytes.
    unsafe { ptr::copy_nonoverlapping(from.cast::<u8>(), bytes, known) };
    Ok(value)
}

/// The struct behind a pointer that may be NULL; `name` is the member's or the argument's.
///
/// # Safety
///
/// `from` is null or as [`read`] wants it.
///
/// # Errors
///
/// Those of [`read`].
pub(crate) unsafe fn given<T: Growable>(from: *const T, name: &str) -> Result<Option<T>, Failure> {
    if from.is_null() {
        return Ok(None);
    }
    // SAFETY: not null; passed on from the caller.
    unsafe { read(from) }.map(Some).map_err(|problem| problem.failure(name))
}

/// What `add` makes of all structs of an array, in the form that this library knows. `argument` is
/// the array's name; `add` gets each struct with a name of its own, `changes[3]` for one.
///
/// # Safety
///
/// `from` is null or aligned and points to `count` structs, each as large as the first one's first
/// member says.
///
/// # Errors
///
/// NULL with a `count`, a `count` that no array can have, or the first struct that differs in size,
/// that [`read`] refuses, or that `add` refuses.
pub(crate) unsafe fn fold<T: Growable, A>(
    from: *const T,
    count: usize,
    argument: &str,
    empty: A,
    add: impl Fn(A, &T, &str) -> Result<A, Failure>,
) -> Result<A, Failure> {
    if count == 0 {
        return Ok(empty);
    }
    if from.is_null() {
        return Err(Failure::null(argument));
    }
    // SAFETY: there is at least one struct, and its size stands first (`Growable`).
    let stride = unsafe { from.cast::<usize>().read() };
    // A size that cannot be is for the first struct to answer.
    let length = count.checked_mul(stride.clamp(size_of::<usize>(), LARGEST));
    if length.is_none_or(|length| isize::try_from(length).is_err()) {
        return Err(text::failure(Status::InvalidArgument, argument));
    }
    let mut all = empty;
    for index in 0..count {
        let name = format!("{argument}[{index}]");
        // SAFETY: the caller promises `count` structs at this distance.
        let item = unsafe { from.byte_add(index * stride) };
        // SAFETY: as above; the distance is a multiple of the alignment from the second one on.
        let size = unsafe { item.cast::<usize>().read() };
        if size == 0 {
            return Err(SizeProblem::Impossible { size }.failure(&name));
        }
        if size != stride || !stride.is_multiple_of(align_of::<T>()) {
            let message = format!("all {argument} of one call have the same, aligned size");
            return Err(Failure::invalid(&format!("{name}.size"), message));
        }
        // SAFETY: as above.
        let item = unsafe { read(item) }.map_err(|problem| problem.failure(&name))?;
        all = add(all, &item, &name)?;
    }
    Ok(all)
}

/// Checks a member that only fills a place. A newer header may have a member there, and its caller
/// means something by it.
///
/// # Errors
///
/// It is set.
pub(crate) fn unused(reserved: u32, offset: usize, name: &str) -> Result<(), Failure> {
    if reserved == 0 {
        return Ok(());
    }
    Err(SizeProblem::Unknown { offset }.failure(name))
}
