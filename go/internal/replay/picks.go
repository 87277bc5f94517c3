package replay

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"plimsoll.example/plimsoll"
)

const (
	// More picks than this in one operation are refused: its result is one line.
	maxPicks = 1_000_000
	// More picks than this in one tally are refused, so that a line cannot run forever.
	maxTally = 10_000_000
)

// choice is what a pick is told; also for peek and explain.
type choice struct {
	n, worker        uint64
	hashes           []uint64
	attempt, retries uint64
	reject           []string
	override         []string
	hasOverride      bool
	strict           bool
	hasMetadata      bool
	hold             bool
	draw             *uint64
}

func readChoice(f *fields) *choice {
	own := &choice{n: f.integer("n", 1), worker: f.integer("worker", 0)}
	own.hashes, _ = read(f, "hash", "a 64-bit integer or a list of them", oneOrMore)
	own.attempt, own.retries = f.integer("attempt", 0), f.integer("retries", 0)
	own.reject = f.texts("reject")
	own.override, own.hasOverride = readOverride(f)
	own.strict = f.flag("strict")
	_, own.hasMetadata = read(f, "metadata", "an object", is[*object])
	own.hold, own.draw = f.flag("hold"), f.optional("draw")
	return own
}

// readOverride reads the hosts that a request names, one in each text. The library reads them as they
// stand in headers, where commas part them and an empty text asks for nothing; what no header can have
// names no host.
func readOverride(f *fields) ([]string, bool) {
	const nobody = "\xff"
	addresses, ok := read(f, "override", "a list of strings", listOf(is[string]))
	for i, address := range addresses {
		if address == "" || strings.Contains(address, ",") || strings.Trim(address, " \t") != address {
			addresses[i] = nobody
		}
	}
	return addresses, ok
}

func oneOrMore(value any) ([]uint64, bool) {
	if one, ok := integer(value); ok {
		return []uint64{one}, true
	}
	return listOf(integer)(value)
}

// context is what the engine is told of the pick with this index.
func (c *choice) context(index uint64) *plimsoll.PickContext {
	context := &plimsoll.PickContext{Retries: saturated(c.retries), Attempt: saturated(c.attempt)}
	if count := uint64(len(c.hashes)); count > 0 {
		context.Hashed, context.Hash = true, c.hashes[index%count]
	}
	return context
}

// check refuses what the present policies do not act on, and more picks than there may be.
func (c *choice) check(most uint64) error {
	if c.hasMetadata {
		return &failure{"unsupported", "metadata", "matching metadata is not supported"}
	}
	return atMost(c.n, most)
}

func atMost(n, most uint64) error {
	if n > most {
		return invalid("n", "value must be at most %d", most)
	}
	return nil
}

// checkByPolicy refuses what a peek or an explanation has no use for: hosts that are named take no
// turn and decide nothing.
func (c *choice) checkByPolicy(operation string) error {
	if c.hold {
		return invalid("hold", "only picks can be held")
	}
	if c.hasOverride {
		return invalid("override", "%s is about picks by policy", operation)
	}
	return nil
}

// workerFor is the worker of a choice, whose hosts the cluster has.
func (c *cluster) workerFor(choice *choice) (*plimsoll.Worker, error) {
	if err := c.checkHosts(choice.reject...); err != nil {
		return nil, err
	}
	return c.worker(choice.worker)
}

// accept is the filter of a choice; nil if there is nothing to refuse.
func (c *choice) accept(worker *plimsoll.Worker) func(plimsoll.Pick) bool {
	if len(c.reject) == 0 {
		return nil
	}
	return func(candidate plimsoll.Pick) bool {
		return !slices.Contains(c.reject, worker.Address(candidate))
	}
}

// readPick picks hosts. Each request ends before the next pick, unless it is held.
func readPick(f *fields) operation {
	choice := readChoice(f)
	if choice.draw != nil {
		f.fail("draw", "only explain has this key")
	}
	return showing("picks", func(c *cluster) (any, error) {
		if err := choice.check(maxPicks); err != nil {
			return nil, err
		}
		worker, err := c.workerFor(choice)
		if err != nil {
			return nil, err
		}
		picks := []any{}
		for index := range choice.n {
			pick, err := worker.PickOverrideFunc(choice.context(index), choice.override, choice.strict,
				choice.accept(worker))
			if err != nil {
				picks = append(picks, nil)
				continue
			}
			address := worker.Address(pick)
			picks = append(picks, address)
			if choice.hold {
				c.held[address] = append(c.held[address], pick)
			} else {
				end(worker, pick, plimsoll.Success)
			}
		}
		return picks, nil
	})
}

// end ends a request. The engine refuses when "load" has meanwhile put the host's count to 0; the
// request is over all the same.
func end(worker *plimsoll.Worker, pick plimsoll.Pick, outcome plimsoll.Outcome) {
	_ = worker.Done(pick, outcome)
}

// readPeek looks ahead. Envoy's peeks ask no retry filter.
func readPeek(f *fields) operation {
	choice := readChoice(f)
	if choice.draw != nil {
		f.fail("draw", "only explain has this key")
	}
	return showing("peeks", func(c *cluster) (any, error) {
		if choice.hasMetadata {
			return nil, choice.check(maxPicks)
		}
		if err := choice.checkByPolicy("peek"); err != nil {
			return nil, err
		}
		if err := choice.check(maxPicks); err != nil {
			return nil, err
		}
		worker, err := c.workerFor(choice)
		if err != nil {
			return nil, err
		}
		peeks := []any{}
		for range choice.n {
			if peek, err := worker.Peek(nil); err == nil {
				peeks = append(peeks, worker.Address(peek))
			} else {
				peeks = append(peeks, nil)
			}
		}
		return peeks, nil
	})
}

// readExplain explains the next pick; changes nothing.
func readExplain(f *fields) operation {
	choice := readChoice(f)
	return showing("explain", func(c *cluster) (any, error) {
		if choice.hasMetadata {
			return nil, choice.check(maxPicks)
		}
		if err := choice.checkByPolicy("explain"); err != nil {
			return nil, err
		}
		if choice.n != 1 {
			return nil, invalid("n", "one pick is explained at a time")
		}
		worker, err := c.workerFor(choice)
		if err != nil {
			return nil, err
		}
		explanation, err := worker.Explain(choice.context(0), plimsoll.ExplainOptions{
			Accept: choice.accept(worker), Draw: choice.draw,
		})
		if err != nil {
			return nil, err
		}
		return raw(explanation.JSON), nil
	})
}

// allWorkers stands for all workers in turn.
const allWorkers = ^uint64(0)

// readTally counts picks by host.
func readTally(f *fields) operation {
	n := f.integer("n", 1)
	which, ok := read(f, "worker", `a worker's index or "all"`, func(value any) (uint64, bool) {
		if value == "all" {
			return allWorkers, true
		}
		return integer(value)
	})
	if !ok {
		which = 0
	}
	// A pick without a hash draws one.
	read(f, "hash", `"random"`, wordOf(map[string]bool{"random": true}))
	context := &plimsoll.PickContext{Attempt: saturated(f.integer("attempt", 0))}
	override, _ := readOverride(f)
	strict := f.flag("strict")
	return showing("tally", func(c *cluster) (any, error) {
		if err := atMost(n, maxTally); err != nil {
			return nil, err
		}
		workers, err := c.workersOf(which)
		if err != nil {
			return nil, err
		}
		counts, err := c.counts()
		if err != nil {
			return nil, err
		}
		none := uint64(0)
		for index := range n {
			worker := workers[index%uint64(len(workers))]
			pick, err := worker.PickOverride(context, override, strict)
			if err != nil {
				none++
				continue
			}
			if address := worker.Address(pick); address != "" {
				counts[address]++
			}
			end(worker, pick, plimsoll.Success)
		}
		tally := &object{}
		for _, address := range slices.Sorted(maps.Keys(counts)) {
			tally.add(address, unsigned(counts[address]))
		}
		if none > 0 {
			tally.add("none", unsigned(none))
		}
		return tally, nil
	})
}

// workersOf are the workers that take turns; closed ones take none.
func (c *cluster) workersOf(which uint64) ([]*plimsoll.Worker, error) {
	if which != allWorkers {
		worker, err := c.worker(which)
		return []*plimsoll.Worker{worker}, err
	}
	var open []*plimsoll.Worker
	for _, worker := range c.workers {
		if worker != nil {
			open = append(open, worker)
		}
	}
	if len(open) == 0 {
		return nil, invalid("worker", "all workers are closed")
	}
	return open, nil
}

// readDone ends held requests, the oldest first.
func readDone(f *fields) operation {
	outcomes := map[string]plimsoll.Outcome{"success": plimsoll.Success, "error": plimsoll.Failure}
	hosts := need(f, "hosts", "a list of strings", listOf(is[string]))
	outcome, _ := read(f, "outcome", words(outcomes), wordOf(outcomes))
	return onCluster(func(c *cluster) error {
		if err := c.checkHeld(hosts); err != nil {
			return err
		}
		workers, err := c.workersOf(allWorkers)
		if err != nil {
			// Requests outlive the workers that picked them.
			spare, err := c.newWorker(0, nil)
			if err != nil {
				return err
			}
			defer spare.Close()
			workers = append(workers, spare)
		}
		for _, host := range hosts {
			end(workers[0], c.held[host][0], outcome)
			c.held[host] = c.held[host][1:]
		}
		return nil
	})
}

// checkHeld checks all hosts before any request ends. A host that left may still hold requests.
func (c *cluster) checkHeld(hosts []string) error {
	asked := make(map[string]int)
	for _, host := range hosts {
		asked[host]++
	}
	for _, host := range slices.Sorted(maps.Keys(asked)) {
		held := len(c.held[host])
		if held == 0 {
			if err := c.checkHosts(host); err != nil {
				return err
			}
		}
		if held < asked[host] {
			message := fmt.Sprintf("requests held on %s: %d, to end: %d", host, held, asked[host])
			return invalid("hosts", "%s", message)
		}
	}
	return nil
}
