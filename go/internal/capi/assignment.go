package capi

// #include "shim.h"
import "C"

// Assignment is a plimsoll_assignment.
type Assignment struct {
	Localities             []LocalityHosts
	OverprovisioningFactor *uint32
	WeightedPriorityHealth bool
}

// LocalityHosts are plimsoll_locality_hosts.
type LocalityHosts struct {
	Place            [3]string // region, zone, sub-zone
	Priority, Weight uint32
	Hosts            []Endpoint
}

// Endpoint is a plimsoll_endpoint.
type Endpoint struct {
	Address, Hostname, HashKey, HealthCheckAddress string
	Weight, HealthStatus                           uint32
	DisableActiveHealthCheck                       bool
}

// assignment are the structs of C; nil for nil.
func (a *arena) assignment(from *Assignment) *C.plimsoll_assignment {
	if from == nil {
		return nil
	}
	to := put(a, C.plimsoll_go_assignment)
	to.localities = putAll(a, from.Localities, a.localityHosts)
	to.locality_count = C.size_t(len(from.Localities))
	set(&to.overprovisioning_factor, from.OverprovisioningFactor)
	to.weighted_priority_health = flag(from.WeightedPriorityHealth)
	return to
}

func (a *arena) localityHosts(from LocalityHosts) C.plimsoll_locality_hosts {
	to := C.plimsoll_go_locality_hosts
	to.region = a.str(from.Place[0])
	to.zone = a.str(from.Place[1])
	to.sub_zone = a.str(from.Place[2])
	to.priority = C.uint32_t(from.Priority)
	to.weight = C.uint32_t(from.Weight)
	to.hosts = putAll(a, from.Hosts, a.endpoint)
	to.host_count = C.size_t(len(from.Hosts))
	return to
}

func (a *arena) endpoint(from Endpoint) C.plimsoll_endpoint {
	to := C.plimsoll_go_endpoint
	to.address = a.str(from.Address)
	to.hostname = a.str(from.Hostname)
	to.hash_key = a.str(from.HashKey)
	to.health_check_address = a.str(from.HealthCheckAddress)
	to.weight = C.uint32_t(from.Weight)
	to.health_status = C.uint32_t(from.HealthStatus)
	to.disable_active_health_check = flag(from.DisableActiveHealthCheck)
	return to
}
