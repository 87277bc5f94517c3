"""Clusters that are wrong, and some that look so: each a name and a message.

They cover the fields that balance, one mistake each, with what Envoy accepts by omission.
"""

from ..clusters import (
    assignment, client_side_weighted, cluster, host, least_request, load_aware, locality,
    maglev, policies, random, ring_hash, round_robin, typed, wrr_locality,
)

ADDRESS = "127.0.0.1:80"
PLAIN = [locality([host(ADDRESS)])]
LARGEST = 4_294_967_295


def cases():
    """All of them."""
    for group in (_load_aware(), _client_side_weighted(), _localities(), _slow_start(),
                  _least_request(), _hashing(), _older_fields(), _override_host(), _common(),
                  _assignments()):
        yield from group


def _of(policy):
    return cluster("c", policy, PLAIN)


def _legacy(**fields):
    message = cluster("c", round_robin(), PLAIN)
    del message["load_balancing_policy"]
    return {**message, **fields}


def _with_hosts(localities, policy=None, assignment_policy=None):
    return cluster("c", policy or round_robin(), localities, assignment_policy)


def _number(value):
    return {"default_value": value, "runtime_key": "key"}


def _load_aware():
    name = "load_aware_locality"
    for field, values in {
        "weight_update_period": ("0s", "0.05s", "0.0999s", "0.1s", "-1s"),
        "smoothing_time_constant": ("0s", "0.0005s", "0.001s", "-1s"),
        "utilization_variance_threshold": (-0.1, 0, 1, 1.5, "NaN"),
        "remote_probe_fraction": (-0.01, 0, 0.99, 1.0, "NaN"),
        "weight_expiration_period": ("0s", "-1s"),
        "oob_reporting_period": ("0s", "-1s"),
        "oob_reporting_config": ({"port_value": 70_000},),
        "metric_names_for_computing_utilization": ([""], ["unknown"]),
    }.items():
        for value in values:
            yield f"{name}: {field} {value}", _of(load_aware(**{field: value}))
    bare = typed(name, "LoadAwareLocality")
    yield f"{name}: no endpoint_picking_policy", _of(bare)
    yield f"{name}: empty endpoint_picking_policy", _of(
        typed(name, "LoadAwareLocality", endpoint_picking_policy={}))
    yield f"{name}: itself inside", _of(load_aware(load_aware()))
    yield f"{name}: cluster_provided inside", _of(
        load_aware(typed("cluster_provided", "ClusterProvided")))
    yield f"{name}: wrr_locality inside", _of(load_aware(wrr_locality(client_side_weighted())))
    yield f"{name}: a bad ring inside", _of(
        load_aware(ring_hash(minimum_ring_size=10, maximum_ring_size=5)))
    yield f"{name}: a bad period before a bad threshold", _of(
        load_aware(weight_update_period="0s", utilization_variance_threshold=2))
    yield f"{name}: a bad constant before a bad threshold", _of(
        load_aware(smoothing_time_constant="0s", utilization_variance_threshold=2))
    yield f"{name}: a bad fraction before no policy", _of(
        typed(name, "LoadAwareLocality", remote_probe_fraction=1))


def _client_side_weighted():
    name = "client_side_weighted_round_robin"
    for field, values in {
        "oob_reporting_period": ("0s", "-1s"),
        "blackout_period": ("0s", "-1s", "9223372035s", "9223372036s", "315576000001s"),
        "weight_expiration_period": ("0s", "-1s"),
        "weight_update_period": ("0s", "0.0005s", "-1s"),
        "error_utilization_penalty": (-1, "NaN", "Infinity", 0.1),
        "metric_names_for_computing_utilization": ([""], ["bogus"]),
        "oob_reporting_config": ({"port_value": 65_536}, {"authority": "a\nb"}),
        "slow_start_config": ({"slow_start_window": "-1s"}, {"min_weight_percent": {"value": 101}}),
    }.items():
        for value in values:
            shown = str(value).replace("\n", "\\n")
            yield f"{name}: {field} {shown}", _of(client_side_weighted(**{field: value}))


def _localities():
    yield "wrr_locality: round_robin inside", _of(wrr_locality(round_robin()))
    yield "wrr_locality: empty endpoint_picking_policy", _of(
        typed("wrr_locality", "WrrLocality", endpoint_picking_policy={}))
    yield "wrr_locality: no endpoint_picking_policy", _of(typed("wrr_locality", "WrrLocality"))
    yield "wrr_locality: its own kind inside", _of(wrr_locality(client_side_weighted()))
    zones = "zone_aware_lb_config"
    for value in (-1, 0, 29, 101, "NaN"):
        yield f"round_robin: routing_enabled {value}", _of(
            round_robin(locality_lb_config={zones: {"routing_enabled": {"value": value}}}))
    yield "round_robin: empty locality_lb_config", _of(round_robin(locality_lb_config={}))
    yield "round_robin: force_local_zone min_size 0", _of(
        round_robin(locality_lb_config={zones: {"force_local_zone": {"min_size": 0}}}))
    yield "round_robin: locality_basis 7", _of(
        round_robin(locality_lb_config={zones: {"locality_basis": 7}}))
    yield "random: two ways of locality_lb_config", _of(
        random(locality_lb_config={zones: {}, "locality_weighted_lb_config": {}}))
    yield "zone_aware_lb_config beside load_balancing_policy", cluster(
        "c", round_robin(), PLAIN, common_lb_config={zones: {}})


def _slow_start():
    for window in ("-1s", "0s", "0.0005s", "9223372035s", "9223372036s"):
        yield f"slow_start_window {window}", _of(
            round_robin(slow_start_config={"slow_start_window": window}))
    for percent in (-1, 0, 101, "NaN"):
        yield f"min_weight_percent {percent}", _of(round_robin(slow_start_config={
            "slow_start_window": "1s", "min_weight_percent": {"value": percent}}))
    for value in (0, -1, 1.5, "NaN", "Infinity"):
        yield f"aggression {value}", _of(round_robin(slow_start_config={
            "slow_start_window": "1s", "aggression": _number(value)}))
    yield "aggression without a runtime_key", _of(round_robin(slow_start_config={
        "slow_start_window": "1s", "aggression": {"default_value": 1}}))


def _least_request():
    for count in (0, 1, 2):
        yield f"least_request: choice_count {count}", _of(least_request(choice_count=count))
    for value in (-1, 0, "NaN", "Infinity"):
        yield f"least_request: active_request_bias {value}", _of(
            least_request(active_request_bias=_number(value)))
    yield "least_request: active_request_bias without a runtime_key", _of(
        least_request(active_request_bias={"default_value": 1}))
    yield "least_request: selection_method 7", _of(least_request(selection_method=7))


def _hashing():
    for low, high in ((20, 10), (0, 10), (8_388_609, 8_388_609), (1, 8_388_608)):
        yield f"ring_hash: rings of {low} to {high}", _of(
            ring_hash(minimum_ring_size=low, maximum_ring_size=high))
    yield "ring_hash: maximum_ring_size 10", _of(ring_hash(maximum_ring_size=10))
    yield "ring_hash: hash_function 7", _of(ring_hash(hash_function=7))
    for size in (0, 1, 2, 8, 65_537, 5_000_012, 10_000_019):
        yield f"maglev: table_size {size}", _of(maglev(table_size=size))
    for build in (ring_hash, maglev):
        name = build()["typed_extension_config"]["name"].rsplit(".", 1)[1]
        for factor in (0, 50, 99, 100):
            yield f"{name}: hash_balance_factor {factor}", _of(
                build(consistent_hashing_lb_config={"hash_balance_factor": factor}))
        yield f"{name}: a hash policy of no kind", _of(
            build(consistent_hashing_lb_config={"hash_policy": [{"terminal": True}]}))
        yield f"{name}: hosts too heavy together", _with_hosts(
            [locality([host("127.0.0.1:80", LARGEST), host("127.0.0.1:81", 1)])], build())
        yield f"{name}: localities too heavy together", _with_hosts(
            [locality([host("127.0.0.1:80")], "a", weight=LARGEST),
             locality([host("127.0.0.1:81")], "b", weight=1)],
            build(locality_weighted_lb_config={}))
    yield "round_robin: hosts too heavy together", _with_hosts(
        [locality([host("127.0.0.1:80", LARGEST), host("127.0.0.1:81", 1)])])


def _older_fields():
    for count in (0, 1, 2):
        yield f"least_request_lb_config: choice_count {count}", _legacy(
            lb_policy="LEAST_REQUEST", least_request_lb_config={"choice_count": count})
    yield "least_request_lb_config of another policy", _legacy(
        lb_policy="ROUND_ROBIN", least_request_lb_config={"choice_count": 1})
    for low, high in ((20, 10), (0, 10), (8_388_609, 8_388_609)):
        yield f"ring_hash_lb_config: rings of {low} to {high}", _legacy(
            lb_policy="RING_HASH",
            ring_hash_lb_config={"minimum_ring_size": low, "maximum_ring_size": high})
    yield "ring_hash_lb_config: hash_function 7", _legacy(
        lb_policy="RING_HASH", ring_hash_lb_config={"hash_function": 7})
    for size in (0, 8, 5_000_012, 10_000_019):
        yield f"maglev_lb_config: table_size {size}", _legacy(
            lb_policy="MAGLEV", maglev_lb_config={"table_size": size})
    yield "consistent_hashing_lb_config: hash_balance_factor 50", _legacy(
        lb_policy="MAGLEV",
        common_lb_config={"consistent_hashing_lb_config": {"hash_balance_factor": 50}})
    yield "round_robin_lb_config: min_weight_percent 101", _legacy(
        lb_policy="ROUND_ROBIN", round_robin_lb_config={"slow_start_config": {
            "slow_start_window": "1s", "min_weight_percent": {"value": 101}}})
    yield "round_robin_lb_config: no runtime_key", _legacy(
        lb_policy="ROUND_ROBIN", round_robin_lb_config={"slow_start_config": {
            "slow_start_window": "1s", "aggression": {"default_value": 1}}})
    yield "lb_policy 9", _legacy(lb_policy=9)
    yield "lb_policy CLUSTER_PROVIDED of a static cluster", _legacy(lb_policy="CLUSTER_PROVIDED")
    yield "a field that does not exist", _legacy(lb_polizy="RANDOM")


def _override_host():
    def override(**fields):
        fields.setdefault("fallback_policy", policies(round_robin()))
        return _of(typed("override_host", "OverrideHost", **fields))

    header = {"header": "x-host"}
    metadata = {"metadata": {"key": "a", "path": [{"key": "b"}]}}
    yield "override_host: no sources", override()
    yield "override_host: an empty source", override(override_host_sources=[{}])
    yield "override_host: two kinds in a source", override(
        override_host_sources=[{**header, **metadata}])
    yield "override_host: no fallback_policy", override(
        override_host_sources=[header], fallback_policy=None)
    yield "override_host: empty fallback_policy", override(
        override_host_sources=[header], fallback_policy={})
    yield "override_host: fine", override(override_host_sources=[header, metadata])


def _common():
    for value in (-1, 0, 29, 101, "NaN"):
        threshold = {"healthy_panic_threshold": {"value": value}}
        yield f"healthy_panic_threshold {value}", cluster(
            "c", round_robin(), PLAIN, common_lb_config=threshold)
    yield "zone_aware and locality_weighted", _legacy(common_lb_config={
        "zone_aware_lb_config": {}, "locality_weighted_lb_config": {}})
    yield "routing_enabled 101", _legacy(common_lb_config={
        "zone_aware_lb_config": {"routing_enabled": {"value": 101}}})
    unknown = {"@type": "type.googleapis.com/google.protobuf.Struct", "value": {}}
    yield "no known policy", cluster(
        "c", {"typed_extension_config": {"name": "mine", "typed_config": unknown}}, PLAIN)
    yield "no policy in load_balancing_policy", {
        **cluster("c", round_robin(), PLAIN), "load_balancing_policy": {}}
    nameless = {"typed_config": round_robin()["typed_extension_config"]["typed_config"]}
    yield "a policy without a name", cluster("c", {"typed_extension_config": nameless}, PLAIN)
    yield "no name", {**cluster("c", round_robin(), PLAIN), "name": ""}


def _assignments():
    yield "endpoint weight 0", _with_hosts([locality([host(ADDRESS, 0)])])
    yield "locality weight 0", _with_hosts([locality([host(ADDRESS)], "a", weight=0)])
    yield "priority 128", _with_hosts([locality([host(ADDRESS)], priority=128)])
    yield "priority 129", _with_hosts([locality([host(ADDRESS)], priority=129)])
    yield "overprovisioning_factor 0", _with_hosts(PLAIN, None, {"overprovisioning_factor": 0})
    yield "endpoint_stale_after 0s", _with_hosts(PLAIN, None, {"endpoint_stale_after": "0s"})
    drop = {"category": "a", "drop_percentage": {"numerator": 1}}
    yield "two drop_overloads", _with_hosts(PLAIN, None, {"drop_overloads": [drop, drop]})
    yield "more than everything dropped", _with_hosts(PLAIN, None, {"drop_overloads": [
        {"category": "a", "drop_percentage": {"numerator": 101}}]})
    for address in ({"socket_address": {"port_value": 80}}, {"pipe": {}}):
        kind, = address
        yield f"a {kind} without an address", _with_hosts(
            [locality([{"endpoint": {"address": address}}])])
    yield "port 65536", _with_hosts([locality([host("127.0.0.1:65536")])])
    yield "an address that stands twice", _with_hosts(
        [locality([host(ADDRESS), host(ADDRESS)])])
    yield "an assignment without cluster_name", {
        **cluster("c", round_robin(), PLAIN), "load_assignment": assignment("", PLAIN)}
