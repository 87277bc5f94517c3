//! The stream of one host: waited for, open, or found out to be impossible; and its next deadline.
//!
//! A session always has a deadline, but for one that Envoy never tries again. When it comes, what
//! waits is opened, and what is open has been silent for too long and is given up.

use std::time::Duration;

use super::back_off::BackOff;
use super::event::StreamFrame;
use crate::config::Behavior;

/// How many periods of silence a stream survives.
const SILENT_PERIODS: u64 = 3;

/// The shortest delay before another attempt in native.
const LEAST_DELAY_NS: u64 = 100 * NS_PER_MS;

/// How long native waits before it tries a server again that did not have the method.
const UNIMPLEMENTED_PAUSE_NS: u64 = 30 * 60 * 1_000 * NS_PER_MS;

const NS_PER_MS: u64 = 1_000_000;

/// See the module.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) generation: u32,
    /// At least 1.
    pub(super) period_ms: u64,
    pub(super) deadline_ns: Option<u64>,
    phase: Phase,
    back_off: BackOff,
}

#[derive(Debug, Clone, Copy)]
enum Phase {
    Waiting,
    Open(Life),
    Unimplemented,
}

/// What has happened on one stream.
#[derive(Debug, Clone, Copy)]
struct Life {
    opened_ns: u64,
    last_frame_ns: Option<u64>,
    /// The longest time between two frames that followed each other.
    longest_gap_ns: u64,
}

impl Session {
    /// A session whose first attempt is due at a random moment of one period from now on, so that
    /// hosts which come together are not called together.
    //= envoy v1.40 source/extensions/load_balancing_policies/common/orca_oob_manager.cc#onHostsAdded
    pub(super) fn new(generation: u32, period_ms: u64, now_ns: u64, random: u64) -> Self {
        Self {
            generation,
            period_ms,
            deadline_ns: Some(after_ms(now_ns, random % period_ms)),
            phase: Phase::Waiting,
            back_off: BackOff::NEW,
        }
    }

    pub(super) fn is_open(&self) -> bool {
        matches!(self.phase, Phase::Open(_))
    }

    /// Whether the session counts: the server is not known to lack the method.
    pub(super) fn is_active(&self) -> bool {
        !matches!(self.phase, Phase::Unimplemented)
    }

    /// The interval to ask the server for.
    pub(super) fn interval(&self) -> Duration {
        Duration::from_millis(self.period_ms)
    }

    /// Opens the stream.
    pub(super) fn open(&mut self, behavior: Behavior, now_ns: u64) {
        let life = Life { opened_ns: now_ns, last_frame_ns: None, longest_gap_ns: 0 };
        self.phase = Phase::Open(life);
        self.arm(behavior, &life, now_ns);
    }

    /// Takes note of a frame of the open stream.
    ///
    /// `envoy-differs:` in native an empty frame is a sign of life like any other, because a report
    /// of an idle server is one; and the back-off starts anew only when frames have come for a
    /// period, so that a server which sends one report and ends the stream is not called in a loop.
    //= envoy v1.40 source/extensions/load_balancing_policies/common/orca_oob_manager.cc#onReport
    pub(super) fn note(&mut self, behavior: Behavior, frame: StreamFrame, now_ns: u64) {
        let Phase::Open(mut life) = self.phase else { return };
        let is_sound = match behavior {
            Behavior::Envoy if frame == StreamFrame::Empty => return,
            Behavior::Envoy => true,
            Behavior::Native => now_ns.saturating_sub(life.opened_ns) >= self.period_ns(),
        };
        if is_sound {
            self.back_off = BackOff::NEW;
        }
        let gap_ns = life.last_frame_ns.map_or(0, |last_ns| now_ns.saturating_sub(last_ns));
        life.longest_gap_ns = life.longest_gap_ns.max(gap_ns);
        life.last_frame_ns = Some(now_ns);
        self.phase = Phase::Open(life);
        self.arm(behavior, &life, now_ns);
    }

    /// Waits for another attempt after the end of a stream.
    ///
    /// `envoy-differs:` in native at least a tenth of a second passes, and a stream that brought
    /// something is not opened again before its next report would have been due.
    //= envoy v1.40 source/extensions/load_balancing_policies/common/orca_oob_manager.cc#handleTransientFailure
    pub(super) fn wait(&mut self, behavior: Behavior, now_ns: u64, random: u64) {
        let drawn_ns = after_ms(now_ns, self.back_off.next_ms(random));
        self.deadline_ns = Some(match behavior {
            Behavior::Envoy => drawn_ns,
            Behavior::Native => drawn_ns
                .max(now_ns.saturating_add(LEAST_DELAY_NS))
                .max(self.next_report_ns().unwrap_or(0)),
        });
        self.phase = Phase::Waiting;
    }

    /// Takes note that the server does not have the method.
    ///
    /// `envoy-differs:` native tries again after half an hour, since servers are upgraded in place.
    //= envoy v1.40 source/extensions/load_balancing_policies/common/orca_oob_manager.cc#handleTerminal
    pub(super) fn rest(&mut self, behavior: Behavior, now_ns: u64) {
        self.deadline_ns = match behavior {
            Behavior::Envoy => None,
            Behavior::Native => Some(now_ns.saturating_add(UNIMPLEMENTED_PAUSE_NS)),
        };
        self.phase = Phase::Unimplemented;
    }

    /// Gives the stream time until it counts as silent.
    ///
    /// `envoy-differs:` native waits longer for a server that is known to report more seldom than
    /// it was asked to, as gRPC's do, and a period longer in any case, so that no report which is
    /// due at the deadline races it.
    fn arm(&mut self, behavior: Behavior, life: &Life, now_ns: u64) {
        let period_ns = self.period_ns();
        let silence_ns = period_ns.saturating_mul(SILENT_PERIODS);
        let silence_ns = match behavior {
            Behavior::Envoy => silence_ns,
            Behavior::Native => {
                let gap_ns = life.longest_gap_ns;
                let seldom_ns = gap_ns.saturating_add(gap_ns / 2);
                silence_ns.max(seldom_ns).saturating_add(period_ns)
            }
        };
        self.deadline_ns = Some(now_ns.saturating_add(silence_ns));
    }

    /// When a stream that brought something would have brought its second report.
    fn next_report_ns(&self) -> Option<u64> {
        let Phase::Open(life) = self.phase else { return None };
        life.last_frame_ns.map(|_| life.opened_ns.saturating_add(self.period_ns()))
    }

    fn period_ns(&self) -> u64 {
        self.period_ms.saturating_mul(NS_PER_MS)
    }
}

fn after_ms(now_ns: u64, delay_ms: u64) -> u64 {
    now_ns.saturating_add(delay_ms.saturating_mul(NS_PER_MS))
}
