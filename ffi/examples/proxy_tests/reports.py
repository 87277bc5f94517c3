"""What hosts say of their load: how it gets to the library, and who else sees it."""

import time

from .rig import (
    Client, Origin, Proxy, ScriptedOrigin, cluster_text, equal, exchange, request, response,
    wait_until,
)

BY_REPORTS = """load_balancing_policy:
  policies:
    - typed_extension_config:
        name: envoy.load_balancing_policies.client_side_weighted_round_robin
        typed_config:
          "@type": type.googleapis.com/envoy.extensions.load_balancing_policies\
.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin
          blackout_period: 0s
          weight_update_period: 0.1s"""

QUARTER = "TEXT rps_fractional=100,cpu_utilization=0.25"
HALF = "TEXT rps_fractional=100,cpu_utilization=0.5"
HALF_BINARY = "CQAAAAAAAOA/MQAAAAAAAFlA"


def with_reporting(test, *options):
    """Runs `test(proxy, origin)` with weights by reports, and one scripted origin."""
    with ScriptedOrigin() as origin:
        with Proxy(cluster_text([origin.port], extra=BY_REPORTS), *options) as proxy:
            test(proxy, origin)


def counted(proxy, what):
    return proxy.stats().get("plimsoll.load_reports_" + what, 0)


def shown(proxy, port):
    """A host's last report as the admin page shows it: utilization, age in seconds, weight."""
    lines = (line.split() for line in proxy.page("/weights").body.decode().splitlines())
    return next(line[5:] for line in lines if line[0] == f"127.0.0.1:{port}")


def chunked(trailers, *fields):
    head = ["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", *fields]
    return "\r\n".join(head + ["", "2", "ok", "0", *trailers, "", ""]).encode("latin-1")


def test_clients_do_not_see_load_reports():
    def run(proxy, origin):
        origin.answers["/"] = response(200, b"ok", f"Endpoint-Load-Metrics: {HALF}",
                                       f"endpoint-load-metrics-bin: {HALF_BINARY}", "X-Kept: 1")
        equal(exchange(proxy.port, request()).fields, {"x-kept": "1", "content-length": "2"})
        equal(counted(proxy, "accepted"), 1)
        utilization, age, weight = shown(proxy, origin.port)
        equal((float(utilization), float(weight)), (0.5, 200.0))
        assert 0 <= float(age) < 10, age
    with_reporting(run)


def test_clients_see_load_reports_where_they_are_to():
    def run(proxy, origin):
        origin.answers["/"] = response(200, b"ok", f"Endpoint-Load-Metrics: {HALF}",
                                       f"endpoint-load-metrics-bin: {HALF_BINARY}")
        fields = exchange(proxy.port, request()).fields
        equal(fields["endpoint-load-metrics"], HALF)
        equal(fields["endpoint-load-metrics-bin"], HALF_BINARY)
    with_reporting(run, "--load-reports", "keep")


def check_trailers(expected, *options):
    def run(proxy, origin):
        origin.answers["/trailers"] = chunked(["X: 1", f"endpoint-load-metrics-bin: {HALF_BINARY}"])
        origin.answers["/both"] = chunked(
            [f"endpoint-load-metrics: {HALF}"], f"Endpoint-Load-Metrics: {QUARTER}")
        with Client(proxy.port) as client:
            answer = client.ask(request("/trailers"))
            equal((answer.body, answer.fields), (b"ok", {"transfer-encoding": "chunked"}))
            equal(float(shown(proxy, origin.port)[0]), 0.5, "trailers")
            answer = client.ask(request("/both"))
            equal((answer.body, answer.fields), (b"ok", {"transfer-encoding": "chunked"}))
            equal(float(shown(proxy, origin.port)[0]), expected, "both")
        equal(origin.connections, 1)
    with_reporting(run, *options)


def test_trailers_have_the_last_word():
    check_trailers(0.5)


def test_headers_have_the_first_word_as_in_envoy():
    check_trailers(0.25, "--behavior", "envoy")


def test_a_report_counts_after_a_long_time_without_picks():
    def run(proxy, origin):
        def late(connection, _):
            time.sleep(0.5)  # idle workers let go of their snapshot after 0.2 s
            connection.sendall(response(200, b"ok", f"endpoint-load-metrics: {HALF}"))
        origin.answers["/late"] = late
        equal(exchange(proxy.port, request("/late")).status, 200)
        equal(counted(proxy, "accepted"), 1)
    with_reporting(run)


def test_garbage_is_counted_and_harmless():
    garbage = ["", "garbage", "TEXT", "TEXT \xff=\xfe", "JSON {", "BIN !", "TEXT " + "x=1," * 1000]

    def run(proxy, origin):
        with Client(proxy.port) as client:
            for index, value in enumerate(garbage):
                origin.answers["/"] = response(200, b"ok").replace(
                    b"\r\n\r\n", b"\r\nendpoint-load-metrics: " + value.encode("latin-1")
                    + b"\r\n\r\n")
                equal(client.ask(request()).fields, {"content-length": "2"}, value)
                equal(counted(proxy, "unreadable"), index + 1, value)
            # Trailers that are not even fields: nobody is told, and the body is whole.
            for trailer in ("no colon", " folded: 1", "endpoint-load-metrics : TEXT eps=1"):
                origin.answers["/"] = chunked([trailer])
                equal(client.ask(request()).body, b"ok", trailer)
            origin.answers["/"] = chunked([f"X-{i}: 1" for i in range(101)])
            equal(client.ask(request()).body, b"ok", "too many trailers")
            equal(shown(proxy, origin.port), ["-", "-", "-"])
        equal((counted(proxy, "unreadable"), counted(proxy, "accepted")), (len(garbage), 0))
    with_reporting(run)


def test_a_policy_that_wants_no_reports_does_not_mind_them():
    with Origin("one", capacity=100) as one:
        with Proxy(cluster_text([one.port])) as proxy, Client(proxy.port) as client:
            equal(client.ask(request()).status, 200)
            equal(counted(proxy, "ignored"), 1)
            equal(shown(proxy, one.port), ["-", "-", "-"])


def check_weights(*options):
    with Origin("small", capacity=100) as small, Origin("large", capacity=300) as large:
        text = cluster_text([small.port, large.port], extra=BY_REPORTS)
        with Proxy(text, *options) as proxy, Client(proxy.port) as client:
            # Whatever the load, its part of the capacity is what the weight undoes.
            wait_until("both have reported", lambda: client.ask(request()).status == 200
                       and "-" not in shown(proxy, small.port) + shown(proxy, large.port))
            weights = [float(shown(proxy, origin.port)[2]) for origin in (small, large)]
            assert abs(weights[0] - 100) <= 1 and abs(weights[1] - 300) <= 1, weights
            passes = proxy.stats()["plimsoll.weight_passes"]
            wait_until("weights were taken over",
                       lambda: proxy.stats()["plimsoll.weight_passes"] >= passes + 2)
            seen = [client.ask(request()).fields["x-origin"] for _ in range(200)]
            # 50 of 200. Native: 6 picks off at most, where the sequence starts and where it ends.
            # Envoy: a schedule, which an update in between may start anew.
            assert 35 <= seen.count("small") <= 65, seen.count("small")


def test_weights_follow_reports():
    check_weights()


def test_weights_follow_reports_as_in_envoy():
    check_weights("--behavior", "envoy")
