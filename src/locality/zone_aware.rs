//! Zone-aware routing: the local zone first, as far as its hosts suffice for the proxies there.
//!
//! With the same proportion of hosts as of proxies in each zone nothing leaves a zone. A zone with
//! fewer hosts sends what they cannot take to zones that have more than their proxies need: their
//! residual.

use super::{WHOLE, part, parts};

/// Envoy's proportions are whole numbers of this.
pub(crate) const SCALE: u64 = 10_000;

/// A locality of the hosts beside the same one of the proxies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Zone {
    /// What the hosts there amount to.
    pub(crate) hosts: u64,
    /// What the proxies there amount to; 0 if there are none.
    pub(crate) proxies: u64,
}

/// What is compared.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Zones<'a> {
    /// The local one first, if there is one.
    pub(crate) zones: &'a [Zone],
    pub(crate) has_local: bool,
    /// What all proxies amount to, those of other localities included.
    pub(crate) proxies: u64,
    /// The local zone gets everything.
    pub(crate) forced: bool,
}

/// Where Envoy sends a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Route {
    /// To the local zone.
    Direct,
    /// In part to the local zone, and else where there is a residual.
    Residual {
        /// How much goes to the local zone, of [`SCALE`].
        local: u64,
        /// The residuals, added up.
        residuals: Box<[u64]>,
    },
}

/// What of a pick counts where.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// All goes to the local zone.
    Direct,
    /// The local zone was drawn.
    Sampled,
    /// Another zone was drawn.
    CrossZone,
    /// The same, and no zone has anything left, so that any is taken.
    NoCapacityLeft,
}

/// Envoy's proportions.
//= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#regenerateLocalityRoutingStructures
pub(crate) fn envoy(zones: Zones<'_>) -> Route {
    let total = zones.zones.iter().map(|zone| zone.hosts).sum::<u64>();
    let percent = |amount: u64, total: u64| {
        let percent = u128::from(SCALE) * u128::from(amount) / u128::from(total.max(1));
        u64::try_from(percent).unwrap_or(SCALE)
    };
    let percents = zones.zones.iter().map(|zone| {
        // A zone without hosts counts as one without proxies.
        let proxies = if zone.hosts == 0 { 0 } else { zone.proxies };
        (percent(zone.hosts, total), percent(proxies, zones.proxies))
    });
    let percents: Vec<(u64, u64)> = percents.collect();
    let (hosts, proxies) = percents.first().copied().unwrap_or_default();
    if zones.has_local && ((hosts > 0 && hosts >= proxies) || zones.forced) {
        return Route::Direct;
    }
    let local = if zones.has_local && proxies > 0 { hosts * SCALE / proxies } else { 0 };
    let mut sum = 0;
    let residual = |(index, &(hosts, proxies)): (usize, &(u64, u64))| {
        if !(zones.has_local && index == 0) {
            sum += hosts.saturating_sub(proxies);
        }
        sum
    };
    Route::Residual { local, residuals: percents.iter().enumerate().map(residual).collect() }
}

impl Route {
    /// The index of the zone for a request; `draw` gives the numbers that Envoy draws.
    //= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#tryChooseLocalLocalityHosts
    #[allow(clippy::cast_possible_truncation)] // less than a length
    pub(crate) fn choose(&self, mut draw: impl FnMut() -> u64) -> (usize, Choice) {
        let Self::Residual { local, residuals } = self else { return (0, Choice::Direct) };
        if draw() % SCALE < *local {
            return (0, Choice::Sampled);
        }
        match residuals.last() {
            Some(&all) if all > 0 => {
                let wanted = draw() % all;
                (residuals.partition_point(|&sum| sum <= wanted), Choice::CrossZone)
            }
            _ => ((draw() % residuals.len().max(1) as u64) as usize, Choice::NoCapacityLeft),
        }
    }

    /// What each of so many zones gets of the whole, for people.
    #[allow(clippy::cast_precision_loss)] // for people
    pub(crate) fn shares(&self, zones: usize) -> Vec<f64> {
        let Self::Residual { local, residuals } = self else {
            return (0..zones).map(|zone| if zone == 0 { 1.0 } else { 0.0 }).collect();
        };
        let local = *local as f64 / SCALE as f64;
        let all = residuals.last().copied().unwrap_or(0);
        let mut before = 0;
        let rest = |&sum: &u64| match all {
            0 => 1.0 / residuals.len() as f64,
            _ => (sum - std::mem::replace(&mut before, sum)) as f64 / all as f64,
        };
        let mut shares: Vec<f64> =
            residuals.iter().map(rest).map(|it| it * (1.0 - local)).collect();
        if let Some(first) = shares.first_mut() {
            *first += local;
        }
        shares
    }
}

/// Native shares; `None` if proportions say nothing, so that hosts decide. Zones without hosts get
/// nothing.
pub(crate) fn native(zones: Zones<'_>) -> Option<Box<[u64]>> {
    let total = zones.zones.iter().map(|zone| zone.hosts).sum::<u64>();
    let of_all = zones.zones.iter();
    let of_all = of_all.map(|zone| (part(zone.hosts, total), part(zone.proxies, zones.proxies)));
    let of_all: Vec<(u64, u64)> = of_all.collect();
    let &(hosts, proxies) = of_all.first()?;
    let residuals: Vec<u64> = (of_all.iter().enumerate())
        .map(
            |(index, &(hosts, proxies))| {
                if zones.has_local && index == 0 { 0 } else { hosts.saturating_sub(proxies) }
            },
        )
        .collect();
    let all = residuals.iter().sum::<u64>();
    let stays = zones.has_local && hosts > 0;
    if stays && (zones.forced || hosts >= proxies || all == 0) {
        let only_first = (0..of_all.len()).map(|index| if index == 0 { WHOLE } else { 0 });
        return Some(only_first.collect());
    }
    let local = if stays { part(hosts, proxies) } else { 0 };
    let mut shares: Vec<u128> =
        residuals.iter().map(|&it| u128::from(WHOLE - local) * u128::from(it)).collect();
    shares[0] += u128::from(local) * u128::from(all);
    parts(&shares)
}

#[cfg(test)]
mod tests;
