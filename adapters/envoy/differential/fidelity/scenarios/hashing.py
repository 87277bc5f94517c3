"""Policies that go by a hash: every key has to reach the host that the replay names."""

from ..clusters import cluster, healthy, host, locality, maglev, ring_hash
from ..envoy import HASH_POLICY, RETRIES
from ..held import Held
from ..scenario import same_sequence, scenario

KEYS = [{"x-key": f"key-{number}"} for number in range(2_000)]
WEIGHTED = {"locality_weighted_lb_config": {}}


def _clusters(origins):
    """The cases: what each one is about, and its cluster."""
    few, many, more = origins.some(6), origins.some(100), origins.some(106)[100:]
    plain = [locality(host(address) for address in few)]
    heavier = [locality(host(address, weight) for weight, address in enumerate(few, 1))]
    crowd = [locality(host(address, 1 + 7 * i % 10) for i, address in enumerate(many))]
    zones = [
        locality([host(address, 1 + i % 3) for i, address in enumerate(many[:60])], "a", weight=3),
        locality([host(address) for address in many[60:]], "b", weight=1),
        locality([host(address) for address in more], "c"),
    ]
    half = [
        locality([host(address, health="UNHEALTHY" if i % 2 else None)
                  for i, address in enumerate(many[:20])]),
        locality([host(address) for address in many[20:30]], priority=1),
    ]
    dead = [locality([host(address, health="UNHEALTHY") for address in few])]
    keyed = [locality([host(address, hash_key=f"name-{i}" if i % 2 else None)
                       for i, address in enumerate(few)])]
    named = [locality([host(address, hostname=f"host-{i}") for i, address in enumerate(few)])]
    hostnames = {"consistent_hashing_lb_config": {"use_hostname_for_hashing": True}}
    murmur = {"hash_function": "MURMUR_HASH_2"}
    for policy, build in (("ring_hash", ring_hash), ("maglev", maglev)):
        yield f"{policy}, 6 hosts", build(), plain
        yield f"{policy}, weights 1 to 6", build(), heavier
        yield f"{policy}, 100 hosts of mixed weights", build(), crowd
        yield f"{policy}, two weighted localities and one without", build(**WEIGHTED), zones
        yield f"{policy}, half of a priority failed", build(), half
        yield f"{policy}, panic", build(), dead
        yield f"{policy}, some hosts keyed by metadata", build(), keyed
        yield f"{policy}, keyed by hostname", build(**hostnames), named
    yield "ring_hash, murmur, weights", ring_hash(**murmur), heavier
    yield "ring_hash, murmur, 100 hosts", ring_hash(**murmur), crowd
    for case, low, high in (("of 1021 points", 1021, 1021), ("too small for its hosts", 1, 50)):
        yield f"ring_hash {case}", ring_hash(minimum_ring_size=low, maximum_ring_size=high), crowd
    yield "maglev of 1009 slots", maglev(table_size=1009), crowd
    yield "maglev of 7 slots", maglev(table_size=7), plain
    yield "maglev, one host", maglev(), [locality([host(few[0])])]


@scenario("hash-keys", "Hash policies: hosts of 2 000 keys")
def keys(rig):
    """2 000 header values, each of which has to reach the predicted host."""
    cases = [(case, cluster(f"c{number}", policy, localities))
             for number, (case, policy, localities) in enumerate(_clusters(rig.origins))]
    with rig.envoy([message for _, message in cases]) as envoy, envoy.client() as client, \
            rig.replay() as replay:
        hashes = replay.hashes(HASH_POLICY, [{"headers": key} for key in KEYS])
        return [_keys_row(rig, client, replay, case, message, hashes) for case, message in cases]


def _keys_row(rig, client, replay, case, message, hashes):
    replay.open(message)
    predicted = replay.do("pick", n=len(hashes), hash=hashes)
    measured = rig.each(message, lambda name: _answered(client, name, KEYS))
    return same_sequence(case, measured, predicted, healthy(message))


def _answered(client, name, requests):
    return [answer.origin for answer in client.ask(name, requests)]


@scenario("hash-retries", "Hash policies: hosts of retries")
def retries(rig):
    """2 000 header values, retried once and twice with Envoy's predicate that refuses hosts that
    were tried before: the host of the last attempt."""
    weights = [1, 2, 3, 4, 5, 6]
    localities = [locality(map(host, rig.origins.some(6), weights))]
    clusters = [cluster("ring", ring_hash(), localities), cluster("maglev", maglev(), localities),
                cluster("murmur", ring_hash(hash_function="MURMUR_HASH_2"), localities)]
    rows = []
    with rig.envoy(clusters) as envoy, envoy.client() as client, rig.replay() as replay:
        hashes = replay.hashes(HASH_POLICY, [{"headers": key} for key in KEYS])
        for message in clusters:
            replay.open(message)
            tried = [[] for _ in hashes]
            for attempt in range(3):
                for refused, number in zip(tried, hashes):
                    keys = {"reject": list(refused), "retries": RETRIES} if refused else {}
                    refused += replay.do("pick", hash=number, **keys)
                if attempt == 0:
                    continue
                failing = [{**key, "x-fail-attempts": str(attempt)} for key in KEYS]
                measured = rig.each(message, lambda name: _answered(client, name, failing))
                case = f"{message['name']}, attempt {attempt + 1}"
                rows.append(same_sequence(case, measured, [hosts[-1] for hosts in tried]))
    return rows


@scenario("hash-bounded", "Hash policies: bounded load")
def bounded_load(rig):
    """One key, 14 requests that all stay open, and a `hash_balance_factor`: the order of hosts."""
    localities = [locality(map(host, rig.origins.some(6)))]
    clusters = [
        cluster(f"{name}-{factor}", build(consistent_hashing_lb_config={
            "hash_balance_factor": factor}), localities)
        for name, build in (("maglev", maglev), ("ring", ring_hash)) for factor in (100, 125, 150)
    ]
    key = {"x-key": "abc"}
    rows = []
    with rig.envoy(clusters) as envoy, rig.replay() as replay:
        opened = [rig.each(message, lambda name: Held(envoy, name, 14, key))
                  for message in clusters]
        number, = replay.hashes(HASH_POLICY, [{"headers": key}])
        for message, requests in zip(clusters, opened):
            replay.open(message)
            predicted = replay.do("pick", n=14, hash=number, hold=True)
            measured = {column: held.finish() for column, held in requests.items()}
            rows.append(same_sequence(message["name"], measured, predicted))
    return rows
