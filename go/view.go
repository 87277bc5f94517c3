package plimsoll

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"plimsoll.example/plimsoll/internal/capi"
)

// CoarseHealth is what balancing makes of a host's health.
type CoarseHealth uint32

const (
	// CoarseHealthy gets traffic first.
	CoarseHealthy CoarseHealth = capi.CoarseHealthy
	// CoarseDegraded gets what the healthy hosts cannot take.
	CoarseDegraded CoarseHealth = capi.CoarseDegraded
	// CoarseUnhealthy gets traffic in panic only.
	CoarseUnhealthy CoarseHealth = capi.CoarseUnhealthy
)

// HealthFlags are what is known of a host's health: Envoy's bits.
type HealthFlags uint32

const (
	// FlagFailedActiveHC is a host that fails its active health check.
	FlagFailedActiveHC HealthFlags = capi.FlagFailedActiveHC
	// FlagFailedOutlierCheck is a host that outlier detection ejected.
	FlagFailedOutlierCheck HealthFlags = capi.FlagFailedOutlierCheck
	// FlagFailedEDSHealth is a host that the control plane calls unhealthy or timed out.
	FlagFailedEDSHealth HealthFlags = capi.FlagFailedEDSHealth
	// FlagDegradedActiveHC is a host that passes its active health check as degraded.
	FlagDegradedActiveHC HealthFlags = capi.FlagDegradedActiveHC
	// FlagDegradedEDSHealth is a host that the control plane calls degraded.
	FlagDegradedEDSHealth HealthFlags = capi.FlagDegradedEDSHealth
	// FlagPendingDynamicRemoval is a host that is gone from the assignment, and kept because its
	// health checks pass.
	FlagPendingDynamicRemoval HealthFlags = capi.FlagPendingDynamicRemoval
	// FlagPendingActiveHC is a new host that was not checked yet.
	FlagPendingActiveHC HealthFlags = capi.FlagPendingActiveHC
	// FlagExcludedViaImmediateHCFail is a host that failed at once by its own response.
	FlagExcludedViaImmediateHCFail HealthFlags = capi.FlagExcludedViaImmediateHCFail
	// FlagActiveHCTimeout is a host whose active health check times out.
	FlagActiveHCTimeout HealthFlags = capi.FlagActiveHCTimeout
	// FlagEDSStatusDraining is a host that the control plane drains.
	FlagEDSStatusDraining HealthFlags = capi.FlagEDSStatusDraining
	// FlagDegradedOutlierDetection is a host that outlier detection finds degraded.
	FlagDegradedOutlierDetection HealthFlags = capi.FlagDegradedOutlierDetection
)

// Host is a host of the newest snapshot.
type Host struct {
	// Address is its identity, Hostname its name.
	Address, Hostname string
	// Locality is where it is.
	Locality Locality
	// Priority is 0 for what is used first.
	Priority uint32
	// Weight is the configured one.
	Weight uint32
	// Active is how many requests are active on it; it changes while one looks.
	Active uint32
	// Health is what is known of its health, EDS what the control plane says of it, and Coarse what
	// balancing makes of them.
	Health HealthFlags
	EDS    EDSHealth
	Coarse CoarseHealth
	// EffectiveWeight is what the policy uses now: slow start included, its requests not.
	EffectiveWeight float64
	// Share is the part of the traffic that it gets, 0 to 1; with LEAST_REQUEST, while no host has
	// requests.
	Share float64
	// SlowStart is how it is warming up; nil if it is not in slow start.
	SlowStart *SlowStart
	// Report is what it reported of its load; nil if it has not, or the policy does not go by that.
	Report *HostReport
}

// SlowStart is how a host is warming up.
type SlowStart struct {
	// Factor is what its weight is multiplied with now, 0 to 1.
	Factor float64
	// Left is how long it still takes.
	Left time.Duration
}

// HostReport is what a host reported of its load.
type HostReport struct {
	// Utilization is that which the policy goes by; more than 1 is possible.
	Utilization float64
	// Age is how long ago it came, by the last tick.
	Age time.Duration
	// Weight is what follows from it. It becomes the host's effective weight when weights are taken
	// over, and only while the report counts.
	Weight float64
}

// Hosts are the hosts of the newest snapshot, by priority, then in the assignment's order.
func (c *Cluster) Hosts() ([]Host, error) {
	var hosts []Host
	err := c.look(func(cluster capi.Cluster) error {
		return failed(cluster.Hosts(func(host capi.Host) { hosts = append(hosts, newHost(&host)) }))
	})
	return hosts, err
}

func newHost(from *capi.Host) Host {
	host := Host{
		Address:         from.Address,
		Hostname:        from.Hostname,
		Locality:        Locality{from.Region, from.Zone, from.SubZone},
		Priority:        from.Priority,
		Weight:          from.Weight,
		Active:          from.Active,
		Health:          HealthFlags(from.Health),
		EDS:             EDSHealth(from.EDSHealth),
		Coarse:          CoarseHealth(from.Coarse),
		EffectiveWeight: from.EffectiveWeight,
		Share:           from.Share,
	}
	if from.SlowStartSecondsLeft > 0 {
		left := time.Duration(from.SlowStartSecondsLeft * float64(time.Second))
		host.SlowStart = &SlowStart{Factor: from.SlowStartFactor, Left: left}
	}
	if from.HasReport {
		host.Report = &HostReport{from.Utilization, time.Duration(from.ReportAgeNS), from.ReportedWeight}
	}
	return host
}

// Source is a kind of hosts.
type Source uint32

const (
	// SourceHealthy are the healthy hosts.
	SourceHealthy Source = capi.SourceHealthy
	// SourceDegraded are the degraded hosts.
	SourceDegraded Source = capi.SourceDegraded
	// SourceAll are all hosts, whatever their health. In panic a priority sends there.
	SourceAll Source = capi.SourceAll
)

// LocalityShare is one kind of hosts in one locality, and what they get of the traffic.
type LocalityShare struct {
	// Locality is where they are.
	Locality Locality
	// Priority and Source say which hosts of it.
	Priority uint32
	Source   Source
	// Hosts is how many there are.
	Hosts uint64
	// AllLocal is whether the node's own locality gets all that goes to such hosts of the priority.
	AllLocal bool
	// Load is the part of all requests that goes to such hosts of the priority, 0 to 1: the same for
	// all localities of one priority and source.
	Load float64
	// Weight is natively what the locality gets of Load, 0 to 1; with [BehaviorEnvoy] in proportion
	// to this, which is Envoy's own weight. It means nothing if the priority has no such hosts.
	Weight float64
	// Utilization is how busy they are, smoothed; nil if routing does not go by that.
	Utilization *float64
}

// Localities are how traffic divides among localities: by priority, by source, then the node's own
// locality first and the others by name.
func (c *Cluster) Localities() ([]LocalityShare, error) {
	var shares []LocalityShare
	err := c.look(func(cluster capi.Cluster) error {
		return failed(cluster.Localities(func(from capi.Locality) {
			share := LocalityShare{
				Locality: Locality{from.Region, from.Zone, from.SubZone},
				Priority: from.Priority,
				Source:   Source(from.Source),
				Hosts:    from.Hosts,
				AllLocal: from.AllLocal,
				Load:     from.Load,
				Weight:   from.Weight,
			}
			if from.HasUtilization {
				share.Utilization = &from.Utilization
			}
			shares = append(shares, share)
		}))
	})
	return shares, err
}

// HostTable is a table of all hosts, for humans: its form may change.
func (c *Cluster) HostTable() (string, error) {
	return c.text(capi.Cluster.HostTable)
}

// Stats are the cluster's counters that are not zero. Names are Envoy's where Envoy has the counter;
// ours start with plimsoll.
func (c *Cluster) Stats() (map[string]uint64, error) {
	text, err := c.text(capi.Cluster.Stats)
	if err != nil {
		return nil, err
	}
	stats := make(map[string]uint64)
	for line := range strings.Lines(text) {
		name, number, _ := strings.Cut(strings.TrimSuffix(line, "\n"), ": ")
		value, err := strconv.ParseUint(number, 10, 64)
		if err != nil {
			return nil, fmt.Errorf("plimsoll: the counter %q: %w", name, err)
		}
		stats[name] = value
	}
	return stats, nil
}

func (c *core) text(write func(capi.Cluster) (string, capi.Status)) (string, error) {
	var text string
	err := c.look(func(cluster capi.Cluster) error {
		var status capi.Status
		text, status = write(cluster)
		return answer(status)
	})
	return text, err
}
