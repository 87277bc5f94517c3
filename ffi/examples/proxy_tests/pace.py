"""Large bodies, slow readers, and too many clients."""

import os
import threading

from .rig import (
    LIMIT, Client, before_body, equal, exchange, request, response, wait_until, with_scripted,
)


def resident_kib(proxy):
    with open(f"/proc/{proxy.process.pid}/status", encoding="ascii") as file:
        return next(int(line.split()[1]) for line in file if line.startswith("VmRSS"))


def test_large_bodies_pass_unchanged_in_both_directions():
    def run(proxy, origin):
        body = os.urandom(1 << 20) * 8
        origin.answers["/echo"] = lambda connection, seen: connection.sendall(
            response(200, seen.body))
        answers = []
        with Client(proxy.port) as client:
            def receive():
                answers.append(client.receive())
            receiver = threading.Thread(target=receive)
            receiver.start()
            client.send(request("/echo", "POST", f"Content-Length: {len(body)}", body=body))
            receiver.join(LIMIT)
        assert answers and answers[0].body == body, "the body came back changed"
    with_scripted(run)


def pour(connection, total):
    """Sends until the other side takes no more for a while; returns how much it took."""
    connection.settimeout(0.5)
    sent = 0
    try:
        while sent < total:
            sent += connection.send(b"x" * 65536)
    except (TimeoutError, OSError):
        pass
    connection.settimeout(LIMIT)
    return sent


def test_an_upstream_that_does_not_read_stops_the_client_and_not_the_proxy():
    def run(proxy, origin):
        stopped = threading.Event()

        @before_body
        def never_read(*_):
            stopped.wait(LIMIT)
            return False
        origin.answers["/"] = never_read
        before = resident_kib(proxy)
        with Client(proxy.port) as client:
            client.send(request("/", "POST", f"Content-Length: {1 << 28}"))
            taken = pour(client.socket, 1 << 28)
            grown = resident_kib(proxy) - before
        stopped.set()
        # What the kernel's socket buffers hold is megabytes; the proxy's part is fixed.
        assert taken < 64 << 20, f"{taken} bytes were taken"
        assert grown < 4096, f"the proxy grew by {grown} KiB"
    with_scripted(run)


def test_a_client_that_does_not_read_stops_the_upstream_and_not_the_proxy():
    def run(proxy, origin):
        taken = []

        def endless(connection, _):
            connection.sendall(f"HTTP/1.1 200 OK\r\nContent-Length: {1 << 28}\r\n\r\n".encode())
            taken.append(pour(connection, 1 << 28))
            return False
        origin.answers["/"] = endless
        before = resident_kib(proxy)
        with Client(proxy.port) as client:
            client.send(request())
            wait_until("the origin is stopped", lambda: taken)
            grown = resident_kib(proxy) - before
        assert taken[0] < 64 << 20, f"{taken[0]} bytes were taken"
        assert grown < 4096, f"the proxy grew by {grown} KiB"
    with_scripted(run)


def test_clients_beyond_the_limit_are_told_so():
    def run(proxy, _):
        with Client(proxy.port) as first, Client(proxy.port) as second:
            equal([first.ask(request()).status, second.ask(request()).status], [200, 200])
            with Client(proxy.port) as third:
                equal(third.receive().status, 503)
                assert third.is_closed()
        wait_until("there is room again", lambda: exchange(proxy.port, request()).status == 200)
        assert proxy.stat("client_over_limit") >= 1
    with_scripted(run, "--connections", "2")
