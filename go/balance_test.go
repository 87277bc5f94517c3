package plimsoll_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"plimsoll.example/plimsoll"
)

func active(t *testing.T, cluster *plimsoll.Cluster) map[string]uint32 {
	t.Helper()
	requests := make(map[string]uint32)
	for _, host := range must[[]plimsoll.Host](t)(cluster.Hosts()) {
		requests[host.Address] = host.Active
	}
	return requests
}

func TestACountedPickIsActiveUntilItIsDone(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 1), nil)
	pick := must[plimsoll.Pick](t)(cluster.Pick(nil))
	if !pick.Counted() || active(t, cluster)[host(1)] != 1 {
		t.Errorf("%+v is not counted, or %v", pick, active(t, cluster))
	}
	ok(t, cluster.Done(pick, plimsoll.OutcomeOf(errors.New("reset"))))
	if active(t, cluster)[host(1)] != 0 {
		t.Error("it is active after its end")
	}
	if err := cluster.Done(pick, plimsoll.Success); !errors.Is(err, plimsoll.ErrStalePick) {
		t.Errorf("done twice gives %v", err)
	}
}

func TestAnUncountedPickIsNotToBeDone(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 1), nil)
	pick := must[plimsoll.Pick](t)(cluster.Pick(&plimsoll.PickContext{Uncounted: true}))
	if pick.Counted() || active(t, cluster)[host(1)] != 0 || cluster.Address(pick) != host(1) {
		t.Errorf("%+v is counted, or is nobody's", pick)
	}
	if err := cluster.Done(pick, plimsoll.Success); !errors.Is(err, plimsoll.ErrNotCounted) {
		t.Errorf("its end gives %v", err)
	}
}

func TestWithoutHostsThereIsNoPick(t *testing.T) {
	cluster := opened(t, "name: api\n", nil)
	for name, pick := range map[string]func() (plimsoll.Pick, error){
		"Pick":         func() (plimsoll.Pick, error) { return cluster.Pick(nil) },
		"PickFunc":     func() (plimsoll.Pick, error) { return cluster.PickFunc(nil, nil) },
		"PickAvoiding": func() (plimsoll.Pick, error) { return cluster.PickAvoiding(nil, plimsoll.Pick{}) },
		"PickOverride": func() (plimsoll.Pick, error) { return cluster.PickOverride(nil, nil, false) },
		"Worker":       func() (plimsoll.Pick, error) { return working(t, cluster).Pick(nil) },
	} {
		if got, err := pick(); err != plimsoll.ErrNoHost || got != (plimsoll.Pick{}) {
			t.Errorf("%s gives %+v, %v", name, got, err)
		}
	}
	if _, err := working(t, cluster).Peek(nil); err != plimsoll.ErrPeekLimit {
		t.Errorf("a peek gives %v", err)
	}
	if count, err := cluster.PickBatch(nil, make([]plimsoll.Pick, 3)); err != plimsoll.ErrNoHost || count != 0 {
		t.Errorf("a batch gives %d, %v", count, err)
	}
}

func TestPanicFailsTrafficWhereItIsTold(t *testing.T) {
	config := strings.Replace(configured("ROUND_ROBIN", 2), "load_assignment",
		"common_lb_config: {zone_aware_lb_config: {fail_traffic_on_panic: true}}\nload_assignment", 1)
	cluster := opened(t, config, nil)
	must[plimsoll.Applied](t)(cluster.Update(plimsoll.LearnHealth(host(1), plimsoll.HealthEject),
		plimsoll.LearnHealth(host(2), plimsoll.HealthEject)))
	if _, err := cluster.Pick(nil); err != plimsoll.ErrNoHostPanic {
		t.Errorf("a pick in panic gives %v", err)
	}
}

func TestABatchIsOfOneSnapshotAndAsGoodAsSinglePicks(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 4), nil)
	picks := make([]plimsoll.Pick, 64)
	if count := must[int](t)(cluster.PickBatch(nil, picks)); count != 64 {
		t.Fatalf("%d of 64 were picked", count)
	}
	counts := make(map[string]int)
	for _, pick := range picks {
		counts[cluster.Address(pick)]++
	}
	for i := 1; i <= 4; i++ {
		if counts[host(i)] != 16 || active(t, cluster)[host(i)] != 16 {
			t.Errorf("%s was picked %d times of 64", host(i), counts[host(i)])
		}
	}
	ok(t, cluster.DoneBatch(picks, plimsoll.Success))
	if got := active(t, cluster); got[host(1)]+got[host(2)]+got[host(3)]+got[host(4)] != 0 {
		t.Errorf("after their end %v are active", got)
	}
	if err := cluster.DoneBatch(picks[:2], plimsoll.Success); err != plimsoll.ErrStalePick {
		t.Errorf("done twice gives %v", err)
	}
	if count := must[int](t)(cluster.PickBatch(nil, nil)); count != 0 {
		t.Errorf("an empty batch has %d", count)
	}
	ok(t, cluster.DoneBatch(nil, plimsoll.Success))
}

func TestABatchEndsPartlyDoneIfOneOfItIsNot(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 1), nil)
	first := must[plimsoll.Pick](t)(cluster.Pick(nil))
	stale := first
	stale.Generation++
	if err := cluster.DoneBatch([]plimsoll.Pick{stale, first}, plimsoll.Success); err != plimsoll.ErrStalePick {
		t.Errorf("it gives %v", err)
	}
	if active(t, cluster)[host(1)] != 0 {
		t.Error("the second was not done")
	}
}

func TestAFilterIsAskedAboutEachCandidateButTheLast(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 3), nil)
	context := &plimsoll.PickContext{Retries: 100}
	for range 20 {
		pick := must[plimsoll.Pick](t)(cluster.PickFunc(context, func(candidate plimsoll.Pick) bool {
			return cluster.Address(candidate) == host(2)
		}))
		if cluster.Address(pick) != host(2) {
			t.Errorf("it picked %s", cluster.Address(pick))
		}
		ok(t, cluster.Done(pick, plimsoll.Success))
	}
	asked := 0
	pick := must[plimsoll.Pick](t)(cluster.PickFunc(&plimsoll.PickContext{Retries: 5}, func(plimsoll.Pick) bool {
		asked++
		return false
	}))
	if asked != 5 || !pick.Counted() {
		t.Errorf("with 5 retries it was asked %d times", asked)
	}
	ok(t, cluster.Done(pick, plimsoll.Success))
	must[plimsoll.Pick](t)(cluster.PickFunc(&plimsoll.PickContext{Uncounted: true}, func(plimsoll.Pick) bool {
		t.Error("without retries it was asked")
		return false
	}))
}

func TestAPanicOfAFilterReachesTheCallerAndLeavesNothingBehind(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 3), nil)
	worker := working(t, cluster)
	context := &plimsoll.PickContext{Retries: 5}
	for name, pick := range map[string]func(func(plimsoll.Pick) bool){
		"cluster": func(accept func(plimsoll.Pick) bool) { cluster.PickFunc(context, accept) },
		"worker":  func(accept func(plimsoll.Pick) bool) { worker.PickFunc(context, accept) },
	} {
		func() {
			defer func() {
				if value := recover(); value != "no" {
					t.Errorf("%s: the caller recovers %v", name, value)
				}
			}()
			pick(func(plimsoll.Pick) bool { panic("no") })
			t.Errorf("%s: it did not panic", name)
		}()
	}
	if got := active(t, cluster); got[host(1)]+got[host(2)]+got[host(3)] != 0 {
		t.Errorf("%v are active", got)
	}
	ok(t, worker.Done(must[plimsoll.Pick](t)(worker.Pick(nil)), plimsoll.Success))
}

func TestAFilterMayUseOtherClustersAndLookAtItsOwn(t *testing.T) {
	cluster, other := opened(t, configured("ROUND_ROBIN", 2), nil), opened(t, configured("RANDOM", 1), nil)
	ok(t, cluster.SetHostData(host(2), "two", nil))
	pick := must[plimsoll.Pick](t)(cluster.PickFunc(&plimsoll.PickContext{Retries: 50}, func(candidate plimsoll.Pick) bool {
		counted(t, other, 1)
		return cluster.HostData(candidate) == "two" && len(must[[]plimsoll.Host](t)(cluster.Hosts())) == 2
	}))
	if cluster.Address(pick) != host(2) {
		t.Errorf("it picked %s", cluster.Address(pick))
	}
}

func TestAnAttemptAvoidsTheHostsOfEarlierOnes(t *testing.T) {
	cluster := opened(t, configured("RANDOM", 3), nil)
	context := &plimsoll.PickContext{Retries: 100}
	for range 50 {
		first := must[plimsoll.Pick](t)(cluster.PickAvoiding(context))
		second := must[plimsoll.Pick](t)(cluster.PickAvoiding(context, first))
		third := must[plimsoll.Pick](t)(cluster.PickAvoiding(context, first, second))
		if first.SameHost(second) || first.SameHost(third) || second.SameHost(third) {
			t.Errorf("%+v, %+v and %+v are not three hosts", first, second, third)
		}
		ok(t, cluster.DoneBatch([]plimsoll.Pick{first, second, third}, plimsoll.Success))
	}
}

func TestAHostThatTheRequestNames(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 3), nil)
	must[plimsoll.Applied](t)(cluster.Update(plimsoll.LearnHealth(host(3), plimsoll.HealthEject)))
	many := make([]string, 40)
	for i := range many {
		many[i] = fmt.Sprintf("192.0.2.%d:80", i)
	}
	many = append(many, host(2))
	for _, test := range []struct {
		addresses []string
		strict    bool
		want      string
		err       error
	}{
		{[]string{host(2)}, true, host(2), nil},
		{[]string{"nowhere:1, " + host(2)}, true, host(2), nil},
		{[]string{"nowhere:1", host(1)}, false, host(1), nil},
		{many, true, host(2), nil},
		{[]string{"nowhere:1"}, true, "", plimsoll.ErrOverrideNotFound},
		{[]string{host(3)}, true, "", plimsoll.ErrOverrideNotAllowed},
	} {
		pick, err := cluster.PickOverride(nil, test.addresses, test.strict)
		if err != test.err || cluster.Address(pick) != test.want && err == nil {
			t.Errorf("%v gives %s, %v", test.addresses, cluster.Address(pick), err)
		}
	}
	pick := must[plimsoll.Pick](t)(cluster.PickOverride(nil, []string{"nowhere:1"}, false))
	if cluster.Address(pick) == "" {
		t.Error("without a host that can be had there is no pick by policy")
	}
}

func TestAFilterIsForThePicksByPolicyOfAnOverride(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 3), nil)
	worker := working(t, cluster)
	context := &plimsoll.PickContext{Retries: 100}
	third := func(candidate plimsoll.Pick) bool { return cluster.Address(candidate) == host(3) }
	for name, override := range map[string]func(address string, accept func(plimsoll.Pick) bool) (plimsoll.Pick, error){
		"cluster": func(address string, accept func(plimsoll.Pick) bool) (plimsoll.Pick, error) {
			return cluster.PickOverrideFunc(context, []string{address}, false, accept)
		},
		"worker": func(address string, accept func(plimsoll.Pick) bool) (plimsoll.Pick, error) {
			return worker.PickOverrideFunc(context, []string{address}, false, accept)
		},
	} {
		named := must[plimsoll.Pick](t)(override(host(1), third))
		chosen := must[plimsoll.Pick](t)(override("nowhere:1", third))
		any := must[plimsoll.Pick](t)(override(host(2), nil))
		if worker.Address(named) != host(1) || worker.Address(chosen) != host(3) || worker.Address(any) != host(2) {
			t.Errorf("%s: %s, %s and %s", name, worker.Address(named), worker.Address(chosen), worker.Address(any))
		}
	}
}

func TestTheCallsOfARequestAllocateNothing(t *testing.T) {
	if raceDetector {
		t.Skip("the race detector allocates")
	}
	cluster := opened(t, reporting, nil)
	worker := working(t, cluster)
	ok(t, cluster.SetHostData(host(1), t, nil))
	context := &plimsoll.PickContext{Retries: 2}
	text := "TEXT rps_fractional=100,application_utilization=0.5"
	batch, named := make([]plimsoll.Pick, 16), []string{host(2)}
	tried := []plimsoll.Pick{must[plimsoll.Pick](t)(cluster.Pick(nil))}
	end := func(pick plimsoll.Pick, err error) {
		cluster.Report(pick, plimsoll.ResponseLoad{HeaderText: &text})
		cluster.Done(pick, plimsoll.Success)
	}
	for name, call := range map[string]func(){
		"Pick":         func() { end(cluster.Pick(nil)) },
		"context":      func() { end(cluster.Pick(context)) },
		"PickAvoiding": func() { end(cluster.PickAvoiding(context, tried...)) },
		"PickOverride": func() { end(cluster.PickOverride(context, named, true)) },
		"PickBatch":    func() { cluster.PickBatch(nil, batch); cluster.DoneBatch(batch, plimsoll.Success) },
		"Address":      func() { _ = cluster.Address(tried[0]) },
		"HostData":     func() { _ = cluster.HostData(tried[0]) },
		"no host":      func() { cluster.Done(plimsoll.Pick{Slot: 9}, plimsoll.Success) },
		"worker": func() {
			pick, _ := worker.Pick(nil)
			worker.Report(pick, plimsoll.ResponseLoad{HeaderText: &text})
			_ = worker.Address(pick)
			worker.Done(pick, plimsoll.Success)
		},
	} {
		if allocated := testing.AllocsPerRun(1000, call); allocated != 0 {
			t.Errorf("%s allocates %v times", name, allocated)
		}
	}
}

func TestAPickIsASmallValueThatCanBeAKey(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 2), nil)
	seen := make(map[plimsoll.Pick]int)
	for range 4 {
		seen[must[plimsoll.Pick](t)(cluster.Pick(&plimsoll.PickContext{Uncounted: true}))]++
	}
	if len(seen) != 2 {
		t.Errorf("four picks of two hosts are %v", seen)
	}
}

func TestNobodyKnowsTheHostOfAPickThatNeverWas(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 1), nil)
	for _, pick := range []plimsoll.Pick{{}, {Slot: 1 << 30}, {Generation: 77}} {
		if cluster.Address(pick) != "" || cluster.HostData(pick) != nil {
			t.Errorf("%+v has a host", pick)
		}
	}
}
