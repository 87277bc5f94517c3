"""Updates while requests run."""

import json
import random
import time

from .origins import Origins
from .rig import Answers, Envoy, bootstrap, cluster, endpoint, equal, group, plimsoll, policy, wait_until

NAMES = [zone + index for zone in "abc" for index in "1234"]


def some_hosts(origins, random_source):
    """Two thirds of the hosts at least, with other weights, some of them not healthy."""
    groups = []
    for zone in "abc":
        names = random_source.sample("1234", random_source.randint(3, 4))
        health = ["HEALTHY", "HEALTHY"] + random_source.choices(
            ["HEALTHY", "UNHEALTHY", "DEGRADED"], k=2)
        groups.append(group(
            zone, *[endpoint(origins[zone + name].address, random_source.randint(1, 9), status)
                    for name, status in zip(names, health)],
            priority=1 if zone == "c" else 0))
    return groups


def test_five_hundred_updates_fail_no_request():
    lb = plimsoll(load_balancing_policy=policy("least_request"))
    source = random.Random(7)
    with Origins(*NAMES) as origins:
        be = cluster(lb, common_lb_config={"update_merge_window": "0s"})
        with Envoy(bootstrap(be), {"be": some_hosts(origins, source)}) as envoy:
            requests = 0
            # As many loads of 4 s as it takes; Envoy may see two writes of a file as one.
            for _ in range(15):
                load = envoy.loading(seconds=4)
                while load.poll() is None:
                    envoy.assign("be", *some_hosts(origins, source))
                    time.sleep(0.02)
                answers = Answers(load.communicate()[0])
                answers.all_good()
                requests += answers.total
                updates = envoy.stat("cluster.be.update_success")
                if updates >= 500:
                    break
            assert updates >= 500 and requests > 5000, (updates, requests)
            equal(envoy.stat("plimsoll.module_panics"), 0)
            equal(envoy.complaints(), [])


def come_and_go(keep):
    """Changes a cluster ten times, takes it away, and brings it back. In between Envoy may unload the
    module, unless `keep` says true."""
    def variant(**config):
        text = json.dumps(cluster(plimsoll(**config)))
        return json.loads(text.replace('"do_not_close": true', f'"do_not_close": {keep}'))
    with Origins("a1") as origins:
        hosts = {"be": [group("a", endpoint(origins["a1"].address))]}
        with Envoy(bootstrap(variant(), by_cds=True), hosts, clusters=[variant()]) as envoy:
            threads = lambda: envoy.threads().count("plimsoll")
            equal(threads(), 1)
            for number in range(1, 11):
                envoy.configure(variant(seed=number))
                wait_until("it is there", lambda: envoy.stat(
                    "cluster_manager.cluster_modified") >= number)
                envoy.load(requests=50).all_good()
            wait_until("the threads of the others are gone", lambda: threads() == 1)
            envoy.configure()
            wait_until("there is no thread of ours", lambda: threads() == 0)
            equal(envoy.get()[0], 503)
            envoy.configure(variant())
            wait_until("it is back", lambda: envoy.get()[0] == 200)
            equal(envoy.complaints(), [])


def test_clusters_come_and_go_and_their_threads_with_them():
    come_and_go(keep="true")


def test_clusters_come_and_go_without_do_not_close():
    come_and_go(keep="false")
