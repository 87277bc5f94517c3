package plimsoll

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// freeList keeps the workers that a cluster lends to its callers: as many as were ever in use at
// once, up to a bound. What comes back beyond it is freed.
//
// Each worker lies on a shelf. A caller tries first the shelf that the last one on the same
// processor left its worker on, which no other processor has touched then: neither the shelf nor the
// worker's memory moves between caches. Which shelf that was is remembered in a sync.Pool, whose
// habit of dropping things does no harm to a hint; the workers themselves are never in one, because
// the library would not hear of what it drops.
//
// Idle workers are quiesced by control calls, before they do their work, and not when they come
// back: to let go of a snapshot and take it up again costs a fence each time, and until the next
// control call there is nothing that letting go of it could free.
type freeList struct {
	// As many as a power of two.
	shelves []shelf
	hints   sync.Pool
	next    atomic.Uint32
	closed  atomic.Bool
}

// shelf has a cache line of its own.
type shelf struct {
	idle atomic.Pointer[handle]
	_    [56]byte
}

// hint is a shelf where a worker may lie. A caller has it to itself.
type hint struct{ shelf int }

func (l *freeList) init() {
	const least = 8
	// More calls than processors are under way where the scheduler took a processor away from one.
	bound := least
	for bound < 2*runtime.GOMAXPROCS(0) {
		bound *= 2
	}
	l.shelves = make([]shelf, bound)
	l.hints.New = func() any { return &hint{int(l.next.Add(1)) % bound} }
}

// take is an idle worker, nil if there is none, and where it is to be given back.
func (l *freeList) take() (*handle, *hint) {
	hint := l.hints.Get().(*hint)
	for i := range l.shelves {
		at := (hint.shelf + i) & (len(l.shelves) - 1)
		idle := &l.shelves[at].idle
		if idle.Load() == nil {
			continue
		}
		if taken := idle.Swap(nil); taken != nil {
			hint.shelf = at
			return taken, hint
		}
	}
	return nil, hint
}

// give takes a worker back. False if it is to be freed: there is no room, or the list is closed.
func (l *freeList) give(back *handle, hint *hint) bool {
	kept := l.shelve(back, hint)
	l.hints.Put(hint)
	return kept
}

func (l *freeList) shelve(back *handle, hint *hint) bool {
	for i := range l.shelves {
		at := (hint.shelf + i) & (len(l.shelves) - 1)
		if l.shelves[at].idle.CompareAndSwap(nil, back) {
			hint.shelf = at
			// Whoever closes the list looks at the shelves after it is closed, and we look whether it
			// is after the shelf is filled: one of us sees the other.
			return !l.closed.Load() || !l.shelves[at].idle.CompareAndSwap(back, nil)
		}
	}
	return false
}

// each takes every idle worker in turn, and gives it back unless it is to be kept.
func (l *freeList) each(use func(*handle) (keep bool)) {
	for i := range l.shelves {
		taken := l.shelves[i].idle.Swap(nil)
		if taken == nil || use(taken) {
			continue
		}
		hint := l.hints.Get().(*hint)
		hint.shelf = i
		if !l.give(taken, hint) {
			taken.worker.Free()
		}
	}
}

// quiesce lets all idle workers go of their snapshots.
func (l *freeList) quiesce() {
	l.each(func(idle *handle) bool {
		idle.worker.Quiesce()
		return false
	})
}

// drain frees all idle workers, and has those freed that come back later.
func (l *freeList) drain() {
	l.closed.Store(true)
	l.each(func(idle *handle) bool {
		idle.worker.Free()
		return true
	})
}
