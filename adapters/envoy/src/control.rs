//! Our own thread, one for each configuration: applies hosts and ticks, so that no thread of Envoy's
//! waits for a control call.

use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Weak};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::clock::now_ns;
use crate::engine::Engine;
use crate::guard::guard;
use crate::log;
use crate::metrics::Metrics;

/// Ticks are at most so far apart.
const PERIOD: Duration = Duration::from_millis(100);
/// Envoy 1.39 shows an update one priority after the other. So long we wait for the rest.
const BATCH: Duration = Duration::from_millis(2);

/// What the thread is told.
enum Message {
    /// Look after one more engine, as long as it lives.
    Engine(Weak<Engine>),
    /// An engine has hosts in its inbox.
    Hosts,
}

/// The handle of the thread; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Control {
    /// `None` only while it is being dropped.
    messages: Option<Sender<Message>>,
    thread: Option<JoinHandle<()>>,
}

impl Control {
    /// Starts the thread. `waits` says that Envoy cuts updates into pieces.
    pub(crate) fn start(metrics: Arc<Metrics>, waits: bool) -> std::io::Result<Self> {
        let (messages, inbox) = channel();
        let thread = std::thread::Builder::new()
            .name("plimsoll".to_owned())
            .spawn(move || run(&inbox, &metrics, waits))?;
        Ok(Self { messages: Some(messages), thread: Some(thread) })
    }

    /// None at all, for an Envoy that only checks its configuration.
    pub(crate) fn idle() -> Self {
        Self { messages: None, thread: None }
    }

    pub(crate) fn look_after(&self, engine: &Arc<Engine>) {
        self.send(Message::Engine(Arc::downgrade(engine)));
    }

    pub(crate) fn hosts_changed(&self) {
        self.send(Message::Hosts);
    }

    fn send(&self, message: Message) {
        // The other end is there as long as this is.
        let _ = self.messages.as_ref().map(|messages| messages.send(message));
    }
}

impl Drop for Control {
    fn drop(&mut self) {
        drop(self.messages.take());
        if let Some(thread) = self.thread.take()
            && thread.join().is_err()
        {
            log::error("the control thread ended by a panic");
        }
    }
}

fn run(inbox: &Receiver<Message>, metrics: &Metrics, waits: bool) {
    let mut engines: Vec<Weak<Engine>> = Vec::new();
    loop {
        let mut next = match inbox.recv_timeout(wait(&engines)) {
            Ok(message) => Some(message),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        if waits && matches!(next, Some(Message::Hosts)) {
            std::thread::sleep(BATCH);
        }
        while let Some(message) = next {
            if let Message::Engine(engine) = message {
                engines.push(engine);
            }
            next = inbox.try_recv().ok();
        }
        engines.retain(|engine| engine.strong_count() > 0);
        for engine in engines.iter().filter_map(Weak::upgrade) {
            guard("the control thread", (), || engine.work(now_ns()));
        }
        metrics.add_panics();
    }
}

/// How long until the next tick is due. Never nothing: a tick that stays due is not to become a loop.
fn wait(engines: &[Weak<Engine>]) -> Duration {
    let engines = engines.iter().filter_map(Weak::upgrade);
    let next_ns = engines.filter_map(|engine| engine.next_ns()).min();
    let until = |next_ns: u64| Duration::from_nanos(next_ns.saturating_sub(now_ns()));
    next_ns.map_or(PERIOD, until).clamp(Duration::from_millis(1), PERIOD)
}
