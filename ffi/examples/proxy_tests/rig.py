"""What the tests stand on: the proxy as a process, origins of either kind, and raw HTTP.

Nothing here uses an HTTP library: the tests are about bytes on the wire, and a library would repair
or refuse just those that matter. Every wait has a limit, and everything binds 127.0.0.1.
"""

import os
import re
import shlex
import signal
import socket
import subprocess
import tempfile
import threading
import time

# Where the programs are; set once, before any test runs.
BUILD = "build"

LIMIT = 10.0  # seconds; longer than anything here takes, also under valgrind


def cluster_text(ports, weights=None, extra="", policy="", lb_policy="ROUND_ROBIN"):
    """An Envoy cluster of one locality with a host on each port."""
    lines = ["name: test", f"lb_policy: {lb_policy}"]
    lines += [extra] if extra else []
    lines += ["load_assignment:", "  cluster_name: test"]
    lines += [policy] if policy else []
    lines += ["  endpoints:" if ports else "  endpoints: []"]
    lines += ["    - lb_endpoints:"] if ports else []
    for index, port in enumerate(ports):
        lines += [
            "        - endpoint:",
            "            address:",
            f"              socket_address: {{ address: 127.0.0.1, port_value: {port} }}",
            f"          load_balancing_weight: {weights[index] if weights else 1}",
        ]
    return "\n".join(lines) + "\n"


HEALTH_CHECKS = """health_checks:
  - timeout: 1s
    interval: 1s
    unhealthy_threshold: 2
    healthy_threshold: 1
    http_health_check: { path: /healthz }"""


class Process:
    """A program of the build directory that says on its first line which ports it has."""

    def __init__(self, command):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=self.errors, text=True
        )
        line = self.process.stdout.readline()
        self.ports = [int(port) for port in re.findall(r"port (\d+)", line)]
        if not self.ports:
            self.kill()
            raise AssertionError(f"{command[0]} did not start: {line!r} {self.error_text()!r}")

    def error_text(self):
        self.errors.seek(0)
        return self.errors.read()

    def kill(self):
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(LIMIT)
        self.process.stdout.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.kill()


class Origin(Process):
    """The C origin."""

    def __init__(self, name, port=0, delay_ms=0, capacity=None):
        super().__init__(
            [os.path.join(BUILD, "origin"), "--listen", f"127.0.0.1:{port}", "--name", name,
             "--delay-ms", str(delay_ms)] + (["--capacity", str(capacity)] if capacity else [])
        )
        self.port = self.ports[0]


class Proxy(Process):
    """The proxy. Leaving the context stops it and checks that it ended well: with status 0, which
    a sanitizer's finding would change, and with every pick done."""

    def __init__(self, text, *options, threads=1):
        self.file = tempfile.NamedTemporaryFile("w", suffix=".yaml", delete=False)
        self.write(text)
        wrapper = shlex.split(os.environ.get("PROXY_WRAPPER", ""))
        super().__init__(
            wrapper
            + [os.path.join(BUILD, "proxy"), "--cluster", self.file.name, "--threads",
               str(threads), *options]
        )
        self.port, self.admin = self.ports

    def write(self, text):
        with open(self.file.name, "w", encoding="utf-8") as file:
            file.write(text)

    def reload(self, text):
        self.write(text)
        self.process.send_signal(signal.SIGHUP)

    def page(self, path):
        return exchange(self.admin, f"GET {path} HTTP/1.1\r\nHost: admin\r\n\r\n".encode())

    def stats(self):
        lines = self.page("/stats").body.decode().splitlines()
        return {name: int(value) for name, value in (line.split(": ") for line in lines)}

    def stat(self, name):
        return self.stats()["proxy." + name]

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(LIMIT)

    def __exit__(self, kind, *_):
        try:
            if kind is None and self.process.poll() is None:
                def all_done():
                    stats = self.stats()
                    return stats["proxy.picks"] == stats["proxy.picks_done"]
                wait_until("every pick is done", all_done)
                status = self.stop()
                assert status == 0, f"exit status {status}: {self.error_text()[:2000]}"
        finally:
            self.kill()
            os.unlink(self.file.name)


class Received:
    """A request as an origin got it."""

    def __init__(self, head, body):
        self.head = head.decode("latin-1")
        self.line = self.head.split("\r\n", 1)[0]
        self.path = self.line.split(" ")[1]
        self.body = body

    def field(self, name):
        found = re.search(rf"^{re.escape(name)}: *(.*?)\r?$", self.head, re.I | re.M)
        return found.group(1) if found else None


class ScriptedOrigin:
    """An origin that does what a test tells it to: `answers` maps a path to bytes to send, or to a
    function of the connection and the request. The connection ends when the function returns
    False."""

    def __init__(self):
        self.answers = {}
        self.requests = []
        self.connections = 0
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=64)
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    def accept(self):
        while True:
            try:
                connection, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            connection.settimeout(LIMIT)
            threading.Thread(target=self.serve, args=(connection,), daemon=True).start()

    def serve(self, connection):
        reader = Reader(connection)
        try:
            while self.serve_one(connection, reader):
                pass
        except (OSError, EOFError):
            pass
        finally:
            connection.close()

    def serve_one(self, connection, reader):
        head = reader.head()
        request = Received(head, b"")
        answer = self.answers.get(request.path, response(200, b"scripted\n"))
        if not getattr(answer, "before_body", False):
            request.body = reader.body(head)
        self.requests.append(request)
        if callable(answer):
            return answer(connection, request) is not False
        connection.sendall(answer)
        return True

    def last(self):
        return self.requests[-1]

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.listener.close()


def before_body(function):
    """Marks an answer that is called as soon as the head is there, and reads the body itself."""
    function.before_body = True
    return function


def response(status, body, *fields):
    head = [f"HTTP/1.1 {status} Reason", f"Content-Length: {len(body)}", *fields]
    return ("\r\n".join(head) + "\r\n\r\n").encode() + body


def request(path="/", method="GET", *fields, body=b"", version="1.1"):
    head = [f"{method} {path} HTTP/{version}", "Host: test", *fields]
    return ("\r\n".join(head) + "\r\n\r\n").encode() + body


class Reader:
    """Reads messages off a socket, one after the other."""

    def __init__(self, connection):
        self.connection = connection
        self.data = b""

    def more(self):
        data = self.connection.recv(65536)
        if not data:
            raise EOFError("connection closed")
        self.data += data

    def take(self, count):
        while len(self.data) < count:
            self.more()
        taken, self.data = self.data[:count], self.data[count:]
        return taken

    def until(self, mark):
        while mark not in self.data:
            self.more()
        return self.take(self.data.index(mark) + len(mark))

    def head(self):
        return self.until(b"\r\n\r\n")

    def chunks(self):
        body = b""
        while True:
            size = int(self.until(b"\r\n").split(b";")[0], 16)
            if size == 0:
                while self.until(b"\r\n") != b"\r\n":
                    pass
                return body
            body += self.take(size)
            assert self.take(2) == b"\r\n", "a chunk does not end in CR LF"

    def rest(self):
        try:
            while True:
                self.more()
        except EOFError:
            taken, self.data = self.data, b""
            return taken

    def body(self, head):
        """The body of a request."""
        length = re.search(rb"^content-length: *(\d+)", head, re.I | re.M)
        if re.search(rb"^transfer-encoding: *chunked", head, re.I | re.M):
            return self.chunks()
        return self.take(int(length.group(1))) if length else b""


class Response:
    def __init__(self, reader, method="GET"):
        head = reader.head()
        self.head = head.decode("latin-1")
        self.status = int(head.split(b" ")[1])
        self.fields = {}
        for line in self.head.split("\r\n")[1:-2]:
            name, value = line.split(":", 1)
            assert name.lower() not in self.fields, f"{name} twice"
            self.fields[name.lower()] = value.strip()
        self.body = self.read_body(reader, head, method)

    def read_body(self, reader, head, method):
        if method == "HEAD" or self.status < 200 or self.status in (204, 304):
            return b""
        if "content-length" in self.fields or "transfer-encoding" in self.fields:
            return reader.body(head)
        return reader.rest()


class Client:
    """A connection to the proxy."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port), LIMIT)
        self.reader = Reader(self.socket)

    def send(self, data):
        self.socket.sendall(data)

    def receive(self, method="GET"):
        return Response(self.reader, method)

    def ask(self, data, method="GET"):
        self.send(data)
        return self.receive(method)

    def is_closed(self):
        """Waits for the end; anything else that comes is an error."""
        try:
            return self.reader.data == b"" and self.socket.recv(1) == b""
        except ConnectionResetError:
            return True

    def close(self):
        self.socket.close()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()


def exchange(port, data, method="GET"):
    with Client(port) as client:
        return client.ask(data, method)


def wait_until(what, holds, seconds=LIMIT):
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, f"waited {seconds} s in vain until {what}"
        time.sleep(0.02)


def equal(got, expected, what=""):
    assert got == expected, f"{what}: expected {expected!r}, got {got!r}"


def with_scripted(test, *options, **settings):
    """Runs `test(proxy, origin)` with a proxy in front of one scripted origin."""
    with ScriptedOrigin() as origin:
        with Proxy(cluster_text([origin.port]), *options, **settings) as proxy:
            test(proxy, origin)
