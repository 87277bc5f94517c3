//! The steps of the protocol that a model may leave out, to show that each is needed.

use crate::sync::Ordering;

/// Which steps of the two-slot protocol are taken. The engine uses [`Sound`], where all are;
/// other implementations exist only in the models that must fail.
pub trait Protocol: 'static {
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

impl Protocol for Sound {}
