//! What happens besides requests: hosts and zones that come and go, silence, restarts, stalls.

use std::fmt;

use super::scenario::{Place, Proxy, within};
use super::text::Mistake;
use super::units::Time;
use super::written::{ClockJump, HostsDown, HostsUp, Stall, WrittenEvent, Zone};

/// Something that happens at a time.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Event {
    pub(crate) at: Time,
    pub(crate) change: Change,
}

/// What happens; zones and proxies by their index.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Change {
    HostsDown {
        zone: usize,
        hosts: Option<u32>,
        noticed_after: Time,
    },
    HostsUp {
        zone: usize,
        hosts: Option<u32>,
    },
    AddZone(usize),
    RemoveZone(usize),
    /// Its hosts stop to report, or report again.
    Silence {
        zone: usize,
        silent: bool,
    },
    /// A new cluster, which knows nothing.
    Restart(usize),
    NewWorker(usize),
    Stall {
        proxy: Option<usize>,
        lasts: Time,
    },
    ClockJump {
        proxy: Option<usize>,
        by: Time,
    },
}

/// What events may name.
pub(crate) struct Names<'a> {
    pub(crate) zones: &'a [Place],
    pub(crate) proxies: &'a [Proxy],
    pub(crate) duration: Time,
}

/// The zones that events add, and where they stand.
pub(crate) fn added_zones(events: &[WrittenEvent]) -> impl Iterator<Item = (String, &Zone)> {
    let field = |index| format!("events[{index}].add_zone");
    let events = events.iter().enumerate();
    events.filter_map(move |(index, event)| Some((field(index), event.add_zone.as_ref()?)))
}

/// The events in the order of their time.
pub(crate) fn events(written: &[WrittenEvent], names: &Names<'_>) -> Result<Vec<Event>, Mistake> {
    let checked = written.iter().enumerate().map(|(index, event)| {
        self::event(event, names).map_err(|mistake| within(&format!("events[{index}]"), mistake))
    });
    let mut events = checked.collect::<Result<Vec<_>, _>>()?;
    events.sort_by_key(|event| event.at);
    Ok(events)
}

fn event(written: &WrittenEvent, names: &Names<'_>) -> Result<Event, Mistake> {
    if written.at >= names.duration {
        return Err(Mistake::new("at", "after the end of the scenario"));
    }
    let changes = changes(written, names)?;
    match <[Change; 1]>::try_from(changes) {
        Ok([change]) => Ok(Event { at: written.at, change }),
        Err(changes) if changes.is_empty() => Err(Mistake::new("", "nothing happens")),
        Err(_) => {
            Err(Mistake::new("", "one thing happens at a time; more need events of their own"))
        }
    }
}

/// All that an event says.
fn changes(written: &WrittenEvent, names: &Names<'_>) -> Result<Vec<Change>, Mistake> {
    let mut changes = Vec::new();
    if let Some(HostsDown { zone, hosts, noticed_after }) = &written.hosts_down {
        let zone = names.zone("hosts_down.zone", zone)?;
        let (hosts, noticed_after) = (*hosts, *noticed_after);
        changes.push(Change::HostsDown { zone, hosts, noticed_after });
    }
    if let Some(HostsUp { zone, hosts }) = &written.hosts_up {
        let zone = names.zone("hosts_up.zone", zone)?;
        changes.push(Change::HostsUp { zone, hosts: *hosts });
    }
    if let Some(zone) = &written.add_zone {
        changes.push(Change::AddZone(names.zone("add_zone.name", &zone.name)?));
    }
    if let Some(zone) = &written.remove_zone {
        changes.push(Change::RemoveZone(names.zone("remove_zone", zone)?));
    }
    for (field, zone, silent) in
        [("silence", &written.silence, true), ("end_silence", &written.end_silence, false)]
    {
        if let Some(zone) = zone {
            changes.push(Change::Silence { zone: names.zone(field, zone)?, silent });
        }
    }
    of_proxies(written, names, &mut changes)?;
    Ok(changes)
}

fn of_proxies(
    written: &WrittenEvent,
    names: &Names<'_>,
    changes: &mut Vec<Change>,
) -> Result<(), Mistake> {
    if let Some(proxy) = &written.restart {
        changes.push(Change::Restart(names.proxy("restart", proxy)?));
    }
    if let Some(proxy) = &written.new_worker {
        changes.push(Change::NewWorker(names.proxy("new_worker", proxy)?));
    }
    if let Some(Stall { proxy, lasts }) = &written.stall {
        let proxy = proxy.as_ref().map(|proxy| names.proxy("stall.proxy", proxy)).transpose()?;
        changes.push(Change::Stall { proxy, lasts: *lasts });
    }
    if let Some(ClockJump { proxy, by }) = &written.clock_jump {
        let proxy =
            proxy.as_ref().map(|proxy| names.proxy("clock_jump.proxy", proxy)).transpose()?;
        changes.push(Change::ClockJump { proxy, by: *by });
    }
    Ok(())
}

impl Names<'_> {
    fn zone(&self, field: &str, name: &str) -> Result<usize, Mistake> {
        find(field, "zone", self.zones.iter().map(|zone| &zone.name), name)
    }

    fn proxy(&self, field: &str, name: &str) -> Result<usize, Mistake> {
        find(field, "proxy", self.proxies.iter().map(|proxy| &proxy.name), name)
    }
}

/// The index of what has this name.
pub(super) fn find<'a>(
    field: &str,
    kind: &str,
    mut names: impl Iterator<Item = &'a String>,
    name: &str,
) -> Result<usize, Mistake> {
    let found = names.position(|known| known == name);
    found.ok_or_else(|| Mistake::new(field, format_args!("there is no {kind} {name:?}")))
}

/// What happens, in words.
pub(crate) struct InWords<'a> {
    pub(crate) change: &'a Change,
    pub(crate) zones: &'a [Place],
    pub(crate) proxies: &'a [Proxy],
}

impl fmt::Display for InWords<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let zone = |zone: usize| self.zones[zone].name.as_str();
        let proxy = |proxy: usize| self.proxies[proxy].name.as_str();
        let who = |proxy: &Option<usize>| match proxy {
            Some(proxy) => self.proxies[*proxy].name.as_str(),
            None => "all proxies",
        };
        let number = |hosts: &Option<u32>| match hosts {
            Some(1) => "1 host".to_owned(),
            Some(hosts) => format!("{hosts} hosts"),
            None => "all hosts".to_owned(),
        };
        match self.change {
            Change::HostsDown { zone: at, hosts, noticed_after } => {
                write!(f, "{} of zone {} go down", number(hosts), zone(*at))?;
                let Time(after) = noticed_after;
                if *after > 0 { write!(f, ", noticed after {noticed_after}") } else { Ok(()) }
            }
            Change::HostsUp { zone: at, hosts } => {
                write!(f, "{} of zone {} come back", number(hosts), zone(*at))
            }
            Change::AddZone(added) => write!(f, "zone {} is added", zone(*added)),
            Change::RemoveZone(removed) => write!(f, "zone {} is removed", zone(*removed)),
            Change::Silence { zone: at, silent: true } => {
                write!(f, "zone {} stops to report", zone(*at))
            }
            Change::Silence { zone: at, .. } => write!(f, "zone {} reports again", zone(*at)),
            Change::Restart(at) => write!(f, "{} restarts", proxy(*at)),
            Change::NewWorker(at) => write!(f, "{} gets a new worker", proxy(*at)),
            Change::Stall { proxy, lasts } => {
                write!(f, "the control loop of {} stalls for {lasts}", who(proxy))
            }
            Change::ClockJump { proxy, by } => {
                write!(f, "the clock of {} leaps by {by}", who(proxy))
            }
        }
    }
}
