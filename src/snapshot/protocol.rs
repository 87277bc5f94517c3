//! The steps of the protocol that a model may leave out, to show that each is needed.

use crate::sync::Ordering;

/// Which steps of the two-slot protocol are taken. The engine uses [`Sound`], where all are;
/// other implementations exist only in the models that must fail.
///
/// # Safety
///
/// An implementation that changes any of the constants makes readers use freed memory. It may be
/// used under a model checker only, where nothing is freed.
#[allow(unsafe_code)]
pub unsafe trait Protocol: 'static {
    /// Edge S1, release side: how the pointer is replaced.
    const PUBLISH: Ordering = Ordering::AcqRel;
    /// Edge S2: both sides fence.
    const FENCE: bool = true;
    /// A reader loads the pointer again after naming its candidate.
    const RECHECK: bool = true;
    /// Edge S3, acquire side: how the scan reads a slot.
    const SCAN: Ordering = Ordering::Acquire;
}

/// The protocol as it is meant.
#[derive(Debug)]
pub struct Sound;

// SAFETY: no constant is changed.
#[allow(unsafe_code)]
unsafe impl Protocol for Sound {}
