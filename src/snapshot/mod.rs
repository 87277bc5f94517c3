//! The snapshot that workers read, how a new one reaches them, and when an old one is freed.
//!
//! A [`Cell`] holds the newest value. The control side owns its [`Publisher`]; each worker owns a
//! [`Reader`]; any other thread may [`pin`](Cell::pin) the newest value for a moment. The module
//! does not know what it publishes, which keeps its models small.
//!
//! # The protocol of the two slots
//!
//! A reader keeps the value it *holds* and compares one pointer per use. Each reader has two
//! slots that the control side can read; one of them names the held value. When the pointer has
//! changed, the reader names the candidate in its free slot, fences, and loads the pointer again:
//!
//! * The same: the candidate was published after it was named, so no scan that could free it has
//!   missed the name. The reader holds it from now on and clears the other slot.
//! * Not the same: the reader clears the name and goes on with what it holds. The next use tries
//!   again. There is no loop, so every use is wait-free; under a storm of publishes a reader may
//!   stay on an older value for several uses.
//!
//! After each publish the control side fences and reads all slots. What no slot names is handed
//! to the epoch collector, which frees it once no pinned reader can hold it. So `W` readers keep
//! at most `2 W + 1` values alive, however long one of them stalls, and no reader ever runs a
//! destructor. An address that comes back does no harm: a held value is named, so its address
//! cannot come back, and the second load asks what is published *now*.
//!
//! # Edges
//!
//! | edge | release side | acquire side | what becomes visible |
//! |---|---|---|---|
//! | S1 | [`Publisher::publish`] swaps `current` | a reader or a pin loads `current` | the value behind the pointer |
//! | S2 | the fence between naming and the second load | the fence between the swap and the scan | either the reader sees the newer pointer, or the scan sees the name |
//! | S3 | a reader clears a slot | the scan reads the slot | the reader's last use of the value comes before it is freed |
//! | S4 | a reader that goes away sets `closed` | the scan reads `closed` | its slots are clear, and all its uses are over |
//! | S5 | a pin ends (crossbeam-epoch) | the collector frees | the pinned reader's last use comes before the value is freed |
//!
//! S2 is a store-load order (Dekker's), which only fences that take part in one total order give:
//! both are `SeqCst`. The models in `loom-tests/` bear the names of the edges; the variants
//! without fence, without second load and with a relaxed scan must fail there.

mod cell;
mod pinned;
mod protocol;
mod publisher;
mod reader;

pub use cell::Cell;
pub use pinned::Pinned;
pub use protocol::{Protocol, Sound};
pub use publisher::Publisher;
pub use reader::Reader;
