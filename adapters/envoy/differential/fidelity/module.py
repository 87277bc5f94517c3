"""A cluster as our module balances it: the same settings, inside Envoy's dynamic module policy."""

import json

TYPES = "type.googleapis.com/envoy.extensions"
COLUMN = "B"
PUBLISHED_S = 1.2  # after which all counters of a moment ago can be published
MODULE = {"name": "plimsoll_envoy", "do_not_close": True, "metrics_namespace": "plimsoll"}
ANY_STATUS = ["UNKNOWN", "HEALTHY", "UNHEALTHY", "DRAINING", "TIMEOUT", "DEGRADED"]


# What Envoy does not tell its modules, by what it says of it in a cluster's message.
WITHHELD = {
    '"DRAINING"': "that a host is draining, and so does not count: it is unhealthy to them",
    '"use_hostname_for_hashing"': "the names of hosts, to hash by",
    '"zone_aware_lb_config"': "the local cluster, so that no such setting is taken",
}


def is_told_enough(cluster):
    """Whether a module can know everything that the cluster's balancing depends on."""
    text = json.dumps(cluster)
    return not any(sign in text for sign in WITHHELD)


def _filter(name):
    return {
        "name": f"plimsoll.{name}",
        "typed_config": {
            "@type": f"{TYPES}.filters.http.dynamic_modules.v3.DynamicModuleFilter",
            "dynamic_module_config": MODULE,
            "filter_name": name,
        },
    }


OVERFLOW = _filter("overflow")  # sends requests to hosts that a policy cannot answer with


def environment(folder):
    """Where Envoy looks for the module."""
    return {"ENVOY_DYNAMIC_MODULES_SEARCH_PATH": folder}


def counters(envoy, cluster):
    """What a cluster's engine counted. It is published about once a second, with requests."""
    suffix = f".envoy_cluster_name.{cluster}"
    everything = envoy.stats(MODULE["metrics_namespace"] + ".")
    return {name.removesuffix(suffix): value
            for name, value in everything.items() if name.endswith(suffix)}


def dress(cluster, zone):
    """The cluster with its policy in the module, in behavior envoy."""
    dressed = dict(cluster)
    settings = {"behavior": "envoy", "load_balancing_policy": dressed.pop("load_balancing_policy")}
    common = dict(dressed.get("common_lb_config", {}))
    if common:
        settings["common_lb_config"] = common
    if "policy" in cluster["load_assignment"]:
        settings["load_assignment"] = {"policy": cluster["load_assignment"]["policy"]}
    if zone:
        settings["node_locality"] = {"region": "here", "zone": zone, "sub_zone": "rack"}
    return {
        **dressed,
        "load_balancing_policy": {"policies": [_policy(settings)]},
        "common_lb_config": {**common, "override_host_status": {"statuses": ANY_STATUS}},
        "typed_extension_protocol_options": _upstream_filters(),
    }


def _policy(settings):
    policy = "load_balancing_policies.dynamic_modules"
    return {"typed_extension_config": {
        "name": f"envoy.{policy}",
        "typed_config": {
            "@type": f"{TYPES}.{policy}.v3.DynamicModulesLoadBalancerConfig",
            "dynamic_module_config": MODULE,
            "lb_policy_name": "plimsoll",
            "lb_policy_config": {
                "@type": "type.googleapis.com/google.protobuf.Struct", "value": settings,
            },
        },
    }}


def _upstream_filters():
    codec = f"{TYPES}.filters.http.upstream_codec.v3.UpstreamCodec"
    options = "upstreams.http.v3.HttpProtocolOptions"
    return {f"envoy.extensions.{options}": {
        "@type": f"{TYPES}.{options}",
        "explicit_http_config": {"http_protocol_options": {}},
        "http_filters": [
            _filter("orca"),
            {"name": "envoy.filters.http.upstream_codec", "typed_config": {"@type": codec}},
        ],
    }}
