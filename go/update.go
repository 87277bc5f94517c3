package plimsoll

import "plimsoll.example/plimsoll/internal/capi"

// EDSHealth is what the control plane says of a host: Envoy's HealthStatus.
type EDSHealth uint32

const (
	// EDSUnknown says nothing; it counts as healthy.
	EDSUnknown EDSHealth = capi.EDSUnknown
	// EDSHealthy is healthy.
	EDSHealthy EDSHealth = capi.EDSHealthy
	// EDSUnhealthy is unhealthy.
	EDSUnhealthy EDSHealth = capi.EDSUnhealthy
	// EDSDraining gets no new requests, and is left out of every percentage.
	EDSDraining EDSHealth = capi.EDSDraining
	// EDSTimeout is a health check that timed out; it counts as unhealthy.
	EDSTimeout EDSHealth = capi.EDSTimeout
	// EDSDegraded is usable, after the healthy ones.
	EDSDegraded EDSHealth = capi.EDSDegraded
)

// HealthEvent is something that was learnt of a host's health.
type HealthEvent uint32

const (
	// HealthPass is an active health check that passed.
	HealthPass HealthEvent = capi.HealthPass
	// HealthFail is an active health check that failed.
	HealthFail HealthEvent = capi.HealthFail
	// HealthDegraded is an active health check that passed with the degraded mark.
	HealthDegraded HealthEvent = capi.HealthDegraded
	// HealthTimedOut is an active health check that timed out.
	HealthTimedOut HealthEvent = capi.HealthTimedOut
	// HealthFailNow is a response that asked to fail the host at once.
	HealthFailNow HealthEvent = capi.HealthFailNow
	// HealthEject is an ejection by outlier detection.
	HealthEject HealthEvent = capi.HealthEject
	// HealthUneject is the end of an ejection.
	HealthUneject HealthEvent = capi.HealthUneject
	// HealthOutlierDegraded is a host that outlier detection found degraded.
	HealthOutlierDegraded HealthEvent = capi.HealthOutlierDegraded
	// HealthOutlierRecovered is a host that it no longer finds degraded.
	HealthOutlierRecovered HealthEvent = capi.HealthOutlierRecovered
)

// HostSpec describes a host. Only its address is required.
type HostSpec struct {
	// Address is the host's identity: 10.0.0.1:80, [::1]:80 or any other text.
	Address string
	// Hostname is its name, for tables and for hashing by name.
	Hostname string
	// Locality is where it is.
	Locality Locality
	// Priority is 0, which is used first, to 128.
	Priority uint32
	// Weight is its weight; 0 stands for 1.
	Weight uint32
	// Health is what the control plane says of it.
	Health EDSHealth
	// HashKey is what ring_hash and maglev place it by; empty: its name or its address.
	HashKey string
}

// A Change is one change to one host: [Upsert], [Remove] or [LearnHealth].
type Change struct {
	kind  uint32
	event HealthEvent
	host  HostSpec
}

// Upsert adds a host, or describes it anew if it is there. It keeps its data, its requests and what
// is known of its health.
func Upsert(host HostSpec) Change {
	return Change{kind: capi.ChangeUpsert, host: host}
}

// Remove removes a host. Its requests go on.
func Remove(address string) Change {
	return Change{kind: capi.ChangeRemove, host: HostSpec{Address: address}}
}

// LearnHealth is what was learnt of a host's health.
func LearnHealth(address string, event HealthEvent) Change {
	return Change{kind: capi.ChangeHealth, event: event, host: HostSpec{Address: address}}
}

// Update applies changes in one step, all or nothing; any number of them makes one snapshot at most.
// Wherever they stand, removals come first, then the hosts that are added or described anew, then
// what was learnt of their health.
//
// It fails with [ErrUnknownHost] if a host to be removed or learnt about is not there, with
// [ErrInvalidArgument] for a value outside its range (the field is changes[3].priority, say), with
// [ErrUnsupported], or with [ErrPoisoned].
func (c *Cluster) Update(changes ...Change) (Applied, error) {
	return c.applying(func(cluster capi.Cluster) (capi.Applied, *capi.Failure) {
		return cluster.Update(len(changes), func(i int) capi.Change {
			change := &changes[i]
			host := &change.host
			return capi.Change{
				Kind:         change.kind,
				Event:        uint32(change.event),
				Priority:     host.Priority,
				Weight:       host.Weight,
				HealthStatus: uint32(host.Health),
				Texts: [6]string{host.Address, host.Hostname, host.Locality.Region,
					host.Locality.Zone, host.Locality.SubZone, host.HashKey},
			}
		})
	})
}

// MaxLoad is the largest number of requests that a [HostLoad] may have.
const MaxLoad = capi.MaxLoad

// HostLoad is how busy a host is.
type HostLoad struct {
	// Address is the host's address.
	Address string
	// Active is how many requests are active on it, [MaxLoad] at most.
	Active uint32
	// Pending is how many requests wait for a connection to it, if it is not nil; what was said
	// before stays otherwise. They count with LEAST_REQUEST only, and only while the runtime key
	// envoy.reloadable_features.least_request_lb_count_pending_requests is true.
	Pending *uint32
}

// SetLoads says how busy hosts are, all or nothing, for requests that the library does not count:
// those of other processes, or of uncounted picks. Counted picks and their ends count on from
// there. The next pick sees it. If a host stands there twice, the later load holds.
//
// It fails with [ErrUnknownHost], [ErrInvalidArgument] or [ErrPoisoned].
func (c *Cluster) SetLoads(loads ...HostLoad) error {
	return c.control(func(cluster capi.Cluster) *capi.Failure {
		return cluster.SetLoads(len(loads), func(i int) capi.Load {
			load := capi.Load{Address: loads[i].Address, Active: loads[i].Active}
			if pending := loads[i].Pending; pending != nil {
				load.Pending, load.HasPending = *pending, true
			}
			return load
		})
	})
}
