//! What happens to hosts, zones and proxies.

use plimsoll::Error;

use super::super::agenda::Due;
use super::super::event::Change;
use super::super::host::Host;
use super::World;

impl World<'_> {
    /// Something happens.
    pub(super) fn change(&mut self, change: &Change) -> Result<(), Error> {
        match *change {
            Change::HostsDown { zone, hosts, .. } => {
                for host in self.some_of(zone, hosts, |host| host.up) {
                    self.hosts[host].up = false;
                }
            }
            Change::HostsUp { zone, hosts } => self.come_back(zone, hosts)?,
            Change::AddZone(zone) => self.set_present(zone, true)?,
            Change::RemoveZone(zone) => self.set_present(zone, false)?,
            Change::Silence { zone, silent } => self.silent[zone] = silent,
            Change::Restart(proxy) => self.restart(proxy)?,
            Change::NewWorker(proxy) => self.proxies[proxy].renew_worker()?,
            Change::Stall { proxy, lasts } => {
                let until = self.now_ns.saturating_add(lasts.0);
                self.each(proxy).into_iter().for_each(|proxy| self.proxies[proxy].stall(until));
            }
            Change::ClockJump { proxy, by } => {
                for proxy in self.each(proxy) {
                    self.proxies[proxy].leap(by.0);
                    self.plan_tick(proxy);
                }
            }
        }
        Ok(())
    }

    /// The proxies notice which hosts of a zone are down.
    pub(super) fn notice(&mut self, change: &Change) -> Result<(), Error> {
        let Change::HostsDown { zone, .. } = *change else { return Ok(()) };
        let down = self.some_of(zone, None, |host| !host.up && !host.ejected);
        self.set_ejected(&down, true)
    }

    fn come_back(&mut self, zone: usize, hosts: Option<u32>) -> Result<(), Error> {
        let back = self.some_of(zone, hosts, |host| !host.up);
        back.iter().for_each(|&host| self.hosts[host].restart());
        let ejected: Vec<usize> =
            back.into_iter().filter(|&host| self.hosts[host].ejected).collect();
        self.set_ejected(&ejected, false)
    }

    fn set_ejected(&mut self, hosts: &[usize], ejected: bool) -> Result<(), Error> {
        for &host in hosts {
            self.hosts[host].ejected = ejected;
        }
        let addresses = self.present_addresses(hosts);
        self.proxies.iter().try_for_each(|proxy| proxy.eject(&addresses, ejected))
    }

    fn set_present(&mut self, zone: usize, present: bool) -> Result<(), Error> {
        self.present[zone] = present;
        let assignment = self.assignment();
        self.proxies.iter().try_for_each(|proxy| proxy.assign(&assignment))?;
        if present {
            // Those that went down before they came.
            let ejected = self.some_of(zone, None, |host| host.ejected);
            self.set_ejected(&ejected, true)?;
        }
        Ok(())
    }

    fn restart(&mut self, proxy: usize) -> Result<(), Error> {
        let assignment = self.assignment();
        self.proxies[proxy].restart(self.now_ns, &assignment)?;
        let ejected: Vec<usize> =
            (0..self.hosts.len()).filter(|&host| self.hosts[host].ejected).collect();
        self.proxies[proxy].eject(&self.present_addresses(&ejected), true)?;
        self.plan_tick(proxy);
        Ok(())
    }

    /// Lets a proxy's control loop run now, and forget when it meant to.
    fn plan_tick(&mut self, proxy: usize) {
        self.proxies[proxy].plan += 1;
        let plan = self.proxies[proxy].plan;
        self.agenda.add(self.now_ns, Due::Tick { proxy, plan });
    }

    fn each(&self, proxy: Option<usize>) -> Vec<usize> {
        proxy.map_or_else(|| (0..self.proxies.len()).collect(), |proxy| vec![proxy])
    }

    /// So many hosts of a zone, or all, of those that are so.
    fn some_of(&self, zone: usize, hosts: Option<u32>, is_so: fn(&Host) -> bool) -> Vec<usize> {
        let of_zone = |&host: &usize| self.hosts[host].zone == zone && is_so(&self.hosts[host]);
        let most = hosts.map_or(usize::MAX, |hosts| hosts as usize);
        (0..self.hosts.len()).filter(of_zone).take(most).collect()
    }

    /// The addresses of those that the proxies know.
    fn present_addresses(&self, hosts: &[usize]) -> Vec<&str> {
        let hosts = hosts.iter().map(|&host| &self.hosts[host]);
        hosts.filter(|host| self.present[host.zone]).map(|host| host.address.as_str()).collect()
    }
}
