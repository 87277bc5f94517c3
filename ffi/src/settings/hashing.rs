//! The settings of the policies that go by hashes.

use std::mem::offset_of;
use std::ptr;

use plimsoll::config::{ConsistentHashing, HashFunction, Maglev, RingHash};

use crate::failure::Failure;
use crate::growable::{self, Growable};
use crate::handle;
use crate::number::boolean;
use crate::request_hash::HashPolicies;

/// `plimsoll_ring_hash.hash_function`: xxHash64. The default.
pub const PLIMSOLL_HASH_FUNCTION_XX_HASH: u32 = 0;
/// `plimsoll_ring_hash.hash_function`: MurmurHash2 in 64 bits.
pub const PLIMSOLL_HASH_FUNCTION_MURMUR_HASH_2: u32 = 1;

/// The settings of `PLIMSOLL_POLICY_RING_HASH`. Growable: start from `PLIMSOLL_RING_HASH_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct RingHashSettings {
    /// `sizeof(plimsoll_ring_hash)`.
    pub size: usize,
    /// How keys of hosts are hashed: one of `PLIMSOLL_HASH_FUNCTION_...`.
    pub hash_function: u32,
    /// 1 to 8388608, default 1024. With `PLIMSOLL_BEHAVIOR_ENVOY` a ring has at least as many points;
    /// natively an eighth of it are the points of a host for each unit of its weight.
    pub minimum_ring_size: u32,
    /// A ring has at most as many points, `minimum_ring_size` to 8388608. 0, the default: 8388608 with
    /// `PLIMSOLL_BEHAVIOR_ENVOY`, natively the larger of 1048576 and `minimum_ring_size`.
    pub maximum_ring_size: u32,
    /// 1: a host's key is its name instead of its address, unless it has a `hash_key`.
    pub use_hostname_for_hashing: u32,
    /// No host gets more than this percentage of its fair share of the active requests, at least 100;
    /// 0, the default: as much as comes.
    pub hash_balance_factor: u32,
    /// 0. Fills the place that would be padding, so that a later member can use it.
    pub reserved: u32,
    /// What requests are hashed from, in place of what their route says; copied. NULL, or without an
    /// entry: the route says it, or the caller hashes.
    pub hash_policies: *const HashPolicies,
}

/// The settings of `PLIMSOLL_POLICY_MAGLEV`. Growable: start from `PLIMSOLL_MAGLEV_INIT`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub struct MaglevSettings {
    /// `sizeof(plimsoll_maglev)`.
    pub size: usize,
    /// A prime, at most 5000011; a hundred times the number of hosts keeps their shares within a
    /// hundredth. Default 65537.
    pub table_size: u32,
    /// 1: a host's key is its name instead of its address, unless it has a `hash_key`.
    pub use_hostname_for_hashing: u32,
    /// No host gets more than this percentage of its fair share of the active requests, at least 100;
    /// 0, the default: as much as comes.
    pub hash_balance_factor: u32,
    /// 0. Fills the place that would be padding, so that a later member can use it.
    pub reserved: u32,
    /// What requests are hashed from, in place of what their route says; copied. NULL, or without an
    /// entry: the route says it, or the caller hashes.
    pub hash_policies: *const HashPolicies,
}

impl Default for RingHashSettings {
    /// What `PLIMSOLL_RING_HASH_INIT` is.
    fn default() -> Self {
        Self {
            size: size_of::<Self>(),
            hash_function: PLIMSOLL_HASH_FUNCTION_XX_HASH,
            minimum_ring_size: 1024,
            maximum_ring_size: 0,
            use_hostname_for_hashing: 0,
            hash_balance_factor: 0,
            reserved: 0,
            hash_policies: ptr::null(),
        }
    }
}

impl Default for MaglevSettings {
    /// What `PLIMSOLL_MAGLEV_INIT` is.
    fn default() -> Self {
        Self {
            size: size_of::<Self>(),
            table_size: 65_537,
            use_hostname_for_hashing: 0,
            hash_balance_factor: 0,
            reserved: 0,
            hash_policies: ptr::null(),
        }
    }
}

// SAFETY: integers and raw pointers only; `layout` leaves no room for padding.
unsafe impl Growable for RingHashSettings {
    fn unset() -> Self {
        Self::default()
    }
}

// SAFETY: as above.
unsafe impl Growable for MaglevSettings {
    fn unset() -> Self {
        Self::default()
    }
}

/// # Safety
///
/// `from` is null or as [`growable::read`] wants it; its policies are null or alive.
///
/// # Errors
///
/// The first member that is refused; ranges are for the engine to check.
pub(super) unsafe fn ring_hash(from: *const RingHashSettings) -> Result<RingHash, Failure> {
    let name = "settings.ring_hash";
    // SAFETY: passed on from the caller.
    let given = unsafe { growable::given(from, name) }?.unwrap_or_default();
    growable::unused(given.reserved, offset_of!(RingHashSettings, reserved), name)?;
    let common = Common {
        use_hostname_for_hashing: given.use_hostname_for_hashing,
        hash_balance_factor: given.hash_balance_factor,
        hash_policies: given.hash_policies,
    };
    Ok(RingHash {
        hash_function: match given.hash_function {
            PLIMSOLL_HASH_FUNCTION_XX_HASH => HashFunction::XxHash,
            PLIMSOLL_HASH_FUNCTION_MURMUR_HASH_2 => HashFunction::MurmurHash2,
            other => {
                return Err(Failure::unknown_number(
                    &format!("{name}.hash_function"),
                    other,
                    "one of PLIMSOLL_HASH_FUNCTION_...",
                ));
            }
        },
        minimum_ring_size: given.minimum_ring_size,
        maximum_ring_size: (given.maximum_ring_size != 0).then_some(given.maximum_ring_size),
        // SAFETY: passed on from the caller.
        consistent_hashing: unsafe { common.engine(name) }?,
    })
}

/// # Safety
///
/// As for [`ring_hash`].
///
/// # Errors
///
/// As for [`ring_hash`].
pub(super) unsafe fn maglev(from: *const MaglevSettings) -> Result<Maglev, Failure> {
    let name = "settings.maglev";
    // SAFETY: passed on from the caller.
    let given = unsafe { growable::given(from, name) }?.unwrap_or_default();
    growable::unused(given.reserved, offset_of!(MaglevSettings, reserved), name)?;
    let common = Common {
        use_hostname_for_hashing: given.use_hostname_for_hashing,
        hash_balance_factor: given.hash_balance_factor,
        hash_policies: given.hash_policies,
    };
    // SAFETY: passed on from the caller.
    let consistent_hashing = unsafe { common.engine(name) }?;
    Ok(Maglev { table_size: given.table_size, consistent_hashing })
}

/// What both structs have.
struct Common {
    use_hostname_for_hashing: u32,
    hash_balance_factor: u32,
    hash_policies: *const HashPolicies,
}

impl Common {
    /// # Safety
    ///
    /// The policies are null or alive.
    unsafe fn engine(self, owner: &str) -> Result<ConsistentHashing, Failure> {
        let by_name = format!("{owner}.use_hostname_for_hashing");
        let hash_policy = match self.hash_policies.is_null() {
            true => Vec::new(),
            false => {
                let name = format!("{owner}.hash_policies");
                // SAFETY: not null, so the caller promises that it is alive.
                unsafe { handle::named(self.hash_policies, &name) }?.engine().to_vec()
            }
        };
        Ok(ConsistentHashing {
            use_hostname_for_hashing: boolean(self.use_hostname_for_hashing, &by_name)?,
            hash_balance_factor: (self.hash_balance_factor != 0)
                .then_some(self.hash_balance_factor),
            hash_policy,
        })
    }
}
