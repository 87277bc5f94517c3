package plimsoll

import (
	"math"
	"time"
)

// clock turns times into the library's, which are nanoseconds since a moment of its own. What lies
// between two readings of Go's monotonic clock is measured by it, so that a wall clock that is set
// does not move slow starts.
type clock struct {
	start   time.Time
	startNS uint64
}

func newClock(start time.Time) clock {
	return clock{start: start, startNS: wall(start)}
}

// ns is a time on the library's scale; 0, which stands for the time of the last tick, for the zero
// time and whatever else lies before the scale.
func (c *clock) ns(now time.Time) uint64 {
	if now.IsZero() {
		return 0
	}
	return c.since(now)
}

func (c *clock) since(now time.Time) uint64 {
	since := now.Sub(c.start)
	if since == math.MaxInt64 || since == math.MinInt64 {
		return wall(now)
	}
	ns := c.startNS + uint64(since)
	if (since < 0) != (ns < c.startNS) {
		return 0
	}
	return ns
}

// time is a moment of the library's scale.
func (c *clock) time(ns uint64) time.Time {
	const most = math.MaxInt64
	since := min(ns-min(ns, c.startNS), most)
	return c.start.Add(time.Duration(since))
}

// wall is a time by the wall clock, in nanoseconds since 1970.
func wall(t time.Time) uint64 {
	if t.Unix() < 0 {
		return 0
	}
	return uint64(t.Unix())*uint64(time.Second) + uint64(t.Nanosecond())
}
