package replay

import (
	"errors"
	"fmt"
	"math"
	"time"

	"plimsoll.example/plimsoll"
)

const (
	// More workers than this are refused: each has room for many peeks.
	maxWorkers = 1024
	// So many that only the number of healthy hosts limits peeks, as in Envoy.
	peekCapacity = 65_536
	// More ticks than this are not made by one operation, so that a line cannot run forever. What is
	// left of the time is one tick.
	maxTicks = 100_000
	nsPerMS  = uint64(time.Millisecond)
)

// cluster is one cluster of a replay: its engine, clock and workers.
type cluster struct {
	engine   *plimsoll.Cluster
	behavior plimsoll.Behavior
	// By index; nil while closed.
	workers []*plimsoll.Worker
	// Requests that were picked with "hold" and have not ended, oldest first, by address.
	held  map[string][]plimsoll.Pick
	nowMS uint64
	// It has a local cluster, which another operation may have changed.
	follows bool
}

func readOpen(f *fields) operation {
	behaviors := map[string]plimsoll.Behavior{
		"native": plimsoll.BehaviorNative, "envoy": plimsoll.BehaviorEnvoy,
	}
	config := need(f, "config", "an object", is[*object])
	node := f.inside("node")
	node.forget("locality")
	place := node.inside("locality")
	locality := plimsoll.Locality{
		Region: place.text("region"), Zone: place.text("zone"), SubZone: place.text("sub_zone"),
	}
	place.finish()
	node.finish()
	local, hasLocal := read(f, "local_cluster", "a string", is[string])
	behavior, _ := read(f, "behavior", words(behaviors), wordOf(behaviors))
	workers, seed := f.integer("workers", 1), f.integer("seed", 0)
	draws, _ := read(f, "draws", "a list of integers", listOf(integer))
	nowMS := f.integer("now_ms", 0)
	runtime, _ := read(f, "runtime", "an object", is[*object])
	return func(s *session, name *string) (string, any, error) {
		options := &plimsoll.Options{Behavior: behavior, Seed: &seed, Locality: locality}
		if hasLocal {
			cluster, ok := s.clusters[local]
			if !ok {
				return "", nil, notOpen("local_cluster", local)
			}
			options.LocalCluster = cluster.engine
		}
		if workers < 1 || workers > maxWorkers {
			return "", nil, invalid("workers", "value must be from 1 to %d", maxWorkers)
		}
		opened := &cluster{
			behavior: behavior, held: make(map[string][]plimsoll.Pick), nowMS: nowMS, follows: hasLocal,
		}
		if err := opened.open(text(config), options, runtime); err != nil {
			return "", nil, err
		}
		for number := range workers {
			worker, err := opened.newWorker(number, draws)
			if err != nil {
				return "", nil, errors.Join(err, opened.engine.Close())
			}
			opened.workers, draws = append(opened.workers, worker), nil
		}
		if name == nil {
			own, _ := config.values["name"].(string)
			name = &own
		}
		s.open(*name, opened)
		return "ok", true, nil
	}
}

// open opens the engine's cluster. What the replay itself says is checked before the configuration.
func (c *cluster) open(config string, options *plimsoll.Options, runtime *object) (err error) {
	if options.Runtime, err = runtimeValues("runtime", runtime); err != nil {
		return err
	}
	if options.Now, err = moment("now_ms", c.nowMS); err != nil {
		return err
	}
	c.engine, err = plimsoll.Open(config, options)
	return err
}

func (c *cluster) newWorker(number uint64, draws []uint64) (*plimsoll.Worker, error) {
	return c.engine.NewWorkerWith(plimsoll.WorkerOptions{
		PeekCapacity: peekCapacity, Number: &number, Draws: draws,
	})
}

func (c *cluster) close() {
	for _, worker := range c.workers {
		if worker != nil {
			worker.Close()
		}
	}
	c.engine.Close()
}

// follow follows the local cluster at once, as Envoy does.
func (c *cluster) follow() error {
	if !c.follows {
		return nil
	}
	return c.tick(c.nowMS * nsPerMS)
}

// moment is a time of the replay.
func moment(field string, ms uint64) (time.Time, error) {
	if ms > math.MaxUint64/nsPerMS {
		return time.Unix(0, 0), invalid(field, "the time does not fit into 64 bits of nanoseconds")
	}
	return at(ms * nsPerMS), nil
}

func at(ns uint64) time.Time {
	const second = uint64(time.Second)
	return time.Unix(int64(ns/second), int64(ns%second))
}

func (c *cluster) tick(ns uint64) error { return c.engine.Tick(at(ns)) }

func readAssign(f *fields) operation {
	assignment := need(f, "load_assignment", "an object", is[*object])
	return onCluster(func(c *cluster) error {
		_, err := c.engine.Assign(text(assignment))
		return err
	})
}

// readReconfigure replaces the settings; behavior and hosts stay.
func readReconfigure(f *fields) operation {
	config := need(f, "config", "an object", is[*object])
	return onCluster(func(c *cluster) error {
		for _, name := range []string{"load_assignment", "loadAssignment"} {
			if config.values[name] != nil {
				return invalid("load_assignment", "reconfigure changes settings only; assign changes hosts")
			}
		}
		_, err := c.engine.Reload(text(config))
		return err
	})
}

func readHealth(f *fields) operation {
	events := map[string]plimsoll.HealthEvent{
		"pass": plimsoll.HealthPass, "fail": plimsoll.HealthFail, "degraded": plimsoll.HealthDegraded,
		"eject": plimsoll.HealthEject, "uneject": plimsoll.HealthUneject,
	}
	hosts := need(f, "hosts", "a map to "+words(events), mapOf(wordOf(events)))
	return onCluster(func(c *cluster) error {
		var changes []plimsoll.Change
		for _, host := range hosts {
			changes = append(changes, plimsoll.LearnHealth(host.key, host.value))
		}
		_, err := c.engine.Update(changes...)
		return err
	})
}

func readRuntime(f *fields) operation {
	values := need(f, "values", "an object", is[*object])
	return onCluster(func(c *cluster) error {
		own, err := runtimeValues("values", values)
		if err == nil {
			_, err = c.engine.SetRuntime(own...)
		}
		return err
	})
}

// runtimeValues are numbers, or true or false; null removes one.
func runtimeValues(field string, keys *object) ([]plimsoll.RuntimeValue, error) {
	if keys == nil {
		return nil, nil
	}
	var values []plimsoll.RuntimeValue
	for _, key := range keys.keys {
		value := keys.values[key]
		whole, isWhole := integer(value)
		switch value := value.(type) {
		case nil:
			values = append(values, plimsoll.RuntimeRemoved(key))
			continue
		case bool:
			values = append(values, plimsoll.RuntimeBool(key, value))
			continue
		case number:
			if !isWhole {
				values = append(values, plimsoll.RuntimeNumber(key, value.float))
				continue
			}
		}
		if !isWhole {
			return nil, invalid(field+"."+key, "expected %s, got %s", anInteger, text(value))
		}
		values = append(values, plimsoll.RuntimeInteger(key, whole))
	}
	return values, nil
}

// readAdvance lets time pass. Ticks come when there is something to do, and at the end; if they are
// late, at the end only.
func readAdvance(f *fields) operation {
	ms, late := need(f, "ms", anInteger, integer), f.flag("late")
	return showing("now_ms", func(c *cluster) (any, error) {
		nowMS := c.nowMS + ms
		if nowMS < ms {
			nowMS = math.MaxUint64
		}
		end, err := moment("ms", nowMS)
		if err != nil {
			return nil, err
		}
		for range maxTicks {
			next, due, err := c.engine.NextTick()
			if err != nil {
				return nil, err
			}
			if !due || late || !next.Before(end) {
				break
			}
			if err := c.engine.Tick(next); err != nil {
				return nil, err
			}
		}
		if err := c.engine.Tick(end); err != nil {
			return nil, err
		}
		c.nowMS = nowMS
		return unsigned(nowMS), nil
	})
}

// load is how busy a host is: a count, or {"active":N,"pending":N}.
type load struct {
	active  uint64
	pending *uint64
}

func asLoad(value any) (load, bool) {
	if active, ok := integer(value); ok {
		return load{active: active}, true
	}
	keys, ok := value.(*object)
	if !ok {
		return load{}, false
	}
	active, ok := integer(keys.values["active"])
	own := load{active: active}
	known := 1
	if value, given := keys.values["pending"]; given {
		known++
		if value != nil {
			pending, fits := integer(value)
			own.pending, ok = &pending, ok && fits
		}
	}
	return own, ok && len(keys.keys) == known
}

func readLoad(f *fields) operation {
	hosts := need(f, "hosts", `a map to counts or {"active":N,"pending":N}`, mapOf(asLoad))
	return onCluster(func(c *cluster) error {
		known, err := c.counts()
		if err != nil {
			return err
		}
		var loads []plimsoll.HostLoad
		for _, host := range hosts {
			if err := checkLoad(known, host.key, host.value); err != nil {
				return err
			}
			own := plimsoll.HostLoad{Address: host.key, Active: saturated(host.value.active)}
			if host.value.pending != nil {
				pending := saturated(*host.value.pending)
				own.Pending = &pending
			}
			loads = append(loads, own)
		}
		return c.engine.SetLoads(loads...)
	})
}

// checkLoad refuses what the engine will not take. It names loads by their number, a replay by the host.
func checkLoad(known map[string]uint64, address string, load load) error {
	for _, count := range []struct {
		name     string
		requests *uint64
	}{{"active", &load.active}, {"pending", load.pending}} {
		if count.requests != nil && *count.requests > plimsoll.MaxLoad {
			return invalid(address+"."+count.name,
				"HostLoad: value must be less than or equal to %d", plimsoll.MaxLoad)
		}
	}
	return checkKnown(known, address)
}

// saturated is as much as fits; more than that is more than the engine goes by, too.
func saturated(count uint64) uint32 { return uint32(min(count, math.MaxUint32)) }

func readDraws(f *fields) operation {
	values := need(f, "values", "a list of integers", listOf(integer))
	index := f.integer("worker", 0)
	return onCluster(func(c *cluster) error {
		worker, err := c.worker(index)
		if err != nil {
			return err
		}
		return worker.PushDraws(values...)
	})
}

func readWorker(f *fields) operation {
	actions := map[string]func(*cluster, uint64) error{
		"open": (*cluster).openWorker, "close": (*cluster).closeWorker,
		"refresh": (*cluster).refreshWorker, "quiesce": (*cluster).quiesceWorker,
	}
	index := need(f, "worker", anInteger, integer)
	action := need(f, "action", words(actions), wordOf(actions))
	return onCluster(func(c *cluster) error { return action(c, index) })
}

func (c *cluster) openWorker(index uint64) error {
	if err := c.hasWorker(index); err != nil {
		return err
	}
	if c.workers[index] != nil {
		return invalid("worker", "worker %d is open", index)
	}
	worker, err := c.newWorker(index, nil)
	c.workers[index] = worker
	return err
}

func (c *cluster) closeWorker(index uint64) error {
	worker, err := c.worker(index)
	if err != nil {
		return err
	}
	c.workers[index] = nil
	return worker.Close()
}

func (c *cluster) refreshWorker(index uint64) error {
	worker, err := c.worker(index)
	if err != nil {
		return err
	}
	return worker.Refresh()
}

func (c *cluster) quiesceWorker(index uint64) error {
	worker, err := c.worker(index)
	if err != nil {
		return err
	}
	return worker.Quiesce()
}

// hasWorker refuses an index that no worker has, open or not.
func (c *cluster) hasWorker(index uint64) error {
	if index >= uint64(len(c.workers)) {
		return invalid("worker", "there is no worker %d of %d", index, len(c.workers))
	}
	return nil
}

// worker is a worker that is open.
func (c *cluster) worker(index uint64) (*plimsoll.Worker, error) {
	if err := c.hasWorker(index); err != nil {
		return nil, err
	}
	if c.workers[index] == nil {
		return nil, invalid("worker", "worker %d is closed", index)
	}
	return c.workers[index], nil
}

// checkHosts refuses hosts that the cluster does not have.
func (c *cluster) checkHosts(addresses ...string) error {
	if len(addresses) == 0 {
		return nil
	}
	known, err := c.counts()
	if err != nil {
		return err
	}
	for _, address := range addresses {
		if err := checkKnown(known, address); err != nil {
			return err
		}
	}
	return nil
}

func checkKnown(known map[string]uint64, address string) error {
	if _, ok := known[address]; !ok {
		return &failure{"unknown_host", address, fmt.Sprintf("the cluster has no host %s", address)}
	}
	return nil
}

// counts are all hosts with a count of 0.
func (c *cluster) counts() (map[string]uint64, error) {
	hosts, err := c.engine.Hosts()
	counts := make(map[string]uint64, len(hosts))
	for _, host := range hosts {
		counts[host.Address] = 0
	}
	return counts, err
}
