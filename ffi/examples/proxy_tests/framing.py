"""Connections, and where messages end."""

import os

from .rig import Client, Reader, before_body, equal, exchange, request, response, with_scripted

CHUNKED = "Transfer-Encoding: chunked"


def test_connections_are_kept_alive_on_both_sides():
    def run(proxy, origin):
        with Client(proxy.port) as client:
            for _ in range(5):
                equal(client.ask(request()).status, 200)
        with Client(proxy.port) as client:
            equal(client.ask(request()).status, 200)
        equal(origin.connections, 1, "upstream connections")
        equal(proxy.stat("upstream_reused"), 5, "reused")
    with_scripted(run)


def test_connection_close_is_honoured_on_both_sides():
    def run(proxy, origin):
        origin.answers["/close"] = response(200, b"bye\n", "Connection: close")
        with Client(proxy.port) as client:
            equal(client.ask(request("/close")).status, 200)
            answer = client.ask(request("/", "GET", "Connection: close"))
            equal(answer.fields.get("connection"), "close")
            assert client.is_closed()
        equal(origin.connections, 2, "upstream connections")
    with_scripted(run)


def test_an_http_1_0_client_gets_an_identity_body_and_a_closed_connection():
    def run(proxy, origin):
        origin.answers["/chunked"] = (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            b"3\r\nabc\r\n4\r\ndefg\r\n0\r\n\r\n"
        )
        with Client(proxy.port) as client:
            answer = client.ask(request("/chunked", version="1.0"))
            equal((answer.body, answer.fields), (b"abcdefg", {"connection": "close"}))
        answer = exchange(proxy.port, b"GET / HTTP/1.0\r\n\r\n")
        equal((answer.status, origin.last().field("Host")), (200, ""))
    with_scripted(run)


def test_a_chunked_request_arrives_whole_and_without_the_senders_framing():
    def run(proxy, origin):
        body = b"5;name=value\r\nhello\r\nA\r\n0123456789\r\n0\r\nX-Trailer: 1\r\n\r\n"
        with Client(proxy.port) as client:
            client.send(request("/", "POST", CHUNKED, "Trailer: X-Trailer"))
            for byte in body:
                client.send(bytes([byte]))
            equal(client.receive().status, 200)
            equal(client.ask(request()).status, 200, "the next request")
        first = origin.requests[0]
        equal(first.body, b"hello0123456789")
        equal(first.field("Transfer-Encoding"), "chunked")
        equal(first.field("Trailer"), None)
        equal(first.field("Content-Length"), None)
    with_scripted(run)


def test_a_chunked_response_arrives_whole_and_the_connection_stays_in_step():
    def run(proxy, origin):
        chunk = os.urandom(70000)
        size = f"{len(chunk):x};ext\r\n".encode()
        origin.answers["/chunked"] = (
            b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
            + size + chunk + b"\r\n" + size + chunk + b"\r\n0\r\nT: 1\r\n\r\n"
        )
        with Client(proxy.port) as client:
            answer = client.ask(request("/chunked"))
            equal(answer.fields, {"transfer-encoding": "chunked"})
            assert answer.body == chunk + chunk
            equal(client.ask(request()).body, b"scripted\n")
        equal(origin.connections, 1)
    with_scripted(run)


def test_a_body_that_ends_with_the_connection_becomes_chunked():
    def run(proxy, origin):
        def until_close(connection, _):
            connection.sendall(b"HTTP/1.0 200 OK\r\n\r\nold style")
            return False
        origin.answers["/old"] = until_close
        with Client(proxy.port) as client:
            answer = client.ask(request("/old"))
            equal((answer.body, answer.fields), (b"old style", {"transfer-encoding": "chunked"}))
            equal(client.ask(request()).status, 200, "the next request")
    with_scripted(run)


def test_responses_that_have_no_body_leave_the_connection_in_step():
    def run(proxy, origin):
        origin.answers["/head"] = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
        origin.answers["/head-chunked"] = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        origin.answers["/204"] = b"HTTP/1.1 204 No Content\r\n\r\n"
        origin.answers["/304"] = b"HTTP/1.1 304 Not Modified\r\nContent-Length: 77\r\n\r\n"
        origin.answers["/empty"] = b"HTTP/1.1 200\r\nContent-Length: 0\r\n\r\n"
        with Client(proxy.port) as client:
            answer = client.ask(request("/head", "HEAD"), "HEAD")
            equal((answer.status, answer.fields), (200, {"content-length": "1000"}))
            equal(client.ask(request("/head-chunked", "HEAD"), "HEAD").status, 200)
            equal(client.ask(request("/204")).fields, {})
            equal(client.ask(request("/304")).fields, {"content-length": "77"})
            equal(client.ask(request("/empty")).body, b"")
            equal(client.ask(request()).body, b"scripted\n", "the next response")
        equal(origin.connections, 1)
    with_scripted(run)


def test_pipelined_requests_are_answered_in_order():
    def run(proxy, origin):
        for name in "abc":
            origin.answers["/" + name] = response(200, name.encode())
        with Client(proxy.port) as client:
            client.send(request("/a") + request("/b", "POST", "Content-Length: 3", body=b"xyz")
                        + request("/c"))
            equal([client.receive().body for _ in range(3)], [b"a", b"b", b"c"])
        equal([seen.path for seen in origin.requests], ["/a", "/b", "/c"])
        equal(origin.requests[1].body, b"xyz")
    with_scripted(run)


def test_hop_by_hop_fields_end_at_the_proxy():
    def run(proxy, origin):
        origin.answers["/"] = response(
            200, b"", "Connection: X-Hop, keep-alive", "X-Hop: 1", "Keep-Alive: timeout=5",
            "Proxy-Authenticate: Basic", "Upgrade: h2", "X-Kept: 2",
        )
        answer = exchange(proxy.port, request(
            "/", "GET", "Connection: keep-alive, X-Secret", "X-Secret: 1", "Keep-Alive: 5",
            "TE: trailers", "Proxy-Connection: keep-alive", "Proxy-Authorization: x", "X-Kept: 1",
        ))
        equal(answer.fields, {"x-kept": "2", "content-length": "0"})
        seen = origin.last()
        for name in ("Connection", "X-Secret", "Keep-Alive", "TE", "Proxy-Connection",
                     "Proxy-Authorization"):
            equal(seen.field(name), None, name)
        equal((seen.field("X-Kept"), seen.field("Via")), ("1", "1.1 plimsoll"))
    with_scripted(run)


def test_an_absolute_target_overrides_the_host_field():
    def run(proxy, origin):
        exchange(proxy.port, request("http://shop.example:81/a?b"))
        equal(origin.last().line, "GET /a?b HTTP/1.1")
        equal(origin.last().field("Host"), "shop.example:81")
        exchange(proxy.port, request("http://shop.example?b"))
        equal(origin.last().line, "GET /?b HTTP/1.1")
        for target in ("*", "http://shop.example"):
            exchange(proxy.port, request(target, "OPTIONS"))
            equal(origin.last().line, "OPTIONS * HTTP/1.1")
        exchange(proxy.port, request("http://shop.example"))
        equal(origin.last().line, "GET / HTTP/1.1")
    with_scripted(run)


def test_an_expectation_is_forwarded_and_so_is_the_interim_response():
    def run(proxy, origin):
        @before_body
        def ask_for_body(connection, seen):
            connection.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
            seen.body = Reader(connection).take(5)
            connection.sendall(b"HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\n")
            connection.sendall(response(200, b"ok"))
        origin.answers["/"] = ask_for_body
        with Client(proxy.port) as client:
            client.send(request("/", "POST", "Content-Length: 5", "Expect: 100-continue"))
            equal(client.receive().status, 100)
            client.send(b"hello")
            equal([client.receive().status for _ in range(2)], [103, 200])
        equal(origin.last().body, b"hello")
    with_scripted(run)


def test_an_answer_before_the_end_of_the_body_reaches_the_client():
    def run(proxy, origin):
        @before_body
        def too_large(connection, _):
            connection.sendall(response(413, b"no", "Connection: close"))
            return False
        origin.answers["/"] = too_large
        with Client(proxy.port) as client:
            client.send(request("/", "POST", "Content-Length: 1000000", body=b"x" * 1000))
            answer = client.receive()
            equal((answer.status, answer.fields.get("connection")), (413, "close"))
    with_scripted(run)
