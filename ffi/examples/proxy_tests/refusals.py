"""Requests that are refused, and requests that hide in others."""

import random
import socket

from .rig import Client, equal, exchange, request, with_scripted

CHUNKED = "Transfer-Encoding: chunked"

LINE = b"GET / HTTP/1.1\r\n"
HOST = b"Host: test\r\n"
POST = b"POST / HTTP/1.1\r\nHost: test\r\n"
TE = b"Transfer-Encoding: chunked\r\n"

MALFORMED = [
    (400, "no method", b" / HTTP/1.1\r\n" + HOST + b"\r\n"),
    (400, "a method that is no token", b"G(T / HTTP/1.1\r\n" + HOST + b"\r\n"),
    (400, "a request line of two parts", b"GET /\r\n" + HOST + b"\r\n"),
    (400, "two spaces before the target", b"GET  / HTTP/1.1\r\n" + HOST + b"\r\n"),
    (400, "a space after the version", b"GET / HTTP/1.1 \r\n" + HOST + b"\r\n"),
    (400, "a tab in the request line", b"GET\t/ HTTP/1.1\r\n" + HOST + b"\r\n"),
    (400, "a second empty line before the request", b"\r\n\r\n" + LINE + HOST + b"\r\n"),
    (400, "a version in lower case", b"GET / http/1.1\r\n" + HOST + b"\r\n"),
    (400, "a version of two digits", b"GET / HTTP/1.10\r\n" + HOST + b"\r\n"),
    (400, "a target that is no path", b"GET index.html HTTP/1.1\r\n" + HOST + b"\r\n"),
    (400, "a target of another scheme", b"GET https://a/ HTTP/1.1\r\n" + HOST + b"\r\n"),
    (400, "credentials in the target", b"GET http://u@a/ HTTP/1.1\r\n" + HOST + b"\r\n"),
    (400, "a target without authority", b"GET http:/// HTTP/1.1\r\n" + HOST + b"\r\n"),
    (400, "a fragment in the target", b"GET /#a HTTP/1.1\r\n" + HOST + b"\r\n"),
    (400, "a byte over 127 in the target", b"GET /\xe4 HTTP/1.1\r\n" + HOST + b"\r\n"),
    (400, "an asterisk for GET", b"GET * HTTP/1.1\r\n" + HOST + b"\r\n"),
    (400, "lines that end in LF", b"GET / HTTP/1.1\nHost: test\n\n"),
    (400, "one line that ends in LF", LINE + b"Host: test\nX: 1\r\n\r\n"),
    (400, "a CR inside a value", LINE + HOST + b"X: a\rb\r\n\r\n"),
    (400, "two CRs at a line's end", LINE + HOST + b"X: a\r\r\n\r\n"),
    (400, "a NUL in a value", LINE + HOST + b"X: a\0b\r\n\r\n"),
    (400, "a NUL in a name", LINE + HOST + b"X\0: a\r\n\r\n"),
    (400, "a DEL in a value", LINE + HOST + b"X: \x7f\r\n\r\n"),
    (400, "a space before the colon", LINE + HOST + b"X : a\r\n\r\n"),
    (400, "a line without colon", LINE + HOST + b"X\r\n\r\n"),
    (400, "a line without name", LINE + HOST + b": a\r\n\r\n"),
    (400, "a folded line", LINE + HOST + b"X: a\r\n b\r\n\r\n"),
    (400, "a folded first line", LINE + b" X: a\r\n" + HOST + b"\r\n"),
    (400, "a name that is no token", LINE + HOST + b"X@: a\r\n\r\n"),
    (400, "no Host", LINE + b"\r\n"),
    (400, "two Hosts", LINE + HOST + HOST + b"\r\n"),
    (400, "a Host with a path", LINE + b"Host: a/b\r\n\r\n"),
    (400, "a Host with a space", LINE + b"Host: a b\r\n\r\n"),
    (400, "Connection names Host", LINE + HOST + b"Connection: host\r\n\r\n"),
    (400, "Connection names Content-Length",
     POST + b"Content-Length: 1\r\nConnection: content-length\r\n\r\nx"),
    (400, "seventeen Connection options", LINE + HOST + b"Connection: " + b"a," * 17 + b"\r\n\r\n"),
    (400, "a negative length", POST + b"Content-Length: -1\r\n\r\n"),
    (400, "a length with a plus", POST + b"Content-Length: +1\r\n\r\nx"),
    (400, "a hexadecimal length", POST + b"Content-Length: 0x1\r\n\r\nx"),
    (400, "an empty length", POST + b"Content-Length:\r\n\r\n"),
    (400, "a length with an underscore", POST + b"Content-Length: 1_0\r\n\r\n"),
    (400, "a list of lengths", POST + b"Content-Length: 1, 1\r\n\r\nx"),
    (400, "a length beyond 64 bits", POST + b"Content-Length: 18446744073709551617\r\n\r\nx"),
    (400, "two different lengths", POST + b"Content-Length: 1\r\nContent-Length: 2\r\n\r\nxx"),
    (400, "two equal lengths", POST + b"Content-Length: 1\r\nContent-Length: 1\r\n\r\nx"),
    (400, "a length and a coding", POST + b"Content-Length: 5\r\n" + TE + b"\r\n0\r\n\r\n"),
    (400, "a coding and a length", POST + TE + b"Content-Length: 5\r\n\r\n0\r\n\r\n"),
    (400, "chunked twice", POST + TE + TE + b"\r\n0\r\n\r\n"),
    (400, "an empty coding", POST + b"Transfer-Encoding:\r\n\r\n"),
    (400, "a coding in HTTP/1.0", b"POST / HTTP/1.0\r\nHost: a\r\n" + TE + b"\r\n0\r\n\r\n"),
    (400, "a vertical tab before chunked", POST + b"Transfer-Encoding: \x0bchunked\r\n\r\n"),
    (400, "a chunk size that is no number", POST + TE + b"\r\nx\r\n"),
    (400, "a chunk size with a prefix", POST + TE + b"\r\n0x1\r\na\r\n0\r\n\r\n"),
    (400, "a negative chunk size", POST + TE + b"\r\n-1\r\n"),
    (400, "an empty chunk size", POST + TE + b"\r\n\r\n"),
    (400, "a space after the chunk size", POST + TE + b"\r\n1 \r\na\r\n0\r\n\r\n"),
    (400, "a chunk size beyond 64 bits", POST + TE + b"\r\n10000000000000001\r\na\r\n0\r\n\r\n"),
    (400, "a chunk size that ends in LF", POST + TE + b"\r\n1\na\r\n0\r\n\r\n"),
    (400, "a chunk longer than its size", POST + TE + b"\r\n1\r\nab\r\n0\r\n\r\n"),
    (400, "a chunk that ends in LF", POST + TE + b"\r\n1\r\na\n0\r\n\r\n"),
    (400, "a CR in a chunk extension", POST + TE + b"\r\n1;a\rb\r\na\r\n0\r\n\r\n"),
    (400, "an endless chunk extension", POST + TE + b"\r\n1;" + b"a" * 300),
    (400, "endless trailers", POST + TE + b"\r\n0\r\n" + b"X: a\r\n" * 1000),
    (400, "a trailer that ends in LF", POST + TE + b"\r\n0\r\nX: a\n\r\n"),
    (411, "HTTP/1.0 POST without a length", b"POST / HTTP/1.0\r\nHost: a\r\n\r\n"),
    (413, "a body over the limit", POST + b"Content-Length: 1073741825\r\n\r\n"),
    (413, "a chunk over the limit", POST + TE + b"\r\n40000001\r\n"),
    (414, "a long request line", b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\n" + HOST + b"\r\n"),
    (414, "a request line without end", b"GET /" + b"a" * 9000),
    (417, "another expectation", POST + b"Content-Length: 1\r\nExpect: tea\r\n\r\nx"),
    (431, "a long head", LINE + HOST + (b"X: " + b"a" * 1000 + b"\r\n") * 17 + b"\r\n"),
    (431, "a head without end", LINE + HOST + b"X: " + b"a" * 17000),
    (431, "101 header lines", LINE + HOST + b"X: a\r\n" * 100 + b"\r\n"),
    (501, "CONNECT", b"CONNECT a:80 HTTP/1.1\r\n" + HOST + b"\r\n"),
    (501, "TRACE", b"TRACE / HTTP/1.1\r\n" + HOST + b"\r\n"),
    (501, "an upgrade", LINE + HOST + b"Connection: upgrade\r\nUpgrade: websocket\r\n\r\n"),
    (501, "gzip, chunked", POST + b"Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n"),
    (501, "chunked, identity", POST + b"Transfer-Encoding: chunked, identity\r\n\r\n0\r\n\r\n"),
    (501, "xchunked", POST + b"Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n"),
    (501, "quoted chunked", POST + b"Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n"),
    (505, "HTTP/2.0", b"GET / HTTP/2.0\r\n" + HOST + b"\r\n"),
    (505, "HTTP/1.2", b"GET / HTTP/1.2\r\n" + HOST + b"\r\n"),
    (505, "HTTP/0.9", b"GET / HTTP/0.9\r\n" + HOST + b"\r\n"),
    (505, "the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
]


def test_what_is_malformed_is_refused_and_nothing_after_it_is_read():
    def run(proxy, origin):
        wrong = []
        for status, name, data in MALFORMED:
            with Client(proxy.port) as client:
                # A request behind the refused one must not be taken for a request.
                client.send(data + request("/smuggled"))
                answer = client.receive()
                closed = answer.fields.get("connection") == "close" and client.is_closed()
                if answer.status != status or not closed:
                    wrong.append(f"{name}: {answer.status} instead of {status}, closed {closed}")
        paths = [seen.path for seen in origin.requests]
        assert not wrong, "; ".join(wrong)
        assert "/smuggled" not in paths, paths
    with_scripted(run)


def test_unusual_but_valid_requests_are_served():
    valid = [
        b"\r\n" + LINE + HOST + b"\r\n",
        LINE + b"hOsT:test\r\n\r\n",
        LINE + HOST + b"X:\r\nY: \t a b \t\r\nZ: \xff\r\n\r\n",
        LINE + b"Host:\r\n\r\n",
        b"BREW /pot?a=%20&b={} HTTP/1.1\r\n" + HOST + b"\r\n",
        POST + b"\r\n",
        POST + b"Content-Length: 000\r\n\r\n",
        POST + b"transfer-encoding:\tCHUNKED\r\n\r\n0\r\n\r\n",
        POST + TE + b"\r\n0000a\r\n0123456789\r\n0\r\n\r\n",
        LINE + HOST + b"X: a\r\n" * 99 + b"\r\n",
        b"GET /" + b"a" * 8000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
        LINE + HOST + (b"X: " + b"a" * 1000 + b"\r\n") * 16 + b"\r\n",
    ]

    def run(proxy, _):
        with Client(proxy.port) as client:
            for data in valid:
                equal(client.ask(data).status, 200, data[:60])
    with_scripted(run)


def test_the_bytes_of_one_body_never_become_the_next_request():
    hidden = b"GET /smuggled HTTP/1.1\r\nHost: test\r\n\r\n"
    length = f"Content-Length: {len(hidden)}"
    chunk = f"{len(hidden):x}\r\n".encode() + hidden + b"\r\n0\r\n\r\n"

    def run(proxy, origin):
        with Client(proxy.port) as client:
            client.send(request("/1", "POST", length, body=hidden))
            client.send(request("/2", "POST", CHUNKED, body=chunk))
            client.send(request("/3", "GET", length, body=hidden))
            equal([client.receive().status for _ in range(3)], [200] * 3)
        equal([(seen.path, seen.body) for seen in origin.requests],
              [("/1", hidden), ("/2", hidden), ("/3", hidden)])
    with_scripted(run)


def test_random_damage_neither_crashes_nor_leaks():
    randomness = random.Random(7)
    seeds = [
        request("/a", "GET", "X: 1", "Connection: close"),
        request("/b", "POST", "Content-Length: 10", body=b"0123456789"),
        request("/c", "POST", CHUNKED, body=b"3\r\nabc\r\n0\r\n\r\n"),
    ]

    def damaged():
        data = bytearray(randomness.choice(seeds) + randomness.choice(seeds))
        for _ in range(randomness.randrange(1, 6)):
            at = randomness.randrange(len(data))
            kind = randomness.randrange(3)
            if kind == 0:
                data[at] = randomness.choice(b"\0\r\n :;,\x7f\xff0aA")
            elif kind == 1:
                del data[at:at + randomness.randrange(1, 8)]
            else:
                data[at:at] = randomness.choice([b"\r\n", b"\0", b" ", b"\r\n\r\n", b"ffff"])
        return bytes(data)

    def run(proxy, _):
        for _ in range(400):
            with Client(proxy.port) as client:
                client.send(damaged())
                client.socket.shutdown(socket.SHUT_WR)
                client.socket.settimeout(2)
                try:
                    client.reader.rest()
                except ConnectionResetError:
                    pass
        equal(exchange(proxy.port, request()).status, 200, "afterwards")
    with_scripted(run)
