package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/cookiejar"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"plimsoll.example/plimsoll"
)

// origin answers with its name, and says in its trailers that it takes so many requests a second.
func origin(t *testing.T, name string, capacity int) *httptest.Server {
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		response.Header().Set("Trailer", "Endpoint-Load-Metrics")
		fmt.Fprint(response, name)
		response.Header().Set("Endpoint-Load-Metrics",
			fmt.Sprintf("TEXT rps_fractional=%d,application_utilization=0.5", capacity))
	}))
	t.Cleanup(server.Close)
	return server
}

func address(server *httptest.Server) string { return strings.TrimPrefix(server.URL, "http://") }

// proxied is a proxy for these origins.
func proxied(t *testing.T, policy plimsoll.Policy, origins ...*httptest.Server) (*httptest.Server, *plimsoll.Cluster) {
	t.Helper()
	config := plimsoll.Config{Name: "api", Policy: policy}
	for _, origin := range origins {
		config.Hosts = append(config.Hosts, plimsoll.HostSpec{Address: address(origin)})
	}
	cluster, err := config.Open(nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cluster.Close() })
	server := httptest.NewServer(newProxy(cluster))
	t.Cleanup(server.Close)
	return server, cluster
}

func get(t *testing.T, client *http.Client, url string) (string, *http.Response) {
	t.Helper()
	response, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%d %s, %v", response.StatusCode, text, err)
	}
	return string(text), response
}

func counts(t *testing.T, url string, requests int) map[string]int {
	t.Helper()
	answers := make(map[string]int)
	for range requests {
		name, _ := get(t, http.DefaultClient, url)
		answers[name]++
	}
	return answers
}

func TestRequestsAreSpreadAndEnd(t *testing.T) {
	proxy, cluster := proxied(t, nil, origin(t, "a", 1), origin(t, "b", 1))
	if answers := counts(t, proxy.URL, 20); answers["a"] < 9 || answers["b"] < 9 {
		t.Errorf("the answers are %v", answers)
	}
	hosts, err := cluster.Hosts()
	if err != nil || hosts[0].Active+hosts[1].Active != 0 {
		t.Errorf("requests are active after their end: %+v, %v", hosts, err)
	}
}

func TestAHostThatIsDownIsTriedOnceAndEjected(t *testing.T) {
	down := origin(t, "down", 1)
	down.Close()
	proxy, cluster := proxied(t, nil, origin(t, "up", 1), down)
	if answers := counts(t, proxy.URL, 10); answers["up"] != 10 {
		t.Errorf("the answers are %v", answers)
	}
	// It is ejected, or was: a slow machine may be past that.
	stats, err := cluster.Stats()
	if err != nil || stats["membership_change"] == 0 {
		t.Errorf("the counters are %v, %v", stats, err)
	}
	hosts, err := cluster.Hosts()
	if err != nil || hosts[1].Active != 0 {
		t.Errorf("the failed attempt is active: %+v, %v", hosts, err)
	}
}

func TestWithoutHostsTheAnswerIsThatThereAreNone(t *testing.T) {
	proxy, _ := proxied(t, nil)
	response, err := http.Get(proxy.URL)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
	if response.StatusCode != http.StatusBadGateway {
		t.Errorf("it is %d", response.StatusCode)
	}
}

func TestHostsGetWhatTheyReport(t *testing.T) {
	none, period := time.Duration(0), 100*time.Millisecond
	proxy, cluster := proxied(t, plimsoll.ClientSideWeightedRoundRobin{
		BlackoutPeriod: &none, WeightUpdatePeriod: &period,
	}, origin(t, "small", 100), origin(t, "large", 300))
	counts(t, proxy.URL, 4)
	if err := cluster.Tick(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	if answers := counts(t, proxy.URL, 40); answers["large"] < 28 || answers["large"] > 32 {
		t.Errorf("the answers are %v", answers)
	}
	_, response := get(t, http.DefaultClient, proxy.URL)
	if report, sent := response.Trailer["Endpoint-Load-Metrics"]; sent {
		t.Errorf("clients are told %q", report)
	}
}

func TestASessionStaysWithItsHost(t *testing.T) {
	minute := time.Minute
	sessions, err := plimsoll.NewHashPolicies(
		plimsoll.HashPolicy{Kind: plimsoll.HashCookie, Name: "session", TTL: &minute, Path: "/"})
	if err != nil {
		t.Fatal(err)
	}
	proxy, _ := proxied(t, plimsoll.Maglev{Hashing: plimsoll.ConsistentHashing{HashPolicies: sessions}},
		origin(t, "a", 1), origin(t, "b", 1), origin(t, "c", 1))
	for range 5 {
		jar, err := cookiejar.New(nil)
		if err != nil {
			t.Fatal(err)
		}
		client := &http.Client{Jar: jar}
		first, response := get(t, client, proxy.URL)
		if len(response.Cookies()) != 1 {
			t.Fatalf("the cookies are %v", response.Cookies())
		}
		for range 5 {
			name, response := get(t, client, proxy.URL)
			if name != first || len(response.Cookies()) != 0 {
				t.Errorf("it went to %s, and then to %s", first, name)
			}
		}
	}
}

func TestTheAdminPagesAreJSON(t *testing.T) {
	only := origin(t, "a", 1)
	_, cluster := proxied(t, nil, only)
	admin := httptest.NewServer(adminPages(cluster))
	defer admin.Close()
	for _, path := range []string{"/hosts", "/localities", "/loads", "/stats", "/explain"} {
		page, _ := get(t, http.DefaultClient, admin.URL+path)
		if !json.Valid([]byte(page)) {
			t.Errorf("%s is %s", path, page)
		}
	}
	page, _ := get(t, http.DefaultClient, admin.URL+"/explain")
	if !strings.Contains(page, address(only)) {
		t.Errorf("the explanation is %s", page)
	}
}

func TestItServesUntilItIsStopped(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- serve(ctx, "127.0.0.1:0", http.NotFoundHandler()) }()
	stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if err := run("/nowhere", "127.0.0.1:0", "127.0.0.1:0"); err == nil {
		t.Error("there is no such file")
	}
}
