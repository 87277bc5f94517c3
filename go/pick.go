package plimsoll

import (
	"time"

	"plimsoll.example/plimsoll/internal/capi"
)

// A Pick is a host that was picked for one request: a value to copy, not to be changed.
//
// Slot is a small number that is the host's for as long as a snapshot or a pick names it, so that it
// may index a slice; Generation changes when the slot is given to another host.
type Pick struct {
	// Slot is the host's slot.
	Slot uint32
	// Generation says which host had the slot.
	Generation uint32
	// Priority is the one that the host was picked at.
	Priority uint32
	// Flags are the library's own notes.
	Flags uint32
}

// Counted is whether the pick counts as an active request until it is done.
func (p Pick) Counted() bool { return p.Flags&capi.PickCounted != 0 }

// SameHost is whether both picks are of one host.
func (p Pick) SameHost(other Pick) bool {
	return p.Slot == other.Slot && p.Generation == other.Generation
}

// A PickContext is what is known of a request before its host is picked. The zero value will do, and
// so will nil: the pick is counted then, and must be done when the request is over.
type PickContext struct {
	// Retries is how many more hosts are tried while they are refused, 128 at most.
	Retries uint32
	// Attempt is which attempt at the same request this is, 0 first. Read by ring_hash and maglev,
	// which give another host each time, and by override_host.
	Attempt uint32
	// Uncounted is a pick that does not count as an active request, and is not to be done.
	Uncounted bool
	// Hash is the hash of the request, as ring_hash and maglev want it. 0 is none, for which they draw a
	// number, unless Hashed says otherwise.
	Hash uint64
	// Hashed is whether there is a hash though it be 0.
	Hashed bool
	// Now is the time; the zero time stands for that of the last tick. With [BehaviorEnvoy] hosts in
	// slow start are weighed by it; nothing else reads it.
	Now time.Time
}

// Outcome is how a request ended.
type Outcome uint32

const (
	// Success is a request that was answered.
	Success Outcome = capi.OutcomeSuccess
	// Failure is a request that failed.
	Failure Outcome = capi.OutcomeError
)

// OutcomeOf is [Failure] for an error, and [Success] for nil.
func OutcomeOf(err error) Outcome {
	if err != nil {
		return Failure
	}
	return Success
}

// fill fills in the context as the library has it. In its place, because what is copied right after
// it was written waits for that; and nothing is to be filled in for nil.
func (context *PickContext) fill(own *capi.PickContext, clock *clock) {
	if context == nil {
		return
	}
	own.Retries = context.Retries
	own.Attempt = context.Attempt
	own.Hash = context.Hash
	own.NowNS = clock.ns(context.Now)
	if context.Uncounted {
		own.Flags |= capi.PickUncounted
	}
	if context.Hashed || context.Hash != 0 {
		own.Flags |= capi.PickHashed
	}
}
