//! What a worker remembers between picks.
//!
//! # Edges
//!
//! None: every atomic in here has one writer, the worker, and nothing else is read through it.
//! The control side only adds up the counters and installs cells before a snapshot needs them.

use crate::host::Segments;
use crate::policy::envoy::Child;
use crate::policy::{NoHost, Recorder};
use crate::rng::{Draws, GOLDEN, GOLDEN_INVERSE, splitmix64};
use crate::schedule::Edf;
use crate::sync::{Arc, AtomicU64, Ordering};

/// Segments from 16 on that hold more lists than there are localities.
const TURN_SEGMENTS: usize = 20;

/// What a worker counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Counter {
    /// Attempts that landed on a panicking priority.
    HealthyPanic,
    /// Picks that gave no host.
    NoneHealthy,
    /// Picks for which the proxy's own cluster said nothing.
    LocalClusterNotOk,
    /// Picks that the local zone got because it gets everything.
    ZoneRoutingAllDirectly,
    /// Picks that the local zone got by lot.
    ZoneRoutingSampled,
    /// Picks that another zone got.
    ZoneRoutingCrossZone,
    /// Picks that any zone got, since none had anything left.
    ZoneNoCapacityLeft,
    /// Attempts at a host that had as many requests as its bound allows.
    BoundedLoad,
    /// Load reports that were taken in.
    ReportsAccepted,
    /// Load reports that nobody wants, or whose host is gone.
    ReportsIgnored,
    /// Load reports that cannot be read.
    ReportsUnreadable,
    /// Load reports without requests.
    ReportsWithoutQps,
    /// Load reports without utilization.
    ReportsWithoutUtilization,
    /// Load reports with numbers that are none.
    ReportsNotFinite,
    /// Ends of requests that were not active.
    DoneStale,
}

impl Counter {
    /// All of them, in order.
    pub(crate) const ALL: [Self; 15] = [
        Self::HealthyPanic,
        Self::NoneHealthy,
        Self::LocalClusterNotOk,
        Self::ZoneRoutingAllDirectly,
        Self::ZoneRoutingSampled,
        Self::ZoneRoutingCrossZone,
        Self::ZoneNoCapacityLeft,
        Self::BoundedLoad,
        Self::ReportsAccepted,
        Self::ReportsIgnored,
        Self::ReportsUnreadable,
        Self::ReportsWithoutQps,
        Self::ReportsWithoutUtilization,
        Self::ReportsNotFinite,
        Self::DoneStale,
    ];

    /// Its name in statistics.
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::HealthyPanic => "lb_healthy_panic",
            Self::NoneHealthy => "upstream_cx_none_healthy",
            Self::LocalClusterNotOk => "lb_local_cluster_not_ok",
            Self::ZoneRoutingAllDirectly => "lb_zone_routing_all_directly",
            Self::ZoneRoutingSampled => "lb_zone_routing_sampled",
            Self::ZoneRoutingCrossZone => "lb_zone_routing_cross_zone",
            Self::ZoneNoCapacityLeft => "lb_zone_no_capacity_left",
            Self::BoundedLoad => "plimsoll.bounded_load_redirects",
            Self::ReportsAccepted => "plimsoll.load_reports_accepted",
            Self::ReportsIgnored => "plimsoll.load_reports_ignored",
            Self::ReportsUnreadable => "plimsoll.load_reports_unreadable",
            Self::ReportsWithoutQps => "plimsoll.load_reports_without_qps",
            Self::ReportsWithoutUtilization => "plimsoll.load_reports_without_utilization",
            Self::ReportsNotFinite => "plimsoll.load_reports_not_finite",
            Self::DoneStale => "plimsoll.done_stale",
        }
    }
}

/// Figures by [`Counter`].
pub(crate) type Counts = [u64; Counter::ALL.len()];

/// The part of a worker's state that the control side sees.
#[derive(Debug)]
pub(crate) struct WorkerShared {
    /// How far each of Envoy's round robin lists has come since the worker's seed.
    turns: Segments<AtomicU64, 4, TURN_SEGMENTS>,
    counters: [AtomicU64; Counter::ALL.len()],
}

impl WorkerShared {
    fn new() -> Self {
        Self { turns: Segments::new(), counters: Default::default() }
    }

    /// Makes sure that lists `0..lists` have a position. Control side, before it publishes them.
    pub(crate) fn grow(&self, lists: usize) {
        self.turns.grow(lists, |_| AtomicU64::new(0));
    }

    /// One figure.
    pub(crate) fn counter(&self, counter: Counter) -> u64 {
        // No edge: a figure.
        self.counters[counter as usize].load(Ordering::Relaxed)
    }

    /// A copy that nobody else sees.
    fn detached(&self) -> Self {
        let copy = Self::new();
        // No edge: only the worker itself, whose thread this is, writes them.
        let turns: Vec<u64> = self.turns.iter().map(|turn| turn.load(Ordering::Relaxed)).collect();
        copy.turns.grow(turns.len(), |list| AtomicU64::new(turns.get(list).copied().unwrap_or(0)));
        copy
    }
}

/// What the cluster's clock shows, for picks that are not told the time.
#[derive(Debug, Default)]
pub(crate) struct Clock(AtomicU64);

impl Clock {
    /// A clock that shows this.
    pub(crate) fn new(now_ns: u64) -> Self {
        Self(AtomicU64::new(now_ns))
    }

    /// Sets it. Control side.
    pub(crate) fn set(&self, now_ns: u64) {
        // No edge: the number is the whole message.
        self.0.store(now_ns, Ordering::Relaxed);
    }

    /// What it shows.
    pub(crate) fn now_ns(&self) -> u64 {
        // No edge: the number is the whole message.
        self.0.load(Ordering::Relaxed)
    }
}

/// What policies that go by hashes are told of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Request {
    pub(crate) hash: Option<u64>,
    pub(crate) attempt: u32,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct State {
    pub(crate) draws: Draws,
    pub(crate) shared: Arc<WorkerShared>,
    /// Draws of peeks that no pick has used yet.
    stash: Stash,
    pub(crate) request: Request,
    /// The number of the last attempt, from which retries go on.
    pub(super) attempt: u64,
    /// Where Envoy's bounded load writes down in which order it looks at hosts.
    pub(super) order: Vec<u32>,
    /// The native cursor.
    pub(super) position: u64,
    /// Where the native cursor's next peek looks.
    peeked: u64,
    /// Peeks that no pick has caught up with, of Envoy's round robin.
    pub(super) ahead: u64,
    /// Where Envoy's round robin lists start.
    pub(super) seed: u64,
    /// Envoy's schedulers by list, each with the update of its priority that it was made after.
    schedulers: Vec<Option<(u64, Edf)>>,
    /// Those of its weighted localities, two for each priority.
    locality_schedulers: Vec<Option<(u64, Edf)>>,
    /// For each priority its last update, and where the schedulers of its localities start since.
    locality_seeds: Vec<(u64, u64)>,
    /// The policies of localities, by the positions of their lists.
    pub(super) children: Vec<Child>,
    /// How many of them there had been at the last look.
    pub(super) children_seen: u64,
    instance: u64,
    revision: u64,
    clock: Arc<Clock>,
    /// The time of this pick; 0 for what the clock shows.
    pub(crate) pick_ns: u64,
}

/// Where a worker's cursor starts. Another phase for each seed, so that two proxies do not walk in
/// lockstep; and workers spaced by a second irrational number, the root of one half, so that what
/// one of them leads or lags is not what the next one does. Spaced by the golden ratio itself,
/// each would walk one step behind the next on the same way, and their leads would add up.
fn start(seed: u64, number: u64) -> u64 {
    const ROOT_OF_ONE_HALF: u64 = 0xB504_F333_F9DE_6485;
    let phase = splitmix64(seed).wrapping_sub(splitmix64(0));
    phase.wrapping_add(number.wrapping_mul(ROOT_OF_ONE_HALF))
}

/// What identifies the tables that a state belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Identity {
    /// Changes when the policy or the behaviour does: positions mean something else.
    pub(crate) instance: u64,
    /// Changes when hosts or loads do: peeked picks are void.
    pub(crate) revision: u64,
    /// A new instance draws a seed.
    pub(crate) seeded: bool,
}

impl State {
    pub(crate) fn new(seed: u64, number: u64, peek_capacity: usize, clock: Arc<Clock>) -> Self {
        let position = start(seed, number);
        Self {
            draws: Draws::new(seed, number),
            shared: Arc::new(WorkerShared::new()),
            stash: Stash::new(peek_capacity),
            request: Request::default(),
            attempt: 0,
            order: Vec::new(),
            position,
            peeked: position,
            ahead: 0,
            seed: 0,
            schedulers: Vec::new(),
            locality_schedulers: Vec::new(),
            locality_seeds: Vec::new(),
            children: Vec::new(),
            children_seen: 0,
            instance: 0,
            revision: 0,
            clock,
            pick_ns: 0,
        }
    }

    /// The time of this pick.
    #[inline]
    pub(crate) fn now_ns(&self) -> u64 {
        if self.pick_ns == 0 { self.clock.now_ns() } else { self.pick_ns }
    }

    /// Gets used to new tables. `weighted` has for each priority the number of its last update, if
    /// Envoy weighs its localities: each update takes a number.
    #[cold]
    pub(crate) fn adopt(&mut self, identity: Identity, weighted: &[u64]) {
        let is_new = self.instance != identity.instance;
        if is_new {
            self.locality_schedulers.clear();
            self.locality_seeds.clear();
        }
        self.draw_locality_seeds(weighted);
        if is_new {
            self.instance = identity.instance;
            if identity.seeded {
                self.seed = self.draws.next();
            }
            // No edge: this worker is the only writer.
            self.shared.turns.iter().for_each(|turn| turn.store(0, Ordering::Relaxed));
            self.schedulers.clear();
            self.children.clear();
            self.children_seen = 0;
            self.forget_peeks();
        }
        if self.revision != identity.revision {
            self.revision = identity.revision;
            self.forget_peeks();
        }
    }

    /// Whether the next number is one that was stashed or queued before.
    #[inline]
    pub(super) fn has_prepared_numbers(&self) -> bool {
        self.stash.length != 0 || self.draws.has_queued()
    }

    /// The next number: of a peek, else queued, else generated.
    #[inline]
    pub(super) fn next_number(&mut self) -> u64 {
        self.stash.pop().unwrap_or_else(|| self.draws.next())
    }

    /// Draws a number for a look ahead and keeps it for the pick that follows, unless `limit` of
    /// them are kept.
    pub(super) fn stash_number(&mut self, limit: u64) -> Result<u64, NoHost> {
        if self.stash.is_full(limit) {
            return Err(NoHost::PeekLimit);
        }
        let number = self.draws.next();
        self.stash.push(number);
        Ok(number)
    }

    /// The hash that the attempts of a pick go by: that of its request, or a number.
    #[inline]
    pub(super) fn begin_hashed<R: Recorder>(&mut self, hash: Option<u64>, recorder: &mut R) -> u64 {
        let hash = hash.unwrap_or_else(|| {
            let number = self.draws.next();
            recorder.draw(number);
            number
        });
        self.attempt = hash;
        hash
    }

    /// Makes `number` the next one, before what was peeked or queued.
    pub(crate) fn draw_next(&mut self, number: u64) {
        self.forget_peeks();
        self.draws.queue_first(number);
    }

    //= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#rebuildLocalityWrrForPriority
    fn draw_locality_seeds(&mut self, updates: &[u64]) {
        for (priority, &update) in updates.iter().enumerate() {
            if self.locality_seeds.len() == priority {
                // A new policy draws one number, however often its hosts were updated before.
                self.locality_seeds.push((update.saturating_sub(1), 0));
            }
            let seen = self.locality_seeds[priority].0;
            for _ in seen..update {
                self.locality_seeds[priority] = (update, self.draws.next());
            }
        }
    }

    fn forget_peeks(&mut self) {
        self.stash.clear();
        self.peeked = self.position;
        self.ahead = 0;
        self.children.iter_mut().for_each(Child::forget_peeks);
    }

    /// The scheduler of list `list` since `update`, made anew if there is none.
    pub(super) fn scheduler(&mut self, list: usize, update: u64, weights: &[f64]) -> &mut Edf {
        let child = self.children.get(list).filter(|child| child.is_any());
        let seed = child.map_or(self.seed, |child| child.seed);
        scheduler(&mut self.schedulers, list, update, || Edf::new(weights, seed))
    }

    /// Forgets the scheduler of a list that has another policy now.
    pub(super) fn forget_scheduler(&mut self, list: usize) {
        if let Some(place) = self.schedulers.get_mut(list) {
            *place = None;
        }
    }

    /// The same for localities: `list` is twice their priority, and one more for degraded hosts.
    pub(super) fn locality_scheduler(
        &mut self,
        list: usize,
        update: u64,
        weights: &[f64],
    ) -> &mut Edf {
        let seed = self.locality_seeds.get(list / 2).map_or(0, |&(_, seed)| seed);
        scheduler(&mut self.locality_schedulers, list, update, || Edf::new(weights, seed))
    }

    /// One step of the native cursor.
    #[inline]
    pub(super) fn step(&mut self) -> u64 {
        let x = self.position;
        self.position = x.wrapping_add(GOLDEN);
        x
    }

    /// Where the native cursor will be after the picks that were peeked, unless `limit` of them
    /// are outstanding.
    pub(super) fn peek_step(&mut self, limit: u64) -> Result<u64, NoHost> {
        let steps = self.peeked.wrapping_sub(self.position).wrapping_mul(GOLDEN_INVERSE);
        // Picks that have overtaken the peeks leave a negative number of steps.
        let outstanding = if steps.cast_signed() < 0 { 0 } else { steps };
        if outstanding >= limit.min(self.stash.capacity() as u64) {
            return Err(NoHost::PeekLimit);
        }
        let x = self.position.wrapping_add(GOLDEN.wrapping_mul(outstanding));
        self.peeked = x.wrapping_add(GOLDEN);
        Ok(x)
    }

    /// A copy for `explain`: it may go on from here without changing anything.
    pub(crate) fn detached(&self) -> Self {
        Self {
            draws: self.draws.clone(),
            shared: Arc::new(self.shared.detached()),
            stash: self.stash.clone(),
            schedulers: self.schedulers.clone(),
            locality_schedulers: self.locality_schedulers.clone(),
            locality_seeds: self.locality_seeds.clone(),
            children: self.children.clone(),
            order: Vec::with_capacity(self.order.capacity()),
            clock: Arc::clone(&self.clock),
            ..*self
        }
    }

    /// Adds one to a counter of what is out of the ordinary.
    #[cold]
    pub(crate) fn count(&self, counter: Counter) {
        self.add_one(counter);
    }

    /// Adds one to a counter of routes, which every pick does.
    #[inline]
    pub(crate) fn count_route(&self, counter: Counter) {
        self.add_one(counter);
    }

    /// The worker is the only writer, so a load and a store suffice.
    #[inline]
    fn add_one(&self, counter: Counter) {
        let cell = &self.shared.counters[counter as usize];
        // No edge: figures.
        cell.store(cell.load(Ordering::Relaxed) + 1, Ordering::Relaxed);
    }

    /// The turn of list `list`; `step` more from the next call on.
    #[inline]
    pub(super) fn turn(&self, list: usize, step: u64) -> u64 {
        let Some(turn) = self.shared.turns.get(list) else { return self.seed };
        // No edge: this worker is the only writer.
        let now = turn.load(Ordering::Relaxed);
        turn.store(now.wrapping_add(step), Ordering::Relaxed);
        self.seed.wrapping_add(now)
    }
}

/// The scheduler at `place` if it was made after `update`, else one that `make` makes.
fn scheduler(
    schedulers: &mut Vec<Option<(u64, Edf)>>,
    place: usize,
    update: u64,
    make: impl FnOnce() -> Edf,
) -> &mut Edf {
    if schedulers.len() <= place {
        schedulers.resize(place + 1, None);
    }
    let place = &mut schedulers[place];
    let kept = place.take().filter(|(made_after, _)| *made_after == update);
    &mut place.insert(kept.unwrap_or_else(|| (update, make()))).1
}

/// A queue of fixed capacity, so that peeking never allocates.
#[derive(Debug, Clone)]
struct Stash {
    draws: Box<[u64]>,
    first: usize,
    length: usize,
}

impl Stash {
    fn new(capacity: usize) -> Self {
        Self { draws: vec![0; capacity].into_boxed_slice(), first: 0, length: 0 }
    }

    fn capacity(&self) -> usize {
        self.draws.len()
    }

    fn clear(&mut self) {
        self.length = 0;
    }

    /// Whether a peek finds no room, with at most `limit` outstanding.
    fn is_full(&self, limit: u64) -> bool {
        self.length as u64 >= limit.min(self.draws.len() as u64)
    }

    /// Adds one at the end; the caller has asked [`is_full`](Self::is_full).
    fn push(&mut self, draw: u64) {
        let place = (self.first + self.length) % self.draws.len();
        self.draws[place] = draw;
        self.length += 1;
    }

    /// Takes the first.
    #[inline]
    fn pop(&mut self) -> Option<u64> {
        if self.length == 0 {
            return None;
        }
        let draw = self.draws[self.first];
        self.first = (self.first + 1) % self.draws.len();
        self.length -= 1;
        Some(draw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(seed: u64, number: u64, peek_capacity: usize) -> State {
        State::new(seed, number, peek_capacity, Arc::default())
    }

    #[test]
    fn the_stash_is_a_queue_that_wraps() {
        let mut stash = Stash::new(3);
        for round in 0..5 {
            assert_eq!(stash.pop(), None);
            (0..3).for_each(|draw| stash.push(round * 10 + draw));
            assert!(stash.is_full(u64::MAX));
            assert_eq!(stash.pop(), Some(round * 10));
            assert!(!stash.is_full(3) && stash.is_full(2));
            assert_eq!((stash.pop(), stash.pop()), (Some(round * 10 + 1), Some(round * 10 + 2)));
        }
    }

    #[test]
    fn a_stash_without_room_is_always_full() {
        assert!(Stash::new(0).is_full(u64::MAX));
    }

    #[test]
    fn peeks_run_ahead_of_the_cursor_and_never_behind() {
        let mut state = state(3, 0, 3);
        let peeks: Vec<u64> = (0..2).map(|_| state.peek_step(9).unwrap()).collect();
        assert_eq!(state.peek_step(2), Err(NoHost::PeekLimit));
        assert_eq!(peeks, [state.step(), state.step()]);
        state.step();
        let next = state.peek_step(9).unwrap();
        assert_eq!(next, state.step(), "the cursor overtook the peeks");
        assert_eq!((0..4).filter(|_| state.peek_step(9).is_ok()).count(), 3, "the capacity");
    }

    #[test]
    fn a_detached_state_goes_its_own_way() {
        let state = state(1, 2, 4);
        state.shared.grow(3);
        state.turn(1, 1);
        let mut copy = state.detached();
        assert_eq!(copy.turn(1, 1), 1);
        copy.count(Counter::NoneHealthy);
        copy.draws.next();
        assert_eq!(state.turn(1, 0), 1);
        assert_eq!(state.shared.counter(Counter::NoneHealthy), 0);
        assert_eq!(state.draws.clone().next(), self::state(1, 2, 4).draws.next());
    }
}
