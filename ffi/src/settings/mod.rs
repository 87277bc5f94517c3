//! The settings of a cluster as structs, for programs that have no text of Envoy's.
//!
//! Whatever a text can say can be said here; the members are Envoy's fields and have its defaults
//! and its ranges, which the engine checks. Besides that a struct is refused here if it says
//! something of a policy that is not the chosen one.

pub mod hashing;
pub mod locality;
pub mod override_host;
pub mod policy;
mod refusal;
pub mod weighted;

use std::mem::offset_of;
use std::ptr;

use plimsoll::EdsHealth;
use plimsoll::config::{ClusterConfig, HostStatuses, LocalityRouting, Policy, RoundRobin};

use crate::failure::Failure;
use crate::growable::{self, Growable};
use crate::health;
use crate::number::boolean;
use crate::text::Str;
use hashing::{MaglevSettings, RingHashSettings};
use locality::{LoadAwareSettings, ZoneAwareSettings};
use override_host::OverrideHostSettings;
use policy::{LeastRequestSettings, SlowStartSettings};
use weighted::WeightedSettings;

/// `plimsoll_cluster_settings.policy`: each host in its turn, in proportion to the weights. The
/// default. The numbers are those of Envoy's `lb_policy`, where it has one.
pub const PLIMSOLL_POLICY_ROUND_ROBIN: u32 = 0;
/// `plimsoll_cluster_settings.policy`: the least busy of a few hosts that are drawn at random.
pub const PLIMSOLL_POLICY_LEAST_REQUEST: u32 = 1;
/// `plimsoll_cluster_settings.policy`: the host whose point on a ring follows the request's hash.
pub const PLIMSOLL_POLICY_RING_HASH: u32 = 2;
/// `plimsoll_cluster_settings.policy`: any host, with `PLIMSOLL_BEHAVIOR_NATIVE` in proportion to the
/// weights.
pub const PLIMSOLL_POLICY_RANDOM: u32 = 3;
/// `plimsoll_cluster_settings.policy`: the host that a table has for the request's hash.
pub const PLIMSOLL_POLICY_MAGLEV: u32 = 5;
/// `plimsoll_cluster_settings.policy`: each host in its turn, in proportion to the weights that follow
/// from what hosts report of their load.
pub const PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN: u32 = 16;

/// `plimsoll_cluster_settings.locality_routing`: by the hosts of each locality. The default. With
/// `PLIMSOLL_BEHAVIOR_ENVOY` and a local cluster it is zone-aware, as in Envoy.
pub const PLIMSOLL_ROUTING_UNSET: u32 = 0;
/// `plimsoll_cluster_settings.locality_routing`: nearest first, as far as the hosts there suffice for
/// the proxies there. Not with a policy that goes by hashes.
pub const PLIMSOLL_ROUTING_ZONE_AWARE: u32 = 1;
/// `plimsoll_cluster_settings.locality_routing`: by the weights that the assignment gives to
/// localities, times their health.
pub const PLIMSOLL_ROUTING_WEIGHTED: u32 = 2;
/// `plimsoll_cluster_settings.locality_routing`: by the load that hosts report, nearest first.
pub const PLIMSOLL_ROUTING_LOAD_AWARE: u32 = 3;

/// All policies, with what messages call them.
const POLICIES: [(u32, &str); 6] = [
    (PLIMSOLL_POLICY_ROUND_ROBIN, "PLIMSOLL_POLICY_ROUND_ROBIN"),
    (PLIMSOLL_POLICY_LEAST_REQUEST, "PLIMSOLL_POLICY_LEAST_REQUEST"),
    (PLIMSOLL_POLICY_RING_HASH, "PLIMSOLL_POLICY_RING_HASH"),
    (PLIMSOLL_POLICY_RANDOM, "PLIMSOLL_POLICY_RANDOM"),
    (PLIMSOLL_POLICY_MAGLEV, "PLIMSOLL_POLICY_MAGLEV"),
    (
        PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN,
        "PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN",
    ),
];

/// All ways to choose a locality, likewise.
const ROUTINGS: [(u32, &str); 4] = [
    (PLIMSOLL_ROUTING_UNSET, "PLIMSOLL_ROUTING_UNSET"),
    (PLIMSOLL_ROUTING_ZONE_AWARE, "PLIMSOLL_ROUTING_ZONE_AWARE"),
    (PLIMSOLL_ROUTING_WEIGHTED, "PLIMSOLL_ROUTING_WEIGHTED"),
    (PLIMSOLL_ROUTING_LOAD_AWARE, "PLIMSOLL_ROUTING_LOAD_AWARE"),
];

/// The policies that warm new hosts up.
const WARMED_UP: [u32; 3] = [
    PLIMSOLL_POLICY_ROUND_ROBIN,
    PLIMSOLL_POLICY_LEAST_REQUEST,
    PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN,
];

/// The settings of a cluster, which are those of Envoy's `Cluster` message. Growable: start from
/// `PLIMSOLL_CLUSTER_SETTINGS_INIT`, which has Envoy's defaults.
///
/// What is read during the call is copied. Settings for another policy or another routing than the
/// chosen one are refused.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct ClusterSettings {
    /// `sizeof(plimsoll_cluster_settings)`.
    pub size: usize,
    /// The cluster's name, for messages, figures and runtime keys. Not empty.
    pub name: Str,
    /// How a host is chosen: one of `PLIMSOLL_POLICY_...`.
    pub policy: u32,
    /// How traffic divides among the localities of a priority before that: one of
    /// `PLIMSOLL_ROUTING_...`.
    pub locality_routing: u32,
    /// Below this percentage of available hosts a priority panics: it sends to all its hosts. 0 to
    /// 100; 0 switches panic off. Default 50.
    pub healthy_panic_threshold: f64,
    /// 1: in panic, no host instead of any host.
    pub fail_traffic_on_panic: u32,
    /// 1: hosts are checked actively, so that new ones are unhealthy until their first check passes.
    pub active_health_checks: u32,
    /// 1: with active health checks new hosts also stay out of all percentages until their first one.
    pub ignore_new_hosts_until_first_hc: u32,
    /// 1: with active health checks a host that the assignment drops goes at once, even if its checks
    /// still pass.
    pub ignore_health_on_host_removal: u32,
    /// Which health hosts of `plimsoll_worker_pick_override` may have: the sum of
    /// `1 << PLIMSOLL_EDS_...`; 0 for none. Default unknown, healthy and degraded. Without effect with
    /// `override_host`.
    pub override_host_status: u32,
    /// 0. Fills the place that would be padding, so that a later member can use it.
    pub reserved: u32,
    /// How new hosts are warmed up; NULL: they get their full share at once. For
    /// `PLIMSOLL_POLICY_ROUND_ROBIN`, `_LEAST_REQUEST` and `_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN`.
    pub slow_start: *const SlowStartSettings,
    /// For `PLIMSOLL_POLICY_LEAST_REQUEST`; NULL: the defaults. So with the next ones.
    pub least_request: *const LeastRequestSettings,
    /// For `PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN`.
    pub client_side_weighted_round_robin: *const WeightedSettings,
    /// For `PLIMSOLL_POLICY_RING_HASH`.
    pub ring_hash: *const RingHashSettings,
    /// For `PLIMSOLL_POLICY_MAGLEV`.
    pub maglev: *const MaglevSettings,
    /// For `PLIMSOLL_ROUTING_ZONE_AWARE`.
    pub zone_aware: *const ZoneAwareSettings,
    /// For `PLIMSOLL_ROUTING_LOAD_AWARE`.
    pub load_aware_locality: *const LoadAwareSettings,
    /// Hosts that requests name come before the policy, Envoy's policy `override_host`; NULL: they do
    /// not.
    pub override_host: *const OverrideHostSettings,
}

impl Default for ClusterSettings {
    /// What `PLIMSOLL_CLUSTER_SETTINGS_INIT` is.
    fn default() -> Self {
        Self {
            size: size_of::<Self>(),
            name: Str::NULL,
            policy: PLIMSOLL_POLICY_ROUND_ROBIN,
            locality_routing: PLIMSOLL_ROUTING_UNSET,
            healthy_panic_threshold: 50.0,
            fail_traffic_on_panic: 0,
            active_health_checks: 0,
            ignore_new_hosts_until_first_hc: 0,
            ignore_health_on_host_removal: 0,
            override_host_status: 1 << health::PLIMSOLL_EDS_UNKNOWN
                | 1 << health::PLIMSOLL_EDS_HEALTHY
                | 1 << health::PLIMSOLL_EDS_DEGRADED,
            reserved: 0,
            slow_start: ptr::null(),
            least_request: ptr::null(),
            client_side_weighted_round_robin: ptr::null(),
            ring_hash: ptr::null(),
            maglev: ptr::null(),
            zone_aware: ptr::null(),
            load_aware_locality: ptr::null(),
            override_host: ptr::null(),
        }
    }
}

// SAFETY: numbers and raw pointers only; `layout` leaves no room for padding.
unsafe impl Growable for ClusterSettings {
    fn unset() -> Self {
        Self::default()
    }
}

/// The settings in the engine's form, with its default behavior, and checked.
///
/// # Safety
///
/// `settings` is null or as large as its `size` says. So is what it points to, whose texts and arrays
/// are readable and whose handles are alive during the call.
///
/// # Errors
///
/// NULL, and the first member that is refused, by its name.
pub unsafe fn engine_config(settings: *const ClusterSettings) -> Result<ClusterConfig, Failure> {
    // SAFETY: passed on from the caller.
    let given = unsafe { growable::given(settings, "settings") }?;
    let given = given.ok_or_else(|| Failure::null("settings"))?;
    growable::unused(given.reserved, offset_of!(ClusterSettings, reserved), "settings")?;
    given.check_choices()?;
    // SAFETY: the caller promises that it is readable.
    let name = unsafe { given.name.read("settings.name") }?;
    if name.is_empty() {
        return Err(Failure::invalid("settings.name", "value is required"));
    }
    let config = ClusterConfig {
        // SAFETY: passed on from the caller.
        policy: unsafe { given.engine_policy() }?,
        // SAFETY: passed on from the caller.
        locality_routing: unsafe { given.engine_routing() }?,
        // SAFETY: passed on from the caller.
        override_host: unsafe { override_host::engine(given.override_host) }?,
        healthy_panic_threshold: given.healthy_panic_threshold,
        fail_traffic_on_panic: flag(given.fail_traffic_on_panic, "fail_traffic_on_panic")?,
        active_health_checks: flag(given.active_health_checks, "active_health_checks")?,
        ignore_new_hosts_until_first_hc: flag(
            given.ignore_new_hosts_until_first_hc,
            "ignore_new_hosts_until_first_hc",
        )?,
        ignore_health_on_host_removal: flag(
            given.ignore_health_on_host_removal,
            "ignore_health_on_host_removal",
        )?,
        override_host_status: statuses(given.override_host_status)?,
        ..ClusterConfig::new(name)
    };
    config.validate().map_err(|error| refusal::named(&error))?;
    Ok(config)
}

fn flag(number: u32, member: &str) -> Result<bool, Failure> {
    boolean(number, format_args!("settings.{member}"))
}

fn statuses(bits: u32) -> Result<HostStatuses, Failure> {
    let field = "settings.override_host_status";
    let set = (0..u32::BITS).filter(|bit| bits >> bit & 1 == 1);
    let statuses: Result<Vec<EdsHealth>, Failure> = set
        .map(|bit| {
            let message = || format!("no health has the number {bit}");
            health::eds_health(bit).ok_or_else(|| Failure::invalid(field, message()))
        })
        .collect();
    Ok(HostStatuses::from_iter(statuses?))
}

/// The name of the constant that was chosen; `expected` says which there are.
fn choice<'names>(
    field: &str,
    number: u32,
    known: &[(u32, &'names str)],
    expected: &str,
) -> Result<&'names str, Failure> {
    let chosen = known.iter().find(|(known, _)| *known == number);
    chosen.map(|(_, name)| *name).ok_or_else(|| Failure::unknown_number(field, number, expected))
}

/// Refuses the first member that has no effect, because `chosen` is what `choice` says.
fn expect_effect(members: &[(&str, bool)], choice: &str, chosen: &str) -> Result<(), Failure> {
    match members.iter().find(|(_, has_effect)| !has_effect) {
        None => Ok(()),
        Some((member, _)) => {
            let message = format!("set, but without effect: {choice} is {chosen}");
            Err(Failure::invalid(&format!("settings.{member}"), message))
        }
    }
}

impl ClusterSettings {
    /// Refuses numbers that stand for nothing, and settings of what was not chosen: whoever gives
    /// them takes them for the ones in force.
    fn check_choices(&self) -> Result<(), Failure> {
        let policy =
            choice("settings.policy", self.policy, &POLICIES, "one of PLIMSOLL_POLICY_...")?;
        let routing = self.locality_routing;
        let routed =
            choice("settings.locality_routing", routing, &ROUTINGS, "one of PLIMSOLL_ROUTING_...")?;
        let is = |policy| self.policy == policy;
        let weighted = self.client_side_weighted_round_robin;
        let load_aware = self.load_aware_locality;
        let of_policy = [
            ("slow_start", self.slow_start.is_null() || WARMED_UP.contains(&self.policy)),
            ("least_request", self.least_request.is_null() || is(PLIMSOLL_POLICY_LEAST_REQUEST)),
            (
                "client_side_weighted_round_robin",
                weighted.is_null() || is(PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN),
            ),
            ("ring_hash", self.ring_hash.is_null() || is(PLIMSOLL_POLICY_RING_HASH)),
            ("maglev", self.maglev.is_null() || is(PLIMSOLL_POLICY_MAGLEV)),
        ];
        let of_routing = [
            ("zone_aware", self.zone_aware.is_null() || routing == PLIMSOLL_ROUTING_ZONE_AWARE),
            ("load_aware_locality", load_aware.is_null() || routing == PLIMSOLL_ROUTING_LOAD_AWARE),
        ];
        expect_effect(&of_policy, "policy", policy)?;
        expect_effect(&of_routing, "locality_routing", routed)
    }

    /// # Safety
    ///
    /// As for [`engine_config`].
    unsafe fn engine_policy(&self) -> Result<Policy, Failure> {
        // SAFETY: passed on from the caller.
        let slow_start = unsafe { policy::slow_start(self.slow_start) }?;
        Ok(match self.policy {
            PLIMSOLL_POLICY_LEAST_REQUEST => {
                // SAFETY: passed on from the caller. So in the others.
                Policy::LeastRequest(unsafe {
                    policy::least_request(self.least_request, slow_start)
                }?)
            }
            PLIMSOLL_POLICY_RING_HASH => {
                // SAFETY: as above.
                Policy::RingHash(unsafe { hashing::ring_hash(self.ring_hash) }?)
            }
            PLIMSOLL_POLICY_RANDOM => Policy::Random,
            PLIMSOLL_POLICY_MAGLEV => {
                // SAFETY: as above.
                Policy::Maglev(unsafe { hashing::maglev(self.maglev) }?)
            }
            PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN => {
                let settings = self.client_side_weighted_round_robin;
                Policy::ClientSideWeightedRoundRobin(
                    // SAFETY: as above.
                    unsafe { weighted::engine(settings, slow_start) }?,
                )
            }
            _ => Policy::RoundRobin(RoundRobin { slow_start }),
        })
    }

    /// # Safety
    ///
    /// As for [`engine_config`].
    unsafe fn engine_routing(&self) -> Result<LocalityRouting, Failure> {
        Ok(match self.locality_routing {
            PLIMSOLL_ROUTING_ZONE_AWARE => {
                // SAFETY: passed on from the caller. So in the other.
                LocalityRouting::ZoneAware(unsafe { locality::zone_aware(self.zone_aware) }?)
            }
            PLIMSOLL_ROUTING_WEIGHTED => LocalityRouting::Weighted,
            PLIMSOLL_ROUTING_LOAD_AWARE => {
                // SAFETY: as above.
                LocalityRouting::LoadAware(unsafe {
                    locality::load_aware(self.load_aware_locality)
                }?)
            }
            _ => LocalityRouting::Unset,
        })
    }
}
