package plimsoll

import (
	"time"

	"plimsoll.example/plimsoll/internal/capi"
)

// StreamBroken is the end of a stream without a status of gRPC: no connection, a reset, a GOAWAY.
const StreamBroken = capi.StreamBroken

// A StreamAction is what is to be done about one stream of load reports.
type StreamAction struct {
	// Slot and Generation say of which host, as in a [Pick].
	Slot, Generation uint32
	// Open is whether the stream is to be opened: connect to Dial and call
	// xds.service.orca.v3.OpenRcaService/StreamCoreMetrics. If there still is a stream of this host, this
	// one replaces it. Otherwise the connection is to be closed, if there is one, without waiting; its
	// end need not be told.
	Open bool
	// Interval is the report_interval to ask for.
	Interval time.Duration
	// Address is the host's, Dial what to connect to, Authority what to call the host in the request.
	Address, Dial, Authority string
}

// PollStreams gives the streams of load reports that are to be opened or closed by now, each once, and
// when to ask again, unless nothing is due by itself. There are none unless the policy asks for them
// (enable_oob_load_report). Ask at that time and after every change of hosts or settings; what streams
// bring and how they end goes to [Cluster.StreamMessage] and [Cluster.StreamEnded]. The zero time stands
// for that of the call.
func (c *Cluster) PollStreams(now time.Time) (actions []StreamAction, next time.Time, due bool, err error) {
	if now.IsZero() {
		now = time.Now()
	}
	var ns uint64
	err = c.control(func(cluster capi.Cluster) (failure *capi.Failure) {
		ns, failure = cluster.PollStreams(c.clock.ns(now), func(action capi.StreamAction) {
			actions = append(actions, StreamAction{
				Slot:       action.Slot,
				Generation: action.Generation,
				Open:       action.Kind == capi.StreamOpen,
				Interval:   time.Duration(action.IntervalNS),
				Address:    action.Address,
				Dial:       action.Dial,
				Authority:  action.Authority,
			})
		})
		return failure
	})
	if err != nil || ns == 0 {
		return actions, time.Time{}, false, err
	}
	return actions, c.clock.time(ns), true, nil
}

// StreamMessage takes in a message of the stream that this action opened: an
// xds.data.orca.v3.OrcaLoadReport in protobuf. A stream whose message is no report is closed by the next
// [Cluster.PollStreams]; a message of a stream that is no longer wanted does nothing. The zero time
// stands for that of the last tick.
func (c *Cluster) StreamMessage(stream StreamAction, message []byte, now time.Time) error {
	return c.control(func(cluster capi.Cluster) *capi.Failure {
		return cluster.StreamMessage(stream.Slot, stream.Generation, message, c.clock.ns(now))
	})
}

// StreamEnded takes note that the stream that this action opened ended, which was not closed on request:
// with a status of gRPC, 0 included, or [StreamBroken]. With 12, UNIMPLEMENTED, the host is not asked
// again, or not for long; otherwise the stream is opened again after a while, which doubles. The zero
// time stands for that of the last tick.
func (c *Cluster) StreamEnded(stream StreamAction, grpcStatus int32, now time.Time) error {
	return c.control(func(cluster capi.Cluster) *capi.Failure {
		return cluster.StreamEnded(stream.Slot, stream.Generation, grpcStatus, c.clock.ns(now))
	})
}
