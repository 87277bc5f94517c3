//! Where the addresses of an override stand in a request: what the cluster's policy `override_host`
//! says of it. To look there is the caller's part; the library sees no requests.

use std::ffi::{c_int, c_void};

use plimsoll::View;
use plimsoll::config::{MetadataKey, OverrideHost, OverrideSource};

use crate::cluster::ClusterHandle;
use crate::failure::Failure;
use crate::growable::Growable;
use crate::status::Status;
use crate::text::Str;
use crate::visit;

/// `plimsoll_override_source.kind`: the first value of the request header `name`.
pub const PLIMSOLL_OVERRIDE_HEADER: u32 = 1;
/// `plimsoll_override_source.kind`: a text in the request's dynamic metadata.
pub const PLIMSOLL_OVERRIDE_METADATA: u32 = 2;
/// `plimsoll_override_source.kind`: no source, but where the address of the host that was picked is
/// to be written, in the request's dynamic metadata.
pub const PLIMSOLL_OVERRIDE_SELECTED_HOST: u32 = 3;

/// A place of a request: as `plimsoll_override_host` tells it, growable, from
/// `PLIMSOLL_OVERRIDE_SOURCE_INIT` on; or as `plimsoll_cluster_for_each_override_source` shows it.
///
/// A later library may show more of it: `size` says how large its struct is. The texts are UTF-8, do
/// not end in a NUL, and are valid during the call of `visit` only.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct OverrideShown {
    /// `sizeof(plimsoll_override_source)`, or how many bytes the library has filled in.
    pub size: usize,
    /// One of `PLIMSOLL_OVERRIDE_...`.
    pub kind: u32,
    /// 0. Fills the place that would be padding, so that a later member can use it.
    pub reserved: u32,
    /// The name of the header; or the namespace in metadata, such as `envoy.lb`.
    pub name: Str,
    /// In metadata: the fields that lead to the text, from the outside in, at least one.
    pub path: *const Str,
    /// How many.
    pub path_count: usize,
}

// SAFETY: integers and raw pointers only; `layout` leaves no room for padding.
unsafe impl Growable for OverrideShown {}

/// One place, with the texts that it points to.
struct Place {
    kind: u32,
    name: Str,
    path: Vec<Str>,
}

impl Place {
    fn of(source: &OverrideSource) -> Option<Self> {
        match source {
            OverrideSource::Header(name) => {
                let name = Str::lend(name);
                Some(Self { kind: PLIMSOLL_OVERRIDE_HEADER, name, path: Vec::new() })
            }
            OverrideSource::Metadata(key) => Some(Self::at(PLIMSOLL_OVERRIDE_METADATA, key)),
            // One that came later than this interface cannot be said in its words.
            _ => None,
        }
    }

    fn at(kind: u32, key: &MetadataKey) -> Self {
        let path = key.path.iter().map(|field| Str::lend(field)).collect();
        Self { kind, name: Str::lend(&key.key), path }
    }

    fn all(policy: &OverrideHost) -> impl Iterator<Item = Self> {
        let selected = policy.selected_host_key.iter();
        let selected = selected.map(|key| Self::at(PLIMSOLL_OVERRIDE_SELECTED_HOST, key));
        policy.sources.iter().filter_map(Self::of).chain(selected)
    }

    fn shown(&self) -> OverrideShown {
        OverrideShown {
            size: size_of::<OverrideShown>(),
            kind: self.kind,
            reserved: 0,
            name: self.name,
            path: self.path.as_ptr(),
            path_count: self.path.len(),
        }
    }
}

/// Calls `visit` for every place of a request where the cluster's policy `override_host` looks for
/// addresses, in order, and last for the place where the address of the picked host is to be
/// written, if there is one; until it returns something else than 0. There is no call if the cluster
/// has no such policy. Give what stands in these places to `plimsoll_worker_pick_override`; ask again
/// after `plimsoll_cluster_reload` and `plimsoll_cluster_configure`.
///
/// `visit` runs on this thread, during the call. No lock is held: any call of this library may be
/// made in it, but the cluster must not be freed. It must not unwind or `longjmp`.
///
/// Fails with `PLIMSOLL_STATUS_NULL_ARGUMENT` or `PLIMSOLL_STATUS_PANIC`; a panic may have come
/// after some of the visits.
///
/// Thread: any. Allocates: yes. Blocks: no, unless `visit` does.
///
/// # Safety
///
/// `cluster` is NULL or alive, and stays so during the call; `visit` is NULL or may be called with
/// `userdata`; `error` is NULL or writable.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn plimsoll_cluster_for_each_override_source(
    cluster: *const ClusterHandle,
    userdata: *mut c_void,
    visit: Option<
        unsafe extern "C" fn(userdata: *mut c_void, source: *const OverrideShown) -> c_int,
    >,
    error: *mut *mut Failure,
) -> Status {
    let show = |view: &View, visit: &dyn Fn(_) -> _| {
        let mut places = view.config().override_host.iter().flat_map(Place::all);
        places.try_for_each(|place| visit(place.shown()))
    };
    // SAFETY: passed on from the caller.
    unsafe { visit::each(cluster, (userdata, visit), error, show) }
}
