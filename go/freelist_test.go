package plimsoll

import (
	"testing"

	"plimsoll.example/plimsoll/internal/capi"
)

func listed(t *testing.T) (*Cluster, *freeList) {
	t.Helper()
	cluster, err := Open("name: api\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cluster.Close() })
	return cluster, &cluster.idle
}

// borrowed takes so many workers.
func borrowed(t *testing.T, cluster *Cluster, count int) []*handle {
	t.Helper()
	var taken []*handle
	for range count {
		worker, hint, err := cluster.borrow()
		if err != nil {
			t.Fatal(err)
		}
		cluster.idle.hints.Put(hint)
		taken = append(taken, worker)
	}
	return taken
}

func (l *freeList) length() (length int) {
	for i := range l.shelves {
		if l.shelves[i].idle.Load() != nil {
			length++
		}
	}
	return length
}

func giveAll(cluster *Cluster, taken []*handle) {
	for _, worker := range taken {
		cluster.giveBack(worker, &hint{})
	}
}

func TestTheListGrowsToWhatWasInUseAtOnceAndUsesItAgain(t *testing.T) {
	cluster, list := listed(t)
	taken := borrowed(t, cluster, 5)
	giveAll(cluster, taken)
	if list.length() != 5 {
		t.Fatalf("it has %d workers", list.length())
	}
	known := make(map[*handle]bool)
	for _, worker := range taken {
		known[worker] = true
	}
	for _, worker := range borrowed(t, cluster, 5) {
		if !known[worker] {
			t.Error("a new worker was made")
		}
		defer cluster.giveBack(worker, &hint{})
	}
	if list.length() != 0 {
		t.Errorf("with all of them in use it has %d", list.length())
	}
}

func TestTheListKeepsNoMoreThanItsBound(t *testing.T) {
	cluster, list := listed(t)
	giveAll(cluster, borrowed(t, cluster, len(list.shelves)+3))
	if list.length() != len(list.shelves) {
		t.Errorf("it has %d workers of %d at most", list.length(), len(list.shelves))
	}
}

func TestAWorkerComesBackToWhereItWasTaken(t *testing.T) {
	cluster, list := listed(t)
	giveAll(cluster, borrowed(t, cluster, 1))
	at := func() int {
		for i := range list.shelves {
			if list.shelves[i].idle.Load() != nil {
				return i
			}
		}
		return -1
	}
	before := at()
	for range 10 {
		worker, hint := list.take()
		if hint.shelf != before || !list.give(worker, hint) || at() != before {
			t.Errorf("it came from %d and is at %d", before, at())
		}
	}
}

func TestAWorkerThatComesBackToAClosedListIsFreed(t *testing.T) {
	cluster, list := listed(t)
	taken := borrowed(t, cluster, 2)
	giveAll(cluster, taken[:1])
	cluster.Close()
	giveAll(cluster, taken[1:])
	if list.length() != 0 {
		t.Errorf("it still has %d workers", list.length())
	}
}

func TestIdleWorkersAreQuiescedByControlCalls(t *testing.T) {
	cluster, list := listed(t)
	if _, err := cluster.Update(Upsert(HostSpec{Address: "10.0.0.1:80"})); err != nil {
		t.Fatal(err)
	}
	pick, err := cluster.Pick(nil)
	if err != nil {
		t.Fatal(err)
	}
	worker := borrowed(t, cluster, 1)[0]
	knows := func() bool {
		_, status := worker.worker.HostAddress((*capi.Pick)(&pick))
		return status == 0
	}
	if !knows() {
		t.Error("right after its pick the worker does not know the host")
	}
	giveAll(cluster, []*handle{worker})
	if err := cluster.SetLoads(); err != nil {
		t.Fatal(err)
	}
	if knows() {
		t.Error("after a control call the worker has a snapshot")
	}
	if list.length() != 1 {
		t.Errorf("the list has %d workers", list.length())
	}
}
