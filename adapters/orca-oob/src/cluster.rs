//! The engine's cluster as the source of a driver.
//!
//! A cluster whose control side has panicked asks for nothing and takes nothing: whoever owns it
//! hears of that from its other calls.

use plimsoll::{Cluster, StreamAction, StreamEnd, StreamHost};

use crate::driver::{Action, Source};
use crate::stream::Target;

impl Source for Cluster {
    fn poll(&self, now_ns: u64) -> Vec<Action> {
        let actions = self.poll_report_streams(now_ns).unwrap_or_default();
        actions.into_iter().filter_map(|action| prepare(self, action)).collect()
    }

    fn report(&self, id: StreamHost, report: &[u8], now_ns: u64) {
        let _ = self.report_stream_message(id, report, now_ns);
    }

    fn ended(&self, id: StreamHost, end: StreamEnd, now_ns: u64) {
        let _ = self.report_stream_ended(id, end, now_ns);
    }
}

/// Adds where a stream goes. A host that has gone since wants none.
fn prepare(cluster: &Cluster, action: StreamAction) -> Option<Action> {
    Some(match action {
        StreamAction::Open { host: id, interval } => {
            let target = cluster.report_stream_target(id).ok().flatten()?;
            let target = Target { address: target.dial, authority: target.authority };
            Action::Open { id, target, interval }
        }
        StreamAction::Close { host: id } => Action::Close { id },
    })
}
