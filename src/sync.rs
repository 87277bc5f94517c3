//! The one place that names atomics, locks, epochs and the model checker.
//!
//! Everything concurrent in the engine is imported from here, so that building with `--cfg loom`
//! puts the whole engine under loom, and so that one file tells which primitives are in use.
//!
//! `Arc` is the standard one even under loom: it shares parts that do not change. Where dropping
//! the last share frees what other threads have read, [`WatchedArc`] lets loom see the order.

pub(crate) use std::sync::{Arc, OnceLock};

#[cfg(not(loom))]
pub(crate) use std::sync::{
    Arc as WatchedArc, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
};

#[cfg(loom)]
pub(crate) use loom::sync::{
    Arc as WatchedArc, Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
};

#[cfg(not(loom))]
pub(crate) use std::hint::spin_loop as spin_hint;

#[cfg(loom)]
pub(crate) use loom::thread::yield_now as spin_hint;

pub(crate) use crossbeam_epoch as epoch;
pub(crate) use crossbeam_utils::CachePadded;
