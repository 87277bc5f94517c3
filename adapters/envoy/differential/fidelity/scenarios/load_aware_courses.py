"""load_aware_locality over time: tick by tick after loads, reports or hosts have changed."""

import time
from dataclasses import dataclass, field

from .. import shares
from ..clusters import assignment
from ..scenario import STOCK, Row, scenario
from .zones import LOCAL, NODE, by_group, report, reporting, ticks, zone, zoned

PERIOD_S = 3.0
BEHIND_S = 0.06  # by when workers, and the module, have heard of what the main thread did
ASKED = 400  # after each tick; they have to be through before the next one
PREDICTED = 100_000


@dataclass
class Step:
    """What is reported after a tick, and where hosts are from then on, if that changes."""

    loads: dict
    localities: list | None = None


@dataclass
class Course:
    """A cluster, and what happens after each of its ticks."""

    name: str
    localities: list
    steps: list
    policy: dict = field(default_factory=dict)
    shown: int = 0  # how many of the last steps the report shows
    first_only: bool = False  # whether it shows the share of the first locality only

    def message(self, name):
        return zoned(name, self.localities, f"{PERIOD_S}s", **self.policy) | {"type": "EDS"}


def _smoothing(rig):
    """A step of the load under three time constants, and reports that cease."""
    for constant in ("5s", "1s", "0.001s"):
        steps = [Step({0: .2, 1: .2})] * 3 + [Step({0: .9, 1: .1})] * 8
        yield Course(
            f"0.2 / 0.2, then 0.9 / 0.1, smoothing_time_constant {constant}",
            [zone(rig, LOCAL, 0), zone(rig, "zb", 1)], steps,
            {"smoothing_time_constant": constant, "remote_probe_fraction": .1}, shown=9,
            first_only=True)
    silence = [Step({0: .9, 1: .1})] * 3 + [Step({1: .1})] * 4 + [Step({})] * 4
    for expiry in ("4.5s", "0s"):
        yield Course(
            f"0.9 / 0.1, then local silent, then all; weight_expiration_period {expiry}",
            [zone(rig, LOCAL, 0), zone(rig, "zb", 1)], silence,
            {"weight_expiration_period": expiry}, shown=9, first_only=True)


def _membership(rig):
    """Hosts that come, go and fail between two ticks."""
    def zones(*names, **changed):
        return [zone(rig, name, "abcde".index(name[1]), **changed.get(name, {})) for name in names]

    def course(name, loads, before, after):
        steps = [Step(loads)] * 3 + [Step(loads, after)] + [Step(loads)] * 3
        return Course(name, before, steps, shown=4)

    all_same = dict.fromkeys(range(5), .45)
    failing = {"health": ["UNHEALTHY", "UNHEALTHY"]}
    yield course("local hosts fail", all_same, zones("za", "zb", "zc"),
                 zones("za", "zb", "zc", za=failing))
    yield course("hosts of a remote zone become degraded", {0: .7, 1: .3, 2: .4},
                 zones("za", "zb", "zc"),
                 zones("za", "zb", "zc", zb={"health": ["DEGRADED", "DEGRADED"]}))
    yield course("a new zone", all_same, zones("zb", "zc"), zones("zb", "zc", "zd"))
    yield course("a new local zone", all_same, zones("zb", "zc"), zones("za", "zb", "zc"))
    yield course("two zones are replaced by a known and a new one", all_same,
                 zones("zb", "zc", "zd"), zones("zd", "ze"))
    yield course("all zones are replaced", all_same, zones("zd", "ze"), zones("zb", "zc"))


@scenario("load-aware-smoothing", "load_aware_locality: smoothing and expiry",
          by_chance=True)
def smoothing(rig):
    """400 requests after each tick, while reported loads change or cease: the share of the first
    locality, in percent, tick by tick."""
    return _run(rig, list(_smoothing(rig)))


@scenario("load-aware-membership", "load_aware_locality: hosts that change between ticks",
          by_chance=True)
def membership(rig):
    """400 requests after each tick; after one of them EDS changes the hosts: shares of all
    localities from then on, before the next tick and after it."""
    return _run(rig, list(_membership(rig)))


def _run(rig, courses):
    messages = [course.message(f"course{number}") for number, course in enumerate(courses)]
    plan = [(course, rig.forms(message)) for course, message in zip(courses, messages)]
    seen = _measure(rig, messages, plan)
    rows = []
    for (course, forms), message in zip(plan, messages):
        predicted = _predict(rig, course, message)
        counts = {column: seen[name] for column, name in forms.items()}
        rows.append(Row(
            course.name, _text(course, predicted, predicted),
            {column: _text(course, values, predicted) for column, values in counts.items()},
            {column: all(map(shares.agree, values, predicted))
             for column, values in counts.items()}))
    return rows


def _measure(rig, messages, plan):
    """How often each group of origins answered after each tick, by cluster."""
    seen = {name: [] for _, forms in plan for name in forms.values()}
    with rig.envoy(messages, zone=LOCAL) as envoy, envoy.client() as client:
        ticks_of = _ticks(envoy, plan)
        for number in range(max(len(course.steps) for course, _ in plan)):
            steps = {name: course.steps[number] for course, forms in plan
                     if number < len(course.steps) for name in forms.values()}
            due = {name: count + 1 for name, count in ticks_of.items()}
            envoy.wait_for("a tick", lambda: all(
                count >= due[name] for name, count in _ticks(envoy, plan).items()))
            ticks_of = _ticks(envoy, plan)
            time.sleep(BEHIND_S)
            _change_hosts(envoy, steps)
            for name, step in steps.items():
                origins = client.origins(name, ASKED, reporting(step.loads))
                seen[name].append(by_group(rig, origins))
            if _ticks(envoy, plan) != ticks_of:
                raise TimeoutError("a tick came while requests were on their way: too slow")
    return seen


def _ticks(envoy, plan):
    return {forms[STOCK]: ticks(envoy.stats(f"cluster.{forms[STOCK]}."))[1] for _, forms in plan}


def _change_hosts(envoy, steps):
    changed = {name: step.localities for name, step in steps.items() if step.localities}
    known = {name: _updates(envoy, name) for name in changed}
    for name, localities in changed.items():
        envoy.assign(assignment(name, localities))
    for name, count in known.items():
        envoy.wait_for("the hosts", lambda: _updates(envoy, name) > count)
    if changed:
        time.sleep(BEHIND_S)


def _updates(envoy, name):
    return envoy.counter(f"cluster.{name}.update_success")


def _predict(rig, course, message):
    with rig.replay() as replay:
        replay.open(message, node=NODE, seed=1)
        predicted = []
        for step in course.steps:
            replay.do("advance", ms=int(1000 * PERIOD_S))
            if step.localities is not None:
                replay.do("assign", load_assignment=assignment(message["name"], step.localities))
            report(rig, replay, replay.do("pick", n=ASKED), step.loads)
            counts = replay.do("tally", n=PREDICTED)
            predicted.append(shares.regrouped(counts, rig.origins.group_of))
        return predicted


def _text(course, steps, predicted):
    """The shares of the steps that the report shows."""
    groups = sorted(set().union(*predicted[-course.shown:]))
    shown = groups[:1] if course.first_only else groups
    return " → ".join(shares.text(counts, shown) for counts in steps[-course.shown:])
