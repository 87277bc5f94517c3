"""Envoy as a process, and its configuration in pieces.

Everything binds 127.0.0.1 on free ports, every wait has a limit, and a process that a test started is
ended by it.
"""

import http.client
import json
import os
import pathlib
import re
import subprocess
import tempfile
import time

# Set once, before any test runs.
ENVOY = ""    # the binary
MODULE = ""   # the folder with libplimsoll_envoy.so
LOAD = ""     # the load driver, ffi/examples/load.c

LIMIT = 20.0
TYPES = "type.googleapis.com/envoy.extensions."
NODE = {"region": "r", "zone": "a", "sub_zone": "s"}


def wait_until(what, condition, limit=LIMIT):
    deadline = time.monotonic() + limit
    while not condition():
        if time.monotonic() > deadline:
            raise AssertionError(f"waited in vain until {what}")
        time.sleep(0.02)


def equal(left, right):
    assert left == right, f"{left!r} is not {right!r}"


def near(value, expected, tolerance, what=""):
    assert abs(value - expected) <= tolerance, f"{what} {value:.4f}, not {expected} +- {tolerance}"


def is_1_39():
    version = subprocess.run([ENVOY, "--version"], capture_output=True, text=True, check=True)
    return "/1.39." in version.stdout


def module():
    return {"name": "plimsoll_envoy", "do_not_close": True, "metrics_namespace": "plimsoll"}


def policy(kind, **config):
    """One of Envoy's own policies in a `load_balancing_policy`."""
    message = "".join(word.capitalize() for word in kind.split("_"))
    return {"policies": [{"typed_extension_config": {
        "name": f"envoy.load_balancing_policies.{kind}",
        "typed_config": {
            "@type": f"{TYPES}load_balancing_policies.{kind}.v3.{message}", **config}}}]}


def plimsoll(**config):
    """Our policy, with this configuration, in a `load_balancing_policy`."""
    return {"policies": [{"typed_extension_config": {
        "name": "envoy.load_balancing_policies.dynamic_modules",
        "typed_config": {
            "@type": TYPES + "load_balancing_policies.dynamic_modules.v3."
                             "DynamicModulesLoadBalancerConfig",
            "dynamic_module_config": module(),
            "lb_policy_name": "plimsoll",
            "lb_policy_config": {
                "@type": "type.googleapis.com/google.protobuf.Struct", "value": config}}}}]}


def our_filter(name):
    return {"name": f"plimsoll.{name}", "typed_config": {
        "@type": TYPES + "filters.http.dynamic_modules.v3.DynamicModuleFilter",
        "dynamic_module_config": module(), "filter_name": name}}


def upstream_filters(*filters):
    """The `typed_extension_protocol_options` of a cluster with these upstream filters."""
    codec = {"name": "envoy.filters.http.upstream_codec", "typed_config": {
        "@type": TYPES + "filters.http.upstream_codec.v3.UpstreamCodec"}}
    return {"envoy.extensions.upstreams.http.v3.HttpProtocolOptions": {
        "@type": TYPES + "upstreams.http.v3.HttpProtocolOptions",
        "explicit_http_config": {"http_protocol_options": {"enable_trailers": True}},
        "http_filters": [*filters, codec]}}


def cluster(lb, name="be", orca=True, **more):
    """An EDS cluster with the policy `lb`; ours needs the filter `orca`."""
    result = {
        "name": name,
        "type": "EDS",
        "connect_timeout": "1s",
        "eds_cluster_config": {"eds_config": {
            "resource_api_version": "V3",
            "path_config_source": {"path": f"DIRECTORY/{name}.json",
                                   "watched_directory": {"path": "DIRECTORY"}}}},
        "load_balancing_policy": lb,
        "circuit_breakers": {"thresholds": [
            {"max_connections": 10000, "max_requests": 10000, "max_pending_requests": 10000}]},
    }
    if orca:
        result["typed_extension_protocol_options"] = upstream_filters(our_filter("orca"))
    return {**result, **more}


def endpoint(address, weight=1, health="UNKNOWN"):
    host, port = address.rsplit(":", 1)
    return {"endpoint": {"address": {"socket_address": {"address": host, "port_value": int(port)}}},
            "load_balancing_weight": weight, "health_status": health}


def group(zone, *endpoints, priority=0, weight=None):
    """The endpoints of one zone."""
    result = {"locality": {**NODE, "zone": zone}, "priority": priority, "lb_endpoints": endpoints}
    return {**result, "load_balancing_weight": weight} if weight else result


def bootstrap(*clusters, filters=(), route=None, by_cds=False):
    """A listener for each cluster, and the clusters, if they do not come by CDS."""
    def listener(it):
        name = it["name"]
        router = {"name": "envoy.filters.http.router", "typed_config": {
            "@type": TYPES + "filters.http.router.v3.Router"}}
        return {
            "name": name,
            "address": {"socket_address": {"address": "127.0.0.1", "port_value": 0}},
            "filter_chains": [{"filters": [{"name": "hcm", "typed_config": {
                "@type": TYPES + "filters.network.http_connection_manager.v3."
                                 "HttpConnectionManager",
                "stat_prefix": "in",
                "route_config": {"validate_clusters": False, "virtual_hosts": [{
                    "name": "v", "domains": ["*"],
                    "routes": [{"match": {"prefix": "/"},
                                "route": {"cluster": name, "timeout": "5s", **(route or {})}}]}]},
                "http_filters": [*filters, router]}}]}]}
    monitor = "envoy.resource_monitors.global_downstream_max_connections"
    result = {
        "node": {"id": "n", "cluster": "c", "locality": NODE},
        "admin": {"address": {"socket_address": {"address": "127.0.0.1", "port_value": 0}}},
        "overload_manager": {"resource_monitors": [{"name": monitor, "typed_config": {
            "@type": TYPES + "resource_monitors.downstream_connections.v3."
                             "DownstreamConnectionsConfig",
            "max_active_downstream_connections": 10000}}]},
        "static_resources": {"listeners": [listener(it) for it in clusters]},
    }
    if by_cds:
        result["dynamic_resources"] = {"cds_config": {
            "resource_api_version": "V3",
            "path_config_source": {"path": "DIRECTORY/clusters.json",
                                   "watched_directory": {"path": "DIRECTORY"}}}}
    else:
        result["static_resources"]["clusters"] = list(clusters)
    return result


class Envoy:
    """A running Envoy; leaving the context ends it and looks through its log."""

    def __init__(self, config, hosts=None, concurrency=2, clusters=()):
        self.directory = tempfile.TemporaryDirectory(prefix="plimsoll-envoy-")
        self.path = pathlib.Path(self.directory.name)
        self.log_path = self.path / "log"
        self.ports = {}
        for name, groups in (hosts or {}).items():
            self.assign(name, *groups)
        if clusters:
            self.configure(*clusters)
        self.process = self.start(config, "--concurrency", str(concurrency))

    def start(self, config, *options):
        text = json.dumps(config).replace("DIRECTORY", str(self.path))
        (self.path / "bootstrap.json").write_text(text)
        self.admin_path = self.path / "admin"
        environment = {**os.environ, "ENVOY_DYNAMIC_MODULES_SEARCH_PATH": MODULE}
        with open(self.log_path, "w") as log:
            return subprocess.Popen(
                [ENVOY, "-c", str(self.path / "bootstrap.json"), "--disable-hot-restart",
                 "--admin-address-path", str(self.admin_path), "--log-level", "warning",
                 "--component-log-level", "dynamic_modules:info", *options],
                stdout=log, stderr=subprocess.STDOUT, env=environment)

    def assign(self, name, *groups, **of_policy):
        """Replaces the hosts of a cluster, as a control plane does."""
        resource = {"@type": "type.googleapis.com/envoy.config.endpoint.v3.ClusterLoadAssignment",
                    "cluster_name": name, "endpoints": groups}
        if of_policy:
            resource["policy"] = of_policy
        self.write(name, [resource])

    def configure(self, *clusters):
        """Replaces the clusters, where they come by CDS."""
        kind = {"@type": "type.googleapis.com/envoy.config.cluster.v3.Cluster"}
        self.write("clusters", [{**kind, **it} for it in clusters])

    def write(self, name, resources):
        text = json.dumps({"resources": resources}).replace("DIRECTORY", str(self.path))
        new = self.path / f"{name}.new"
        new.write_text(text)
        new.rename(self.path / f"{name}.json")

    def ready(self):
        def is_live():
            assert self.process.poll() is None, f"Envoy ended:\n{self.log()[-4000:]}"
            try:
                return self.admin("/ready").strip() == "LIVE"
            except (OSError, ValueError):  # there is no admin page yet, or nobody knows where
                return False
        wait_until("Envoy is live", is_live)
        listeners = json.loads(self.admin("/listeners?format=json"))["listener_statuses"]
        self.ports = {it["name"]: it["local_address"]["socket_address"]["port_value"]
                      for it in listeners}
        return self

    def admin(self, path):
        host, port = self.admin_path.read_text().strip().rsplit(":", 1)
        connection = http.client.HTTPConnection(host, int(port), timeout=LIMIT)
        try:
            connection.request("GET", path)
            return connection.getresponse().read().decode()
        finally:
            connection.close()

    def stats(self, pattern):
        text = self.admin(f"/stats?filter={pattern}")
        pairs = (line.split(": ", 1) for line in text.splitlines() if ": " in line)
        return {name: int(value) for name, value in pairs if value.isdigit()}

    def stat(self, name):
        return self.stats(re.escape(name).replace("\\", "%5C")).get(name, 0)

    def log(self):
        return self.log_path.read_text()

    def complaints(self):
        """The lines of the log that warn of something."""
        return [line for line in self.log().splitlines()
                if re.search(r"\]\[(warning|error|critical)\]", line)]

    def load(self, name="be", **options):
        """Sends requests, and returns who answered with what."""
        command = [LOAD, "--target", f"127.0.0.1:{self.ports[name]}"]
        for option, value in options.items():
            command += [f"--{option}", str(value)]
        return Answers(subprocess.run(command, capture_output=True, text=True, check=True,
                                      timeout=900).stdout)

    def loading(self, seconds, name="be", connections=8):
        """A load in the background; `Answers(process.communicate()[0])` is what came of it."""
        return subprocess.Popen(
            [LOAD, "--target", f"127.0.0.1:{self.ports[name]}", "--seconds", str(seconds),
             "--connections", str(connections)], stdout=subprocess.PIPE, text=True)

    def get(self, name="be", path="/", **headers):
        connection = http.client.HTTPConnection("127.0.0.1", self.ports[name], timeout=LIMIT)
        try:
            connection.request("GET", path, headers=headers)
            answer = connection.getresponse()
            answer.read()
            return answer.status, answer.getheader("x-origin")
        finally:
            connection.close()

    def resident_kib(self):
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text()
        return int(re.search(r"VmRSS:\s+(\d+)", status).group(1))

    def threads(self):
        """The names of its threads."""
        names = []
        for task in pathlib.Path(f"/proc/{self.process.pid}/task").iterdir():
            try:
                names.append((task / "comm").read_text().strip())
            except OSError:  # it has just ended
                continue
        return names

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        return self.process.wait(LIMIT)

    def __enter__(self):
        try:
            return self.ready()
        except BaseException:
            self.close()
            raise

    def __exit__(self, kind, *_):
        try:
            status = self.stop()
            if kind is None:
                assert status == 0, f"Envoy ended with {status}:\n{self.log()[-4000:]}"
        finally:
            self.close()

    def close(self):
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait(LIMIT)
        self.directory.cleanup()


class Answers:
    """What the load driver printed."""

    def __init__(self, text):
        def pairs(line):
            return dict(word.split("=", 1) for word in line.split()[1:])
        lines = [line for line in text.splitlines() if line]
        of_kind = lambda kind: [pairs(line) for line in lines if line.startswith(kind + " ")]
        self.by_origin = {it["name"]: int(it["count"]) for it in of_kind("origin")}
        self.by_status = {int(it["code"]): int(it["count"]) for it in of_kind("status")}
        self.total = int(of_kind("total")[0]["requests"])
        self.failed = int(of_kind("total")[0]["failed"])
        self.per_second = float(of_kind("total")[0]["per_second"])

    def share(self, *names):
        return sum(self.by_origin.get(name, 0) for name in names) / max(self.total, 1)

    def all_good(self):
        assert self.failed == 0 and set(self.by_status) == {200}, (self.by_status, self.failed)


def validate(config):
    """The exit status and the log of an Envoy that only checks a configuration."""
    with tempfile.TemporaryDirectory(prefix="plimsoll-envoy-") as directory:
        path = pathlib.Path(directory) / "bootstrap.json"
        (path.parent / "be.json").write_text('{"resources": []}')
        path.write_text(json.dumps(config).replace("DIRECTORY", directory))
        environment = {**os.environ, "ENVOY_DYNAMIC_MODULES_SEARCH_PATH": MODULE}
        result = subprocess.run(
            [ENVOY, "--mode", "validate", "-c", str(path), "--log-level", "error"],
            capture_output=True, text=True, env=environment, timeout=60)
        return result.returncode, result.stdout + result.stderr
