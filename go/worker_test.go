package plimsoll_test

import (
	"testing"

	"plimsoll.example/plimsoll"
)

func TestAWorkerDoesWhatItsClusterDoes(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 3), nil)
	worker := working(t, cluster)
	ok(t, cluster.SetHostData(host(2), 22, nil))
	picks := make([]plimsoll.Pick, 30)
	if count := must[int](t)(worker.PickBatch(nil, picks)); count != 30 {
		t.Fatalf("%d of 30 were picked", count)
	}
	counts := make(map[string]int)
	for _, pick := range picks {
		counts[worker.Address(pick)]++
		if data := worker.HostData(pick); (data == 22) != (worker.Address(pick) == host(2)) {
			t.Errorf("%v is behind %s", data, worker.Address(pick))
		}
	}
	for i := 1; i <= 3; i++ {
		if got := counts[host(i)]; got < 9 || got > 11 {
			t.Errorf("%s was picked %d times of 30", host(i), got)
		}
	}
	ok(t, worker.DoneBatch(picks[1:], plimsoll.Success))
	ok(t, worker.DoneBatch(nil, plimsoll.Success))
	ok(t, worker.Done(picks[0], plimsoll.Failure))
	first := must[plimsoll.Pick](t)(worker.Pick(&plimsoll.PickContext{}))
	other := must[plimsoll.Pick](t)(worker.PickAvoiding(&plimsoll.PickContext{Retries: 100}, first))
	named := must[plimsoll.Pick](t)(worker.PickOverride(nil, []string{host(3)}, true))
	liked := must[plimsoll.Pick](t)(worker.PickFunc(&plimsoll.PickContext{Retries: 100}, func(candidate plimsoll.Pick) bool {
		return worker.HostData(candidate) == 22
	}))
	if first.SameHost(other) || worker.Address(named) != host(3) || worker.Address(liked) != host(2) {
		t.Errorf("%+v, %+v, %+v, %+v", first, other, named, liked)
	}
	ok(t, worker.DoneBatch([]plimsoll.Pick{first, other, named, liked}, plimsoll.Success))
	if err := worker.Report(first, plimsoll.ResponseLoad{}); err != plimsoll.ErrNoReport {
		t.Errorf("a response that says nothing gives %v", err)
	}
	if _, err := worker.Hash(nil, &plimsoll.Request{}, nil); err != plimsoll.ErrNoHash {
		t.Errorf("a policy without hashes gives %v", err)
	}
}

func TestPicksComeToThePeekedHostsInOrder(t *testing.T) {
	worker := working(t, opened(t, configured("RANDOM", 5), nil))
	var peeked []plimsoll.Pick
	for range 5 {
		peeked = append(peeked, must[plimsoll.Pick](t)(worker.Peek(nil)))
	}
	if _, err := worker.Peek(&plimsoll.PickContext{Retries: 1}); err != plimsoll.ErrPeekLimit {
		t.Errorf("a sixth peek at five hosts gives %v", err)
	}
	for i, peek := range peeked {
		pick := must[plimsoll.Pick](t)(worker.Pick(nil))
		if !pick.SameHost(peek) || peek.Counted() {
			t.Errorf("pick %d is %+v, peeked was %+v", i, pick, peek)
		}
		ok(t, worker.Done(pick, plimsoll.Success))
	}
}

func TestAHostThatLeftIsStillKnownIfItWasAskedAbout(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 1), nil)
	worker := working(t, cluster)
	asked := must[plimsoll.Pick](t)(worker.Pick(nil))
	if worker.Address(asked) != host(1) {
		t.Errorf("its address is %q", worker.Address(asked))
	}
	must[plimsoll.Applied](t)(cluster.Update(plimsoll.Remove(host(1)),
		plimsoll.Upsert(plimsoll.HostSpec{Address: host(2)})))
	ok(t, worker.Refresh())
	if worker.Address(asked) != host(1) || cluster.Address(asked) != host(1) {
		t.Errorf("after it has left its address is %q", worker.Address(asked))
	}
	ok(t, worker.Done(asked, plimsoll.Success))
}

func TestAQuiescentWorkerPicksAgain(t *testing.T) {
	worker := working(t, opened(t, configured("ROUND_ROBIN", 1), nil))
	pick := must[plimsoll.Pick](t)(worker.Pick(nil))
	ok(t, worker.Quiesce())
	if worker.Address(pick) != "" {
		t.Error("a worker without hosts knows one")
	}
	ok(t, worker.Done(pick, plimsoll.Success))
	ok(t, worker.Done(must[plimsoll.Pick](t)(worker.Pick(nil)), plimsoll.Success))
}

func TestAClosedWorkerRefuses(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 1), nil)
	worker := working(t, cluster)
	pick := must[plimsoll.Pick](t)(worker.Pick(nil))
	ok(t, worker.Close())
	ok(t, worker.Close())
	for name, call := range map[string]func() error{
		"Pick":      func() error { _, err := worker.Pick(nil); return err },
		"PickBatch": func() error { _, err := worker.PickBatch(nil, make([]plimsoll.Pick, 1)); return err },
		"Peek":      func() error { _, err := worker.Peek(nil); return err },
		"Done":      func() error { return worker.Done(pick, plimsoll.Success) },
		"DoneBatch": func() error { return worker.DoneBatch([]plimsoll.Pick{pick}, plimsoll.Success) },
		"Report":    func() error { return worker.Report(pick, plimsoll.ResponseLoad{}) },
		"Hash":      func() error { _, err := worker.Hash(nil, &plimsoll.Request{}, nil); return err },
		"Refresh":   worker.Refresh,
		"Quiesce":   worker.Quiesce,
	} {
		if err := call(); err != plimsoll.ErrClosed {
			t.Errorf("%s gives %v", name, err)
		}
	}
	if worker.Address(pick) != "" {
		t.Error("it knows a host")
	}
	ok(t, cluster.Done(pick, plimsoll.Success))
}
