#![allow(clippy::all, clippy::disallowed_types, clippy::cast_possible_truncation)]
use super::*;
use std::time::Instant;
fn best(runs: usize, mut f: impl FnMut()) -> f64 {
    (0..runs)
        .map(|_| {
            let t = Instant::now();
            f();
            t.elapsed().as_secs_f64() * 1e3
        })
        .fold(f64::MAX, f64::min)
}
#[test]
#[ignore]
fn timing() {
    for (n, per) in [
        (100_usize, 10_u32),
        (100, 655),
        (100, 2621),
        (1000, 65),
        (1000, 262),
        (10_000, 128),
        (10_000, 800),
    ] {
        let keys: Vec<String> =
            (0..n).map(|i| format!("10.0.{}.{}:8080", i / 250, i % 250)).collect();
        let keys: Vec<&str> = keys.iter().map(String::as_str).collect();
        let counts = vec![per; n];
        let f = HashFunction::XxHash;
        let build = best(7, || {
            std::hint::black_box(Ring::new(&keys, &counts, f, None));
        });
        let ring = Ring::new(&keys, &counts, f, None);
        let mut p = points::Points::new(f);
        let hash = best(1, || p.make(&keys, &counts, |_| true));
        let kept: Vec<Option<u32>> = (1..n as u32).map(Some).collect();
        let less = best(7, || {
            std::hint::black_box(Ring::new(
                &keys[1..],
                &counts[1..],
                f,
                Some(Before { ring: &ring, kept: &kept }),
            ));
        });
        let small = Ring::new(&keys[1..], &counts[1..], f, None);
        let kept: Vec<Option<u32>> = (0..n as u32).map(|i| i.checked_sub(1)).collect();
        let more = best(7, || {
            std::hint::black_box(Ring::new(
                &keys,
                &counts,
                f,
                Some(Before { ring: &small, kept: &kept }),
            ));
        });
        let hashes: Vec<u64> = (0..1_000_000).map(crate::rng::splitmix64).collect();
        let mut sum = 0;
        let find = best(5, || {
            for &h in &hashes {
                sum += u64::from(ring.member(ring.find(h)));
            }
        });
        let d1 = best(5, || {
            for &h in &hashes {
                sum += u64::from(ring.distinct(h, 1));
            }
        });
        let lb = best(3, || {
            for &h in &hashes {
                sum += u64::from(ring.member(ring.hashes.partition_point(|&x| x < h) % ring.len()));
            }
        });
        let wide = Ring { owners: Indexes::Wide(ring.owners.iter().collect()), ..ring.clone() };
        let w = best(5, || {
            for &h in &hashes {
                sum += u64::from(wide.member(wide.find(h)));
            }
        });
        println!(
            "T n={n} points={} build {build:.3} (make {hash:.3}) minus {less:.3} plus {more:.3} find {find:.2} wide {w:.2} bisect {lb:.2} distinct1 {d1:.2} {}",
            ring.len(),
            sum % 2
        );
    }
    for n in [6_usize, 100, 5000, 100_000] {
        let mut scratch = Vec::with_capacity(n);
        let mut s = 0;
        let one = best(5, || {
            for h in 0..10_000_u64 {
                s += super::super::bounded::choose(
                    h,
                    0,
                    &mut scratch,
                    n,
                    |m| m == 0,
                    |m| if m == 0 { 2.0 } else { 0.5 },
                );
            }
        });
        let all = best(2, || {
            for h in 0..10_u64 {
                s += super::super::bounded::choose(h, 0, &mut scratch, n, |m| m == 0, |_| 2.0);
            }
        });
        println!(
            "T bounded n={n} one probe {:.0} ns, all {:.0} ns {}",
            one * 100.0,
            all * 1e5,
            s % 2
        );
    }
}
