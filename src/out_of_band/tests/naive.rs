//! An oracle that keeps what happened and works out everything else each time it is asked: which
//! deadlines there are, by a look at every host, and how long each is, from the frames so far.

use super::super::{StreamAction, StreamEnd, StreamFrame, StreamHost, StreamStats};
use crate::config::Behavior;
use std::time::Duration;

const MS: u64 = 1_000_000;

/// The oracle.
pub(super) struct Naive {
    behavior: Behavior,
    hosts: Vec<Host>,
    closing: Vec<StreamAction>,
    stats: StreamStats,
}

struct Host {
    id: StreamHost,
    period_ms: u64,
    state: State,
    /// Ends since the back-off was new.
    failures: usize,
}

enum State {
    Until(u64),
    Open { at: u64, frames: Vec<(u64, StreamFrame)> },
    Never,
    Resting(u64),
}

impl Host {
    fn period(&self) -> u64 {
        self.period_ms.saturating_mul(MS)
    }

    fn deadline(&self, behavior: Behavior) -> Option<u64> {
        let period = self.period();
        match &self.state {
            State::Never => None,
            &State::Until(time) | &State::Resting(time) => Some(time),
            State::Open { at, frames } if behavior == Behavior::Envoy => {
                let full = frames.iter().rfind(|(_, frame)| *frame != StreamFrame::Empty);
                let last = full.map_or(*at, |&(time, _)| time);
                Some(last.saturating_add(period.saturating_mul(3)))
            }
            State::Open { at, frames } => {
                let last = frames.last().map_or(*at, |&(time, _)| time);
                let gaps = frames.windows(2).map(|pair| pair[1].0.saturating_sub(pair[0].0));
                let gap = gaps.max().unwrap_or(0);
                let silence = period.saturating_mul(3).max(gap.saturating_add(gap / 2));
                Some(last.saturating_add(silence.saturating_add(period)))
            }
        }
    }

    fn wait(&mut self, behavior: Behavior, now: u64, random: u64) {
        let bounds = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000];
        let mut time = now.saturating_add(random % bounds[self.failures.min(5)] * MS);
        self.failures += 1;
        if behavior == Behavior::Native {
            time = time.max(now.saturating_add(100 * MS));
            if let State::Open { at, frames } = &self.state
                && !frames.is_empty()
            {
                time = time.max(at.saturating_add(self.period()));
            }
        }
        self.state = State::Until(time);
    }

    fn is_active(&self) -> bool {
        matches!(self.state, State::Until(_) | State::Open { .. })
    }
}

impl Naive {
    pub(super) fn new(behavior: Behavior) -> Self {
        let stats = StreamStats::default();
        Self { behavior, hosts: Vec::new(), closing: Vec::new(), stats }
    }

    pub(super) fn want(
        &mut self,
        id: StreamHost,
        periods_ms: &[u64],
        now: u64,
        draw: &mut impl FnMut() -> u64,
    ) {
        let periods = periods_ms.iter().map(|&ms| if ms == 0 { 10_000 } else { ms });
        let Some(period_ms) = periods.min() else { return self.forget(id) };
        if self.hosts.iter().any(|host| host.id == id && host.period_ms == period_ms) {
            return;
        }
        self.hosts
            .iter()
            .map(|host| host.id)
            .filter(|old| old.slot == id.slot)
            .collect::<Vec<_>>()
            .into_iter()
            .for_each(|old| self.forget(old));
        let state = State::Until(now.saturating_add((draw() % period_ms).saturating_mul(MS)));
        self.hosts.push(Host { id, period_ms, state, failures: 0 });
    }

    pub(super) fn forget(&mut self, id: StreamHost) {
        let Some(index) = self.hosts.iter().position(|host| host.id == id) else { return };
        if let State::Open { .. } = self.hosts.remove(index).state {
            self.closing.push(StreamAction::Close { host: id });
        }
    }

    /// The host, if it has an open stream.
    fn open(&mut self, id: StreamHost) -> Option<&mut Host> {
        let is_open = |host: &&mut Host| matches!(host.state, State::Open { .. });
        self.hosts.iter_mut().find(|host| host.id == id).filter(is_open)
    }

    pub(super) fn frame(
        &mut self,
        id: StreamHost,
        frame: StreamFrame,
        now: u64,
        draw: &mut impl FnMut() -> u64,
    ) {
        let behavior = self.behavior;
        let Some(host) = self.open(id) else { return };
        if frame == StreamFrame::Malformed {
            self.closing.push(StreamAction::Close { host: id });
            return self.ended(id, StreamEnd::Broken, now, draw);
        }
        let period = host.period();
        if let State::Open { at, frames } = &mut host.state {
            frames.push((now, frame));
            let is_sound = match behavior {
                Behavior::Envoy => frame != StreamFrame::Empty,
                Behavior::Native => now.saturating_sub(*at) >= period,
            };
            host.failures = if is_sound { 0 } else { host.failures };
        }
        self.stats.reports_received += u64::from(frame != StreamFrame::Empty);
        self.stats.report_errors += u64::from(frame == StreamFrame::Refused);
    }

    pub(super) fn ended(
        &mut self,
        id: StreamHost,
        end: StreamEnd,
        now: u64,
        draw: &mut impl FnMut() -> u64,
    ) {
        let behavior = self.behavior;
        let Some(host) = self.open(id) else { return };
        if [StreamEnd::Unimplemented, StreamEnd::Status(12)].contains(&end) {
            host.state = match behavior {
                Behavior::Envoy => State::Never,
                Behavior::Native => State::Resting(now.saturating_add(1_800_000 * MS)),
            };
            self.stats.stream_terminated += 1;
        } else {
            host.wait(behavior, now, draw());
            self.stats.stream_failures += 1;
        }
    }

    pub(super) fn poll(&mut self, now: u64, draw: &mut impl FnMut() -> u64) -> Vec<StreamAction> {
        let mut actions = std::mem::take(&mut self.closing);
        let behavior = self.behavior;
        let mut due: Vec<_> = self
            .hosts
            .iter_mut()
            .filter_map(|host| Some((host.deadline(behavior)?, host)))
            .filter(|(deadline, _)| *deadline <= now)
            .collect();
        due.sort_by_key(|(deadline, host)| (*deadline, host.id.slot));
        for (_, host) in due {
            if let State::Open { .. } = host.state {
                host.wait(behavior, now, draw());
                self.stats.stream_failures += 1;
                actions.push(StreamAction::Close { host: host.id });
            } else {
                host.state = State::Open { at: now, frames: Vec::new() };
                let interval = Duration::from_millis(host.period_ms);
                actions.push(StreamAction::Open { host: host.id, interval });
            }
        }
        actions
    }

    pub(super) fn next_deadline(&self) -> Option<u64> {
        let closing = self.closing.first().map(|_| 0);
        closing.or(self.hosts.iter().filter_map(|host| host.deadline(self.behavior)).min())
    }

    pub(super) fn stats(&self) -> StreamStats {
        let active = self.hosts.iter().filter(|host| host.is_active()).count();
        StreamStats { active_sessions: active as u64, ..self.stats }
    }
}
