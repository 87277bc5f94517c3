"""Policies that draw a host: shares within four standard deviations."""

from collections import Counter

from .. import shares
from ..clusters import cluster, host, least_request, locality, random
from ..held import Held
from ..scenario import STOCK, Row, scenario

ASKED = 8_000
PREDICTED = 400_000


@scenario("random-shares", "random, and least_request without weights: shares",
          by_chance=True)
def drawn(rig):
    """8 000 requests each: the share of every host. `random` ignores weights and draws priority
    and host by one number, so that some hosts of a divided cluster get nothing. `least_request`
    draws two, three or all of four hosts while three requests are open; which hosts have these is
    another matter in each column, and the prediction is for the one of column A."""
    four = rig.origins.some(4)
    weighted = [locality(map(host, four, [1, 5, 9, 2]))]
    equal = [locality(map(host, four))]
    addresses = iter(rig.origins.some(300))
    divided = [
        locality([host(next(addresses), health="UNHEALTHY" if i % 2 else None)
                  for i in range(100)]),
        locality([host(next(addresses)) for _ in range(50)], priority=1),
    ]
    cases = [
        ("random, weights 1, 5, 9, 2", cluster("weights", random(), weighted), 0),
        ("random, 70 % to priority 0 with 50 of 100 hosts healthy",
         cluster("divided", random(), divided), 0),
        ("least_request, two choices", cluster("two", least_request(), equal), 3),
        ("least_request, three choices", cluster("three", least_request(choice_count=3), equal), 3),
        ("least_request, full scan",
         cluster("scan", least_request(selection_method="FULL_SCAN"), equal), 3),
        ("least_request, active_request_bias 0 has no effect",
         cluster("bias", least_request(active_request_bias={
             "default_value": 0.0, "runtime_key": "bias"}), equal), 3),
    ]
    with rig.envoy([message for _, message, _ in cases]) as envoy, rig.replay() as replay:
        measured = [rig.each(message, lambda name: _ask(envoy, name, held))
                    for _, message, held in cases]
        return [_row(replay, case, message, {
            column: (counts, shares.tally(held.finish()))
            for column, (counts, held) in found.items()})
            for (case, message, _), found in zip(cases, measured)]


def _ask(envoy, name, count):
    """Who answers while so many requests are open; and these."""
    held = Held(envoy, name, count)
    with envoy.client() as client:
        counts = shares.tally(client.origins(name, ASKED))
    held.check()
    return counts, held


def _row(replay, case, message, found):
    """A row; which hosts are busy is another matter in each column."""
    predicted = {}
    for column, (_, busy) in found.items():
        replay.open(message, seed=1)
        replay.do("load", hosts=dict(busy))
        predicted[column] = Counter(replay.do("tally", n=PREDICTED))
    return Row(
        case, _text(predicted[STOCK], predicted[STOCK]),
        {column: _text(counts, predicted[column]) for column, (counts, _) in found.items()},
        {column: shares.agree(counts, predicted[column])
         for column, (counts, _) in found.items()})


def _text(counts, predicted):
    """Shares of a few hosts, or how many of many hosts get traffic."""
    if len(predicted) <= 8:
        return shares.text(counts, sorted(predicted))
    return f"{sum(count > 0 for count in counts.values())} hosts with traffic"
