"""What the scenarios of load_aware_locality share: zones, and loads that their hosts report.

Origins of group N report what the header `x-report-N` of a request says, so that each request
sets the load of the host that it reaches.
"""

from .. import shares
from ..clusters import cluster, host, load_aware, locality, place

LOCAL = "za"
NODE = {"locality": place(LOCAL)}
COUNTERS = ("all_overloaded", "local_preferred", "probe_active", "spill_active", "stale_locality")


def zone(rig, name, group, count=2, weights=None, health=None, **fields):
    """A locality whose hosts are the first ones of a group of origins."""
    weights, health = weights or [None] * count, health or [None] * count
    hosts = [host(rig.origins.address(group, i), weights[i], health[i]) for i in range(count)]
    return locality(hosts, name, **fields)


def zoned(name, localities, period="0.2s", assignment_policy=None, **policy):
    """A cluster under load_aware_locality."""
    return cluster(name, load_aware(weight_update_period=period, **policy), localities,
                   assignment_policy)


def reporting(loads):
    """The headers that make each group report its load; those of a load of None stay silent."""
    return {f"x-report-{group}": f"TEXT application_utilization={load}"
            for group, load in loads.items() if load is not None}


def report(rig, replay, picks, loads):
    """Tells the replay what the picked hosts would report."""
    for address in dict.fromkeys(picks):
        load = loads.get(rig.origins.group_of(address))
        if load is not None:
            text = f"TEXT application_utilization={load}"
            replay.do("report", host=address, headers={"endpoint-load-metrics": text})


def by_group(rig, addresses):
    """How often each group of origins answered."""
    return shares.tally(addresses, rig.origins.group_of)


def ticks(stats):
    """The counters of what ticks did, and how many there were."""
    read = {name: stats.get(f"load_aware_locality.{name}_total", 0) for name in COUNTERS}
    return read, stats.get("load_aware_locality.recompute_total", 0)


def per_tick(before, after):
    """How each counter grew with every tick; None where that was not the same in every one."""
    (old, since), (new, now) = before, after
    count = now - since
    return {name: (new[name] - old[name]) // count if (new[name] - old[name]) % count == 0 else None
            for name in COUNTERS if new[name] != old[name]}
