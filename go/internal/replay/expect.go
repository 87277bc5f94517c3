package replay

import "math/big"

// matches is whether a result is as expected. An expectation is a value that a result matches, not
// one that it equals: an object says something about the keys that it has, "*" matches anything,
// {"approx":X,"within":D} numbers from X - D to X + D, and {"one_of":[…]} what one of them matches.
func matches(expected, got any) bool {
	switch expected := expected.(type) {
	case string:
		return expected == "*" || expected == got
	case *object:
		if choices, ok := expected.values["one_of"].([]any); ok && len(expected.keys) == 1 {
			for _, choice := range choices {
				if matches(choice, got) {
					return true
				}
			}
			return false
		}
		center, hasCenter := expected.values["approx"].(number)
		within, hasWithin := expected.values["within"].(number)
		if hasCenter && hasWithin && len(expected.keys) == 2 {
			got, ok := got.(number)
			return ok && isNear(center, within, got)
		}
		return matchesObject(expected, got)
	case []any:
		return matchesList(expected, got)
	case number:
		got, ok := got.(number)
		return ok && expected.exact() == got.exact() && isSame(expected, got)
	default:
		return expected == got
	}
}

func matchesObject(expected *object, value any) bool {
	got, ok := value.(*object)
	if !ok {
		return false
	}
	for key, wanted := range expected.values {
		if own, ok := got.values[key]; !ok || !matches(wanted, own) {
			return false
		}
	}
	return true
}

func matchesList(expected []any, value any) bool {
	got, ok := value.([]any)
	if !ok || len(got) != len(expected) {
		return false
	}
	for i, wanted := range expected {
		if !matches(wanted, got[i]) {
			return false
		}
	}
	return true
}

// exact is whether the number is one that 64 bits hold, however it is written; others are compared as
// floats, which do not tell the large ones apart.
func (n number) exact() bool {
	return n.whole || n.float == float64(int64(n.float)) && n.float > -1<<63 && n.float < 1<<63 ||
		n.float >= 1<<63 && n.float < 1<<64
}

func (n number) integer128() *big.Int {
	if !n.whole {
		integer, _ := big.NewFloat(n.float).Int(nil)
		return integer
	}
	integer := new(big.Int).SetUint64(n.integer)
	if n.negative {
		integer.Neg(integer)
	}
	return integer
}

// isSame compares by value: 1 is 1.0, and no 64-bit integer is rounded on the way.
func isSame(a, b number) bool {
	if a.exact() {
		return a.integer128().Cmp(b.integer128()) == 0
	}
	return a.float == b.float
}

// isNear has the bounds belong to the interval.
func isNear(center, within, got number) bool {
	if center.exact() && within.exact() && got.exact() {
		distance := new(big.Int).Sub(got.integer128(), center.integer128())
		return distance.Abs(distance).Cmp(within.integer128()) <= 0
	}
	distance := got.float - center.float
	if distance < 0 {
		distance = -distance
	}
	return distance <= within.float
}
