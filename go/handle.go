package plimsoll

import "plimsoll.example/plimsoll/internal/capi"

// handle is a worker of the library, for one goroutine at a time.
type handle struct {
	worker capi.Worker
	core   *core
}

func (h *handle) pick(context *PickContext) (Pick, capi.Status) {
	var pick Pick
	if context == nil {
		return pick, h.worker.PickPlain((*capi.Pick)(&pick))
	}
	var own capi.PickContext
	context.fill(&own, &h.core.clock)
	return pick, h.worker.Pick(&own, (*capi.Pick)(&pick))
}

func (h *handle) pickBatch(context *PickContext, picks []Pick) (int, capi.Status) {
	if len(picks) == 0 {
		return 0, capi.StatusOK
	}
	var own capi.PickContext
	context.fill(&own, &h.core.clock)
	return h.worker.PickBatch(&own, (*capi.Pick)(&picks[0]), len(picks))
}

func (h *handle) peek(context *PickContext) (Pick, capi.Status) {
	var pick Pick
	var own capi.PickContext
	context.fill(&own, &h.core.clock)
	return pick, h.worker.Peek(&own, (*capi.Pick)(&pick))
}

func (h *handle) pickFunc(context *PickContext, accept func(candidate Pick) bool) (Pick, capi.Status) {
	if accept == nil {
		return h.pick(context)
	}
	var pick Pick
	var own capi.PickContext
	context.fill(&own, &h.core.clock)
	status, panicked := h.worker.PickFiltered(&own, h.asking(accept), (*capi.Pick)(&pick))
	h.goOn(panicked, &pick)
	return pick, status
}

// asking is a filter that may ask for the candidate's address and data.
func (h *handle) asking(accept func(candidate Pick) bool) func(capi.Pick) bool {
	if accept == nil {
		return nil
	}
	return func(candidate capi.Pick) bool {
		h.core.hosts.learn(h.worker, Pick(candidate), &h.core.data)
		return accept(Pick(candidate))
	}
}

// goOn lets a panic of a filter go on to the caller. The pick is nobody's then.
func (h *handle) goOn(panicked *capi.Panic, pick *Pick) {
	if panicked == nil {
		return
	}
	if pick.Counted() {
		h.done(pick, Success)
	}
	panic(panicked.Value)
}

func (h *handle) pickAvoiding(context *PickContext, tried []Pick) (Pick, capi.Status) {
	if len(tried) == 0 {
		return h.pick(context)
	}
	var pick Pick
	var own capi.PickContext
	context.fill(&own, &h.core.clock)
	return pick, h.worker.PickAvoiding(&own, (*capi.Pick)(&tried[0]), len(tried), (*capi.Pick)(&pick))
}

func (h *handle) pickOverride(context *PickContext, addresses []string, strict bool) (Pick, capi.Status) {
	var pick Pick
	var own capi.PickContext
	context.fill(&own, &h.core.clock)
	return pick, h.worker.PickOverride(&own, addresses, strict, (*capi.Pick)(&pick))
}

func (h *handle) pickOverrideFunc(context *PickContext, addresses []string, strict bool,
	accept func(candidate Pick) bool) (Pick, capi.Status) {
	if accept == nil {
		return h.pickOverride(context, addresses, strict)
	}
	var pick Pick
	var own capi.PickContext
	context.fill(&own, &h.core.clock)
	status, panicked := h.worker.PickOverrideFiltered(&own, addresses, strict, h.asking(accept),
		(*capi.Pick)(&pick))
	h.goOn(panicked, &pick)
	return pick, status
}

func (h *handle) done(pick *Pick, outcome Outcome) capi.Status {
	return h.worker.Done((*capi.Pick)(pick), uint32(outcome))
}

func (h *handle) report(pick *Pick, load *ResponseLoad) capi.Status {
	own := load.c(&h.core.clock)
	return h.worker.Report((*capi.Pick)(pick), &own)
}
