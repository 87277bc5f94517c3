"""Envoy's `Cluster` messages in their JSON form: what Envoy runs and what the replay opens."""

TYPE = "type.googleapis.com/envoy.extensions.load_balancing_policies"


def typed(policy, message, **fields):
    """One entry of a `load_balancing_policy`."""
    name = f"envoy.load_balancing_policies.{policy}"
    config = {"@type": f"{TYPE}.{policy}.v3.{message}", **fields}
    return {"typed_extension_config": {"name": name, "typed_config": config}}


def round_robin(**fields):
    return typed("round_robin", "RoundRobin", **fields)


def least_request(**fields):
    return typed("least_request", "LeastRequest", **fields)


def random(**fields):
    return typed("random", "Random", **fields)


def ring_hash(**fields):
    return typed("ring_hash", "RingHash", **fields)


def maglev(**fields):
    return typed("maglev", "Maglev", **fields)


def client_side_weighted(**fields):
    policy = "client_side_weighted_round_robin"
    return typed(policy, "ClientSideWeightedRoundRobin", **fields)


def wrr_locality(child, **fields):
    return typed("wrr_locality", "WrrLocality", endpoint_picking_policy=policies(child), **fields)


def load_aware(child=None, **fields):
    picking = policies(child or round_robin())
    return typed("load_aware_locality", "LoadAwareLocality", endpoint_picking_policy=picking,
                 **fields)


def policies(*entries):
    """A `LoadBalancingPolicy` message."""
    return {"policies": list(entries)}


def host(address, weight=None, health=None, hostname=None, hash_key=None):
    """An endpoint; `address` is "127.0.0.1:80"."""
    ip, port = address.rsplit(":", 1)
    endpoint = {"address": {"socket_address": {"address": ip, "port_value": int(port)}}}
    if hostname:
        endpoint["hostname"] = hostname
    entry = {"endpoint": endpoint}
    if weight is not None:
        entry["load_balancing_weight"] = weight
    if health:
        entry["health_status"] = health
    if hash_key:
        entry["metadata"] = {"filter_metadata": {"envoy.lb": {"hash_key": hash_key}}}
    return entry


def locality(hosts, zone=None, priority=0, weight=None):
    """The hosts of one locality and priority. Regions and sub-zones are those of the node."""
    entry = {"lb_endpoints": list(hosts)}
    if zone:
        entry["locality"] = place(zone)
    if priority:
        entry["priority"] = priority
    if weight is not None:
        entry["load_balancing_weight"] = weight
    return entry


def place(zone):
    return {"region": "here", "zone": zone, "sub_zone": "rack"}


def assignment(cluster, localities, **policy):
    message = {"cluster_name": cluster, "endpoints": list(localities)}
    if policy:
        message["policy"] = policy
    return message


def cluster(name, policy, localities, assignment_policy=None, **fields):
    """A cluster with its hosts. `policy` is an entry of `load_balancing_policy`."""
    return {
        "name": name,
        "connect_timeout": "1s",
        "load_balancing_policy": policies(policy),
        "load_assignment": assignment(name, localities, **(assignment_policy or {})),
        **fields,
    }


def address_of(entry):
    """The address of an endpoint, as `host` takes it."""
    return "{address}:{port_value}".format(**entry["endpoint"]["address"]["socket_address"])


def healthy(message):
    """The addresses of a cluster's healthy hosts."""
    return {
        address_of(entry) for part in message["load_assignment"]["endpoints"]
        for entry in part["lb_endpoints"] if "health_status" not in entry
    }
