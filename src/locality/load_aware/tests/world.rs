//! Proxies, zones and the reports between them, as expected values: no sockets, no chance.
//!
//! Each proxy is in one zone. A zone's utilization is the traffic that it got over a window, by
//! its capacity. A proxy hears it with its own requests: the fewer, the older is what it knows.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // small numbers

use std::collections::VecDeque;

use super::super::{Zone, envoy, native};
use crate::config::LoadAware;
use crate::host::Locality;
use crate::rng::splitmix64;
use crate::sync::Arc;

/// Requests a second that a host takes.
const HOST_CAPACITY: f64 = 200.0;

/// Seconds of a step.
const STEP: f64 = 0.1;

/// A report older than this does not count.
const EXPIRATION: f64 = 180.0;

/// Whose arithmetic the proxies use.
#[derive(Debug, Clone)]
pub(super) enum Balancer {
    Envoy(envoy::History, envoy::Settings),
    Native(native::Controller, native::Settings),
}

/// How utilization becomes known.
#[derive(Debug, Clone, Copy)]
pub(super) struct Reports {
    /// Over how many seconds hosts average.
    pub(super) window: f64,
    /// They never say more than this.
    pub(super) most: f64,
    /// Requests come by chance, and utilization with them.
    pub(super) noisy: bool,
    /// They report so often on streams, instead of with each response.
    pub(super) stream_period: Option<f64>,
}

/// What a zone does.
#[derive(Debug, Clone)]
pub(super) struct Place {
    identity: Arc<Locality>,
    pub(super) hosts: f64,
    pub(super) is_silent: bool,
    /// Its utilization, as expected, and what it was in the steps of the window.
    pub(super) utilization: f64,
    recent: VecDeque<f64>,
}

/// What a proxy knows of a zone.
#[derive(Debug, Clone, Copy, Default)]
struct Heard {
    utilization: f64,
    age: f64,
    requests: f64,
}

#[derive(Debug, Clone)]
pub(super) struct Proxy {
    pub(super) demand: f64,
    home: usize,
    balancer: Balancer,
    heard: Vec<Heard>,
    pub(super) shares: Vec<f64>,
    spills: bool,
    flips: u32,
    next_tick: f64,
    last_tick: f64,
}

#[derive(Debug, Clone)]
pub(super) struct World {
    time: f64,
    reports: Reports,
    /// How many numbers chance has taken.
    drawn: u64,
    pub(super) places: Vec<Place>,
    pub(super) proxies: Vec<Proxy>,
}

/// What is measured while time passes; the worst of all zones and proxies.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Measured {
    /// The standard deviation of utilization.
    pub(super) deviation: f64,
    pub(super) peak: f64,
    /// The part of all requests that left their zone.
    pub(super) cross: f64,
    /// Changes between keeping traffic and sharing it, a minute.
    pub(super) flips: f64,
}

impl Balancer {
    pub(super) fn envoy(config: &LoadAware) -> Self {
        Self::Envoy(envoy::History::default(), envoy::Settings::new(config))
    }

    pub(super) fn native(config: &LoadAware) -> Self {
        Self::Native(native::Controller::default(), native::Settings::new(config))
    }

    /// The shares of zones, and whether the local one shares its traffic.
    fn tick(&mut self, zones: &[Zone<'_>], elapsed: f64) -> (Vec<f64>, bool) {
        match self {
            Self::Envoy(history, settings) => {
                let outcome = history.tick(zones, true, settings);
                let total: f64 = outcome.weights.iter().sum();
                let shares = outcome.weights.iter().map(|weight| weight / total).collect();
                (shares, outcome.flags.spill_active)
            }
            Self::Native(controller, settings) => {
                let split = controller.tick(zones, true, (elapsed * 1e9) as u64, settings);
                let part = |&share: &u64| share as f64 / crate::locality::WHOLE as f64;
                (split.shares.iter().map(part).collect(), split.flags.spill_active)
            }
        }
    }

    /// What of a report it keeps.
    fn most(&self) -> f64 {
        if matches!(self, Self::Envoy(..)) { 1.0 } else { f64::INFINITY }
    }
}

impl World {
    /// Zones with so many hosts, and a proxy in each of the first of them, with its requests a
    /// second.
    pub(super) fn new(
        balancer: &Balancer,
        hosts: &[f64],
        demands: &[f64],
        reports: Reports,
    ) -> Self {
        let place = |(index, &hosts): (usize, &f64)| Place {
            identity: Arc::new(Locality::new("", format!("{index:02}"), "")),
            hosts,
            is_silent: false,
            utilization: 0.0,
            recent: VecDeque::new(),
        };
        let proxy = |(home, &demand): (usize, &f64)| Proxy {
            demand,
            home: home % hosts.len(),
            balancer: balancer.clone(),
            heard: vec![Heard::default(); hosts.len()],
            shares: Vec::new(),
            spills: false,
            flips: 0,
            next_tick: 1.0 + 0.3 * home as f64,
            last_tick: 0.0,
        };
        let mut world = Self {
            time: 0.0,
            reports,
            drawn: 0,
            places: hosts.iter().enumerate().map(place).collect(),
            proxies: demands.iter().enumerate().map(proxy).collect(),
        };
        for proxy in &mut world.proxies {
            proxy.tick(&world.places, 0.0);
        }
        world
    }

    /// Lets so many seconds pass.
    pub(super) fn run(&mut self, seconds: f64) -> Measured {
        let steps = (seconds / STEP).round();
        let mut measured = Measured::default();
        let mut moments = vec![(0.0, 0.0); self.places.len()];
        self.proxies.iter_mut().for_each(|proxy| proxy.flips = 0);
        for _ in 0..steps as usize {
            self.step();
            measured.cross += self.cross() / steps;
            for (place, (mean, square)) in self.places.iter().zip(&mut moments) {
                *mean += place.utilization / steps;
                *square += place.utilization * place.utilization / steps;
                measured.peak = measured.peak.max(place.utilization);
            }
        }
        for (mean, square) in moments {
            measured.deviation = measured.deviation.max((square - mean * mean).max(0.0).sqrt());
        }
        let flips = self.proxies.iter().map(|proxy| proxy.flips).max().unwrap();
        measured.flips = f64::from(flips) * 60.0 / seconds;
        measured
    }

    fn step(&mut self) {
        self.time += STEP;
        for (index, place) in self.places.iter_mut().enumerate() {
            let load = self.proxies.iter().map(|proxy| proxy.demand * proxy.shares[index]).sum();
            let chance = if self.reports.noisy { normal(&mut self.drawn) } else { 0.0 };
            place.take(load, chance, (self.reports.window / STEP).round() as usize);
        }
        for proxy in &mut self.proxies {
            proxy.hear(&self.places, self.reports);
            if self.time + STEP / 2.0 > proxy.next_tick {
                proxy.next_tick += 1.0;
                proxy.tick(&self.places, self.time);
            }
        }
    }

    fn cross(&self) -> f64 {
        let all: f64 = self.proxies.iter().map(|proxy| proxy.demand).sum();
        let away = |proxy: &Proxy| proxy.demand * (1.0 - proxy.shares[proxy.home]);
        self.proxies.iter().map(away).sum::<f64>() / all
    }
}

impl Place {
    /// Takes `load` requests a second for a step; `chance` is how many standard deviations more came.
    fn take(&mut self, load: f64, chance: f64, window: usize) {
        let capacity = self.hosts.max(1.0) * HOST_CAPACITY;
        let came = (load + chance * (load / STEP).sqrt()).max(0.0);
        self.utilization = load / capacity;
        self.recent.push_back(came / capacity);
        if self.recent.len() > window {
            self.recent.pop_front();
        }
    }

    fn reported(&self) -> f64 {
        self.recent.iter().sum::<f64>() / self.recent.len() as f64
    }
}

impl Proxy {
    /// Hosts answer with what they report. In a step, each has answered with this probability.
    fn hear(&mut self, places: &[Place], reports: Reports) {
        for (index, place) in places.iter().enumerate() {
            let heard = &mut self.heard[index];
            heard.age += STEP;
            let requests = self.demand * self.shares[index] * STEP;
            if place.is_silent || place.hosts <= 0.0 {
                continue;
            }
            let is_first = heard.requests < 1.0;
            heard.requests += if reports.stream_period.is_some() { 1.0 } else { requests };
            let answered = match reports.stream_period {
                _ if heard.requests < 1.0 => 0.0,
                _ if is_first => 1.0,
                Some(period) => f64::from(u8::from(heard.age > period)),
                None => 1.0 - (-requests / place.hosts).exp(),
            };
            let reported = place.reported().min(reports.most).min(self.balancer.most());
            heard.utilization += answered * (reported - heard.utilization);
            heard.age *= 1.0 - answered;
        }
    }

    fn tick(&mut self, places: &[Place], now: f64) {
        let others = (0..places.len()).filter(|&index| index != self.home);
        let order: Vec<usize> = std::iter::once(self.home).chain(others).collect();
        let zone = |&index: &usize| {
            let (place, heard) = (&places[index], self.heard[index]);
            let is_valid = heard.requests >= 1.0 && heard.age <= EXPIRATION;
            let reporting = if is_valid { place.hosts } else { 0.0 };
            Zone {
                identity: &place.identity,
                hosts: place.hosts.max(1.0) as u32,
                eligible: place.hosts as u32,
                weight: place.hosts,
                reporting: reporting as u32,
                utilizations: heard.utilization * reporting,
                age_ns: (heard.age * 1e9) as u64,
            }
        };
        let zones: Vec<Zone<'_>> = order.iter().map(zone).collect();
        let (shares, spills) = self.balancer.tick(&zones, now - self.last_tick);
        self.last_tick = now;
        self.shares.resize(places.len(), 0.0);
        for (index, share) in order.into_iter().zip(shares) {
            self.shares[index] = share;
        }
        self.flips += u32::from(spills != self.spills);
        self.spills = spills;
    }
}

/// Nearly a standard normal number: twelve uniform ones, added up.
fn normal(drawn: &mut u64) -> f64 {
    let mut uniform = || {
        *drawn += 1;
        splitmix64(*drawn) as f64 / u64::MAX as f64
    };
    (0..12).map(|_| uniform()).sum::<f64>() - 6.0
}
