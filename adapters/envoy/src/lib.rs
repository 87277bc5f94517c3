//! Plimsoll as a load-balancing policy of an unmodified Envoy, loaded as a dynamic module.
//!
//! One shared object holds the policy, and HTTP filters that give it what Envoy does not tell a
//! policy: load reports, the ends of requests (`orca`, in the upstream filter chain), and a way to
//! hosts that are not healthy (`overflow`, in the downstream chain). docs/envoy.md is for users.
//!
//! # What belongs together
//!
//! Envoy makes one configuration (`policy::Policy`) and from it one instance for each thread
//! (`instance::Instance`). All instances share one engine: the main thread's instance hands it
//! the hosts that Envoy shows, a thread of our own applies them and ticks, and each worker's
//! instance picks, and turns the picked host into the index that Envoy knows it by. Where Envoy
//! makes several instances for one thread (as policies do that have another one inside), each
//! has an engine to itself.
//!
//! # Invariants
//!
//! * No panic crosses into Envoy: each hook runs inside `guard`.
//! * A handle of Envoy's is used on the thread and during the call that it was passed for. Two are
//!   kept: a configuration's, for its metrics, until that configuration is destroyed; and none of
//!   its labelled metrics is touched from our own thread, where that would crash Envoy.
//! * A pick never fails while Envoy has a healthy host, unless the configuration says so
//!   (`fail_traffic_on_panic`).
//!
//! | module | what it holds |
//! |---|---|
//! | `host` | what we ask of Envoy, as traits |
//! | `abi`, `envoy`, `lb_hooks`, `filter_hooks` | Envoy's C interface, both ways; not in tests, which have a fake Envoy |
//! | `config`, `policy`, `engine`, `succession`, `control` | settings; what threads share, and takes over from the configuration before; our own thread |
//! | `instance`, `seat`, `view`, `threads` | what each thread has: instances, picks, hosts as Envoy numbers them |
//! | `orca_filter`, `overflow_filter` | the filters |
//! | `counts`, `figures`, `metrics` | what Envoy's `/stats` shows |

#[cfg(not(test))]
mod abi;
mod clock;
mod config;
mod control;
mod counts;
mod engine;
#[cfg(not(test))]
mod envoy;
#[cfg(test)]
mod fake;
mod figures;
#[cfg(not(test))]
mod filter_hooks;
mod guard;
mod host;
mod instance;
#[cfg(not(test))]
mod lb_hooks;
mod log;
mod metrics;
mod orca_filter;
mod overflow_filter;
mod policy;
mod seat;
mod succession;
#[cfg(test)]
mod tests;
mod threads;
#[cfg(feature = "time-picks")]
mod timing;
mod view;
