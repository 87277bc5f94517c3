//! Requests, from a client to a host and back, and what hosts report.

use super::super::agenda::{Due, Request};
use super::super::host::Host;
use super::super::units::{SECOND, Time};
use super::super::written::Arrivals;
use super::{HEAD_START, World};

impl World<'_> {
    /// The simulation's time in seconds of the scenario.
    fn seconds(&self) -> f64 {
        Time(self.now_ns - HEAD_START).seconds()
    }

    /// Plans the request that comes when this much more has come since `from`, in seconds.
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "hours at most")]
    pub(super) fn plan_request(&mut self, proxy: usize, from: f64, more: f64) {
        let demand = &self.scenario.proxies[proxy].demand;
        if let Some(at) = demand.after(from, more)
            && at < self.scenario.duration.seconds()
        {
            let at_ns = HEAD_START + (at * SECOND as f64) as u64;
            self.agenda.add(at_ns.max(self.now_ns), Due::Request { proxy });
        }
    }

    /// How much comes before the next request, in requests. The first ones of several proxies do
    /// not come at the same moment.
    pub(super) fn distance(&mut self, proxy: usize, first: bool) -> f64 {
        match self.scenario.requests.arrivals {
            Arrivals::Poisson => self.arrivals[proxy].exponential(),
            Arrivals::Steady if first => self.arrivals[proxy].fraction(),
            Arrivals::Steady => 1.0,
        }
    }

    /// A request comes to a proxy, which sends it to a host.
    pub(super) fn request(&mut self, proxy: usize) {
        let more = self.distance(proxy, false);
        self.plan_request(proxy, self.seconds(), more);
        self.record.arrived += 1;
        let picked = self.proxies[proxy].pick(self.now_ns);
        let address = |pick| Some((pick, self.proxies[proxy].address(pick)?));
        let Some((pick, address)) = picked.ok().and_then(address) else {
            self.second.proxies[proxy].no_host += 1;
            return;
        };
        let host = self.by_address[address];
        let served = self.serve(proxy, host);
        let life = self.proxies[proxy].life;
        let request = Request { proxy, life, host, pick, served };
        match self.latency(proxy) {
            0 => self.end(request),
            latency => self.agenda.add(self.now_ns + latency, Due::End(request)),
        }
    }

    /// A request at its host.
    fn serve(&mut self, proxy: usize, host: usize) -> bool {
        let host = &mut self.hosts[host];
        let zone = &mut self.second.zones[host.zone];
        self.second.proxies[proxy].requests[host.zone] += 1;
        if !host.up {
            zone.failed += 1;
            return false;
        }
        zone.requests += 1;
        zone.overload += u32::from(!host.serve(self.now_ns));
        true
    }

    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "minutes at most")]
    #[expect(clippy::cast_precision_loss, reason = "minutes at most")]
    fn latency(&mut self, proxy: usize) -> u64 {
        match self.scenario.requests.latency {
            Time(0) => 0,
            Time(mean) => (self.service[proxy].exponential() * mean as f64) as u64,
        }
    }

    /// A request ends; its response says how busy its host is.
    pub(super) fn end(&mut self, request: Request) {
        let Request { proxy, life, host, pick, served } = request;
        if self.proxies[proxy].life != life {
            // It went down with its proxy.
            return;
        }
        let reports = self.scenario.reports;
        if served && reports.out_of_band.is_none() && self.is_heard(proxy, host) {
            let load = self.hosts[host].load(self.now_ns);
            match reports.delay {
                Time(0) => self.proxies[proxy].response(pick, load, self.now_ns),
                Time(delay) => {
                    self.agenda.add(self.now_ns + delay, Due::Report { proxy, host, load });
                }
            }
        }
        self.proxies[proxy].done(pick, served);
    }

    /// A host's report out of band, and the plan of its next one.
    pub(super) fn send(&mut self, proxy: usize, host: usize) {
        let reports = self.scenario.reports;
        let Some(Time(period)) = reports.out_of_band else { return };
        self.agenda.add(self.now_ns + period, Due::Send { proxy, host });
        if self.present[self.hosts[host].zone] && self.is_heard(proxy, host) {
            let load = self.hosts[host].load(self.now_ns);
            self.agenda.add(self.now_ns + reports.delay.0, Due::Report { proxy, host, load });
        }
    }

    /// Whether a report of this host gets to this proxy now.
    fn is_heard(&mut self, proxy: usize, host: usize) -> bool {
        let Host { up, zone, .. } = self.hosts[host];
        up && !self.silent[zone] && !self.service[proxy].happens(self.scenario.reports.loss)
    }
}
