package plimsoll

import (
	"runtime"

	"plimsoll.example/plimsoll/internal/capi"
)

// A Worker picks hosts of one cluster for one goroutine at a time, and goes on with the hosts that
// the cluster had last when that is closed. To pass it on to another goroutine takes what passing on
// any value does, a channel for instance; the race detector notices when two use it at once.
//
// Its methods are those of [Cluster], with less to do before each of them, and those that need a
// worker of one's own.
//
// A Worker that rests for long should be quiesced: it keeps the hosts of its last pick in memory,
// and what is behind them from being released.
type Worker struct {
	handle  *handle
	cleanup runtime.Cleanup
	closed  bool
	// Written by every call, so that the race detector sees two at once.
	calls uint
}

// WorkerOptions are what a worker is told at its start. The zero value is that of
// [Cluster.NewWorker].
type WorkerOptions struct {
	// PeekCapacity is how many peeks may be outstanding, 65536 at most whatever it is; each costs 8
	// bytes. 0 stands for 64.
	PeekCapacity uint32
	// Number, if it is not nil, says which of the cluster's generators of random numbers the worker
	// gets, and where its picks begin: a worker with the number of one that was closed goes the same
	// way again. Workers that live at the same time need different numbers, or they pick in lockstep.
	Number *uint64
	// Draws are numbers to be used before those of the generator, from the first one that is drawn,
	// for tests and replays.
	Draws []uint64
}

// NewWorker makes a worker. It fails with [ErrPoisoned] or [ErrClosed].
func (c *Cluster) NewWorker() (*Worker, error) {
	return newWorker(c.newHandle())
}

// NewWorkerWith makes a worker with options. It fails as [Cluster.NewWorker] does.
func (c *Cluster) NewWorkerWith(options WorkerOptions) (*Worker, error) {
	own := capi.WorkerOptions{PeekCapacity: options.PeekCapacity, Draws: options.Draws}
	if options.Number != nil {
		own.HasNumber, own.Number = true, *options.Number
	}
	return newWorker(c.newHandleBy(func(cluster capi.Cluster) (capi.Worker, *capi.Failure) {
		return cluster.NewWorkerWith(&own)
	}))
}

func newWorker(made *handle, err error) (*Worker, error) {
	if err != nil {
		return nil, err
	}
	worker := &Worker{handle: made}
	worker.cleanup = runtime.AddCleanup(worker, forgetWorker, made)
	return worker, nil
}

// Close frees the worker. Its picks that are not done stay counted until the cluster or another
// worker is told. To close it twice does no harm.
func (w *Worker) Close() error {
	w.calls++
	if w.closed {
		return nil
	}
	w.closed = true
	w.cleanup.Stop()
	w.handle.free()
	return nil
}

func (h *handle) free() {
	h.worker.Free()
	h.core.afterwards()
}

// forgetWorker frees a worker that nobody can close any more.
func forgetWorker(forgotten *handle) {
	if logger := forgotten.core.messages.logger; logger != nil {
		logger.Warn("plimsoll: a Worker was not closed")
	}
	forgotten.free()
}

// use begins a call; false if the worker is closed.
func (w *Worker) use() bool {
	w.calls++
	return !w.closed
}

// Pick is as [Cluster.Pick].
func (w *Worker) Pick(context *PickContext) (Pick, error) {
	if !w.use() {
		return Pick{}, ErrClosed
	}
	pick, status := w.handle.pick(context)
	runtime.KeepAlive(w)
	return pick, answer(status)
}

// PickBatch is as [Cluster.PickBatch].
func (w *Worker) PickBatch(context *PickContext, picks []Pick) (int, error) {
	if !w.use() {
		return 0, ErrClosed
	}
	picked, status := w.handle.pickBatch(context, picks)
	runtime.KeepAlive(w)
	return picked, answer(status)
}

// PickFunc is as [Cluster.PickFunc]. accept may ask this worker for the candidate's address and data,
// and nothing else.
func (w *Worker) PickFunc(context *PickContext, accept func(candidate Pick) bool) (Pick, error) {
	return w.picking(func(h *handle) (Pick, capi.Status) { return h.pickFunc(context, accept) })
}

// PickAvoiding is as [Cluster.PickAvoiding].
func (w *Worker) PickAvoiding(context *PickContext, tried ...Pick) (Pick, error) {
	return w.picking(func(h *handle) (Pick, capi.Status) { return h.pickAvoiding(context, tried) })
}

// PickOverride is as [Cluster.PickOverride].
func (w *Worker) PickOverride(context *PickContext, addresses []string, strict bool) (Pick, error) {
	return w.picking(func(h *handle) (Pick, capi.Status) {
		return h.pickOverride(context, addresses, strict)
	})
}

// PickOverrideFunc is as [Cluster.PickOverrideFunc]. accept may ask this worker for the candidate's
// address and data, and nothing else.
func (w *Worker) PickOverrideFunc(context *PickContext, addresses []string, strict bool,
	accept func(candidate Pick) bool) (Pick, error) {
	return w.picking(func(h *handle) (Pick, capi.Status) {
		return h.pickOverrideFunc(context, addresses, strict, accept)
	})
}

// Explain is as [Cluster.Explain], about this worker's next pick.
func (w *Worker) Explain(context *PickContext, explain ExplainOptions) (*Explanation, error) {
	if !w.use() {
		return nil, ErrClosed
	}
	explanation, err := w.handle.explain(context, explain)
	runtime.KeepAlive(w)
	return explanation, err
}

// PushDraws queues numbers, which the worker uses before those of its generator: for tests that want
// a certain decision, and to repeat what happened elsewhere. Which pick draws how many numbers is in
// docs/replay.md.
func (w *Worker) PushDraws(draws ...uint64) error {
	if !w.use() {
		return ErrClosed
	}
	status := w.handle.worker.PushDraws(draws)
	runtime.KeepAlive(w)
	return answer(status)
}

// Peek looks ahead: the host of the next pick that was not peeked yet, to open a connection in
// advance for instance. A peek is never counted, and takes nothing from the context. The picks that
// follow give the peeked hosts first and in order, unless an update comes between; with LEAST_REQUEST
// as long as loads are what they were.
//
// It fails as [Cluster.Pick] does, and with [ErrPeekLimit] if as many are outstanding as there are
// healthy hosts, or 64, or where nothing can be peeked: with ring_hash and maglev, and in most cases
// with Envoy's LEAST_REQUEST.
func (w *Worker) Peek(context *PickContext) (Pick, error) {
	return w.picking(func(h *handle) (Pick, capi.Status) { return h.peek(context) })
}

func (w *Worker) picking(choose func(*handle) (Pick, capi.Status)) (Pick, error) {
	if !w.use() {
		return Pick{}, ErrClosed
	}
	pick, status := choose(w.handle)
	runtime.KeepAlive(w)
	return pick, answer(status)
}

// Address is the address of the host of a pick; empty if the host is not known. Ask right after the
// pick: a host that was never asked about and has left since is not found after the next one.
func (w *Worker) Address(pick Pick) string {
	if host := w.host(pick); host != nil {
		return host.address
	}
	return ""
}

// HostData is the value behind the host of a pick; nil if it has none. It is there until the pick is
// done, or, for one that is not counted, until the next pick. Ask as for the address.
func (w *Worker) HostData(pick Pick) any { return w.host(pick).behind() }

func (w *Worker) host(pick Pick) *knownHost {
	if !w.use() {
		return nil
	}
	core := w.handle.core
	core.hosts.learn(w.handle.worker, pick, &core.data)
	runtime.KeepAlive(w)
	return core.hosts.find(pick)
}

// Done is as [Cluster.Done], for picks of any worker. A worker that is quiescent learns nothing of
// the outcome.
func (w *Worker) Done(pick Pick, outcome Outcome) error {
	if !w.use() {
		return ErrClosed
	}
	status := w.handle.done(&pick, outcome)
	runtime.KeepAlive(w)
	return answer(status)
}

// DoneBatch is as [Cluster.DoneBatch].
func (w *Worker) DoneBatch(picks []Pick, outcome Outcome) error {
	if !w.use() {
		return ErrClosed
	}
	if len(picks) == 0 {
		return nil
	}
	status := w.handle.worker.RefreshAndDone((*capi.Pick)(&picks[0]), len(picks), uint32(outcome))
	runtime.KeepAlive(w)
	return answer(status)
}

// Report is as [Cluster.Report].
func (w *Worker) Report(pick Pick, load ResponseLoad) error {
	if !w.use() {
		return ErrClosed
	}
	status := w.handle.report(&pick, &load)
	runtime.KeepAlive(w)
	return answer(status)
}

// Hash is as [Cluster.Hash].
func (w *Worker) Hash(route *HashPolicies, request *Request, setCookie func(string)) (uint64, error) {
	if !w.use() {
		return 0, ErrClosed
	}
	hash, err := w.handle.hash(route, request, setCookie)
	runtime.KeepAlive(w)
	return hash, err
}

// Refresh takes the newest hosts without a pick, so that a worker that picks seldom does not hold up
// old ones.
func (w *Worker) Refresh() error {
	if !w.use() {
		return ErrClosed
	}
	status := w.handle.worker.Refresh()
	runtime.KeepAlive(w)
	return answer(status)
}

// Quiesce lets go of the hosts, so that an idle worker holds neither memory nor host data. The next
// pick takes the newest ones; picks that are not counted are no longer valid.
func (w *Worker) Quiesce() error {
	if !w.use() {
		return ErrClosed
	}
	status := w.handle.worker.Quiesce()
	runtime.KeepAlive(w)
	return answer(status)
}
