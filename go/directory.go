package plimsoll

import (
	"sync"
	"sync/atomic"

	"plimsoll.example/plimsoll/internal/capi"
)

// directory has what Go knows of the hosts that were picked, by slot, so that the address and the
// data behind a pick cost a look into memory instead of a call of C. A worker is asked once for each
// host, right after its pick, while it surely knows; and again, for a host without data, once data
// was set anywhere. A host stays there until its slot is another one's.
type directory struct {
	table atomic.Pointer[slots]
	// How often data was set.
	version atomic.Uint32
	// Among those that add hosts.
	mu sync.Mutex
}

// slots have two entries each: what is known, in one number to be compared, and the host.
type slots struct {
	known []atomic.Uint64
	hosts []atomic.Pointer[knownHost]
}

// knownHost is never changed, but for the data, which goes when it is released.
type knownHost struct {
	generation uint32
	address    string
	data       *datum
}

// find is the host of a pick; nil if it is not known.
func (d *directory) find(pick Pick) *knownHost {
	table := d.table.Load()
	if table == nil || int(pick.Slot) >= len(table.hosts) {
		return nil
	}
	host := table.hosts[pick.Slot].Load()
	if host == nil || host.generation != pick.Generation {
		return nil
	}
	return host
}

// learn makes the host of a pick known, from the worker that has just picked it.
func (d *directory) learn(worker capi.Worker, pick Pick, data *hostData) {
	// Before the worker is asked: what is set meanwhile is asked for again.
	version := d.version.Load()
	if table := d.table.Load(); table != nil && int(pick.Slot) < len(table.known) &&
		table.known[pick.Slot].Load() == mark(pick.Generation, version) {
		return
	}
	d.ask(worker, pick, data, version)
}

// learnAll makes the hosts of picks of one snapshot known, as learn does.
func (d *directory) learnAll(worker capi.Worker, picks []Pick, data *hostData) {
	version := d.version.Load()
	var known []atomic.Uint64
	if table := d.table.Load(); table != nil {
		known = table.known
	}
	for i := range picks {
		// In its place, because what is copied right after it was written waits for that.
		pick := &picks[i]
		if int(pick.Slot) >= len(known) || known[pick.Slot].Load() != mark(pick.Generation, version) {
			d.ask(worker, *pick, data, version)
		}
	}
}

func (d *directory) ask(worker capi.Worker, pick Pick, data *hostData, version uint32) {
	host := d.find(pick)
	if host == nil || host.data == nil {
		address, status := worker.HostAddress((*capi.Pick)(&pick))
		if status != capi.StatusOK {
			return
		}
		behind := data.find(worker.HostData((*capi.Pick)(&pick)))
		host = &knownHost{pick.Generation, address, behind}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	table := d.table.Load()
	if table == nil || int(pick.Slot) >= len(table.hosts) {
		table = table.grown(int(pick.Slot) + 1)
		d.table.Store(table)
	}
	// Data that was set meanwhile is known to who asked later.
	if now := table.hosts[pick.Slot].Load(); now != nil && now.generation == pick.Generation &&
		now.data != nil {
		host = now
	}
	// The host first: who finds the mark finds the host.
	table.hosts[pick.Slot].Store(host)
	table.known[pick.Slot].Store(mark(pick.Generation, version))
}

// grown is a table of at least so many slots. Nobody else adds hosts meanwhile.
func (s *slots) grown(size int) *slots {
	if s == nil {
		s = &slots{}
	}
	size = max(size, 2*len(s.hosts), 64)
	grown := &slots{make([]atomic.Uint64, size), make([]atomic.Pointer[knownHost], size)}
	for i := range s.hosts {
		grown.hosts[i].Store(s.hosts[i].Load())
		grown.known[i].Store(s.known[i].Load())
	}
	return grown
}

// mark is what is known of a slot: whose it is, and which data was asked for. No mark is 0, which is
// that of an empty slot.
func mark(generation, version uint32) uint64 {
	return uint64(generation)<<32 | uint64(version<<1|1)
}
