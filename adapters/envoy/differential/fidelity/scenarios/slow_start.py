"""Slow start: the share of a host that came a moment ago, while it warms up."""

import time

from .. import shares
from ..clusters import (
    assignment, client_side_weighted, cluster, host, least_request, locality, round_robin,
)
from ..scenario import STOCK, Row, scenario

WINDOW_S = 6.0
MOMENTS = (.1, .3, .5, .7, .9)  # parts of the window
AROUND = .06  # what counts as a moment
BURST = 40  # requests at once
PAUSE_S = 0.08

CASES = [
    ("round_robin", round_robin, [1, 1, 1, 1], {}),
    ("round_robin, aggression 2", round_robin, [1, 1, 1, 1], {"aggression": 2}),
    ("round_robin, aggression 0.5", round_robin, [1, 1, 1, 1], {"aggression": .5}),
    ("round_robin, min_weight_percent 35", round_robin, [1, 1, 1, 1], {"percent": 35}),
    # With 0 the seed decides whether the new host starves or ramps up as with 10.
    ("round_robin, min_weight_percent 5", round_robin, [1, 1, 1, 1], {"percent": 5}),
    ("round_robin, weights 1, 2 and 3 for the new one", round_robin, [1, 2, 3], {}),
    ("least_request", least_request, [1, 1, 1, 1], {}),
    ("least_request, weights 5, 1 and 2 for the new one", least_request, [5, 1, 2], {}),
    ("client_side_weighted_round_robin", client_side_weighted, [1, 1, 1, 1], {}),
]


def _settings(aggression=None, percent=None):
    config = {"slow_start_window": f"{WINDOW_S}s"}
    if aggression is not None:
        config["aggression"] = {"default_value": aggression, "runtime_key": "aggression"}
    if percent is not None:
        config["min_weight_percent"] = {"value": percent}
    return config


@scenario("slow-start", "Slow start: the share of a new host",
          by_chance=True)
def slow_start(rig):
    """A host that EDS adds to warm ones, with a window of 6 s: its share, in percent, at 10, 30,
    50, 70 and 90 % of the window, 40 requests every tenth of a second or so. The replay gets the
    same requests at the same times."""
    messages, later = [], []
    for number, (_, build, weights, settings) in enumerate(CASES):
        hosts = [host(rig.origins.address(i), weight) for i, weight in enumerate(weights)]
        policy = build(slow_start_config=_settings(**settings))
        messages.append(cluster(f"case{number}", policy, [locality(hosts[:-1])], type="EDS"))
        later.append([locality(hosts)])
    seen = _measure(rig, messages, later)
    return [_row(rig, *case) for case in zip(CASES, messages, later, seen)]


def _measure(rig, messages, later):
    """For each cluster and column, the bursts of requests: when each of them was, in seconds since
    the new host came, and who answered."""
    new = {form: localities for message, localities in zip(messages, later)
           for form in rig.forms(message).values()}
    bursts = {form: [] for form in new}
    came = {}
    with rig.envoy(messages) as envoy, envoy.client() as client:
        time.sleep(WINDOW_S + 1)
        for form, localities in new.items():
            total = f"cluster.{form}.membership_total"
            count = len(localities[0]["lb_endpoints"])
            envoy.assign(assignment(form, localities))
            envoy.wait_for("the new host", lambda: envoy.counter(total) == count)
            came[form] = time.monotonic()
        while time.monotonic() < max(came.values()) + WINDOW_S:
            begun = time.monotonic()
            for form in new:
                at = time.monotonic() - came[form]
                bursts[form].append((at, client.origins(form, BURST)))
            time.sleep(max(0.0, begun + PAUSE_S - time.monotonic()))
    return [{column: bursts[form] for column, form in rig.forms(message).items()}
            for message in messages]


def _row(rig, case, message, localities, seen):
    newest = rig.origins.address(len(case[2]) - 1)
    predicted = {column: _moments(_predict(rig, message, localities, bursts), newest)
                 for column, bursts in seen.items()}
    found = {column: _moments(bursts, newest) for column, bursts in seen.items()}
    return Row(
        case[0], _text(predicted[STOCK]),
        {column: _text(counts) for column, counts in found.items()},
        {column: all(map(shares.agree, counts, predicted[column]))
         for column, counts in found.items()})


def _predict(rig, message, localities, bursts):
    """The same bursts, at the same times, in a replay."""
    with rig.replay() as replay:
        replay.open(message, seed=1)
        replay.do("advance", ms=int(1000 * (WINDOW_S + 1)))
        replay.do("assign", load_assignment=assignment(message["name"], localities))
        now, predicted = 0, []
        for at, _ in bursts:
            replay.do("advance", ms=max(0, round(1000 * at) - now))
            now = max(now, round(1000 * at))
            predicted.append((at, replay.do("pick", n=BURST)))
        return predicted


def _moments(bursts, newest):
    """At each moment, how many requests the new host answered, and how many all others did."""
    return [
        shares.tally(origin == newest for at, origins in bursts for origin in origins
                     if abs(at / WINDOW_S - moment) <= AROUND)
        for moment in MOMENTS
    ]


def _text(moments):
    return " → ".join(shares.text(counts, [True]) for counts in moments)
