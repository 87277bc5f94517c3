package plimsoll

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"time"

	"plimsoll.example/plimsoll/internal/capi"
)

// Behavior is how a cluster balances.
type Behavior uint32

const (
	// BehaviorNative has the same configuration and weights as Envoy, and chooses better.
	BehaviorNative Behavior = capi.BehaviorNative
	// BehaviorEnvoy is Envoy 1.40.0, number for number.
	BehaviorEnvoy Behavior = capi.BehaviorEnvoy
)

// Locality is where a host or a node is. Parts that are not known are empty.
type Locality struct {
	Region, Zone, SubZone string
}

// Options are what a cluster needs to know besides its configuration. The zero value will do.
type Options struct {
	// Behavior is how it balances.
	Behavior Behavior
	// Seed, if it is not nil, seeds all random numbers, so that picks can be repeated. Nil is for
	// production: the system's entropy, so that two proxies never pick in lockstep.
	Seed *uint64
	// Now is the time of its opening; the zero time stands for that of the call.
	Now time.Time
	// Locality is where this node is. All parts empty: its place is not known.
	Locality Locality
	// LocalCluster is the cluster that this node itself belongs to, Envoy's local_cluster_name;
	// zone-aware routing goes by where its healthy hosts are. The new cluster follows its changes
	// with control calls of its own, a tick at the latest. Either may be closed first.
	LocalCluster *Cluster
	// Runtime are runtime values that hold from the start, with [BehaviorEnvoy] too, which takes
	// later ones up with the next change only.
	Runtime []RuntimeValue
	// Logger hears what the library has to say of the cluster, as far as its level goes: from panics of
	// priorities to each snapshot. It hears of it after the call in which it happened, and also if a
	// cluster or a worker was not closed. Nil hears nothing.
	Logger *slog.Logger
}

// A Cluster is a set of hosts, their health, and how requests are divided among them.
//
// All its methods may be called by any number of goroutines at once. Control calls wait for each
// other. A pick waits for one only while it makes a worker, since all others are in use.
type Cluster struct {
	*core
	cleanup runtime.Cleanup
}

// core is what a cluster and its workers share. It outlives the Cluster that a program forgets, as
// long as calls are under way.
type core struct {
	lifetime lifetime
	handle   capi.Cluster
	clock    clock
	idle     freeList
	hosts    directory
	data     hostData
	messages messages
}

// Open opens a cluster from Envoy's Cluster message, as YAML or JSON. Its hosts are those of its
// load_assignment, none if it has none. Options may be nil.
//
// It fails with [ErrParse], with [ErrInvalidArgument] for a value outside its range or an unknown
// field, with [ErrUnsupported], or with [ErrClosed] if the local cluster is.
func Open(config string, options *Options) (*Cluster, error) {
	return open(options, func(own *capi.Options) (capi.Cluster, *capi.Failure) {
		return capi.Open(config, own)
	})
}

// open opens a cluster as the function does that gets the options.
func open(options *Options, opens func(own *capi.Options) (capi.Cluster, *capi.Failure)) (*Cluster, error) {
	if !capi.ABIMatches() {
		return nil, errors.New("plimsoll: the library " + capi.Version() +
			" is not of the interface that this program was compiled for")
	}
	if options == nil {
		options = &Options{}
	}
	start := options.Now
	if start.IsZero() {
		start = time.Now()
	}
	opened := &core{clock: newClock(start), messages: messages{logger: options.Logger}}
	own := capi.Options{
		Behavior: uint32(options.Behavior),
		NowNS:    opened.clock.startNS,
		Locality: [3]string{options.Locality.Region, options.Locality.Zone, options.Locality.SubZone},
	}
	if options.Seed != nil {
		own.HasSeed, own.Seed = true, *options.Seed
	}
	if options.LocalCluster != nil {
		local := options.LocalCluster.core
		if !local.lifetime.enter() {
			return nil, ErrClosed
		}
		defer local.leave()
		own.LocalCluster = local.handle
	}
	own.Runtime = runtimeValues(options.Runtime)
	opened.messages.listen(&own)
	defer opened.messages.deliver()
	handle, failure := opens(&own)
	if failure != nil {
		return nil, failed(failure)
	}
	opened.handle = handle
	opened.idle.init()
	cluster := &Cluster{core: opened}
	cluster.cleanup = runtime.AddCleanup(cluster, forget, opened)
	return cluster, nil
}

// Close frees the cluster. Calls that are under way come to their end, and so do requests: a worker
// of [Cluster.NewWorker] goes on with the hosts that the cluster had last. To close it twice does
// no harm.
func (c *Cluster) Close() error {
	c.cleanup.Stop()
	c.core.close()
	return nil
}

// forget closes a cluster that nobody can close any more.
func forget(forgotten *core) {
	if logger := forgotten.messages.logger; forgotten.close() && logger != nil {
		logger.Warn("plimsoll: a Cluster was not closed")
	}
}

// close is whether it was open.
func (c *core) close() bool {
	first, free := c.lifetime.close()
	c.idle.drain()
	if free {
		c.handle.Free()
	}
	c.afterwards()
	return first
}

// afterwards does what has come up in the middle of a call.
func (c *core) afterwards() {
	c.messages.deliver()
	c.data.runReleases()
}

func (c *core) leave() {
	if c.lifetime.leave() {
		c.handle.Free()
	}
	c.afterwards()
}

// control is a control call. Idle workers let go of their snapshots first, so that what this call
// replaces or finds unused can go at once; and what it has released is the program's business after
// it, where it may call anything.
func (c *core) control(call func(cluster capi.Cluster) *capi.Failure) error {
	if !c.lifetime.enter() {
		return ErrClosed
	}
	defer c.leave()
	c.idle.quiesce()
	return failed(call(c.handle))
}

// look is a call that changes nothing.
func (c *core) look(call func(cluster capi.Cluster) error) error {
	if !c.lifetime.enter() {
		return ErrClosed
	}
	defer c.leave()
	return call(c.handle)
}

// Applied is what a control call did.
type Applied struct {
	// Version is that of the newest snapshot of hosts after the call.
	Version uint64
	// Published is whether the call made a new one. One that changes nothing makes none.
	Published bool
}

func (c *core) applying(call func(cluster capi.Cluster) (capi.Applied, *capi.Failure)) (Applied, error) {
	var applied capi.Applied
	err := c.control(func(cluster capi.Cluster) (failure *capi.Failure) {
		applied, failure = call(cluster)
		return failure
	})
	return Applied(applied), err
}

// Reload takes in a new version of the Cluster message: settings and hosts in one step, all or
// nothing. Without a load_assignment the hosts stay. Hosts that are still there keep their data and
// their active requests. It fails as [Open] does, and with [ErrPoisoned].
func (c *Cluster) Reload(config string) (Applied, error) {
	return c.applying(func(cluster capi.Cluster) (capi.Applied, *capi.Failure) {
		return cluster.Reload(config)
	})
}

// Assign replaces the hosts by those of Envoy's ClusterLoadAssignment, as YAML or JSON, all or
// nothing. Hosts that are still there keep their data and their active requests. It fails as [Open]
// does, and with [ErrPoisoned].
func (c *Cluster) Assign(assignment string) (Applied, error) {
	return c.applying(func(cluster capi.Cluster) (capi.Applied, *capi.Failure) {
		return cluster.Assign(assignment)
	})
}

// Tick moves the cluster's time on: hosts in slow start get what their weights give them by now,
// reported weights are taken over when their period has passed, and what is not used any more is
// freed. Call it every 100 ms or so; late or bunched calls do no harm, and an earlier time changes
// nothing. The zero time stands for that of the call.
func (c *Cluster) Tick(now time.Time) error {
	if now.IsZero() {
		now = time.Now()
	}
	return c.control(func(cluster capi.Cluster) *capi.Failure {
		return cluster.Tick(c.clock.ns(now))
	})
}

// NextTick is when [Cluster.Tick] has something to do next, for a program that would rather not call
// it in vain. It is not due while nothing is periodic. What ticks free is not due at any time: call
// one every now and then all the same, and one after an update.
func (c *Cluster) NextTick() (next time.Time, due bool, err error) {
	var ns uint64
	err = c.look(func(cluster capi.Cluster) error {
		var failure *capi.Failure
		ns, failure = cluster.NextTick()
		return failed(failure)
	})
	if err != nil || ns == 0 {
		return time.Time{}, false, err
	}
	return c.clock.time(ns), true, nil
}

// Run calls [Cluster.Tick] every so often, 100 ms if it is 0, until the context is done or the
// cluster closed; it gives nil then. Start it on a goroutine of its own.
func (c *Cluster) Run(ctx context.Context, every time.Duration) error {
	if every == 0 {
		every = 100 * time.Millisecond
	}
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case now := <-ticker.C:
			switch err := c.Tick(now); {
			case errors.Is(err, ErrClosed):
				return nil
			case err != nil:
				return err
			}
		}
	}
}

// Version is the version of the library, such as 1.0.0.
func Version() string { return capi.Version() }
