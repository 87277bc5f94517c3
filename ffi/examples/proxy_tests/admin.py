"""The admin pages, and how the proxy stops."""

import time

from .rig import (
    LIMIT, Client, Origin, Proxy, before_body, cluster_text, equal, exchange, request,
    wait_until, with_scripted,
)


def test_the_admin_pages_answer():
    def run(proxy, origin):
        exchange(proxy.port, request())
        stats = proxy.stats()
        equal((stats["proxy.requests"], stats["proxy.picks_done"]), (1, 1))
        hosts = proxy.page("/hosts")
        assert f"127.0.0.1:{origin.port}".encode() in hosts.body, hosts.body
        weights = proxy.page("/weights").body.decode().splitlines()
        equal(weights[1].split(), [f"127.0.0.1:{origin.port}", "1", "1.000"] + 5 * ["-"])
        localities = proxy.page("/localities").body.decode().splitlines()
        equal([line.split()[1:4] for line in localities[1:]],
              [["healthy", "100.000", "-"], ["degraded", "0.000", "-"], ["all", "0.000", "-"]])
        equal(localities[1].split()[4:], ["1", "-", "1.000000", "no"])
        equal(proxy.page("/healthz").status, 200)
        equal(proxy.page("/other").status, 404)
        equal(exchange(proxy.admin, request("/stats", "POST", "Content-Length: 0")).status, 405)
        equal(exchange(proxy.admin, b"GET / HTTP/3.0\r\n\r\n").status, 505)
        answer = exchange(proxy.admin, request("/hosts", "HEAD"), "HEAD")
        assert int(answer.fields["content-length"]) > 0
        with Client(proxy.admin):  # says nothing, and must not block the others for long
            equal(proxy.page("/healthz").status, 200)
    with_scripted(run)


def test_a_stop_lets_a_request_end_and_takes_no_new_one():
    with Origin("slow", delay_ms=600) as slow:
        with Proxy(cluster_text([slow.port])) as proxy:
            idle = Client(proxy.port)
            busy = Client(proxy.port)
            busy.send(request())
            wait_until("the request is under way", lambda: proxy.stat("requests") == 1)
            begun = time.monotonic()
            proxy.process.terminate()
            answer = busy.receive()
            equal((answer.status, answer.fields.get("connection")), (200, "close"))
            assert idle.is_closed() and busy.is_closed()
            busy.close()
            equal(proxy.process.wait(LIMIT), 0)
            assert time.monotonic() - begun < 3
            try:
                Client(proxy.port)
            except ConnectionRefusedError:
                return
            raise AssertionError("it still listens")


def test_a_stop_does_not_wait_for_ever():
    def run(proxy, origin):
        @before_body
        def never(*_):
            time.sleep(5)
            return False
        origin.answers["/"] = never
        with Client(proxy.port) as client:
            client.send(request())
            wait_until("the request is under way", lambda: origin.requests)
            begun = time.monotonic()
            equal(proxy.stop(), 0)
            assert 1.5 < time.monotonic() - begun < 4
    with_scripted(run)
