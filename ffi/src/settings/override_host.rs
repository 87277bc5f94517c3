//! The settings of the policy `override_host`, whose places are told in the same struct as
//! [`override_sources`](crate::override_sources) shows them in.

use std::mem::offset_of;
use std::ptr;

use plimsoll::config::{MetadataKey, OverrideHost, OverrideSource};

use crate::failure::Failure;
use crate::growable::{self, Growable};
use crate::override_sources::{
    OverrideShown, PLIMSOLL_OVERRIDE_HEADER, PLIMSOLL_OVERRIDE_METADATA,
    PLIMSOLL_OVERRIDE_SELECTED_HOST,
};
use crate::text;

/// Where requests name their hosts. Growable: start from `PLIMSOLL_OVERRIDE_HOST_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct OverrideHostSettings {
    /// `sizeof(plimsoll_override_host)`.
    pub size: usize,
    /// Where addresses are looked for, in order: at least one, each a `PLIMSOLL_OVERRIDE_HEADER` or a
    /// `PLIMSOLL_OVERRIDE_METADATA`. All have the same `size`.
    pub sources: *const OverrideShown,
    /// How many.
    pub source_count: usize,
    /// A `PLIMSOLL_OVERRIDE_SELECTED_HOST`: where the address of the picked host is to be written.
    /// NULL: nowhere.
    pub selected_host_key: *const OverrideShown,
}

impl Default for OverrideHostSettings {
    /// What `PLIMSOLL_OVERRIDE_HOST_INIT` is.
    fn default() -> Self {
        Self {
            size: size_of::<Self>(),
            sources: ptr::null(),
            source_count: 0,
            selected_host_key: ptr::null(),
        }
    }
}

// SAFETY: integers and raw pointers only; `layout` leaves no room for padding.
unsafe impl Growable for OverrideHostSettings {}

/// # Safety
///
/// `from` is null or as [`growable::read`] wants it; so are its places, with their texts.
///
/// # Errors
///
/// The first member that is refused; what must not be empty is for the engine to check.
pub(super) unsafe fn engine(
    from: *const OverrideHostSettings,
) -> Result<Option<OverrideHost>, Failure> {
    let name = "settings.override_host";
    // SAFETY: passed on from the caller.
    let Some(given) = unsafe { growable::given(from, name) }? else { return Ok(None) };
    let add = |mut all: Vec<OverrideSource>, place: &OverrideShown, name: &str| {
        // SAFETY: the caller promises that its texts are readable.
        all.push(unsafe { source(place, name) }?);
        Ok(all)
    };
    let argument = format!("{name}.sources");
    // SAFETY: null is handled; otherwise the caller promises as many structs.
    let sources =
        unsafe { growable::fold(given.sources, given.source_count, &argument, Vec::new(), add) }?;
    let name = format!("{name}.selected_host_key");
    // SAFETY: passed on from the caller.
    let selected = unsafe { growable::given(given.selected_host_key, &name) }?;
    let selected_host_key = match selected {
        None => None,
        Some(place) if place.kind != PLIMSOLL_OVERRIDE_SELECTED_HOST => {
            return Err(Failure::unknown_number(
                &format!("{name}.kind"),
                place.kind,
                "PLIMSOLL_OVERRIDE_SELECTED_HOST",
            ));
        }
        // SAFETY: the caller promises that its texts are readable.
        Some(place) => Some(unsafe { metadata(&place, &name) }?),
    };
    Ok(Some(OverrideHost { sources, selected_host_key }))
}

/// # Safety
///
/// The texts of `place` are readable during the call.
unsafe fn source(place: &OverrideShown, name: &str) -> Result<OverrideSource, Failure> {
    match place.kind {
        PLIMSOLL_OVERRIDE_HEADER => {
            growable::unused(place.reserved, offset_of!(OverrideShown, reserved), name)?;
            // SAFETY: passed on from the caller.
            let header = unsafe { place.name.read(format_args!("{name}.name")) }?;
            Ok(OverrideSource::Header(header.to_owned()))
        }
        PLIMSOLL_OVERRIDE_METADATA => {
            // SAFETY: passed on from the caller.
            Ok(OverrideSource::Metadata(unsafe { metadata(place, name) }?))
        }
        other => Err(Failure::unknown_number(
            &format!("{name}.kind"),
            other,
            "PLIMSOLL_OVERRIDE_HEADER or _METADATA",
        )),
    }
}

/// # Safety
///
/// The texts of `place` are readable during the call.
unsafe fn metadata(place: &OverrideShown, name: &str) -> Result<MetadataKey, Failure> {
    growable::unused(place.reserved, offset_of!(OverrideShown, reserved), name)?;
    // SAFETY: passed on from the caller.
    let key = unsafe { place.name.read(format_args!("{name}.name")) }?.to_owned();
    // SAFETY: passed on from the caller.
    let path = unsafe { text::all(place.path, place.path_count, &format!("{name}.path")) }?;
    Ok(MetadataKey { key, path })
}
