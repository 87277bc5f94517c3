//! What a cluster, a pick and a load report look like, as JSON.
//!
//! One form for all who show it: the `plimsoll` tool, the C interface, and what is built on that.
//! Keys have a fixed order, and [`text`] writes numbers in a fixed form, so that the same state is
//! the same bytes everywhere. The forms are those of the results of a replay, see `docs/replay.md`;
//! later versions may add keys.
//!
//! ```
//! use plimsoll::config::{Assignment, ClusterConfig};
//! use plimsoll::{Cluster, Options};
//! use plimsoll_json::{Part, Show, show, text};
//!
//! let cluster = Cluster::open(ClusterConfig::new("api"), &Assignment::default(), Options::default())?;
//! let loads = show(&cluster, &Show::all_of(Part::Loads))?;
//! assert_eq!(text(&loads), r#"{"healthy":[100.0],"degraded":[0.0],"panic":[true]}"#);
//! # Ok::<(), plimsoll::Error>(())
//! ```

mod explanation;
mod load_report;
mod parts;
mod text;

pub use explanation::explanation;
pub use load_report::load_report;
pub use parts::{Part, Show, show};
pub use text::text;
