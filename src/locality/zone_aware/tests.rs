//! Envoy's tables, and what native makes of the same zones.

use super::*;
use proptest::prelude::*;

/// What a row expects: the local zone alone, or its part and the residuals added up.
type Expected = Option<(u64, &'static [u64])>;

/// Zones as in `A:1 B:2`, the local one first if `has_local`.
struct Row {
    name: &'static str,
    proxies: &'static str,
    hosts: &'static str,
    has_local: bool,
    forced: bool,
    expected: Expected,
}

const fn row(
    name: &'static str,
    proxies: &'static str,
    hosts: &'static str,
    has_local: bool,
    expected: Expected,
) -> Row {
    Row { name, proxies, hosts, has_local, forced: false, expected }
}

fn read(zones: &str) -> Vec<(&str, u64)> {
    let pairs = zones.split_whitespace().map(|pair| pair.split_once(':').expect(pair));
    pairs.map(|(name, amount)| (name, amount.parse().expect(amount))).collect()
}

impl Row {
    fn zones<T>(&self, use_them: impl FnOnce(Zones<'_>) -> T) -> T {
        let proxies = read(self.proxies);
        let amount = |name: &str| {
            let found = proxies.iter().find(|(other, _)| *other == name);
            found.map_or(0, |&(_, amount)| amount)
        };
        let zones: Vec<Zone> = read(self.hosts)
            .into_iter()
            .map(|(name, hosts)| Zone { hosts, proxies: amount(name) })
            .collect();
        use_them(Zones {
            zones: &zones,
            has_local: self.has_local,
            proxies: proxies.iter().map(|(_, amount)| amount).sum(),
            forced: self.forced,
        })
    }
}

/// Section by section: Envoy's unit tests, runs of the binary, and generated cases.
const ROWS: [Row; 24] = [
    row("zones mismatched, in A", "A:1 B:1", "A:1 C:1", true, None),
    row("zones mismatched, in B", "B:1 A:1", "A:1 C:1", false, Some((0, &[0, 5000]))),
    row(
        "residuals mismatched",
        "A:2 B:2 C:1 D:1",
        "A:1 C:3 D:3 E:1",
        true,
        Some((3750, &[0, 2084, 4168, 5418])),
    ),
    row("different size", "B:1 A:1", "B:1 A:1 C:1", true, Some((6666, &[0, 0, 3333]))),
    row("weights", "A:200 B:200", "A:100 B:100", true, None),
    row("large zone", "B:1 A:1 C:1", "B:1 A:1 C:1", true, None),
    row("small zone", "A:1 B:1 C:1", "A:1 B:2 C:2", true, Some((6000, &[0, 667, 1334]))),
    row("no matches", "A:1 B:1 C:1", "D:1 E:1 F:1", false, Some((0, &[3333, 6666, 9999]))),
    row(
        "empty localities",
        "A:1 C:1 D:1 x:0 F:1",
        "A:0 B:0 C:2 E:1 F:2 G:0 H:1 I:0",
        true,
        Some((0, &[0, 0, 833, 2499, 3332, 3332, 4998, 4998])),
    ),
    row("low precision", "A:45000 B:55000", "A:44999 B:55001", true, Some((9997, &[0, 0]))),
    row("not forced", "A:1 B:1", "A:1 B:1 C:1", true, Some((6666, &[0, 0, 3333]))),
    Row { forced: true, ..row("forced", "A:1 B:1", "A:1 B:1 C:1", true, None) },
    Row { forced: true, ..row("forced, empty", "A:1 B:1", "A:0 B:1 C:1", true, None) },
    row(
        "40 40 20 and 25 50 25",
        "A:40 B:40 C:20",
        "A:25 B:50 C:25",
        true,
        Some((6250, &[0, 1000, 1500])),
    ),
    row("binary, 1 3", "A:2 B:2", "A:1 B:3", true, Some((5000, &[0, 2500]))),
    row("binary, 1 2 2", "A:2 B:2", "A:1 B:2 C:2", true, Some((4000, &[0, 0, 4000]))),
    row("binary, 1 5", "A:2 B:2", "A:1 B:5", true, Some((3332, &[0, 3333]))),
    row("local zone down", "A:3 B:5", "A:0 B:4 C:4", true, Some((0, &[0, 0, 5000]))),
    row(
        "7 zones",
        "A:10 B:20 C:5 D:5",
        "A:3 B:30 C:7 D:1 E:2 F:9",
        true,
        Some((2304, &[0, 769, 865, 865, 1249, 2979])),
    ),
    row("no proxy is healthy", "", "A:3 B:3", true, None),
    row("weights, 3 zones", "A:7 B:11", "A:13 B:29 C:3", true, Some((7427, &[0, 333, 999]))),
    row("thirds", "A:1 B:1 C:1", "A:1 B:1 C:2", true, Some((7500, &[0, 0, 1667]))),
    row("one zone", "A:1", "A:1", true, None),
    row("nothing at all", "", "", false, Some((0, &[]))),
];

//= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#regenerateLocalityRoutingStructures
#[test]
fn proportions_are_envoys() {
    for row in &ROWS {
        let expected = match row.expected {
            None => Route::Direct,
            Some((local, residuals)) => Route::Residual { local, residuals: residuals.into() },
        };
        assert_eq!(row.zones(envoy), expected, "{}", row.name);
    }
}

//= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#tryChooseLocalLocalityHosts
#[test]
fn picks_are_envoys() {
    let mismatched = &ROWS[2];
    let empty = &ROWS[8];
    let table: [(&Row, &[u64], usize, Choice); 15] = [
        (&ROWS[0], &[], 0, Choice::Direct),
        (&ROWS[1], &[0, 0], 1, Choice::CrossZone),
        (&ROWS[1], &[0, 4999], 1, Choice::CrossZone),
        (mismatched, &[3749], 0, Choice::Sampled),
        (mismatched, &[3750, 0], 1, Choice::CrossZone),
        (mismatched, &[3750, 2083], 1, Choice::CrossZone),
        (mismatched, &[9999, 2084], 2, Choice::CrossZone),
        (mismatched, &[9999, 4168], 3, Choice::CrossZone),
        (mismatched, &[9999, 5418], 1, Choice::CrossZone),
        (empty, &[0, 832], 2, Choice::CrossZone),
        (empty, &[0, 833], 3, Choice::CrossZone),
        (empty, &[0, 2499], 4, Choice::CrossZone),
        (empty, &[0, 3332], 6, Choice::CrossZone),
        (empty, &[0, 4998], 2, Choice::CrossZone),
        (&ROWS[9], &[9999, 3], 1, Choice::NoCapacityLeft),
    ];
    for (row, draws, index, choice) in table {
        let mut numbers = draws.iter().copied();
        let route = row.zones(envoy);
        let chosen = route.choose(|| numbers.next().expect("another number"));
        assert_eq!(chosen, (index, choice), "{}, {draws:?}", row.name);
        assert_eq!(numbers.next(), None, "{}, {draws:?}", row.name);
    }
}

#[test]
fn native_shares_are_envoys_but_for_rounding_and_its_black_holes() {
    for row in &ROWS {
        let shares = row.zones(native);
        let Some((local, residuals)) = row.expected else {
            if row.name == "forced, empty" {
                assert_eq!(shares.unwrap()[0], 0, "Envoy sends everything to nobody");
            } else {
                assert_eq!(shares.unwrap()[0], WHOLE, "{}", row.name);
            }
            continue;
        };
        let Some(shares) = shares else { continue };
        let share = |index: usize| shares[index] as f64 / WHOLE as f64;
        let all = residuals.last().copied().unwrap_or(0) as f64;
        if all < 100.0 {
            // Envoy's numbers are too coarse to compare with.
            assert!(share(0) > 0.999, "{}: {shares:?}", row.name);
            continue;
        }
        let local = if row.has_local { local as f64 / SCALE as f64 } else { 0.0 };
        let mut before = 0.0;
        for (index, &sum) in residuals.iter().enumerate() {
            let rest = (sum as f64 - before) / all * (1.0 - local);
            let expected = rest + if index == 0 { local } else { 0.0 };
            before = sum as f64;
            assert!((share(index) - expected).abs() < 0.01, "{}: {shares:?}", row.name);
        }
    }
}

proptest! {
    #[test]
    fn native_shares_are_whole_and_never_go_where_nobody_is(
        zones in prop::collection::vec((0..5_u64, 0..5_u64), 0..8),
        elsewhere in 0..5_u64,
        (has_local, forced) in any::<(bool, bool)>(),
    ) {
        let zones: Vec<Zone> =
            zones.into_iter().map(|(hosts, proxies)| Zone { hosts, proxies }).collect();
        let proxies = zones.iter().map(|zone| zone.proxies).sum::<u64>() + elsewhere;
        if let Some(shares) = native(Zones { zones: &zones, has_local, proxies, forced }) {
            prop_assert_eq!(shares.iter().sum::<u64>(), WHOLE);
            for (share, zone) in shares.iter().zip(&zones) {
                prop_assert!(*share == 0 || zone.hosts > 0);
            }
        }
    }

    #[test]
    fn with_one_proxy_fleet_every_host_gets_the_same_in_native(
        hosts in prop::collection::vec(1..50_u64, 2..8),
        proxies in prop::collection::vec(1..50_u64, 8),
    ) {
        // Every proxy sends as much; what arrives in a zone is proportional to its hosts.
        let proxies = &proxies[..hosts.len()];
        let all_proxies: u64 = proxies.iter().sum();
        let mut arrived = vec![0.0; hosts.len()];
        for local in 0..hosts.len() {
            let order: Vec<usize> =
                std::iter::once(local).chain((0..hosts.len()).filter(|&it| it != local)).collect();
            let zone = |&index: &usize| Zone { hosts: hosts[index], proxies: proxies[index] };
            let zones: Vec<Zone> = order.iter().map(zone).collect();
            let zones =
                Zones { zones: &zones, has_local: true, proxies: all_proxies, forced: false };
            let shares = native(zones).unwrap();
            for (&index, &share) in order.iter().zip(&shares) {
                let share = share as f64 / WHOLE as f64;
                arrived[index] += share * proxies[local] as f64 / all_proxies as f64;
            }
        }
        let all_hosts: u64 = hosts.iter().sum();
        for (arrived, hosts) in arrived.iter().zip(&hosts) {
            let expected = *hosts as f64 / all_hosts as f64;
            prop_assert!((arrived - expected).abs() < 1e-6, "{arrived} instead of {expected}");
        }
    }
}
