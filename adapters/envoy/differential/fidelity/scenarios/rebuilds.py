"""How many tables of a hash policy an update builds."""

import time
from collections import Counter
from itertools import product

from ..clusters import assignment, cluster, host, locality, maglev
from ..scenario import STOCK, Row, scenario

COALESCE = "envoy.reloadable_features.coalesce_lb_rebuilds_on_batch_update"
BATCH_AWARE = "envoy.reloadable_features.enable_batch_aware_update"
SWITCHES = [dict(zip((COALESCE, BATCH_AWARE), values))
            for values in product((True, False), repeat=2)]
BUILT = "creating compact maglev table"  # what Envoy logs for each table
LOG = "upstream:debug"
POLICY = maglev(table_size=101)
PRIORITIES = 3
CHECKS = [{
    "timeout": "1s", "interval": "0.1s", "unhealthy_threshold": 1, "healthy_threshold": 1,
    "no_traffic_interval": "0.1s", "no_traffic_healthy_interval": "0.1s",
    "http_health_check": {"path": "/healthz"},
}]
SETTLED_S = 2.2  # after which Envoy does not hold updates of health back
NO_PANIC = {"healthy_panic_threshold": {"value": 0}}


class Fleet:
    """The hosts of three priorities of which each one has a part of the traffic."""

    def __init__(self, origins):
        self._spare = iter(origins.some(80))
        self.weights = [[1] * 2 for _ in range(PRIORITIES)]
        self.hosts = [[next(self._spare) for _ in range(2)] for _ in range(PRIORITIES)]
        self._failed = [[next(self._spare) for _ in range(7)] for _ in range(PRIORITIES)]
        self.factor = 140

    def add(self, *priorities):
        for priority in priorities:
            self.hosts[priority].append(next(self._spare))
            self.weights[priority].append(1)

    def move(self, source, target):
        self.hosts[target].append(self.hosts[source].pop())
        self.weights[target].append(self.weights[source].pop())

    def weigh(self, *priorities):
        for priority in priorities:
            self.weights[priority][0] += 3

    def assignment(self, name):
        localities = [
            locality([host(address, weight) for address, weight in zip(hosts, weights)]
                     + [host(address, health="UNHEALTHY") for address in failed],
                     priority=priority)
            for priority, (hosts, weights, failed) in enumerate(
                zip(self.hosts, self.weights, self._failed))
        ]
        return assignment(name, localities, overprovisioning_factor=self.factor)


def _nothing(_fleet):
    """An assignment that says nothing new."""


def _factor(fleet):
    fleet.factor = 150


# Each event, and the changes that it makes of the hosts, one assignment after the other.
EVENTS = [
    ("a host more in each of three priorities", [lambda fleet: fleet.add(0, 1, 2)]),
    ("a host more in one of them", [lambda fleet: fleet.add(1)]),
    ("a host moves between two of them", [lambda fleet: fleet.move(1, 2)]),
    ("new weights in two of them", [lambda fleet: fleet.weigh(0, 1)]),
    ("a new weight in one, a new host in another",
     [lambda fleet: (fleet.weigh(0), fleet.add(1))]),
    ("three assignments that say nothing new", [_nothing] * 3),
    ("another overprovisioning_factor", [_factor]),
]


@scenario("rebuilds", "Rebuilds: tables that an update builds",
          module="the module's engine keeps its own tables, and counts them itself")
def rebuilds(rig):
    """Maglev with three priorities: tables that Envoy logs, and that the replay counts as Envoy's,
    for each event, under the four settings of the switches
    coalesce_lb_rebuilds_on_batch_update and enable_batch_aware_update (both on, coalesced only,
    batch-aware only, both off). Beside them the updates that Envoy posts to its workers
    (`cluster_updated`), and the tables and snapshots of `behavior: native`."""
    measured = [_envoy(rig, runtime) for runtime in SWITCHES]
    predicted = [_replayed(rig, "envoy", runtime) for runtime in SWITCHES]
    native = _replayed(rig, "native", {})
    rows = []
    for event in native:
        seen = [built[event] for built, _ in measured]
        expected = [run[event][0] for run in predicted]
        posts = [posted[event] for _, posted in measured]
        tables, published = native[event]
        rows.append(Row(
            event, f"{_list(expected)}; native {tables}, published {published}",
            {STOCK: f"{_list(seen)}; posts {_list(posts)}"}, {STOCK: seen == expected}))
    return rows


def _list(numbers):
    return ", ".join(map(str, numbers))


def _clusters(rig):
    fleet = Fleet(rig.origins)
    pushed = cluster("pushed", POLICY, [], type="EDS", common_lb_config=NO_PANIC)
    pushed["load_assignment"] = fleet.assignment("pushed")
    checked = cluster("checked", POLICY, [
        locality([host(rig.origins.address(3 * priority + i, 20)) for i in range(3)],
                 priority=priority) for priority in range(PRIORITIES)],
        health_checks=CHECKS, common_lb_config=NO_PANIC)
    return fleet, pushed, checked


def _envoy(rig, runtime):
    """Tables built and updates posted, by event."""
    fleet, pushed, checked = _clusters(rig)
    built, posted = {}, {}

    def note(event, before):
        time.sleep(0.1)  # the log and the workers are a moment behind
        after = _counts(envoy)
        built[event] = after["built"] - before["built"]
        posted[event] = after["posted"] - before["posted"]

    with rig.envoy([pushed], runtime=runtime, log=LOG) as envoy:
        note("the first assignment", Counter())
        for event, changes in EVENTS:
            before = _counts(envoy)
            for change in changes:
                change(fleet)
                updates = envoy.counter("cluster.pushed.update_success")
                envoy.assign(fleet.assignment("pushed"))
                envoy.wait_for("the update", lambda: envoy.counter(
                    "cluster.pushed.update_success") > updates)
            note(event, before)
    with rig.envoy([checked], runtime=runtime, log=LOG) as envoy:
        _wait_for_healthy(envoy, 9)
        time.sleep(SETTLED_S)
        for event, runtime_value, healthy in (
                ("an active health check fails", 100, 8), ("… and passes again", 0, 9)):
            before = _counts(envoy)
            envoy.set_runtime(unhealthy__0=runtime_value)
            _wait_for_healthy(envoy, healthy)
            note(event, before)
            time.sleep(SETTLED_S)
    return built, posted


def _wait_for_healthy(envoy, count):
    envoy.wait_for("the health checks", lambda: envoy.counter(
        "cluster.checked.membership_healthy") == count)


def _counts(envoy):
    return Counter(built=envoy.log().count(BUILT),
                   posted=envoy.counter("cluster_manager.cluster_updated"))


def _replayed(rig, behavior, runtime):
    """Tables built and snapshots published, by event."""
    fleet, pushed, checked = _clusters(rig)
    made = {}

    def note(event, before):
        after = _built(replay)
        made[event] = tuple(new - old for new, old in zip(after, before))

    with rig.replay() as replay:
        replay.do("open", config=pushed, behavior=behavior, runtime=runtime)
        note("the first assignment", (0, 0))
        for event, changes in EVENTS:
            before = _built(replay)
            for change in changes:
                change(fleet)
                replay.do("assign", load_assignment=fleet.assignment("pushed"))
            note(event, before)
        replay.do("open", config=checked, behavior=behavior, runtime=runtime)
        hosts = [entry["address"] for entry in replay.do("show", what="hosts")]
        replay.do("health", hosts=dict.fromkeys(hosts, "pass"))
        for event, result in (("an active health check fails", "fail"),
                              ("… and passes again", "pass")):
            before = _built(replay)
            replay.do("health", hosts={hosts[0]: result})
            note(event, before)
    return made


def _built(replay):
    snapshot = replay.do("show", what="snapshot")
    return snapshot["built"]["tables"], snapshot["published"]
