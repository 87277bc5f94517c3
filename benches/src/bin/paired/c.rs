//! What a call from C costs more than a call from Rust.

use plimsoll::PickContext;
use plimsoll::config::{Behavior, Policy};
use plimsoll_benches::c_loops::CCluster;
use plimsoll_benches::paired::{Contender, Plan, compare};
use plimsoll_benches::scenario::Layout;
use plimsoll_benches::table;

use crate::layouts::Size;
use crate::pick::{batch_loop, pair_loop, pick_loop};

const COUNTED: PickContext = PickContext::new();
const UNCOUNTED: PickContext = PickContext::uncounted();

pub(crate) fn run() {
    let size = Size { layout: Layout::Layered, hosts: 1_000 };
    let mut lines = Vec::new();
    for policy in [Policy::ROUND_ROBIN, Policy::Random] {
        let engine = size.engine(Behavior::Native, policy.clone(), false);
        let in_c = CCluster::new(size.engine(Behavior::Native, policy.clone(), false));
        let mut rust: Vec<_> = (0..5).map(|_| engine.worker().expect("a worker")).collect();
        let mut c: Vec<_> = (0..5).map(|_| in_c.worker()).collect();
        let [a, b, d, e, f] = &mut rust[..] else { unreachable!("five workers") };
        let [g, h, i, j, k] = &mut c[..] else { unreachable!("five workers") };
        let pairs = [
            (
                "pick, uncounted",
                Contender::looping("Rust", |count| pick_loop(a, UNCOUNTED, count)),
                Contender::looping("C", |count| g.picks(true, count)),
            ),
            (
                "pick",
                Contender::looping("Rust", |count| pick_loop(b, COUNTED, count)),
                Contender::looping("C", |count| h.picks(false, count)),
            ),
            (
                "pick + done",
                Contender::looping("Rust", |count| pair_loop(d, count)),
                Contender::looping("C", |count| i.pairs(count)),
            ),
            (
                "64 a batch, uncounted",
                Contender::looping("Rust", |count| batch_loop(e, UNCOUNTED, count)),
                Contender::looping("C", |count| j.batches(true, count)),
            ),
            (
                "64 a batch",
                Contender::looping("Rust", |count| batch_loop(f, COUNTED, count)),
                Contender::looping("C", |count| k.batches(false, count)),
            ),
        ];
        for (what, rust, c) in pairs {
            let rows = compare(vec![rust, c], Plan { rounds: 101, ..Plan::default() });
            // The difference of a round, from its ratio, is steadier than that of the best slices.
            let more = rows[0].median * (1.0 / rows[1].times - 1.0);
            lines.push(vec![
                format!("{}, {what}", policy.name()),
                table::ns(rows[0].best),
                table::ns(rows[1].best),
                table::ns(more),
                table::ns(rows[1].best - rows[0].best),
            ]);
        }
    }
    let heading = ["call", "Rust ns", "C ns", "more ns (median)", "more ns (best)"];
    table::print(&format!("C calls, {}", size.title()), &heading, &lines);
}
