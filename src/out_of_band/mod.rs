//! Load reports that servers send on streams of their own: which hosts want one, when it is opened,
//! and when it is given up.
//!
//! There are no sockets here, no clock and no random numbers: whoever owns them asks what to do
//! ([`ReportStreams::poll`]) and tells what happened. All times are nanoseconds of the caller's
//! clock; one that goes back delays what is due, and nothing else.
//!
//! # Invariants
//!
//! * A host has at most one stream, however many policies want its reports.
//! * A slot has one session, and `deadlines` has exactly the deadline of that session.
//! * Only [`ReportStreams::poll`] opens, and it treats each host at most once: a delay of 0 is over
//!   at the next call.

mod back_off;
mod event;
mod session;
#[cfg(test)]
mod tests;

use std::collections::{BTreeSet, HashMap};

pub use event::{StreamAction, StreamEnd, StreamFrame, StreamHost, StreamStats};

use crate::config::Behavior;
use session::Session;

/// The period of a policy that does not say one.
const DEFAULT_PERIOD_MS: u64 = 10_000;

/// The streams on which the hosts of a cluster send their load reports.
///
/// Each event takes O(log n) steps for n hosts. When several things are due, pass on what has
/// arrived before polling: a report that waits in a socket cannot keep its stream alive. What is
/// told about a host that is not there, or has no open stream, is ignored, so that events which
/// crossed an action do no harm.
///
/// Whatever `draw` is given is called for each random number that is needed, and not otherwise.
///
/// | | `behavior: native` | `behavior: envoy` |
/// |---|---|---|
/// | a sign of life | any message | a message that is not empty |
/// | a stream is silent after | 3 periods or 1.5 of its longest gaps, and one period | 3 periods |
/// | delay before another attempt | as Envoy's, but see below | below 1, 2, 4, 8, 16, 30, 30, … s |
/// | delays start anew | when messages have come for a period | with a report |
/// | a server without the method | is tried again after 30 minutes | is never tried again |
///
/// Native waits at least 100 ms before another attempt, and does not open a stream again that
/// brought something until a period has passed since it was opened.
///
/// ```
/// use std::time::Duration;
/// use plimsoll::config::Behavior;
/// use plimsoll::{ReportStreams, StreamAction, StreamEnd, StreamFrame, StreamHost};
///
/// const SECOND: u64 = 1_000_000_000;
/// let host = StreamHost { slot: 0, generation: 0 };
/// let mut streams = ReportStreams::new(Behavior::Native);
///
/// // Two policies want reports, one each second; the first attempt comes 250 ms later.
/// streams.want(host, &[1_000, 10_000], 0, || 250);
/// assert_eq!(streams.next_deadline(), Some(SECOND / 4));
/// let open = StreamAction::Open { host, interval: Duration::from_secs(1) };
/// assert_eq!(streams.poll(SECOND / 4, || 0), [open]);
///
/// streams.frame(host, StreamFrame::Accepted, SECOND, || 0);
/// streams.ended(host, StreamEnd::Status(14), 2 * SECOND, || 700);
/// assert_eq!(streams.next_deadline(), Some(2 * SECOND + 700_000_000));
/// ```
#[derive(Debug)]
pub struct ReportStreams {
    behavior: Behavior,
    /// By slot.
    sessions: HashMap<u32, Session>,
    /// With the slots that they belong to.
    deadlines: BTreeSet<(u64, u32)>,
    /// Streams to close at the next poll.
    closing: Vec<StreamAction>,
    stats: StreamStats,
}

impl ReportStreams {
    /// No streams yet.
    #[must_use]
    pub fn new(behavior: Behavior) -> Self {
        Self {
            behavior,
            sessions: HashMap::new(),
            deadlines: BTreeSet::new(),
            closing: Vec::new(),
            stats: StreamStats::default(),
        }
    }

    /// Says which periods the policies want the reports of a host in, in milliseconds; 0 stands for
    /// Envoy's default of 10 000. The stream asks for the shortest; without any there is none.
    ///
    /// Nothing happens if that period is the one that the host already has. Another one, or another
    /// host in the same slot, starts anew, as in Envoy, where it comes with a new cluster or host.
    /// The first attempt is made after a part of the period that `draw` decides.
    pub fn want(
        &mut self,
        host: StreamHost,
        periods_ms: &[u64],
        now_ns: u64,
        draw: impl FnOnce() -> u64,
    ) {
        let Some(period_ms) = shortest(periods_ms) else { return self.forget(host) };
        let session = self.sessions.get(&host.slot);
        if session.is_some_and(|session| {
            (session.generation, session.period_ms) == (host.generation, period_ms)
        }) {
            return;
        }
        self.remove(host.slot);
        let session = Session::new(host.generation, period_ms, now_ns, draw());
        follow(&mut self.deadlines, host.slot, None, session.deadline_ns);
        self.sessions.insert(host.slot, session);
        self.stats.active_sessions += 1;
    }

    /// Says that the host is gone, or that nobody wants its reports any more.
    pub fn forget(&mut self, host: StreamHost) {
        let session = self.sessions.get(&host.slot);
        if session.is_some_and(|session| session.generation == host.generation) {
            self.remove(host.slot);
        }
    }

    /// Takes note of a message. The random number decides, if the stream is given up, when the next
    /// one is opened.
    pub fn frame(
        &mut self,
        host: StreamHost,
        frame: StreamFrame,
        now_ns: u64,
        draw: impl FnOnce() -> u64,
    ) {
        if !self.is_open(host) {
            return;
        }
        let behavior = self.behavior;
        let stats = &mut self.stats;
        match frame {
            StreamFrame::Malformed => {
                self.closing.push(StreamAction::Close { host });
                return self.ended(host, StreamEnd::Broken, now_ns, draw);
            }
            StreamFrame::Empty => {}
            StreamFrame::Accepted => stats.reports_received += 1,
            StreamFrame::Refused => {
                stats.reports_received += 1;
                stats.report_errors += 1;
            }
        }
        self.change(host, |session| session.note(behavior, frame, now_ns));
    }

    /// Takes note of the end of a stream that was not closed on request. The random number decides
    /// when the next one is opened.
    pub fn ended(
        &mut self,
        host: StreamHost,
        end: StreamEnd,
        now_ns: u64,
        draw: impl FnOnce() -> u64,
    ) {
        if !self.is_open(host) {
            return;
        }
        let behavior = self.behavior;
        if end.is_unimplemented() {
            self.stats.stream_terminated += 1;
            self.stats.active_sessions -= 1;
            self.change(host, |session| session.rest(behavior, now_ns));
        } else {
            self.stats.stream_failures += 1;
            let random = draw();
            self.change(host, |session| session.wait(behavior, now_ns, random));
        }
    }

    /// What is to be done now, in this order: streams that nobody wants any more are closed, then
    /// what is due is opened, or given up for its silence.
    pub fn poll(&mut self, now_ns: u64, mut draw: impl FnMut() -> u64) -> Vec<StreamAction> {
        let mut actions = std::mem::take(&mut self.closing);
        for slot in self.take_due(now_ns) {
            let Some(session) = self.sessions.get_mut(&slot) else { continue };
            let host = StreamHost { slot, generation: session.generation };
            if session.is_open() {
                self.stats.stream_failures += 1;
                session.wait(self.behavior, now_ns, draw());
                actions.push(StreamAction::Close { host });
            } else {
                self.stats.active_sessions += u64::from(!session.is_active());
                session.open(self.behavior, now_ns);
                actions.push(StreamAction::Open { host, interval: session.interval() });
            }
            follow(&mut self.deadlines, slot, None, session.deadline_ns);
        }
        actions
    }

    /// When to poll next at the latest, if nothing happens before; 0, which has passed, if there is
    /// something to close.
    #[must_use]
    pub fn next_deadline(&self) -> Option<u64> {
        let first = self.deadlines.first().map(|&(deadline_ns, _)| deadline_ns);
        if self.closing.is_empty() { first } else { Some(0) }
    }

    /// Whether the host has a stream that has been opened and has not ended.
    #[must_use]
    pub fn is_open(&self, host: StreamHost) -> bool {
        let session = self.sessions.get(&host.slot);
        session.is_some_and(|session| session.generation == host.generation && session.is_open())
    }

    /// What has been counted.
    #[must_use]
    pub fn stats(&self) -> StreamStats {
        self.stats
    }

    /// Ends the session in a slot.
    //= envoy v1.40 source/extensions/load_balancing_policies/common/orca_oob_manager.cc#onHostsRemoved
    fn remove(&mut self, slot: u32) {
        let Some(session) = self.sessions.remove(&slot) else { return };
        follow(&mut self.deadlines, slot, session.deadline_ns, None);
        self.stats.active_sessions -= u64::from(session.is_active());
        if session.is_open() {
            let host = StreamHost { slot, generation: session.generation };
            self.closing.push(StreamAction::Close { host });
        }
    }

    /// Changes the session of a host.
    fn change(&mut self, host: StreamHost, change: impl FnOnce(&mut Session)) {
        let Some(session) = self.sessions.get_mut(&host.slot) else { return };
        let before = session.deadline_ns;
        change(session);
        follow(&mut self.deadlines, host.slot, before, session.deadline_ns);
    }

    /// Takes the deadlines that have come, the earliest first.
    fn take_due(&mut self, now_ns: u64) -> Vec<u32> {
        let mut due = Vec::new();
        while let Some(&(deadline_ns, slot)) = self.deadlines.first()
            && deadline_ns <= now_ns
        {
            self.deadlines.pop_first();
            due.push(slot);
        }
        due
    }
}

/// The period to ask for.
pub(crate) fn shortest(periods_ms: &[u64]) -> Option<u64> {
    let period = |&period_ms: &u64| if period_ms == 0 { DEFAULT_PERIOD_MS } else { period_ms };
    periods_ms.iter().map(period).min()
}

/// Keeps the set up with one deadline.
fn follow(
    deadlines: &mut BTreeSet<(u64, u32)>,
    slot: u32,
    before: Option<u64>,
    after: Option<u64>,
) {
    if before == after {
        return;
    }
    if let Some(before_ns) = before {
        deadlines.remove(&(before_ns, slot));
    }
    if let Some(after_ns) = after {
        deadlines.insert((after_ns, slot));
    }
}
