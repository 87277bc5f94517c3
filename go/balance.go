package plimsoll

import "plimsoll.example/plimsoll/internal/capi"

// borrow is a worker for one call, and where it is to be given back.
func (c *core) borrow() (*handle, *hint, error) {
	idle, hint := c.idle.take()
	if idle != nil {
		return idle, hint, nil
	}
	made, err := c.newHandle()
	return made, hint, err
}

func (c *core) giveBack(borrowed *handle, hint *hint) {
	if !c.idle.give(borrowed, hint) {
		borrowed.worker.Free()
		c.afterwards()
	}
}

func (c *core) newHandle() (*handle, error) { return c.newHandleBy(capi.Cluster.NewWorker) }

func (c *core) newHandleBy(make func(capi.Cluster) (capi.Worker, *capi.Failure)) (*handle, error) {
	made := &handle{core: c}
	err := c.look(func(cluster capi.Cluster) error {
		var failure *capi.Failure
		made.worker, failure = make(cluster)
		return failed(failure)
	})
	return made, err
}

// picking lends a worker for one pick, and learns who the host is as long as the worker surely
// knows.
func (c *core) picking(choose func(*handle) (Pick, capi.Status)) (Pick, error) {
	borrowed, hint, err := c.borrow()
	if err != nil {
		return Pick{}, err
	}
	defer c.giveBack(borrowed, hint)
	pick, status := choose(borrowed)
	if status != capi.StatusOK {
		return Pick{}, Code(status)
	}
	c.hosts.learn(borrowed.worker, pick, &c.data)
	return pick, nil
}

// Pick picks a host for one request. Unless the context says otherwise it counts as an active
// request until [Cluster.Done]. The context may be nil.
//
// It fails with [ErrNoHost] if no host is eligible where the pick was led, with [ErrNoHostPanic] if
// the cluster fails traffic on panic and is in panic, or with [ErrClosed].
func (c *Cluster) Pick(context *PickContext) (Pick, error) {
	// As picking does, without a closure: this is what runs for every request.
	borrowed, hint, err := c.borrow()
	if err != nil {
		return Pick{}, err
	}
	pick, status := borrowed.pick(context)
	if status == capi.StatusOK {
		c.hosts.learn(borrowed.worker, pick, &c.data)
	}
	c.giveBack(borrowed, hint)
	return pick, answer(status)
}

// PickBatch picks a host for each of as many requests as picks has room for, all by the same snapshot
// and with the same context. It gives how many it picked: less than all only if there is no host for
// the next one. It fails as [Cluster.Pick] does if there is none for the first.
func (c *Cluster) PickBatch(context *PickContext, picks []Pick) (int, error) {
	borrowed, hint, err := c.borrow()
	if err != nil {
		return 0, err
	}
	picked, status := borrowed.pickBatch(context, picks)
	c.hosts.learnAll(borrowed.worker, picks[:picked], &c.data)
	c.giveBack(borrowed, hint)
	return picked, answer(status)
}

// PickFunc picks a host that accept agrees to. While it refuses, up to [PickContext.Retries] more are
// tried; the last one is taken unasked, as in Envoy: without retries accept is not called at all.
//
// accept may ask for the candidate's address and data, and pick from other clusters. Its panics reach
// the caller, and runtime.Goexit is not for it. [Cluster.PickAvoiding] is quicker where it will do.
//
// It fails as [Cluster.Pick] does.
func (c *Cluster) PickFunc(context *PickContext, accept func(candidate Pick) bool) (Pick, error) {
	return c.picking(func(h *handle) (Pick, capi.Status) { return h.pickFunc(context, accept) })
}

// PickAvoiding picks another host than those of earlier picks, for the next attempt at a request.
// While it finds one of them, up to [PickContext.Retries] more are tried; the last one is taken
// though it be one of them, as in Envoy. It fails as [Cluster.Pick] does.
func (c *Cluster) PickAvoiding(context *PickContext, tried ...Pick) (Pick, error) {
	return c.picking(func(h *handle) (Pick, capi.Status) { return h.pickAvoiding(context, tried) })
}

// PickOverride picks the host that the request names, in any priority and instead of a pick by
// policy.
//
// Each text holds one address, or several between commas, in the order in which they are wanted.
// What is no address names no host; no address at all asks for nothing, and the pick is one by
// policy. So is it if none of the addresses can be had, unless strict is true. Only the caller knows
// whether a client is to be trusted with this.
//
// It fails as [Cluster.Pick] does, and if it is strict with [ErrOverrideNotFound] or
// [ErrOverrideNotAllowed].
func (c *Cluster) PickOverride(context *PickContext, addresses []string, strict bool) (Pick, error) {
	return c.picking(func(h *handle) (Pick, capi.Status) {
		return h.pickOverride(context, addresses, strict)
	})
}

// PickOverrideFunc is [Cluster.PickOverride] with a filter for the hosts that the policy picks, if it
// comes to that, as with [Cluster.PickFunc]. Hosts that the request names do not go through it, as in
// Envoy.
func (c *Cluster) PickOverrideFunc(context *PickContext, addresses []string, strict bool,
	accept func(candidate Pick) bool) (Pick, error) {
	return c.picking(func(h *handle) (Pick, capi.Status) {
		return h.pickOverrideFunc(context, addresses, strict, accept)
	})
}

// Address is the address of the host of a pick of this cluster. It is empty for a pick of a [Worker]
// whose address was never asked for, and for one that ended long ago.
func (c *Cluster) Address(pick Pick) string {
	if host := c.hosts.find(pick); host != nil {
		return host.address
	}
	return ""
}

// HostData is the value behind the host of a pick of this cluster; nil if it has none. It is there
// until the pick is done.
func (c *Cluster) HostData(pick Pick) any { return c.hosts.find(pick).behind() }

// Done says that the request of a counted pick is over, whoever picked it.
//
// It fails with [ErrNotCounted], with [ErrStalePick] for a pick that names no request any more (done
// twice, as far as that can be seen: another active request of the same host hides it), or with
// [ErrClosed].
func (c *Cluster) Done(pick Pick, outcome Outcome) error {
	borrowed, hint, err := c.borrow()
	if err != nil {
		return err
	}
	status := borrowed.worker.RefreshAndDone((*capi.Pick)(&pick), 1, uint32(outcome))
	c.giveBack(borrowed, hint)
	return answer(status)
}

// DoneBatch says that the requests of counted picks are over, all of them with the same outcome. It
// fails as [Cluster.Done] does for the first of them that fails; the others are done all the same.
func (c *Cluster) DoneBatch(picks []Pick, outcome Outcome) error {
	if len(picks) == 0 {
		return nil
	}
	borrowed, hint, err := c.borrow()
	if err != nil {
		return err
	}
	status := borrowed.worker.RefreshAndDone((*capi.Pick)(&picks[0]), len(picks), uint32(outcome))
	c.giveBack(borrowed, hint)
	return answer(status)
}

// Report takes in what a response said of its host's load; [Cluster.Tick] makes weights of it, if
// the policy goes by reports. Call it before [Cluster.Done], natively for each attempt at a request;
// with [BehaviorEnvoy] the first report of a request that can be read is the only one.
//
// What a host sends is no mistake of the caller, and counted in [Cluster.Stats]; the answer is seldom
// worth a look: [ErrNoReport], [ErrReportUnreadable], [ErrReportRejected], [ErrReportNotWanted] or [ErrStalePick]. It also
// fails with [ErrClosed].
func (c *Cluster) Report(pick Pick, load ResponseLoad) error {
	borrowed, hint, err := c.borrow()
	if err != nil {
		return err
	}
	status := borrowed.report(&pick, &load)
	c.giveBack(borrowed, hint)
	return answer(status)
}

// Hash hashes a request by the cluster's own hash_policy or, if that has no entries, by the route's,
// which may be nil. [PickContext.Hash] takes it, with [PickContext.Hashed] since it may be 0, for each
// attempt at the request.
//
// Where a policy wants the client to have a cookie that it did not send, setCookie is called with the
// value of the header Set-Cookie that the response is to carry; if it is nil, nobody gets a cookie.
//
// It fails with [ErrNoHash] if no policy finds anything in the request or the cluster's policy does
// not go by hashes: pick without one. Also with [ErrInvalidArgument], for a nil request for instance, or
// with [ErrClosed].
func (c *Cluster) Hash(route *HashPolicies, request *Request, setCookie func(string)) (uint64, error) {
	borrowed, hint, err := c.borrow()
	if err != nil {
		return 0, err
	}
	// Also when setCookie panics.
	defer c.giveBack(borrowed, hint)
	return borrowed.hash(route, request, setCookie)
}
