"""Configurations that are refused, and what Envoy does then."""

from .origins import Origins
from .rig import Envoy, bootstrap, cluster, endpoint, group, our_filter, plimsoll, policy, validate, wait_until

REFUSED = (
    ({"behavior": "envo"}, "behavior: expected native or envoy"),
    ({"healthy_panic_threshold": 5}, "healthy_panic_threshold: no such field"),
    ({"load_balancing_policy": policy("load_aware_locality", weight_update_period="0.05s",
                                      endpoint_picking_policy=policy("round_robin"))},
     "weight_update_period must be at least 100ms"),
    ({"load_balancing_policy": policy("client_side_weighted_round_robin",
                                      enable_oob_load_report=True)}, "enable_oob_load_report"),
    ({"load_assignment": {"endpoints": [group("a", endpoint("127.0.0.1:1"))]}},
     "load_assignment.endpoints: hosts are those of Envoy's cluster"),
)


def test_bad_configurations_are_refused_with_our_text():
    for config, text in REFUSED:
        status, log = validate(bootstrap(cluster(plimsoll(**config))))
        assert status == 1 and text in log and "[error]" in log, (config, status, log)
    status, log = validate(bootstrap(cluster(plimsoll()), filters=[our_filter("orcas")]))
    assert status == 1 and 'there is no filter "orcas"' in log, (status, log)
    status, log = validate(bootstrap(cluster(plimsoll(behavior="envoy", seed="7"))))
    assert status == 0, log


def test_settings_may_be_a_text_in_yaml():
    for text, expected in (("behavior: envoy\nlb_policy: MAGLEV\n", 0), ("behavior: envo\n", 1)):
        lb = plimsoll()
        config = lb["policies"][0]["typed_extension_config"]["typed_config"]
        config["lb_policy_config"] = {
            "@type": "type.googleapis.com/google.protobuf.StringValue", "value": text}
        status, log = validate(bootstrap(cluster(lb)))
        assert status == expected and ("expected native or envoy" in log) == (status == 1), log


def test_an_update_that_is_refused_leaves_the_old_cluster_serving():
    with Origins("a1") as origins:
        be = cluster(plimsoll())
        hosts = {"be": [group("a", endpoint(origins["a1"].address))]}
        with Envoy(bootstrap(be, by_cds=True), hosts, clusters=[be]) as envoy:
            envoy.load(requests=50).all_good()
            envoy.configure(cluster(plimsoll(behavior="wrong")))
            wait_until("it is refused", lambda: "expected native or envoy" in envoy.log())
            envoy.load(requests=50).all_good()
            envoy.configure(cluster(plimsoll(behavior="envoy")))
            wait_until("another one is taken",
                       lambda: envoy.stat("cluster_manager.cluster_modified") >= 1)
            envoy.load(requests=50).all_good()
