//! Streams of load reports from outside: what the owner of the sockets is told in the life of a
//! host whose server works, fails, is replaced by one without the method, and goes.

mod common;

use std::time::Duration;

use common::BEHAVIORS;
use plimsoll::config::Behavior;
use plimsoll::{ReportStreams, StreamAction, StreamEnd, StreamFrame, StreamHost, StreamStats};

const SECOND: u64 = 1_000_000_000;
const HOST: StreamHost = StreamHost { slot: 3, generation: 1 };
const OPEN: StreamAction = StreamAction::Open { host: HOST, interval: Duration::from_secs(1) };
const CLOSE: StreamAction = StreamAction::Close { host: HOST };

/// Takes the next step and says when, in milliseconds.
fn step(streams: &mut ReportStreams, random: u64) -> (u64, Vec<StreamAction>) {
    let now_ns = streams.next_deadline().unwrap();
    (now_ns / 1_000_000, streams.poll(now_ns, || random))
}

//= envoy v1.40 source/extensions/load_balancing_policies/common/orca_oob_manager.cc#onHostsAdded
//= envoy v1.40 source/extensions/load_balancing_policies/common/orca_oob_manager.cc#onHostsRemoved
//= envoy v1.40 source/extensions/load_balancing_policies/common/orca_oob_manager.cc#onReport
//= envoy v1.40 source/extensions/load_balancing_policies/common/orca_oob_manager.cc#handleTransientFailure
//= envoy v1.40 source/extensions/load_balancing_policies/common/orca_oob_manager.cc#handleTerminal
#[test]
fn a_stream_is_opened_kept_given_up_opened_again_and_ended() {
    for behavior in BEHAVIORS {
        let native = behavior == Behavior::Native;
        let mut streams = ReportStreams::new(behavior);
        streams.want(HOST, &[5_000, 1_000], 0, || 12_345);
        assert_eq!(step(&mut streams, 0), (345, vec![OPEN]));

        (1..=5).for_each(|second| {
            streams.frame(HOST, StreamFrame::Accepted, second * SECOND, || 0);
            assert_eq!(streams.poll(second * SECOND, || 0), []);
        });
        let silent_ms = if native { 9_000 } else { 8_000 };
        assert_eq!(step(&mut streams, 999), (silent_ms, vec![CLOSE]));
        assert_eq!(step(&mut streams, 0), (silent_ms + 999, vec![OPEN]));

        streams.ended(HOST, StreamEnd::Status(14), 10 * SECOND, || 1_500);
        assert_eq!(step(&mut streams, 0), (11_500, vec![OPEN]));
        streams.ended(HOST, StreamEnd::Unimplemented, 12 * SECOND, || 0);
        let again_ns = native.then_some(1_812 * SECOND);
        assert_eq!(streams.next_deadline(), again_ns);
        assert_eq!(
            streams.stats(),
            StreamStats {
                reports_received: 5,
                report_errors: 0,
                stream_failures: 2,
                stream_terminated: 1,
                active_sessions: 0,
            }
        );

        streams.forget(HOST);
        assert_eq!((streams.next_deadline(), streams.poll(u64::MAX, || 0)), (None, vec![]));
    }
}

#[test]
fn a_host_that_goes_takes_its_stream_with_it() {
    for behavior in BEHAVIORS {
        let mut streams = ReportStreams::new(behavior);
        streams.want(HOST, &[1_000], 0, || 0);
        assert_eq!(step(&mut streams, 0), (0, vec![OPEN]));
        streams.forget(HOST);
        assert_eq!(streams.stats(), StreamStats::default());
        assert_eq!(step(&mut streams, 0), (0, vec![CLOSE]));
        streams.ended(HOST, StreamEnd::Broken, SECOND, || 0);
        assert_eq!(streams.stats(), StreamStats::default());
    }
}
