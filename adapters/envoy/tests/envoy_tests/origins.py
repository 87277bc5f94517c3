"""Origins whose load reports, status and pace a test sets while they run.

One thread and one event loop for all of them; HTTP/1.1 with requests that have no body.
"""

import asyncio
import threading


class Origin:
    """A server on a free port of 127.0.0.1."""

    def __init__(self, name):
        self.name = name
        self.port = 0
        self.report = None  # the value of endpoint-load-metrics
        self.in_trailers = False
        self.status = 200
        self.check_status = 200  # of /healthz
        self.delay = 0.0
        self.requests = 0

    @property
    def address(self):
        return f"127.0.0.1:{self.port}"

    def answer(self, path):
        if path == b"/healthz":
            return f"HTTP/1.1 {self.check_status} X\r\ncontent-length: 0\r\n\r\n".encode()
        self.requests += 1
        head = f"HTTP/1.1 {self.status} X\r\nx-origin: {self.name}\r\n"
        report = f"endpoint-load-metrics: {self.report}\r\n" if self.report else ""
        if self.in_trailers and report:
            return (f"{head}transfer-encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n{report}\r\n").encode()
        return f"{head}{report}content-length: 0\r\n\r\n".encode()


class Connection(asyncio.Protocol):
    def __init__(self, origin):
        self.origin = origin
        self.data = b""

    def connection_made(self, transport):
        self.transport = transport

    def data_received(self, data):
        self.data += data
        while b"\r\n\r\n" in self.data:
            head, self.data = self.data.split(b"\r\n\r\n", 1)
            answer = self.origin.answer(head.split(b" ", 2)[1])
            if self.origin.delay:
                loop = asyncio.get_running_loop()
                loop.call_later(self.origin.delay, self.transport.write, answer)
            else:
                self.transport.write(answer)


class Origins:
    """Several origins: `origins["a1"].report = "TEXT cpu_utilization=0.5"`."""

    def __init__(self, *names):
        self.by_name = {name: Origin(name) for name in names}
        self.loop = asyncio.new_event_loop()
        self.servers = []
        self.loop.run_until_complete(self.listen())
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    async def listen(self):
        for origin in self.by_name.values():
            server = await self.loop.create_server(
                lambda origin=origin: Connection(origin), "127.0.0.1", 0, backlog=256)
            origin.port = server.sockets[0].getsockname()[1]
            self.servers.append(server)

    def __getitem__(self, name):
        return self.by_name[name]

    def __iter__(self):
        return iter(self.by_name.values())

    def counts(self):
        return {origin.name: origin.requests for origin in self}

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.loop.call_soon_threadsafe(self.loop.stop)
        self.thread.join()
        for server in self.servers:
            server.close()
        self.loop.close()
