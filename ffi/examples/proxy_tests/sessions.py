"""Sessions: requests that stay with an origin by a header or a cookie, and requests that name one."""

import re

from .rig import (
    Client, Origin, Proxy, ScriptedOrigin, cluster_text, equal, exchange, request, response,
    wait_until,
)

NAMES = ("one", "two", "three", "four")
SESSIONS = [f"session-{number}" for number in range(60)]


class Origins:
    """An origin for each of the names."""

    def __enter__(self):
        self.origins = [Origin(name) for name in NAMES]
        self.ports = [origin.port for origin in self.origins]
        return self

    def __exit__(self, *_):
        for origin in self.origins:
            origin.kill()


def origin_of(client, *fields):
    return client.ask(request("/", "GET", *fields)).fields["x-origin"]


def origins_by_header(client):
    return {name: origin_of(client, f"X-Session: {name}") for name in SESSIONS}


def check_sessions(lb_policy, *options):
    with Origins() as origins:
        text = cluster_text(origins.ports, lb_policy=lb_policy)
        with Proxy(text, "--hash-header", "x-session", *options, threads=2) as proxy:
            with Client(proxy.port) as client, Client(proxy.port) as other:
                before = origins_by_header(client)
                equal(origins_by_header(other), before, "by another connection")
                equal(set(before.values()), set(NAMES))
                left = cluster_text(origins.ports[1:], lb_policy=lb_policy)
                proxy.reload(left)
                wait_until("it is read", lambda: proxy.stat("reloads") == 1)
                after = origins_by_header(client)
                moved = {name for name in SESSIONS if after[name] != before[name]}
                gone = {name for name in SESSIONS if before[name] == NAMES[0]}
                assert gone and gone <= moved, (gone, moved)
                # Tables are filled in turns: a place or two changes hands among the others.
                assert len(moved - gone) <= 6, moved - gone
                proxy.reload(text)
                wait_until("it is back", lambda: proxy.stat("reloads") == 2)
                equal(origins_by_header(client), before, "after it came back")


def test_a_session_stays_with_its_origin_with_maglev():
    check_sessions("MAGLEV")


def test_a_session_stays_with_its_origin_with_ring_hash():
    check_sessions("RING_HASH")


def test_a_session_stays_with_its_origin_with_maglev_as_in_envoy():
    check_sessions("MAGLEV", "--behavior", "envoy")


def test_sessions_of_an_origin_that_is_dead_go_to_one_other():
    with Origins() as origins:
        text = cluster_text(origins.ports, lb_policy="MAGLEV")
        with Proxy(text, "--hash-header", "x-session") as proxy, Client(proxy.port) as client:
            before = origins_by_header(client)
            origins.origins[0].kill()
            after = origins_by_header(client)
            for name in SESSIONS:
                is_dead = before[name] == NAMES[0]
                assert (after[name] != before[name]) == is_dead, name
            equal(origins_by_header(client), after, "each time")
            assert proxy.stat("retries") > 0


def cookie_in(answer, name):
    """The value of the cookie that an answer sets."""
    field = answer.fields["set-cookie"]
    found = re.fullmatch(rf'{name}="([0-9a-f]{{16}})"; Path=/; HttpOnly', field)
    assert found, field
    return found.group(1)


def test_a_client_without_a_cookie_gets_one_that_sticks():
    with Origins() as origins:
        text = cluster_text(origins.ports, lb_policy="MAGLEV")
        with Proxy(text, "--hash-cookie", "session", threads=2) as proxy:
            seen = set()
            for _ in range(20):
                first = exchange(proxy.port, request())
                value, origin = cookie_in(first, "session"), first.fields["x-origin"]
                seen.add(origin)
                for sent in (f"session={value}", f'a=b; session="{value}"'):
                    again = exchange(proxy.port, request("/", "GET", f"Cookie: {sent}"))
                    equal(again.fields["x-origin"], origin)
                    assert "set-cookie" not in again.fields, again.head
            assert len(seen) > 1, seen


def test_a_new_cookie_stands_beside_those_of_the_origin():
    with ScriptedOrigin() as origin:
        origin.answers["/"] = response(200, b"x", "Set-Cookie: own=1")
        text = cluster_text([origin.port], lb_policy="MAGLEV")
        with Proxy(text, "--hash-cookie", "session") as proxy, Client(proxy.port) as client:
            client.send(request())
            head = client.reader.head().decode()
            equal(client.reader.take(1), b"x")
            equal(len(re.findall("^Set-Cookie: ", head, re.M)), 2, head)
            # The next request of the connection is another one, which may have no cookie to get.
            head = client.ask(request("/", "GET", "Cookie: session=1")).head
            equal(re.findall("^Set-Cookie: (.*?)\r", head, re.M), ["own=1"])


def test_a_header_goes_before_the_cookie():
    with Origins() as origins:
        text = cluster_text(origins.ports, lb_policy="MAGLEV")
        options = ("--hash-header", "x-session", "--hash-cookie", "session")
        with Proxy(text, *options) as proxy, Client(proxy.port) as client:
            answer = client.ask(request("/", "GET", "X-Session: 1"))
            assert "set-cookie" not in answer.fields, answer.head
            with_cookie = origin_of(client, "X-Session: 1", "Cookie: session=else")
            equal(with_cookie, answer.fields["x-origin"])
            cookie_in(client.ask(request()), "session")


def test_a_policy_that_needs_no_hash_sets_no_cookie():
    with Origin("one") as one:
        with Proxy(cluster_text([one.port]), "--hash-cookie", "session") as proxy:
            assert "set-cookie" not in exchange(proxy.port, request()).fields


def test_a_request_goes_to_the_origin_that_it_names():
    with Origins() as origins:
        with Proxy(cluster_text(origins.ports), "--override-header", "X-Host") as proxy, \
                Client(proxy.port) as client:
            for name, port in zip(NAMES, origins.ports):
                for _ in range(4):
                    equal(origin_of(client, f"x-host: 127.0.0.1:{port}"), name)
                equal(origin_of(client, f"x-host: 127.0.0.1:1, 127.0.0.1:{port}"), name)
            # Who is not there, and who is not named, gets the policy's.
            for fields in ((), ("x-host: 127.0.0.1:1",), ("x-host: nonsense",), ("x-host:",)):
                equal({origin_of(client, *fields) for _ in range(40)}, set(NAMES), str(fields))
            # One that is there and dead: the retry goes by policy.
            origins.origins[0].kill()
            answer = client.ask(request("/", "GET", f"x-host: 127.0.0.1:{origins.ports[0]}"))
            equal(answer.status, 200)
            assert answer.fields["x-origin"] != NAMES[0]


def test_requests_do_not_choose_their_origin_unless_the_proxy_says_so():
    with Origins() as origins:
        with Proxy(cluster_text(origins.ports)) as proxy, Client(proxy.port) as client:
            field = f"x-host: 127.0.0.1:{origins.ports[0]}"
            equal({origin_of(client, field) for _ in range(40)}, set(NAMES))


def test_names_of_headers_and_cookies_are_tokens():
    for option in ("--hash-header", "--hash-cookie", "--override-header"):
        for name in ("", 'a"b', "a b", "a" * 101):
            try:
                with Proxy(cluster_text([1]), option, name):
                    pass
            except AssertionError as error:
                assert "does not take" in str(error), error
            else:
                raise AssertionError(f"{option} took {name!r}")
