package plimsoll_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"plimsoll.example/plimsoll"
)

func TestAnExplanationIsOfTheNextPick(t *testing.T) {
	cluster := opened(t, configured("RANDOM", 5), nil)
	worker := working(t, cluster)
	for range 20 {
		explained := must[*plimsoll.Explanation](t)(worker.Explain(nil, plimsoll.ExplainOptions{}))
		pick := must[plimsoll.Pick](t)(worker.Pick(nil))
		if explained.Host == nil || *explained.Host != worker.Address(pick) {
			t.Errorf("%s, and the pick goes to %s", explained.JSON, worker.Address(pick))
		}
		if explained.Policy != "random" || explained.Draw == nil || explained.Weight == nil ||
			*explained.Weight != 1 || explained.Priority.Chosen != 0 || explained.Priority.Source != "healthy" ||
			explained.Why == "" || explained.Priority.Healthy[0] != 100 || explained.SlowStart != nil {
			t.Errorf("the explanation is %s", explained.JSON)
		}
		ok(t, worker.Done(pick, plimsoll.Success))
	}
}

func TestAnExplanationTakesAFilterAndADraw(t *testing.T) {
	cluster := opened(t, configured("RANDOM", 5), nil)
	draw := uint64(0)
	accept := func(candidate plimsoll.Pick) bool { return cluster.Address(candidate) == host(3) }
	explained := must[*plimsoll.Explanation](t)(cluster.Explain(&plimsoll.PickContext{Retries: 100},
		plimsoll.ExplainOptions{Accept: accept, Draw: &draw}))
	if *explained.Host != host(3) {
		t.Errorf("the explanation is %s", explained.JSON)
	}
	explained = must[*plimsoll.Explanation](t)(cluster.Explain(nil, plimsoll.ExplainOptions{Draw: &draw}))
	if *explained.Draw != 0 {
		t.Errorf("the explanation is %s", explained.JSON)
	}
	func() {
		defer func() {
			if recover() != "no" {
				t.Error("the panic of a filter does not reach the caller")
			}
		}()
		cluster.Explain(&plimsoll.PickContext{Retries: 1},
			plimsoll.ExplainOptions{Accept: func(plimsoll.Pick) bool { panic("no") }})
	}()
}

func TestThereIsAnExplanationForNoHost(t *testing.T) {
	explained := must[*plimsoll.Explanation](t)(opened(t, "name: api\n", nil).Explain(nil, plimsoll.ExplainOptions{}))
	if explained.Host != nil || explained.Why == "" {
		t.Errorf("the explanation is %s", explained.JSON)
	}
}

func TestASlowStartIsExplained(t *testing.T) {
	config := strings.Replace(configured("ROUND_ROBIN", 1), "lb_policy: ROUND_ROBIN",
		"lb_policy: ROUND_ROBIN\nround_robin_lb_config: {slow_start_config: {slow_start_window: 10s}}", 1)
	cluster := opened(t, config, nil)
	ok(t, cluster.Tick(start.Add(5*time.Second)))
	explained := must[*plimsoll.Explanation](t)(cluster.Explain(nil, plimsoll.ExplainOptions{}))
	if explained.SlowStart == nil || explained.SlowStart.Factor != 0.5 || *explained.SlowStart.SecondsLeft != 5 ||
		*explained.EffectiveWeight != 0.5 {
		t.Errorf("the explanation is %s", explained.JSON)
	}
}

func TestEachPartIsDumpedAsJSON(t *testing.T) {
	cluster := opened(t, configured("MAGLEV", 2), nil)
	for part, begin := range map[plimsoll.DumpPart]string{
		plimsoll.DumpLoads:      `{"healthy":[100.0],`,
		plimsoll.DumpHosts:      `[{"address":"10.0.0.1:80",`,
		plimsoll.DumpLocalities: `[{"priority":0,"source":"healthy",`,
		plimsoll.DumpTable:      `["10.0.0.`,
		plimsoll.DumpStats:      `{"`,
		plimsoll.DumpSnapshot:   `{"version":`,
	} {
		dump := must[json.RawMessage](t)(cluster.Dump(part, nil))
		if !json.Valid(dump) || !strings.HasPrefix(string(dump), begin) {
			t.Errorf("part %d is %.100s", part, dump)
		}
	}
	priority, source := uint64(0), plimsoll.SourceDegraded
	some := must[json.RawMessage](t)(cluster.Dump(plimsoll.DumpLocalities,
		&plimsoll.DumpOptions{Priority: &priority, Source: &source}))
	if !strings.HasPrefix(string(some), `[{"priority":0,"source":"degraded",`) {
		t.Errorf("the degraded ones are %s", some)
	}
	priority = 7
	_, err := cluster.Dump(plimsoll.DumpTable, &plimsoll.DumpOptions{Priority: &priority})
	var failed *plimsoll.Error
	if !errors.As(err, &failed) || failed.Field != "priority" {
		t.Errorf("a priority that there is not gives %v", err)
	}
	if _, err := cluster.Dump(77, nil); !errors.Is(err, plimsoll.ErrInvalidArgument) {
		t.Errorf("a part that there is not gives %v", err)
	}
}

func TestQueuedNumbersDecideAndNumberedWorkersRepeat(t *testing.T) {
	cluster := opened(t, configured("RANDOM", 4), nil)
	number := uint64(7)
	options := plimsoll.WorkerOptions{Number: &number, PeekCapacity: 100, Draws: []uint64{0, 1 << 63}}
	sequence := func() (addresses []string) {
		worker := must[*plimsoll.Worker](t)(cluster.NewWorkerWith(options))
		defer worker.Close()
		for range 2 {
			ok(t, worker.PushDraws(0, 1<<63))
		}
		for range 20 {
			addresses = append(addresses, worker.Address(must[plimsoll.Pick](t)(worker.Pick(nil))))
		}
		return addresses
	}
	first, second := sequence(), sequence()
	if strings.Join(first, " ") != strings.Join(second, " ") {
		t.Errorf("%v, and then %v", first, second)
	}
	if first[0] == first[1] || first[0] != first[2] || first[0] != first[4] || first[1] != first[3] {
		t.Errorf("the same numbers go to %v", first[:6])
	}
}
