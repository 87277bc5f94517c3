"""client_side_weighted_round_robin: the weights that hosts get for what they report."""

import json
import time
from collections import Counter
from dataclasses import dataclass, field

from .. import shares
from ..clusters import client_side_weighted, cluster, host, locality, wrr_locality
from ..replay import Refused
from ..scenario import MODULE, Row, row, scenario
from .report_headers import HEADERS, NO_JSON, REPORTS

PERIOD_S = 0.1
BEFORE = 'JSON {"application_utilization":0.5,"rps_fractional":617}'  # a weight of 1234


@dataclass
class Case:
    """One host, the policy's settings, and a header that it reports by."""

    name: str
    header: dict  # by suffix of the header's name: "" or "-bin"
    policy: dict = field(default_factory=dict)


HIDDEN = "Envoy shows the weights that it keeps itself; the module's show in shares, below"


@scenario("weights-of-reports", "client_side_weighted_round_robin: weights of reports",
          module=HIDDEN)
def weights_of_reports(rig):
    """One report each, in JSON, with names of metrics and penalties: the host's weight. A report
    that gives 1234 goes before it, so that one which is not taken shows."""
    cases = [
        Case(_described(report, policy), {"": f"JSON {json.dumps(report)}"}, policy)
        for policy, reports in REPORTS for report in reports
    ]
    return _weights(rig, cases)


@scenario("weights-of-headers", "client_side_weighted_round_robin: headers", module=HIDDEN)
def weights_of_headers(rig):
    """Load reports as headers, good and bad ones, as text, JSON and base64: the weight of the host
    that sends them, which stays at 1234 where nothing is taken."""
    rows = _weights(rig, [Case(f"`{name}`", header) for name, header in HEADERS])
    for one in rows:
        one.deliberate = NO_JSON.get(one.case.strip("`"))
    return rows


def _described(report, policy):
    fields = ", ".join(f"{name.replace('_utilization', '')} {json.dumps(value)}".replace('"', "")
                       for name, value in report.items()) or "nothing"
    settings = {"error_utilization_penalty": "penalty",
                "metric_names_for_computing_utilization": "names"}
    shown = "; ".join(f"{settings[name]} {value}" for name, value in policy.items())
    return fields + (f" ({shown})" if shown else "")


def _weights(rig, cases):
    address = rig.origins.address(0)
    messages = [
        cluster(f"case{number}", client_side_weighted(
            blackout_period="0s", weight_update_period=f"{PERIOD_S}s", **case.policy),
            [locality([host(address)])])
        for number, case in enumerate(cases)
    ]
    names = [rig.forms(message) for message in messages]
    with rig.envoy(messages) as envoy, envoy.client() as client:
        for headers in [{"": BEFORE}] * len(cases), [case.header for case in cases]:
            for forms, sent in zip(names, headers):
                named = {f"x-report{suffix}-0": text for suffix, text in sent.items()}
                for name in forms.values():
                    client.ask(name, [named])
            time.sleep(4 * PERIOD_S)
        hosts = envoy.all_hosts()
    rows = []
    with rig.replay() as replay:
        for case, message, forms in zip(cases, messages, names):
            seen = {column: hosts[name][address]["weight"] for column, name in forms.items()}
            rows.append(row(case.name, seen, _weight(replay, message, address, case.header),
                            lambda weight, predicted: weight == predicted))
    return rows


def _weight(replay, message, address, header):
    replay.open(message)
    for sent in ({"": BEFORE}, header):
        headers = {f"endpoint-load-metrics{suffix}": text for suffix, text in sent.items()}
        told(replay, address, headers)
        replay.do("advance", ms=400)
    return current(replay)[address]


def told(replay, address, headers):
    """Reports, whatever the policy makes of it."""
    try:
        replay.do("report", host=address, headers=headers)
    except Refused as refused:
        if refused.code != "report_rejected":
            raise


def current(replay):
    """The weights of all hosts, as integers."""
    return {entry["address"]: int(entry["effective_weight"])
            for entry in replay.do("show", what="hosts")}


# Blackout, expiration, and when the host reports a weight of 200, in seconds.
TIMELINES = [
    (1, 3, [.5]),
    (1, 3, [.5, 1, 2]),
    (1, 2, [.5, 1, 1.5, 5, 5.5, 6, 6.5]),
    (2, 1, [.5, 1, 1.5, 2, 2.5, 3, 3.5]),
    (0, 0, [.5, 1, 1.5]),
    (0, 2, [.5]),
    (2, 1, [.5, 2.2]),
    (1, 1, [.5, 1.2, 1.9, 2.6]),
]
LENGTH_S = 9.2
NEAR_S = 0.3  # a period, the time between two looks, and the machine's
USUAL = 'JSON {"application_utilization":0.5,"rps_fractional":100}'


@scenario("weight-timelines", "client_side_weighted_round_robin: blackout and expiration",
          module=HIDDEN)
def timelines(rig):
    """One host that reports a weight of 200 at the times given: when its weight changes, in
    seconds, within 0.3 s."""
    address = rig.origins.address(0)
    messages = [
        cluster(f"line{number}", client_side_weighted(
            blackout_period=f"{blackout}s", weight_expiration_period=f"{expiration}s",
            weight_update_period=f"{PERIOD_S}s"), [locality([host(address)])])
        for number, (blackout, expiration, _) in enumerate(TIMELINES)
    ]
    reports = sorted((at, name) for message, (_, _, times) in zip(messages, TIMELINES)
                     for at in times for name in rig.forms(message).values())
    seen = {name: [] for _, name in reports}
    with rig.envoy(messages) as envoy, envoy.client() as client:
        begun = time.monotonic()
        while (now := time.monotonic() - begun) < LENGTH_S:
            while reports and reports[0][0] <= now:
                client.ask(reports.pop(0)[1], [{"x-report-0": USUAL}])
            now, hosts = time.monotonic() - begun, envoy.all_hosts()
            for name, changes in seen.items():
                _note(changes, now, hosts[name][address]["weight"])
            time.sleep(0.03)
    with rig.replay() as replay:
        return [
            row(f"blackout {line[0]} s, expiration {line[1]} s, reports at "
                + ", ".join(f"{at:g}" for at in line[2]),
                rig.each(message, seen.get),
                _course(replay, message, address, line[2]), _near, _changes)
            for message, line in zip(messages, TIMELINES)
        ]


def _note(changes, now, weight):
    if weight != (changes[-1][1] if changes else 1):
        changes.append((now, weight))


def _course(replay, message, address, times):
    replay.open(message)
    changes = []
    for step in range(1, int(10 * LENGTH_S) + 1):
        if round(step - 1) / 10 in [round(at, 1) for at in times]:
            told(replay, address, {"endpoint-load-metrics": USUAL})
        replay.do("advance", ms=100)
        _note(changes, step / 10, current(replay)[address])
    return changes


def _near(seen, predicted):
    return [weight for _, weight in seen] == [weight for _, weight in predicted] and all(
        abs(one - other) <= NEAR_S for (one, _), (other, _) in zip(seen, predicted))


def _changes(changes):
    return ", ".join(f"{weight} at {at:.1f}" for at, weight in changes) or "stays 1"


ASKED = 3_000


@scenario("weights-split", "client_side_weighted_round_robin: weights and shares of hosts",
          by_chance=True)
def split(rig):
    """Hosts that report steadily beside silent ones, priorities and localities: all weights, and
    the shares of 3 000 requests."""
    def hosts(*groups, weights=None):
        return [host(rig.origins.address(group), weight)
                for group, weight in zip(groups, weights or [None] * len(groups))]

    steady = {"blackout_period": "0s", "weight_update_period": f"{PERIOD_S}s"}
    plain = client_side_weighted(**steady)
    by_locality = wrr_locality(plain)
    two = [locality(hosts(0), "a", weight=1), locality(hosts(1), "b", weight=9)]
    cases = [
        ("200, 400, 600, 800 and a silent host", plain, [locality(hosts(0, 1, 2, 3, 4))],
         (200, 400, 600, 800)),
        ("5, 42 and three silent hosts", plain, [locality(hosts(0, 1, 2, 3, 4))], (5, 42)),
        ("5, 42, 5000 and two silent hosts", plain, [locality(hosts(0, 1, 2, 3, 4))],
         (5, 42, 5000)),
        ("nobody reports; configured weights 3, 5, 9", plain,
         [locality(hosts(0, 1, 2, weights=[3, 5, 9]))], ()),
        ("an idle priority 1 of weights 7, 7", plain,
         [locality(hosts(0, 1, 2)), locality(hosts(3, 4, weights=[7, 7]), priority=1)],
         (200, 400, 600, 800, 800)),
        ("localities of weights 1 and 9", plain, two, (100, 200)),
        ("wrr_locality, localities of weights 1 and 9", by_locality, two, (100, 200)),
        ("wrr_locality, two hosts in each locality", by_locality,
         [locality(hosts(0, 1), "a", weight=3), locality(hosts(2, 3), "b", weight=1)],
         (100, 200, 300, 400)),
    ]
    messages = [cluster(f"case{number}", policy, localities)
                for number, (_, policy, localities, _) in enumerate(cases)]
    with rig.envoy(messages) as envoy, envoy.client() as client:
        told_by = {name: case[3] for case, message in zip(cases, messages)
                   for name in rig.forms(message).values()}
        for _ in range(3):
            for name, weights in told_by.items():
                client.origins(name, 200, _headers(weights))
            time.sleep(4 * PERIOD_S)
        known = envoy.all_hosts()
        seen = {name: shares.tally(client.origins(name, ASKED)) for name in told_by}
    return [_split_row(rig, case, message, known, seen) for case, message in zip(cases, messages)]


def _headers(weights):
    return {f"x-report-{group}": _reported(weight) for group, weight in enumerate(weights)}


def _reported(weight):
    return f"TEXT application_utilization=1,rps_fractional={weight}"


def _split_row(rig, case, message, known, seen):
    name, _, _, weights = case
    with rig.replay() as replay:
        replay.open(message, seed=1)
        for _ in range(3):
            for address in set(replay.do("pick", n=200)):
                group = rig.origins.group_of(address)
                if group < len(weights):
                    told(replay, address, {"endpoint-load-metrics": _reported(weights[group])})
            replay.do("advance", ms=400)
        predicted = current(replay)
        expected = Counter(replay.do("tally", n=300_000))
    addresses = list(predicted)
    columns = rig.forms(message)

    def text(all_weights, counts):
        listed = ", ".join(str(all_weights[address]) for address in addresses)
        return f"{listed}; {shares.text(counts, addresses)}"

    result = Row(name, text(predicted, expected), {}, {})
    for column, form in columns.items():
        if column == MODULE:  # its weights show in the shares only
            result.seen[column] = shares.text(seen[form], addresses)
            result.agrees[column] = shares.agree(seen[form], expected)
        else:
            weights = {address: known[form][address]["weight"] for address in addresses}
            result.seen[column] = text(weights, seen[form])
            result.agrees[column] = weights == predicted and shares.agree(seen[form], expected)
    return result
