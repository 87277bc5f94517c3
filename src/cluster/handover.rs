//! Reports that go from one cluster to the next.

use super::control::Control;
use super::model::Model;
use crate::reports::{Consumer, Exported, ExportedReports};

impl Control {
    /// What the hosts have reported, in the order of priorities and of the assignment.
    pub(super) fn export_reports(&self) -> ExportedReports {
        let Some(reports) = &self.reports else { return ExportedReports::default() };
        let Model { priorities, directory, now_ns, .. } = &self.model;
        let mut lines = Vec::new();
        for &slot in priorities.iter().flat_map(|set| &set.order) {
            let Some(entry) = directory.get(slot) else { continue };
            if entry.info.address.as_str().contains(['\n', '\r']) {
                // It would be another line.
                continue;
            }
            for (consumer, kept) in reports.keep(slot, *now_ns) {
                let weights = self.weights.as_ref().filter(|_| consumer == Consumer::Weights);
                let course = weights.and_then(|weights| weights.course(slot, kept.value));
                let address = entry.info.address.clone();
                lines.push(Exported { consumer, address, kept, course });
            }
        }
        ExportedReports { lines }
    }

    /// Takes over what hosts have reported elsewhere, and their weights from it at once.
    pub(super) fn import_reports(&mut self, exported: &ExportedReports) -> usize {
        let Some(reports) = self.reports.clone() else { return 0 };
        let now_ns = self.model.now_ns;
        let mut taken = 0;
        for Exported { consumer, address, kept, course } in &exported.lines {
            let Some(slot) = self.model.slot(address.as_str()) else { continue };
            if !reports.restore(slot, *consumer, *kept, now_ns) {
                continue;
            }
            taken += 1;
            if let (Some(weights), Consumer::Weights, Some(course)) =
                (&mut self.weights, consumer, course)
            {
                weights.resume(slot, kept.value, *course);
            }
        }
        if let Some(weights) = &mut self.weights
            && taken > 0
        {
            weights.pass(&mut self.model, &self.runtime);
            self.publish();
        }
        taken
    }
}
