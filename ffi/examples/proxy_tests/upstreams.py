"""Origins that answer wrongly, late or not at all, and clients that do the same."""

import glob
import signal
import socket
import threading
import time

from .rig import (
    LIMIT, Client, Proxy, Reader, before_body, cluster_text, equal, exchange, request, response,
    wait_until, with_scripted,
)


def ends_with(data):
    def answer(connection, _):
        connection.sendall(data)
        return False
    return answer


def test_responses_that_are_not_understood_become_502():
    ok = b"HTTP/1.1 200 OK\r\n"
    bad = {
        "garbage": b"220 mail.example ESMTP\r\n\r\n",
        "version": b"HTTP/2.0 200 OK\r\n\r\n",
        "status": b"HTTP/1.1 20 OK\r\nContent-Length: 0\r\n\r\n",
        "switch": b"HTTP/1.1 101 Switching\r\n\r\n",
        "both": ok + b"Content-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
        "lengths": ok + b"Content-Length: 3\r\nContent-Length: 4\r\n\r\nabcd",
        "length": ok + b"Content-Length: abc\r\n\r\n",
        "coding": ok + b"Transfer-Encoding: gzip\r\n\r\n",
        "fold": ok + b"X: a\r\n b\r\nContent-Length: 0\r\n\r\n",
        "colon": ok + b"X : a\r\nContent-Length: 0\r\n\r\n",
        "lf": b"HTTP/1.1 200 OK\nContent-Length: 0\n\n",
        "nul": ok + b"X: \0\r\nContent-Length: 0\r\n\r\n",
        "long": ok + b"X: " + b"a" * 20000 + b"\r\n\r\n",
        "half": b"HTTP/1.1 200 OK\r\nContent-",
        "interim": b"HTTP/1.1 102 Processing\r\n\r\n" * 9 + ok + b"Content-Length: 0\r\n\r\n",
    }

    def run(proxy, origin):
        for name, data in bad.items():
            origin.answers["/" + name] = ends_with(data)
            with Client(proxy.port) as client:
                answer = client.ask(request("/" + name))
                while answer.status == 102:
                    answer = client.receive()
                equal(answer.status, 502, name)
                equal(client.ask(request()).status, 200, f"after {name}")
    with_scripted(run)


def test_a_response_that_breaks_off_breaks_the_clients_connection():
    broken = {
        "length": b"HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc",
        "chunk": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc",
        "last": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n",
        "size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\nx\r\n",
    }

    def run(proxy, origin):
        for name, data in broken.items():
            origin.answers["/" + name] = ends_with(data)
            try:
                answer = exchange(proxy.port, request("/" + name))
            except (EOFError, ConnectionResetError):
                continue
            raise AssertionError(f"{name}: {answer.body!r} passed for a whole response")
    with_scripted(run)


def test_bytes_after_a_response_are_nobodys_response():
    def run(proxy, origin):
        origin.answers["/extra"] = response(200, b"one") + response(200, b"two")
        with Client(proxy.port) as client:
            equal(client.ask(request("/extra")).body, b"one")
            equal(client.ask(request()).body, b"scripted\n", "the next response")
        equal(origin.connections, 2)
    with_scripted(run)


def is_stopped(pid):
    states = []
    for path in glob.glob(f"/proc/{pid}/task/*/stat"):
        with open(path, encoding="ascii") as file:
            states.append(file.read().rsplit(")", 1)[1].split()[0])
    return set(states) == {"T"}


def test_what_an_idle_connection_says_is_nobodys_response():
    def run(proxy, origin):
        def remember(connection, _):
            idle.append(connection)
            connection.sendall(response(200, b"first"))
        idle = []
        origin.answers["/first"] = remember
        with Client(proxy.port) as client:
            equal(client.ask(request("/first")).body, b"first")
            wait_until("the connection is idle", lambda: proxy.stat("picks_done") == 1)
            # The proxy wakes up to a request, and to a response that came before it was forwarded.
            proxy.process.send_signal(signal.SIGSTOP)
            wait_until("it has stopped", lambda: is_stopped(proxy.process.pid))
            client.send(request())
            time.sleep(0.1)
            idle[0].sendall(response(200, b"stray"))
            time.sleep(0.1)
            proxy.process.send_signal(signal.SIGCONT)
            equal(client.receive().body, b"scripted\n")
    with_scripted(run)


def test_a_slow_upstream_becomes_504():
    def run(proxy, origin):
        @before_body
        def never(*_):
            time.sleep(1.5)
            return False
        origin.answers["/slow"] = never
        begun = time.monotonic()
        equal(exchange(proxy.port, request("/slow")).status, 504)
        assert 0.25 < time.monotonic() - begun < 1.4
        equal(proxy.stat("upstream_timed_out"), 1)
    with_scripted(run, "--upstream-timeout-ms", "300")


def test_bytes_of_the_next_request_do_not_extend_the_upstreams_time():
    def run(proxy, origin):
        @before_body
        def never(*_):
            time.sleep(3)
            return False
        origin.answers["/slow"] = never
        with Client(proxy.port) as client:
            begun = time.monotonic()
            client.send(request("/slow"))
            client.socket.setblocking(False)
            answer = b""
            while b"\r\n" not in answer and time.monotonic() - begun < 2:
                client.send(b"G")
                time.sleep(0.05)
                try:
                    answer += client.socket.recv(100)
                except BlockingIOError:
                    pass
        assert answer.startswith(b"HTTP/1.1 504 "), answer
        assert time.monotonic() - begun < 1.5
    with_scripted(run, "--upstream-timeout-ms", "300")


def test_a_host_that_does_not_accept_connections_becomes_504():
    with socket.socket() as listener, socket.socket() as first:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        first.connect(("127.0.0.1", port))  # fills the backlog: from now on the kernel is silent
        with Proxy(cluster_text([port]), "--connect-timeout-ms", "300") as proxy:
            equal(exchange(proxy.port, request()).status, 504)
            equal((proxy.stat("upstream_timed_out"), proxy.stat("retries")), (2, 1))


def test_a_slow_client_becomes_408():
    def run(proxy, _):
        with Client(proxy.port) as client:
            client.send(b"GET / HT")
            equal(client.receive().status, 408, "head")
        with Client(proxy.port) as client:
            client.send(request("/", "POST", "Content-Length: 5", body=b"abc"))
            equal(client.receive().status, 408, "body")
        with Client(proxy.port) as client:
            # Dripping does not help: the head has one deadline.
            for byte in b"GET / HTTP/1.1\r\n":
                client.send(bytes([byte]))
                time.sleep(0.05)
            equal(client.receive().status, 408, "dripping head")
    with_scripted(run, "--client-timeout-ms", "300", "--upstream-timeout-ms", "300")


def test_a_client_that_leaves_in_the_middle_of_a_body_ends_the_exchange():
    def run(proxy, origin):
        gone = threading.Event()

        @before_body
        def read_to_end(connection, _):
            reader = Reader(connection)
            try:
                reader.take(1000)
            except (EOFError, ConnectionResetError):
                gone.set()
            return False
        origin.answers["/"] = read_to_end
        with Client(proxy.port) as client:
            client.send(request("/", "POST", "Content-Length: 1000", body=b"abc"))
            wait_until("the request is under way", lambda: origin.requests)
        assert gone.wait(LIMIT), "the upstream was not told"
        wait_until("the client is gone", lambda: proxy.stat("client_closed") >= 1)
    with_scripted(run)


def test_only_what_may_be_repeated_is_repeated_when_a_connection_breaks():
    def run(proxy, origin):
        origin.answers["/break"] = ends_with(b"")
        equal(exchange(proxy.port, request("/break")).status, 502, "GET")
        equal(len(origin.requests), 2, "GET is sent again")
        equal(exchange(proxy.port, request("/break", "POST", "Content-Length: 0")).status, 502)
        equal(len(origin.requests), 3, "POST is not")
        body = request("/break", "PUT", "Content-Length: 3", body=b"abc")
        equal(exchange(proxy.port, body).status, 502)
        equal(len(origin.requests), 4, "nor is a body that is gone")
        equal(proxy.stat("retries"), 1)
    with_scripted(run)
