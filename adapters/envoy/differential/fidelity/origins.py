"""The origins: listeners of the same Envoy that answer by themselves.

An origin says in `x-origin` which of its addresses was asked, so that an answer names the host
that was picked. Origins come in groups; a request decides by its headers what a whole group does:

| header of the request | what the origins of group N do |
|---|---|
| `x-report-N: VALUE` | report their load: `endpoint-load-metrics: VALUE` |
| `x-report-bin-N: VALUE` | the same as `endpoint-load-metrics-bin` |
| `x-fail-attempts: K` (1 or 2) | answer 503 up to attempt K, in all groups |
| `x-envoy-fault-delay-request: MS` | answer that much later, in all groups |

`/healthz` is answered with 200, or with 503 while the runtime key `unhealthy.N` is 100.
"""

import socket

GROUPS = 12
EACH = 26  # addresses in a group
LOOPBACK = "127.0.0.1"


def free_ports(count, first=11_000, last=31_000):
    """The first of so many consecutive ports that nobody listens on."""
    start = first
    while start + count <= last:
        taken = next((port for port in range(start, start + count) if not _is_free(port)), None)
        if taken is None:
            return start
        start = taken + 1
    raise RuntimeError(f"no {count} consecutive free ports from {first} to {last}")


def _is_free(port):
    with socket.socket() as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((LOOPBACK, port))
        except OSError:
            return False
        return True


class Origins:
    """Addresses of origins, in groups."""

    def __init__(self, first_port):
        self._first = first_port

    def group_of(self, address):
        """The group that an address belongs to."""
        return (int(address.rsplit(":", 1)[1]) - self._first) // EACH

    def address(self, group, index=0):
        """One address of a group."""
        if not (group < GROUPS and index < EACH):
            raise IndexError(f"origin {group}/{index}")
        return f"{LOOPBACK}:{self._first + group * EACH + index}"

    def some(self, count):
        """So many addresses, whatever their groups."""
        return [self.address(*divmod(index, EACH)) for index in range(count)]

    def listeners(self):
        """The listeners of all groups, for a bootstrap."""
        return [self._listener(group) for group in range(GROUPS)]

    def _listener(self, group):
        first, *others = [
            {"socket_address": {"address": LOOPBACK, "port_value": self._first + group * EACH + i}}
            for i in range(EACH)
        ]
        manager = connection_manager(f"origin_{group}", _routes(group), filters=[_delays()])
        return {
            "name": f"origins_{group}",
            "address": first,
            "additional_addresses": [{"address": address} for address in others],
            "filter_chains": [{"filters": [manager]}],
        }


def connection_manager(name, routes, filters=(), **virtual_host):
    """A network filter that serves HTTP by these routes."""
    extensions = "type.googleapis.com/envoy.extensions.filters"
    router = {"@type": f"{extensions}.http.router.v3.Router", "suppress_envoy_headers": False}
    return {
        "name": "http",
        "typed_config": {
            "@type": f"{extensions}.network.http_connection_manager.v3.HttpConnectionManager",
            "stat_prefix": name,
            "route_config": {
                "validate_clusters": False,
                "virtual_hosts": [
                    {"name": name, "domains": ["*"], "routes": routes, **virtual_host},
                ],
            },
            "http_filters": [*filters, {"name": "router", "typed_config": router}],
            "generate_request_id": False,
        },
    }


def _delays():
    config = {
        "@type": "type.googleapis.com/envoy.extensions.filters.http.fault.v3.HTTPFault",
        "delay": {"header_delay": {}, "percentage": {"numerator": 100}},
    }
    return {"name": "envoy.filters.http.fault", "typed_config": config}


def _routes(group):
    return [
        _route(503, [*_header("x-fail-attempts", "1"), *_header("x-envoy-attempt-count", "1")]),
        _route(503, [*_header("x-fail-attempts", "2"), *_header("x-envoy-attempt-count", "[12]")]),
        _healthz(503, group),
        _healthz(200),
        _route(200, [{"name": f"x-report-{group}", "present_match": True}],
               {"endpoint-load-metrics": f"%REQ(x-report-{group})%"}),
        _route(200, [{"name": f"x-report-bin-{group}", "present_match": True}],
               {"endpoint-load-metrics-bin": f"%REQ(x-report-bin-{group})%"}),
        _route(200, []),
    ]


def _header(name, pattern):
    return [{"name": name, "string_match": {"safe_regex": {"regex": pattern}}}]


def _route(status, headers, answer=None):
    said = {"x-origin": "%DOWNSTREAM_LOCAL_ADDRESS%", **(answer or {})}
    return {
        "match": {"prefix": "/", "headers": headers},
        "direct_response": {"status": status},
        "response_headers_to_add": [
            {"header": {"key": key, "value": value}} for key, value in said.items()
        ],
    }


def _healthz(status, group=None):
    match = {"path": "/healthz"}
    if group is not None:
        match["runtime_fraction"] = {
            "runtime_key": f"unhealthy.{group}", "default_value": {"numerator": 0},
        }
    return {"match": match, "direct_response": {"status": status}}
