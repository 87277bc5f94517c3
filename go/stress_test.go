package plimsoll_test

import (
	"errors"
	"os"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"plimsoll.example/plimsoll"
)

// Everything at once, for the race detector and the checks of cgo: requests in the manner of every
// kind, hosts that come and go with their data, ticks, looks, and in the end a Close in the middle.
func TestAnyNumberOfGoroutinesMayUseAClusterAtOnce(t *testing.T) {
	cluster := opened(t, configured("LEAST_REQUEST", 4), &plimsoll.Options{Behavior: plimsoll.BehaviorEnvoy})
	var set, released atomic.Int64
	var group sync.WaitGroup
	request := func(i int) error {
		context := &plimsoll.PickContext{Retries: 3, Now: start.Add(time.Duration(i))}
		var picks []plimsoll.Pick
		var pick plimsoll.Pick
		var err error
		switch i % 5 {
		case 0:
			pick, err = cluster.Pick(nil)
		case 1:
			pick, err = cluster.PickFunc(context, func(candidate plimsoll.Pick) bool {
				return cluster.Address(candidate) != host(1)
			})
		case 2:
			pick, err = cluster.PickAvoiding(context, plimsoll.Pick{Slot: 1})
		case 3:
			pick, err = cluster.PickOverride(context, []string{host(2) + "," + host(9)}, false)
		case 4:
			picks = make([]plimsoll.Pick, 8)
			_, err = cluster.PickBatch(context, picks)
		}
		if err != nil {
			return err
		}
		if picks == nil {
			picks = []plimsoll.Pick{pick}
		}
		for _, pick := range picks {
			if cluster.Address(pick) == "" {
				t.Errorf("%+v has no address", pick)
			}
			if data := cluster.HostData(pick); data != nil && data != cluster.Address(pick) {
				t.Errorf("%v is behind %s", data, cluster.Address(pick))
			}
		}
		return cluster.DoneBatch(picks, plimsoll.Success)
	}
	loop := func(call func(i int) error) {
		group.Go(func() {
			for i := 0; ; i++ {
				switch err := call(i); {
				case errors.Is(err, plimsoll.ErrClosed):
					return
				case err != nil && !errors.Is(err, plimsoll.ErrHasData) && !errors.Is(err, plimsoll.ErrUnknownHost):
					t.Error(err)
					return
				}
			}
		})
	}
	for range 4 {
		loop(request)
	}
	loop(func(i int) error {
		change := plimsoll.Upsert(plimsoll.HostSpec{Address: host(5 + i%8), Weight: uint32(1 + i%3)})
		if i%16 >= 8 {
			change = plimsoll.Remove(host(5 + i%8))
		}
		_, err := cluster.Update(change)
		return err
	})
	loop(func(i int) error {
		address := host(1 + i%12)
		err := cluster.SetHostData(address, address, func() { released.Add(1) })
		if err == nil {
			set.Add(1)
		}
		return err
	})
	loop(func(i int) error { return cluster.Tick(start.Add(time.Duration(i) * time.Microsecond)) })
	loop(func(int) error { _, err := cluster.Hosts(); return err })
	loop(func(int) error { _, err := cluster.Stats(); return err })
	loop(func(int) error {
		worker, err := cluster.NewWorker()
		if err != nil {
			return err
		}
		defer worker.Close()
		pick, err := worker.Pick(&plimsoll.PickContext{Uncounted: true})
		if err == nil && worker.Address(pick) == "" {
			t.Errorf("%+v has no address", pick)
		}
		return err
	})
	time.Sleep(500 * time.Millisecond)
	ok(t, cluster.Close())
	group.Wait()
	if set.Load() == 0 || set.Load() != released.Load() {
		t.Errorf("data of %d hosts was set, and of %d released", set.Load(), released.Load())
	}
}

func TestAMillionPicksAndTenThousandUpdatesLeaveNoMemoryBehind(t *testing.T) {
	const updates, picks = 10_000, 100
	cluster := opened(t, configured("ROUND_ROBIN", 20), nil)
	released := 0
	run := func(from, to int) {
		for i := from; i < to; i++ {
			comes, goes := host(100+(i+10)%50), host(100+i%50)
			must[plimsoll.Applied](t)(cluster.Update(plimsoll.Upsert(plimsoll.HostSpec{Address: comes})))
			ok(t, cluster.SetHostData(comes, make([]byte, 1000), func() { released++ }))
			for range picks {
				pick, err := cluster.Pick(nil)
				ok(t, err)
				if cluster.Address(pick) == "" {
					t.Fatalf("%+v has no address", pick)
				}
				ok(t, cluster.Done(pick, plimsoll.Success))
			}
			if i >= 10 {
				must[plimsoll.Applied](t)(cluster.Update(plimsoll.Remove(goes)))
			}
			ok(t, cluster.Tick(start.Add(time.Duration(i)*time.Millisecond)))
		}
	}
	run(0, updates/10)
	before := resident(t)
	run(updates/10, updates)
	after := resident(t)
	// A leak of eight bytes a pick would be 7 MB.
	if after > before+4<<20 {
		t.Errorf("memory has grown from %d to %d bytes", before, after)
	}
	if released < updates-100 {
		t.Errorf("the data of %d hosts was released", released)
	}
	stats := must[map[string]uint64](t)(cluster.Stats())
	if stats["plimsoll.snapshots_live"] > 2 {
		t.Errorf("%d snapshots are alive", stats["plimsoll.snapshots_live"])
	}
}

// resident is how much memory the process has, C's included.
func resident(t *testing.T) int {
	t.Helper()
	debug.FreeOSMemory()
	text, err := os.ReadFile("/proc/self/statm")
	ok(t, err)
	pages, err := strconv.Atoi(strings.Fields(string(text))[1])
	ok(t, err)
	return pages * os.Getpagesize()
}
