"""Requests that stay open, so that hosts have active requests while others are picked."""

DELAY_MS = 8_000  # long enough for what is measured meanwhile


class Held:
    """So many requests to a cluster, each of them sent while all before it are open."""

    def __init__(self, envoy, cluster, count, headers=None):
        self._envoy = envoy
        self._active = f"cluster.{cluster}.upstream_rq_active"
        self._clients = []
        delayed = {**(headers or {}), "x-envoy-fault-delay-request": str(DELAY_MS)}
        for number in range(1, count + 1):
            self._clients.append(envoy.client())
            self._clients[-1].send(cluster, delayed)
            envoy.wait_for("an open request", lambda: self._count() == number)

    def check(self):
        """Fails unless all of them are still open."""
        if self._count() < len(self._clients):
            raise TimeoutError(f"{self._active}: {self._count()} of {len(self._clients)} left")

    def finish(self):
        """Waits for the answers, and gives the origins that they come from, in order."""
        origins = []
        for client in self._clients:
            with client:
                origins.append(client.receive().origin)
        return origins

    def _count(self):
        return self._envoy.counter(self._active)
