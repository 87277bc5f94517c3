package plimsoll_test

import (
	"errors"
	"log/slog"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"plimsoll.example/plimsoll"
)

func TestDataIsBehindEachPickOfItsHost(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 2), nil)
	counted(t, cluster, 4) // both hosts are known without data
	type pool struct{ picks int }
	pools := map[string]*pool{host(1): {}, host(2): {}}
	for address, pool := range pools {
		ok(t, cluster.SetHostData(address, pool, nil))
	}
	for range 10 {
		pick := must[plimsoll.Pick](t)(cluster.Pick(nil))
		cluster.HostData(pick).(*pool).picks++
		ok(t, cluster.Done(pick, plimsoll.Success))
	}
	if pools[host(1)].picks+pools[host(2)].picks != 10 || pools[host(1)].picks*pools[host(2)].picks < 24 {
		t.Errorf("the pools have %+v and %+v", pools[host(1)], pools[host(2)])
	}
	released := func() { t.Error("data that was not taken was released") }
	if err := cluster.SetHostData(host(1), 1, released); !errors.Is(err, plimsoll.ErrHasData) {
		t.Errorf("data once more gives %v", err)
	}
	var failed *plimsoll.Error
	if err := cluster.SetHostData("nowhere:1", 1, released); !errors.As(err, &failed) ||
		failed.Code != plimsoll.ErrUnknownHost || failed.Field != "nowhere:1" {
		t.Errorf("data of nobody gives %v", err)
	}
}

func TestNilIsDataToo(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 1), nil)
	ok(t, cluster.SetHostData(host(1), nil, nil))
	if err := cluster.SetHostData(host(1), 1, nil); !errors.Is(err, plimsoll.ErrHasData) {
		t.Errorf("data once more gives %v", err)
	}
	if data := cluster.HostData(must[plimsoll.Pick](t)(cluster.Pick(nil))); data != nil {
		t.Errorf("%v is behind it", data)
	}
}

func TestDataIsReleasedOnceAndNotBeforeItsLastRequestIsDone(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 1), nil)
	released := 0
	ok(t, cluster.SetHostData(host(1), "pool", func() {
		released++
		// It may call anything.
		must[[]plimsoll.Host](t)(cluster.Hosts())
		counted(t, cluster, 1)
	}))
	pick := must[plimsoll.Pick](t)(cluster.Pick(nil))
	must[plimsoll.Applied](t)(cluster.Update(plimsoll.Remove(host(1)),
		plimsoll.Upsert(plimsoll.HostSpec{Address: host(2)})))
	ok(t, cluster.Tick(start.Add(time.Second)))
	if released != 0 || cluster.HostData(pick) != "pool" {
		t.Errorf("while a request is active it was released %d times", released)
	}
	ok(t, cluster.Done(pick, plimsoll.Success))
	ok(t, cluster.Tick(start.Add(2*time.Second)))
	ok(t, cluster.Tick(start.Add(3*time.Second)))
	if released != 1 || cluster.HostData(pick) != nil {
		t.Errorf("it was released %d times, and %v is behind the pick", released, cluster.HostData(pick))
	}
}

func TestIdleWorkersHoldNothingUp(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 1), nil)
	released := make(chan bool, 1)
	ok(t, cluster.SetHostData(host(1), 1, func() { released <- true }))
	// Several workers, each with the snapshot that has the host.
	var together, done sync.WaitGroup
	together.Add(4)
	for range 4 {
		done.Go(func() {
			cluster.PickFunc(&plimsoll.PickContext{Retries: 1, Uncounted: true}, func(plimsoll.Pick) bool {
				together.Done()
				together.Wait()
				return true
			})
		})
	}
	done.Wait()
	must[plimsoll.Applied](t)(cluster.Update(plimsoll.Remove(host(1))))
	ok(t, cluster.Tick(start.Add(time.Second)))
	select {
	case <-released:
	default:
		t.Error("it is not released after a tick")
	}
}

func TestAHostThatReturnsHasNoDataOfBefore(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 1), nil)
	ok(t, cluster.SetHostData(host(1), "before", nil))
	held := must[plimsoll.Pick](t)(cluster.Pick(nil))
	must[plimsoll.Applied](t)(cluster.Update(plimsoll.Remove(host(1))))
	must[plimsoll.Applied](t)(cluster.Update(plimsoll.Upsert(plimsoll.HostSpec{Address: host(1)})))
	pick := must[plimsoll.Pick](t)(cluster.Pick(nil))
	if pick.SameHost(held) || cluster.HostData(pick) != nil || cluster.HostData(held) != "before" {
		t.Errorf("%v is behind the new host, %v behind the old one", cluster.HostData(pick), cluster.HostData(held))
	}
	ok(t, cluster.SetHostData(host(1), "after", nil))
	again := must[plimsoll.Pick](t)(cluster.Pick(nil))
	if cluster.HostData(again) != "after" || cluster.HostData(held) != "before" {
		t.Errorf("%v is behind the new host, %v behind the old one", cluster.HostData(again), cluster.HostData(held))
	}
}

func TestCloseReleasesAllData(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 3), nil)
	released := 0
	for i := 1; i <= 3; i++ {
		ok(t, cluster.SetHostData(host(i), i, func() { released++ }))
	}
	must[plimsoll.Pick](t)(cluster.Pick(nil)) // a request that has no end
	worker := working(t, cluster)
	ok(t, cluster.Close())
	if released != 0 {
		t.Errorf("%d were released while a worker is there", released)
	}
	ok(t, worker.Close())
	if released != 3 {
		t.Errorf("%d of 3 were released", released)
	}
}

// lines collects what a logger has to say.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(line)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func TestWhatIsForgottenIsFreedAndMissed(t *testing.T) {
	heard := &lines{}
	released := make(chan bool, 1)
	func() {
		cluster, err := plimsoll.Open(configured("ROUND_ROBIN", 1),
			&plimsoll.Options{Logger: slog.New(slog.NewTextHandler(heard, nil))})
		ok(t, err)
		ok(t, cluster.SetHostData(host(1), 1, func() { released <- true }))
		counted(t, cluster, 1)
		worker, err := cluster.NewWorker()
		ok(t, err)
		must[plimsoll.Pick](t)(worker.Pick(nil))
	}()
	deadline := time.After(30 * time.Second)
	for {
		runtime.GC()
		select {
		case <-released:
			for _, missed := range []string{"a Cluster was not closed", "a Worker was not closed"} {
				if !strings.Contains(heard.String(), missed) {
					t.Errorf("%q is not in %q", missed, heard)
				}
			}
			return
		case <-deadline:
			t.Fatal("nothing is released")
		case <-time.After(time.Millisecond):
		}
	}
}

func TestWhatWasClosedIsNotMissed(t *testing.T) {
	heard := &lines{}
	func() {
		cluster, err := plimsoll.Open(configured("ROUND_ROBIN", 1),
			&plimsoll.Options{Logger: slog.New(slog.NewTextHandler(heard, nil))})
		ok(t, err)
		worker, err := cluster.NewWorker()
		ok(t, err)
		ok(t, worker.Close())
		ok(t, cluster.Close())
	}()
	for range 5 {
		runtime.GC()
		time.Sleep(time.Millisecond)
	}
	if strings.Contains(heard.String(), "was not closed") {
		t.Errorf("it says %q", heard)
	}
}

func TestAPanicOfOneReleaseKeepsNoOtherFromBeingCalled(t *testing.T) {
	cluster := opened(t, configured("ROUND_ROBIN", 3), nil)
	released := 0
	for i := range 3 {
		ok(t, cluster.SetHostData(host(i+1), i, func() {
			released++
			if released == 1 {
				panic("no")
			}
		}))
	}
	func() {
		defer func() {
			if recover() != "no" {
				t.Error("the panic is gone")
			}
		}()
		_, _ = cluster.Update(plimsoll.Upsert(plimsoll.HostSpec{Address: host(9)}),
			plimsoll.Remove(host(1)), plimsoll.Remove(host(2)), plimsoll.Remove(host(3)))
	}()
	ok(t, cluster.Tick(start.Add(time.Second)))
	if released != 3 {
		t.Errorf("%d of 3 were released", released)
	}
}
