//! Numbers that stand for something else: yes or no, or whether there is another number.

use std::fmt::Display;

use crate::failure::Failure;

/// Yes or no. The field's name is put together for an error only.
///
/// # Errors
///
/// Any number but 0 and 1.
pub(crate) fn boolean(number: u32, field: impl Display) -> Result<bool, Failure> {
    match number {
        0 => Ok(false),
        1 => Ok(true),
        other => Err(Failure::unknown_number(&field.to_string(), other, "0 or 1")),
    }
}

/// A number of the struct `owner` that may not be there: `value`, which counts if `has` is 1. Both are
/// given with the names of their members.
///
/// # Errors
///
/// Any `has` but 0 and 1, and a value without it: whoever sets one means something by it.
pub(crate) fn optional<T: Copy + Default + PartialEq>(
    owner: &str,
    (has_name, has): (&str, u32),
    (name, value): (&str, T),
) -> Result<Option<T>, Failure> {
    if boolean(has, format_args!("{owner}.{has_name}"))? {
        return Ok(Some(value));
    }
    if value == T::default() {
        return Ok(None);
    }
    Err(Failure::invalid(&format!("{owner}.{name}"), format!("a value, while {has_name} is 0")))
}
