//! A developer's curves of snapshot reads. For claims see the `paired` binary.

use criterion::Criterion;
use plimsoll_benches::schemes::{EpochPin, Plain, Scheme, SwapLoad, Table, TwoSlots};

fn read<S: Scheme>(criterion: &mut Criterion) {
    let scheme = S::new(Table::new(1));
    let mut handle = scheme.handle();
    let mut index = 0;
    criterion.bench_function(&format!("read/{}", S::NAME), |bencher| {
        bencher.iter(|| {
            index = (index + 7) % 64;
            S::read(&mut handle, index)
        });
    });
}

fn publish(criterion: &mut Criterion) {
    let scheme = TwoSlots::new(Table::new(0));
    let mut handle = scheme.handle();
    criterion.bench_function("publish/plimsoll", |bencher| {
        bencher.iter(|| {
            scheme.publish(Table::new(1));
            TwoSlots::read(&mut handle, 0)
        });
    });
}

fn all(criterion: &mut Criterion) {
    read::<Plain>(criterion);
    read::<TwoSlots>(criterion);
    read::<EpochPin>(criterion);
    read::<SwapLoad>(criterion);
    publish(criterion);
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args();
    all(&mut criterion);
    criterion.final_summary();
}
