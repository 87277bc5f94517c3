package plimsoll_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"plimsoll.example/plimsoll"
)

func TestStreamsOfLoadReports(t *testing.T) {
	config := strings.Replace(reporting, "blackout_period: 0s", "blackout_period: 0s, enable_oob_load_report: true", 1)
	cluster := opened(t, config, nil)
	// They are opened one after the other, each at a time of its own.
	var actions []plimsoll.StreamAction
	for now := start; len(actions) < 2; {
		some, next, due, err := cluster.PollStreams(now)
		if err != nil || !due || next.After(start.Add(time.Minute)) {
			t.Fatalf("after %+v the next one is due at %v %v, %v", actions, due, next, err)
		}
		actions, now = append(actions, some...), next
	}
	slices.SortFunc(actions, func(a, b plimsoll.StreamAction) int { return strings.Compare(a.Address, b.Address) })
	if first := actions[0]; !first.Open || first.Address != host(1) || first.Dial != host(1) ||
		first.Interval != 10*time.Second {
		t.Errorf("the first action is %+v", first)
	}
	now := start.Add(time.Minute)
	message := []byte{
		0x49, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f,
		0x31, 0, 0, 0, 0, 0, 0, 0x59, 0x40,
	}
	ok(t, cluster.StreamMessage(actions[0], message, now))
	if report := must[[]plimsoll.Host](t)(cluster.Hosts())[0].Report; report == nil || report.Weight != 200 {
		t.Errorf("the report is %+v", report)
	}
	ok(t, cluster.StreamEnded(actions[1], plimsoll.StreamBroken, now))
	if _, next, due, err := cluster.PollStreams(now); err != nil || !due || !next.After(now) {
		t.Errorf("a broken stream is opened again at %v %v, %v", due, next, err)
	}
}
