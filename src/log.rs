//! What a cluster tells its operator in words.
//!
//! The engine installs no logger and knows none: whoever opens a cluster may hand a function in.
//! Messages arise in control calls and are handed over at their end, on the same thread and after
//! all locks are released, so that the function may call back. Picks, reports and the ends of
//! requests say nothing; what they met is summed up by the next tick. A kind of message comes at most
//! [`BURST`] times at once and then once a second of the cluster's clock; the next one says how many
//! were left out.

use std::fmt;

use crate::sync::Arc;

/// How much a message matters; a lower one matters more.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum LogLevel {
    /// The library failed: a control call panicked.
    Error = 1,
    /// Traffic may not go where it should: panic, picks without a host, reports that are of no use,
    /// calls that were refused.
    Warning = 2,
    /// What an operator did: the cluster was opened, its settings were replaced; and ends of trouble.
    Info = 3,
    /// Every new snapshot.
    Debug = 4,
}

type Write = dyn Fn(LogLevel, &str) + Send + Sync;

/// Where the messages of a cluster go, for [`Options::log`](crate::Options::log).
///
/// The function is called by control calls, on their thread, with no lock held; never by a worker.
/// It may make any call of the cluster but should be quick, and must not panic.
///
/// ```
/// # use plimsoll::config::{Assignment, ClusterConfig};
/// use plimsoll::{Cluster, LogLevel, LogSink, Options};
///
/// let log = LogSink::new(LogLevel::Info, |level, text| eprintln!("{level:?}: {text}"));
/// let options = Options { log: Some(log), ..Options::default() };
/// let cluster = Cluster::open(ClusterConfig::new("api"), &Assignment::default(), options)?;
/// # Ok::<(), plimsoll::Error>(())
/// ```
#[derive(Clone)]
pub struct LogSink {
    level: LogLevel,
    write: Arc<Write>,
}

impl LogSink {
    /// A sink for messages of this level and those that matter more.
    pub fn new(level: LogLevel, write: impl Fn(LogLevel, &str) + Send + Sync + 'static) -> Self {
        Self { level, write: Arc::new(write) }
    }

    pub(crate) fn wants(&self, level: LogLevel) -> bool {
        level <= self.level
    }

    /// Hands a message over, if it is wanted.
    pub(crate) fn send(&self, note: &Note) {
        if self.wants(note.level) {
            (self.write)(note.level, &note.text);
        }
    }
}

impl fmt::Debug for LogSink {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("LogSink").field("level", &self.level).finish_non_exhaustive()
    }
}

/// Two sinks are the same if they are copies of one.
impl PartialEq for LogSink {
    fn eq(&self, other: &Self) -> bool {
        self.level == other.level && Arc::ptr_eq(&self.write, &other.write)
    }
}

/// A message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Note {
    pub(crate) level: LogLevel,
    pub(crate) text: String,
}

/// How many messages of a kind may come at once.
const BURST: u32 = 10;
/// How long until one more may come.
const REFILL_NS: u64 = 1_000_000_000;

/// How many messages of one kind may still come.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Budget {
    left: u32,
    /// Up to when it was refilled.
    filled_ns: u64,
    left_out: u64,
}

impl Budget {
    pub(crate) fn new(now_ns: u64) -> Self {
        Self { left: BURST, filled_ns: now_ns, left_out: 0 }
    }

    /// Whether a message may come now, and then how many before it were left out.
    pub(crate) fn take(&mut self, now_ns: u64) -> Option<u64> {
        let refills = now_ns.saturating_sub(self.filled_ns) / REFILL_NS;
        self.filled_ns += refills * REFILL_NS;
        let refills = u32::try_from(refills).unwrap_or(BURST);
        self.left = self.left.saturating_add(refills).min(BURST);
        if self.left == 0 {
            self.left_out += 1;
            return None;
        }
        self.left -= 1;
        Some(std::mem::take(&mut self.left_out))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: u64 = 1_000_000_000;

    #[test]
    fn a_burst_passes_then_one_a_second_and_what_was_left_out_is_counted() {
        let mut budget = Budget::new(5);
        for _ in 0..BURST {
            assert_eq!(budget.take(5), Some(0));
        }
        assert_eq!(budget.take(5), None);
        assert_eq!(budget.take(SECOND + 4), None);
        assert_eq!(budget.take(SECOND + 5), Some(2));
        assert_eq!(budget.take(SECOND + 5), None);
    }

    #[test]
    fn a_long_silence_saves_up_no_more_than_a_burst() {
        let mut budget = Budget::new(0);
        let taken = (0..100).filter(|_| budget.take(u64::MAX).is_some()).count();
        assert_eq!(taken, BURST as usize);
    }

    #[test]
    fn levels_are_ordered_by_how_much_they_matter() {
        let sink = LogSink::new(LogLevel::Warning, |_, _| ());
        assert!(sink.wants(LogLevel::Error) && sink.wants(LogLevel::Warning));
        assert!(!sink.wants(LogLevel::Info) && !sink.wants(LogLevel::Debug));
        assert_eq!(sink, sink.clone());
        assert_ne!(sink, LogSink::new(LogLevel::Warning, |_, _| ()));
    }
}
