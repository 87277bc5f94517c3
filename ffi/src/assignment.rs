//! The hosts of a cluster as structs, for programs that have no text of Envoy's.

use std::mem::offset_of;
use std::ptr;

use plimsoll::config::{ConfigError, LocalityEndpoints};
use plimsoll::{Address, Error};

use crate::failure::Failure;
use crate::growable::{self, Growable};
use crate::health;
use crate::member;
use crate::number::boolean;
use crate::options::locality;
use crate::text::Str;

/// A host as the control plane describes it. Growable: start from `PLIMSOLL_ENDPOINT_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Endpoint {
    /// `sizeof(plimsoll_endpoint)`.
    pub size: usize,
    /// The host's address, its identity: `10.0.0.1:80`, `[::1]:80` or any other text. Not empty.
    pub address: Str,
    /// Its name, for dumps and for hashing by name. May be empty.
    pub hostname: Str,
    /// What `PLIMSOLL_POLICY_RING_HASH` and `_MAGLEV` place it by. Empty: its name or its address, as
    /// the policy says.
    pub hash_key: Str,
    /// Where its active health checks go. Empty: to its address.
    pub health_check_address: Str,
    /// Its weight, at least 1. Default 1. 0 is refused, while `plimsoll_host_change.weight` takes it
    /// for 1.
    pub weight: u32,
    /// What the control plane says of its health: one of `PLIMSOLL_EDS_...`.
    pub health_status: u32,
    /// 1: it is not checked actively, whatever the settings say.
    pub disable_active_health_check: u32,
    /// 0. Fills the place that would be padding, so that a later member can use it.
    pub reserved: u32,
}

/// The hosts of one locality at one priority. Growable: start from `PLIMSOLL_LOCALITY_HOSTS_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct LocalityHosts {
    /// `sizeof(plimsoll_locality_hosts)`.
    pub size: usize,
    /// The region. May be empty, as the next two.
    pub region: Str,
    /// The zone.
    pub zone: Str,
    /// The sub-zone.
    pub sub_zone: Str,
    /// 0, which is used first, to 128.
    pub priority: u32,
    /// The locality's weight, for `PLIMSOLL_ROUTING_WEIGHTED`; 0, the default: it has none.
    pub weight: u32,
    /// The hosts. All have the same `size`. May be NULL if there are none.
    pub hosts: *const Endpoint,
    /// How many.
    pub host_count: usize,
}

/// All hosts of a cluster, Envoy's `ClusterLoadAssignment`. Growable: start from
/// `PLIMSOLL_ASSIGNMENT_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct Assignment {
    /// `sizeof(plimsoll_assignment)`.
    pub size: usize,
    /// Groups of hosts, of which several may name the same locality. All have the same `size`. May be
    /// NULL if there are none.
    pub localities: *const LocalityHosts,
    /// How many.
    pub locality_count: usize,
    /// A priority counts as fully available while its available share times this percentage reaches
    /// 100. At least 1, default 140.
    pub overprovisioning_factor: u32,
    /// 1: availability is measured in weight instead of in hosts.
    pub weighted_priority_health: u32,
}

impl Default for Endpoint {
    /// What `PLIMSOLL_ENDPOINT_INIT` is.
    fn default() -> Self {
        Self {
            size: size_of::<Self>(),
            address: Str::NULL,
            hostname: Str::NULL,
            hash_key: Str::NULL,
            health_check_address: Str::NULL,
            weight: 1,
            health_status: health::PLIMSOLL_EDS_UNKNOWN,
            disable_active_health_check: 0,
            reserved: 0,
        }
    }
}

impl Default for LocalityHosts {
    /// What `PLIMSOLL_LOCALITY_HOSTS_INIT` is.
    fn default() -> Self {
        Self {
            size: size_of::<Self>(),
            region: Str::NULL,
            zone: Str::NULL,
            sub_zone: Str::NULL,
            priority: 0,
            weight: 0,
            hosts: ptr::null(),
            host_count: 0,
        }
    }
}

impl Default for Assignment {
    /// What `PLIMSOLL_ASSIGNMENT_INIT` is.
    fn default() -> Self {
        Self {
            size: size_of::<Self>(),
            localities: ptr::null(),
            locality_count: 0,
            overprovisioning_factor: 140,
            weighted_priority_health: 0,
        }
    }
}

// SAFETY: integers and raw pointers only; `layout` leaves no room for padding.
unsafe impl Growable for Endpoint {
    fn unset() -> Self {
        Self::default()
    }
}

// SAFETY: as above.
unsafe impl Growable for LocalityHosts {}

// SAFETY: as above.
unsafe impl Growable for Assignment {
    fn unset() -> Self {
        Self::default()
    }
}

/// The hosts in the engine's form, and checked; `None` for NULL.
///
/// # Safety
///
/// `assignment` is null or as large as its `size` says, and so is each struct of its arrays; their
/// texts are readable during the call.
///
/// # Errors
///
/// The first member that is refused, by its name.
pub unsafe fn engine_assignment(
    assignment: *const Assignment,
) -> Result<Option<plimsoll::config::Assignment>, Failure> {
    let name = "assignment";
    // SAFETY: passed on from the caller.
    let Some(given) = unsafe { growable::given(assignment, name) }? else { return Ok(None) };
    let add = |mut all: Vec<LocalityEndpoints>, group: &LocalityHosts, name: &str| {
        // SAFETY: passed on from the caller.
        all.push(unsafe { group.engine(name) }?);
        Ok(all)
    };
    let (groups, count) = (given.localities, given.locality_count);
    let argument = format!("{name}.localities");
    let weighted = format!("{name}.weighted_priority_health");
    let assignment = plimsoll::config::Assignment {
        // SAFETY: null is handled; otherwise the caller promises as many structs.
        endpoints: unsafe { growable::fold(groups, count, &argument, Vec::new(), add) }?,
        overprovisioning_factor: given.overprovisioning_factor,
        weighted_priority_health: boolean(given.weighted_priority_health, &weighted)?,
    };
    assignment.validate().map_err(|error| refused(&error))?;
    Ok(Some(assignment))
}

impl LocalityHosts {
    /// # Safety
    ///
    /// The texts are readable during the call; the hosts are as [`growable::fold`] wants them, with
    /// their texts.
    unsafe fn engine(&self, name: &str) -> Result<LocalityEndpoints, Failure> {
        let add = |mut all: Vec<plimsoll::config::Endpoint>, host: &Endpoint, name: &str| {
            // SAFETY: passed on from the caller.
            all.push(unsafe { host.engine(name) }?);
            Ok(all)
        };
        let (hosts, count) = (self.hosts, self.host_count);
        Ok(LocalityEndpoints {
            // SAFETY: passed on from the caller, for all three.
            locality: unsafe { locality(name, self.region, self.zone, self.sub_zone) }?,
            priority: self.priority,
            load_balancing_weight: (self.weight != 0).then_some(self.weight),
            // SAFETY: null is handled; otherwise the caller promises as many structs.
            endpoints: unsafe {
                growable::fold(hosts, count, &format!("{name}.hosts"), Vec::new(), add)
            }?,
        })
    }
}

impl Endpoint {
    /// # Safety
    ///
    /// The texts are readable during the call.
    unsafe fn engine(&self, name: &str) -> Result<plimsoll::config::Endpoint, Failure> {
        growable::unused(self.reserved, offset_of!(Endpoint, reserved), name)?;
        // SAFETY: passed on from the caller. So in the others.
        let address = unsafe { self.address.read(format_args!("{name}.address")) }?;
        // SAFETY: as above.
        let hostname = unsafe { self.hostname.read(format_args!("{name}.hostname")) }?;
        // SAFETY: as above.
        let hash_key = unsafe { self.hash_key.read(format_args!("{name}.hash_key")) }?;
        let checked = self.health_check_address;
        // SAFETY: as above.
        let checked = unsafe { checked.read(format_args!("{name}.health_check_address")) }?;
        let is_elsewhere = !checked.is_empty() && checked != address;
        let health_status = health::eds_health(self.health_status).ok_or_else(|| {
            let field = format!("{name}.health_status");
            Failure::unknown_number(&field, self.health_status, "one of PLIMSOLL_EDS_...")
        })?;
        Ok(plimsoll::config::Endpoint {
            hostname: hostname.to_owned(),
            hash_key: hash_key.to_owned(),
            load_balancing_weight: self.weight,
            health_status,
            disable_active_health_check: boolean(
                self.disable_active_health_check,
                format_args!("{name}.disable_active_health_check"),
            )?,
            health_check_address: is_elsewhere.then(|| Address::from(checked)),
            ..plimsoll::config::Endpoint::new(address)
        })
    }
}

/// What the fields of Envoy's message are called in the structs.
const RENAMED: [(&str, &str); 5] = [
    ("endpoints", "localities"),
    ("lb_endpoints", "hosts"),
    ("endpoint", ""),
    ("load_balancing_weight", "weight"),
    ("policy", ""),
];

/// An error of the engine about hosts, with the member's name.
fn refused(error: &ConfigError) -> Failure {
    Failure::of_member(&member::path("assignment", error.field(), &RENAMED), error)
}

/// An error of the engine about settings and hosts that are right each by itself. What is wrong with
/// them together is for the hosts to answer.
pub(crate) fn failure(error: Error) -> Failure {
    match error {
        Error::Config(error) => refused(&error),
        other => other.into(),
    }
}
