//! Many streams: what the source asks for is done, and what arrives is passed on.
//!
//! # Invariants
//!
//! * All calls of the source are made by the one task that runs the driver.
//! * A host has at most one stream. What comes of an earlier one after that was closed or replaced
//!   is dropped: each stream has a number, which its events carry.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use plimsoll::{StreamEnd, StreamHost};
use tokio::sync::mpsc;
use tokio::task::{AbortHandle, JoinSet};
use tokio::time::MissedTickBehavior;

use crate::stream::{Receiver, Target, stream_core_metrics};

/// How many events may wait for the driver; streams wait when there are more.
const WAITING_EVENTS: usize = 1024;

/// How often the source is asked if nobody says otherwise.
const TICK: Duration = Duration::from_millis(50);

/// What a source asks for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Action {
    /// Open a stream, in place of the one that the host may still have.
    Open {
        /// The host.
        id: StreamHost,
        /// Where it goes.
        target: Target,
        /// The interval to ask the server for.
        interval: Duration,
    },
    /// Close the stream of a host at once. Nothing more is heard of it.
    Close {
        /// The host.
        id: StreamHost,
    },
}

/// Who wants streams. Calls come one at a time and must not wait; `now_ns` is the time of the
/// driver's clock.
pub trait Source {
    /// What is to be done now, in this order.
    fn poll(&self, now_ns: u64) -> Vec<Action>;

    /// A report has come: the bytes of an [`OrcaLoadReport`](crate::OrcaLoadReport), which are none
    /// if everything in it is 0. If they are no report, the source asks to close the stream.
    fn report(&self, id: StreamHost, report: &[u8], now_ns: u64);

    /// A stream has ended that was not closed on request.
    fn ended(&self, id: StreamHost, end: StreamEnd, now_ns: u64);
}

impl<S: Source + ?Sized> Source for Arc<S> {
    fn poll(&self, now_ns: u64) -> Vec<Action> {
        (**self).poll(now_ns)
    }

    fn report(&self, id: StreamHost, report: &[u8], now_ns: u64) {
        (**self).report(id, report, now_ns);
    }

    fn ended(&self, id: StreamHost, end: StreamEnd, now_ns: u64) {
        (**self).ended(id, end, now_ns);
    }
}

/// Carries out what a source asks for.
///
/// ```
/// # use plimsoll::{StreamEnd, StreamHost};
/// # use plimsoll_orca_oob::{Action, Source};
/// # struct Nobody;
/// # impl Source for Nobody {
/// #     fn poll(&self, _: u64) -> Vec<Action> { vec![] }
/// #     fn report(&self, _: StreamHost, _: &[u8], _: u64) {}
/// #     fn ended(&self, _: StreamHost, _: StreamEnd, _: u64) {}
/// # }
/// # #[tokio::main(flavor = "current_thread")]
/// # async fn main() {
/// use plimsoll_orca_oob::Driver;
/// use tokio::time::Instant;
///
/// # let source = Nobody;
/// let start = Instant::now();
/// let clock = move || u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX);
/// let driver = tokio::spawn(Driver::new(source, clock).run());
/// // ... and at the end, which closes all streams:
/// driver.abort();
/// # }
/// ```
#[derive(Debug)]
pub struct Driver<S, C> {
    source: S,
    clock: C,
    tick: Duration,
    streams: HashMap<StreamHost, Stream>,
    opened: u64,
    tasks: JoinSet<()>,
    sender: mpsc::Sender<Message>,
    inbox: mpsc::Receiver<Message>,
}

/// A stream that runs.
#[derive(Debug)]
struct Stream {
    number: u64,
    task: AbortHandle,
}

/// What a stream has brought.
#[derive(Debug)]
struct Message {
    id: StreamHost,
    number: u64,
    event: Event,
}

#[derive(Debug)]
enum Event {
    Report(Bytes),
    End(StreamEnd),
}

impl<S: Source, C: Fn() -> u64> Driver<S, C> {
    /// A driver of no streams yet. `clock` gives the nanoseconds that the source counts in.
    pub fn new(source: S, clock: C) -> Self {
        let (sender, inbox) = mpsc::channel(WAITING_EVENTS);
        let (streams, tasks) = (HashMap::new(), JoinSet::new());
        Self { source, clock, tick: TICK, streams, opened: 0, tasks, sender, inbox }
    }

    /// Asks the source every `tick`, 50 ms if not set; at least 1 ms. What is due waits so long.
    #[must_use]
    pub fn tick(mut self, tick: Duration) -> Self {
        self.tick = tick.max(Duration::from_millis(1));
        self
    }

    /// Runs for ever. Dropping the future closes all streams.
    pub async fn run(mut self) -> Infallible {
        let mut ticks = tokio::time::interval(self.tick);
        ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                Some(message) = self.inbox.recv() => self.pass_on(message),
                // Frees what is kept of tasks that are over.
                Some(_) = self.tasks.join_next() => {}
                _ = ticks.tick() => self.act(),
            }
        }
    }

    /// Passes on what has arrived, so that no stream is taken for silent whose report waits here,
    /// and does what is due.
    fn act(&mut self) {
        for _ in 0..WAITING_EVENTS {
            let Ok(message) = self.inbox.try_recv() else { break };
            self.pass_on(message);
        }
        for action in self.source.poll((self.clock)()) {
            match action {
                Action::Open { id, target, interval } => self.open(id, target, interval),
                Action::Close { id } => self.close(id),
            }
        }
    }

    fn open(&mut self, id: StreamHost, target: Target, interval: Duration) {
        self.close(id);
        self.opened += 1;
        let number = self.opened;
        let mut forward = Forward { id, number, sender: self.sender.clone() };
        let task = self.tasks.spawn(async move {
            stream_core_metrics(&target, interval, &mut forward).await;
        });
        self.streams.insert(id, Stream { number, task });
    }

    fn close(&mut self, id: StreamHost) {
        if let Some(stream) = self.streams.remove(&id) {
            stream.task.abort();
        }
    }

    fn pass_on(&mut self, message: Message) {
        let Message { id, number, event } = message;
        if self.streams.get(&id).is_none_or(|stream| stream.number != number) {
            return;
        }
        let now_ns = (self.clock)();
        match event {
            Event::Report(report) => self.source.report(id, &report, now_ns),
            Event::End(end) => {
                self.streams.remove(&id);
                self.source.ended(id, end, now_ns);
            }
        }
    }
}

/// The receiver of one stream.
struct Forward {
    id: StreamHost,
    number: u64,
    sender: mpsc::Sender<Message>,
}

impl Forward {
    async fn send(&self, event: Event) {
        let message = Message { id: self.id, number: self.number, event };
        // It fails when the driver is gone, which aborts this task.
        let _ = self.sender.send(message).await;
    }
}

impl Receiver for Forward {
    async fn on_report(&mut self, report: Bytes) {
        self.send(Event::Report(report)).await;
    }

    async fn on_empty(&mut self) {
        self.send(Event::Report(Bytes::new())).await;
    }

    async fn on_end(&mut self, end: StreamEnd) {
        self.send(Event::End(end)).await;
    }
}
