package plimsoll_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"plimsoll.example/plimsoll"
)

// start is when tests begin, by a clock of their own.
var start = time.Unix(1_000_000, 0)

// opened opens a cluster that is closed after the test.
func opened(t testing.TB, config string, options *plimsoll.Options) *plimsoll.Cluster {
	t.Helper()
	if options == nil {
		options = &plimsoll.Options{}
	}
	if options.Seed == nil {
		seed := uint64(1)
		options.Seed = &seed
	}
	if options.Now.IsZero() {
		options.Now = start
	}
	cluster, err := plimsoll.Open(config, options)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cluster.Close() })
	return cluster
}

// configured is a cluster file with this policy and so many hosts, 10.0.0.1:80 and on.
func configured(policy string, hosts int) string {
	var text strings.Builder
	fmt.Fprintf(&text, "name: api\nlb_policy: %s\nload_assignment: {cluster_name: api, endpoints: [{lb_endpoints: [",
		policy)
	for i := range hosts {
		fmt.Fprintf(&text, "{endpoint: {address: {socket_address: {address: 10.0.0.%d, port_value: 80}}}},", i+1)
	}
	text.WriteString("]}]}\n")
	return text.String()
}

func host(i int) string { return fmt.Sprintf("10.0.0.%d:80", i) }

// working is a worker that is closed after the test.
func working(t testing.TB, cluster *plimsoll.Cluster) *plimsoll.Worker {
	t.Helper()
	worker, err := cluster.NewWorker()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { worker.Close() })
	return worker
}

// must is the value of a call that does not fail.
func must[T any](t testing.TB) func(value T, err error) T {
	return func(value T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

func ok(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// counted is how often each host was picked.
func counted(t testing.TB, cluster *plimsoll.Cluster, picks int) map[string]int {
	t.Helper()
	counts := make(map[string]int)
	for range picks {
		pick, err := cluster.Pick(nil)
		ok(t, err)
		counts[cluster.Address(pick)]++
		ok(t, cluster.Done(pick, plimsoll.Success))
	}
	return counts
}
