"""Policies whose order of hosts follows from one random seed: found by search, then held to it.

Envoy draws the seed of a policy when it is made and never again. The order is almost periodic in
it: where sums of weights come out nearly equal, rounding decides, and that depends on how large
the seed is. So seeds of all phases are tried, of many sizes.
"""

from ..clusters import cluster, host, least_request, locality, round_robin
from ..held import Held
from ..scenario import Row, scenario

PICKS = 200
FIRST = 20  # that a seed has to explain before the others are looked at
LARGEST = 429_496_729  # seeds are taken modulo this
# How many sizes of seeds are tried, the second if need be. Most seeds that are less than a million
# apart give the same order.
SIZES = (256, 4_096)
HELD = 6  # requests that stay open, of least_request
WEIGHTS = [
    [1, 1, 1, 1], [1, 2], [6, 3, 1], [7, 5, 3, 2, 2, 1], [1, 1, 1, 2], [25, 75], [5, 1, 1],
    [3, 2, 1], [1, 99], [10, 10, 1], [2, 3, 5, 7], [1, 2, 3, 4, 5], [20, 1, 1, 1, 1], [9, 8, 7],
    [13, 11, 5, 3], [4, 4, 2, 2, 1], [50, 49], [1, 2, 4, 8, 16], [17, 1], [3, 3, 3, 1],
]


@scenario("order-round-robin", "round_robin, weighted: the order of 200 picks")
def weighted_round_robin(rig):
    """200 picks over 20 sets of weights, one request after the other: the whole order equals that
    of one seed, which is searched for."""
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
        measured = [rig.each(message, lambda name: _Picks(envoy, name, held))
                    for message in messages]
        for weights, message, picks in zip(sets, messages, measured):
            seen = {column: these.all() for column, these in picks.items()}
            found = {column: _explained(replay, message, picks, held)
                     for column, picks in seen.items()}
            rows.append(Row(
                ", ".join(map(str, weights)), str(PICKS),
                {name: f"{same} of {PICKS}, seed {seed}" for name, (same, seed) in found.items()},
                {name: same == PICKS for name, (same, _) in found.items()}))
    return rows


class _Picks:
    """200 picks, the first of which may be of requests that stay open."""

    def __init__(self, envoy, name, held):
        self._held = Held(envoy, name, held)
        with envoy.client() as client:
            self._others = client.origins(name, PICKS - held)
        self._held.check()

    def all(self):
        return self._held.finish() + self._others


def _explained(replay, message, seen, held):
    """How many picks the best seed explains, and which that is."""
    period = sum(entry["load_balancing_weight"]
                 for entry in message["load_assignment"]["endpoints"][0]["lb_endpoints"])
    best = (0, None)
    for seed in _seeds(period):
        replay.open(message, draws=[seed])
        predicted = replay.do("pick", n=held, hold=True) if held else []
        predicted += replay.do("pick", n=FIRST - held)
        if predicted != seen[:FIRST]:
            continue
        predicted += replay.do("pick", n=PICKS - FIRST)
        equal = sum(one == other for one, other in zip(predicted, seen))
        best = max(best, (equal, seed), key=lambda pair: pair[0])
        if equal == PICKS:
            break
    return best


def _seeds(period):
    """Seeds of all phases, from small to large, twice."""
    for sizes in SIZES:
        for size in range(sizes):
            start = size * LARGEST // sizes // period * period
            yield from range(start, start + period)
