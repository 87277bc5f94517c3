package plimsoll

import (
	"encoding/json"
	"strconv"
	"time"
)

// Config is a cluster as a struct, for programs that have no file of Envoy's. What stays zero is not
// said, and has Envoy's default; docs/configuration.md has all of them with their ranges.
// [Config.JSON] is the message that it stands for.
type Config struct {
	// Name is the cluster's name.
	Name string
	// Policy is how the next host is chosen; nil: [RoundRobin].
	Policy Policy
	// PanicThreshold is how many percent of a priority's hosts have to be healthy, or all of them get
	// traffic; nil: 50.
	PanicThreshold *float64
	// HealthChecked is whether hosts are new until [HealthPass] is learnt of them.
	HealthChecked bool
	// OverrideStatus is the health that hosts of [Cluster.PickOverride] may have; nil: EDSUnknown,
	// EDSHealthy and EDSDegraded.
	OverrideStatus []EDSHealth
	// Hosts are those that it begins with.
	Hosts []HostSpec
}

// Open opens the cluster, as [Open] does.
func (c *Config) Open(options *Options) (*Cluster, error) {
	text, err := c.JSON()
	if err != nil {
		return nil, err
	}
	cluster, err := Open(string(text), options)
	if err != nil {
		return nil, err
	}
	changes := make([]Change, len(c.Hosts))
	for i, host := range c.Hosts {
		changes[i] = Upsert(host)
	}
	if _, err := cluster.Update(changes...); err != nil {
		cluster.Close()
		return nil, err
	}
	return cluster, nil
}

// JSON is Envoy's Cluster message without the hosts: what [Cluster.Reload] takes to change the
// settings alone. It fails with [ErrInvalidArgument] for a number that JSON does not have.
func (c *Config) JSON() (json.RawMessage, error) {
	var policy Policy = RoundRobin{}
	if c.Policy != nil {
		policy = c.Policy
	}
	cluster := message{"name": c.Name, "load_balancing_policy": policies(policy)}
	common := message{}
	if c.PanicThreshold != nil {
		common["healthy_panic_threshold"] = message{"value": *c.PanicThreshold}
	}
	if c.OverrideStatus != nil {
		common["override_host_status"] = message{"statuses": c.OverrideStatus}
	}
	cluster.set("common_lb_config", common)
	if c.HealthChecked {
		cluster["health_checks"] = []message{{
			"timeout": "1s", "interval": "1s", "unhealthy_threshold": 1, "healthy_threshold": 1,
			"tcp_health_check": message{},
		}}
	}
	text, err := json.Marshal(cluster)
	if err != nil {
		return nil, &Error{Code: ErrInvalidArgument, Message: err.Error()}
	}
	return text, nil
}

// A Policy is how the next host is chosen: [RoundRobin], [LeastRequest], [Random], [RingHash],
// [Maglev], [ClientSideWeightedRoundRobin], [WRRLocality] or [LoadAwareLocality].
type Policy interface {
	// policy is its name among Envoy's extensions, that of its message, and the message.
	policy() (extension, name string, fields message)
}

// message is a message of Envoy's.
type message map[string]any

// set sets a field unless the value says nothing.
func (m message) set(field string, value any) {
	switch value := value.(type) {
	case message:
		if len(value) > 0 {
			m[field] = value
		}
	case []string:
		if len(value) > 0 {
			m[field] = value
		}
	case time.Duration:
		if value != 0 {
			m[field] = duration(value)
		}
	case *time.Duration:
		if value != nil {
			m[field] = duration(*value)
		}
	case *float64:
		if value != nil {
			m[field] = *value
		}
	case uint32:
		if value != 0 {
			m[field] = value
		}
	case bool:
		if value {
			m[field] = value
		}
	}
}

// duration has the form of Envoy's JSON, such as 1.500000000s.
func duration(d time.Duration) string { return strconv.FormatFloat(d.Seconds(), 'f', 9, 64) + "s" }

// policies is a list of one policy.
func policies(policy Policy) message {
	const prefix = "envoy.extensions.load_balancing_policies."
	extension, name, fields := policy.policy()
	typed := message{"@type": "type.googleapis.com/" + prefix + extension + ".v3." + name}
	for field, value := range fields {
		typed[field] = value
	}
	return message{"policies": []message{{
		"typed_extension_config": message{"name": "envoy.load_balancing_policies." + extension, "typed_config": typed},
	}}}
}

// RuntimeFloat is a number that a runtime key overrides.
type RuntimeFloat struct {
	// Value is the number without the key.
	Value float64
	// Key is the runtime key.
	Key string
}

func (f *RuntimeFloat) message() message {
	if f == nil {
		return nil
	}
	return message{"default_value": f.Value, "runtime_key": f.Key}
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

func (s SlowStartConfig) message() message {
	fields := message{}
	fields.set("slow_start_window", s.Window)
	fields.set("aggression", s.Aggression.message())
	if s.MinWeightPercent != nil {
		fields["min_weight_percent"] = message{"value": *s.MinWeightPercent}
	}
	return fields
}

// LocalityRouting is how traffic divides among the localities of a priority. Nil: by hosts.
type LocalityRouting interface{ routing() message }

// ZoneAware routes to the nearest hosts first, if it is known where the proxies of this cluster are:
// [Options.LocalCluster].
type ZoneAware struct {
	// RoutingEnabled is for how many percent of the requests; nil: all.
	RoutingEnabled *float64
	// MinClusterSize is how many hosts there have to be; nil: 6.
	MinClusterSize *uint64
	// FailTrafficOnPanic fails requests in a panic instead of sending them anywhere.
	FailTrafficOnPanic bool
}

func (z ZoneAware) routing() message {
	fields := message{}
	if z.RoutingEnabled != nil {
		fields["routing_enabled"] = message{"value": *z.RoutingEnabled}
	}
	if z.MinClusterSize != nil {
		fields["min_cluster_size"] = *z.MinClusterSize
	}
	fields.set("fail_traffic_on_panic", z.FailTrafficOnPanic)
	return message{"zone_aware_lb_config": fields}
}

// LocalityWeighted routes by the weights that a load assignment gives to localities, times their
// health.
type LocalityWeighted struct{}

func (LocalityWeighted) routing() message { return message{"locality_weighted_lb_config": message{}} }

func routed(fields message, routing LocalityRouting) message {
	if routing != nil {
		fields["locality_lb_config"] = routing.routing()
	}
	return fields
}

// RoundRobin gives each host its turn, in proportion to the weights.
type RoundRobin struct {
	// SlowStart is how hosts that come up warm up.
	SlowStart SlowStartConfig
	// Locality is how traffic divides among localities.
	Locality LocalityRouting
}

func (p RoundRobin) policy() (string, string, message) {
	fields := message{}
	fields.set("slow_start_config", p.SlowStart.message())
	return "round_robin", "RoundRobin", routed(fields, p.Locality)
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
	// Locality is how traffic divides among localities.
	Locality LocalityRouting
}

func (p LeastRequest) policy() (string, string, message) {
	fields := message{}
	fields.set("choice_count", p.ChoiceCount)
	fields.set("active_request_bias", p.ActiveRequestBias.message())
	fields.set("slow_start_config", p.SlowStart.message())
	if p.FullScan {
		fields["selection_method"] = "FULL_SCAN"
	}
	return "least_request", "LeastRequest", routed(fields, p.Locality)
}

// Random takes any host, natively in proportion to the weights.
type Random struct {
	// Locality is how traffic divides among localities.
	Locality LocalityRouting
}

func (p Random) policy() (string, string, message) {
	return "random", "Random", routed(message{}, p.Locality)
}

// ConsistentHashing are the settings that [RingHash] and [Maglev] share.
type ConsistentHashing struct {
	// UseHostname places hosts by their name instead of their address.
	UseHostname bool
	// HashBalanceFactor is how many percent of the mean a host takes at most, from 100 on; 0: as
	// much as comes.
	HashBalanceFactor uint32
	// HashPolicy is what requests are hashed from, as JSON: a list of Envoy's
	// RouteAction.HashPolicy. Nil: the route's policies, or a hash of the caller's own.
	HashPolicy json.RawMessage
	// LocalityWeighted divides traffic as [LocalityWeighted] does.
	LocalityWeighted bool
}

func (c ConsistentHashing) message() message {
	common := message{}
	common.set("use_hostname_for_hashing", c.UseHostname)
	common.set("hash_balance_factor", c.HashBalanceFactor)
	if c.HashPolicy != nil {
		common["hash_policy"] = c.HashPolicy
	}
	fields := message{}
	fields.set("consistent_hashing_lb_config", common)
	if c.LocalityWeighted {
		fields["locality_weighted_lb_config"] = message{}
	}
	return fields
}

// RingHash takes the host whose point on a ring follows the request's hash.
type RingHash struct {
	// MinimumRingSize and MaximumRingSize bound the number of points; 0: 1024 and 8388608.
	MinimumRingSize, MaximumRingSize uint32
	// MurmurHash2 hashes hosts with that instead of xxHash.
	MurmurHash2 bool
	// Hashing are the settings that both such policies have.
	Hashing ConsistentHashing
}

func (p RingHash) policy() (string, string, message) {
	fields := p.Hashing.message()
	fields.set("minimum_ring_size", p.MinimumRingSize)
	fields.set("maximum_ring_size", p.MaximumRingSize)
	if p.MurmurHash2 {
		fields["hash_function"] = "MURMUR_HASH_2"
	}
	return "ring_hash", "RingHash", fields
}

// Maglev takes the host that a table has for the request's hash.
type Maglev struct {
	// TableSize is a prime; 0: 65537.
	TableSize uint32
	// Hashing are the settings that both such policies have.
	Hashing ConsistentHashing
}

func (p Maglev) policy() (string, string, message) {
	fields := p.Hashing.message()
	fields.set("table_size", p.TableSize)
	return "maglev", "Maglev", fields
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
	// SlowStart is how hosts that come up warm up.
	SlowStart SlowStartConfig
	// Locality is how traffic divides among localities.
	Locality LocalityRouting
}

func (p ClientSideWeightedRoundRobin) policy() (string, string, message) {
	fields := message{}
	fields.set("blackout_period", p.BlackoutPeriod)
	fields.set("weight_expiration_period", p.WeightExpirationPeriod)
	fields.set("weight_update_period", p.WeightUpdatePeriod)
	fields.set("error_utilization_penalty", p.ErrorUtilizationPenalty)
	fields.set("metric_names_for_computing_utilization", p.MetricNames)
	fields.set("slow_start_config", p.SlowStart.message())
	return "client_side_weighted_round_robin", "ClientSideWeightedRoundRobin", routed(fields, p.Locality)
}

// WRRLocality routes among localities as [LocalityWeighted] does, and inside of them by the reports of
// their hosts.
type WRRLocality struct {
	// Policy is what chooses the host inside of a locality.
	Policy ClientSideWeightedRoundRobin
}

func (p WRRLocality) policy() (string, string, message) {
	return "wrr_locality", "WrrLocality", message{"endpoint_picking_policy": policies(p.Policy)}
}

// LoadAwareLocality routes among localities by the load that their hosts report, nearest first.
type LoadAwareLocality struct {
	// Policy is what chooses the host inside of a locality; nil: [RoundRobin].
	Policy Policy
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
}

func (p LoadAwareLocality) policy() (string, string, message) {
	var inside Policy = RoundRobin{}
	if p.Policy != nil {
		inside = p.Policy
	}
	fields := message{"endpoint_picking_policy": policies(inside)}
	fields.set("weight_update_period", p.WeightUpdatePeriod)
	fields.set("utilization_variance_threshold", p.UtilizationVarianceThreshold)
	fields.set("smoothing_time_constant", p.SmoothingTimeConstant)
	fields.set("remote_probe_fraction", p.RemoteProbeFraction)
	fields.set("weight_expiration_period", p.WeightExpirationPeriod)
	fields.set("metric_names_for_computing_utilization", p.MetricNames)
	return "load_aware_locality", "LoadAwareLocality", fields
}
