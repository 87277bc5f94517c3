//! Envoy's own tests of the manager, what was seen on its binaries, and both behaviours against an
//! oracle.

mod naive;

use super::*;
use crate::rng::splitmix64;
use naive::Naive;
use proptest::collection::vec;
use proptest::prelude::*;
use std::time::Duration;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;
const HOST: StreamHost = StreamHost { slot: 7, generation: 2 };
const CLOSE: StreamAction = StreamAction::Close { host: HOST };
const BEHAVIORS: [Behavior; 2] = [Behavior::Envoy, Behavior::Native];

fn open(period_ms: u64) -> StreamAction {
    StreamAction::Open { host: HOST, interval: Duration::from_millis(period_ms) }
}

/// One host, and a stream that was opened at 0.
fn opened(behavior: Behavior, period_ms: u64) -> ReportStreams {
    let mut streams = ReportStreams::new(behavior);
    streams.want(HOST, &[period_ms], 0, || 0);
    assert_eq!(streams.poll(0, none), [open(period_ms)]);
    streams
}

/// For calls that need no random number.
fn none() -> u64 {
    panic!("a random number was drawn")
}

/// Received, errors, failures, terminated, sessions.
fn figures(streams: &ReportStreams) -> [u64; 5] {
    let stats = streams.stats();
    [
        stats.reports_received,
        stats.report_errors,
        stats.stream_failures,
        stats.stream_terminated,
        stats.active_sessions,
    ]
}

/// Lets time pass up to `end`: polls at every deadline, and calls `answer` for everything opened.
/// Returns when streams were opened.
fn run(
    streams: &mut ReportStreams,
    end: u64,
    random: u64,
    mut answer: impl FnMut(&mut ReportStreams, u64),
) -> Vec<u64> {
    let mut opened = Vec::new();
    while let Some(now) = streams.next_deadline().filter(|&now| now < end) {
        for action in streams.poll(now, || random) {
            if let StreamAction::Open { .. } = action {
                opened.push(now);
                answer(streams, now);
            }
        }
    }
    opened
}

#[test]
fn a_host_has_one_session_however_often_it_is_added() {
    for behavior in BEHAVIORS {
        let mut streams = ReportStreams::new(behavior);
        streams.want(HOST, &[10_000], 0, || 3_000);
        streams.want(HOST, &[10_000, 60_000], SECOND, none);
        assert_eq!(figures(&streams), [0, 0, 0, 0, 1]);
        assert_eq!(streams.next_deadline(), Some(3 * SECOND));
        streams.forget(StreamHost { slot: 8, generation: 2 });
        streams.forget(StreamHost { slot: 7, generation: 1 });
        assert_eq!(figures(&streams), [0, 0, 0, 0, 1]);
        streams.forget(HOST);
        streams.forget(HOST);
        assert_eq!(figures(&streams), [0; 5]);
        assert_eq!((streams.next_deadline(), streams.poll(u64::MAX, none)), (None, vec![]));
    }
}

#[test]
fn the_first_attempt_comes_at_a_random_moment_of_a_period() {
    // The period, the random number, the attempt in milliseconds. A period of 0 is 10 s.
    let table = [(0, 9_999, 9_999), (0, 10_000, 0), (1_000, 123_456, 456), (1, u64::MAX, 0)];
    for (period_ms, random, first_ms) in table {
        for behavior in BEHAVIORS {
            let mut streams = ReportStreams::new(behavior);
            streams.want(HOST, &[period_ms], SECOND, || random);
            let first = SECOND + first_ms * MS;
            assert_eq!(streams.next_deadline(), Some(first), "{period_ms}, {random}");
            assert_eq!(streams.poll(first - 1, none), []);
            assert_eq!(streams.poll(first, none).len(), 1);
        }
    }
}

#[test]
fn the_shortest_period_that_is_wanted_holds_and_another_one_starts_anew() {
    for behavior in BEHAVIORS {
        let mut streams = ReportStreams::new(behavior);
        streams.want(HOST, &[60_000, 0, 20_000], 0, || 0);
        assert_eq!(streams.poll(0, none), [open(10_000)]);
        streams.want(HOST, &[60_000, 20_000], SECOND, || 19_999);
        assert_eq!(streams.next_deadline(), Some(0));
        assert_eq!(streams.poll(SECOND, none), [CLOSE]);
        assert_eq!(streams.next_deadline(), Some(SECOND + 19_999 * MS));
        assert_eq!(streams.poll(SECOND + 19_999 * MS, none), [open(20_000)]);
        streams.want(HOST, &[], 22 * SECOND, none);
        assert_eq!(streams.poll(22 * SECOND, none), [CLOSE]);
        assert_eq!(figures(&streams), [0; 5]);
    }
}

#[test]
fn a_new_host_in_a_slot_replaces_the_old_one_and_nothing_is_heard_of_that_again() {
    for behavior in BEHAVIORS {
        let mut streams = opened(behavior, 1_000);
        let next = StreamHost { generation: 3, ..HOST };
        streams.want(next, &[1_000], 0, || 0);
        let interval = Duration::from_secs(1);
        assert_eq!(streams.poll(0, none), [CLOSE, StreamAction::Open { host: next, interval }]);
        streams.frame(HOST, StreamFrame::Accepted, 0, none);
        streams.frame(HOST, StreamFrame::Malformed, 0, none);
        streams.ended(HOST, StreamEnd::Broken, 0, none);
        streams.ended(HOST, StreamEnd::Unimplemented, 0, none);
        streams.forget(HOST);
        assert_eq!((figures(&streams), streams.poll(0, none)), ([0, 0, 0, 0, 1], vec![]));
    }
}

#[test]
fn reports_are_counted_as_envoy_counts_them() {
    for behavior in BEHAVIORS {
        let mut streams = opened(behavior, 10_000);
        let table = [
            (StreamFrame::Empty, [0, 0, 0, 0, 1]),
            (StreamFrame::Accepted, [1, 0, 0, 0, 1]),
            // Refused by one policy or by all, or none there: once a report.
            (StreamFrame::Refused, [2, 1, 0, 0, 1]),
            (StreamFrame::Malformed, [2, 1, 1, 0, 1]),
            (StreamFrame::Accepted, [2, 1, 1, 0, 1]),
        ];
        for (frame, expected) in table {
            streams.frame(HOST, frame, SECOND, || 0);
            assert_eq!(figures(&streams), expected, "{frame:?}");
        }
        assert_eq!(streams.poll(SECOND, none)[0], CLOSE, "the end was ours");
    }
}

#[test]
fn every_end_but_unimplemented_is_one_failure_and_another_attempt() {
    // No address, no codec, data that ends without trailers, HTTP 500, bad flags, GOAWAY with an
    // error, a remote close: all of them come as one of these.
    for end in [StreamEnd::Status(0), StreamEnd::Status(13), StreamEnd::Broken] {
        for behavior in BEHAVIORS {
            let mut streams = opened(behavior, 10_000);
            streams.ended(HOST, end, SECOND, || 999);
            assert_eq!(figures(&streams), [0, 0, 1, 0, 1]);
            // What comes later, such as the reset or a status, changes nothing.
            streams.ended(HOST, StreamEnd::Broken, SECOND, none);
            streams.ended(HOST, StreamEnd::Unimplemented, SECOND, none);
            assert_eq!(figures(&streams), [0, 0, 1, 0, 1]);
            assert_eq!(streams.next_deadline(), Some(SECOND + 999 * MS));
            assert_eq!(streams.poll(2 * SECOND, none), [open(10_000)], "no close: it is over");
        }
    }
}

#[test]
fn a_report_after_a_graceful_goaway_counts_before_the_failure() {
    let mut streams = opened(Behavior::Envoy, 10_000);
    streams.frame(HOST, StreamFrame::Accepted, SECOND, none);
    streams.ended(HOST, StreamEnd::Broken, SECOND, || 0);
    assert_eq!(figures(&streams), [1, 0, 1, 0, 1]);
}

#[test]
fn envoy_never_tries_a_server_again_that_lacks_the_method() {
    for end in [StreamEnd::Unimplemented, StreamEnd::Status(12)] {
        let mut streams = opened(Behavior::Envoy, 1_000);
        streams.ended(HOST, end, 0, none);
        assert_eq!(figures(&streams), [0, 0, 0, 1, 0]);
        streams.want(HOST, &[1_000], 0, none);
        assert_eq!((streams.next_deadline(), streams.poll(u64::MAX, none)), (None, vec![]));
        // Another host in its slot is tried.
        streams.want(StreamHost { generation: 3, ..HOST }, &[1_000], 0, || 0);
        assert_eq!((figures(&streams), streams.poll(0, none).len()), ([0, 0, 0, 1, 1], 1));
    }
}

#[test]
fn native_tries_a_server_again_half_an_hour_after_it_lacked_the_method() {
    let mut streams = opened(Behavior::Native, 1_000);
    streams.ended(HOST, StreamEnd::Unimplemented, SECOND, none);
    assert_eq!(figures(&streams), [0, 0, 0, 1, 0]);
    assert_eq!(streams.next_deadline(), Some(1_801 * SECOND));
    assert_eq!(streams.poll(1_801 * SECOND, none), [open(1_000)]);
    assert_eq!(figures(&streams), [0, 0, 0, 1, 1]);
    streams.ended(HOST, StreamEnd::Unimplemented, 1_801 * SECOND, none);
    assert_eq!(figures(&streams), [0, 0, 0, 2, 0]);
    streams.forget(HOST);
    assert_eq!(figures(&streams), [0, 0, 0, 2, 0]);
}

#[test]
fn attempts_without_an_answer_follow_the_bounds() {
    let random = 480_000_000 - 1;
    for behavior in BEHAVIORS {
        let mut streams = ReportStreams::new(behavior);
        streams.want(HOST, &[10_000], 0, || 0);
        let attempts = run(&mut streams, 200 * SECOND, random, |streams, now| {
            streams.ended(HOST, StreamEnd::Status(14), now, || random);
        });
        let gaps: Vec<u64> = attempts.windows(2).map(|pair| (pair[1] - pair[0]) / MS + 1).collect();
        assert_eq!(
            gaps,
            [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000, 30_000, 30_000]
        );
    }
}

#[test]
fn envoy_may_try_again_at_once_and_native_waits_a_tenth_of_a_second() {
    for (behavior, delay) in [(Behavior::Envoy, 0), (Behavior::Native, 100 * MS)] {
        let mut streams = opened(behavior, 10_000);
        streams.ended(HOST, StreamEnd::Status(14), SECOND, || 0);
        assert_eq!(streams.next_deadline(), Some(SECOND + delay));
    }
}

/// When a stream is given up on which a server sends an empty report each second.
fn empty_reports(behavior: Behavior, end: u64) -> (Vec<u64>, [u64; 5]) {
    let mut streams = opened(behavior, 1_000);
    let mut closed = Vec::new();
    for tick in 1..=end / MS {
        let now = tick * MS;
        if now.is_multiple_of(SECOND) {
            streams.frame(HOST, StreamFrame::Empty, now, none);
        }
        let actions = streams.poll(now, || 0);
        closed.extend(actions.contains(&CLOSE).then_some(now));
    }
    (closed, figures(&streams))
}

#[test]
fn empty_reports_keep_a_stream_alive_in_native_only() {
    // Silent for 3 s, at once opened again one poll later.
    let (closed, figures) = empty_reports(Behavior::Envoy, 10 * SECOND);
    assert_eq!(closed, [3_000, 6_001, 9_002].map(|ms| ms * MS));
    assert_eq!(figures, [0, 0, 3, 0, 1]);
    assert_eq!(empty_reports(Behavior::Native, 60 * SECOND), (vec![], [0, 0, 0, 0, 1]));
}

#[test]
fn a_silent_stream_is_given_up_after_three_periods_and_in_native_after_four() {
    for (behavior, silence) in [(Behavior::Envoy, 3), (Behavior::Native, 4)] {
        let mut streams = opened(behavior, 1_000);
        assert_eq!(streams.poll(silence * SECOND - 1, none), []);
        assert_eq!(streams.poll(silence * SECOND, || 500), [CLOSE]);
        assert_eq!(figures(&streams), [0, 0, 1, 0, 1]);
        assert_eq!(streams.next_deadline(), Some(silence * SECOND + 500 * MS));
    }
}

#[test]
fn refused_reports_are_signs_of_life_too() {
    for behavior in BEHAVIORS {
        let mut streams = opened(behavior, 1_000);
        for second in 1..=8 {
            streams.frame(HOST, StreamFrame::Refused, second * SECOND, none);
            assert_eq!(streams.poll(second * SECOND, none), []);
        }
        assert_eq!(figures(&streams), [8, 8, 0, 0, 1]);
    }
}

#[test]
fn one_report_and_ok_makes_envoy_call_within_a_second_each_time_and_native_once_a_period() {
    for random in [0, 250, 999, 480_000_000 - 1] {
        let one_report_then_ok = |streams: &mut ReportStreams, now| {
            streams.frame(HOST, StreamFrame::Accepted, now, none);
            streams.ended(HOST, StreamEnd::Status(0), now + MS, || random);
        };
        let mut streams = ReportStreams::new(Behavior::Envoy);
        streams.want(HOST, &[10_000], 0, || 0);
        let attempts = run(&mut streams, 11 * SECOND, random, one_report_then_ok);
        let gap = (random % 1_000 + 1) * MS;
        assert!(attempts.windows(2).all(|pair| pair[1] - pair[0] == gap), "{attempts:?}");

        let mut streams = ReportStreams::new(Behavior::Native);
        streams.want(HOST, &[10_000], 0, || 0);
        let attempts = run(&mut streams, 600 * SECOND, random, one_report_then_ok);
        assert!(attempts.windows(2).all(|pair| pair[1] - pair[0] >= 10 * SECOND), "{attempts:?}");
        assert!(attempts.len() >= 20, "{attempts:?}");
    }
}

#[test]
fn native_forgives_failures_only_after_a_period_of_reports() {
    // After two failures; reports until so many milliseconds after the opening; the next bound.
    for (last_ms, bound_ms) in [(0, 4_000), (9_999, 4_000), (10_000, 1_000)] {
        let mut streams = opened(Behavior::Native, 10_000);
        let mut now = 0;
        for _ in 0..2 {
            streams.ended(HOST, StreamEnd::Broken, now, || 100);
            now += 100 * MS;
            assert_eq!(streams.poll(now, none), [open(10_000)]);
        }
        streams.frame(HOST, StreamFrame::Empty, now, none);
        streams.frame(HOST, StreamFrame::Empty, now + last_ms * MS, none);
        let end = now + 15 * SECOND;
        streams.ended(HOST, StreamEnd::Broken, end, || 480_000_000 - 1);
        assert_eq!(streams.next_deadline(), Some(end + (bound_ms - 1) * MS), "{last_ms} ms");
    }
}

#[test]
fn a_server_that_reports_every_third_period_races_envoy_and_never_native() {
    // A report and the deadline at the same moment: whatever is told first.
    let mut streams = opened(Behavior::Envoy, 1_000);
    streams.frame(HOST, StreamFrame::Accepted, 0, none);
    streams.frame(HOST, StreamFrame::Accepted, 3 * SECOND, none);
    assert_eq!(streams.poll(3 * SECOND, none), []);
    assert_eq!(streams.poll(6 * SECOND, || 0), [CLOSE]);

    let mut streams = opened(Behavior::Native, 1_000);
    for report in 0..100 {
        let now = report * 3 * SECOND;
        assert_eq!(streams.poll(now, none), []);
        streams.frame(HOST, StreamFrame::Accepted, now, none);
    }
    assert_eq!(figures(&streams), [100, 0, 0, 0, 1]);
}

#[test]
fn native_learns_how_seldom_a_server_reports() {
    let mut streams = opened(Behavior::Native, 1_000);
    for second in [1, 4, 9, 17, 18] {
        assert_eq!(streams.poll(second * SECOND, none), []);
        streams.frame(HOST, StreamFrame::Empty, second * SECOND, none);
    }
    // The longest gap was 8 s: 12 s, and a period. A new stream knows nothing of it.
    assert_eq!(streams.next_deadline(), Some(31 * SECOND));
    streams.ended(HOST, StreamEnd::Broken, 19 * SECOND, || 0);
    assert_eq!(streams.poll(20 * SECOND, none), [open(1_000)]);
    assert_eq!(streams.next_deadline(), Some(24 * SECOND));
}

#[test]
fn a_hundred_thousand_hosts_are_called_one_after_the_other() {
    const HOSTS: u32 = 100_000;
    for behavior in BEHAVIORS {
        let mut streams = ReportStreams::new(behavior);
        let host = |slot| StreamHost { slot, generation: 0 };
        for slot in 0..HOSTS {
            streams.want(host(slot), &[10_000], 0, || splitmix64(slot.into()));
        }
        let mut opened = 0;
        for ms in 0..10_000 {
            let actions = streams.poll(ms * MS, none);
            // 10 are expected each millisecond; the numbers are fixed.
            assert!(actions.len() <= 40, "{} at once", actions.len());
            opened += actions.len();
        }
        assert_eq!(opened, HOSTS as usize);
        for round in 1..=3 {
            let now = round * 10 * SECOND;
            (0..HOSTS).for_each(|slot| streams.frame(host(slot), StreamFrame::Accepted, now, none));
            assert_eq!(streams.poll(now, none), []);
        }
        (0..HOSTS).for_each(|slot| streams.forget(host(slot)));
        assert_eq!(streams.poll(0, none).len(), HOSTS as usize);
        assert!(streams.sessions.is_empty() && streams.deadlines.is_empty());
    }
}

/// What may happen to the streams.
#[derive(Debug, Clone)]
enum Step {
    Want(StreamHost, Vec<u64>),
    Forget(StreamHost),
    Frame(StreamHost, StreamFrame),
    Ended(StreamHost, StreamEnd),
    Pass(u64),
    /// To the next deadline.
    Skip,
    Poll,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let generation = prop_oneof![9 => Just(0), 1 => Just(1)];
    let host =
        (0..3_u32, generation).prop_map(|(slot, generation)| StreamHost { slot, generation });
    let period = prop_oneof![
        12 => Just(1_000),
        1 => prop_oneof![Just(0), Just(30_000), Just(u64::MAX)],
        1 => 1..2_000_u64,
    ];
    let periods = prop_oneof![8 => vec(period.clone(), 1), 1 => vec(period, 0..3)];
    let frame = prop_oneof![
        6 => Just(StreamFrame::Empty),
        6 => Just(StreamFrame::Accepted),
        1 => Just(StreamFrame::Refused),
        1 => Just(StreamFrame::Malformed),
    ];
    let end = prop_oneof![
        Just(StreamEnd::Unimplemented),
        (0..17_u32).prop_map(StreamEnd::Status),
        Just(StreamEnd::Broken),
    ];
    let pass = prop_oneof![
        12 => 0..5 * SECOND,
        3 => 0..2_000 * SECOND,
        1 => Just(u64::MAX),
    ];
    let step = prop_oneof![
        2 => (host.clone(), periods).prop_map(|(host, periods)| Step::Want(host, periods)),
        1 => host.clone().prop_map(Step::Forget),
        12 => (host.clone(), frame).prop_map(|(host, frame)| Step::Frame(host, frame)),
        2 => (host, end).prop_map(|(host, end)| Step::Ended(host, end)),
        5 => pass.prop_map(Step::Pass),
        4 => Just(Step::Skip),
        5 => Just(Step::Poll),
    ];
    vec(step, 0..120)
}

/// Random numbers that are the same for both sides, so long as both draw as many.
struct Numbers {
    next: u64,
}

impl Numbers {
    fn draw(&mut self) -> u64 {
        self.next += 1;
        splitmix64(self.next)
    }
}

proptest! {
    #[test]
    fn streams_do_what_the_oracle_does(native: bool, steps in steps()) {
        let behavior = BEHAVIORS[usize::from(native)];
        let (mut streams, mut naive) = (ReportStreams::new(behavior), Naive::new(behavior));
        let (mut ours, mut theirs) = (Numbers { next: 0 }, Numbers { next: 0 });
        let mut now = 0_u64;
        for step in steps {
            let (draw, mut naive_draw) = (|| ours.draw(), || theirs.draw());
            match step {
                Step::Want(host, periods) => {
                    streams.want(host, &periods, now, draw);
                    naive.want(host, &periods, now, &mut naive_draw);
                }
                Step::Forget(host) => {
                    streams.forget(host);
                    naive.forget(host);
                }
                Step::Frame(host, frame) => {
                    streams.frame(host, frame, now, draw);
                    naive.frame(host, frame, now, &mut naive_draw);
                }
                Step::Ended(host, end) => {
                    streams.ended(host, end, now, draw);
                    naive.ended(host, end, now, &mut naive_draw);
                }
                Step::Pass(time) => now = now.saturating_add(time),
                Step::Skip => now = streams.next_deadline().map_or(now, |next| next.max(now)),
                Step::Poll => {
                    prop_assert_eq!(streams.poll(now, draw), naive.poll(now, &mut naive_draw));
                }
            }
            prop_assert_eq!(streams.next_deadline(), naive.next_deadline());
            prop_assert_eq!(streams.stats(), naive.stats());
            prop_assert_eq!(ours.next, theirs.next, "one side drew more numbers");
        }
    }
}
