package plimsoll

import "plimsoll.example/plimsoll/internal/capi"

// An Assignment is all hosts of a cluster: Envoy's ClusterLoadAssignment.
type Assignment struct {
	// Localities are groups of hosts, of which several may be of the same locality.
	Localities []LocalityHosts
	// OverprovisioningFactor: a priority counts as fully available while its available share times this
	// percentage reaches 100; 0: 140.
	OverprovisioningFactor uint32
	// WeightedPriorityHealth measures availability in weight instead of in hosts.
	WeightedPriorityHealth bool
}

// LocalityHosts are the hosts of one locality at one priority.
type LocalityHosts struct {
	// Locality is where they are.
	Locality Locality
	// Priority is 0, which is used first, to 128.
	Priority uint32
	// Weight is the locality's, for [LocalityWeighted]; 0: it has none.
	Weight uint32
	// Hosts are its hosts.
	Hosts []Endpoint
}

// Endpoint is a host in an [Assignment]. Only its address is required.
type Endpoint struct {
	// Address is the host's identity: 10.0.0.1:80, [::1]:80 or any other text.
	Address string
	// Hostname is its name, for tables and for hashing by name.
	Hostname string
	// Weight is its weight; 0 stands for 1.
	Weight uint32
	// Health is what the control plane says of it.
	Health EDSHealth
	// HashKey is what ring_hash and maglev place it by; empty: its name or its address.
	HashKey string
	// DisableActiveHealthCheck is whether it is not checked, whatever [Config.HealthChecked] says.
	DisableActiveHealthCheck bool
	// HealthCheckAddress is where its health checks go; empty: to its address.
	HealthCheckAddress string
}

func (a *Assignment) c() *capi.Assignment {
	to := &capi.Assignment{
		Localities:             make([]capi.LocalityHosts, len(a.Localities)),
		OverprovisioningFactor: unlessZero(a.OverprovisioningFactor),
		WeightedPriorityHealth: a.WeightedPriorityHealth,
	}
	for i, group := range a.Localities {
		own := capi.LocalityHosts{
			Place:    [3]string{group.Locality.Region, group.Locality.Zone, group.Locality.SubZone},
			Priority: group.Priority,
			Weight:   group.Weight,
			Hosts:    make([]capi.Endpoint, len(group.Hosts)),
		}
		for j, host := range group.Hosts {
			own.Hosts[j] = host.c()
		}
		to.Localities[i] = own
	}
	return to
}

func (e Endpoint) c() capi.Endpoint {
	return capi.Endpoint{
		Address:                  e.Address,
		Hostname:                 e.Hostname,
		HashKey:                  e.HashKey,
		HealthCheckAddress:       e.HealthCheckAddress,
		Weight:                   max(e.Weight, 1),
		HealthStatus:             uint32(e.Health),
		DisableActiveHealthCheck: e.DisableActiveHealthCheck,
	}
}

// hosts is what the configuration says of them; nil for nothing.
func (c *Config) hosts() (*capi.Assignment, error) {
	switch {
	case c == nil:
		return nil, missing("config")
	case c.Assignment != nil && c.Hosts != nil:
		return nil, &Error{Code: ErrInvalidArgument, Field: "Hosts", Message: "there is an Assignment, too"}
	case c.Assignment != nil:
		return c.Assignment.c(), nil
	case c.Hosts == nil:
		return nil, nil
	}
	short := Assignment{Localities: make([]LocalityHosts, len(c.Hosts))}
	for i, host := range c.Hosts {
		endpoint := Endpoint{Address: host.Address, Hostname: host.Hostname, Weight: host.Weight,
			Health: host.Health, HashKey: host.HashKey}
		short.Localities[i] = LocalityHosts{Locality: host.Locality, Priority: host.Priority,
			Hosts: []Endpoint{endpoint}}
	}
	return short.c(), nil
}
