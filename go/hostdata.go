package plimsoll

import (
	"sync"
	"sync/atomic"

	"plimsoll.example/plimsoll/internal/capi"
)

// datum is what a program has put behind a host.
type datum struct {
	value   atomic.Pointer[any]
	release func()
	// Guarded by the lock of its cluster's data.
	released bool
}

// hostData is what a program has put behind the hosts of a cluster. The library has a number for
// each, and says when it is released: in the middle of a call, when little may be done. So it is
// only noted, and the program's function runs after the call.
type hostData struct {
	mu       sync.Mutex
	byNumber map[uintptr]*datum
	released []*datum
}

// find is the data of this number; nil if there is none.
func (h *hostData) find(number uintptr) *datum {
	if number == 0 {
		return nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.byNumber[number]
}

// add makes data known that the library has taken. It may have been released already.
func (h *hostData) add(number uintptr, added *datum) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if added.released {
		return
	}
	if h.byNumber == nil {
		h.byNumber = make(map[uintptr]*datum)
	}
	h.byNumber[number] = added
}

// noteRelease is what the library calls.
func (h *hostData) noteRelease(number uintptr, gone *datum) {
	h.mu.Lock()
	defer h.mu.Unlock()
	gone.released = true
	delete(h.byNumber, number)
	h.released = append(h.released, gone)
}

// runReleases runs what the program wants to be run for data that was released.
func (h *hostData) runReleases() {
	// One at a time: if release panics, the next call goes on.
	for gone := h.nextReleased(); gone != nil; gone = h.nextReleased() {
		gone.value.Store(nil)
		if gone.release != nil {
			gone.release()
		}
	}
}

func (h *hostData) nextReleased() *datum {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.released) == 0 {
		return nil
	}
	next := h.released[0]
	h.released[0] = nil
	h.released = h.released[1:]
	return next
}

// SetHostData puts a value behind a host, once for each host: its connections, usually.
// [Cluster.HostData] finds it with each pick.
//
// release, unless it is nil, is called exactly once: when the host has left the cluster, its last
// request is done and nothing can pick it any more; at the latest when the cluster and all of its
// workers are closed. It runs on the goroutine of the call that found it so, [Cluster.Tick] usually,
// after that call has done its work, and may call anything. A host that is described anew keeps its
// data; one that leaves and returns later has none.
//
// It fails with [ErrUnknownHost], [ErrHasData], [ErrInvalidArgument] or [ErrPoisoned]; release is
// not called then.
func (c *Cluster) SetHostData(address string, value any, release func()) error {
	set := &datum{release: release}
	set.value.Store(&value)
	// Not the Cluster, which would be kept from being forgotten.
	core := c.core
	noteRelease := func(number uintptr) { core.data.noteRelease(number, set) }
	return core.control(func(cluster capi.Cluster) *capi.Failure {
		number, failure := cluster.SetHostData(address, noteRelease)
		if failure == nil {
			core.data.add(number, set)
			// After it is there: who asked before asks again.
			core.hosts.version.Add(1)
		}
		return failure
	})
}

// behind is the value behind a host; nil if there is none.
func (h *knownHost) behind() any {
	if h == nil || h.data == nil {
		return nil
	}
	value := h.data.value.Load()
	if value == nil {
		return nil
	}
	return *value
}
