//! The end of a second: what it comes to.

use super::super::host::Host;
use super::super::record::{Mean, Second, ZoneSecond};
use super::{HEAD_START, World};

impl World<'_> {
    /// Writes the second down and begins the next one.
    pub(super) fn end_second(&mut self) {
        let (zones, proxies) = (self.present.len(), self.proxies.len());
        let mut second = std::mem::replace(&mut self.second, Second::new(zones, proxies));
        if self.scenario.shows_hosts() {
            let utilization = |host: &Host| host.up.then(|| host.utilization());
            second.hosts = self.hosts.iter().map(utilization).collect();
        }
        self.look_at_hosts(&mut second.zones);
        let places = &self.scenario.zones;
        let zone_of = |name: &str| places.iter().position(|place| place.name == name);
        for (proxy, figures) in self.proxies.iter().zip(&mut second.proxies) {
            figures.routes = proxy.routes(zone_of);
            figures.intended = vec![None; places.len()];
            proxy.shares(|zone, share| {
                if let Some(zone) = zone_of(zone) {
                    *figures.intended[zone].get_or_insert_default() += share;
                }
            });
        }
        self.record.seconds.push(second);
    }

    fn look_at_hosts(&mut self, zones: &mut [ZoneSecond]) {
        let is_warm = self.now_ns > HEAD_START + self.scenario.warm_up.0;
        let mut measured = vec![Mean::default(); zones.len()];
        let hosts = self.hosts.iter_mut().zip(&mut self.record.hosts);
        for (host, mean) in hosts.filter(|(host, _)| self.present[host.zone]) {
            let utilization = host.utilization();
            host.requests = 0;
            if !host.up {
                continue;
            }
            let zone = &mut zones[host.zone];
            zone.capacity += host.capacity;
            zone.busiest = zone.busiest.max(utilization);
            measured[host.zone].add(host.load(self.now_ns).utilization);
            if is_warm {
                mean.add(utilization);
            }
        }
        for (zone, measured) in zones.iter_mut().zip(measured) {
            zone.measured = measured.value().unwrap_or(0.0);
        }
    }
}
