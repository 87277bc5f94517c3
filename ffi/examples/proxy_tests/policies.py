"""Policies that a cluster file may ask for: least request, and slow start."""

import itertools
import threading
import time

from .rig import (
    LIMIT, Client, Origin, Proxy, ScriptedOrigin, cluster_text, equal, request, response,
    wait_until,
)

CLIENTS = 8
REQUESTS = 400
WINDOW = 2.0  # seconds of slow start
SLOW_START = f"""round_robin_lb_config:
  slow_start_config: {{ slow_start_window: {WINDOW:.0f}s }}"""


def ask_together(port, answered):
    """Starts clients that share the requests, each one of them with one under way at a time."""
    numbers = itertools.count()

    def ask():
        with Client(port) as client:
            while next(numbers) < REQUESTS:
                answered.append(client.ask(request()).status)

    threads = [threading.Thread(target=ask) for _ in range(CLIENTS)]
    for thread in threads:
        thread.start()
    return threads


def test_least_request_goes_around_a_host_that_is_slow():
    with ScriptedOrigin() as slow, Origin("one") as one, Origin("two") as two:
        let_go = threading.Event()

        def hold(connection, _):
            let_go.wait(LIMIT)
            connection.sendall(response(200, b"at last\n"))
        slow.answers["/"] = hold
        text = cluster_text([slow.port, one.port, two.port], lb_policy="LEAST_REQUEST")
        with Proxy(text) as proxy:
            answered = []
            threads = ask_together(proxy.port, answered)
            # A host gets a request only if another one has as many already. So the slow host, which
            # ends none of its own, holds half of the clients at most, and gets 1 % of the requests
            # where round robin would give it a third.
            most = CLIENTS // 2
            wait_until("the others have answered", lambda: len(answered) >= REQUESTS - most)
            held = len(slow.requests)
            let_go.set()
            for thread in threads:
                thread.join(LIMIT)
            equal(answered, [200] * REQUESTS)
            assert 1 <= held <= most, f"the slow host held {held} requests"


def factor_of(proxy, port):
    """A host's slow start as the admin page shows it; 1 if it is not in it."""
    lines = (line.split() for line in proxy.page("/weights").body.decode().splitlines())
    _, weight, effective, factor, *_ = next(
        line for line in lines if line[0] == f"127.0.0.1:{port}")
    factor = 1.0 if factor == "-" else float(factor)
    assert abs(float(effective) - int(weight) * factor) < 0.001, effective
    return factor


def share_of(client, name, count):
    seen = [client.ask(request()).fields["x-origin"] for _ in range(count)]
    return seen.count(name) / count


def check_slow_start(*options):
    with Origin("old") as old, Origin("new") as new:
        text = cluster_text([old.port], extra=SLOW_START)
        with Proxy(text, *options) as proxy, Client(proxy.port) as client:
            wait_until("the old host is warm", lambda: factor_of(proxy, old.port) == 1)
            begun = time.monotonic()
            proxy.reload(cluster_text([old.port, new.port], extra=SLOW_START))
            wait_until("the new host is there", lambda: proxy.stat("reloads") == 1)
            factor = factor_of(proxy, new.port)
            early = share_of(client, "new", 200)
            # The factor can be no larger than the time that has passed by now allows, however long
            # that was on a busy machine; usually it is a tenth of a second.
            largest = max(0.1, (time.monotonic() - begun) / WINDOW)
            assert factor <= largest, (factor, largest)
            assert early <= largest / (1 + largest) + 0.1, (early, largest)
            wait_until("the new host is warm", lambda: factor_of(proxy, new.port) == 1)
            late = share_of(client, "new", 100)
            assert 0.4 <= late <= 0.6, late


def test_a_new_host_starts_slowly():
    check_slow_start()


def test_a_new_host_starts_slowly_as_in_envoy():
    check_slow_start("--behavior", "envoy")
