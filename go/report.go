package plimsoll

import (
	"encoding/json"
	"time"

	"plimsoll.example/plimsoll/internal/capi"
)

// ResponseLoad is what a response says of its host's load (ORCA): the values of two headers as they
// came, in TEXT, JSON or BIN. Nil is a header that is absent, which is not the same as one without a
// value. [LoadOf] finds them.
type ResponseLoad struct {
	// HeaderBinary is endpoint-load-metrics-bin of the headers, HeaderText is endpoint-load-metrics,
	// which is not read where there is the first.
	HeaderBinary, HeaderText *string
	// TrailerBinary and TrailerText are those of the trailers.
	TrailerBinary, TrailerText *string
	// Now is the time; the zero time stands for that of the last tick.
	Now time.Time
}

// LoadOf finds what headers and trailers say of load, as net/http has them: under canonical names.
// Either may be nil. Hide these headers from your own clients.
func LoadOf(header, trailer map[string][]string) ResponseLoad {
	first := func(from map[string][]string, name string) *string {
		if values := from[name]; len(values) > 0 {
			return &values[0]
		}
		return nil
	}
	const binary, text = "Endpoint-Load-Metrics-Bin", "Endpoint-Load-Metrics"
	return ResponseLoad{
		HeaderBinary:  first(header, binary),
		HeaderText:    first(header, text),
		TrailerBinary: first(trailer, binary),
		TrailerText:   first(trailer, text),
	}
}

func (load *ResponseLoad) c(clock *clock) capi.ResponseLoad {
	return capi.ResponseLoad{
		HeaderBinary:  load.HeaderBinary,
		HeaderText:    load.HeaderText,
		TrailerBinary: load.TrailerBinary,
		TrailerText:   load.TrailerText,
		NowNS:         clock.ns(load.Now),
	}
}

// ReportHost takes in a load report that did not come with a response: of a stream of its own, or of
// another proxy. The message is one xds.data.orca.v3.OrcaLoadReport in protobuf; the zero time stands
// for that of the last tick.
//
// It fails with [ErrUnknownHost], [ErrReportUnreadable], [ErrReportRejected] (the error says why),
// [ErrReportNotWanted], [ErrInvalidArgument] or [ErrPoisoned].
func (c *Cluster) ReportHost(address string, message []byte, now time.Time) error {
	return c.control(func(cluster capi.Cluster) *capi.Failure {
		return cluster.Report(address, message, c.clock.ns(now))
	})
}

// ReportHostResponse takes in what a response said of the load of the host with this address, for a
// program that has no pick at hand any more. Otherwise it is as [Cluster.Report], and says why it
// fails.
func (c *Cluster) ReportHostResponse(address string, load ResponseLoad) error {
	return c.control(func(cluster capi.Cluster) *capi.Failure {
		own := load.c(&c.clock)
		return cluster.ReportResponse(address, &own)
	})
}

// ExportReports is what the hosts have reported, as a text for [Cluster.ImportReports], in this process
// or in the next one. It is empty if the policy does not go by reports. It fails with [ErrPoisoned].
func (c *Cluster) ExportReports() (string, error) { return c.text(capi.Cluster.ExportReports) }

// ImportReports takes over what [Cluster.ExportReports] wrote, by address, as if the hosts had reported
// it to this cluster; weights follow at once. Hosts that are not here, or have reported since, are left
// out. It gives how many reports it took.
//
// It fails with [ErrInvalidArgument] for a text that is none of these, or with [ErrPoisoned].
func (c *Cluster) ImportReports(reports string) (taken int, err error) {
	err = c.control(func(cluster capi.Cluster) (failure *capi.Failure) {
		taken, failure = cluster.ImportReports(reports)
		return failure
	})
	return taken, err
}

// JSON is what a response says of load, as the library understands it: all fields of OrcaLoadReport,
// those that were not sent too. To find out what becomes of a header; nothing is taken in. The
// behavior decides between headers and trailers.
//
// It fails with [ErrNoReport] if the response says nothing of load, and with [ErrReportUnreadable] if
// what it says cannot be read.
func (load ResponseLoad) JSON(behavior Behavior) (json.RawMessage, error) {
	own := load.c(&clock{})
	text, failure := own.JSON(uint32(behavior))
	return json.RawMessage(text), failed(failure)
}
