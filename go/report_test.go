package plimsoll_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"plimsoll.example/plimsoll"
)

// Two hosts whose weights follow from what they report.
const reporting = `name: api
load_balancing_policy: {policies: [{typed_extension_config: {
  name: envoy.load_balancing_policies.client_side_weighted_round_robin,
  typed_config: {
    "@type": type.googleapis.com/envoy.extensions.load_balancing_policies.client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin,
    blackout_period: 0s}}}]}
load_assignment: {cluster_name: api, endpoints: [{lb_endpoints: [
  {endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}},
  {endpoint: {address: {socket_address: {address: 10.0.0.2, port_value: 80}}}}]}]}
`

func TestReportsOfResponsesBecomeWeights(t *testing.T) {
	cluster := opened(t, reporting, nil)
	texts := map[string]string{
		host(1): "TEXT rps_fractional=100,application_utilization=0.5",
		host(2): "TEXT rps_fractional=300,application_utilization=0.5",
	}
	for range 4 {
		pick := must[plimsoll.Pick](t)(cluster.Pick(nil))
		header := http.Header{}
		header.Set("endpoint-load-metrics", texts[cluster.Address(pick)])
		ok(t, cluster.Report(pick, plimsoll.LoadOf(header, nil)))
		ok(t, cluster.Done(pick, plimsoll.Success))
	}
	ok(t, cluster.Tick(start.Add(3*time.Second)))
	counts := counted(t, cluster, 400)
	if counts[host(1)] < 98 || counts[host(1)] > 102 {
		t.Errorf("a host of a quarter of the weight got %d picks of 400", counts[host(1)])
	}
	hosts := must[[]plimsoll.Host](t)(cluster.Hosts())
	if report := hosts[0].Report; report == nil || report.Utilization != 0.5 ||
		report.Age != 3*time.Second || report.Weight != 200 {
		t.Errorf("the report is %+v", hosts[0].Report)
	}
}

func TestAnAbsentHeaderIsNotAnEmptyOne(t *testing.T) {
	cluster := opened(t, reporting, nil)
	pick := must[plimsoll.Pick](t)(cluster.Pick(nil))
	empty, text := "", "TEXT rps_fractional=1,cpu_utilization=0.1"
	for _, test := range []struct {
		load plimsoll.ResponseLoad
		want error
	}{
		{plimsoll.ResponseLoad{}, plimsoll.ErrNoReport},
		{plimsoll.ResponseLoad{HeaderText: &empty}, plimsoll.ErrReportUnreadable},
		{plimsoll.ResponseLoad{HeaderText: &text}, nil},
		{plimsoll.ResponseLoad{TrailerText: &text, Now: start.Add(time.Second)}, nil},
		{plimsoll.ResponseLoad{HeaderText: &text, HeaderBinary: &empty}, plimsoll.ErrReportUnreadable},
	} {
		if err := cluster.Report(pick, test.load); !errors.Is(err, test.want) {
			t.Errorf("%+v gives %v, not %v", test.load, err, test.want)
		}
	}
	ok(t, cluster.Done(pick, plimsoll.Success))
}

func TestAReportByAddress(t *testing.T) {
	cluster := opened(t, reporting, nil)
	// application_utilization (9) 0.5, rps_fractional (6) 100, as protobuf has doubles.
	message := []byte{
		0x49, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f,
		0x31, 0, 0, 0, 0, 0, 0, 0x59, 0x40,
	}
	ok(t, cluster.ReportHost(host(1), message, start.Add(time.Second)))
	hosts := must[[]plimsoll.Host](t)(cluster.Hosts())
	if hosts[0].Report == nil || hosts[0].Report.Weight != 200 || hosts[1].Report != nil {
		t.Errorf("the reports are %+v and %+v", hosts[0].Report, hosts[1].Report)
	}
	err := cluster.ReportHost("nowhere:1", message, time.Time{})
	var failed *plimsoll.Error
	if !errors.As(err, &failed) || failed.Code != plimsoll.ErrUnknownHost || failed.Field != "nowhere:1" {
		t.Errorf("a report of nobody gives %v", err)
	}
	if err := cluster.ReportHost(host(1), []byte{0xff}, time.Time{}); !errors.Is(err, plimsoll.ErrReportUnreadable) {
		t.Errorf("what is no report gives %v", err)
	}
	if err := cluster.ReportHost(host(1), nil, time.Time{}); !errors.Is(err, plimsoll.ErrReportRejected) {
		t.Errorf("an empty report gives %v", err)
	}
}

func TestAResponseByAddress(t *testing.T) {
	cluster := opened(t, reporting, nil)
	good, bad, poor := "TEXT rps_fractional=100,application_utilization=0.5", "TEXT x", "TEXT rps_fractional=1"
	ok(t, cluster.ReportHostResponse(host(2), plimsoll.ResponseLoad{TrailerText: &good}))
	if hosts := must[[]plimsoll.Host](t)(cluster.Hosts()); hosts[1].Report == nil || hosts[1].Report.Weight != 200 {
		t.Errorf("the report is %+v", hosts[1].Report)
	}
	plain := opened(t, configured("ROUND_ROBIN", 1), nil)
	for _, test := range []struct {
		cluster *plimsoll.Cluster
		address string
		text    *string
		want    error
	}{
		{cluster, "nowhere:1", &good, plimsoll.ErrUnknownHost},
		{cluster, host(1), nil, plimsoll.ErrNoReport},
		{cluster, host(1), &bad, plimsoll.ErrReportUnreadable},
		{cluster, host(1), &poor, plimsoll.ErrReportRejected},
		{plain, host(1), &good, plimsoll.ErrReportNotWanted},
	} {
		err := test.cluster.ReportHostResponse(test.address, plimsoll.ResponseLoad{HeaderText: test.text})
		var failed *plimsoll.Error
		if !errors.Is(err, test.want) || !errors.As(err, &failed) || failed.Message == "" {
			t.Errorf("%s gives %v, not %v", test.address, err, test.want)
		}
	}
}

func TestAReportAsJSON(t *testing.T) {
	header, trailer := "TEXT cpu_utilization=0.1", "TEXT cpu_utilization=0.2"
	load := plimsoll.ResponseLoad{HeaderText: &header, TrailerText: &trailer}
	for behavior, want := range map[plimsoll.Behavior]float64{
		plimsoll.BehaviorNative: 0.2, plimsoll.BehaviorEnvoy: 0.1,
	} {
		var report struct {
			CPU float64 `json:"cpu_utilization"`
		}
		ok(t, json.Unmarshal(must[json.RawMessage](t)(load.JSON(behavior)), &report))
		if report.CPU != want {
			t.Errorf("behavior %d reads %v", behavior, report.CPU)
		}
	}
	if _, err := (plimsoll.ResponseLoad{}).JSON(plimsoll.BehaviorNative); !errors.Is(err, plimsoll.ErrNoReport) {
		t.Errorf("nothing gives %v", err)
	}
}

func TestReportsAreHandedOverToASuccessor(t *testing.T) {
	before, after := opened(t, reporting, nil), opened(t, reporting, nil)
	text := "TEXT rps_fractional=100,application_utilization=0.5"
	ok(t, before.ReportHostResponse(host(1), plimsoll.ResponseLoad{HeaderText: &text}))
	exported := must[string](t)(before.ExportReports())
	if taken := must[int](t)(after.ImportReports(exported)); taken != 1 {
		t.Errorf("%d reports were taken of %q", taken, exported)
	}
	if report := must[[]plimsoll.Host](t)(after.Hosts())[0].Report; report == nil || report.Weight != 200 {
		t.Errorf("the report is %+v", report)
	}
	if taken, err := after.ImportReports("garbage"); err == nil || taken != 0 {
		t.Errorf("%d reports were taken of garbage, %v", taken, err)
	}
}
