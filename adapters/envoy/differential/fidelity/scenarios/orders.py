"""Policies whose order of hosts follows from one random seed: found by search, then held to it.

Envoy draws the seed of a policy when it is made and never again. The first picks tell which
seeds it can have been; one of these has to explain all others.
"""

from ..clusters import cluster, host, least_request, locality, round_robin
from ..scenario import Row, scenario
from .hashing import finish, open_requests

PICKS = 200
FIRST = 40  # that the seed is searched by
HELD = 6  # requests that stay open, of least_request
WEIGHTS = [
    [1, 1, 1, 1], [1, 2], [6, 3, 1], [7, 5, 3, 2, 2, 1], [1, 1, 1, 2], [25, 75], [5, 1, 1],
    [3, 2, 1], [1, 99], [10, 10, 1], [2, 3, 5, 7], [1, 2, 3, 4, 5], [20, 1, 1, 1, 1], [9, 8, 7],
    [13, 11, 5, 3], [4, 4, 2, 2, 1], [50, 49], [1, 2, 4, 8, 16], [17, 1], [3, 3, 3, 1],
]
# Where seeds are looked for: the order is almost, but not quite, periodic in them.
BASES = [0, *range(10_000_000, 430_000_000, 60_000_000)]


@scenario("order-round-robin", "round_robin, weighted: the order of 200 picks")
def weighted_round_robin(rig):
    """200 picks over 20 sets of weights, one request after the other: the whole order equals that
    of a seed which explains the first 40."""
    return _orders(rig, round_robin(), held=0)


@scenario("order-least-request", "least_request, weighted: the order of 200 picks")
def weighted_least_request(rig):
    """The same for least_request, whose first 6 requests stay open while the others are asked:
    they weigh on every later pick."""
    return _orders(rig, least_request(), held=HELD)


def _orders(rig, policy, held):
    sets = WEIGHTS if not held else [w for w in WEIGHTS if len(set(w)) > 1]
    messages = [
        cluster(f"set{number}", policy, [locality(map(host, rig.origins.some(len(w)), w))])
        for number, w in enumerate(sets)
    ]
    rows = []
    with rig.envoy(messages) as envoy, rig.replay() as replay:
        for weights, message in zip(sets, messages):
            seen = rig.each(lambda column: _picks(envoy, column.of(message["name"]), held))
            found = {name: _explained(replay, message, picks, held)
                     for name, picks in seen.items()}
            rows.append(Row(
                ", ".join(map(str, weights)), str(PICKS),
                {name: f"{same} of {PICKS}, seed {seed}" for name, (same, seed) in found.items()},
                {name: same == PICKS for name, (same, _) in found.items()}))
    return rows


def _picks(envoy, name, held):
    opened = open_requests(envoy, name, held, delay_ms=1_500)
    with envoy.client() as client:
        later = client.origins(name, PICKS - held)
    return [finish(connection) for connection in opened] + later


def _explained(replay, message, seen, held):
    """How many picks a seed explains that explains the first ones, and which it is."""
    best = (0, None)
    total = sum(entry["load_balancing_weight"]
                for entry in message["load_assignment"]["endpoints"][0]["lb_endpoints"])
    for seed in (base + step for base in BASES for step in range(total)):
        replay.open(message, draws=[seed])
        predicted = replay.do("pick", n=held, hold=True) if held else []
        predicted += replay.do("pick", n=FIRST - held)
        if predicted != seen[:FIRST]:
            continue
        predicted += replay.do("pick", n=PICKS - FIRST)
        best = max(best, (sum(a == b for a, b in zip(predicted, seen)), seed), key=lambda b: b[0])
        if best[0] == PICKS:
            break
    return best
