package plimsoll_test

import (
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"plimsoll.example/plimsoll"
)

func TestARequestStaysWithItsHost(t *testing.T) {
	cluster := opened(t, configured("MAGLEV", 5), nil)
	route := must[*plimsoll.HashPolicies](t)(plimsoll.ParseHashPolicies("- header: {header_name: x-session}\n"))
	hosts := make(map[string]bool)
	for session := range 20 {
		request := &plimsoll.Request{Header: http.Header{"X-Session": {fmt.Sprint(session)}}}
		hash := must[uint64](t)(cluster.Hash(route, request, nil))
		context := &plimsoll.PickContext{Hashed: true, Hash: hash}
		first := must[plimsoll.Pick](t)(cluster.Pick(context))
		second := must[plimsoll.Pick](t)(cluster.Pick(context))
		context.Attempt = 1
		retried := must[plimsoll.Pick](t)(cluster.Pick(context))
		if !first.SameHost(second) || first.SameHost(retried) {
			t.Errorf("session %d: %+v, %+v, and then %+v", session, first, second, retried)
		}
		hosts[cluster.Address(first)] = true
	}
	if len(hosts) < 3 {
		t.Errorf("20 sessions have %d hosts", len(hosts))
	}
}

// A hash is one without a word, except for 0.
func TestAHashCountsUnlessItIsZero(t *testing.T) {
	cluster := opened(t, configured("MAGLEV", 5), nil)
	for _, test := range []struct {
		context plimsoll.PickContext
		stays   bool
	}{
		{plimsoll.PickContext{Hash: 42}, true},
		{plimsoll.PickContext{Hash: 42, Hashed: true}, true},
		{plimsoll.PickContext{Hash: 0, Hashed: true}, true},
		{plimsoll.PickContext{}, false},
	} {
		hosts := make(map[string]bool)
		for range 50 {
			hosts[cluster.Address(must[plimsoll.Pick](t)(cluster.Pick(&test.context)))] = true
		}
		if (len(hosts) == 1) != test.stays {
			t.Errorf("%+v goes to %v", test.context, hosts)
		}
	}
}

func TestEachPartOfARequestIsFound(t *testing.T) {
	cluster := opened(t, configured("MAGLEV", 2), nil)
	request := &plimsoll.Request{
		Header:    http.Header{"Cookie": {"a=1; b=2"}},
		Authority: "example.com", Method: "GET", Path: "/cart?user=7", SourceIP: "10.0.0.7",
	}
	hashes := make(map[uint64]string)
	for _, policy := range []string{
		"header: {header_name: ':authority'}", "header: {header_name: ':method'}",
		"header: {header_name: ':path'}", "cookie: {name: b}", "query_parameter: {name: user}",
		"connection_properties: {source_ip: true}",
	} {
		route := must[*plimsoll.HashPolicies](t)(plimsoll.ParseHashPolicies("- " + policy + "\n"))
		hash := must[uint64](t)(cluster.Hash(route, request, nil))
		if other, seen := hashes[hash]; seen {
			t.Errorf("%s and %s have the hash %d", policy, other, hash)
		}
		hashes[hash] = policy
		if _, err := cluster.Hash(route, &plimsoll.Request{}, nil); err != plimsoll.ErrNoHash {
			t.Errorf("%s finds something in nothing: %v", policy, err)
		}
	}
}

func TestAClientWithoutACookieIsGivenOne(t *testing.T) {
	cluster := opened(t, configured("RING_HASH", 2), nil)
	route := must[*plimsoll.HashPolicies](t)(plimsoll.ParseHashPolicies(
		"- cookie: {name: session, ttl: 60s, path: /}\n- cookie: {name: other, ttl: 0s}\n"))
	request := &plimsoll.Request{RemoteAddress: "10.0.0.7:4711", LocalAddress: "10.0.0.1:80"}
	var cookies []string
	hash := must[uint64](t)(cluster.Hash(route, request, func(value string) { cookies = append(cookies, value) }))
	if len(cookies) != 2 || !strings.HasPrefix(cookies[0], "session=") || !strings.HasPrefix(cookies[1], "other=") {
		t.Fatalf("the cookies are %q", cookies)
	}
	var pairs []string
	for _, cookie := range cookies {
		pair, _, _ := strings.Cut(cookie, ";")
		pairs = append(pairs, pair)
	}
	request.Header = http.Header{"Cookie": {strings.Join(pairs, "; ")}}
	again := must[uint64](t)(cluster.Hash(route, request, func(value string) { t.Errorf("%q once more", value) }))
	if hash != again {
		t.Errorf("with its cookies the request has the hash %d, not %d", again, hash)
	}
	request.Header = nil
	if _, err := cluster.Hash(route, request, nil); err != plimsoll.ErrNoHash {
		t.Errorf("without anybody to set it there is a cookie: %v", err)
	}
}

func TestACookieLongerThanAnyBufferComesWhole(t *testing.T) {
	cluster := opened(t, configured("RING_HASH", 2), nil)
	name := strings.Repeat("n", 2000)
	route := must[*plimsoll.HashPolicies](t)(plimsoll.ParseHashPolicies(
		"- cookie: {name: " + name + ", ttl: 0s}\n"))
	request := &plimsoll.Request{RemoteAddress: "10.0.0.7:4711", LocalAddress: "10.0.0.1:80"}
	calls := 0
	must[uint64](t)(cluster.Hash(route, request, func(value string) {
		calls++
		if !strings.HasPrefix(value, name+"=") {
			t.Errorf("the cookie is %q", value)
		}
	}))
	if calls != 1 {
		t.Errorf("it was set %d times", calls)
	}
}

func TestARequestWithManyHeaders(t *testing.T) {
	cluster := opened(t, configured("MAGLEV", 2), nil)
	worker := working(t, cluster)
	route := must[*plimsoll.HashPolicies](t)(plimsoll.ParseHashPolicies("- header: {header_name: x-99}\n"))
	header := http.Header{}
	for i := range 100 {
		header.Set(fmt.Sprintf("x-%d", i), fmt.Sprint(i))
	}
	many := must[uint64](t)(cluster.Hash(route, &plimsoll.Request{Header: header}, nil))
	one := must[uint64](t)(worker.Hash(route, &plimsoll.Request{Header: http.Header{"X-99": {"99"}}}, nil))
	if many != one {
		t.Errorf("among others its hash is %d, alone %d", many, one)
	}
}

func TestPoliciesHashWithoutACluster(t *testing.T) {
	cluster := opened(t, configured("MAGLEV", 2), nil)
	route := must[*plimsoll.HashPolicies](t)(plimsoll.ParseHashPolicies("- cookie: {name: session}\n- query_parameter: {name: q}\n"))
	query := "q=1"
	header := &plimsoll.Request{Header: http.Header{"Cookie": {"session=a"}}, Path: "/?q=1"}
	parsed := &plimsoll.Request{Cookies: map[string]string{"session": "a"}, Path: "/?q=2", Query: &query}
	hash := must[uint64](t)(route.Hash(header, nil))
	if other := must[uint64](t)(route.Hash(parsed, nil)); other != hash {
		t.Errorf("parsed it has the hash %d, in headers %d", other, hash)
	}
	if other := must[uint64](t)(cluster.Hash(route, header, nil)); other != hash {
		t.Errorf("the cluster gives the hash %d, the policies alone %d", other, hash)
	}
	if _, err := route.Hash(&plimsoll.Request{}, nil); err != plimsoll.ErrNoHash {
		t.Errorf("nothing has a hash: %v", err)
	}
}

func TestPoliciesThatAreNone(t *testing.T) {
	for _, test := range []struct {
		policies string
		code     plimsoll.Code
	}{
		{"- {", plimsoll.ErrParse},
		{"- header: {}\n", plimsoll.ErrInvalidArgument},
		{"- header: {header_name: a, regex_rewrite: {pattern: {regex: a}, substitution: b}}\n", plimsoll.ErrUnsupported},
	} {
		if _, err := plimsoll.ParseHashPolicies(test.policies); !errors.Is(err, test.code) {
			t.Errorf("%q gives %v, not %v", test.policies, err, test.code)
		}
	}
}

func TestAPolicyThatGoesByNoHashHasNone(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 2), nil)
	route := must[*plimsoll.HashPolicies](t)(plimsoll.ParseHashPolicies("- header: {header_name: a}\n"))
	request := &plimsoll.Request{Header: http.Header{"A": {"b"}}}
	if _, err := cluster.Hash(route, request, nil); err != plimsoll.ErrNoHash {
		t.Errorf("it gives %v", err)
	}
}

func TestAPolicyFindsFilterState(t *testing.T) {
	cluster := opened(t, configured("MAGLEV", 2), nil)
	route := must[*plimsoll.HashPolicies](t)(plimsoll.ParseHashPolicies("- filter_state: {key: session}\n"))
	request := &plimsoll.Request{FilterState: map[string]uint64{"session": 77, "other": 1}}
	if hash := must[uint64](t)(cluster.Hash(route, request, nil)); hash != 77 {
		t.Errorf("the hash is %d", hash)
	}
	if _, err := cluster.Hash(route, &plimsoll.Request{}, nil); err != plimsoll.ErrNoHash {
		t.Errorf("without it there is a hash: %v", err)
	}
}

func TestAPanicOfSetCookieReachesTheCallerAndLosesNoWorker(t *testing.T) {
	cluster := opened(t, configured("RING_HASH", 2), nil)
	route := must[*plimsoll.HashPolicies](t)(plimsoll.ParseHashPolicies("- cookie: {name: c, ttl: 0s}\n"))
	request := &plimsoll.Request{RemoteAddress: "10.0.0.7:4711", LocalAddress: "10.0.0.1:80"}
	for range 100 {
		func() {
			defer func() {
				if recover() != "no" {
					t.Error("the panic is gone")
				}
			}()
			_, _ = cluster.Hash(route, request, func(string) { panic("no") })
		}()
	}
	if workers := must[map[string]uint64](t)(cluster.Stats())["plimsoll.workers"]; workers > 4 {
		t.Errorf("there are %d workers", workers)
	}
}
