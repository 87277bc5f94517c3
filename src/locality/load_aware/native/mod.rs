//! The damped controller: shares that follow the load in small steps, and settle.
//!
//! envoy-differs: the local share is a state that moves by a part of what is needed, not a choice
//! between everything and a split by headroom; remote shares follow utilizations smoothed for
//! longer; what is unknown is assumed to be average, what is old fades to average, what is above 1
//! keeps its magnitude; probes go by the age of samples; steps go by elapsed time; capacity is the
//! weight of hosts; and membership counts at once.
//!
//! # Invariants
//!
//! * Shares sum to [`WHOLE`](crate::locality::WHOLE), or are all 0 if no host is eligible.
//! * A locality without eligible hosts has 0; one with a probe has at least 1.
//! * [`Controller::split`] changes nothing: what it says depends on the ticks and its arguments.

mod division;
mod estimate;
mod law;

use super::{Flags, Zone};
use crate::config::LoadAware;
use crate::host::Locality;
use crate::sync::Arc;
use estimate::{Belief, Estimates};
use law::{Comparison, Law};

/// The period of report streams when the configured one is 0, in seconds.
const DEFAULT_STREAM_PERIOD: f64 = 10.0;

/// A locality with less left of itself than this has nothing left.
const NOTHING_LEFT: f64 = 1e-3;

/// Less than this is not worth the name of a probe.
const NEGLIGIBLE: f64 = 1e-6;

/// What a tick goes by besides the hosts. Times are seconds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Settings {
    time_constant: f64,
    threshold: f64,
    probe: f64,
    /// How fast what was known of a locality without reports fades; infinite if nothing expires.
    expiration: f64,
    /// The period of report streams, if hosts are asked to open some.
    stream_period: Option<f64>,
}

impl Settings {
    pub(crate) fn new(config: &LoadAware) -> Self {
        let or = |period: f64, default: f64| if period > 0.0 { period } else { default };
        let expiration = config.weight_expiration_period.as_secs_f64();
        let period = or(config.oob_reporting_period.as_secs_f64(), DEFAULT_STREAM_PERIOD);
        Self {
            time_constant: config.smoothing_time_constant.as_secs_f64(),
            threshold: config.utilization_variance_threshold,
            probe: config.remote_probe_fraction,
            expiration: or(expiration, f64::INFINITY),
            stream_period: config.enable_oob_load_report.then_some(period),
        }
    }
}

/// How the local locality stands to the others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Mode {
    /// Nothing is compared: no local locality has eligible hosts, or no other has.
    #[default]
    Spread,
    /// It keeps its traffic, except probes.
    Local,
    /// It shares its traffic with the others.
    Spill,
}

/// What is thought of one locality.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub(crate) struct ZoneFigures {
    /// The utilization that counts: smoothed, and as far as it is not known, assumed.
    pub(crate) utilization: f64,
    /// How far it is known: 1 with reports, less and less after the last has expired, 0 without.
    pub(crate) confidence: f64,
}

/// How the traffic divides, by locality in the order of the input where there are several.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Split {
    /// Parts of [`WHOLE`](crate::locality::WHOLE).
    pub(crate) shares: Box<[u64]>,
    pub(crate) zones: Box<[ZoneFigures]>,
    pub(crate) mode: Mode,
    pub(crate) flags: Flags,
    /// Localities that go by what they reported once.
    pub(crate) stale: u64,
}

/// What the ticks of one priority and source left.
#[derive(Debug, Clone, Default)]
pub(crate) struct Controller {
    estimates: Estimates,
    /// The law of the locality that was compared last.
    local: Option<(Arc<Locality>, Law)>,
}

impl Controller {
    /// A tick, `elapsed_ns` after the one before; for the first it does not matter. How late ticks
    /// are, or how many come at once, changes what they do as much as it changes the time between.
    pub(crate) fn tick(
        &mut self,
        zones: &[Zone<'_>],
        has_local: bool,
        elapsed_ns: u64,
        settings: &Settings,
    ) -> Split {
        let elapsed = seconds(elapsed_ns);
        self.estimates.observe(zones, elapsed, settings);
        let beliefs = self.estimates.beliefs(zones, settings);
        if let Some((local, remotes)) = compared(&beliefs, has_local) {
            let law = match self.law_of(zones[0].identity) {
                None => Law::new(local, remotes),
                Some(mut law) => {
                    law.tick(&Comparison::new(local, remotes), elapsed, settings);
                    law
                }
            };
            self.local = Some((Arc::clone(zones[0].identity), law));
        }
        self.divide(zones, &beliefs, has_local, settings)
    }

    /// The shares after a change of membership or health, between ticks. What was reported since
    /// the last tick does not count yet, except that a locality reports at all.
    pub(crate) fn split(&self, zones: &[Zone<'_>], has_local: bool, settings: &Settings) -> Split {
        let beliefs = self.estimates.beliefs(zones, settings);
        self.divide(zones, &beliefs, has_local, settings)
    }

    /// The law of this local locality, if it was the one compared last.
    fn law_of(&self, identity: &Arc<Locality>) -> Option<Law> {
        let known = self.local.as_ref().filter(|(before, _)| before == identity);
        known.map(|&(_, law)| law)
    }

    fn divide(
        &self,
        zones: &[Zone<'_>],
        beliefs: &[Belief],
        has_local: bool,
        settings: &Settings,
    ) -> Split {
        let (shares, mode) = match compared(beliefs, has_local) {
            None => (spread(beliefs, settings), Mode::Spread),
            Some((local, remotes)) => {
                let law = self.law_of(zones[0].identity);
                let law = law.unwrap_or_else(|| Law::new(local, remotes));
                let share = law.at_capacity(&Comparison::new(local, remotes), settings);
                (spill(share, remotes, settings), law.mode())
            }
        };
        let is_stale = |zone: &&Zone<'_>| {
            zone.hosts > 0 && zone.reporting == 0 && self.estimates.has(zone.identity)
        };
        let figures = |belief: &Belief| {
            let &Belief { utilization, confidence, .. } = belief;
            ZoneFigures { utilization, confidence }
        };
        Split {
            flags: flags(beliefs, &shares, mode, settings),
            shares: division::whole(&shares),
            zones: beliefs.iter().map(figures).collect(),
            mode,
            stale: zones.iter().filter(is_stale).map(|_| 1).sum(),
        }
    }
}

/// The local locality and the others, if there are eligible hosts on both sides.
fn compared(beliefs: &[Belief], has_local: bool) -> Option<(&Belief, &[Belief])> {
    let (local, remotes) = beliefs.split_first().filter(|_| has_local)?;
    let comparable = local.capacity > 0.0 && remotes.iter().any(|remote| remote.capacity > 0.0);
    comparable.then_some((local, remotes))
}

/// Without a comparison all localities are alike.
fn spread(beliefs: &[Belief], settings: &Settings) -> Vec<f64> {
    let mut shares = division::probes(beliefs, settings);
    let rest = 1.0 - shares.iter().sum::<f64>();
    division::add(&mut shares, rest, &division::attractions(beliefs));
    shares
}

/// The local locality gets `share`, or what probes leave of it, and the others the rest.
fn spill(share: f64, remotes: &[Belief], settings: &Settings) -> Vec<f64> {
    let mut shares = division::probes(remotes, settings);
    let probes: f64 = shares.iter().sum();
    let share = share.min(1.0 - probes);
    division::add(&mut shares, 1.0 - share - probes, &division::attractions(remotes));
    shares.insert(0, share);
    shares
}

fn flags(beliefs: &[Belief], shares: &[f64], mode: Mode, settings: &Settings) -> Flags {
    let mut eligible = beliefs.iter().filter(|belief| belief.capacity > 0.0).peekable();
    let is_full = |belief: &Belief| 1.0 - belief.utilization < NOTHING_LEFT;
    let leaves = shares.iter().skip(1).sum::<f64>() > NEGLIGIBLE;
    Flags {
        all_overloaded: eligible.peek().is_some() && eligible.all(is_full),
        local_preferred: mode == Mode::Local,
        all_local: mode == Mode::Local && !leaves,
        probe_active: mode == Mode::Local && leaves && settings.probe > 0.0,
        spill_active: mode == Mode::Spill,
    }
}

#[allow(clippy::cast_precision_loss)] // far less than what a tick is off anyway
fn seconds(ns: u64) -> f64 {
    ns as f64 / 1e9
}
