"""Hashes of requests, and retries."""

from .origins import Origins
from .rig import Envoy, bootstrap, cluster, endpoint, equal, group, plimsoll, policy

BY_KEY = {"hash_policy": [{"header": {"header_name": "x-key"}}]}
KEYS = [f"key-{number}" for number in range(60)]
PREVIOUS_HOSTS = {
    "retry_on": "5xx", "num_retries": 2, "host_selection_retry_max_attempts": 5,
    "retry_host_predicate": [{
        "name": "envoy.retry_host_predicates.previous_hosts",
        "typed_config": {"@type": "type.googleapis.com/envoy.extensions.retry.host.previous_hosts."
                                  "v3.PreviousHostsPredicate"}}]}


def homes(envoy, name="be"):
    answers = {key: envoy.get(name, **{"x-key": key}) for key in KEYS}
    assert all(status == 200 for status, _ in answers.values()), answers
    return {key: origin for key, (_, origin) in answers.items()}


def test_requests_of_a_key_go_to_one_host_on_any_thread():
    names = ["a1", "a2", "a3", "a4"]
    clusters = [cluster(plimsoll(load_balancing_policy=policy(kind)), name=kind)
                for kind in ("maglev", "ring_hash")]
    with Origins(*names) as origins:
        groups = [group("a", *[endpoint(origins[name].address) for name in names])]
        hosts = {it["name"]: groups for it in clusters}
        with Envoy(bootstrap(*clusters, route=BY_KEY), hosts, concurrency=4) as envoy:
            for kind in hosts:
                first = homes(envoy, kind)
                equal(set(first.values()), set(names))
                equal(homes(envoy, kind), first)


def test_a_retry_goes_to_another_host():
    for kind in ("round_robin", "maglev"):
        lb = plimsoll(load_balancing_policy=policy(kind))
        route = {**BY_KEY, "retry_policy": PREVIOUS_HOSTS}
        with Origins("bad", "good") as origins:
            origins["bad"].status = 503
            groups = [group("a", *[endpoint(it.address) for it in origins])]
            with Envoy(bootstrap(cluster(lb), route=route), {"be": groups}) as envoy:
                equal(set(homes(envoy).values()), {"good"})
                assert origins["bad"].requests > 0
