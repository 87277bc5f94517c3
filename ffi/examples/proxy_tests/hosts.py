"""Hosts that come and go: what the proxy does with the library."""

import os
import resource
import signal
import time

from .rig import (
    HEALTH_CHECKS, Client, Origin, Proxy, ScriptedOrigin, cluster_text, equal, exchange, request,
    wait_until,
)


def test_a_dead_host_costs_no_request_and_is_taken_out():
    with Origin("one") as one, Origin("two") as two:
        text = cluster_text([one.port, two.port], extra=HEALTH_CHECKS)
        checks = ("--health-path", "/healthz", "--health-interval-ms", "200")
        with Proxy(text, *checks, threads=2) as proxy:
            wait_until("both hosts pass",
                       lambda: proxy.page("/hosts").body.count(b"healthy") == 2)
            with Client(proxy.port) as client:
                seen = {client.ask(request()).fields["x-origin"] for _ in range(10)}
                equal(seen, {"one", "two"})
                two.kill()
                for number in range(20):
                    body = request("/", "POST", "Content-Length: 2", body=b"ab")
                    equal(client.ask(body if number % 2 else request()).status, 200, number)
                wait_until("the host is out",
                           lambda: b"failed_active_hc" in proxy.page("/hosts").body)
                before = proxy.stat("retries")
                assert before >= 1, "nothing was retried"
                time.sleep(0.2)  # until the worker has seen it, too
                client.ask(request())
                before = proxy.stat("retries")
                for _ in range(20):
                    equal(client.ask(request()).fields["x-origin"], "one")
                equal(proxy.stat("retries"), before, "retries after it is out")
            with Origin("two", two.port):
                wait_until("the host is back",
                           lambda: proxy.page("/hosts").body.count(b"healthy") == 2)
                wait_until("it gets requests", lambda: exchange(
                    proxy.port, request()).fields["x-origin"] == "two")


def cpu_seconds(proxy):
    with open(f"/proc/{proxy.process.pid}/stat", encoding="ascii") as file:
        times = file.read().rsplit(")", 1)[1].split()[11:13]
    return sum(map(int, times)) / os.sysconf("SC_CLK_TCK")


def test_a_proxy_without_descriptors_neither_blames_its_hosts_nor_spins():
    with Origin("one") as one:
        checks = ("--health-path", "/healthz", "--health-interval-ms", "50")
        with Proxy(cluster_text([one.port], extra=HEALTH_CHECKS), *checks) as proxy:
            wait_until("the host passes", lambda: exchange(proxy.port, request()).status == 200)
            pid = proxy.process.pid
            limits = resource.prlimit(pid, resource.RLIMIT_NOFILE)
            resource.prlimit(pid, resource.RLIMIT_NOFILE, (3, limits[1]))
            with Client(proxy.port), Client(proxy.admin):  # both wait in the kernel
                before = cpu_seconds(proxy)
                time.sleep(1)
                used = cpu_seconds(proxy) - before
            resource.prlimit(pid, resource.RLIMIT_NOFILE, limits)
            assert used < 0.5, f"{used} s of CPU in a second of waiting"
            equal(exchange(proxy.port, request()).status, 200)
            equal(proxy.stat("health_checks_failed"), 0)


def test_the_origin_ends_what_is_not_well_formed():
    with Origin("one") as one, Client(one.port) as client:
        client.send(b"GET / HTTP/1.1\r\nX: " + b"a" * 70000)
        assert client.is_closed()


def test_with_no_host_alive_the_answer_is_502_and_comes_at_once():
    with Origin("one") as one, Origin("two") as two:
        text = cluster_text([one.port, two.port])
        one.kill()
        two.kill()
        with Proxy(text) as proxy:
            equal(exchange(proxy.port, request()).status, 502)
            equal((proxy.stat("retries"), proxy.stat("upstream_connect_failed")), (1, 2))


def test_without_hosts_the_answer_is_503_and_says_why():
    with Proxy(cluster_text([])) as proxy:
        with Client(proxy.port) as client:
            answer = client.ask(request())
            equal((answer.status, answer.body), (503, b"no upstream: no_host\n"))
            equal(client.ask(request()).status, 503, "on the same connection")
        equal(proxy.stat("picks_without_host"), 2)


def test_a_reload_changes_the_hosts_and_closes_connections_to_those_that_left():
    with Origin("one") as one, ScriptedOrigin() as two:
        with Proxy(cluster_text([two.port])) as proxy, Client(proxy.port) as client:
            equal(client.ask(request()).body, b"scripted\n")
            proxy.reload(cluster_text([one.port]))
            wait_until("the new host answers",
                       lambda: client.ask(request()).fields.get("x-origin") == "one")
            wait_until("the old host's connection is closed",
                       lambda: proxy.stat("upstream_closed") >= 1)
            equal(proxy.stat("reloads"), 1)
            proxy.reload(cluster_text([one.port, two.port]))
            wait_until("the old host is back",
                       lambda: client.ask(request()).body == b"scripted\n")


def test_weights_decide_the_split():
    with Origin("one") as one, Origin("two") as two:
        with Proxy(cluster_text([one.port, two.port], [3, 1])) as proxy:
            with Client(proxy.port) as client:
                seen = [client.ask(request()).fields["x-origin"] for _ in range(100)]
            assert abs(seen.count("one") - 75) <= 3, seen.count("one")


def test_a_file_that_is_refused_changes_nothing_and_says_why():
    with Origin("one") as one:
        with Proxy(cluster_text([one.port])) as proxy:
            refused = [cluster_text([one.port], [0]), "name: [", "", cluster_text([1]) + "x: 1"]
            for number, text in enumerate(refused):
                proxy.reload(text)
                wait_until("the reload is refused",
                           lambda: proxy.stat("reloads_refused") == number + 1)
                equal(exchange(proxy.port, request()).status, 200)
            errors = proxy.error_text()
            assert "reload refused: code=" in errors and "load_balancing_weight" in errors, errors
            assert "code=parse_error" in errors and "message=" in errors, errors
            os.unlink(proxy.file.name)
            proxy.process.send_signal(signal.SIGHUP)
            wait_until("the missing file is noticed", lambda: proxy.stat("reloads_refused") == 5)
            proxy.reload(cluster_text([one.port]))
            wait_until("a good file is taken", lambda: proxy.stat("reloads") == 1)


def test_the_behavior_of_envoy_can_be_chosen():
    with Origin("one") as one, Origin("two") as two:
        text = cluster_text([one.port, two.port])
        with Proxy(text, "--behavior", "envoy", "--region", "r", "--zone", "z") as proxy:
            with Client(proxy.port) as client:
                seen = [client.ask(request()).fields["x-origin"] for _ in range(10)]
            equal((seen.count("one"), seen.count("two")), (5, 5))


def test_a_file_that_is_refused_at_the_start_ends_the_proxy_with_the_reason():
    for text, reason in ((cluster_text([1], [0]), "load_balancing_weight"), ("a: b", "a")):
        try:
            with Proxy(text):
                pass
        except AssertionError as error:
            assert "code=" in str(error) and reason in str(error), error
            continue
        raise AssertionError("it started")
