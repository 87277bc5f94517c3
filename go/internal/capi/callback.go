package capi

// #include "shim.h"
import "C"

import (
	"runtime/cgo"
	"sync"
	"sync/atomic"
)

// accepting is a filter of candidates, while a pick asks it.
type accepting struct {
	accept func(candidate Pick) bool
	// What the filter panicked with, and that it did: it may be with nil.
	panicked bool
	value    any
}

// PickFiltered is plimsoll_worker_pick_filtered. A panic of accept does not pass through C: it goes
// on after the call, which has taken the candidate.
func (w Worker) PickFiltered(context *PickContext, accept func(candidate Pick) bool, out *Pick) (
	status Status, panicked bool, value any) {
	asked := &accepting{accept: accept}
	id := cgo.NewHandle(asked)
	defer id.Delete()
	status = Status(C.plimsoll_go_pick_filtered(w.handle, context.c(), C.uintptr_t(id), out.c()))
	return status, asked.panicked, asked.value
}

//export plimsollGoAccept
func plimsollGoAccept(id C.uintptr_t, candidate *C.plimsoll_pick) (answer C.int) {
	asked := cgo.Handle(id).Value().(*accepting)
	asked.panicked, answer = true, 1
	defer func() {
		if asked.panicked {
			asked.value = recover()
		}
	}()
	if !asked.accept(Pick{
		Slot:       uint32(candidate.slot),
		Generation: uint32(candidate.generation),
		Priority:   uint32(candidate.priority),
		Flags:      uint32(candidate.flags),
	}) {
		answer = 0
	}
	asked.panicked = false
	return answer
}

// Who is told that the data of a host is released, by the number that the library has for it.
var (
	released sync.Map
	lastID   atomic.Uintptr
)

// SetHostData is plimsoll_cluster_set_host_data. The number of the data is what HostData gives;
// release is called with it, once, if
// there is no failure.
func (c Cluster) SetHostData(address string, release func(number uintptr)) (uintptr, *Failure) {
	id := lastID.Add(1)
	released.Store(id, release)
	var failed *C.plimsoll_error
	status := C.plimsoll_go_set_host_data(c.handle, data(address), C.size_t(len(address)),
		C.uintptr_t(id), &failed)
	if status != C.PLIMSOLL_STATUS_OK {
		released.Delete(id)
	}
	return id, failure(status, failed)
}

//export plimsollGoRelease
func plimsollGoRelease(id C.uintptr_t) {
	if release, ok := released.LoadAndDelete(uintptr(id)); ok {
		release.(func(uintptr))(uintptr(id))
	}
}
