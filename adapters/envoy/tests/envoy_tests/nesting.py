"""Inside other policies of Envoy's, which make instances of ours as they need them."""

from .origins import Origins
from .rig import (
    Envoy, bootstrap, cluster, endpoint, equal, group, is_1_39, near, plimsoll, policy, validate,
)
from .reports import busy, four, zones


def test_it_picks_endpoints_for_envoys_load_aware_locality():
    outer = policy("load_aware_locality", weight_update_period="0.2s",
                   endpoint_picking_policy=plimsoll())
    if is_1_39():  # it has the name, and no more
        status, log = validate(bootstrap(cluster(outer)))
        assert status == 1 and "not yet implemented" in log, (status, log)
        return
    with four() as origins:
        with Envoy(bootstrap(cluster(outer)), {"be": zones(origins)}) as envoy:
            busy(origins, a=0.9, b=0.1)
            envoy.load(seconds=1.5)
            answers = envoy.load(requests=8000)
            answers.all_good()
            # Envoy divides by locality, ours among the two hosts of each.
            near(answers.share("a1", "a2"), 0.1, 0.02)
            near(answers.share("b1"), answers.share("b2"), 0.005)
            near(answers.share("a1"), answers.share("a2"), 0.005)
            substituted = envoy.stat("plimsoll.picks_substituted.envoy_cluster_name.be")
            picks = envoy.stat("plimsoll.picks.envoy_cluster_name.be")
            assert substituted < picks / 100, (substituted, picks)
            envoy.assign("be", *zones(origins)[1:])
            answers = envoy.load(requests=500)
            answers.all_good()
            equal(envoy.complaints(), [])


def test_it_is_what_override_host_falls_back_to():
    outer = policy("override_host", override_host_sources=[{"header": "x-host"}],
                   fallback_policy=plimsoll())
    with Origins("a1", "a2") as origins:
        groups = [group("a", *[endpoint(it.address) for it in origins])]
        with Envoy(bootstrap(cluster(outer)), {"be": groups}) as envoy:
            for _ in range(20):
                equal(envoy.get(**{"x-host": origins["a2"].address}), (200, "a2"))
            answers = envoy.load(requests=1000)
            answers.all_good()
            near(answers.share("a1"), 0.5, 0.02)
            equal(envoy.complaints(), [])


def test_it_picks_inside_subsets():
    outer = policy("subset", fallback_policy="ANY_ENDPOINT",
                   subset_selectors=[{"keys": ["stage"]}], subset_lb_policy=plimsoll())
    with Origins("a1", "a2", "a3", "a4") as origins:
        hosts = [endpoint(it.address) for it in origins]
        for host in hosts[:2]:
            host["metadata"] = {"filter_metadata": {"envoy.lb": {"stage": "canary"}}}
        match = {"filter_metadata": {"envoy.lb": {"stage": "canary"}}}
        config = bootstrap(cluster(outer, name="be"), route={"metadata_match": match})
        with Envoy(config, {"be": [group("a", *hosts)]}) as envoy:
            answers = envoy.load(requests=1000)
            answers.all_good()
            equal(set(answers.by_origin), {"a1", "a2"})
            near(answers.share("a1"), 0.5, 0.02)
            equal(envoy.complaints(), [])
