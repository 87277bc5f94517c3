//! What each thread of Envoy remembers: its seats, for filters, and the last pick.
//!
//! Envoy chooses a host and makes the upstream filters of that attempt in one go on one thread, so
//! that the pick that came last is the one that a new filter belongs to. Where there was none in
//! between (there are no filters, or Envoy sent no request after all) a pick is settled before the
//! next one is made. One that is taken for another request's shows by that going elsewhere.

use std::cell::RefCell;
use std::rc::{Rc, Weak};
use std::sync::Arc;

use plimsoll::{Outcome, Pick};

use crate::policy::Policy;
use crate::seat::Seat;

pub(crate) type SharedSeat = Rc<RefCell<Seat>>;

/// A pick whose request has not been seen by a filter yet.
#[derive(Debug)]
pub(crate) struct Pending {
    pub(crate) seat: SharedSeat,
    pub(crate) pick: Pick,
}

impl Pending {
    /// Ends the pick if the request went to another host; whether it did.
    pub(crate) fn is_off(&self, address: Option<&str>) -> bool {
        let is_off = address.is_some_and(|it| self.seat.borrow().went_elsewhere(self.pick, it));
        if is_off {
            self.seat.borrow_mut().end(self.pick, Outcome::Success);
        }
        is_off
    }
}

/// A seat that this thread has.
struct Listed {
    /// The policy, to count its instances by; only compared.
    policy: *const Policy,
    cluster: String,
    seat: Weak<RefCell<Seat>>,
}

thread_local! {
    static PENDING: RefCell<Option<Pending>> = const { RefCell::new(None) };
    static SEATS: RefCell<Vec<Listed>> = const { RefCell::new(Vec::new()) };
}

/// Remembers a pick for the filter that follows.
pub(crate) fn leave(seat: &SharedSeat, pick: Pick) {
    let pending = Pending { seat: Rc::clone(seat), pick };
    PENDING.with_borrow_mut(|place| *place = Some(pending));
}

/// Takes the last pick, if nobody has.
pub(crate) fn take() -> Option<Pending> {
    PENDING.with_borrow_mut(Option::take)
}

/// Ends the last pick, if no filter has come for it.
pub(crate) fn settle() {
    if let Some(Pending { seat, pick }) = take() {
        seat.borrow_mut().end(pick, Outcome::Success);
    }
}

/// Lists a seat and says whether this thread already has another one of the same policy.
pub(crate) fn list(policy: &Arc<Policy>, cluster: &str, seat: &SharedSeat) -> bool {
    let policy = Arc::as_ptr(policy);
    SEATS.with_borrow_mut(|seats| {
        seats.retain(|listed| listed.seat.strong_count() > 0);
        let is_second = seats.iter().any(|listed| listed.policy == policy);
        seats.push(Listed { policy, cluster: cluster.to_owned(), seat: Rc::downgrade(seat) });
        is_second
    })
}

/// Takes a seat off the list.
pub(crate) fn unlist(seat: &SharedSeat) {
    SEATS.with_borrow_mut(|seats| {
        seats.retain(|listed| !std::ptr::eq(listed.seat.as_ptr(), Rc::as_ptr(seat)));
    });
}

/// The seat of a cluster on this thread: the newest, which is the one that Envoy uses.
pub(crate) fn seat_of(cluster: &str) -> Option<SharedSeat> {
    SEATS.with_borrow(|seats| {
        let mut of_cluster = seats.iter().rev().filter(|listed| listed.cluster == cluster);
        of_cluster.find_map(|listed| listed.seat.upgrade())
    })
}
