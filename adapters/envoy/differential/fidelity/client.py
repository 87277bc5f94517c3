"""An HTTP/1.1 client that asks one request after the other over one connection.

Envoy serves the requests of a connection in order, one at a time, so that with one connection
picks happen in the order of the requests. Requests may be pipelined where origins answer all of
them: where Envoy answers by itself (503, no healthy upstream) it closes the connection on those
that wait.
"""

import socket
from typing import NamedTuple

PIPELINED = 64  # requests on the way
PATIENCE_S = 20


class Answer(NamedTuple):
    """What came back."""

    status: int
    origin: str | None  # the address that answered; None if no origin did


class Client:
    """One connection to the front."""

    def __init__(self, port):
        self._socket = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
        self._socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self._buffer = b""

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self._socket.close()

    def ask(self, cluster, requests, at_once=1):
        """Sends requests (each a mapping of headers) to a cluster and returns their answers."""
        texts = [_request(cluster, headers) for headers in requests]
        answers = []
        for start in range(0, len(texts), at_once):
            batch = texts[start:start + at_once]
            self._socket.sendall(b"".join(batch))
            answers += [self.receive() for _ in batch]
        return answers

    def origins(self, cluster, count, headers=None, at_once=PIPELINED):
        """The origins that answered so many like requests."""
        return [answer.origin for answer in self.ask(cluster, [headers or {}] * count, at_once)]

    def send(self, cluster, headers):
        """Sends a request whose answer is received later."""
        self._socket.sendall(_request(cluster, headers))

    def receive(self):
        """The next answer."""
        head, self._buffer = self._until(b"\r\n\r\n")
        status_line, *lines = head.decode("latin-1").split("\r\n")
        headers = {name.lower(): value for name, value in (line.split(": ", 1) for line in lines)}
        body = int(headers.get("content-length", 0))
        while len(self._buffer) < body:
            self._more()
        self._buffer = self._buffer[body:]
        return Answer(int(status_line.split()[1]), headers.get("x-origin"))

    def _until(self, mark):
        while mark not in self._buffer:
            self._more()
        head, rest = self._buffer.split(mark, 1)
        return head, rest

    def _more(self):
        received = self._socket.recv(65_536)
        if not received:
            raise ConnectionError("Envoy closed the connection")
        self._buffer += received


def _request(cluster, headers):
    lines = ["GET {} HTTP/1.1".format(headers.get(":path", "/")), "host: front",
             f"x-cluster: {cluster}"]
    lines += [f"{name}: {value}" for name, value in headers.items() if name != ":path"]
    return ("\r\n".join(lines) + "\r\n\r\n").encode("latin-1")
