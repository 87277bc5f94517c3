//! One configuration of the policy: what all threads of Envoy share for it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::ThreadId;

use crate::clock::now_ns;
use crate::config::Settings;
use crate::control::Control;
use crate::engine::Engine;
use crate::host::MetricHost;
use crate::log;
use crate::metrics::Metrics;
use crate::succession;

/// How Envoy runs us.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Environment {
    /// Envoy only checks its configuration.
    pub(crate) is_validating: bool,
    /// Envoy shows an update of several priorities as one (1.40).
    pub(crate) has_batches: bool,
}

/// See the module.
#[derive(Debug)]
pub(crate) struct Policy {
    pub(crate) settings: Settings,
    pub(crate) metrics: Arc<Metrics>,
    control: Control,
    /// The engine that the threads share.
    engine: OnceLock<Option<Arc<Engine>>>,
    /// The thread that made this one: the main thread, whose view of the hosts counts.
    main: ThreadId,
    /// Envoy makes several instances for one thread, so that none of them sees the whole cluster.
    is_split: AtomicBool,
}

impl Policy {
    /// Reads the configuration; what is wrong with it is logged.
    pub(crate) fn open(
        name: &str,
        text: &[u8],
        metrics: Box<dyn MetricHost>,
        environment: Environment,
    ) -> Option<Self> {
        let settings = match Settings::read(name, text) {
            Ok(settings) => settings,
            Err(error) => {
                log::error(&format!("the configuration is refused: {error}"));
                return None;
            }
        };
        let Some(metrics) = Metrics::define(metrics).map(Arc::new) else {
            log::error("the configuration is refused: Envoy does not take its metrics");
            return None;
        };
        let control = if environment.is_validating {
            Control::idle()
        } else {
            match Control::start(Arc::clone(&metrics), !environment.has_batches) {
                Ok(control) => control,
                Err(error) => {
                    log::error(&format!("the control thread cannot be started: {error}"));
                    return None;
                }
            }
        };
        Some(Self {
            settings,
            metrics,
            control,
            engine: OnceLock::new(),
            main: std::thread::current().id(),
            is_split: AtomicBool::new(false),
        })
    }

    pub(crate) fn is_main_thread(&self) -> bool {
        std::thread::current().id() == self.main
    }

    /// The engine that the threads share, opened by the first that asks.
    pub(crate) fn shared_engine(&self, cluster: &str) -> Option<Arc<Engine>> {
        self.engine.get_or_init(|| self.open_engine(cluster, true)).clone()
    }

    /// An engine for one instance alone.
    pub(crate) fn own_engine(&self, cluster: &str) -> Option<Arc<Engine>> {
        self.open_engine(cluster, false)
    }

    fn open_engine(&self, cluster: &str, is_shared: bool) -> Option<Arc<Engine>> {
        match Engine::open(&self.settings, cluster, is_shared, now_ns()) {
            Ok(engine) => {
                let engine = Arc::new(engine);
                if is_shared {
                    succession::register(cluster, &engine);
                }
                self.control.look_after(&engine);
                Some(engine)
            }
            Err(error) => {
                let field = error.field();
                log::error(&format!("cluster {cluster} cannot be opened: {field}: {error}"));
                None
            }
        }
    }

    /// The shared engine has hosts in its inbox.
    pub(crate) fn hosts_changed(&self) {
        self.control.hosts_changed();
    }

    /// Takes note that instances do not see the whole cluster.
    pub(crate) fn split(&self) {
        // No edge: each instance that sees it makes an engine of its own; nothing is passed on.
        self.is_split.store(true, Ordering::Relaxed);
    }

    pub(crate) fn is_split(&self) -> bool {
        // No edge: see `split`.
        self.is_split.load(Ordering::Relaxed)
    }
}
