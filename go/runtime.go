package plimsoll

import "plimsoll.example/plimsoll/internal/capi"

// A RuntimeValue is a runtime key with its value, or without one. It overrides the setting of the
// same meaning, as upstream.healthy_panic_threshold does.
type RuntimeValue struct{ value capi.RuntimeValue }

// RuntimeInteger is a whole number; it also stands for any other number, and for true unless it is 0.
func RuntimeInteger(key string, value uint64) RuntimeValue {
	return RuntimeValue{capi.RuntimeValue{Key: key, Kind: capi.RuntimeInteger, Integer: value}}
}

// RuntimeNumber is a number, for a setting that is one, such as the aggression of slow start. It must
// be finite.
func RuntimeNumber(key string, value float64) RuntimeValue {
	return RuntimeValue{capi.RuntimeValue{Key: key, Kind: capi.RuntimeNumber, Number: value}}
}

// RuntimeBool is true or false, for a feature that is on or off.
func RuntimeBool(key string, value bool) RuntimeValue {
	return RuntimeValue{capi.RuntimeValue{Key: key, Kind: capi.RuntimeBoolean, Boolean: value}}
}

// RuntimeRemoved removes a key, whatever form its value has.
func RuntimeRemoved(key string) RuntimeValue {
	return RuntimeValue{capi.RuntimeValue{Key: key, Kind: capi.RuntimeRemoved}}
}

// SetRuntime sets and removes runtime keys in one step, all or nothing. Natively they hold at once,
// with [BehaviorEnvoy] from the next change on. A key that this version does not read does nothing; a
// setting whose key has a value of another form keeps its configured one. If a key stands there
// twice, the later value holds.
//
// It fails with [ErrInvalidArgument] for a key that is not UTF-8 or a number that is not finite (the
// field is values[3].number, say), or with [ErrPoisoned].
func (c *Cluster) SetRuntime(values ...RuntimeValue) (Applied, error) {
	return c.applying(func(cluster capi.Cluster) (capi.Applied, *capi.Failure) {
		return cluster.UpdateRuntime(runtimeValues(values))
	})
}

func runtimeValues(values []RuntimeValue) []capi.RuntimeValue {
	own := make([]capi.RuntimeValue, len(values))
	for i, value := range values {
		own[i] = value.value
	}
	return own
}
