package capi

// #cgo noescape plimsoll_worker_pick
// #cgo nocallback plimsoll_worker_pick
// #cgo noescape plimsoll_worker_pick_batch
// #cgo nocallback plimsoll_worker_pick_batch
// #cgo noescape plimsoll_worker_peek
// #cgo nocallback plimsoll_worker_peek
// #cgo noescape plimsoll_worker_done
// #cgo nocallback plimsoll_worker_done
// #cgo noescape plimsoll_worker_host_address
// #cgo nocallback plimsoll_worker_host_address
// #cgo nocallback plimsoll_worker_refresh
// #cgo nocallback plimsoll_worker_quiesce
// #cgo noescape plimsoll_go_done
// #cgo nocallback plimsoll_go_done
// #cgo noescape plimsoll_go_host_data
// #cgo nocallback plimsoll_go_host_data
// #cgo noescape plimsoll_go_pick_avoiding
// #cgo nocallback plimsoll_go_pick_avoiding
// #cgo noescape plimsoll_go_pick_override
// #cgo nocallback plimsoll_go_pick_override
// #include "shim.h"
// #include <stdlib.h>
import "C"

import "unsafe"

// Worker is a plimsoll_worker.
type Worker struct{ handle *C.plimsoll_worker }

// Pick is a plimsoll_pick.
type Pick struct {
	Slot       uint32
	Generation uint32
	Priority   uint32
	Flags      uint32
}

// PickContext is a plimsoll_pick_context.
type PickContext struct {
	size     uintptr
	Retries  uint32
	Flags    uint32
	NowNS    uint64
	Hash     uint64
	Attempt  uint32
	reserved uint32
}

// The flags of picks and of their contexts.
const (
	PickCounted   = C.PLIMSOLL_PICK_COUNTED
	PickInTotal   = C.PLIMSOLL_PICK_IN_TOTAL
	PickUncounted = C.PLIMSOLL_PICK_UNCOUNTED
	PickHashed    = C.PLIMSOLL_PICK_HASHED
)

// The outcomes of requests.
const (
	OutcomeSuccess = C.PLIMSOLL_OUTCOME_SUCCESS
	OutcomeError   = C.PLIMSOLL_OUTCOME_ERROR
)

// Both are laid out as in the header. A context may grow there: its size says how much we know.
var (
	_ = [1]struct{}{}[unsafe.Sizeof(Pick{})-C.sizeof_plimsoll_pick]
	_ = [1]struct{}{}[unsafe.Offsetof(PickContext{}.Hash)-
		unsafe.Offsetof(C.plimsoll_pick_context{}.hash)]
	_ = [1]struct{}{}[unsafe.Offsetof(PickContext{}.reserved)-
		unsafe.Offsetof(C.plimsoll_pick_context{}.reserved)]
)

func (p *Pick) c() *C.plimsoll_pick { return (*C.plimsoll_pick)(unsafe.Pointer(p)) }

func (context *PickContext) c() *C.plimsoll_pick_context {
	context.size = unsafe.Sizeof(*context)
	return (*C.plimsoll_pick_context)(unsafe.Pointer(context))
}

// WorkerOptions are plimsoll_worker_options.
type WorkerOptions struct {
	PeekCapacity uint32
	HasNumber    bool
	Number       uint64
	Draws        []uint64
}

// NewWorker is plimsoll_worker_new.
func (c Cluster) NewWorker() (Worker, *Failure) {
	var worker Worker
	var failed *C.plimsoll_error
	status := C.plimsoll_worker_new(c.handle, &worker.handle, &failed)
	return worker, failure(status, failed)
}

// NewWorkerWith is plimsoll_worker_new_with.
func (c Cluster) NewWorkerWith(options *WorkerOptions) (Worker, *Failure) {
	own := C.plimsoll_worker_options{
		size:          C.sizeof_plimsoll_worker_options,
		peek_capacity: C.uint32_t(options.PeekCapacity),
		number:        C.uint64_t(options.Number),
	}
	if options.HasNumber {
		own.has_number = 1
	}
	var worker Worker
	var failed *C.plimsoll_error
	status := C.plimsoll_go_worker_new(c.handle, &own, numbers(options.Draws),
		C.size_t(len(options.Draws)), &worker.handle, &failed)
	return worker, failure(status, failed)
}

// PushDraws is plimsoll_worker_push_draws.
func (w Worker) PushDraws(draws []uint64) Status {
	return Status(C.plimsoll_worker_push_draws(w.handle, numbers(draws), C.size_t(len(draws))))
}

func numbers(from []uint64) *C.uint64_t { return (*C.uint64_t)(unsafe.SliceData(from)) }

// Free is plimsoll_worker_free.
func (w Worker) Free() { C.plimsoll_worker_free(w.handle) }

// Refresh is plimsoll_worker_refresh.
func (w Worker) Refresh() Status { return Status(C.plimsoll_worker_refresh(w.handle)) }

// Quiesce is plimsoll_worker_quiesce.
func (w Worker) Quiesce() Status { return Status(C.plimsoll_worker_quiesce(w.handle)) }

// PickPlain is plimsoll_worker_pick without a context.
func (w Worker) PickPlain(out *Pick) Status {
	return Status(C.plimsoll_worker_pick(w.handle, nil, out.c()))
}

// Pick is plimsoll_worker_pick.
func (w Worker) Pick(context *PickContext, out *Pick) Status {
	return Status(C.plimsoll_worker_pick(w.handle, context.c(), out.c()))
}

// PickBatch is plimsoll_worker_pick_batch: count picks from first on.
func (w Worker) PickBatch(context *PickContext, first *Pick, count int) (int, Status) {
	var picked C.size_t
	status := C.plimsoll_worker_pick_batch(w.handle, context.c(), first.c(), C.size_t(count), &picked)
	return int(picked), Status(status)
}

// Peek is plimsoll_worker_peek.
func (w Worker) Peek(context *PickContext, out *Pick) Status {
	return Status(C.plimsoll_worker_peek(w.handle, context.c(), out.c()))
}

// PickAvoiding is plimsoll_worker_pick_filtered with the hosts of count earlier picks refused.
func (w Worker) PickAvoiding(context *PickContext, first *Pick, count int, out *Pick) Status {
	return Status(C.plimsoll_go_pick_avoiding(w.handle, context.c(), first.c(), C.size_t(count),
		out.c()))
}

// PickOverride is plimsoll_worker_pick_override.
func (w Worker) PickOverride(context *PickContext, addresses []string, strict bool, out *Pick) Status {
	// Enough for a few addresses.
	var room [256]byte
	var few [C.PLIMSOLL_GO_FEW]C.uint32_t
	block, lengths := block(room[:0]), few[:0]
	for _, address := range addresses {
		block = append(block, address...)
		lengths = append(lengths, C.uint32_t(len(address)))
	}
	many := scratchOfMany[C.plimsoll_str](len(addresses))
	if many != nil {
		defer C.free(unsafe.Pointer(many))
	}
	return Status(C.plimsoll_go_pick_override(w.handle, context.c(), block.data(),
		unsafe.SliceData(lengths), many, C.size_t(len(addresses)), boolean(strict), out.c()))
}

func boolean(truth bool) C.uint32_t {
	if truth {
		return 1
	}
	return 0
}

// Done is plimsoll_worker_done.
func (w Worker) Done(pick *Pick, outcome uint32) Status {
	return Status(C.plimsoll_worker_done(w.handle, pick.c(), C.uint32_t(outcome)))
}

// RefreshAndDone says of count picks from first on that they are done, after plimsoll_worker_refresh:
// a worker without a snapshot learns nothing of outcomes.
func (w Worker) RefreshAndDone(first *Pick, count int, outcome uint32) Status {
	return Status(C.plimsoll_go_done(w.handle, first.c(), C.size_t(count), C.uint32_t(outcome)))
}

// HostAddress is plimsoll_worker_host_address.
func (w Worker) HostAddress(pick *Pick) (string, Status) {
	var room [128]byte
	buffer := room[:]
	for {
		var needed C.size_t
		status := C.plimsoll_worker_host_address(w.handle, pick.c(), dataOf(buffer),
			C.size_t(len(buffer)), &needed)
		switch status {
		case C.PLIMSOLL_STATUS_OK:
			return string(buffer[:needed-1]), StatusOK
		case C.PLIMSOLL_STATUS_BUFFER_TOO_SMALL:
			// By the same snapshot it takes as many bytes the second time.
			buffer = make([]byte, needed)
		default:
			return "", Status(status)
		}
	}
}

// HostData is the id of plimsoll_worker_host_data; 0 if there is none.
func (w Worker) HostData(pick *Pick) uintptr {
	return uintptr(C.plimsoll_go_host_data(w.handle, pick.c()))
}
