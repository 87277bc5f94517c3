//! The one place that names atomics, locks, epochs and the model checker.
//!
//! Everything concurrent in the engine is imported from here, so that building with `--cfg loom`
//! puts the whole engine under loom, and so that one file tells which primitives are in use.
//!
//! `Arc` is the standard one even under loom: nothing in the engine relies on the moment at which
//! a count reaches zero, except through [`Arc::get_mut`], which synchronizes by itself.

pub(crate) use std::sync::{Arc, OnceLock};

#[cfg(not(loom))]
pub(crate) use std::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
};

#[cfg(loom)]
pub(crate) use loom::sync::{
    Mutex, MutexGuard,
    atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence},
};

pub(crate) use crossbeam_epoch as epoch;
pub(crate) use crossbeam_utils::CachePadded;
