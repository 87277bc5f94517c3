//! Which library this is.

use std::ffi::c_char;

/// The major version of the header. Within one of them, what there is stays as it is.
pub const PLIMSOLL_VERSION_MAJOR: u32 = 1;
/// The minor version of the header. A new one may add to the interface.
pub const PLIMSOLL_VERSION_MINOR: u32 = 0;
/// The patch version of the header. It never changes the interface.
pub const PLIMSOLL_VERSION_PATCH: u32 = 0;
/// The version of the header as one number that can be compared: 1002003 is 1.2.3.
pub const PLIMSOLL_VERSION_NUMBER: u32 = 1_000_000;
/// The interface that the header describes. It rises whenever a program built with an older
/// header could misbehave with a newer library, and only then.
pub const PLIMSOLL_ABI_VERSION: u32 = 1;

/// The `PLIMSOLL_ABI_VERSION` of the library, to be compared with the header's at the start.
///
/// Thread: any. Allocates: no. Blocks: no.
#[unsafe(no_mangle)]
pub extern "C" fn plimsoll_abi_version() -> u32 {
    PLIMSOLL_ABI_VERSION
}

/// The version of the library as text, `"1.0.0"`. Ends in a NUL, is never NULL, and must not be
/// freed.
///
/// Thread: any. Allocates: no. Blocks: no.
#[unsafe(no_mangle)]
pub extern "C" fn plimsoll_version() -> *const c_char {
    concat!(env!("CARGO_PKG_VERSION"), "\0").as_ptr().cast()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_has_the_version_of_the_package() {
        let parts = [PLIMSOLL_VERSION_MAJOR, PLIMSOLL_VERSION_MINOR, PLIMSOLL_VERSION_PATCH];
        assert_eq!(parts.map(|part| part.to_string()).join("."), env!("CARGO_PKG_VERSION"));
        let number = parts.iter().fold(0, |number, part| number * 1000 + part);
        assert_eq!(number, PLIMSOLL_VERSION_NUMBER);
    }
}
