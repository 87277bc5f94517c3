//! What a load report costs, from the header of a response to the record of its host, and what a
//! policy that goes by reports adds to the end of a request.

use std::hint::black_box;

use plimsoll::config::{Behavior, Policy};
use plimsoll::{Outcome, Pick, PickContext, ResponseLoad, Worker};
use plimsoll_benches::paired::{Contender, Plan, compare};
use plimsoll_benches::reporting::{Form, Metrics, Mutexes, NOW_NS, Reader, policy, report};
use plimsoll_benches::scenario::{Layout, assignment, cluster};
use plimsoll_benches::table;

use crate::{recomputation, stores};

/// Hosts that report in turn, each its own numbers.
const HOSTS: u32 = 256;
const UNCOUNTED: PickContext = PickContext::uncounted();
const BEHAVIORS: [Behavior; 2] = [Behavior::Native, Behavior::Envoy];

pub(crate) fn run() {
    headers();
    stores::run();
    recomputation::run();
    ends();
}

/// What each host sends.
fn values(form: Form, metrics: Metrics) -> Vec<Vec<u8>> {
    (0..HOSTS).map(|host| form.value(&report(metrics, host))).collect()
}

/// A report, read, weighed and stored.
fn headers() {
    for (metrics, what) in [
        (Metrics::Scalar, "cpu_utilization, rps_fractional, eps"),
        (Metrics::Long, "the same with 15 to 17 digits"),
        (Metrics::Named, "cpu_utilization, rps_fractional, named_metrics.queue"),
    ] {
        let mut contenders = Vec::new();
        for form in [Form::Text, Form::Binary] {
            contenders.push(under_mutexes(form, metrics));
            contenders.extend(BEHAVIORS.map(|behavior| taken_in(form, metrics, behavior)));
        }
        table::print_rows(&format!("report, {what}"), &compare(contenders, Plan::default()));
    }
}

fn under_mutexes<'a>(form: Form, metrics: Metrics) -> Contender<'a> {
    let values = values(form, metrics);
    let mutexes = Mutexes::new(values.len());
    let mut reader = Reader::new(metrics);
    Contender::looping(format!("mutexes: {}", form.name()), move |count| {
        for (index, now_ns) in (0..count).zip(NOW_NS..) {
            let host = usize::try_from(index).unwrap_or(0) % values.len();
            let headers = form.headers(black_box(&values[host]));
            mutexes.report(host, &mut reader, headers, now_ns);
        }
        count
    })
}

fn taken_in<'a>(form: Form, metrics: Metrics, behavior: Behavior) -> Contender<'a> {
    let values = values(form, metrics);
    let mut worker = worker(behavior, policy(metrics));
    let picks = picks(&mut worker);
    Contender::looping(format!("{}: {}", behavior.name(), form.name()), move |count| {
        for (index, now_ns) in (0..count).zip(NOW_NS..) {
            let host = usize::try_from(index).unwrap_or(0) % values.len();
            let headers = form.headers(black_box(&values[host]));
            let load = ResponseLoad { headers, ..ResponseLoad::default() };
            worker.report(picks[host], &load, now_ns).expect("a good report");
        }
        count
    })
}

fn worker(behavior: Behavior, policy: Policy) -> Worker {
    let hosts = assignment(Layout::Flat, HOSTS, true);
    cluster(behavior, policy, &hosts).worker().expect("a worker")
}

/// As many picks as there are hosts.
fn picks(worker: &mut Worker) -> Vec<Pick> {
    (0..HOSTS).map(|_| worker.pick(&UNCOUNTED).expect("a host")).collect()
}

/// Requests to their ends.
fn ends() {
    for behavior in BEHAVIORS {
        let by_reports = || policy(Metrics::Scalar);
        let reported = {
            let mut worker = worker(behavior, by_reports());
            let values = values(Form::Text, Metrics::Scalar);
            for (pick, value) in picks(&mut worker).into_iter().zip(&values) {
                let headers = Form::Text.headers(value);
                let load = ResponseLoad { headers, ..ResponseLoad::default() };
                worker.report(pick, &load, NOW_NS).expect("a good report");
            }
            worker
        };
        let contenders = vec![
            requests("round_robin", worker(behavior, Policy::ROUND_ROBIN), succeeds),
            requests("by reports, none yet", worker(behavior, by_reports()), succeeds),
            requests(
                "by reports, none yet, every other request fails",
                worker(behavior, by_reports()),
                fails,
            ),
            requests("by reports, all have reported", reported, succeeds),
            reporting(worker(behavior, by_reports())),
        ];
        let title = format!("{}, pick + done, {HOSTS} hosts", behavior.name());
        table::print_rows(&title, &compare(contenders, Plan::default()));
    }
}

fn succeeds(_: u64) -> Outcome {
    Outcome::Success
}

fn fails(index: u64) -> Outcome {
    if index.is_multiple_of(2) { Outcome::Error } else { Outcome::Success }
}

fn requests<'a>(name: &str, mut worker: Worker, outcome: fn(u64) -> Outcome) -> Contender<'a> {
    Contender::looping(name, move |count| {
        for index in 0..count {
            let pick = worker.pick(black_box(&PickContext::default())).expect("a host");
            worker.done(pick, outcome(index)).expect("a counted pick");
        }
        count
    })
}

/// Requests whose responses bring a report.
fn reporting<'a>(mut worker: Worker) -> Contender<'a> {
    let values = values(Form::Text, Metrics::Scalar);
    Contender::looping("by reports, with a report in TEXT", move |count| {
        for (index, now_ns) in (0..count).zip(NOW_NS..) {
            let pick = worker.pick(black_box(&PickContext::default())).expect("a host");
            let value = &values[usize::try_from(index).unwrap_or(0) % values.len()];
            let headers = Form::Text.headers(black_box(value));
            let load = ResponseLoad { headers, ..ResponseLoad::default() };
            worker.report(pick, &load, now_ns).expect("a good report");
            worker.done(pick, Outcome::Success).expect("a counted pick");
        }
        count
    })
}
