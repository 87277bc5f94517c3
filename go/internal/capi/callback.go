package capi

// #include "shim.h"
// #include <stdlib.h>
import "C"

import (
	"runtime/cgo"
	"sync"
	"sync/atomic"
	"unsafe"
)

// accepting is a filter of candidates, while a call asks it.
type accepting struct {
	accept func(candidate Pick) bool
	// That it panicked, and with what: it may be nil.
	panicked bool
	value    any
}

// Panic is a panic of a filter. It does not pass through C: it is for the caller to go on with.
type Panic struct{ Value any }

// asking runs call with the number of a filter; without one it is 0.
func asking(accept func(candidate Pick) bool, call func(id C.uintptr_t)) *Panic {
	if accept == nil {
		call(0)
		return nil
	}
	asked := &accepting{accept: accept}
	id := cgo.NewHandle(asked)
	defer id.Delete()
	call(C.uintptr_t(id))
	if asked.panicked {
		return &Panic{asked.value}
	}
	return nil
}

// PickFiltered is plimsoll_worker_pick_filtered. If accept panics the candidate is taken.
func (w Worker) PickFiltered(context *PickContext, accept func(candidate Pick) bool, out *Pick) (
	status Status, panicked *Panic) {
	panicked = asking(accept, func(id C.uintptr_t) {
		status = Status(C.plimsoll_go_pick_filtered(w.handle, context.c(), id, out.c()))
	})
	return status, panicked
}

// PickOverrideFiltered is plimsoll_worker_pick_override_filtered. If accept panics the candidate is
// taken.
func (w Worker) PickOverrideFiltered(context *PickContext, addresses []string, strict bool,
	accept func(candidate Pick) bool, out *Pick) (status Status, panicked *Panic) {
	var block block
	lengths := make([]C.uint32_t, len(addresses))
	for i, address := range addresses {
		lengths[i] = block.add(address)
	}
	many := scratchOfMany[C.plimsoll_str](len(addresses))
	if many != nil {
		defer C.free(unsafe.Pointer(many))
	}
	panicked = asking(accept, func(id C.uintptr_t) {
		status = Status(C.plimsoll_go_pick_override_filtered(w.handle, context.c(), block.data(),
			unsafe.SliceData(lengths), many, C.size_t(len(addresses)), boolean(strict), id, out.c()))
	})
	return status, panicked
}

// Explain is plimsoll_worker_explain. If accept panics the candidate is taken.
func (w Worker) Explain(context *PickContext, draw *uint64, accept func(candidate Pick) bool) (
	json string, status Status, panicked *Panic) {
	panicked = asking(accept, func(id C.uintptr_t) {
		// So large that accept is hardly ever asked again.
		room := make([]byte, 1<<16)
		json, status = writtenInto(room, func(buffer *C.char, capacity C.size_t, needed *C.size_t) C.enum_plimsoll_status {
			return C.plimsoll_go_explain(w.handle, context.c(), (*C.uint64_t)(draw), id, buffer,
				capacity, needed)
		})
	})
	return json, status, panicked
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

//export plimsollGoLog
func plimsollGoLog(id C.uintptr_t, level C.uint32_t, message *C.char, length C.size_t) {
	log := cgo.Handle(id).Value().(func(uint32, string))
	log(uint32(level), text(C.plimsoll_str{data: message, len: length}))
}
