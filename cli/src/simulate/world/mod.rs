//! The world of a scenario, second by second: hosts, proxies, and time.

mod changes;
mod requests;
mod seconds;

use std::collections::HashMap;

use plimsoll::config::{Assignment, Behavior, ClusterConfig, Endpoint, LocalityEndpoints};
use plimsoll::{Cluster, Error, LocalCluster, Locality, Options};

use super::agenda::{Agenda, Due};
use super::event::Change;
use super::host::Host;
use super::proxy::{Proxy, Setup};
use super::random::{Purpose, Random};
use super::record::{Mean, Record, Second};
use super::scenario::{self, Scenario};
use super::units::{SECOND, Time};

/// Proxies start within this time before the scenario, each at another moment, so that their
/// control loops do not run in step.
const HEAD_START: u64 = SECOND;

/// See the module. Times are nanoseconds since `HEAD_START` before the scenario.
#[derive(Debug)]
pub(crate) struct World<'s> {
    scenario: &'s Scenario,
    agenda: Agenda,
    now_ns: u64,
    /// By index of the zone: it is in the assignment; its hosts do not report.
    present: Vec<bool>,
    silent: Vec<bool>,
    hosts: Vec<Host>,
    by_address: HashMap<String, usize>,
    proxies: Vec<Proxy>,
    arrivals: Vec<Random>,
    service: Vec<Random>,
    second: Second,
    record: Record,
}

impl<'s> World<'s> {
    /// Runs a scenario to its end.
    ///
    /// # Errors
    ///
    /// What the engine refuses.
    pub(crate) fn run(scenario: &'s Scenario, behavior: Behavior) -> Result<Record, Error> {
        let mut world = Self::new(scenario, behavior)?;
        let end_ns = HEAD_START + scenario.duration.0;
        while let Some((at_ns, due)) = world.agenda.next() {
            world.now_ns = at_ns;
            world.happen(due)?;
            if at_ns == end_ns && due == Due::Second {
                break;
            }
        }
        Ok(world.record)
    }

    fn new(scenario: &'s Scenario, behavior: Behavior) -> Result<Self, Error> {
        let hosts = hosts(scenario);
        let by_address =
            hosts.iter().enumerate().map(|(index, host)| (host.address.clone(), index)).collect();
        let streams = |purpose| {
            let stream = |number| Random::new(scenario.seed, purpose, number);
            (0..scenario.proxies.len()).map(stream).collect()
        };
        let mut world = Self {
            scenario,
            agenda: Agenda::default(),
            now_ns: 0,
            present: scenario.zones.iter().map(|zone| zone.at_start).collect(),
            silent: vec![false; scenario.zones.len()],
            record: Record { hosts: vec![Mean::default(); hosts.len()], ..Record::default() },
            hosts,
            by_address,
            proxies: Vec::new(),
            arrivals: streams(Purpose::Arrivals),
            service: streams(Purpose::Service),
            second: Second::new(scenario.zones.len(), scenario.proxies.len()),
        };
        world.start_proxies(behavior)?;
        world.plan();
        Ok(world)
    }

    fn start_proxies(&mut self, behavior: Behavior) -> Result<(), Error> {
        let assignment = self.assignment();
        let local_cluster = local_cluster(self.scenario)?;
        for (index, proxy) in self.scenario.proxies.iter().enumerate() {
            let setup = Setup {
                config: ClusterConfig { behavior, ..self.scenario.cluster.clone() },
                node: locality(&self.scenario.zones[proxy.zone].name),
                local_cluster: local_cluster.clone(),
                seed: Random::new(self.scenario.seed, Purpose::Engine, index).word(),
            };
            let start = Random::new(self.scenario.seed, Purpose::Start, index).word() % HEAD_START;
            self.proxies.push(Proxy::start(setup, start, &assignment)?);
            self.agenda.add(start, Due::Tick { proxy: index, plan: 0 });
        }
        Ok(())
    }

    /// Plans what is known from the start.
    fn plan(&mut self) {
        let Scenario { duration, events, reports, .. } = self.scenario;
        (1..=duration.0 / SECOND)
            .for_each(|second| self.agenda.add(HEAD_START + second * SECOND, Due::Second));
        for (index, event) in events.iter().enumerate() {
            self.agenda.add(HEAD_START + event.at.0, Due::Event(index));
            if let Change::HostsDown { noticed_after, .. } = event.change {
                let at = event.at.0.saturating_add(noticed_after.0);
                self.agenda.add(HEAD_START.saturating_add(at), Due::Notice(index));
            }
        }
        for proxy in 0..self.proxies.len() {
            let first = self.distance(proxy, true);
            self.plan_request(proxy, 0.0, first);
            let Some(Time(period)) = reports.out_of_band else { continue };
            for host in 0..self.hosts.len() {
                let at = HEAD_START + self.service[proxy].word() % period;
                self.agenda.add(at, Due::Send { proxy, host });
            }
        }
    }

    fn happen(&mut self, due: Due) -> Result<(), Error> {
        match due {
            Due::Second => self.end_second(),
            Due::Event(index) => self.change(&self.scenario.events[index].change)?,
            Due::Notice(index) => self.notice(&self.scenario.events[index].change)?,
            Due::Request { proxy } => self.request(proxy),
            Due::End(request) => self.end(request),
            Due::Report { proxy, host, load } => {
                self.proxies[proxy].report(&self.hosts[host].address, load, self.now_ns);
            }
            Due::Send { proxy, host } => self.send(proxy, host),
            Due::Tick { proxy, plan } => {
                if plan == self.proxies[proxy].plan {
                    let next = self.proxies[proxy].tick(self.now_ns)?;
                    self.agenda.add(next, Due::Tick { proxy, plan });
                }
            }
        }
        Ok(())
    }

    /// The zones that are there, as the control plane would send them.
    fn assignment(&self) -> Assignment {
        let zones = self.scenario.zones.iter();
        let has_hosts: Vec<bool> = zones.map(|place| !place.capacities.is_empty()).collect();
        let present = (0..has_hosts.len()).filter(|&zone| self.present[zone] && has_hosts[zone]);
        let group = |zone: usize| {
            let place = &self.scenario.zones[zone];
            let hosts = self.hosts.iter().filter(|host| host.zone == zone);
            LocalityEndpoints {
                locality: locality(&place.name),
                priority: place.priority,
                load_balancing_weight: place.weight,
                endpoints: hosts.map(|host| Endpoint::new(host.address.as_str())).collect(),
            }
        };
        Assignment { endpoints: present.map(group).collect(), ..Assignment::default() }
    }
}

/// The hosts of all zones, in their order.
fn hosts(scenario: &Scenario) -> Vec<Host> {
    let zones = scenario.zones.iter().enumerate();
    let places = zones.flat_map(|(zone, place)| place.capacities.iter().map(move |it| (zone, *it)));
    let host = |(address, (zone, capacity))| Host::new(address, zone, capacity, &scenario.reports);
    scenario.host_names().into_iter().zip(places).map(host).collect()
}

/// The proxies as a cluster of their own, if they are to know of each other.
fn local_cluster(scenario: &Scenario) -> Result<Option<LocalCluster>, Error> {
    if !scenario.local_cluster {
        return Ok(None);
    }
    let group = |proxy: &scenario::Proxy| LocalityEndpoints {
        locality: locality(&scenario.zones[proxy.zone].name),
        endpoints: vec![Endpoint::new(proxy.name.as_str())],
        ..LocalityEndpoints::default()
    };
    let endpoints = scenario.proxies.iter().map(group).collect();
    let assignment = Assignment { endpoints, ..Assignment::default() };
    let proxies = Cluster::open(ClusterConfig::new("proxies"), &assignment, Options::default())?;
    Ok(Some(proxies.as_local_cluster()))
}

/// Zones are all of one region.
fn locality(zone: &str) -> Locality {
    Locality::new("", zone, "")
}
