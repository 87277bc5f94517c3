#!/usr/bin/env python3
"""What the module costs in a real Envoy, beside Envoy's own policies.

    python3 adapters/envoy/bench/run.py ENVOY MODULE_DIR TIMED_DIR PROGRAMS [ROUNDS [SECONDS]]

adapters/envoy/bench/run.sh builds what it takes and calls it. TIMED_DIR holds the module with the
feature `time-picks`, PROGRAMS `origin` and `load` of ffi/examples.

All contenders run all the time, each an Envoy of its own with one worker and nothing to do except
in its turn; all send to the same four origins in two zones, which report their load with each answer.
In each round each contender gets a load of SECONDS (2), in an order that rotates. The first one runs
twice, under two names: how far the ratio of those two is from 1 is how far no other one can be
believed. Ratios are medians over the rounds (12) of a contender's figure by the first one's in the
same round. CPU is Envoy's own, user and system.

Then picks are timed inside of the module, one contender after the other, and updates of 1000 hosts.
"""

import os
import pathlib
import re
import statistics
import subprocess
import sys

sys.dont_write_bytecode = True  # no __pycache__ among the sources
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "tests"))

from envoy_tests import rig  # noqa: E402
from envoy_tests.rig import (  # noqa: E402
    NODE, Envoy, bootstrap, cluster, endpoint, group, plimsoll, policy,
)

TICKS = os.sysconf("SC_CLK_TCK")
CONNECTIONS = 16
HOSTS = 1000
UPDATES = 40


def load_aware(inner):
    return policy("load_aware_locality", endpoint_picking_policy=inner)


ROUND_ROBIN = policy("round_robin")
STOCK = "Envoy round_robin"
CONTENDERS = {
    STOCK: (ROUND_ROBIN, False),
    "Envoy round_robin again": (ROUND_ROBIN, False),
    "Plimsoll round_robin": (plimsoll(), False),
    "Plimsoll round_robin, filter orca": (plimsoll(), True),
    "Envoy load_aware_locality": (load_aware(ROUND_ROBIN), False),
    "Plimsoll load_aware_locality, native": (
        plimsoll(load_balancing_policy=load_aware(ROUND_ROBIN), node_locality=NODE), True),
    "Plimsoll load_aware_locality, envoy": (
        plimsoll(behavior="envoy", load_balancing_policy=load_aware(ROUND_ROBIN),
                 node_locality=NODE), True),
}


class Origins:
    """Four C origins, two in each of two zones, that report a hundredth of their capacity used."""

    def __init__(self, programs):
        self.processes, self.groups = [], []
        for zone in "ab":
            addresses = [self.start(programs, f"{zone}{index}") for index in "12"]
            self.groups.append(group(zone, *[endpoint(address) for address in addresses]))

    def start(self, programs, name):
        command = [os.path.join(programs, "origin"), "--listen", "127.0.0.1:0", "--name", name,
                   "--capacity", "100000"]
        process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
        self.processes.append(process)
        port = re.search(r"port (\d+)", process.stdout.readline()).group(1)
        return f"127.0.0.1:{port}"

    def __enter__(self):
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(rig.LIMIT)


def cpu_seconds(envoy):
    fields = pathlib.Path(f"/proc/{envoy.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / TICKS


def turn(envoy, seconds):
    """Requests a second, and CPU microseconds a request."""
    before = cpu_seconds(envoy)
    answers = envoy.load(seconds=seconds, connections=CONNECTIONS)
    answers.all_good()
    return answers.per_second, (cpu_seconds(envoy) - before) / answers.total * 1e6


def start(lb, has_filter, origins):
    config = bootstrap(cluster(lb, orca=has_filter))
    return Envoy(config, {"be": origins.groups}, concurrency=1).ready()


def compare(origins, rounds, seconds):
    envoys = {}
    try:
        for name, (lb, has_filter) in CONTENDERS.items():
            envoys[name] = start(lb, has_filter, origins)
            turn(envoys[name], 0.5)
        results = {name: [] for name in CONTENDERS}
        names = list(CONTENDERS)
        for number in range(rounds):
            shift = number % len(names)
            for name in names[shift:] + names[:shift]:
                results[name].append(turn(envoys[name], seconds))
    finally:
        for envoy in envoys.values():
            envoy.stop()
            envoy.close()
    print(f"| {'':36} | requests/s | ratio | CPU us/request | least | ratio |")
    print(f"|{'-' * 38}|---:|---:|---:|---:|---:|")
    for name, of_rounds in results.items():
        pairs = list(zip(of_rounds, results[STOCK]))
        speed = statistics.median(ours[0] / stock[0] for ours, stock in pairs)
        cpu = statistics.median(ours[1] / stock[1] for ours, stock in pairs)
        median = [statistics.median(column) for column in zip(*of_rounds)]
        print(f"| {name:36} | {median[0]:.0f} | {speed:.3f} | {median[1]:.1f} "
              f"| {min(us for _, us in of_rounds):.1f} | {cpu:.3f} |")


def time_picks(origins, seconds):
    print(f"\n| {'one pick, in place':36} | picks | median ns | 90 % | 99 % | 99.9 % |")
    print(f"|{'-' * 38}|---:|---:|---:|---:|---:|")
    for name, (lb, has_filter) in CONTENDERS.items():
        if not name.startswith("Plimsoll"):
            continue
        envoy = start(lb, has_filter, origins)
        try:
            turn(envoy, seconds)
            envoy.stop()
            figures = max(figures_in(envoy.log(), "picks"), key=lambda line: int(line[0]))
            print(f"| {name:36} | {' | '.join(figures)} |")
        finally:
            envoy.close()


def time_updates(origins):
    """Hosts that nobody answers for are read as all others are, and stay unhealthy."""
    hosts = [endpoint(f"127.0.0.1:{port}", health="UNHEALTHY") for port in range(1, HOSTS + 1)]
    lb = plimsoll(common_lb_config={"healthy_panic_threshold": {"value": 0}})
    envoy = start(lb, False, origins)
    try:
        for number in range(UPDATES):
            before = envoy.stat("cluster.be.update_success")
            hosts[0]["load_balancing_weight"] = 1 + number
            hosts[number + 1]["health_status"] = "DRAINING"
            envoy.assign("be", *origins.groups, group("a", *hosts[:HOSTS - number % 2]))
            rig.wait_until("it is applied",
                           lambda: envoy.stat("cluster.be.update_success") > before)
        envoy.load(requests=100).all_good()
        envoy.stop()
        lines = figures_in(envoy.log(), "updates")
    finally:
        envoy.close()
    print(f"\n| {f'one update of {HOSTS} hosts, in place':36} | updates | median ns | 90 % |")
    print(f"|{'-' * 38}|---:|---:|---:|")
    # The main thread reads all of each host, the worker only addresses.
    for thread, figures in zip(("a worker", "the main thread"),
                               sorted(lines, key=lambda line: int(line[1]))):
        print(f"| {thread:36} | {' | '.join(figures[:3])} |")


def figures_in(log, what):
    return re.findall(what + r"=(\d+) p50_ns=(\d+) p90_ns=(\d+) p99_ns=(\d+) p999_ns=(\d+)", log)


def main():
    if not 5 <= len(sys.argv) <= 7:
        print(__doc__, file=sys.stderr)
        return 2
    rig.ENVOY, rig.MODULE, timed, programs = sys.argv[1:5]
    rig.LOAD = os.path.join(programs, "load")
    rounds, seconds = (int(sys.argv[5]) if len(sys.argv) > 5 else 12,
                       float(sys.argv[6]) if len(sys.argv) > 6 else 2.0)
    with Origins(programs) as origins:
        compare(origins, rounds, seconds)
        rig.MODULE = timed
        time_picks(origins, seconds * 2)
        time_updates(origins)
    return 0


if __name__ == "__main__":
    sys.exit(main())
