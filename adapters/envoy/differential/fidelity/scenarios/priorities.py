"""How traffic divides among priorities: exact, by asking for every residue of the hash."""

from ..clusters import address_of, cluster, healthy, host, locality, maglev
from ..envoy import HASH_POLICY
from ..scenario import same_sequence, scenario

# total/healthy/degraded/excluded hosts of each priority, and what differs from the defaults.
MIXES = [
    *(f"100/{a} ; 100/{b}" for a, b in (
        (100, 100), (72, 100), (71, 100), (50, 100), (25, 100), (0, 100), (72, 72), (71, 71),
        (50, 50), (25, 25), (50, 60), (5, 65))),
    "100/25 ; 100/25 ; 100/100",
    "100/25 ; 100/25 ; 100/20",
    "100/71 ; 100/71 ; 100/100",
    "100/20 ; 100/20 ; 100/20",
    "100/10 ; 100/20 ; 100/10",
    "4/0 ; 2/0",
    "1/0 ; 2/0",
    "5/0 ; 6/2 ; 3/1",
    "6/0 ; 3/0 ; 0/0",
    "4/0/0/1 ; 6/1/0/2",
    "4/1/0/3 ; 5/1",
    "4/0/0/4 ; 4/1",
    "7/3 ; 7/2 ; 7/1",
    "3/1 ; 3/1 ; 3/1",
    "9/2 ; 11/2 ; 13/2",
    "10/3 ; 10/2 ; 10/10",
    "4/2 ; 4/2 @100",
    "4/1 ; 4/1 @200",
    "100/71/29 ; 1/0",
    "5/0/1 ; 5/0/5 ; 5/1",
    "5/0/2 ; 5/0/2 ; 5/0/1",
    "13/2/6/3 ; 2/0 ; 7/5/1",
    "10/9 ; 10/0 @100 ; panic 100",
]


@scenario("priority-loads", "Priority loads: every residue of the hash")
def loads(rig):
    """One request for each residue 0 to 99 of the hash over 35 mixes of healthy, degraded and
    excluded hosts in up to three priorities (hosts/healthy/degraded/excluded; @ is the
    overprovisioning factor), by `maglev`: host by host, and so priority by priority."""
    messages = [_cluster(rig.origins, f"mix{i}", mix) for i, mix in enumerate(MIXES)]
    with rig.envoy(messages) as envoy, envoy.client() as client, rig.replay() as replay:
        keys, hashes = _every_residue(replay)
        return [_row(rig, client, replay, mix, message, keys, hashes)
                for mix, message in zip(MIXES, messages)]


def _row(rig, client, replay, mix, message, keys, hashes):
    replay.open(message)
    predicted = replay.do("pick", n=len(hashes), hash=hashes)
    measured = rig.each(message, lambda name: [
        answer.origin for answer in client.ask(name, keys)])
    row = same_sequence(mix, measured, predicted, healthy(message))
    row.predicted = _split(message, predicted)
    return row


def _split(message, picks):
    """How many of the picks each priority got, "/" between them, and how many nobody did."""
    priority_of = {
        address_of(entry): part.get("priority", 0)
        for part in message["load_assignment"]["endpoints"] for entry in part["lb_endpoints"]
    }
    counts = [0] * (1 + max(part.get("priority", 0)
                            for part in message["load_assignment"]["endpoints"]))
    for pick in picks:
        if pick is not None:
            counts[priority_of[pick]] += 1
    lost = sum(pick is None for pick in picks)
    return "/".join(map(str, counts)) + (f", {lost} to nobody" if lost else "")


def _every_residue(replay):
    """Keys whose hashes are 0, 1, … 99 modulo 100, and those hashes."""
    found = {}
    for number in range(5_000):
        key = {"x-key": str(number)}
        value, = replay.hashes(HASH_POLICY, [{"headers": key}])
        found.setdefault(value % 100, (key, value))
        if len(found) == 100:
            break
    keys, hashes = zip(*(found[residue] for residue in range(100)))
    return keys, list(hashes)


def _cluster(origins, name, mix):
    """The cluster of a mix as it is written in `MIXES`."""
    mix, _, threshold = mix.partition(" ; panic ")
    mix, _, factor = mix.partition(" @")
    addresses = iter(origins.some(300))
    localities = [
        locality(_hosts(addresses, *map(int, counts.split("/"))), priority=priority)
        for priority, counts in enumerate(mix.split(" ; "))
    ]
    fields = {}
    if threshold:
        fields["common_lb_config"] = {"healthy_panic_threshold": {"value": int(threshold)}}
    policy = {"overprovisioning_factor": int(factor)} if factor else {}
    return cluster(name, maglev(table_size=1009), localities, policy, **fields)


def _hosts(addresses, total, healthy, degraded=0, excluded=0):
    """Hosts by their health, in this order; what is left of the total is unhealthy."""
    unhealthy = total - healthy - degraded - excluded
    states = ([None] * healthy + ["DEGRADED"] * degraded + ["DRAINING"] * excluded
              + ["UNHEALTHY"] * unhealthy)
    return [host(next(addresses), health=state) for state in states]
