#!/usr/bin/env python3
"""A long load on a real Envoy with the module, while everything changes.

    python3 adapters/envoy/tests/soak.py ENVOY MODULE_DIR LOAD [SECONDS]

For SECONDS (600) hosts come, go, fall ill and change their weights every 100 ms, hosts report a load
that is noise, the cluster's policy changes every ten seconds, and another cluster of the module
comes and goes. Envoy's own policies serve every request of such a load, since removed hosts go on
answering; so does the module. Memory must not grow after the first quarter, Envoy must not
warn, and no hook may have panicked.
"""

import random
import sys
import time

sys.dont_write_bytecode = True  # no __pycache__ among the sources

from envoy_tests import rig  # noqa: E402
from envoy_tests.origins import Origins  # noqa: E402
from envoy_tests.rig import (  # noqa: E402
    NODE, Answers, Envoy, bootstrap, cluster, endpoint, equal, group, our_filter, plimsoll, policy,
    wait_until,
)

ZONES = "abc"
PER_ZONE = 10
CHANGE_S = 0.1
ROUND_S = 10
# Of memory: a tenth, and what an allocator keeps for later.
GROWTH = 0.10
SLACK_KIB = 4096

LOAD_AWARE = policy("load_aware_locality", weight_update_period="0.1s",
                    smoothing_time_constant="1s", endpoint_picking_policy=policy("round_robin"))
POLICIES = (
    plimsoll(load_balancing_policy=LOAD_AWARE, node_locality=NODE),
    plimsoll(load_balancing_policy=policy("least_request")),
    plimsoll(load_balancing_policy=policy("maglev")),
    plimsoll(behavior="envoy", load_balancing_policy=LOAD_AWARE, node_locality=NODE),
    plimsoll(load_balancing_policy=policy("client_side_weighted_round_robin")),
    plimsoll(behavior="envoy", load_balancing_policy=policy("least_request")),
)


def some_hosts(origins, source):
    """Most of the hosts; at least one of each zone is healthy."""
    groups = []
    for zone in ZONES:
        names = source.sample(range(PER_ZONE), source.randint(4, PER_ZONE))
        health = ["HEALTHY"] + source.choices(
            ["HEALTHY", "UNHEALTHY", "DEGRADED", "DRAINING"], (6, 1, 1, 1), k=len(names) - 1)
        groups.append(group(zone, *[
            endpoint(origins[f"{zone}{name}"].address, source.randint(1, 20), status)
            for name, status in zip(names, health)], priority=1 if zone == "c" else 0))
    return groups


def report_noise(origins, source):
    for origin in source.sample(list(origins), 5):
        origin.report = source.choice((
            None, "TEXT nonsense=", f"TEXT cpu_utilization={source.uniform(0, 1.5)}",
            f"TEXT application_utilization={source.random()},rps_fractional={source.uniform(1, 500)}",
        ))
        origin.in_trailers = False


def clusters(number):
    """The cluster under load with one of the policies, and every other time another one."""
    merge = {"update_merge_window": "0s",
             "override_host_status": {"statuses": ["UNKNOWN", "HEALTHY", "DEGRADED"]}}
    be = cluster(POLICIES[number % len(POLICIES)], common_lb_config=merge)
    return [be, cluster(plimsoll(seed=number), name="other")] if number % 2 else [be]


def drive(envoy, origins, source, seconds):
    """Changes things until the time is over; the memory in use at the end of each round."""
    memory = []
    begun = time.monotonic()
    for change in range(int(seconds / CHANGE_S)):
        envoy.assign("be", *some_hosts(origins, source))
        report_noise(origins, source)
        if change % int(ROUND_S / CHANGE_S) == 0:
            memory.append(envoy.resident_kib())
            envoy.configure(*clusters(len(memory)))
        time.sleep(max(0.0, begun + (change + 1) * CHANGE_S - time.monotonic()))
    return memory


def check_memory(memory):
    quarter = len(memory) // 4
    settled, later = memory[quarter:2 * quarter], memory[-quarter:]
    if not settled:
        print("  too short to tell whether memory grows")
        return
    before, after = max(settled), max(later)
    print(f"  memory: {before} KiB in the second quarter, {after} KiB in the last one")
    assert after <= before * (1 + GROWTH) + SLACK_KIB, memory


def main():
    if len(sys.argv) not in (4, 5):
        print(__doc__, file=sys.stderr)
        return 2
    rig.ENVOY, rig.MODULE, rig.LOAD = sys.argv[1:4]
    seconds = float(sys.argv[4]) if len(sys.argv) == 5 else 600.0
    source = random.Random(1)
    names = [f"{zone}{index}" for zone in ZONES for index in range(PER_ZONE)]
    with Origins(*names) as origins:
        for origin in origins:
            origin.delay = 0.004
        hosts = {"be": some_hosts(origins, source), "other": some_hosts(origins, source)}
        config = bootstrap(*clusters(1), filters=[our_filter("overflow")], by_cds=True)
        with Envoy(config, hosts, clusters=clusters(1)) as envoy:
            wait_until("the cluster is there", lambda: envoy.get()[0] == 200)
            load = envoy.loading(seconds=seconds, connections=16)
            memory = drive(envoy, origins, source, seconds)
            answers = Answers(load.communicate(timeout=60)[0])
            updates = envoy.stat("cluster.be.update_success")
            changes = envoy.stat("cluster_manager.cluster_modified")
            print(f"  {answers.total} requests, {updates} updates since the last of {changes} "
                  f"changes of the cluster, answers {answers.by_status}, {answers.failed} failed")
            answers.all_good()
            check_memory(memory)
            equal(envoy.stat("plimsoll.module_panics"), 0)
            equal(envoy.complaints(), [])
            envoy.configure()
            wait_until("our threads are gone", lambda: "plimsoll" not in envoy.threads())
    print("soak: all is well")
    return 0


if __name__ == "__main__":
    sys.exit(main())
