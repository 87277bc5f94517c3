//! What a person should know about a cluster and might not see in the tables.

use plimsoll::config::{Behavior, LocalityRouting};
use plimsoll::{CoarseHealth, HealthFlags, HostView, PriorityView, View};

/// More hosts than this are not named in one note.
const NAMED: usize = 3;

/// The notes, the most important first.
pub(super) fn notes(view: &View) -> Vec<String> {
    let mut notes = Vec::new();
    let hosts = view.hosts();
    if hosts.is_empty() {
        return vec!["The cluster has no hosts: every request fails.".to_owned()];
    }
    notes.extend(first_checks(view, &hosts));
    for (index, priority) in view.priorities().enumerate() {
        notes.extend(panic(view, index, &priority));
    }
    notes.extend(without_traffic(view, &hosts));
    notes.extend(lost(&hosts));
    notes.extend(locality_weights(view));
    notes
}

/// Hosts that are checked actively start failed, which says nothing about them.
fn first_checks(view: &View, hosts: &[HostView<'_>]) -> Option<String> {
    let waits = |host: &HostView<'_>| host.host.health().intersects(HealthFlags::FAILED_ACTIVE_HC);
    let waiting = view.config().active_health_checks && hosts.iter().all(waits);
    waiting.then(|| {
        "The cluster has health checks, so hosts start failed until their first check passes. \
         See it after that with --health '*=pass'."
            .to_owned()
    })
}

fn panic(view: &View, index: usize, priority: &PriorityView<'_>) -> Option<String> {
    let tally = priority.tally;
    let considered = tally.hosts - tally.excluded;
    let gets_traffic = priority.healthy_load + priority.degraded_load > 0.0;
    if !priority.panic || !gets_traffic {
        return None;
    }
    let available = tally.healthy + tally.degraded;
    let threshold = view.config().healthy_panic_threshold;
    let consequence = match view.config().behavior {
        _ if view.config().fail_traffic_on_panic => {
            "its requests fail, because fail_traffic_on_panic is set"
        }
        Behavior::Native => {
            "it sends to all its hosts whatever their health checks say, except those that the \
             control plane took out"
        }
        Behavior::Envoy => "it sends to all its hosts whatever their health",
    };
    let excluded = match tally.excluded {
        0 => String::new(),
        excluded => format!(" ({excluded} excluded)"),
    };
    Some(format!(
        "Priority {index} is in panic: {available} of {considered} hosts{excluded} are available, \
         less than {threshold} %; {consequence}."
    ))
}

/// Hosts that get nothing, by reason, in the order in which the reasons appear.
fn without_traffic(view: &View, hosts: &[HostView<'_>]) -> Vec<String> {
    let priorities: Vec<PriorityView<'_>> = view.priorities().collect();
    let mut reasons: Vec<(String, Vec<&str>)> = Vec::new();
    for host in hosts.iter().filter(|host| host.share <= 0.0) {
        let index = host.host.priority() as usize;
        let Some(priority) = priorities.get(index) else { continue };
        let reason = reason(view, host, priority);
        let address = host.host.address().as_str();
        match reasons.iter_mut().find(|(known, _)| *known == reason) {
            Some((_, addresses)) => addresses.push(address),
            None => reasons.push((reason, vec![address])),
        }
    }
    let sentence = |(reason, addresses): (String, Vec<&str>)| {
        let verb = if addresses.len() == 1 { "gets" } else { "get" };
        format!("{} {verb} no traffic: {reason}.", listed(&addresses))
    };
    reasons.into_iter().map(sentence).collect()
}

fn reason(view: &View, host: &HostView<'_>, priority: &PriorityView<'_>) -> String {
    let (config, index) = (view.config(), host.host.priority());
    let nothing = priority.healthy_load + priority.degraded_load <= 0.0;
    match host.host.coarse_health() {
        CoarseHealth::Unhealthy if !priority.panic => failures(host),
        _ if nothing => format!("other priorities take everything before priority {index}"),
        _ if priority.panic && config.fail_traffic_on_panic => {
            format!("priority {index} panics and fail_traffic_on_panic is set")
        }
        CoarseHealth::Unhealthy if host.host.eds_health().takes_out() => failures(host),
        CoarseHealth::Degraded if priority.degraded_load <= 0.0 => {
            "degraded, and healthy hosts take everything".to_owned()
        }
        _ => "in behavior envoy, random uses one number for the priority and for the host, and \
              none leads there"
            .to_owned(),
    }
}

/// Everything that makes a host unhealthy, in words.
fn failures(host: &HostView<'_>) -> String {
    let has = |flags| host.host.health().intersects(flags);
    let mut failures = Vec::new();
    if host.host.eds_health().takes_out() || has(HealthFlags::FAILED_EDS_HEALTH) {
        failures.push(format!("the control plane says {}", host.host.eds_health().name()));
    }
    if has(HealthFlags::FAILED_ACTIVE_HC) {
        failures.push("health checks fail".to_owned());
    }
    if has(HealthFlags::FAILED_OUTLIER_CHECK) {
        failures.push("outlier detection ejected it".to_owned());
    }
    failures.join(", and ")
}

/// Envoy's users are surprised by this one; every other way of routing does as it does.
fn locality_weights(view: &View) -> Option<String> {
    if view.config().locality_routing == LocalityRouting::Weighted {
        return None;
    }
    let mut localities = view.priorities().flat_map(|priority| priority.localities());
    localities.any(|locality| locality.weight > 0).then(|| {
        "Locality weights have no effect: only locality_weighted_lb_config and wrr_locality make \
         Envoy use them."
            .to_owned()
    })
}

/// Traffic that finds no host at all.
fn lost(hosts: &[HostView<'_>]) -> Option<String> {
    let found: f64 = hosts.iter().map(|host| host.share).sum();
    let lost = 1.0 - found;
    // Less is the rounding of the sum.
    (lost > 1e-9).then(|| format!("{:.3} % of all requests find no host and fail.", lost * 100.0))
}

/// The first few of a list, and how many more there are.
fn listed(addresses: &[&str]) -> String {
    let (named, more) = addresses.split_at(addresses.len().min(NAMED));
    let named: Vec<String> =
        named.iter().map(|address| address.escape_debug().to_string()).collect();
    match more.len() {
        0 => named.join(", "),
        more => format!("{} and {more} more", named.join(", ")),
    }
}
