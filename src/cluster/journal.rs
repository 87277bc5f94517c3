//! What control calls leave to be said: see [`log`](crate::log).
//!
//! A journal compares what it saw last with what is there now, so that the code which changes
//! things need not know that somebody listens. There is none unless somebody does.

use super::control::Control;
use crate::config::ClusterConfig;
use crate::error::Error;
use crate::log::{Budget, LogLevel, LogSink, Note};
use crate::policy::{Counter, Counts};
use crate::priority::Tally;
use crate::sync::Arc;

/// What a message is about; each kind has a budget of its own.
#[derive(Debug, Clone, Copy)]
enum Kind {
    Settings,
    Snapshot,
    Panic,
    Refused,
    NoHost,
    Reports,
    Done,
    Streams,
}

const KINDS: usize = Kind::Streams as usize + 1;

/// What was seen last, and what is to be said.
#[derive(Debug)]
pub(super) struct Journal {
    sink: LogSink,
    budgets: [Budget; KINDS],
    config: Arc<ClusterConfig>,
    version: u64,
    panic: Vec<bool>,
    counts: Counts,
    stream_failures: u64,
    notes: Vec<Note>,
}

/// The counters of reports that were of no use, in words.
const USELESS: [(Counter, &str); 5] = [
    (Counter::ReportsUnreadable, "unreadable"),
    (Counter::ReportsWithoutQps, "without requests per second"),
    (Counter::ReportsWithoutUtilization, "without utilization"),
    (Counter::ReportsNotFinite, "with numbers that are none"),
    (
        Counter::ReportsIgnored,
        "of hosts that are gone, beside a stream, or with a policy that wants none",
    ),
];

impl Journal {
    /// The journal of a new cluster.
    pub(super) fn open(sink: LogSink, control: &Control) -> Self {
        let now_ns = control.model.now_ns;
        let mut journal = Self {
            sink,
            budgets: [Budget::new(now_ns); KINDS],
            config: Arc::clone(control.config()),
            version: control.version(),
            panic: vec![false; control.panic().len()],
            counts: Counts::default(),
            stream_failures: 0,
            notes: Vec::new(),
        };
        let text = || format!("opened with {}", hosts(control));
        journal.note(Kind::Settings, LogLevel::Info, now_ns, text);
        journal.note_panic(control);
        journal
    }

    /// Takes note of what a control call did, or why it was refused, and gives what is to be said.
    pub(super) fn notes(&mut self, control: &Control, refused: Option<&Error>) -> Vec<Note> {
        let now_ns = control.model.now_ns;
        // A report is a host's, not the caller's, and is counted.
        if let Some(error) = refused
            && !matches!(error, Error::ReportRejected { .. })
        {
            let text = || match (error.field(), error.to_string()) {
                (field, why) if why.contains(field) => format!("refused: {why}"),
                (field, why) => format!("refused: {field}: {why}"),
            };
            self.note(Kind::Refused, LogLevel::Warning, now_ns, text);
        }
        if !Arc::ptr_eq(&self.config, control.config()) {
            self.config = Arc::clone(control.config());
            let text = || "the settings were replaced".to_owned();
            self.note(Kind::Settings, LogLevel::Info, now_ns, text);
        }
        if self.version != control.version() {
            self.version = control.version();
            let text = || format!("snapshot {}: {}", control.version(), hosts(control));
            self.note(Kind::Snapshot, LogLevel::Debug, now_ns, text);
            self.note_panic(control);
        }
        std::mem::take(&mut self.notes)
    }

    fn note_panic(&mut self, control: &Control) {
        let panic = control.panic();
        self.panic.resize(panic.len(), false);
        for (priority, tally) in control.model.tallies().into_iter().enumerate() {
            if self.panic[priority] == panic[priority] {
                continue;
            }
            self.panic[priority] = panic[priority];
            let now_ns = control.model.now_ns;
            let available = tally.healthy + tally.degraded;
            if panic[priority] {
                let text = || {
                    let total = tally.hosts;
                    format!(
                        "priority {priority} is in panic: {available} of {total} hosts are available"
                    )
                };
                self.note(Kind::Panic, LogLevel::Warning, now_ns, text);
            } else {
                let text = || format!("priority {priority} is out of panic");
                self.note(Kind::Panic, LogLevel::Info, now_ns, text);
            }
        }
    }

    /// Takes note of what workers and streams have counted since the last time.
    pub(super) fn note_counts(&mut self, counts: Counts, stream_failures: u64, now_ns: u64) {
        let before = std::mem::replace(&mut self.counts, counts);
        let since =
            |counter: Counter| counts[counter as usize].saturating_sub(before[counter as usize]);
        let failed = stream_failures.saturating_sub(self.stream_failures);
        self.stream_failures = stream_failures;
        let warning = LogLevel::Warning;
        let picks = since(Counter::NoneHealthy);
        if picks > 0 {
            let text = || format!("no host for {picks} picks");
            self.note(Kind::NoHost, warning, now_ns, text);
        }
        let useless = USELESS.map(|(counter, what)| (since(counter), what));
        if useless.iter().any(|(count, _)| *count > 0) {
            let text = || {
                let parts = useless.iter().filter(|(count, _)| *count > 0);
                let parts: Vec<String> =
                    parts.map(|(count, what)| format!("{count} {what}")).collect();
                format!("load reports that were not taken in: {}", parts.join(", "))
            };
            self.note(Kind::Reports, warning, now_ns, text);
        }
        let stale = since(Counter::DoneStale);
        if stale > 0 {
            let text =
                || format!("{stale} requests were ended that were not active: a caller's mistake");
            self.note(Kind::Done, warning, now_ns, text);
        }
        if failed > 0 {
            let text = || format!("{failed} streams of load reports failed");
            self.note(Kind::Streams, warning, now_ns, text);
        }
    }

    fn note(&mut self, kind: Kind, level: LogLevel, now_ns: u64, text: impl FnOnce() -> String) {
        if !self.sink.wants(level) {
            return;
        }
        let Some(left_out) = self.budgets[kind as usize].take(now_ns) else { return };
        let mut text = text();
        if left_out > 0 {
            text += &format!(" ({left_out} messages of this kind were left out before)");
        }
        self.notes.push(Note { level, text });
    }
}

/// The hosts of all priorities, in words.
fn hosts(control: &Control) -> String {
    let mut sum = Tally::default();
    control.model.tallies().into_iter().for_each(|tally| sum += tally);
    let Tally { hosts, healthy, degraded, excluded, .. } = sum;
    format!("{hosts} hosts: {healthy} healthy, {degraded} degraded, {excluded} excluded")
}
