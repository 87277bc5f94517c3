"""Panic, and how traffic divides among localities by weight and by zone: shares and counters."""

from collections import Counter
from dataclasses import dataclass, field

from .. import shares
from ..clusters import cluster, host, least_request, locality, place, random, round_robin
from ..scenario import MODULE, Row, scenario

ASKED = 4_000
PREDICTED = 200_000
ZONE = "za"
FLEET = "fleet"  # the local cluster
NOBODY = "nobody"
BAD, POOR, LEAVING = "UNHEALTHY", "DEGRADED", "DRAINING"
# What Envoy counts with a pick; the name in the report.
PER_PICK = {
    "lb_healthy_panic": "panic",
    "lb_zone_routing_all_directly": "directly",
    "lb_zone_routing_sampled": "sampled",
    "lb_zone_routing_cross_zone": "cross zone",
    "lb_zone_no_capacity_left": "no capacity",
    "lb_local_cluster_not_ok": "local not ok",
}
WEIGHTED = {"locality_lb_config": {"locality_weighted_lb_config": {}}}


@dataclass
class Case:
    """A cluster; the report has a share for each group of origins that its hosts are of."""

    name: str
    localities: list
    policy: dict = field(default_factory=round_robin)
    fields: dict = field(default_factory=dict)
    assignment: dict = field(default_factory=dict)


class Groups:
    """Makes localities, each of hosts of one group of origins."""

    def __init__(self, rig):
        self._rig = rig
        self._next = 0

    def __call__(self, zone=None, healthy=0, weights=None, states=(), **more):
        """A locality with so many healthy hosts, and one for each of the other states."""
        states = [None] * healthy + list(states)
        weights = weights or [None] * len(states)
        group, self._next = self._next, self._next + 1
        hosts = [host(self._rig.origins.address(group, i), weight, state)
                 for i, (weight, state) in enumerate(zip(weights, states, strict=True))]
        return locality(hosts, zone, **more)


def _aware(**settings):
    return {"locality_lb_config": {"zone_aware_lb_config": settings}}


@scenario("panic", "Panic and degraded hosts: shares",
          by_chance=True)
def panic(rig):
    """4 000 requests to each cluster under round_robin: the share of each group of hosts, of those
    that got none, and of picks that Envoy counts as panic. Envoy's percentages lose one at 29, 57
    and 58, which shows with one percent less healthy hosts."""
    cases = []

    def case(name, groups, **more):
        cases.append(Case(name, groups, **more))

    def with_threshold(percent):
        return {"common_lb_config": {"healthy_panic_threshold": {"value": percent}}}

    def one_of_four():
        make = Groups(rig)
        return [make(healthy=1), make(states=[BAD] * 3)]

    fail = round_robin(**_aware(fail_traffic_on_panic=True))
    case("1 of 4 hosts healthy", one_of_four())
    case("1 of 4 hosts healthy, fail_traffic_on_panic", one_of_four(), policy=fail)
    case("1 of 4 hosts healthy, healthy_panic_threshold 0", one_of_four(), fields=with_threshold(0))
    make = Groups(rig)
    case("2 of 4 hosts healthy", [make(healthy=2), make(states=[BAD] * 2)])
    case("no host healthy, healthy_panic_threshold 0", [Groups(rig)(states=[BAD] * 3)],
         fields=with_threshold(0))
    for percent in (28, 29, 30, 57, 58, 59):
        addresses = iter(rig.origins.some(100))
        states = [None if i < percent - 1 else BAD for i in range(100)]
        case(f"threshold {percent}, {percent - 1} of 100 hosts healthy",
             [locality(host(next(addresses), health=state) for state in states)],
             fields=with_threshold(percent))
    for weighted in (True, False):
        make = Groups(rig)
        case("priority 0 healthy but for most of its weight"
             + (", weighted_priority_health" if weighted else ""),
             [make(healthy=3, weights=[1, 1, 1, 97], states=[BAD]), make(healthy=1, priority=1)],
             assignment={"weighted_priority_health": weighted})
    make = Groups(rig)
    case("all hosts degraded", [make(states=[POOR] * 4)])
    make = Groups(rig)
    case("1 healthy, 2 degraded of 3", [make(healthy=1), make(states=[POOR] * 2)])
    make = Groups(rig)
    case("5/0/1 ; 5/0/5 ; 5/1", [
        make(states=[POOR] + [BAD] * 4), make(states=[POOR] * 5, priority=1),
        make(healthy=1, states=[BAD] * 4, priority=2)])
    make = Groups(rig)
    case("5/1 ; 5/1 : panic in both", [
        make(healthy=1, states=[BAD] * 4), make(healthy=1, states=[BAD] * 4, priority=1)])
    make = Groups(rig)
    case("100/5 ; 100/65 : panic in one", [
        make(healthy=1, states=[BAD] * 19), make(healthy=13, states=[BAD] * 7, priority=1)])
    return _run(rig, cases)


@scenario("locality-weights", "Locality weights: shares",
          by_chance=True)
def locality_weights(rig):
    """4 000 requests to each cluster with `locality_weighted_lb_config`: the share of each
    locality, which follows its weight and, below 10/14 healthy hosts, its health."""
    cases = []
    for count in range(5, -1, -1):
        make = Groups(rig)
        cases.append(Case(
            f"weights 1 and 2, {count} of 5 hosts and 1 of 1 healthy",
            [make("za", healthy=count, states=[BAD] * (5 - count), weight=1),
             make("zb", healthy=1, weight=2)], round_robin(**WEIGHTED)))
    for name, policy in (("least_request", least_request), ("random", random)):
        make = Groups(rig)
        cases.append(Case(
            f"{name}, weights 3, 2 and 1",
            [make("za", healthy=2, weight=3), make("zb", healthy=3, weight=2),
             make("zc", healthy=1, weight=1)], policy(**WEIGHTED)))
    make = Groups(rig)
    cases.append(Case("no weights", [make("za", healthy=3), make("zb", healthy=1)],
                      round_robin(**WEIGHTED)))
    make = Groups(rig)
    cases.append(Case("one locality without a weight",
                      [make("za", healthy=1, weight=1), make("zb", healthy=3)],
                      round_robin(**WEIGHTED)))
    make = Groups(rig)
    mixed = make("zb", healthy=1, weight=2, states=[BAD] * 2)
    poor = make("zb", states=[POOR] * 3, weight=2)
    cases.append(Case("weights 1 and 2, degraded hosts in one",
                      [make("za", healthy=4, weight=1), mixed, poor], round_robin(**WEIGHTED)))
    make = Groups(rig)
    cases.append(Case("weights 1 and 1, two of three hosts draining in one",
                      [make("za", healthy=1, states=[LEAVING] * 2, weight=1),
                       make("zb", healthy=2, weight=1)], round_robin(**WEIGHTED)))
    for factor in (100, 200):
        make = Groups(rig)
        cases.append(Case(
            f"weights 1 and 1, half of one healthy, overprovisioning_factor {factor}",
            [make("za", healthy=1, states=[BAD], weight=1), make("zb", healthy=1, weight=1)],
            round_robin(**WEIGHTED), assignment={"overprovisioning_factor": factor}))
    return _run(rig, cases)


@scenario("zone-aware", "Zone-aware routing: shares",
          by_chance=True, module="Envoy does not show its modules the local cluster")
def zone_aware(rig):
    """4 000 requests to each cluster, from a fleet of two proxies in each of zones a (the local
    one) and b: the share of each zone's hosts, and of picks by what Envoy counts of them."""
    cases = []

    def case(name, counts, states=(), **settings):
        make = Groups(rig)
        settings.setdefault("min_cluster_size", 1)
        cases.append(Case(
            name, [make(zone, healthy=count, states=states if zone == "zb" else ())
                   for zone, count in zip(("za", "zb", "zc"), counts)],
            round_robin(**_aware(**settings))))

    case("a 1, b 3", (1, 3))
    case("a 2, b 2", (2, 2))
    case("a 1, b 2, c 2", (1, 2, 2))
    case("a 1, b 5", (1, 5))
    case("a 0, b 4, c 4", (0, 4, 4))
    case("5 hosts, min_cluster_size 6", (3, 2), min_cluster_size=6)
    case("6 hosts, min_cluster_size 6", (3, 3), min_cluster_size=6)
    case("a 3, b 3, routing_enabled 30", (3, 3), routing_enabled={"value": 30})
    case("a 3, b 3, routing_enabled 0", (3, 3), routing_enabled={"value": 0})
    case("a 1, b 3, force_local_zone", (1, 3), force_local_zone={})
    case("a 1, b 3, force_local_zone with min_size 2", (1, 3), force_local_zone={"min_size": 2})
    case("a 4, b 1 of 6, 3 degraded", (4, 1), states=[POOR] * 3 + [BAD] * 2)
    make = Groups(rig)
    cases.append(Case(
        "one heavy host in a, five light ones in b, by weight",
        [make("za", healthy=1, weights=[10]), make("zb", healthy=5, weights=[2] * 5)],
        round_robin(**_aware(min_cluster_size=1, locality_basis="HEALTHY_HOSTS_WEIGHT"))))
    make = Groups(rig)
    cases.append(Case(
        "priority 0 unhealthy, priority 1 in both zones",
        [make("za", states=[BAD] * 2), make("zb", states=[BAD] * 2),
         make("za", healthy=1, priority=1), make("zb", healthy=3, priority=1)],
        round_robin(**_aware(min_cluster_size=1))))
    make = Groups(rig)
    cases.append(Case("no configuration of zones at all",
                      [make("za", healthy=3), make("zb", healthy=3)]))
    make = Groups(rig)
    cases.append(Case("locality weights configured, none given",
                      [make("za", healthy=3), make("zb", healthy=3)], round_robin(**WEIGHTED)))
    fleet = cluster(FLEET, round_robin(), [
        locality([host(rig.origins.address(11, 2 * i + j)) for j in range(2)], zone)
        for i, zone in enumerate(("za", "zb"))])
    return _run(rig, cases, fleet)


def _run(rig, cases, fleet=None):
    messages = [
        cluster(f"case{number}", case.policy, case.localities, case.assignment, **case.fields)
        for number, case in enumerate(cases)
    ]
    everything = messages + ([fleet] if fleet else [])
    measured = []
    with rig.envoy(everything, zone=ZONE, local_cluster=fleet and FLEET) as envoy, \
            envoy.client() as client:
        for message in messages:
            measured.append(rig.each(message, lambda name: _ask(rig, envoy, client, name)))
    return [_row(case, seen, _predict(rig, message, fleet))
            for case, message, seen in zip(cases, messages, measured)]


def _ask(rig, envoy, client, name):
    """Who answered, and how many picks Envoy counted in its ways."""
    before = envoy.stats(f"cluster.{name}.")
    counts = _by_group(rig, shares.tally(client.origins(name, ASKED, at_once=1)), None)
    after = envoy.stats(f"cluster.{name}.")
    return counts, {title: after[counter] - before[counter]
                    for counter, title in PER_PICK.items()}


def _predict(rig, message, fleet):
    with rig.replay() as replay:
        if fleet:
            replay.open(fleet, node={"locality": place(ZONE)})
        where = {"local_cluster": FLEET} if fleet else {}
        replay.open(message, seed=1, node={"locality": place(ZONE)}, **where)
        before = replay.do("show", what="stats")
        tally = Counter(replay.do("tally", n=PREDICTED))
        after = replay.do("show", what="stats")
        return _by_group(rig, tally, "none"), {
            title: after.get(counter, 0) - before.get(counter, 0)
            for counter, title in PER_PICK.items()}


def _by_group(rig, counts, nobody):
    """Counts of groups; `nobody` stands for requests that no host answered."""
    def group(name):
        return NOBODY if name == nobody else f"{rig.origins.group_of(name):02}"

    return shares.regrouped(counts, group)


def _row(case, seen, predicted):
    result = Row(case.name, _text(predicted, predicted), {}, {})
    for column, (counts, picks) in seen.items():
        if column == MODULE:  # what it counts, it counts of the engine's picks
            picks = {}
        result.seen[column] = _text((counts, picks), predicted)
        result.agrees[column] = shares.agree(counts, predicted[0]) and all(
            shares.agree(_parts(picks[title], counts), _parts(predicted[1][title], predicted[0]))
            for title in picks)
    return result


def _parts(some, of_all):
    return Counter({True: some, False: sum(of_all.values()) - some})


def _text(found, predicted):
    """Shares of the groups, and what Envoy counted, in percent of all requests."""
    counts, picks = found
    total = sum(counts.values())
    shown = [shares.text(counts, sorted(predicted[0].keys() - {NOBODY}))]
    if counts[NOBODY]:
        shown.append(f"{NOBODY} {100 * counts[NOBODY] / total:.2f}")
    shown += [f"{title} {100 * count / total:.2f}" for title, count in picks.items()
              if count or predicted[1][title]]
    return "; ".join(shown)
