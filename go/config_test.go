package plimsoll_test

import (
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll.example/plimsoll"
)

func to[T any](value T) *T { return &value }

func byUser(t *testing.T) *plimsoll.HashPolicies {
	t.Helper()
	return must[*plimsoll.HashPolicies](t)(plimsoll.NewHashPolicies(
		plimsoll.HashPolicy{Kind: plimsoll.HashHeader, Name: "X-User"}))
}

func TestEachPolicyOfAStructIsTheOneOfItsName(t *testing.T) {
	slowStart := plimsoll.SlowStartConfig{
		Window: 1500 * time.Millisecond, MinWeightPercent: to(5.0),
		Aggression: &plimsoll.RuntimeFloat{Value: 1.5, Key: "aggression"},
	}
	hashing := plimsoll.ConsistentHashing{UseHostname: true, HashBalanceFactor: 150, HashPolicies: byUser(t)}
	weighted := plimsoll.ClientSideWeightedRoundRobin{
		BlackoutPeriod: to(time.Duration(0)), WeightExpirationPeriod: to(time.Minute),
		WeightUpdatePeriod: to(time.Second), ErrorUtilizationPenalty: to(0.5),
		MetricNames: []string{"named_metrics.queue"}, SlowStart: slowStart,
		OOB: plimsoll.OOBReporting{Enabled: true, Period: to(time.Second), Port: 9000, Authority: "api"},
	}
	for name, policies := range map[string][]plimsoll.Policy{
		"round_robin":                      {nil, plimsoll.RoundRobin{}, plimsoll.RoundRobin{SlowStart: slowStart}},
		"random":                           {plimsoll.Random{}},
		"ring_hash":                        {plimsoll.RingHash{}, plimsoll.RingHash{MinimumRingSize: 10, MaximumRingSize: 100, MurmurHash2: true, Hashing: hashing}},
		"maglev":                           {plimsoll.Maglev{}, plimsoll.Maglev{TableSize: 251, Hashing: hashing}},
		"client_side_weighted_round_robin": {plimsoll.ClientSideWeightedRoundRobin{}, weighted},
		"least_request": {plimsoll.LeastRequest{}, plimsoll.LeastRequest{
			ChoiceCount: 3, SlowStart: slowStart, ActiveRequestBias: &plimsoll.RuntimeFloat{Value: 2, Key: "bias"},
		}, plimsoll.LeastRequest{FullScan: true}},
	} {
		routings := []plimsoll.LocalityRouting{nil, plimsoll.LocalityWeighted{}, plimsoll.LoadAwareLocality{}}
		if name != "ring_hash" && name != "maglev" {
			routings = append(routings, plimsoll.ZoneAware{})
		}
		for _, policy := range policies {
			for _, routing := range routings {
				config := plimsoll.Config{Name: "api", Policy: policy, Locality: routing,
					Hosts: []plimsoll.HostSpec{{Address: host(1)}}}
				cluster, err := config.Open(nil)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				explained := must[*plimsoll.Explanation](t)(cluster.Explain(nil, plimsoll.ExplainOptions{}))
				if explained.Policy != name || explained.Host == nil || *explained.Host != host(1) {
					t.Errorf("%+v is %s", config, explained.JSON)
				}
				ok(t, cluster.Close())
			}
		}
	}
}

func TestTheSettingsOfAStructHold(t *testing.T) {
	config := plimsoll.Config{
		Name: "api", PanicThreshold: to(0.0), HealthChecked: true,
		OverrideStatus: []plimsoll.EDSHealth{plimsoll.EDSUnhealthy},
		Hosts: []plimsoll.HostSpec{
			{Address: host(1)}, {Address: host(2), Weight: 3, Locality: plimsoll.Locality{Zone: "z"}},
		},
	}
	cluster := must[*plimsoll.Cluster](t)(config.Open(nil))
	defer cluster.Close()
	if _, err := cluster.Pick(nil); err != plimsoll.ErrNoHost {
		t.Errorf("before their first check hosts are picked, or in panic: %v", err)
	}
	if pick := must[plimsoll.Pick](t)(cluster.PickOverride(nil, []string{host(1)}, true)); cluster.Address(pick) != host(1) {
		t.Errorf("it picked %s", cluster.Address(pick))
	}
	must[plimsoll.Applied](t)(cluster.Update(plimsoll.LearnHealth(host(2), plimsoll.HealthPass)))
	if counts := counted(t, cluster, 5); counts[host(2)] != 5 {
		t.Errorf("picks go to %v", counts)
	}

	config = plimsoll.Config{Name: "api", Policy: plimsoll.Random{}, HealthChecked: true,
		OverrideStatus: []plimsoll.EDSHealth{}, FailTrafficOnPanic: true}
	must[plimsoll.Applied](t)(cluster.Configure(&config))
	if hosts := must[[]plimsoll.Host](t)(cluster.Hosts()); len(hosts) != 2 || hosts[1].Weight != 3 {
		t.Errorf("other settings leave %+v", hosts)
	}
	if _, err := cluster.PickOverride(nil, []string{host(2)}, true); err != plimsoll.ErrOverrideNotAllowed {
		t.Errorf("no health is allowed, and yet: %v", err)
	}
	config.PanicThreshold = to(100.0)
	must[plimsoll.Applied](t)(cluster.Configure(&config))
	if _, err := cluster.Pick(nil); err != plimsoll.ErrNoHostPanic {
		t.Errorf("half of the hosts is less than all of them: %v", err)
	}
}

// Flags of health checks, without and with which a host goes.
func TestSettingsOfHealthChecksHold(t *testing.T) {
	config := plimsoll.Config{Name: "api", HealthChecked: true, IgnoreNewHostsUntilFirstHC: true,
		Hosts: []plimsoll.HostSpec{{Address: host(1)}, {Address: host(2)}}}
	for _, ignore := range []bool{false, true} {
		config.IgnoreHealthOnHostRemoval = ignore
		cluster := must[*plimsoll.Cluster](t)(config.Open(nil))
		if hosts := must[[]plimsoll.Host](t)(cluster.Hosts()); hosts[0].Health&plimsoll.FlagPendingActiveHC == 0 {
			t.Errorf("a new host is %v", hosts[0].Health)
		}
		must[plimsoll.Applied](t)(cluster.Update(plimsoll.LearnHealth(host(1), plimsoll.HealthPass)))
		must[plimsoll.Applied](t)(cluster.ConfigureHosts(&plimsoll.Assignment{}))
		if hosts := must[[]plimsoll.Host](t)(cluster.Hosts()); (len(hosts) == 0) != ignore {
			t.Errorf("with %v these are left: %+v", ignore, hosts)
		}
		ok(t, cluster.Close())
	}
}

func TestLocalitiesOfAStructHaveWeightsAndPriorities(t *testing.T) {
	config := plimsoll.Config{Name: "api", Locality: plimsoll.LocalityWeighted{},
		Assignment: &plimsoll.Assignment{
			OverprovisioningFactor: 100, WeightedPriorityHealth: true,
			Localities: []plimsoll.LocalityHosts{
				{Locality: plimsoll.Locality{Region: "r", Zone: "a", SubZone: "s"}, Weight: 3, Hosts: []plimsoll.Endpoint{{
					Address: host(1), Hostname: "one", Weight: 7, HashKey: "k", HealthCheckAddress: host(9),
					DisableActiveHealthCheck: true,
				}}},
				{Locality: plimsoll.Locality{Zone: "b"}, Weight: 1, Hosts: []plimsoll.Endpoint{{Address: host(2)}}},
				{Priority: 1, Hosts: []plimsoll.Endpoint{{Address: host(3), Health: plimsoll.EDSDegraded}}},
			},
		}}
	cluster := must[*plimsoll.Cluster](t)(config.Open(&plimsoll.Options{Seed: to(uint64(1))}))
	defer cluster.Close()
	hosts := must[[]plimsoll.Host](t)(cluster.Hosts())
	one, last := hosts[0], hosts[2]
	if one.Hostname != "one" || one.Weight != 7 || one.Locality != config.Assignment.Localities[0].Locality {
		t.Errorf("it is %+v", one)
	}
	if last.Address != host(3) || last.Priority != 1 || last.EDS != plimsoll.EDSDegraded {
		t.Errorf("it is %+v", last)
	}
	if share := counted(t, cluster, 400)[host(1)]; share < 290 || share > 310 {
		t.Errorf("three quarters are %d of 400", share)
	}
	config.Assignment.Localities[0].Weight = 1
	must[plimsoll.Applied](t)(cluster.ConfigureHosts(config.Assignment))
	if share := counted(t, cluster, 400)[host(1)]; share < 190 || share > 210 {
		t.Errorf("a half is %d of 400", share)
	}
}

func TestPlacesOfAnOverrideComeBack(t *testing.T) {
	config := plimsoll.Config{Name: "api", OverrideHost: &plimsoll.OverrideHost{
		Sources: []plimsoll.OverrideSource{
			{Kind: plimsoll.OverrideHeader, Name: "x-host"},
			{Kind: plimsoll.OverrideMetadata, Name: "envoy.lb", Path: []string{"a", "b"}},
		},
		SelectedHostKey: &plimsoll.OverrideSource{Kind: plimsoll.OverrideSelectedHost, Name: "envoy.lb", Path: []string{"c"}},
	}}
	cluster := must[*plimsoll.Cluster](t)(config.Open(nil))
	defer cluster.Close()
	places := must[[]plimsoll.OverrideSource](t)(cluster.OverrideSources())
	if len(places) != 3 || places[0].Name != "x-host" || places[1].Path[1] != "b" || places[2].Path[0] != "c" {
		t.Errorf("they are %+v", places)
	}
}

func TestAMistakeInAStructNamesTheField(t *testing.T) {
	for field, config := range map[string]plimsoll.Config{
		"settings.least_request.choice_count": {Name: "api", Policy: plimsoll.LeastRequest{ChoiceCount: 1}},
		"settings.healthy_panic_threshold":    {Name: "api", PanicThreshold: to(101.0)},
		"settings.name":                       {},
		"settings.override_host_status":       {Name: "api", OverrideStatus: []plimsoll.EDSHealth{77}},
		"settings.slow_start.window_ns":       {Name: "api", Policy: plimsoll.RoundRobin{SlowStart: plimsoll.SlowStartConfig{Window: -1}}},
		"settings.locality_routing":           {Name: "api", Policy: plimsoll.Maglev{}, Locality: plimsoll.ZoneAware{}},
		"settings.override_host.sources":      {Name: "api", OverrideHost: &plimsoll.OverrideHost{}},
		"settings.zone_aware.locality_basis":  {Name: "api", Locality: plimsoll.ZoneAware{LocalityBasis: 7}},
		"assignment.localities[1].priority":   {Name: "api", Hosts: []plimsoll.HostSpec{{Address: host(1)}, {Address: host(2), Priority: 500}}},
		"assignment.localities[0].hosts[1].address": {Name: "api", Assignment: &plimsoll.Assignment{
			Localities: []plimsoll.LocalityHosts{{Hosts: []plimsoll.Endpoint{{Address: host(1)}, {}}}}}},
		"Hosts": {Name: "api", Hosts: []plimsoll.HostSpec{}, Assignment: &plimsoll.Assignment{}},
		"settings.load_aware_locality.remote_probe_fraction": {Name: "api", Locality: plimsoll.LoadAwareLocality{RemoteProbeFraction: to(math.Inf(1))}},
		"settings.client_side_weighted_round_robin.error_utilization_penalty": {Name: "api",
			Policy: plimsoll.ClientSideWeightedRoundRobin{ErrorUtilizationPenalty: to(math.NaN())}},
	} {
		refused(t, field, config)
	}
}

// Each number is out of range where it belongs, so that the error tells where it went.
func TestEachNumberOfAStructReachesItsMember(t *testing.T) {
	negative := to(time.Duration(-1))
	streams := func(oob plimsoll.OOBReporting) (plimsoll.Policy, plimsoll.LocalityRouting) {
		return plimsoll.ClientSideWeightedRoundRobin{OOB: oob}, plimsoll.LoadAwareLocality{OOB: oob}
	}
	portPolicy, portRouting := streams(plimsoll.OOBReporting{Port: 70000})
	namePolicy, nameRouting := streams(plimsoll.OOBReporting{Authority: "a\n"})
	periodPolicy, periodRouting := streams(plimsoll.OOBReporting{Period: negative})
	bad := &plimsoll.RuntimeFloat{Value: -1, Key: "a"}
	for member, policy := range map[string]plimsoll.Policy{
		"slow_start.min_weight_percent":                                    plimsoll.RoundRobin{SlowStart: plimsoll.SlowStartConfig{MinWeightPercent: to(101.0)}},
		"slow_start.aggression.default_value":                              plimsoll.LeastRequest{SlowStart: plimsoll.SlowStartConfig{Aggression: bad}},
		"slow_start.aggression.runtime_key":                                plimsoll.ClientSideWeightedRoundRobin{SlowStart: plimsoll.SlowStartConfig{Aggression: &plimsoll.RuntimeFloat{Value: 1}}},
		"least_request.active_request_bias.default_value":                  plimsoll.LeastRequest{ActiveRequestBias: bad},
		"ring_hash.minimum_ring_size":                                      plimsoll.RingHash{MinimumRingSize: 9_000_000},
		"ring_hash.maximum_ring_size":                                      plimsoll.RingHash{MaximumRingSize: 9_000_000},
		"ring_hash.hash_balance_factor":                                    plimsoll.RingHash{Hashing: plimsoll.ConsistentHashing{HashBalanceFactor: 1}},
		"maglev.table_size":                                                plimsoll.Maglev{TableSize: 4},
		"maglev.hash_balance_factor":                                       plimsoll.Maglev{Hashing: plimsoll.ConsistentHashing{HashBalanceFactor: 1}},
		"client_side_weighted_round_robin.blackout_period_ns":              plimsoll.ClientSideWeightedRoundRobin{BlackoutPeriod: negative},
		"client_side_weighted_round_robin.weight_expiration_period_ns":     plimsoll.ClientSideWeightedRoundRobin{WeightExpirationPeriod: negative},
		"client_side_weighted_round_robin.weight_update_period_ns":         plimsoll.ClientSideWeightedRoundRobin{WeightUpdatePeriod: negative},
		"client_side_weighted_round_robin.oob_reporting_period_ns":         periodPolicy,
		"client_side_weighted_round_robin.oob_reporting_config.port_value": portPolicy,
		"client_side_weighted_round_robin.oob_reporting_config.authority":  namePolicy,
		"client_side_weighted_round_robin.metric_names_for_computing_utilization[1]": plimsoll.ClientSideWeightedRoundRobin{
			MetricNames: []string{"a", "\xff"}},
	} {
		refused(t, "settings."+member, plimsoll.Config{Name: "api", Policy: policy})
	}
	for member, routing := range map[string]plimsoll.LocalityRouting{
		"zone_aware.routing_enabled":                                    plimsoll.ZoneAware{RoutingEnabled: to(-1.0)},
		"load_aware_locality.weight_update_period_ns":                   plimsoll.LoadAwareLocality{WeightUpdatePeriod: negative},
		"load_aware_locality.smoothing_time_constant_ns":                plimsoll.LoadAwareLocality{SmoothingTimeConstant: negative},
		"load_aware_locality.weight_expiration_period_ns":               plimsoll.LoadAwareLocality{WeightExpirationPeriod: negative},
		"load_aware_locality.utilization_variance_threshold":            plimsoll.LoadAwareLocality{UtilizationVarianceThreshold: to(2.0)},
		"load_aware_locality.oob_reporting_period_ns":                   periodRouting,
		"load_aware_locality.oob_reporting_config.port_value":           portRouting,
		"load_aware_locality.oob_reporting_config.authority":            nameRouting,
		"load_aware_locality.metric_names_for_computing_utilization[0]": plimsoll.LoadAwareLocality{MetricNames: []string{"\xff"}},
	} {
		refused(t, "settings."+member, plimsoll.Config{Name: "api", Locality: routing})
	}
}

// refused opens and configures with a mistake, and checks that it is named.
func refused(t *testing.T, field string, config plimsoll.Config) {
	t.Helper()
	_, err := config.Open(nil)
	var failed *plimsoll.Error
	if !errors.As(err, &failed) || failed.Code != plimsoll.ErrInvalidArgument || failed.Field != field {
		t.Errorf("%s: %v", field, err)
	}
	cluster := must[*plimsoll.Cluster](t)((&plimsoll.Config{Name: "api"}).Open(nil))
	if _, err := cluster.Configure(&config); !errors.As(err, &failed) || failed.Field != field {
		t.Errorf("%s: %v", field, err)
	}
	ok(t, cluster.Close())
}

func TestZonesOfAStructAreRoutedBy(t *testing.T) {
	place := func(zone string, numbers ...int) plimsoll.LocalityHosts {
		group := plimsoll.LocalityHosts{Locality: plimsoll.Locality{Zone: zone}}
		for _, number := range numbers {
			group.Hosts = append(group.Hosts, plimsoll.Endpoint{Address: host(number)})
		}
		return group
	}
	proxies := plimsoll.Config{Name: "proxies", Assignment: &plimsoll.Assignment{
		Localities: []plimsoll.LocalityHosts{place("a", 11, 12, 13), place("b", 14)}}}
	local := must[*plimsoll.Cluster](t)(proxies.Open(nil))
	defer local.Close()
	for _, zones := range []struct {
		plimsoll.ZoneAware
		isLocal bool
	}{
		{plimsoll.ZoneAware{MinClusterSize: to(uint64(4)), ForceLocalZone: to(uint32(1))}, true},
		{plimsoll.ZoneAware{MinClusterSize: to(uint64(5)), ForceLocalZone: to(uint32(1))}, false},
		{plimsoll.ZoneAware{MinClusterSize: to(uint64(4)), ForceLocalZone: to(uint32(2))}, false},
		{plimsoll.ZoneAware{MinClusterSize: to(uint64(4))}, false},
	} {
		config := plimsoll.Config{Name: "api", Locality: zones.ZoneAware, Assignment: &plimsoll.Assignment{
			Localities: []plimsoll.LocalityHosts{place("a", 1), place("b", 2, 3, 4)}}}
		cluster := must[*plimsoll.Cluster](t)(config.Open(&plimsoll.Options{
			Locality: plimsoll.Locality{Zone: "a"}, LocalCluster: local}))
		if share := counted(t, cluster, 100)[host(1)]; (share == 100) != zones.isLocal {
			t.Errorf("with %+v the zone keeps %d of 100", zones, share)
		}
		ok(t, cluster.Close())
	}
}

func TestHashPoliciesOfStructs(t *testing.T) {
	route := must[*plimsoll.HashPolicies](t)(plimsoll.NewHashPolicies(
		plimsoll.HashPolicy{Kind: plimsoll.HashCookie, Name: "session", Terminal: true, TTL: to(time.Minute),
			Path: "/app", Attributes: [][2]string{{"SameSite", "Lax"}}},
		plimsoll.HashPolicy{Kind: plimsoll.HashFilterState, Name: "tenant"},
	))
	var cookies []string
	request := plimsoll.Request{RemoteAddress: "10.0.0.7:4711", LocalAddress: "10.0.0.1:80",
		FilterState: map[string]uint64{"tenant": 4711}}
	must[uint64](t)(route.Hash(&request, func(cookie string) { cookies = append(cookies, cookie) }))
	if len(cookies) != 1 || !strings.HasPrefix(cookies[0], "session=") ||
		!strings.Contains(cookies[0], "Max-Age=60; Path=/app") || !strings.Contains(cookies[0], "SameSite=Lax") {
		t.Errorf("the cookies are %q", cookies)
	}
	if hash := must[uint64](t)(route.Hash(&request, nil)); hash != 4711 {
		t.Errorf("without a cookie it is %d", hash)
	}
	_, err := plimsoll.NewHashPolicies(plimsoll.HashPolicy{Kind: plimsoll.HashSourceIP}, plimsoll.HashPolicy{Kind: plimsoll.HashHeader})
	var failed *plimsoll.Error
	if !errors.As(err, &failed) || failed.Field != "policies[1].name" {
		t.Errorf("a header without a name: %v", err)
	}
}
