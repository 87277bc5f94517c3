//! What both behaviours are tested with: localities written as text.

mod bound;
mod closed_loop;
mod envoy;
mod naive;
mod native;
mod world;

use super::Zone;
use crate::host::Locality;
use crate::sync::Arc;

/// A locality, and what its hosts report.
#[derive(Debug, Clone)]
struct Place {
    identity: Arc<Locality>,
    hosts: u32,
    eligible: u32,
    /// Of the eligible hosts that have a valid report, in order.
    reports: Vec<f64>,
    age_ns: u64,
}

impl Place {
    fn new(name: &str, hosts: u32, eligible: u32, reports: Vec<f64>) -> Self {
        let identity = Arc::new(Locality::new("r", name, ""));
        Self { identity, hosts, eligible, reports, age_ns: 0 }
    }

    /// `b:2/3=.5` are 3 hosts, of which 2 are eligible and report .5; both numbers are the same
    /// without the second, and nothing is reported without the last.
    fn read(text: &str) -> Self {
        let (name, rest) = text.split_once(':').expect(text);
        let (counts, utilization) = match rest.split_once('=') {
            Some((counts, utilization)) => (counts, Some(utilization.parse().expect(text))),
            None => (rest, None),
        };
        let (eligible, hosts) = counts.split_once('/').unwrap_or((counts, counts));
        let (eligible, hosts) = (eligible.parse().expect(text), hosts.parse().expect(text));
        let reports = utilization.map_or_else(Vec::new, |value| vec![value; eligible as usize]);
        Self::new(name, hosts, eligible, reports)
    }

    fn zone(&self) -> Zone<'_> {
        Zone {
            identity: &self.identity,
            hosts: self.hosts,
            eligible: self.eligible,
            weight: f64::from(self.eligible),
            reporting: u32::try_from(self.reports.len()).unwrap(),
            utilizations: self.reports.iter().fold(0.0, |sum, report| sum + report),
            age_ns: self.age_ns,
        }
    }
}

fn read(text: &str) -> Vec<Place> {
    text.split_whitespace().map(Place::read).collect()
}

fn zones(places: &[Place]) -> Vec<Zone<'_>> {
    places.iter().map(Place::zone).collect()
}
