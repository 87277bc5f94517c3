//! The C interface of Plimsoll.
//!
//! C, C++ and Go link the archive that this crate builds and read
//! `include/plimsoll/plimsoll.h`, which is generated from the files here. There is no balancing in
//! this crate: an exported function checks its arguments, converts them, calls the engine and
//! converts the answer. A Rust program uses the `plimsoll` crate instead.
//!
//! # Invariants
//!
//! * No panic crosses into C: every exported function that can panic runs inside
//!   [`guard`](mod@guard).
//! * Nothing from C is trusted to be an enum: integers come in and are checked; only
//!   [`Status`](status::Status) goes out.
//! * NULL is checked before anything is read, and an out-parameter holds NULL or zero after every
//!   failure.
//! * The functions of a worker neither lock nor build an error object, and allocate nothing but
//!   Envoy's schedules, new cookies, and what load reports in JSON take.
//!
//! | module | what it holds |
//! |---|---|
//! | [`guard`](mod@guard) | where panics end |
//! | [`status`], [`failure`], [`error`] | what a call answers |
//! | [`text`], `out` | what comes in and goes out through pointers |
//! | `handle` | what C keeps a pointer to |
//! | `visit` | how the caller is called for each thing that is shown |
//! | `growable`, `array`, `number` | structs that may grow, arrays, and numbers that stand for something else |
//! | [`cluster`], [`options`] | how a cluster comes and goes, and what it is told at its start |
//! | [`settings`], [`assignment`], `member` | its settings and its hosts as structs, and what members are called there |
//! | [`control`], [`change`], [`runtime`], [`load`] | the control calls of a cluster |
//! | [`health`] | the numbers of a host's health |
//! | [`hosts`], [`localities`], [`override_sources`], [`dump`], [`json`], [`prometheus`] | what a cluster looks like, for programs and for humans |
//! | [`request_hash`], [`hash_policy`] | the hash of a request, and what it is made from |
//! | [`worker`], [`worker_options`] | how a worker comes and goes |
//! | [`pick`], [`batch`], [`override_host`], [`picked`] | the calls of a request |
//! | [`reports`], [`streams`], [`handover`] | what hosts say of their own load, and have said to a cluster before |
//! | [`host_data`] | the caller's own data behind a host |
//! | [`version`], `layout` | which library this is, and how its structs lie in memory |

// Raw pointers are all that C can pass, so that this crate cannot do without unsafe code; it is
// denied in every crate that has a choice.
#![allow(unsafe_code)]

mod array;
pub mod assignment;
pub mod batch;
pub mod change;
pub mod cluster;
pub mod control;
pub mod dump;
pub mod error;
pub mod failure;
mod growable;
pub mod guard;
mod handle;
pub mod handover;
pub mod hash_policy;
pub mod health;
pub mod host_data;
pub mod hosts;
pub mod json;
mod layout;
pub mod load;
pub mod localities;
mod member;
mod number;
pub mod options;
mod out;
pub mod override_host;
pub mod override_sources;
pub mod pick;
pub mod picked;
pub mod prometheus;
pub mod reports;
pub mod request_hash;
pub mod runtime;
pub mod settings;
pub mod status;
pub mod streams;
pub mod text;
pub mod version;
mod visit;
pub mod worker;
pub mod worker_options;
