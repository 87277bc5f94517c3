//! Single picks while another thread publishes new weights of localities every millisecond.

use std::hint::black_box;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll::config::{Behavior, Policy};
use plimsoll::{Cluster, PickContext, Worker};
use plimsoll_benches::counter;
use plimsoll_benches::paired::median;
use plimsoll_benches::table;
use plimsoll_benches::tail::Durations;
use plimsoll_benches::zones::{Routing, Shape, due_ns, open, report_of};

const SHAPE: Shape = Shape { priorities: 1, localities: 100, hosts: 10 };
const ROUNDS: usize = 15;
const SLICE: Duration = Duration::from_millis(60);
const PERIOD: Duration = Duration::from_millis(1);
const QUANTILES: [f64; 3] = [0.5, 0.99, 0.999];

pub(crate) fn run() {
    let Some(tick_ns) = counter::tick_ns() else {
        println!("There is no time stamp counter to measure with.");
        return;
    };
    let mut lines = Vec::new();
    for (behavior, policy) in [
        (Behavior::Native, Policy::ROUND_ROBIN),
        (Behavior::Native, Policy::Random),
        (Behavior::Envoy, Policy::ROUND_ROBIN),
    ] {
        lines.extend(measure(behavior, &policy, tick_ns));
    }
    let heading = ["uncounted pick", "p50", "p99", "p99.9", "first after a publish", "publishes/s"];
    let title = "single picks, 1 000 hosts in 100 localities, load-aware: ns above nothing";
    table::print(title, &heading, &lines);
}

/// What the second thread does meanwhile.
#[derive(Clone, Copy)]
enum Company {
    Idle,
    /// It publishes weights of another cluster.
    Elsewhere,
    /// It publishes weights of this cluster.
    Here,
}

impl Company {
    const ALL: [Self; 3] = [Self::Idle, Self::Elsewhere, Self::Here];

    fn name(self) -> &'static str {
        match self {
            Self::Idle => "nothing is published",
            Self::Elsewhere => "another cluster publishes",
            Self::Here => "publishes",
        }
    }
}

/// A cluster whose weights another thread publishes.
struct Publishing {
    cluster: Cluster,
    addresses: Vec<String>,
    ticks: u64,
}

impl Publishing {
    fn new(behavior: Behavior, policy: &Policy) -> Self {
        let cluster = open(behavior, policy.clone(), SHAPE, Routing::LoadAware);
        let all = SHAPE.hosts().map(|(_, address)| address);
        Self { cluster, addresses: all.step_by(SHAPE.hosts as usize).collect(), ticks: 0 }
    }

    /// A host of each locality reports another utilization, and a tick makes weights of it.
    fn publish(&mut self) {
        self.ticks += 1;
        let now_ns = due_ns(self.ticks);
        let utilization = if self.ticks.is_multiple_of(2) { 0.2 } else { 0.6 };
        for address in &self.addresses {
            report_of(&self.cluster, address, utilization, now_ns);
        }
        self.cluster.tick(now_ns).expect("a sound cluster");
    }

    /// Publishes every millisecond until it is over; returns how often a second.
    fn run(&mut self, is_over: &AtomicBool) -> f64 {
        let start = Instant::now();
        let (mut due, before) = (PERIOD, self.cluster.view().version());
        while !is_over.load(Ordering::Relaxed) {
            thread::sleep(due.saturating_sub(start.elapsed()));
            self.publish();
            due += PERIOD;
        }
        let publishes = self.cluster.view().version() - before;
        u32::try_from(publishes).map_or(f64::NAN, f64::from) / start.elapsed().as_secs_f64()
    }
}

/// What one slice found: ticks of the counter by quantile and of the first picks after publishes,
/// and publishes a second, of whichever cluster.
struct Slice {
    quantiles: [f64; 3],
    first: Vec<f64>,
    publishes: f64,
}

fn measure(behavior: Behavior, policy: &Policy, tick_ns: f64) -> Vec<Vec<String>> {
    let mut here = Publishing::new(behavior, policy);
    let mut elsewhere = Publishing::new(behavior, policy);
    let mut worker = here.cluster.worker().expect("a worker");
    let mut other = elsewhere.cluster.worker().expect("a worker");
    let mut slices = Company::ALL.map(|_| Vec::new());
    for _ in 0..ROUNDS {
        for (company, slices) in Company::ALL.into_iter().zip(&mut slices) {
            let publisher = match company {
                Company::Idle => None,
                Company::Elsewhere => Some(&mut elsewhere),
                Company::Here => Some(&mut here),
            };
            worker.refresh();
            other.refresh();
            slices.push(slice(&mut worker, publisher));
        }
    }
    let nothing = nothing();
    let line = |(company, slices): (Company, &Vec<Slice>)| {
        let middle = |of: &dyn Fn(&Slice) -> f64| median(slices.iter().map(of).collect());
        let above = |ticks: f64| table::ns((ticks - nothing) * tick_ns);
        let mut line = vec![format!("{} {}: {}", behavior.name(), policy.name(), company.name())];
        line.extend((0..QUANTILES.len()).map(|it| above(middle(&|slice| slice.quantiles[it]))));
        let first: Vec<f64> = slices.iter().flat_map(|slice| &slice.first).copied().collect();
        line.push(if first.is_empty() { "-".into() } else { above(median(first)) });
        line.push(format!("{:.0}", middle(&|slice| slice.publishes)));
        line
    };
    Company::ALL.into_iter().zip(&slices).map(line).collect()
}

/// The median ticks of an empty operation.
fn nothing() -> f64 {
    let mut durations = Durations::default();
    for _ in 0..1_000_000 {
        durations.time(|| {});
    }
    durations.quantile(0.5)
}

/// Picks for the time of a slice, while another thread publishes.
fn slice(worker: &mut Worker, publisher: Option<&mut Publishing>) -> Slice {
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    let barrier = Barrier::new(1 + usize::from(publisher.is_some()));
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let (barrier, is_over) = (&barrier, &is_over);
        let publisher = publisher.map(|publisher| {
            let core = cores.get(1).copied();
            scope.spawn(move || {
                core.map(core_affinity::set_for_current);
                barrier.wait();
                publisher.run(is_over)
            })
        });
        let core = cores.first().copied();
        let picker = scope.spawn(move || {
            core.map(core_affinity::set_for_current);
            barrier.wait();
            let slice = picks(worker);
            is_over.store(true, Ordering::Relaxed);
            slice
        });
        let slice = picker.join().expect("no panic");
        let publishes = publisher.map_or(0.0, |thread| thread.join().expect("no panic"));
        Slice { publishes, ..slice }
    })
}

fn picks(worker: &mut Worker) -> Slice {
    let context = PickContext { uncounted: true, ..PickContext::default() };
    let (mut all, mut first) = (Durations::default(), Vec::new());
    let mut version = worker.snapshot_version();
    let start = Instant::now();
    while start.elapsed() < SLICE {
        for _ in 0..256 {
            let ticks = all.time(|| {
                black_box(worker.pick(black_box(&context)).expect("a host").slot);
            });
            let present = worker.snapshot_version();
            if present != version {
                version = present;
                first.push(u32::try_from(ticks).map_or(f64::INFINITY, f64::from));
            }
        }
    }
    let quantiles = QUANTILES.map(|part| all.quantile(part));
    Slice { quantiles, first, publishes: 0.0 }
}
