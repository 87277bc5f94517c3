package capi

// #include "shim.h"
import "C"

import "time"

// The numbers of a policy.
const (
	PolicyRoundRobin   = C.PLIMSOLL_POLICY_ROUND_ROBIN
	PolicyLeastRequest = C.PLIMSOLL_POLICY_LEAST_REQUEST
	PolicyRingHash     = C.PLIMSOLL_POLICY_RING_HASH
	PolicyRandom       = C.PLIMSOLL_POLICY_RANDOM
	PolicyMaglev       = C.PLIMSOLL_POLICY_MAGLEV
	PolicyWeighted     = C.PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN
)

// The numbers of a routing among localities.
const (
	RoutingUnset     = C.PLIMSOLL_ROUTING_UNSET
	RoutingZoneAware = C.PLIMSOLL_ROUTING_ZONE_AWARE
	RoutingWeighted  = C.PLIMSOLL_ROUTING_WEIGHTED
	RoutingLoadAware = C.PLIMSOLL_ROUTING_LOAD_AWARE
)

// The numbers of what settings choose among.
const (
	SelectionNChoices       = C.PLIMSOLL_SELECTION_N_CHOICES
	SelectionFullScan       = C.PLIMSOLL_SELECTION_FULL_SCAN
	HashFunctionXXHash      = C.PLIMSOLL_HASH_FUNCTION_XX_HASH
	HashFunctionMurmurHash2 = C.PLIMSOLL_HASH_FUNCTION_MURMUR_HASH_2
	BasisHealthyHostsNum    = C.PLIMSOLL_BASIS_HEALTHY_HOSTS_NUM
	BasisHealthyHostsWeight = C.PLIMSOLL_BASIS_HEALTHY_HOSTS_WEIGHT
)

// Settings are plimsoll_cluster_settings. What is nil has its default there.
type Settings struct {
	Name                      string
	Policy, Routing           uint32
	HealthyPanicThreshold     *float64
	FailTrafficOnPanic        bool
	ActiveHealthChecks        bool
	IgnoreNewHosts            bool
	IgnoreHealthOnHostRemoval bool
	OverrideHostStatus        *uint32
	SlowStart                 *SlowStart
	LeastRequest              *LeastRequest
	Weighted                  *Weighted
	RingHash                  *RingHash
	Maglev                    *Maglev
	ZoneAware                 *ZoneAware
	LoadAware                 *LoadAware
	OverrideHost              *OverrideHost
}

// RuntimeDouble is a plimsoll_runtime_double.
type RuntimeDouble struct {
	Default float64
	Key     string
}

// SlowStart is a plimsoll_slow_start.
type SlowStart struct {
	Window           time.Duration
	MinWeightPercent *float64
	Aggression       *RuntimeDouble
}

// LeastRequest is a plimsoll_least_request.
type LeastRequest struct {
	ChoiceCount       *uint32
	SelectionMethod   uint32
	ActiveRequestBias *RuntimeDouble
}

// Reporting is what policies that follow load reports say of them, with a plimsoll_oob_reporting.
type Reporting struct {
	EnableOOB   bool
	Period      *time.Duration
	Port        uint32
	Authority   string
	MetricNames []string
}

// Weighted is a plimsoll_client_side_weighted_round_robin.
type Weighted struct {
	BlackoutPeriod, WeightExpirationPeriod, WeightUpdatePeriod *time.Duration
	ErrorUtilizationPenalty                                    *float64
	Reporting                                                  Reporting
}

// Hashing is what plimsoll_ring_hash and plimsoll_maglev have in common.
type Hashing struct {
	UseHostname   bool
	BalanceFactor uint32
	Policies      HashPolicies
}

// RingHash is a plimsoll_ring_hash.
type RingHash struct {
	HashFunction    uint32
	MinimumRingSize *uint32
	MaximumRingSize uint32
	Hashing         Hashing
}

// Maglev is a plimsoll_maglev.
type Maglev struct {
	TableSize *uint32
	Hashing   Hashing
}

// ZoneAware is a plimsoll_zone_aware.
type ZoneAware struct {
	RoutingEnabled *float64
	MinClusterSize *uint64
	ForceLocalZone *uint32
	LocalityBasis  uint32
}

// LoadAware is a plimsoll_load_aware_locality.
type LoadAware struct {
	WeightUpdatePeriod, SmoothingTimeConstant, WeightExpirationPeriod *time.Duration
	UtilizationVarianceThreshold, RemoteProbeFraction                 *float64
	Reporting                                                         Reporting
}

// OverrideHost is a plimsoll_override_host.
type OverrideHost struct {
	Sources         []OverrideSource
	SelectedHostKey *OverrideSource
}

// set replaces a default by what was said, if anything was. A negative length of time becomes one
// that is too long, and is refused by its name.
func set[To C.uint32_t | C.uint64_t | C.double, From uint32 | uint64 | float64 | time.Duration](
	to *To, said *From) {
	if said != nil {
		*to = To(*said)
	}
}

func flag(is bool) C.uint32_t {
	if is {
		return 1
	}
	return 0
}

// settings are the structs of C; nil for nil.
func (a *arena) settings(from *Settings) *C.plimsoll_cluster_settings {
	if from == nil {
		return nil
	}
	to := put(a, C.plimsoll_go_cluster_settings)
	to.name = a.str(from.Name)
	to.policy = C.uint32_t(from.Policy)
	to.locality_routing = C.uint32_t(from.Routing)
	set(&to.healthy_panic_threshold, from.HealthyPanicThreshold)
	to.fail_traffic_on_panic = flag(from.FailTrafficOnPanic)
	to.active_health_checks = flag(from.ActiveHealthChecks)
	to.ignore_new_hosts_until_first_hc = flag(from.IgnoreNewHosts)
	to.ignore_health_on_host_removal = flag(from.IgnoreHealthOnHostRemoval)
	set(&to.override_host_status, from.OverrideHostStatus)
	to.slow_start = a.slowStart(from.SlowStart)
	to.least_request = a.leastRequest(from.LeastRequest)
	to.client_side_weighted_round_robin = a.weighted(from.Weighted)
	to.ring_hash = a.ringHash(from.RingHash)
	to.maglev = a.maglev(from.Maglev)
	to.zone_aware = a.zoneAware(from.ZoneAware)
	to.load_aware_locality = a.loadAware(from.LoadAware)
	to.override_host = a.overrideHost(from.OverrideHost)
	return to
}

func (a *arena) runtimeDouble(from *RuntimeDouble) *C.plimsoll_runtime_double {
	if from == nil {
		return nil
	}
	number := C.plimsoll_runtime_double{default_value: C.double(from.Default), runtime_key: a.str(from.Key)}
	return put(a, number)
}

func (a *arena) slowStart(from *SlowStart) *C.plimsoll_slow_start {
	if from == nil {
		return nil
	}
	to := put(a, C.plimsoll_go_slow_start)
	set(&to.window_ns, &from.Window)
	set(&to.min_weight_percent, from.MinWeightPercent)
	to.aggression = a.runtimeDouble(from.Aggression)
	return to
}

func (a *arena) leastRequest(from *LeastRequest) *C.plimsoll_least_request {
	if from == nil {
		return nil
	}
	to := put(a, C.plimsoll_go_least_request)
	set(&to.choice_count, from.ChoiceCount)
	to.selection_method = C.uint32_t(from.SelectionMethod)
	to.active_request_bias = a.runtimeDouble(from.ActiveRequestBias)
	return to
}

func (a *arena) weighted(from *Weighted) *C.plimsoll_client_side_weighted_round_robin {
	if from == nil {
		return nil
	}
	to := put(a, C.plimsoll_go_weighted)
	set(&to.blackout_period_ns, from.BlackoutPeriod)
	set(&to.weight_expiration_period_ns, from.WeightExpirationPeriod)
	set(&to.weight_update_period_ns, from.WeightUpdatePeriod)
	if from.ErrorUtilizationPenalty != nil {
		to.has_error_utilization_penalty = 1
		to.error_utilization_penalty = C.float(*from.ErrorUtilizationPenalty)
	}
	to.enable_oob_load_report = flag(from.Reporting.EnableOOB)
	set(&to.oob_reporting_period_ns, from.Reporting.Period)
	to.oob_reporting_config = a.oobReporting(&from.Reporting)
	to.metric_names_for_computing_utilization, to.metric_name_count = a.texts(from.Reporting.MetricNames)
	return to
}

func (a *arena) oobReporting(from *Reporting) *C.plimsoll_oob_reporting {
	to := put(a, C.plimsoll_go_oob_reporting)
	to.port_value = C.uint32_t(from.Port)
	to.authority = a.str(from.Authority)
	return to
}

func (a *arena) ringHash(from *RingHash) *C.plimsoll_ring_hash {
	if from == nil {
		return nil
	}
	to := put(a, C.plimsoll_go_ring_hash)
	to.hash_function = C.uint32_t(from.HashFunction)
	set(&to.minimum_ring_size, from.MinimumRingSize)
	to.maximum_ring_size = C.uint32_t(from.MaximumRingSize)
	to.use_hostname_for_hashing = flag(from.Hashing.UseHostname)
	to.hash_balance_factor = C.uint32_t(from.Hashing.BalanceFactor)
	to.hash_policies = from.Hashing.Policies.handle
	return to
}

func (a *arena) maglev(from *Maglev) *C.plimsoll_maglev {
	if from == nil {
		return nil
	}
	to := put(a, C.plimsoll_go_maglev)
	set(&to.table_size, from.TableSize)
	to.use_hostname_for_hashing = flag(from.Hashing.UseHostname)
	to.hash_balance_factor = C.uint32_t(from.Hashing.BalanceFactor)
	to.hash_policies = from.Hashing.Policies.handle
	return to
}

func (a *arena) zoneAware(from *ZoneAware) *C.plimsoll_zone_aware {
	if from == nil {
		return nil
	}
	to := put(a, C.plimsoll_go_zone_aware)
	set(&to.routing_enabled, from.RoutingEnabled)
	set(&to.min_cluster_size, from.MinClusterSize)
	to.has_force_local_zone = flag(from.ForceLocalZone != nil)
	set(&to.force_local_zone, from.ForceLocalZone)
	to.locality_basis = C.uint32_t(from.LocalityBasis)
	return to
}

func (a *arena) loadAware(from *LoadAware) *C.plimsoll_load_aware_locality {
	if from == nil {
		return nil
	}
	to := put(a, C.plimsoll_go_load_aware_locality)
	set(&to.weight_update_period_ns, from.WeightUpdatePeriod)
	set(&to.smoothing_time_constant_ns, from.SmoothingTimeConstant)
	set(&to.weight_expiration_period_ns, from.WeightExpirationPeriod)
	set(&to.utilization_variance_threshold, from.UtilizationVarianceThreshold)
	set(&to.remote_probe_fraction, from.RemoteProbeFraction)
	to.enable_oob_load_report = flag(from.Reporting.EnableOOB)
	set(&to.oob_reporting_period_ns, from.Reporting.Period)
	to.oob_reporting_config = a.oobReporting(&from.Reporting)
	to.metric_names_for_computing_utilization, to.metric_name_count = a.texts(from.Reporting.MetricNames)
	return to
}

func (a *arena) overrideHost(from *OverrideHost) *C.plimsoll_override_host {
	if from == nil {
		return nil
	}
	to := put(a, C.plimsoll_go_override_host)
	to.sources = putAll(a, from.Sources, a.overrideSource)
	to.source_count = C.size_t(len(from.Sources))
	if from.SelectedHostKey != nil {
		to.selected_host_key = put(a, a.overrideSource(*from.SelectedHostKey))
	}
	return to
}

func (a *arena) overrideSource(from OverrideSource) C.plimsoll_override_source {
	to := C.plimsoll_go_override_source
	to.kind = C.uint32_t(from.Kind)
	to.name = a.str(from.Name)
	to.path, to.path_count = a.texts(from.Path)
	return to
}
