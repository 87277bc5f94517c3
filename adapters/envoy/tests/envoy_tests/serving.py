"""That it loads and serves, and hosts get what they weigh."""

from .origins import Origins
from .rig import (
    Envoy, bootstrap, cluster, endpoint, equal, group, near, plimsoll, policy, wait_until,
)


def hosts(origins, *names, **weights):
    return [endpoint(origins[name].address, weights.get(name, 1)) for name in names]


def test_it_loads_without_a_warning_and_serves_by_weight():
    with Origins("a1", "a2", "b1") as origins:
        groups = [group("a", *hosts(origins, "a1", "a2", a1=3)), group("b", *hosts(origins, "b1"))]
        with Envoy(bootstrap(cluster(plimsoll())), {"be": groups}) as envoy:
            assert "matched" in envoy.log() and "deprecated" not in envoy.log(), envoy.log()
            answers = envoy.load(requests=5000)
            answers.all_good()
            for name, share in (("a1", 0.6), ("a2", 0.2), ("b1", 0.2)):
                near(answers.share(name), share, 0.005, name)
            name = "plimsoll.picks.envoy_cluster_name.be"
            envoy.load(requests=1)
            wait_until("picks are in /stats",
                       lambda: envoy.load(requests=1) and envoy.stat(name) >= 5000)
            equal(envoy.stat("plimsoll.module_panics"), 0)
            equal(envoy.complaints(), [])


def test_hosts_that_stand_in_the_cluster_itself_are_served():
    with Origins("a1", "a2") as origins:
        inside = {"cluster_name": "be", "endpoints": [group("a", *hosts(origins, "a1", "a2"))]}
        be = cluster(plimsoll(), type="STATIC", load_assignment=inside)
        del be["eds_cluster_config"]
        with Envoy(bootstrap(be)) as envoy:
            answers = envoy.load(requests=1000)
            answers.all_good()
            near(answers.share("a1"), 0.5, 0.02)
            assert envoy.stat("plimsoll.picks_substituted.envoy_cluster_name.be") < 10


def test_many_clusters_share_the_module():
    names = [f"c{index}" for index in range(8)]
    with Origins(*names) as origins:
        clusters = [cluster(plimsoll(), name=name) for name in names]
        own = {name: [group("a", *hosts(origins, name))] for name in names}
        with Envoy(bootstrap(*clusters), own) as envoy:
            for name in names:
                answers = envoy.load(name, requests=100)
                answers.all_good()
                equal(answers.by_origin, {name: 100})


def test_each_policy_serves():
    policies = ["round_robin", "least_request", "random", "ring_hash", "maglev",
                "client_side_weighted_round_robin"]
    clusters = [cluster(plimsoll(behavior=behavior, load_balancing_policy=policy(name)),
                        name=f"{behavior}-{name}")
                for name in policies for behavior in ("native", "envoy")]
    with Origins("a1", "a2") as origins:
        groups = [group("a", *hosts(origins, "a1", "a2"))]
        own = {it["name"]: groups for it in clusters}
        with Envoy(bootstrap(*clusters), own) as envoy:
            for it in clusters:
                answers = envoy.load(it["name"], requests=600)
                answers.all_good()
                near(answers.share("a1"), 0.5, 0.12, it["name"])
            equal(envoy.complaints(), [])


def test_least_request_counts_requests_by_the_filter():
    least = plimsoll(load_balancing_policy=policy("least_request"))
    with Origins("fast", "slow") as origins:
        origins["slow"].delay = 0.05
        groups = [group("a", *hosts(origins, "fast", "slow"))]
        with Envoy(bootstrap(cluster(least)), {"be": groups}) as envoy:
            answers = envoy.load(seconds=1, connections=4)
            answers.all_good()
            assert answers.share("fast") > 0.8, answers.by_origin
