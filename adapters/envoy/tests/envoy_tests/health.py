"""Hosts that are not healthy: what a policy inside Envoy can do, and what the filter `overflow` adds."""

from .origins import Origins
from .rig import Envoy, bootstrap, cluster, endpoint, equal, group, near, our_filter, plimsoll, policy, wait_until


def of(origins, **health):
    return group("a", *[endpoint(origins[name].address, health=status)
                        for name, status in health.items()])


def settled(envoy, hosts):
    """Waits until all threads know of `hosts` healthy hosts."""
    wait_until("Envoy knows", lambda: envoy.stat("cluster.be.membership_healthy") == hosts)


def test_priorities_share_as_in_envoy():
    with Origins("a1", "a2", "c1") as origins:
        first = of(origins, a1="HEALTHY", a2="UNHEALTHY")
        second = {**of(origins, c1="HEALTHY"), "priority": 1}
        with Envoy(bootstrap(cluster(plimsoll())), {"be": [first, second]}) as envoy:
            settled(envoy, 2)
            answers = envoy.load(requests=4000)
            answers.all_good()
            near(answers.share("a1"), 0.7, 0.02)
            near(answers.share("c1"), 0.3, 0.02)


def test_health_checks_of_envoy_count():
    checks = {"health_checks": [{
        "timeout": "1s", "interval": "0.1s", "no_traffic_interval": "0.1s",
        "unhealthy_threshold": 1, "healthy_threshold": 1,
        "http_health_check": {"path": "/healthz"}}],
        "common_lb_config": {"update_merge_window": "0s"}}
    with Origins("a1", "a2") as origins:
        hosts = of(origins, a1="UNKNOWN", a2="UNKNOWN")
        with Envoy(bootstrap(cluster(plimsoll(), **checks)), {"be": [hosts]}) as envoy:
            settled(envoy, 2)
            near(envoy.load(requests=400).share("a1"), 0.5, 0.03)
            origins["a2"].check_status = 503
            settled(envoy, 1)
            wait_until("a2 gets nothing", lambda: envoy.load(requests=20).by_origin == {"a1": 20})
            answers = envoy.load(requests=400)
            answers.all_good()
            equal(answers.by_origin, {"a1": 400})
            origins["a2"].check_status = 200
            settled(envoy, 2)
            wait_until("a2 is back", lambda: envoy.load(requests=20).share("a2") > 0.3)


def test_healthy_hosts_stand_in_for_others():
    with Origins("a1", "a2", "a3", "a4") as origins:
        panic = of(origins, a1="HEALTHY", a2="UNHEALTHY", a3="UNHEALTHY", a4="UNHEALTHY")
        with Envoy(bootstrap(cluster(plimsoll())), {"be": [panic]}) as envoy:
            settled(envoy, 1)
            answers = envoy.load(requests=2000)
            answers.all_good()
            equal(answers.by_origin, {"a1": 2000})
            envoy.assign("be", of(origins, a1="DEGRADED", a2="UNHEALTHY"))
            settled(envoy, 0)
            equal(envoy.load(requests=20).by_status, {503: 20})


def test_panic_fails_traffic_if_so_configured():
    lb = plimsoll(load_balancing_policy={"policies": [{"typed_extension_config": {
        "name": "envoy.load_balancing_policies.round_robin", "typed_config": {
            "@type": "type.googleapis.com/envoy.extensions.load_balancing_policies.round_robin.v3."
                     "RoundRobin",
            "locality_lb_config": {"zone_aware_lb_config": {
                "routing_enabled": {"value": 0}, "fail_traffic_on_panic": True}}}}}]})
    with Origins("a1", "a2", "a3") as origins:
        hosts = of(origins, a1="HEALTHY", a2="UNHEALTHY", a3="UNHEALTHY")
        with Envoy(bootstrap(cluster(lb)), {"be": [hosts]}) as envoy:
            settled(envoy, 1)
            wait_until("the priority panics", lambda: envoy.get()[0] == 503)
            equal(envoy.load(requests=50).by_status, {503: 50})
            envoy.assign("be", of(origins, a1="HEALTHY", a2="HEALTHY", a3="UNHEALTHY"))
            settled(envoy, 2)
            wait_until("it does not any more", lambda: envoy.get()[0] == 200)
            envoy.load(requests=50).all_good()


def test_the_overflow_filter_reaches_degraded_hosts():
    config = bootstrap(cluster(plimsoll()), filters=[our_filter("overflow")])
    with Origins("a1", "a2") as origins:
        groups = [of(origins, a1="HEALTHY", a2="DEGRADED")]
        with Envoy(config, {"be": groups}) as envoy:
            settled(envoy, 1)
            answers = envoy.load(requests=4000)
            answers.all_good()
            # 1 of 2 hosts is healthy: 70 % for it, 30 % for the degraded one.
            near(answers.share("a2"), 0.3, 0.02)
            envoy.assign("be", of(origins, a1="DEGRADED", a2="DEGRADED"))
            settled(envoy, 0)
            answers = envoy.load(requests=1000)
            answers.all_good()
            near(answers.share("a1"), 0.5, 0.02)
            equal(envoy.complaints(), [])


def test_hosts_that_the_overflow_filter_named_report_and_count():
    weighted = policy("client_side_weighted_round_robin", blackout_period="0s",
                      weight_update_period="0.1s")
    config = bootstrap(cluster(plimsoll(load_balancing_policy=weighted)),
                       filters=[our_filter("overflow")])
    with Origins("a1", "a2", "a3") as origins:
        for origin, rate in zip(origins, (100, 100, 300)):
            origin.report = f"TEXT application_utilization=0.5,rps_fractional={rate}"
        groups = [of(origins, a1="UNHEALTHY", a2="DEGRADED", a3="DEGRADED")]
        with Envoy(config, {"be": groups}) as envoy:
            wait_until("degraded hosts serve", lambda: envoy.get()[0] == 200)
            wait_until("a3 has three times the weight of a2",
                       lambda: abs(envoy.load(requests=400).share("a3") - 0.75) < 0.03)
            equal(envoy.stat("plimsoll.module_panics"), 0)


def test_the_overflow_filter_reaches_unhealthy_hosts_in_panic():
    allowed = {"override_host_status": {"statuses": ["UNKNOWN", "HEALTHY", "DEGRADED", "UNHEALTHY"]}}
    be = cluster(plimsoll(), common_lb_config=allowed)
    with Origins("a1", "a2", "a3", "a4") as origins:
        groups = [of(origins, a1="HEALTHY", a2="UNHEALTHY", a3="UNHEALTHY", a4="UNHEALTHY")]
        with Envoy(bootstrap(be, filters=[our_filter("overflow")]), {"be": groups}) as envoy:
            settled(envoy, 1)
            answers = envoy.load(requests=4000)
            answers.all_good()
            for origin in origins:
                near(answers.share(origin.name), 0.25, 0.02, origin.name)
