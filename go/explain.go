package plimsoll

import (
	"encoding/json"

	"plimsoll.example/plimsoll/internal/capi"
)

// DumpPart is a part of what there is to see of a cluster.
type DumpPart uint32

const (
	// DumpLoads is how traffic divides among priorities, in percent, and which of them panic.
	DumpLoads DumpPart = capi.DumpLoads
	// DumpHosts are all hosts, by priority, then in the assignment's order.
	DumpHosts DumpPart = capi.DumpHosts
	// DumpLocalities is how the traffic of each priority divides among localities.
	DumpLocalities DumpPart = capi.DumpLocalities
	// DumpTable is the table of ring_hash or maglev, one address for each place.
	DumpTable DumpPart = capi.DumpTable
	// DumpStats are all counters and gauges that are not zero, by name.
	DumpStats DumpPart = capi.DumpStats
	// DumpSnapshot is the newest snapshot's version, how many were published and are alive, and what
	// was built for them.
	DumpSnapshot DumpPart = capi.DumpSnapshot
)

// DumpOptions narrow a dump of localities or of a table down.
type DumpOptions struct {
	// Priority is the one to be shown; nil: localities of all, the table of priority 0.
	Priority *uint64
	// Source are the hosts to be shown; nil: localities of each, the table of the healthy ones.
	Source *Source
}

// Dump is a part of what there is to see of the newest snapshot, as JSON in one line, for an admin
// page or another program. Its form is that of the same word in a replay, docs/replay.md; later
// versions may add keys. The options may be nil.
//
// It fails with [ErrInvalidArgument] for options of a part that has none, or a table of a priority
// that there is not.
func (c *Cluster) Dump(part DumpPart, options *DumpOptions) (json.RawMessage, error) {
	own := capi.DumpOptions{Part: uint32(part)}
	if options != nil {
		own.Priority, own.Source = options.Priority, (*uint32)(options.Source)
	}
	var dump json.RawMessage
	err := c.look(func(cluster capi.Cluster) error {
		text, failure := cluster.Dump(&own)
		dump = json.RawMessage(text)
		return failed(failure)
	})
	return dump, err
}

// ExplainOptions say what is to be explained, besides the context of a pick.
type ExplainOptions struct {
	// Accept is the filter of a [Cluster.PickFunc], or nil.
	Accept func(candidate Pick) bool
	// Draw is a number to be taken instead of the next random one, unless it is nil.
	Draw *uint64
}

// An Explanation is why a pick goes where it goes.
type Explanation struct {
	// Snapshot is the version of the hosts that it is decided by.
	Snapshot uint64 `json:"snapshot"`
	// Draw is the random number; nil if none is drawn.
	Draw *uint64 `json:"draw"`
	// Priority is how the priority was chosen; nil if there is none.
	Priority *PriorityChoice `json:"priority"`
	// Locality is how the locality was chosen; nil if it was not a choice of its own.
	Locality *LocalityChoice `json:"locality"`
	// Policy is the name of the policy.
	Policy string `json:"policy"`
	// Host is the address that it goes to; nil if there is no host.
	Host *string `json:"host"`
	// Weight is the host's configured weight, EffectiveWeight what the policy uses now.
	Weight          *uint32  `json:"weight"`
	EffectiveWeight *float64 `json:"effective_weight"`
	// SlowStart is how it is warming up; nil if it is not in slow start.
	SlowStart *ExplainedSlowStart `json:"slow_start"`
	// Why says in words what the policy did.
	Why string `json:"why"`
	// JSON is all of it in the form of explain in a replay, docs/replay.md; later versions may add
	// keys.
	JSON json.RawMessage `json:"-"`
}

// PriorityChoice is how a priority was chosen.
type PriorityChoice struct {
	// Hash is the number that chose, 0 to 99 with [BehaviorEnvoy].
	Hash uint64 `json:"hash"`
	// Healthy and Degraded are the loads of the priorities, in percent.
	Healthy  []float64 `json:"healthy"`
	Degraded []float64 `json:"degraded"`
	// Chosen is the priority, Source the name of the hosts of it, Panic whether it panics.
	Chosen uint32 `json:"chosen"`
	Source string `json:"source"`
	Panic  bool   `json:"panic"`
}

// LocalityChoice is how a locality was chosen.
type LocalityChoice struct {
	// Why says in words how.
	Why string `json:"why"`
	// Weights are those of all localities.
	Weights []float64 `json:"weights"`
	// Chosen is the locality.
	Chosen ExplainedLocality `json:"chosen"`
}

// ExplainedLocality is a locality of an explanation.
type ExplainedLocality struct {
	Region  string `json:"region"`
	Zone    string `json:"zone"`
	SubZone string `json:"sub_zone"`
}

// ExplainedSlowStart is the slow start of an explained host.
type ExplainedSlowStart struct {
	// Factor is what its weight is multiplied with now, 0 to 1.
	Factor float64 `json:"factor"`
	// SecondsLeft is how long it still takes; nil if that is not known.
	SecondsLeft *float64 `json:"seconds_left"`
}

// Explain says why the next pick with this context would go where it would go, decided by the pick's
// own code, so that it cannot disagree with it. It changes no pick. Each of a cluster's workers is at
// a place of its own: which of them is asked here is not said, so for a certain one ask a [Worker].
//
// That there is no host is no failure. It fails with [ErrInvalidArgument] or [ErrClosed].
func (c *Cluster) Explain(context *PickContext, options ExplainOptions) (*Explanation, error) {
	borrowed, hint, err := c.borrow()
	if err != nil {
		return nil, err
	}
	defer c.giveBack(borrowed, hint)
	return borrowed.explain(context, options)
}

func (h *handle) explain(context *PickContext, options ExplainOptions) (*Explanation, error) {
	var own capi.PickContext
	context.fill(&own, &h.core.clock)
	text, status, panicked := h.worker.Explain(&own, options.Draw, h.asking(options.Accept))
	h.goOn(panicked, &Pick{})
	if status != capi.StatusOK {
		return nil, Code(status)
	}
	explanation := &Explanation{JSON: json.RawMessage(text)}
	return explanation, json.Unmarshal(explanation.JSON, explanation)
}
