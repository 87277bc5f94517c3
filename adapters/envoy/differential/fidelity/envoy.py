"""One Envoy process on loopback: a front and its origins, with one worker thread.

With one worker there is one instance of each policy that picks, and with one connection its
picks come in the order of the requests.
"""

import contextlib
import json
import os
import re
import subprocess
import time
import urllib.parse
import urllib.request

from .client import Client
from .origins import EACH, GROUPS, LOOPBACK, Origins, connection_manager, free_ports

NODE = {"id": "node", "cluster": "fleet"}
HASH_POLICY = [{"header": {"header_name": "x-key"}}]
PATIENCE_S = 20


class Ports:
    """The ports of one run: origins and, behind them, the front."""

    def __init__(self):
        count = GROUPS * EACH
        first = free_ports(count + 1)
        self.origins = Origins(first)
        self.front = first + count


class Envoy:
    """A running Envoy."""

    def __init__(self, binary, work, ports, clusters, zone=None, runtime=None, log=None,
                 local_cluster=None, filters=(), environment=None):
        """Starts it with these clusters, and returns once it serves.

        A cluster of the type EDS gets its hosts from a file that `assign` writes. `log` are
        component log levels, `local_cluster` is the cluster of this proxy's own fleet, `filters`
        go before the front's router.
        """
        self._work = work
        self._ports = ports
        os.makedirs(work, exist_ok=True)
        config = self._path("bootstrap.json")
        _write(config, bootstrap(
            ports, [self._found(c) for c in clusters], zone, runtime, local_cluster, filters))
        command = [
            binary, "-c", config, "--concurrency", "1", "--disable-hot-restart",
            "--admin-address-path", self._path("admin"),
        ]
        if log:
            command += ["--component-log-level", log]
        with open(self._path("log"), "wb") as log_file:
            self._process = subprocess.Popen(
                command, stdout=log_file, stderr=log_file,
                env={**os.environ, **(environment or {})})
        try:
            self._wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.stop()

    def stop(self):
        self._process.kill()
        self._process.wait()

    def client(self):
        return Client(self._ports.front)

    def assign(self, assignment):
        """Gives a cluster of the type EDS its hosts."""
        self._write_assignment(assignment["cluster_name"], assignment)

    def stats(self, prefix):
        """Counters and gauges whose names begin so, without that."""
        pattern = urllib.parse.quote("^" + re.escape(prefix))
        lines = self.admin(f"/stats?filter={pattern}").decode().splitlines()
        values = (line.rsplit(": ", 1) for line in lines)
        return {name[len(prefix):]: int(value) for name, value in values if value.isdigit()}

    def counter(self, name):
        return self.stats(name).get("", 0)

    def all_hosts(self):
        """What the admin interface says of hosts: by cluster, by address."""
        everything = json.loads(self.admin("/clusters?format=json"))
        return {
            status["name"]: {
                "{address}:{port_value}".format(**host["address"]["socket_address"]): host
                for host in status.get("host_statuses", [])
            }
            for status in everything["cluster_statuses"]
        }

    def set_runtime(self, **values):
        """Sets runtime keys (dots for double underscores)."""
        query = urllib.parse.urlencode({k.replace("__", "."): v for k, v in values.items()})
        self.admin(f"/runtime_modify?{query}", method="POST")

    def log(self):
        with open(self._path("log"), encoding="utf-8", errors="replace") as log:
            return log.read()

    def admin(self, path, method="GET"):
        with open(self._path("admin"), encoding="ascii") as file:
            address = file.read().strip()
        request = urllib.request.Request(f"http://{address}{path}", method=method)
        with urllib.request.urlopen(request, timeout=PATIENCE_S) as answer:
            return answer.read()

    def wait_for(self, what, condition):
        """Waits until a condition holds, and gives what it returned."""
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            result = condition()
            if result:
                return result
            time.sleep(0.01)
        raise TimeoutError(f"waited in vain for {what}")

    def _wait_until_ready(self):
        def is_ready():
            if self._process.poll() is not None:
                raise RuntimeError(f"Envoy ended at once: {last_error(self.log())}")
            with contextlib.suppress(OSError):
                return self.admin("/ready") == b"LIVE\n"
            return False

        self.wait_for("Envoy", is_ready)

    def _found(self, cluster):
        """The cluster with a place to find its hosts, if they come from a file."""
        if cluster.get("type") != "EDS":
            return cluster
        cluster = dict(cluster)
        name = cluster["name"]
        path = self._write_assignment(name, cluster.pop("load_assignment"))
        watched = {"path": path, "watched_directory": {"path": os.path.dirname(path)}}
        source = {"resource_api_version": "V3", "path_config_source": watched}
        cluster["eds_cluster_config"] = {"eds_config": source}
        return cluster

    def _write_assignment(self, name, assignment):
        folder = self._path(f"eds-{name}")
        os.makedirs(folder, exist_ok=True)
        path = os.path.join(folder, "assignment.json")
        kind = "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment"
        _write(path, {"resources": [{"@type": kind, **assignment}]})
        return path

    def _path(self, name):
        return os.path.join(self._work, name)


def bootstrap(ports, clusters, zone=None, runtime=None, local_cluster=None, filters=()):
    """The bootstrap of a front to these clusters, and of all origins.

    A request names its cluster in `x-cluster` and is hashed by `x-key`; one with
    `x-fail-attempts` is retried, on another host.
    """
    node = dict(NODE)
    if zone:
        node["locality"] = {"region": "here", "zone": zone, "sub_zone": "rack"}
    front = {
        "name": "front",
        "address": {"socket_address": {"address": LOOPBACK, "port_value": ports.front}},
        "filter_chains": [{"filters": [connection_manager(
            "front", _front_routes(), filters, include_request_attempt_count=True)]}],
    }
    return {
        "node": node,
        "admin": {"address": {"socket_address": {"address": LOOPBACK, "port_value": 0}}},
        "layered_runtime": {"layers": [
            {"name": "static", "static_layer": runtime or {}},
            {"name": "admin", "admin_layer": {}},
        ]},
        "cluster_manager": {"local_cluster_name": local_cluster or ""},
        "static_resources": {
            "listeners": [front, *ports.origins.listeners()],
            "clusters": clusters,
        },
    }


RETRIES = 5  # host_selection_retry_max_attempts


def _front_routes():
    to_cluster = {"cluster_header": "x-cluster", "hash_policy": HASH_POLICY, "timeout": "15s"}
    previous = "envoy.extensions.retry.host.previous_hosts.v3.PreviousHostsPredicate"
    retry = {
        "retry_on": "5xx",
        "num_retries": 2,
        "retry_back_off": {"base_interval": "0.001s", "max_interval": "0.001s"},
        "retry_host_predicate": [{
            "name": "envoy.retry_host_predicates.previous_hosts",
            "typed_config": {"@type": f"type.googleapis.com/{previous}"},
        }],
        "host_selection_retry_max_attempts": RETRIES,
    }
    failing = [{"name": "x-fail-attempts", "present_match": True}]
    return [
        {"match": {"prefix": "/", "headers": failing},
         "route": {**to_cluster, "retry_policy": retry}},
        {"match": {"prefix": "/"}, "route": to_cluster},
    ]


def validate(binary, work, cluster):
    """What Envoy finds wrong with a cluster; None if it accepts it."""
    os.makedirs(work, exist_ok=True)
    path = os.path.join(work, "validated.json")
    admin = {"address": {"socket_address": {"address": LOOPBACK, "port_value": 0}}}
    _write(path, {"node": NODE, "admin": admin, "static_resources": {"clusters": [cluster]}})
    result = subprocess.run(
        [binary, "--mode", "validate", "-c", path], capture_output=True, text=True, check=False,
        timeout=PATIENCE_S, errors="replace")
    if result.returncode == 0:
        return None
    if result.returncode < 0:
        return f"ended by signal {-result.returncode}"
    return last_error(result.stderr)


def last_error(log):
    """The last thing that Envoy complained about."""
    lines = log.splitlines()
    complaint = re.compile(r"\[[^]]*\]\[\d+\]\[(critical|error)")
    starts = [number for number, line in enumerate(lines) if complaint.match(line)]
    text = "\n".join(lines[starts[-1]:] if starts else lines[-5:])
    return re.sub(r"^(\[[^]]*\])+ (\[[^]]*\] )?", "", text)


def _write(path, message):
    """Replaces a file in one step, as watchers of its folder expect."""
    fresh = path + ".new"
    with open(fresh, "w", encoding="utf-8") as file:
        json.dump(message, file, indent=1)
    os.replace(fresh, path)
