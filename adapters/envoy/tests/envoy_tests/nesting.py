"""Inside another policy of Envoy's, which makes an instance of ours for each locality."""

from .rig import Envoy, bootstrap, cluster, equal, is_1_39, near, plimsoll, policy, validate
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
