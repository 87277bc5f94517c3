//! Envoy's computation once more, host by host and name by name, in the order of its description.

use std::collections::BTreeMap;

use super::super::Flags;
use super::super::envoy::Settings;
use super::Place;

#[derive(Default)]
pub(super) struct Model {
    smoothed: BTreeMap<String, f64>,
}

pub(super) struct Expected {
    pub(super) weights: Vec<f64>,
    pub(super) flags: Flags,
    pub(super) stale: u64,
}

impl Model {
    pub(super) fn tick(
        &mut self,
        places: &[Place],
        has_local: bool,
        settings: &Settings,
    ) -> Expected {
        let before = std::mem::take(&mut self.smoothed);
        let mut utilization = vec![0.0; places.len()];
        let mut stale = vec![false; places.len()];
        for (index, place) in places.iter().enumerate() {
            if place.hosts == 0 {
                continue;
            }
            let name = &place.identity.zone;
            let old = before.get(name);
            let mut sum = 0.0;
            for report in &place.reports {
                sum += report;
            }
            let smoothed = if place.reports.is_empty() {
                stale[index] = old.is_some();
                old.copied()
            } else {
                let average = sum / place.reports.len() as f64;
                Some(match old {
                    Some(old) => settings.alpha * average + (1.0 - settings.alpha) * old,
                    None => average,
                })
            };
            if let Some(smoothed) = smoothed {
                utilization[index] = smoothed;
                self.smoothed.insert(name.clone(), smoothed);
            }
        }

        let hosts: Vec<f64> = places.iter().map(|place| f64::from(place.eligible)).collect();
        let mut weights = vec![0.0; places.len()];
        for index in 0..places.len() {
            let left = if stale[index] { 1.0 } else { 1.0 - utilization[index] };
            weights[index] = if left > 0.0 { hosts[index] * left } else { 0.0 };
        }
        let mut flags = Flags::default();
        let is_overloaded = weights.iter().all(|&weight| weight <= 0.0);
        if is_overloaded && hosts.iter().any(|&hosts| hosts > 0.0) {
            weights.clone_from(&hosts);
            flags.all_overloaded = true;
        }
        let remote_hosts: f64 = hosts.iter().skip(1).sum();
        if !is_overloaded && has_local && remote_hosts > 0.0 {
            if hosts[0] > 0.0 {
                let mut remote_load = 0.0;
                for index in 1..places.len() {
                    remote_load += utilization[index] * hosts[index];
                }
                if utilization[0] > remote_load / remote_hosts + settings.threshold {
                    flags.spill_active = true;
                } else {
                    weights = vec![0.0; places.len()];
                    weights[0] = 1.0;
                    flags.local_preferred = true;
                    flags.all_local = true;
                }
            }
            let mut total = 0.0;
            for weight in &weights {
                total += weight;
            }
            let remote = total - weights[0];
            if settings.probe > 0.0 && remote < total * settings.probe {
                let taken = f64::min(total * settings.probe - remote, weights[0]);
                weights[0] -= taken;
                for index in 1..places.len() {
                    weights[index] += taken * hosts[index] / remote_hosts;
                }
                flags.probe_active = true;
                flags.all_local = false;
            }
        }
        let stale = stale.iter().filter(|&&stale| stale).count() as u64;
        Expected { weights, flags, stale }
    }
}
