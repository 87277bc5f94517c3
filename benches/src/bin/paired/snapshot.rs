//! Reads of a shared table that a writer replaces.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use plimsoll_benches::paired::{Contender, Plan, Row, compare, median, per_operation};
use plimsoll_benches::schemes::{
    EpochHandle, EpochPin, NUMBERS, ParkingRwLock, Plain, Scheme, StdMutex, StdRwLock, SwapCache,
    SwapLoad, Table, TwoSlots,
};
use plimsoll_benches::table;

/// Threads that read, and tables published in a second.
#[derive(Clone, Copy)]
struct Shape {
    readers: usize,
    rate: u32,
}

const SHAPES: [Shape; 6] = [
    Shape { readers: 1, rate: 0 },
    Shape { readers: 2, rate: 0 },
    Shape { readers: 1, rate: 1_000 },
    Shape { readers: 2, rate: 1_000 },
    Shape { readers: 1, rate: 100_000 },
    Shape { readers: 2, rate: 100_000 },
];

pub(crate) fn run() {
    SHAPES.into_iter().for_each(measure);
}

fn measure(shape: Shape) {
    let (contenders, publishes): (Vec<_>, Vec<_>) = [
        contender::<Plain>(shape),
        contender::<TwoSlots>(shape),
        contender::<SwapCache>(shape),
        contender::<EpochHandle>(shape),
        contender::<EpochPin>(shape),
        contender::<SwapLoad>(shape),
        contender::<ParkingRwLock>(shape),
        contender::<StdRwLock>(shape),
        contender::<StdMutex>(shape),
    ]
    .into_iter()
    .unzip();
    // Long enough for the slowest writer to come by.
    let slice = Duration::from_millis(if shape.rate == 0 { 1 } else { 4 });
    let rows = compare(contenders, Plan { rounds: 31, slice });
    let line = |(row, publishes): (&Row, &Rc<RefCell<Vec<f64>>>)| {
        let reached = if shape.rate == 0 {
            "-".into()
        } else {
            format!("{:.0}", median(publishes.borrow().clone()))
        };
        let times = 1.0 / row.times;
        vec![
            row.name.clone(),
            table::ns(row.best),
            table::ns(row.median),
            table::times(times),
            reached,
        ]
    };
    let lines: Vec<_> = rows.iter().zip(&publishes).map(line).collect();
    let Shape { readers, rate } = shape;
    let title = format!("snapshot, readers: {readers}, publishes a second: {rate}");
    let heading = ["scheme", "best ns", "median ns", "times the floor", "publishes/s reached"];
    table::print(&title, &heading, &lines);
}

/// A contender, and the publishes a second of its slices.
fn contender<S: Scheme + 'static>(shape: Shape) -> (Contender<'static>, Rc<RefCell<Vec<f64>>>) {
    let scheme = S::new(Table::new(1));
    let reached = Rc::new(RefCell::new(Vec::new()));
    let publishes = Rc::clone(&reached);
    let run = move |count| {
        if shape.readers == 1 && shape.rate == 0 {
            return read(&mut scheme.handle(), &scheme, count);
        }
        let (time, rate) = slice(&scheme, shape, count);
        reached.borrow_mut().push(rate);
        time
    };
    (Contender::timing(S::NAME, run), publishes)
}

/// Nanoseconds of one of `count` reads.
fn read<'a, S: Scheme>(handle: &mut S::Handle<'a>, _: &'a S, count: u64) -> f64 {
    let mut state = 1_u64;
    let mut sum = 0_u64;
    let start = Instant::now();
    for _ in 0..count {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let index = usize::try_from(state >> 58).unwrap_or(0) % NUMBERS;
        sum += u64::from(S::read(handle, index));
    }
    std::hint::black_box(sum);
    per_operation(start.elapsed(), count)
}

/// Nanoseconds of a read in the slowest of the readers, and publishes a second.
fn slice<S: Scheme>(scheme: &S, shape: Shape, count: u64) -> (f64, f64) {
    let barrier = Barrier::new(shape.readers + usize::from(shape.rate > 0));
    let is_over = AtomicBool::new(false);
    let cores = core_affinity::get_core_ids().unwrap_or_default();
    thread::scope(|scope| {
        let reader = |index: usize| {
            let (barrier, core) = (&barrier, cores.get(index).copied());
            scope.spawn(move || {
                core.map(core_affinity::set_for_current);
                let mut handle = scheme.handle();
                barrier.wait();
                read(&mut handle, scheme, count)
            })
        };
        let readers: Vec<_> = (0..shape.readers).map(reader).collect();
        let writer = (shape.rate > 0).then(|| {
            scope.spawn(|| {
                barrier.wait();
                write(scheme, shape.rate, &is_over)
            })
        });
        let times = readers.into_iter().map(|thread| thread.join().expect("no panic"));
        let time = times.fold(0.0, f64::max);
        is_over.store(true, Ordering::Relaxed);
        let rate = writer.map_or(0.0, |thread| thread.join().expect("no panic"));
        (time, rate)
    })
}

/// Publishes until it is over; returns the publishes a second.
fn write<S: Scheme>(scheme: &S, rate: u32, is_over: &AtomicBool) -> f64 {
    let period = Duration::from_secs(1) / rate;
    let start = Instant::now();
    let mut published = 0_u32;
    while !is_over.load(Ordering::Relaxed) {
        let due = period * published;
        let now = start.elapsed();
        if now >= due {
            scheme.publish(Table::new(published));
            published += 1;
        } else if period > Duration::from_micros(100) {
            thread::sleep(due - now);
        }
    }
    f64::from(published) / start.elapsed().as_secs_f64()
}
