package plimsoll

import (
	"time"

	"plimsoll.example/plimsoll/internal/capi"
)

// A Policy is how the next host is chosen: [RoundRobin], [LeastRequest], [Random], [RingHash],
// [Maglev] or [ClientSideWeightedRoundRobin].
type Policy interface {
	// policy sets what it says.
	policy(to *capi.Settings)
}

// SlowStartConfig lets hosts that come up get their share bit by bit.
type SlowStartConfig struct {
	// Window is how long that takes; 0: it is off.
	Window time.Duration
	// Aggression is how fast the weight rises at first; nil: linearly.
	Aggression *RuntimeFloat
	// MinWeightPercent is what a host begins with; nil: 10.
	MinWeightPercent *float64
}

func (s SlowStartConfig) c() *capi.SlowStart {
	if s == (SlowStartConfig{}) {
		return nil
	}
	return &capi.SlowStart{Window: s.Window, MinWeightPercent: s.MinWeightPercent, Aggression: s.Aggression.c()}
}

// RoundRobin gives each host its turn, in proportion to the weights.
type RoundRobin struct {
	// SlowStart is how hosts that come up warm up.
	SlowStart SlowStartConfig
}

func (p RoundRobin) policy(to *capi.Settings) {
	to.Policy = capi.PolicyRoundRobin
	to.SlowStart = p.SlowStart.c()
}

// LeastRequest takes the least busy of a few hosts drawn at random.
type LeastRequest struct {
	// ChoiceCount is how many are drawn; 0: 2.
	ChoiceCount uint32
	// FullScan looks at all of them instead.
	FullScan bool
	// ActiveRequestBias is how much active requests weigh; nil: 1.
	ActiveRequestBias *RuntimeFloat
	// SlowStart is how hosts that come up warm up.
	SlowStart SlowStartConfig
}

func (p LeastRequest) policy(to *capi.Settings) {
	to.Policy = capi.PolicyLeastRequest
	to.SlowStart = p.SlowStart.c()
	to.LeastRequest = &capi.LeastRequest{
		ChoiceCount:       unlessZero(p.ChoiceCount),
		SelectionMethod:   capi.SelectionNChoices,
		ActiveRequestBias: p.ActiveRequestBias.c(),
	}
	if p.FullScan {
		to.LeastRequest.SelectionMethod = capi.SelectionFullScan
	}
}

// Random takes any host, natively in proportion to the weights.
type Random struct{}

func (Random) policy(to *capi.Settings) { to.Policy = capi.PolicyRandom }

// ConsistentHashing are the settings that [RingHash] and [Maglev] share.
type ConsistentHashing struct {
	// UseHostname places hosts by their name instead of their address.
	UseHostname bool
	// HashBalanceFactor is how many percent of the mean a host takes at most, from 100 on; 0: as
	// much as comes.
	HashBalanceFactor uint32
	// HashPolicies are what requests are hashed from. Nil: the route's policies, or a hash of the
	// caller's own.
	HashPolicies *HashPolicies
}

func (c ConsistentHashing) c() capi.Hashing {
	to := capi.Hashing{UseHostname: c.UseHostname, BalanceFactor: c.HashBalanceFactor}
	if c.HashPolicies != nil {
		to.Policies = c.HashPolicies.handle
	}
	return to
}

// RingHash takes the host whose point on a ring follows the request's hash.
type RingHash struct {
	// MinimumRingSize and MaximumRingSize bound the number of points; 0: 1024 and 8388608, and the
	// latter natively the larger of 1048576 and the former.
	MinimumRingSize, MaximumRingSize uint32
	// MurmurHash2 hashes hosts with that instead of xxHash.
	MurmurHash2 bool
	// Hashing are the settings that both such policies have.
	Hashing ConsistentHashing
}

func (p RingHash) policy(to *capi.Settings) {
	to.Policy = capi.PolicyRingHash
	to.RingHash = &capi.RingHash{
		HashFunction:    capi.HashFunctionXXHash,
		MinimumRingSize: unlessZero(p.MinimumRingSize),
		MaximumRingSize: p.MaximumRingSize,
		Hashing:         p.Hashing.c(),
	}
	if p.MurmurHash2 {
		to.RingHash.HashFunction = capi.HashFunctionMurmurHash2
	}
}

// Maglev takes the host that a table has for the request's hash.
type Maglev struct {
	// TableSize is a prime; 0: 65537.
	TableSize uint32
	// Hashing are the settings that both such policies have.
	Hashing ConsistentHashing
}

func (p Maglev) policy(to *capi.Settings) {
	to.Policy = capi.PolicyMaglev
	to.Maglev = &capi.Maglev{TableSize: unlessZero(p.TableSize), Hashing: p.Hashing.c()}
}

// ClientSideWeightedRoundRobin gives each host its turn, in proportion to the weights that follow from
// what hosts report of their load.
type ClientSideWeightedRoundRobin struct {
	// BlackoutPeriod is how long the reports of a new host do not count; nil: 10 s.
	BlackoutPeriod *time.Duration
	// WeightExpirationPeriod is how old a report may be; nil: 180 s.
	WeightExpirationPeriod *time.Duration
	// WeightUpdatePeriod is how often weights are taken over; nil: 1 s.
	WeightUpdatePeriod *time.Duration
	// ErrorUtilizationPenalty is how much errors count as load; nil: 1, with [BehaviorEnvoy] 0.
	ErrorUtilizationPenalty *float64
	// MetricNames are what utilization is taken from, such as named_metrics.queue.
	MetricNames []string
	// OOB are streams of reports.
	OOB OOBReporting
	// SlowStart is how hosts that come up warm up.
	SlowStart SlowStartConfig
}

func (p ClientSideWeightedRoundRobin) policy(to *capi.Settings) {
	to.Policy = capi.PolicyWeighted
	to.SlowStart = p.SlowStart.c()
	to.Weighted = &capi.Weighted{
		BlackoutPeriod:          p.BlackoutPeriod,
		WeightExpirationPeriod:  p.WeightExpirationPeriod,
		WeightUpdatePeriod:      p.WeightUpdatePeriod,
		ErrorUtilizationPenalty: p.ErrorUtilizationPenalty,
		Reporting:               p.OOB.c(p.MetricNames),
	}
}

// LocalityRouting is how traffic divides among the localities of a priority: [ZoneAware],
// [LocalityWeighted] or [LoadAwareLocality].
type LocalityRouting interface {
	// routing sets what it says.
	routing(to *capi.Settings)
}

// LocalityBasis is what zone-aware routing compares.
type LocalityBasis uint32

const (
	// HealthyHostsNum are the numbers of healthy hosts.
	HealthyHostsNum LocalityBasis = capi.BasisHealthyHostsNum
	// HealthyHostsWeight are the sums of their weights.
	HealthyHostsWeight LocalityBasis = capi.BasisHealthyHostsWeight
)

// ZoneAware routes to the nearest hosts first, if it is known where the proxies of this cluster are:
// [Options.LocalCluster]. It does not go with [RingHash] and [Maglev].
type ZoneAware struct {
	// RoutingEnabled is for how many percent of the requests; nil: all.
	RoutingEnabled *float64
	// MinClusterSize is how many hosts there have to be; nil: 6.
	MinClusterSize *uint64
	// ForceLocalZone stays in the local zone whatever the proportions, as long as so many of its hosts are
	// healthy; nil: proportions decide.
	ForceLocalZone *uint32
	// LocalityBasis is what is compared.
	LocalityBasis LocalityBasis
}

func (z ZoneAware) routing(to *capi.Settings) {
	to.Routing = capi.RoutingZoneAware
	to.ZoneAware = &capi.ZoneAware{
		RoutingEnabled: z.RoutingEnabled,
		MinClusterSize: z.MinClusterSize,
		ForceLocalZone: z.ForceLocalZone,
		LocalityBasis:  uint32(z.LocalityBasis),
	}
}

// LocalityWeighted routes by the weights that an [Assignment] gives to localities, times their health.
type LocalityWeighted struct{}

func (LocalityWeighted) routing(to *capi.Settings) { to.Routing = capi.RoutingWeighted }

// LoadAwareLocality routes among localities by the load that their hosts report, nearest first.
type LoadAwareLocality struct {
	// WeightUpdatePeriod is how often shares move; nil: 1 s.
	WeightUpdatePeriod *time.Duration
	// UtilizationVarianceThreshold is how much busier the nearest locality may be; nil: 0.1.
	UtilizationVarianceThreshold *float64
	// SmoothingTimeConstant smooths utilizations; nil: 5 s.
	SmoothingTimeConstant *time.Duration
	// RemoteProbeFraction is what other localities get in any case; nil: 0.03.
	RemoteProbeFraction *float64
	// WeightExpirationPeriod is how old a report may be; nil: 180 s.
	WeightExpirationPeriod *time.Duration
	// MetricNames are what utilization is taken from.
	MetricNames []string
	// OOB are streams of reports.
	OOB OOBReporting
}

func (l LoadAwareLocality) routing(to *capi.Settings) {
	to.Routing = capi.RoutingLoadAware
	to.LoadAware = &capi.LoadAware{
		WeightUpdatePeriod:           l.WeightUpdatePeriod,
		SmoothingTimeConstant:        l.SmoothingTimeConstant,
		WeightExpirationPeriod:       l.WeightExpirationPeriod,
		UtilizationVarianceThreshold: l.UtilizationVarianceThreshold,
		RemoteProbeFraction:          l.RemoteProbeFraction,
		Reporting:                    l.OOB.c(l.MetricNames),
	}
}
