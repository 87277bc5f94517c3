"""load_aware_locality: how traffic divides among localities, and what every tick counts."""

import time
from dataclasses import dataclass, field

from .. import module, shares
from ..scenario import STOCK, Row, scenario
from .zones import (
    LOCAL, NODE, by_group, per_tick, report, reporting, ticks, zone, zoned,
)

ROUNDS = 7  # of warming up, at least a tick each
WARM_UP = 250  # requests in each
ASKED = 6_000
PREDICTED = 400_000
PERIOD_S = 0.2


@dataclass
class Case:
    """A cluster, and the load that each group of origins reports."""

    name: str
    localities: list
    loads: dict
    policy: dict = field(default_factory=dict)
    first: dict | None = None  # what was reported before that


def _cases(rig):
    def two(a, b, **policy):
        return Case(f"{_load(a)} / {_load(b)}", [zone(rig, LOCAL, 0), zone(rig, "zb", 1)],
                    {0: a, 1: b}, policy)

    def also(case, name):
        case.name = name
        return case

    def abroad(a, b):
        return Case(f"no local locality, {a} / {b}", [zone(rig, "zx", 0), zone(rig, "zb", 1)],
                    {0: a, 1: b})

    def three(counts, loads, name, **policy):
        zones = [zone(rig, zone_name, group, count)
                 for group, (zone_name, count) in enumerate(zip((LOCAL, "zb", "zc"), counts))]
        return Case(name, zones, dict(enumerate(loads)), policy)

    yield two(.5, .5)
    yield two(.9, .1)
    yield two(1.0, 1.0)
    yield two(1.5, 1.5)
    yield two(.5, None)
    yield two(.9, None)
    yield two(1.0, None)
    yield two(None, .5)
    yield two(None, None)
    yield two(.59, .5)
    yield two(.61, .5)
    yield two(.7, .3)
    yield two(1.0, .5)
    yield two(.2, .9)
    yield abroad(.5, .5)
    yield abroad(.9, .1)
    yield also(two(1.5, .99), "clamped: 1.5 / 0.99")
    yield also(two(.9, .2, remote_probe_fraction=.05), "probe 0.05: 0.9 / 0.2")
    yield Case("1 local host at 0.8, 3 remote at 0.4",
               [zone(rig, LOCAL, 0, 1), zone(rig, "zb", 1, 3)], {0: .8, 1: .4})
    silent = zone(rig, LOCAL, 0, 1)
    silent["lb_endpoints"] += zone(rig, LOCAL, 2, 1)["lb_endpoints"]
    yield Case("a local host at 0.3 beside a silent one, remote 0.1",
               [silent, zone(rig, "zb", 1)], {0: .3, 1: .1})
    yield Case("weights of hosts 10 and 1: 0.6 / 0.2",
               [zone(rig, LOCAL, 0, weights=[10, 1]), zone(rig, "zb", 1)], {0: .6, 1: .2})
    yield Case("weights of localities 9 and 1: 0.6 / 0.2",
               [zone(rig, LOCAL, 0, weight=9), zone(rig, "zb", 1, weight=1)], {0: .6, 1: .2})
    bad, poor = "UNHEALTHY", "DEGRADED"
    for name, local, remote in (
            ("a remote host unhealthy", None, [bad, None]),
            ("a remote host degraded", None, [poor, None]),
            ("all hosts degraded", [poor, poor], [poor, poor]),
            ("local hosts unhealthy", [bad, bad], None),
            ("3 of 4 hosts unhealthy", [bad, bad], [bad, None]),
            ("all hosts unhealthy", [bad, bad], [bad, bad])):
        yield Case(f"{name}: 0.6 / 0.2",
                   [zone(rig, LOCAL, 0, health=local), zone(rig, "zb", 1, health=remote)],
                   {0: .6, 1: .2})
    yield Case("priority 0 half unhealthy, priority 1 behind it: all 0.5",
               [zone(rig, LOCAL, 0, health=[bad, bad]), zone(rig, "zb", 1),
                zone(rig, LOCAL, 2, priority=1), zone(rig, "zb", 3, priority=1)],
               {0: .5, 1: .5, 2: .5, 3: .5})
    yield Case("priority 0 unhealthy, priority 1: 0.9 / 0.1",
               [zone(rig, LOCAL, 0, health=[bad, bad]), zone(rig, LOCAL, 2, priority=1),
                zone(rig, "zb", 3, priority=1)], {2: .9, 3: .1})
    yield three((1, 2, 1), (.5, .5, .5), "zones of 1, 2, 1 hosts: 0.5 each")
    yield three((1, 2, 1), (.8, .2, .6), "zones of 1, 2, 1 hosts: 0.8 / 0.2 / 0.6")
    yield three((1, 2, 1), (.5, .5, .5), "the same, probe 0.3: 0.5 each", remote_probe_fraction=.3)
    yield three((1, 2, 1), (.5, .5, .5), "the same, probe 0: 0.5 each", remote_probe_fraction=0)
    yield three((1, 2, 1), (.62, .5, .5), "the same, variance 0, probe 0.9: 0.62 / 0.5 / 0.5",
                utilization_variance_threshold=0, remote_probe_fraction=.9)
    yield three((10, 10, 10), (None, None, None), "zones of 10 hosts: silent")
    yield three((10, 10, 10), (.45, .45, .45), "zones of 10 hosts: 0.45 each")
    yield three((10, 10, 10), (.7, .3, .4), "zones of 10 hosts: 0.7 / 0.3 / 0.4")
    yield three((2, 4, 1), (1.0, 1.0, 1.0), "zones of 2, 4, 1 hosts: 1.0 from the first report")
    saturated = two(1.0, 1.0, smoothing_time_constant="1s")
    saturated.first = {0: .5, 1: .5}
    yield also(saturated, "1.0 / 1.0 after 0.5 / 0.5: smoothing never gets to 1")


@scenario("load-aware-shares", "load_aware_locality: shares of localities",
          by_chance=True)
def steady(rig):
    """Loads that do not change, reported in every answer: the share of each group of hosts (one
    for each locality and priority), and what every tick adds to Envoy's counters."""
    cases = list(_cases(rig))
    messages = [zoned(f"case{number}", case.localities, **case.policy)
                for number, case in enumerate(cases)]
    with rig.envoy(messages, zone=LOCAL) as envoy, envoy.client() as client:
        names = [rig.forms(message) for message in messages]
        _warm_up(client, cases, names)
        before = _ticks(envoy, client, cases, names)
        seen = [{column: by_group(rig, client.origins(name, ASKED, reporting(case.loads)))
                 for column, name in forms.items()} for case, forms in zip(cases, names)]
        after = _ticks(envoy, client, cases, names)
    rows = []
    for case, message, counts, old, new in zip(cases, messages, seen, before, after):
        predicted, counted = _predict(rig, case, message)
        # The module publishes with requests that its policy is asked about, which may be none.
        grown = {column: per_tick(old[column], new[column]) for column in counts
                 if column == STOCK or new[column][1] > old[column][1]}
        groups = sorted(predicted)
        rows.append(Row(
            case.name, f"{shares.text(predicted, groups)}; {_names(counted)}",
            {column: f"{shares.text(counts[column], groups)}; {_names(grown.get(column))}"
             for column in counts},
            {column: shares.agree(counts[column], predicted)
             and grown.get(column, counted) == counted for column in counts}))
    return rows


def _load(value):
    return "silent" if value is None else value


def _warm_up(client, cases, names):
    for turn in range(ROUNDS):
        begun = time.monotonic()
        for case, forms in zip(cases, names):
            loads = case.first if turn < 2 and case.first else case.loads
            for name in forms.values():
                client.origins(name, WARM_UP, reporting(loads))
        time.sleep(max(0.0, begun + 1.2 * PERIOD_S - time.monotonic()))


def _ticks(envoy, client, cases, names):
    """What ticks have counted so far, by column, for each case."""
    if any(module.COLUMN in forms for forms in names):
        time.sleep(module.PUBLISHED_S)
        for case, forms in zip(cases, names):
            for name in forms.values():
                client.origins(name, 20, reporting(case.loads))
    return [
        {column: ticks(module.counters(envoy, name) if column == module.COLUMN
                       else envoy.stats(f"cluster.{name}."))
         for column, name in forms.items()}
        for forms in names
    ]


def _predict(rig, case, message):
    with rig.replay() as replay:
        replay.open(message, node=NODE, seed=1)
        for turn in range(2 * ROUNDS):
            loads = case.first if turn < 2 and case.first else case.loads
            report(rig, replay, replay.do("pick", n=WARM_UP), loads)
            replay.do("advance", ms=int(1000 * PERIOD_S))
        before = ticks(replay.do("show", what="stats"))
        for _ in range(20):
            replay.do("advance", ms=int(1000 * PERIOD_S))
        counted = per_tick(before, ticks(replay.do("show", what="stats")))
        return shares.regrouped(replay.do("tally", n=PREDICTED), rig.origins.group_of), counted


def _names(grown):
    """What grows with every tick, as Envoy calls it."""
    if grown is None:
        return "not published"
    return ", ".join(f"{name} +{'?' if by is None else by}" for name, by in grown.items()) or "none"
