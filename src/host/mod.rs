//! Hosts: who they are, where they are, how they are, and the runtime state that outlives every
//! snapshot.

mod address;
mod address_map;
mod directory;
mod health;
mod info;
mod locality;
mod segments;
mod table;

pub use address::Address;
pub(crate) use address_map::AddressMap;
pub(crate) use directory::{Directory, Entry, Place};
pub use health::{CoarseHealth, EdsHealth, HealthEvent, HealthFlags};
pub(crate) use info::HostInfo;
pub use info::{HostData, HostRef};
pub use locality::Locality;
pub(crate) use segments::Segments;
pub use table::MAX_LOAD;
pub(crate) use table::{Cells, MAX_HOSTS, Table};
