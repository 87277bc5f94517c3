//! Out-of-band load reports on the control side: which hosts' streams are wanted, and what arrives
//! on them.

use std::collections::HashMap;
use std::time::Duration;

use super::model::Model;
use crate::config::{Behavior, ClusterConfig, LocalityRouting, OutOfBandReporting, Policy};
use crate::orca::Parser;
use crate::out_of_band::{
    self, ReportStreams, StreamAction, StreamEnd, StreamFrame, StreamHost, StreamStats,
};
use crate::records::Origin;
use crate::reports::Reports;
use crate::rng::Draws;

/// A generator that no worker has.
const GENERATOR: u64 = u64::MAX;

/// Where the stream of a host goes.
///
/// ```
/// # use plimsoll::StreamTarget;
/// fn describe(target: &StreamTarget) -> String {
///     format!("{} as {}", target.dial, target.authority)
/// }
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct StreamTarget {
    /// The host's address.
    pub address: String,
    /// What to connect to: the address, with the port of `oob_reporting_config` if there is one.
    pub dial: String,
    /// What to call the host in requests: the authority of `oob_reporting_config`, else the host's
    /// name, else what is dialed, else, for a path, the cluster's name.
    pub authority: String,
}

/// The streams of a cluster.
#[derive(Debug)]
pub(super) struct Streams {
    behavior: Behavior,
    streams: ReportStreams,
    /// What is left to close of streams of another behaviour, and what they have counted.
    closing: Vec<StreamAction>,
    counted: StreamStats,
    /// Generations by slot of hosts that have one.
    wanted: HashMap<u32, u32>,
    draws: Draws,
    parser: Parser,
}

impl Streams {
    pub(super) fn new(config: &ClusterConfig, seed: u64) -> Self {
        Self {
            behavior: config.behavior,
            streams: ReportStreams::new(config.behavior),
            closing: Vec::new(),
            counted: StreamStats::default(),
            wanted: HashMap::new(),
            draws: Draws::new(seed, GENERATOR),
            parser: Parser::new(),
        }
    }

    /// Brings the streams in line with the hosts and the settings.
    pub(super) fn follow(&mut self, model: &Model, config: &ClusterConfig) {
        if config.behavior != self.behavior {
            self.restart(config.behavior);
        }
        let periods = wanted(config);
        let periods_ms: Vec<u64> = periods.iter().map(|&(period_ms, _)| period_ms).collect();
        let before = std::mem::take(&mut self.wanted);
        let Self { streams, wanted, draws, .. } = self;
        if !periods.is_empty() {
            let slots = model.priorities.iter().flat_map(|set| set.order.iter());
            for entry in slots.filter_map(|&slot| model.directory.get(slot)) {
                let host = StreamHost { slot: entry.info.slot, generation: entry.generation };
                wanted.insert(host.slot, host.generation);
                streams.want(host, &periods_ms, model.now_ns, || draws.generate());
            }
        }
        for (slot, generation) in before {
            if wanted.get(&slot) != Some(&generation) {
                streams.forget(StreamHost { slot, generation });
            }
        }
    }

    /// Starts anew by other rules.
    fn restart(&mut self, behavior: Behavior) {
        for (slot, generation) in std::mem::take(&mut self.wanted) {
            self.streams.forget(StreamHost { slot, generation });
        }
        // Nothing is left but to close what was open.
        self.closing.extend(self.streams.poll(0, || 0));
        self.counted = self.stats();
        self.streams = ReportStreams::new(behavior);
        self.behavior = behavior;
    }

    pub(super) fn poll(&mut self, now_ns: u64) -> Vec<StreamAction> {
        let Self { streams, draws, closing, .. } = self;
        let mut actions = std::mem::take(closing);
        actions.extend(streams.poll(now_ns, || draws.generate()));
        actions
    }

    /// Takes in one message, which is a report in protobuf. One that crossed the end of its stream
    /// is dropped.
    pub(super) fn message(
        &mut self,
        host: StreamHost,
        message: &[u8],
        (config, reports): (&ClusterConfig, Option<&Reports>),
        now_ns: u64,
    ) {
        if !self.streams.is_open(host) {
            return;
        }
        let origin = Origin::Stream { fresh_ns: fresh_ns(config) };
        let frame = match self.parser.grpc(message) {
            _ if message.is_empty() => StreamFrame::Empty,
            Err(_) => StreamFrame::Malformed,
            Ok(report) => match reports.map(|it| it.take(host.slot, &report, now_ns, origin)) {
                Some(Ok(())) => StreamFrame::Accepted,
                Some(Err(_)) | None => StreamFrame::Refused,
            },
        };
        let Self { streams, draws, .. } = self;
        streams.frame(host, frame, now_ns, || draws.generate());
    }

    pub(super) fn ended(&mut self, host: StreamHost, end: StreamEnd, now_ns: u64) {
        let Self { streams, draws, .. } = self;
        streams.ended(host, end, now_ns, || draws.generate());
    }

    pub(super) fn next_deadline(&self) -> Option<u64> {
        if self.closing.is_empty() { self.streams.next_deadline() } else { Some(0) }
    }

    pub(super) fn stats(&self) -> StreamStats {
        let (now, before) = (self.streams.stats(), self.counted);
        StreamStats {
            reports_received: now.reports_received + before.reports_received,
            report_errors: now.report_errors + before.report_errors,
            stream_failures: now.stream_failures + before.stream_failures,
            stream_terminated: now.stream_terminated + before.stream_terminated,
            active_sessions: now.active_sessions,
        }
    }
}

/// Where a host's stream goes; `None` if the host is gone or the policy wants none.
//= envoy v1.40 source/extensions/load_balancing_policies/common/orca_oob_manager.cc#authority
pub(super) fn target(
    model: &Model,
    config: &ClusterConfig,
    host: StreamHost,
) -> Option<StreamTarget> {
    let (_, reporting) = *wanted(config).first()?;
    let entry =
        model.directory.get(host.slot).filter(|entry| entry.generation == host.generation)?;
    let address = entry.info.address.as_str();
    let socket = address.rsplit_once(':');
    let dial = match (reporting.port_value, socket) {
        (port @ 1.., Some((ip, _))) => format!("{ip}:{port}"),
        _ => address.to_owned(),
    };
    let last = if socket.is_some() { &dial } else { &config.name };
    let names = [&reporting.authority, &entry.place.hostname, last];
    let authority = names.into_iter().find(|name| !name.is_empty()).cloned().unwrap_or_default();
    Some(StreamTarget { address: address.to_owned(), dial, authority })
}

/// The streams that are wanted, by their periods in milliseconds and where they go. A host has one
/// for all; it goes where load-aware routing wants it, if that wants one.
fn wanted(config: &ClusterConfig) -> Vec<(u64, &OutOfBandReporting)> {
    let mut wanted = Vec::new();
    if let LocalityRouting::LoadAware(it) = &config.locality_routing
        && it.enable_oob_load_report
    {
        wanted.push((milliseconds(it.oob_reporting_period), &it.oob_reporting_config));
    }
    if let Policy::ClientSideWeightedRoundRobin(it) = &config.policy
        && it.enable_oob_load_report
    {
        wanted.push((milliseconds(it.oob_reporting_period), &it.oob_reporting_config));
    }
    wanted
}

/// For how long a report of a stream is preferred to others: one may be lost.
fn fresh_ns(config: &ClusterConfig) -> u64 {
    let periods_ms: Vec<u64> = wanted(config).iter().map(|&(period_ms, _)| period_ms).collect();
    let period_ms = out_of_band::shortest(&periods_ms).unwrap_or(0);
    period_ms.saturating_mul(2 * 1_000_000)
}

fn milliseconds(period: Duration) -> u64 {
    u64::try_from(period.as_millis()).unwrap_or(u64::MAX)
}
