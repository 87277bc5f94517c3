package plimsoll_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll.example/plimsoll"
)

func TestAClusterOfAFilePicksItsHosts(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 3), nil)
	counts := counted(t, cluster, 300)
	for i := 1; i <= 3; i++ {
		if counts[host(i)] != 100 {
			t.Errorf("%s was picked %d times of 300", host(i), counts[host(i)])
		}
	}
}

func TestAMistakeInTheFileNamesTheField(t *testing.T) {
	_, err := plimsoll.Open("name: api\ncommon_lb_config: {healthy_panic_threshold: {value: 101}}\n", nil)
	var failed *plimsoll.Error
	if !errors.As(err, &failed) || !errors.Is(err, plimsoll.ErrInvalidArgument) {
		t.Fatalf("%v is no invalid argument", err)
	}
	if failed.Field != "common_lb_config.healthy_panic_threshold" || failed.Message == "" {
		t.Errorf("the field is %q, the message %q", failed.Field, failed.Message)
	}
	if !strings.Contains(err.Error(), failed.Field) || !strings.Contains(err.Error(), failed.Message) {
		t.Errorf("%v says neither where nor why", err)
	}
}

func TestEachKindOfMistakeHasItsCode(t *testing.T) {
	for _, test := range []struct {
		config string
		code   plimsoll.Code
	}{
		{"{", plimsoll.ErrParse},
		{"name: api\nfrobnicate: 1\n", plimsoll.ErrInvalidArgument},
		{"name: api\nlb_subset_config: {subset_selectors: [{keys: [a]}]}\n", plimsoll.ErrUnsupported},
		{"name: \xff\n", plimsoll.ErrInvalidArgument},
		{"", plimsoll.ErrInvalidArgument},
	} {
		if _, err := plimsoll.Open(test.config, nil); !errors.Is(err, test.code) {
			t.Errorf("%q gives %v, not %v", test.config, err, test.code)
		}
	}
}

func TestANilThatWillNotDoIsNamed(t *testing.T) {
	cluster := opened(t, configured("MAGLEV", 2), nil)
	worker := working(t, cluster)
	var config *plimsoll.Config
	var policies *plimsoll.HashPolicies
	for _, test := range []struct {
		argument string
		call     func() error
	}{
		{"config", func() error { _, err := config.Open(nil); return err }},
		{"config", func() error { _, err := cluster.Configure(config); return err }},
		{"assignment", func() error { _, err := cluster.ConfigureHosts(nil); return err }},
		{"request", func() error { _, err := cluster.Hash(nil, nil, nil); return err }},
		{"request", func() error { _, err := worker.Hash(nil, nil, nil); return err }},
		{"request", func() error { _, err := byUser(t).Hash(nil, nil); return err }},
		{"policies", func() error { _, err := policies.Hash(&plimsoll.Request{}, nil); return err }},
		{"clusters[1]", func() error {
			_, err := plimsoll.Prometheus(plimsoll.PrometheusOptions{}, cluster, nil)
			return err
		}},
	} {
		var failed *plimsoll.Error
		if err := test.call(); !errors.As(err, &failed) || failed.Code != plimsoll.ErrInvalidArgument ||
			failed.Field != test.argument || failed.Error() != "plimsoll: "+test.argument+": it is nil" {
			t.Errorf("%s: %v", test.argument, err)
		}
	}
	if hosts := must[[]plimsoll.Host](t)(cluster.Hosts()); len(hosts) != 2 {
		t.Errorf("there are %d hosts", len(hosts))
	}
}

func TestCodesHaveTheWordsOfReplays(t *testing.T) {
	for code, word := range map[plimsoll.Code]string{
		plimsoll.ErrNoHost: "no_host", plimsoll.ErrParse: "parse_error",
		plimsoll.ErrOverrideNotFound: "override_not_found", plimsoll.Code(9999): "unknown",
	} {
		if code.String() != word || code.Error() != "plimsoll: "+word {
			t.Errorf("%d is %q, and not %q", uint32(code), code, word)
		}
	}
}

func TestReloadTakesSettingsAndHostsAndLeavesTheClusterAloneIfItFails(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 2), nil)
	applied := must[plimsoll.Applied](t)(cluster.Reload(configured("RANDOM", 3)))
	if !applied.Published {
		t.Error("nothing was published")
	}
	if _, err := cluster.Reload("name: api\nlb_policy: 77\n"); !errors.Is(err, plimsoll.ErrInvalidArgument) {
		t.Errorf("a policy that is none gives %v", err)
	}
	if hosts := must[[]plimsoll.Host](t)(cluster.Hosts()); len(hosts) != 3 {
		t.Errorf("there are %d hosts", len(hosts))
	}
	again := must[plimsoll.Applied](t)(cluster.Reload(configured("RANDOM", 3)))
	if again.Published || again.Version != applied.Version {
		t.Errorf("the same again made %+v of %+v", again, applied)
	}
}

func TestAssignReplacesHosts(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 2), nil)
	must[plimsoll.Applied](t)(cluster.Assign(`{"cluster_name": "api", "endpoints": [{"lb_endpoints": [
		{"endpoint": {"address": {"socket_address": {"address": "10.0.0.9", "port_value": 80}}}}]}]}`))
	if counts := counted(t, cluster, 10); counts[host(9)] != 10 {
		t.Errorf("picks go to %v", counts)
	}
}

func TestUpdateAppliesAllChangesOrNone(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 2), nil)
	before := must[plimsoll.Applied](t)(cluster.Update())
	_, err := cluster.Update(
		plimsoll.Upsert(plimsoll.HostSpec{Address: host(3)}),
		plimsoll.Upsert(plimsoll.HostSpec{Address: host(4), Priority: 129}),
	)
	var failed *plimsoll.Error
	if !errors.As(err, &failed) || failed.Code != plimsoll.ErrInvalidArgument ||
		failed.Field != "changes[1].priority" {
		t.Errorf("a priority of 129 gives %v", err)
	}
	if _, err := cluster.Update(plimsoll.Remove("nowhere:1")); !errors.Is(err, plimsoll.ErrUnknownHost) {
		t.Errorf("a host that is not there gives %v", err)
	}
	after := must[plimsoll.Applied](t)(cluster.Update(
		plimsoll.Remove(host(1)),
		plimsoll.Upsert(plimsoll.HostSpec{
			Address: host(3), Hostname: "three", Weight: 7, HashKey: "key", Health: plimsoll.EDSDegraded,
			Locality: plimsoll.Locality{Region: "r", Zone: "z", SubZone: "s"}, Priority: 1,
		}),
		plimsoll.LearnHealth(host(2), plimsoll.HealthEject),
	))
	if after.Version != before.Version+1 || !after.Published {
		t.Errorf("one batch made %+v of %+v", after, before)
	}
	hosts := must[[]plimsoll.Host](t)(cluster.Hosts())
	if len(hosts) != 2 {
		t.Fatalf("there are %d hosts", len(hosts))
	}
	ejected, added := hosts[0], hosts[1]
	if ejected.Address != host(2) || ejected.Health != plimsoll.FlagFailedOutlierCheck ||
		ejected.Coarse != plimsoll.CoarseUnhealthy {
		t.Errorf("the ejected host is %+v", ejected)
	}
	if added.Address != host(3) || added.Hostname != "three" || added.Weight != 7 || added.Priority != 1 ||
		added.Locality != (plimsoll.Locality{Region: "r", Zone: "z", SubZone: "s"}) ||
		added.EDS != plimsoll.EDSDegraded || added.Coarse != plimsoll.CoarseDegraded {
		t.Errorf("the added host is %+v", added)
	}
}

func TestLoadsThatWereSetAreSeenByLeastRequest(t *testing.T) {
	cluster := opened(t, configured("LEAST_REQUEST", 2), nil)
	pending := uint32(3)
	ok(t, cluster.SetLoads(plimsoll.HostLoad{Address: host(1), Active: 50, Pending: &pending}))
	if counts := counted(t, cluster, 20); counts[host(2)] != 20 {
		t.Errorf("picks go to %v", counts)
	}
	err := cluster.SetLoads(plimsoll.HostLoad{Address: host(1)},
		plimsoll.HostLoad{Address: host(2), Active: plimsoll.MaxLoad + 1})
	var failed *plimsoll.Error
	if !errors.As(err, &failed) || failed.Field != "loads[1].active" {
		t.Errorf("too many requests give %v", err)
	}
	if hosts := must[[]plimsoll.Host](t)(cluster.Hosts()); hosts[0].Active != 50 {
		t.Errorf("a call that failed set %d requests", hosts[0].Active)
	}
}

func TestRuntimeValuesOfEachForm(t *testing.T) {
	const config = `name: api
lb_policy: ROUND_ROBIN
round_robin_lb_config:
  slow_start_config: {slow_start_window: 10s, aggression: {default_value: 1, runtime_key: aggression}}
load_assignment: {cluster_name: api, endpoints: [{lb_endpoints: [
  {endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}}]}]}
`
	cluster := opened(t, config, nil)
	factor := func() float64 {
		return must[[]plimsoll.Host](t)(cluster.Hosts())[0].SlowStart.Factor
	}
	ok(t, cluster.Tick(start.Add(5*time.Second)))
	if factor() != 0.5 {
		t.Errorf("halfway, the factor is %v", factor())
	}
	must[plimsoll.Applied](t)(cluster.SetRuntime(plimsoll.RuntimeNumber("aggression", 0.5)))
	if factor() != 0.25 {
		t.Errorf("with an aggression of a half, the factor is %v", factor())
	}
	must[plimsoll.Applied](t)(cluster.SetRuntime(plimsoll.RuntimeRemoved("aggression")))
	if factor() != 0.5 {
		t.Errorf("without the key again, the factor is %v", factor())
	}
	must[plimsoll.Applied](t)(cluster.Update(plimsoll.LearnHealth(host(1), plimsoll.HealthEject)))
	counted(t, cluster, 1) // in panic
	must[plimsoll.Applied](t)(cluster.SetRuntime(
		plimsoll.RuntimeInteger("upstream.healthy_panic_threshold", 0),
		plimsoll.RuntimeBool("envoy.reloadable_features.least_request_lb_count_pending_requests", true)))
	if _, err := cluster.Pick(nil); err != plimsoll.ErrNoHost {
		t.Errorf("without panic an ejected host gives %v", err)
	}
	_, err := cluster.SetRuntime(plimsoll.RuntimeInteger("a", 1), plimsoll.RuntimeNumber("b", nan()))
	var failed *plimsoll.Error
	if !errors.As(err, &failed) || failed.Field != "values[1].number" {
		t.Errorf("what is not a number gives %v", err)
	}
	early := opened(t, config, &plimsoll.Options{
		Behavior: plimsoll.BehaviorEnvoy,
		Runtime:  []plimsoll.RuntimeValue{plimsoll.RuntimeInteger("aggression", 2)},
	})
	ok(t, early.Tick(start.Add(2500*time.Millisecond)))
	if factor := must[[]plimsoll.Host](t)(early.Hosts())[0].SlowStart.Factor; factor != 0.5 {
		t.Errorf("a value that was there from the start makes a factor of %v", factor)
	}
}

func nan() float64 {
	zero := 0.0
	return zero / zero
}

func TestTimeMovesSlowStartOnAndNeverBack(t *testing.T) {
	config := strings.Replace(configured("ROUND_ROBIN", 1), "lb_policy: ROUND_ROBIN",
		"lb_policy: ROUND_ROBIN\nround_robin_lb_config: {slow_start_config: {slow_start_window: 10s}}", 1)
	cluster := opened(t, config, nil)
	left := func() time.Duration {
		hosts := must[[]plimsoll.Host](t)(cluster.Hosts())
		if hosts[0].SlowStart == nil {
			return 0
		}
		return hosts[0].SlowStart.Left
	}
	for _, step := range []struct{ at, left time.Duration }{
		{0, 10 * time.Second}, {4 * time.Second, 6 * time.Second},
		{3 * time.Second, 6 * time.Second}, {-time.Hour, 6 * time.Second}, {10 * time.Second, 0},
	} {
		ok(t, cluster.Tick(start.Add(step.at)))
		if left() != step.left {
			t.Errorf("at %v, %v are left, not %v", step.at, left(), step.left)
		}
	}
}

func TestNextTickIsDueWhereSomethingIsPeriodic(t *testing.T) {
	plain := opened(t, configured("ROUND_ROBIN", 1), nil)
	if _, due, err := plain.NextTick(); due || err != nil {
		t.Errorf("round robin has a tick due: %v, %v", due, err)
	}
	reported := opened(t, reporting, nil)
	next, due, err := reported.NextTick()
	if err != nil || !due || next.Before(start) || next.After(start.Add(2*time.Second)) {
		t.Errorf("the next tick is %v %v, %v", due, next, err)
	}
}

func TestRunTicksUntilItsContextIsDoneOrTheClusterClosed(t *testing.T) {
	config := strings.Replace(configured("ROUND_ROBIN", 1), "lb_policy: ROUND_ROBIN",
		"lb_policy: ROUND_ROBIN\nround_robin_lb_config: {slow_start_config: {slow_start_window: 0.05s}}", 1)
	cluster := opened(t, config, &plimsoll.Options{Now: time.Now()})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- cluster.Run(ctx, time.Millisecond) }()
	for deadline := time.Now().Add(10 * time.Second); ; time.Sleep(time.Millisecond) {
		if hosts := must[[]plimsoll.Host](t)(cluster.Hosts()); hosts[0].SlowStart == nil {
			break
		}
		if time.Now().After(deadline) {
			t.Fatal("the slow start of 50 ms has no end")
		}
	}
	cancel()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
	go func() { ended <- cluster.Run(t.Context(), time.Millisecond) }()
	cluster.Close()
	if err := <-ended; err != nil {
		t.Errorf("it ended with %v", err)
	}
}

func TestAClosedClusterRefusesAndItsWorkersGoOn(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 2), nil)
	worker := working(t, cluster)
	held := must[plimsoll.Pick](t)(cluster.Pick(nil))
	ok(t, cluster.Close())
	ok(t, cluster.Close())
	calls := map[string]func() error{
		"Pick":     func() error { _, err := cluster.Pick(nil); return err },
		"Done":     func() error { return cluster.Done(held, plimsoll.Success) },
		"Update":   func() error { _, err := cluster.Update(); return err },
		"Tick":     func() error { return cluster.Tick(start) },
		"Hosts":    func() error { _, err := cluster.Hosts(); return err },
		"Stats":    func() error { _, err := cluster.Stats(); return err },
		"NextTick": func() error { _, _, err := cluster.NextTick(); return err },
		"Hash":     func() error { _, err := cluster.Hash(nil, &plimsoll.Request{}, nil); return err },
		"Report":   func() error { return cluster.Report(held, plimsoll.ResponseLoad{}) },
		"SetHostData": func() error {
			return cluster.SetHostData(host(1), 1, func() { t.Error("released what was not taken") })
		},
		"NewWorker": func() error { _, err := cluster.NewWorker(); return err },
		"as local": func() error {
			_, err := plimsoll.Open("name: b\n", &plimsoll.Options{LocalCluster: cluster})
			return err
		},
	}
	for name, call := range calls {
		if err := call(); !errors.Is(err, plimsoll.ErrClosed) {
			t.Errorf("%s gives %v", name, err)
		}
	}
	pick := must[plimsoll.Pick](t)(worker.Pick(nil))
	if worker.Address(pick) == "" {
		t.Error("the worker's pick has no address")
	}
	ok(t, worker.Done(pick, plimsoll.Success))
	ok(t, worker.Done(held, plimsoll.Success))
}

func TestALocalClusterMakesRoutingZoneAware(t *testing.T) {
	zones := func(name string) string {
		return strings.NewReplacer("NAME", name).Replace(`name: NAME
lb_policy: ROUND_ROBIN
common_lb_config: {zone_aware_lb_config: {min_cluster_size: 1}}
load_assignment: {cluster_name: NAME, endpoints: [
  {locality: {zone: a}, lb_endpoints: [
    {endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}}]},
  {locality: {zone: b}, lb_endpoints: [
    {endpoint: {address: {socket_address: {address: 10.0.0.2, port_value: 80}}}}]}]}
`)
	}
	local := opened(t, zones("proxies"), nil)
	cluster := opened(t, zones("api"), &plimsoll.Options{
		Locality: plimsoll.Locality{Zone: "b"}, LocalCluster: local,
	})
	shares := must[[]plimsoll.LocalityShare](t)(cluster.Localities())
	if len(shares) == 0 || shares[0].Locality.Zone != "b" || !shares[0].AllLocal ||
		shares[0].Load != 1 || shares[0].Weight != 1 || shares[0].Source != plimsoll.SourceHealthy ||
		shares[0].Hosts != 1 || shares[0].Utilization != nil {
		t.Errorf("the node's own zone is not the first, or has not all: %+v", shares)
	}
	ok(t, local.Close())
	if counts := counted(t, cluster, 10); counts[host(2)] != 10 {
		t.Errorf("picks go to %v", counts)
	}
}

func TestStatsAndTable(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 2), nil)
	counted(t, cluster, 5)
	stats := must[map[string]uint64](t)(cluster.Stats())
	if stats["membership_total"] != 2 || stats["plimsoll.snapshots_published"] == 0 {
		t.Errorf("the counters are %v", stats)
	}
	table := must[string](t)(cluster.HostTable())
	if !strings.Contains(table, host(1)) || !strings.Contains(table, host(2)) {
		t.Errorf("the table is\n%s", table)
	}
}

func TestTextsLongerThanAnyBufferComeWhole(t *testing.T) {
	long := strings.Repeat("a", 3000) + ":80"
	cluster := opened(t, "name: api\n", nil)
	must[plimsoll.Applied](t)(cluster.Update(plimsoll.Upsert(plimsoll.HostSpec{Address: long})))
	if table := must[string](t)(cluster.HostTable()); !strings.Contains(table, long) {
		t.Error("the table lacks the address")
	}
	if counts := counted(t, cluster, 1); counts[long] != 1 {
		t.Errorf("picks go to %v", counts)
	}
}

func TestTheVersionIsThatOfTheLibrary(t *testing.T) {
	if parts := strings.Split(plimsoll.Version(), "."); len(parts) != 3 {
		t.Errorf("the version is %q", plimsoll.Version())
	}
}
