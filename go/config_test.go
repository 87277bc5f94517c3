package plimsoll_test

import (
	"encoding/json"
	"errors"
	"math"
	"strings"
	"testing"
	"time"

	"plimsoll.example/plimsoll"
)

func to[T any](value T) *T { return &value }

// Every field of every policy is one that the library reads: an unknown one would be an error, and so
// would be a value of another form.
func TestEachPolicyOfAStructIsTheOneOfItsName(t *testing.T) {
	slowStart := plimsoll.SlowStartConfig{
		Window: 1500 * time.Millisecond, MinWeightPercent: to(5.0),
		Aggression: &plimsoll.RuntimeFloat{Value: 1.5, Key: "aggression"},
	}
	hashing := plimsoll.ConsistentHashing{
		UseHostname: true, HashBalanceFactor: 150, LocalityWeighted: true,
		HashPolicy: json.RawMessage(`[{"header": {"header_name": "a"}}]`),
	}
	zones := plimsoll.ZoneAware{RoutingEnabled: to(50.0), MinClusterSize: to(uint64(3)), FailTrafficOnPanic: true}
	weighted := plimsoll.ClientSideWeightedRoundRobin{
		BlackoutPeriod: to(time.Duration(0)), WeightExpirationPeriod: to(time.Minute),
		WeightUpdatePeriod: to(time.Second), ErrorUtilizationPenalty: to(0.5),
		MetricNames: []string{"named_metrics.queue"}, SlowStart: slowStart,
	}
	for name, policies := range map[string][]plimsoll.Policy{
		"round_robin":                      {nil, plimsoll.RoundRobin{SlowStart: slowStart, Locality: zones}},
		"random":                           {plimsoll.Random{}, plimsoll.Random{Locality: plimsoll.LocalityWeighted{}}},
		"ring_hash":                        {plimsoll.RingHash{}, plimsoll.RingHash{MinimumRingSize: 10, MaximumRingSize: 100, MurmurHash2: true, Hashing: hashing}},
		"maglev":                           {plimsoll.Maglev{}, plimsoll.Maglev{TableSize: 251, Hashing: hashing}},
		"client_side_weighted_round_robin": {plimsoll.ClientSideWeightedRoundRobin{}, weighted, plimsoll.WRRLocality{Policy: weighted}},
		"least_request": {plimsoll.LeastRequest{}, plimsoll.LeastRequest{
			ChoiceCount: 3, SlowStart: slowStart, ActiveRequestBias: &plimsoll.RuntimeFloat{Value: 2, Key: "bias"},
		}, plimsoll.LeastRequest{FullScan: true}},
	} {
		for _, policy := range policies {
			config := plimsoll.Config{Name: "api", Policy: policy, Hosts: []plimsoll.HostSpec{{Address: host(1)}}}
			cluster, err := config.Open(nil)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			explained := must[*plimsoll.Explanation](t)(cluster.Explain(nil, plimsoll.ExplainOptions{}))
			if explained.Policy != name || explained.Host == nil || *explained.Host != host(1) {
				t.Errorf("%s is %s", must[json.RawMessage](t)(config.JSON()), explained.JSON)
			}
			ok(t, cluster.Close())
		}
	}
	aware := plimsoll.Config{Name: "api", Policy: plimsoll.LoadAwareLocality{
		Policy: plimsoll.Maglev{}, WeightUpdatePeriod: to(time.Second), UtilizationVarianceThreshold: to(0.2),
		SmoothingTimeConstant: to(time.Second), RemoteProbeFraction: to(0.1),
		WeightExpirationPeriod: to(time.Minute), MetricNames: []string{"cpu_utilization"},
	}}
	for _, config := range []plimsoll.Config{aware, {Name: "api", Policy: plimsoll.LoadAwareLocality{}}} {
		cluster := must[*plimsoll.Cluster](t)(config.Open(nil))
		if _, due, err := cluster.NextTick(); !due || err != nil {
			t.Errorf("its shares do not move: %v", err)
		}
		ok(t, cluster.Close())
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
	config.Policy = plimsoll.Random{}
	must[plimsoll.Applied](t)(cluster.Reload(string(must[json.RawMessage](t)(config.JSON()))))
	if hosts := must[[]plimsoll.Host](t)(cluster.Hosts()); len(hosts) != 2 || hosts[1].Weight != 3 {
		t.Errorf("other settings leave %+v", hosts)
	}
}

func TestAMistakeInAStructNamesTheField(t *testing.T) {
	for field, config := range map[string]plimsoll.Config{
		"load_balancing_policy.policies[0].typed_extension_config.typed_config.choice_count": {
			Name: "api", Policy: plimsoll.LeastRequest{ChoiceCount: 1}},
		"common_lb_config.healthy_panic_threshold": {Name: "api", PanicThreshold: to(101.0)},
		"name":                {},
		"changes[1].priority": {Name: "api", Hosts: []plimsoll.HostSpec{{Address: host(1)}, {Address: host(2), Priority: 500}}},
		"":                    {Name: "api", Policy: plimsoll.LoadAwareLocality{RemoteProbeFraction: to(math.Inf(1))}},
	} {
		_, err := config.Open(nil)
		var failed *plimsoll.Error
		if !errors.As(err, &failed) || failed.Code != plimsoll.ErrInvalidArgument || !strings.HasSuffix(failed.Field, field) {
			t.Errorf("%s: %v", field, err)
		}
	}
}
