//! One instance of the policy: what Envoy makes for a cluster on each of its threads.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use crate::host::{LbHost, Request};
use crate::policy::Policy;
use crate::seat::{Choice, Seat};
use crate::threads::{self, SharedSeat};
#[cfg(feature = "time-picks")]
use crate::timing::{What, log_all, timed};
use crate::view::AssignmentReader;

/// What an instance does with the hosts that Envoy shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    /// On the main thread: hands them to the shared engine.
    Leader,
    /// On a worker: looks up Envoy's numbers in them.
    Follower,
    /// Gives them to an engine of its own, since no other instance sees the same ones.
    Alone,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Instance {
    policy: Arc<Policy>,
    seat: SharedSeat,
    role: Role,
    reader: AssignmentReader,
}

impl Instance {
    pub(crate) fn new(policy: Arc<Policy>, host: &impl LbHost) -> Option<Self> {
        let cluster = host.cluster_name();
        let seat = Seat::new(policy.shared_engine(cluster)?, Arc::clone(&policy.metrics));
        let seat = Rc::new(RefCell::new(seat));
        if threads::list(&policy, cluster, &seat) {
            policy.split();
        }
        let role = if policy.is_main_thread() { Role::Leader } else { Role::Follower };
        let mut instance = Self { policy, seat, role, reader: AssignmentReader::default() };
        instance.update(host);
        // The main thread has the same hooks, and mostly no requests.
        if instance.role == Role::Follower {
            instance.seat.borrow_mut().prepare(host);
        }
        Some(instance)
    }

    /// Takes note of hosts that came, went or changed.
    pub(crate) fn update(&mut self, host: &impl LbHost) {
        #[cfg(feature = "time-picks")]
        return timed(What::Updates, || self.take_in(host));
        #[cfg(not(feature = "time-picks"))]
        self.take_in(host);
    }

    fn take_in(&mut self, host: &impl LbHost) {
        if !self.leave_others(host) {
            self.show_engine(host);
            self.seat.borrow_mut().update(host);
        }
    }

    fn show_engine(&mut self, host: &impl LbHost) {
        if self.role == Role::Follower {
            return;
        }
        let assignment = self.reader.read(host, &self.policy.settings);
        let seat = self.seat.borrow();
        if self.role == Role::Alone {
            seat.engine().assign(&assignment);
        } else {
            seat.engine().leave(assignment);
            self.policy.hosts_changed();
        }
    }

    /// Gets an engine of its own, with the hosts as they are, if instances turn out not to see the
    /// same ones; whether it just did.
    fn leave_others(&mut self, host: &impl LbHost) -> bool {
        if self.role == Role::Alone || !self.policy.is_split() {
            return false;
        }
        // Without one it stays with the shared engine, and healthy hosts take turns.
        let Some(engine) = self.policy.own_engine(host.cluster_name()) else { return false };
        self.leave_seat();
        let seat = Seat::new(engine, Arc::clone(&self.policy.metrics));
        self.seat = Rc::new(RefCell::new(seat));
        threads::list(&self.policy, host.cluster_name(), &self.seat);
        self.role = Role::Alone;
        self.show_engine(host);
        self.seat.borrow_mut().prepare(host);
        true
    }

    /// Chooses a host for a request.
    pub(crate) fn choose(&mut self, host: &impl LbHost, request: &impl Request) -> Option<Choice> {
        #[cfg(feature = "time-picks")]
        return timed(What::Picks, || self.pick(host, request));
        #[cfg(not(feature = "time-picks"))]
        self.pick(host, request)
    }

    fn pick(&mut self, host: &impl LbHost, request: &impl Request) -> Option<Choice> {
        threads::settle();
        self.leave_others(host);
        let choice = self.seat.borrow_mut().choose(host, request)?;
        if let Some(pick) = choice.pick {
            threads::leave(&self.seat, pick);
        }
        // With filters it is done when requests end.
        let seat = self.seat.borrow();
        if !seat.is_filtered() {
            seat.publish();
        }
        Some(choice)
    }

    fn leave_seat(&self) {
        threads::settle();
        threads::unlist(&self.seat);
        self.seat.borrow_mut().close();
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        #[cfg(feature = "time-picks")]
        log_all();
        self.leave_seat();
    }
}
