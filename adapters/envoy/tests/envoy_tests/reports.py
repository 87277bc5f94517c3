"""That what hosts say of their load moves the traffic."""

from .origins import Origins
from .rig import (
    NODE, Envoy, bootstrap, cluster, endpoint, equal, group, near, plimsoll, policy, wait_until,
)

LOAD_AWARE = policy("load_aware_locality", weight_update_period="0.1s",
                    smoothing_time_constant="0.1s", endpoint_picking_policy=policy("round_robin"))


def zones(origins):
    return [group(zone, *[endpoint(origins[zone + index].address) for index in "12"])
            for zone in "ab"]


def busy(origins, **utilization):
    for zone, value in utilization.items():
        for index in "12":
            origins[zone + index].report = f"TEXT application_utilization={value}"


def four():
    return Origins("a1", "a2", "b1", "b2")


def test_traffic_follows_load_as_in_envoy():
    lb = plimsoll(behavior="envoy", load_balancing_policy=LOAD_AWARE, node_locality=NODE)
    with four() as origins, Envoy(bootstrap(cluster(lb)), {"be": zones(origins)}) as envoy:
        # Spill: shares go by what is left, 0.1 to 0.9.
        busy(origins, a=0.9, b=0.1)
        envoy.load(seconds=1)
        answers = envoy.load(requests=8000)
        near(answers.share("a1", "a2"), 0.1, 0.015, "zone a")
        # The local zone is not busier: all but the probes stay.
        busy(origins, a=0.5, b=0.5)
        wait_until("zone a gets nearly all",
                   lambda: envoy.load(requests=500).share("a1", "a2") > 0.94)
        answers = envoy.load(requests=8000)
        answers.all_good()
        near(answers.share("a1", "a2"), 0.97, 0.01, "zone a")
        stats = envoy.stats("plimsoll.load_aware_locality")
        names = [f"plimsoll.load_aware_locality.{mode}_total.envoy_cluster_name.be"
                 for mode in ("spill_active", "local_preferred", "probe_active")]
        assert all(stats.get(name) for name in names), stats


def test_traffic_follows_load_natively_and_gauges_show_it():
    lb = plimsoll(load_balancing_policy=LOAD_AWARE, node_locality=NODE)
    with four() as origins, Envoy(bootstrap(cluster(lb)), {"be": zones(origins)}) as envoy:
        busy(origins, a=1.2, b=0.1)
        wait_until("zone a is spared",
                   lambda: envoy.load(requests=1000).share("a1", "a2") < 0.3)

        def gauge(name, zone):
            labels = f"envoy_cluster_name.be.priority.0.locality.r/{zone}/s"
            return envoy.stats("plimsoll.locality").get(f"plimsoll.{name}.{labels}", 0)

        def gauges_are_up_to_date():
            share = envoy.load(requests=1000).share("a1", "a2")
            return abs(gauge("locality_weight_ppm", "a") / 1e6 - share) < 0.05
        wait_until("gauges show the shares", gauges_are_up_to_date)
        near(gauge("locality_utilization_ppm", "b") / 1e6, 0.1, 0.02)
        near(gauge("locality_weight_ppm", "a") + gauge("locality_weight_ppm", "b"), 1e6, 2)
        assert gauge("locality_sample_age_ms", "a") < 5000
        equal(envoy.complaints(), [])


def test_reports_in_trailers_count():
    lb = plimsoll(behavior="envoy", load_balancing_policy=LOAD_AWARE, node_locality=NODE)
    with four() as origins, Envoy(bootstrap(cluster(lb)), {"be": zones(origins)}) as envoy:
        for origin in origins:
            origin.in_trailers = True
        busy(origins, a=0.9, b=0.1)

        def share_of_a(requests):
            answers = [envoy.get() for _ in range(requests)]
            assert all(status == 200 for status, _ in answers), answers
            return sum(name.startswith("a") for _, name in answers) / requests
        wait_until("zone a is spared", lambda: share_of_a(50) < 0.25)
        near(share_of_a(1000), 0.1, 0.05, "zone a")


def test_hosts_are_weighed_by_their_reports():
    weighted = policy("client_side_weighted_round_robin", blackout_period="0s",
                      weight_update_period="0.1s")
    lb = plimsoll(load_balancing_policy=weighted)
    with four() as origins, Envoy(bootstrap(cluster(lb)), {"be": zones(origins)}) as envoy:
        for origin, rate in zip(origins, (100, 100, 200, 400)):
            origin.report = f"TEXT application_utilization=0.5,rps_fractional={rate}"
        envoy.load(seconds=1)
        answers = envoy.load(requests=4000)
        answers.all_good()
        near(answers.share("a1"), 1 / 8, 0.01)
        near(answers.share("b2"), 4 / 8, 0.02)


def test_a_policy_without_its_filter_is_pointed_out():
    lb = plimsoll(load_balancing_policy=LOAD_AWARE, node_locality=NODE)
    with four() as origins:
        with Envoy(bootstrap(cluster(lb, orca=False)), {"be": zones(origins)}) as envoy:
            envoy.load(requests=2500).all_good()
            text = 'cluster be goes by what requests tell, and none of 1000 went through the filter'
            assert text in envoy.log(), envoy.log()
