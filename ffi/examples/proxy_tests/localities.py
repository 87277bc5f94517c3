"""How traffic divides among zones: by where the proxies are, and by what hosts say of their load."""

import os
import signal
import tempfile

from .rig import Client, Origin, Proxy, equal, exchange, request, wait_until

HERE = ("--region", "r", "--zone", "here")

ZONE_AWARE = "common_lb_config: { zone_aware_lb_config: { min_cluster_size: 1 } }"

TYPE = "type.googleapis.com/envoy.extensions.load_balancing_policies"
LOAD_AWARE = f"""load_balancing_policy:
  policies:
    - typed_extension_config:
        name: envoy.load_balancing_policies.load_aware_locality
        typed_config:
          "@type": {TYPE}.load_aware_locality.v3.LoadAwareLocality
          weight_update_period: 0.1s
          smoothing_time_constant: 0.1s
          endpoint_picking_policy:
            policies:
              - typed_extension_config:
                  name: envoy.load_balancing_policies.round_robin
                  typed_config: {{ "@type": {TYPE}.round_robin.v3.RoundRobin }}"""


def zones_text(zones, extra=""):
    """An Envoy cluster of a region with these zones, each with a host on each of its ports."""
    lines = ["name: test", extra, "load_assignment:", "  cluster_name: test", "  endpoints:"]
    for zone, ports in zones.items():
        lines += [f"    - locality: {{ region: r, zone: {zone} }}", "      lb_endpoints:"]
        lines += [f"        - endpoint: {{ address: {{ socket_address: {{ address: 127.0.0.1, "
                  f"port_value: {port} }} }} }}" for port in ports]
    return "\n".join(lines) + "\n"


class LocalCluster:
    """The file of the proxies' own cluster. Nothing is sent to them, so their ports are invented."""

    def __init__(self, here, there):
        self.file = tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False)
        self.write(here, there)

    def write(self, here, there):
        zones = {"here": range(1, 1 + here), "there": range(100, 100 + there)}
        with open(self.file.name, "w", encoding="utf-8") as file:
            file.write(zones_text(zones))

    def __enter__(self):
        return self

    def __exit__(self, *_):
        os.unlink(self.file.name)


def routes(proxy):
    """How what goes to healthy hosts divides, by zone: number of hosts, utilization, weight, and
    whether this zone's proxy keeps all."""
    lines = (line.split() for line in proxy.page("/localities").body.decode().splitlines())
    found = {line[3]: line[4:] for line in lines if line[:2] == ["0", "healthy"]}
    return {place: (int(hosts), None if used == "-" else float(used), float(weight), own == "yes")
            for place, (hosts, used, weight, own) in found.items()}


def seen(client, count):
    return [client.ask(request()).fields["x-origin"] for _ in range(count)]


def check_zone_aware(*options):
    with Origin("here") as here, Origin("one") as one, Origin("two") as two:
        text = zones_text({"here": [here.port], "there": [one.port, two.port]}, ZONE_AWARE)
        with LocalCluster(here=2, there=1) as proxies:
            options = (*HERE, *options, "--local-cluster", proxies.file.name)
            with Proxy(text, *options) as proxy, Client(proxy.port) as client:
                # A third of the hosts for two thirds of the proxies: half of it may stay.
                equal(list(routes(proxy)), ["r/here", "r/there"])
                hosts, used, weight, own = routes(proxy)["r/here"]
                equal((hosts, used, own), (1, None, False))
                assert abs(weight - 0.5) < 0.001, weight
                # Were it random, 7 standard deviations.
                assert 50 <= seen(client, 200).count("here") <= 150
                proxies.write(here=1, there=2)
                proxy.process.send_signal(signal.SIGHUP)
                wait_until("both files were read", lambda: proxy.stat("reloads") == 2)
                equal(routes(proxy), {"r/here": (1, None, 1.0, True),
                                      "r/there": (2, None, 0.0, True)})
                equal(seen(client, 50), ["here"] * 50)


def test_a_zone_keeps_what_its_hosts_can_take():
    check_zone_aware()


def test_a_zone_keeps_what_its_hosts_can_take_as_in_envoy():
    check_zone_aware("--behavior", "envoy")


def test_a_local_cluster_that_is_refused_changes_nothing():
    with Origin("here") as here:
        text = zones_text({"here": [here.port]}, ZONE_AWARE)
        with LocalCluster(here=1, there=1) as proxies:
            with Proxy(text, *HERE, "--local-cluster", proxies.file.name) as proxy:
                with open(proxies.file.name, "w", encoding="utf-8") as file:
                    file.write("name: [")
                proxy.process.send_signal(signal.SIGHUP)
                wait_until("it is refused", lambda: proxy.stat("reloads_refused") == 1)
                wait_until("the other is read", lambda: proxy.stat("reloads") == 1)
                equal(exchange(proxy.port, request()).status, 200)
            try:
                with Proxy(text, *HERE, "--local-cluster", proxies.file.name):
                    pass
            except AssertionError as error:
                assert "code=parse_error" in str(error), error
                return
            raise AssertionError("it started")


def check_load_aware(*options):
    with Origin("here", capacity=20) as here, Origin("one", capacity=100000) as one, \
            Origin("two", capacity=100000) as two:
        text = zones_text({"here": [here.port], "there": [one.port, two.port]}, LOAD_AWARE)
        with Proxy(text, *HERE, *options) as proxy, Client(proxy.port) as client:
            first = routes(proxy)["r/here"]
            # The only host here is full with 20 requests a second.
            def has_moved():
                seen(client, 20)
                now = routes(proxy)
                return (now["r/here"][1] > 0.5 and now["r/here"][2] < first[2] / 2
                        and now["r/there"][2] > now["r/here"][2])
            wait_until("most of the load goes elsewhere", has_moved)
            shown = routes(proxy)
            equal([hosts for hosts, *_ in shown.values()], [1, 2])
            assert shown["r/there"][1] < 0.5 and not shown["r/here"][3], shown
            stats = proxy.stats()
            assert stats["load_aware_locality.spill_active_total"] > 0
            assert stats["load_aware_locality.recompute_total"] > 0
            assert stats["plimsoll.load_reports_accepted"] > 0


def test_a_zone_that_is_too_busy_shares_its_load():
    check_load_aware()


def test_a_zone_that_is_too_busy_shares_its_load_as_in_envoy():
    check_load_aware("--behavior", "envoy")
