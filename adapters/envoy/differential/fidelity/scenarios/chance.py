"""Policies that draw a host: shares within four standard deviations."""

from .. import shares
from ..clusters import cluster, host, least_request, locality, random
from ..scenario import row, scenario
from .hashing import finish, open_requests

ASKED = 8_000
PREDICTED = 400_000


@scenario("random-shares", "random and unweighted least_request: shares")
def drawn(rig):
    """8 000 requests each: the share of every host. `random` ignores weights and draws priority
    and host by one number, so that some hosts of a divided cluster get nothing. `least_request`
    draws two, three or all of four hosts, of which two are busy."""
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
        return [_row(rig, envoy, replay, *case) for case in cases]


def _row(rig, envoy, replay, case, message, held):
    rows = []
    measured = {}
    predicted = None
    for column in rig.columns:
        name = column.of(message["name"])
        opened = open_requests(envoy, name, held, delay_ms=4_000)
        with envoy.client() as client:
            measured[column.name] = shares.tally(client.origins(name, ASKED))
        busy = shares.tally(finish(connection) for connection in opened)
        replay.open(message, seed=1)
        replay.do("load", hosts=dict(busy))
        predicted = shares.tally([])
        predicted.update(replay.do("tally", n=PREDICTED))
        rows.append(row(case, {column.name: measured[column.name]}, predicted, shares.agree, _few))
    merged = rows[0]
    for other in rows[1:]:
        merged.seen |= other.seen
        merged.agrees |= other.agrees
    return merged


def _few(counts):
    """Shares of a few hosts, or how many of many hosts get traffic."""
    if len(counts) <= 8:
        return shares.text(counts)
    return f"{sum(count > 0 for count in counts.values())} hosts with traffic"
