package plimsoll

import (
	"runtime"
	"time"

	"plimsoll.example/plimsoll/internal/capi"
)

// Config is a cluster as a struct, for programs that have no file of Envoy's. What stays zero is not
// said, and has Envoy's default; docs/configuration.md has all of them with their ranges.
//
// Errors name what is at fault as the C interface does: settings.least_request.choice_count is
// [LeastRequest].ChoiceCount, and assignment.localities[2].hosts[0].address an address in
// the [Assignment]. With Hosts each host has a locality of its own: that of Hosts[2] is
// assignment.localities[2].
type Config struct {
	// Name is the cluster's name.
	Name string
	// Policy is how the next host is chosen; nil: [RoundRobin].
	Policy Policy
	// Locality is how traffic divides among the localities of a priority before that; nil: by hosts.
	Locality LocalityRouting
	// PanicThreshold is how many percent of a priority's hosts have to be healthy, or all of them get
	// traffic; nil: 50.
	PanicThreshold *float64
	// FailTrafficOnPanic gives no host in a panic, instead of any host.
	FailTrafficOnPanic bool
	// HealthChecked is whether hosts are new until [HealthPass] is learnt of them.
	HealthChecked bool
	// IgnoreNewHostsUntilFirstHC keeps new hosts out of all percentages until then.
	IgnoreNewHostsUntilFirstHC bool
	// IgnoreHealthOnHostRemoval has hosts go at once that are not among the hosts any more, even if
	// their health checks pass.
	IgnoreHealthOnHostRemoval bool
	// OverrideStatus is the health that hosts of [Cluster.PickOverride] may have; nil: EDSUnknown,
	// EDSHealthy and EDSDegraded. Empty: they may have none.
	OverrideStatus []EDSHealth
	// OverrideHost is where requests name their hosts; nil: they do not.
	OverrideHost *OverrideHost
	// Hosts are all hosts, in the short form. [Cluster.Configure] leaves those that are there alone if
	// it and Assignment are nil.
	Hosts []HostSpec
	// Assignment is the same in the long form, in which localities have weights; not beside Hosts.
	Assignment *Assignment
}

// Open opens a cluster of this configuration. Options may be nil.
//
// It fails with [ErrInvalidArgument] for a value outside its range or a nil Config, or with [ErrClosed]
// if the local cluster is.
func (c *Config) Open(options *Options) (*Cluster, error) {
	hosts, err := c.hosts()
	if err != nil {
		return nil, err
	}
	settings := c.settings()
	// The hash policies that it names.
	defer runtime.KeepAlive(c)
	return open(options, func(own *capi.Options) (capi.Cluster, *capi.Failure) {
		return capi.New(settings, hosts, own)
	})
}

// Configure replaces the settings by those of a [Config], as a whole, and if it has any, the hosts: in
// one step, all or nothing. The behavior and options stay, and so do hosts that are still there, with
// their data, their requests and their health.
//
// It fails as [Config.Open] does, or with [ErrPoisoned].
func (c *Cluster) Configure(config *Config) (Applied, error) {
	hosts, err := config.hosts()
	if err != nil {
		return Applied{}, err
	}
	settings := config.settings()
	defer runtime.KeepAlive(config)
	return c.applying(func(cluster capi.Cluster) (capi.Applied, *capi.Failure) {
		return cluster.Configure(settings, hosts)
	})
}

// ConfigureHosts replaces the hosts and leaves the settings alone; otherwise it is as
// [Cluster.Configure]. An empty [Assignment] says that there are none; nil is refused with
// [ErrInvalidArgument].
func (c *Cluster) ConfigureHosts(assignment *Assignment) (Applied, error) {
	if assignment == nil {
		return Applied{}, missing("assignment")
	}
	hosts := assignment.c()
	return c.applying(func(cluster capi.Cluster) (capi.Applied, *capi.Failure) {
		return cluster.Configure(nil, hosts)
	})
}

// settings is all but the hosts.
func (c *Config) settings() *capi.Settings {
	to := &capi.Settings{
		Name:                      c.Name,
		HealthyPanicThreshold:     c.PanicThreshold,
		FailTrafficOnPanic:        c.FailTrafficOnPanic,
		ActiveHealthChecks:        c.HealthChecked,
		IgnoreNewHosts:            c.IgnoreNewHostsUntilFirstHC,
		IgnoreHealthOnHostRemoval: c.IgnoreHealthOnHostRemoval,
	}
	if c.Policy != nil {
		c.Policy.policy(to)
	}
	if c.Locality != nil {
		c.Locality.routing(to)
	}
	if c.OverrideStatus != nil {
		var statuses uint32
		for _, status := range c.OverrideStatus {
			// One that does not exist has a bit that no status has.
			statuses |= 1 << min(status, 31)
		}
		to.OverrideHostStatus = &statuses
	}
	if c.OverrideHost != nil {
		to.OverrideHost = c.OverrideHost.c()
	}
	return to
}

// unlessZero is a value that is not zero; nil stands for the default.
func unlessZero[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}

// OverrideHost is where requests name their hosts, which come before the policy: Envoy's policy
// override_host.
type OverrideHost struct {
	// Sources are where addresses are looked for, in order; at least one, each an [OverrideHeader] or an
	// [OverrideMetadata].
	Sources []OverrideSource
	// SelectedHostKey is where the address of the picked host is to be written, an
	// [OverrideSelectedHost]; nil: nowhere.
	SelectedHostKey *OverrideSource
}

func (o *OverrideHost) c() *capi.OverrideHost {
	to := &capi.OverrideHost{}
	for _, source := range o.Sources {
		to.Sources = append(to.Sources, source.c())
	}
	if o.SelectedHostKey != nil {
		key := o.SelectedHostKey.c()
		to.SelectedHostKey = &key
	}
	return to
}

func (s OverrideSource) c() capi.OverrideSource {
	return capi.OverrideSource{Kind: uint32(s.Kind), Name: s.Name, Path: s.Path}
}

// RuntimeFloat is a number that a runtime key overrides.
type RuntimeFloat struct {
	// Value is the number without the key.
	Value float64
	// Key is the runtime key.
	Key string
}

func (f *RuntimeFloat) c() *capi.RuntimeDouble {
	if f == nil {
		return nil
	}
	return &capi.RuntimeDouble{Default: f.Value, Key: f.Key}
}

// OOBReporting asks hosts for load reports on streams, besides those with responses; see
// [Cluster.PollStreams].
type OOBReporting struct {
	// Enabled is whether there are streams.
	Enabled bool
	// Period is how often they are to report; nil: every 10 s.
	Period *time.Duration
	// Port is where they go; 0: to the host's own.
	Port uint32
	// Authority is what to call the host in requests; empty: its name or its address.
	Authority string
}

func (o OOBReporting) c(metricNames []string) capi.Reporting {
	return capi.Reporting{
		EnableOOB: o.Enabled, Period: o.Period, Port: o.Port, Authority: o.Authority, MetricNames: metricNames,
	}
}
