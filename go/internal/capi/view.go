package capi

// #include "shim.h"
import "C"

import "unsafe"

// Host is a plimsoll_host.
type Host struct {
	Address, Hostname, Region, Zone, SubZone            string
	Priority, Weight, Active, Health, EDSHealth, Coarse uint32
	EffectiveWeight, Share                              float64
	SlowStartFactor, SlowStartSecondsLeft               float64
	HasReport                                           bool
	Utilization, ReportedWeight                         float64
	ReportAgeNS                                         uint64
}

// Hosts is plimsoll_cluster_for_each_host.
func (c Cluster) Hosts(add func(Host)) *Failure {
	var list C.plimsoll_go_list
	defer C.plimsoll_go_list_free(&list)
	var failed *C.plimsoll_error
	if status := C.plimsoll_go_hosts(c.handle, &list, &failed); status != C.PLIMSOLL_STATUS_OK {
		return failure(status, failed)
	}
	texts := textsOf(&list)
	for _, host := range unsafe.Slice((*C.plimsoll_go_host)(list.items), int(list.count)) {
		add(Host{
			Address:              texts.take(host.lengths[0]),
			Hostname:             texts.take(host.lengths[1]),
			Region:               texts.take(host.lengths[2]),
			Zone:                 texts.take(host.lengths[3]),
			SubZone:              texts.take(host.lengths[4]),
			Priority:             uint32(host.priority),
			Weight:               uint32(host.weight),
			Active:               uint32(host.active),
			Health:               uint32(host.health),
			EDSHealth:            uint32(host.eds_health),
			Coarse:               uint32(host.coarse),
			EffectiveWeight:      float64(host.effective_weight),
			Share:                float64(host.share),
			SlowStartFactor:      float64(host.slow_start_factor),
			SlowStartSecondsLeft: float64(host.slow_start_seconds_left),
			HasReport:            host.has_report != 0,
			Utilization:          float64(host.utilization),
			ReportedWeight:       float64(host.reported_weight),
			ReportAgeNS:          uint64(host.report_age_ns),
		})
	}
	return nil
}

// Locality is a plimsoll_locality.
type Locality struct {
	Region, Zone, SubZone     string
	Priority, Source          uint32
	AllLocal                  bool
	HasUtilization            bool
	Hosts                     uint64
	Load, Utilization, Weight float64
}

// The sources of a locality.
const (
	SourceHealthy  = C.PLIMSOLL_SOURCE_HEALTHY
	SourceDegraded = C.PLIMSOLL_SOURCE_DEGRADED
	SourceAll      = C.PLIMSOLL_SOURCE_ALL
)

// Localities is plimsoll_cluster_for_each_locality.
func (c Cluster) Localities(add func(Locality)) *Failure {
	var list C.plimsoll_go_list
	defer C.plimsoll_go_list_free(&list)
	var failed *C.plimsoll_error
	if status := C.plimsoll_go_localities(c.handle, &list, &failed); status != C.PLIMSOLL_STATUS_OK {
		return failure(status, failed)
	}
	texts := textsOf(&list)
	for _, locality := range unsafe.Slice((*C.plimsoll_go_locality)(list.items), int(list.count)) {
		add(Locality{
			Region:         texts.take(locality.lengths[0]),
			Zone:           texts.take(locality.lengths[1]),
			SubZone:        texts.take(locality.lengths[2]),
			Priority:       uint32(locality.priority),
			Source:         uint32(locality.source),
			AllLocal:       locality.all_local != 0,
			HasUtilization: locality.has_utilization != 0,
			Hosts:          uint64(locality.hosts),
			Load:           float64(locality.load),
			Utilization:    float64(locality.utilization),
			Weight:         float64(locality.weight),
		})
	}
	return nil
}

// The parts of a dump.
const (
	DumpLoads      = C.PLIMSOLL_DUMP_LOADS
	DumpHosts      = C.PLIMSOLL_DUMP_HOSTS
	DumpLocalities = C.PLIMSOLL_DUMP_LOCALITIES
	DumpTable      = C.PLIMSOLL_DUMP_TABLE
	DumpStats      = C.PLIMSOLL_DUMP_STATS
	DumpSnapshot   = C.PLIMSOLL_DUMP_SNAPSHOT
)

// DumpOptions are plimsoll_dump_options; nil is not set.
type DumpOptions struct {
	Part     uint32
	Priority *uint64
	Source   *uint32
}

// Dump is plimsoll_cluster_dump.
func (c Cluster) Dump(options *DumpOptions) (string, *Failure) {
	own := C.plimsoll_dump_options{
		size: C.sizeof_plimsoll_dump_options,
		part: C.uint32_t(options.Part),
	}
	if options.Priority != nil {
		own.flags |= C.PLIMSOLL_DUMP_HAS_PRIORITY
		own.priority = C.uint64_t(*options.Priority)
	}
	if options.Source != nil {
		own.flags |= C.PLIMSOLL_DUMP_HAS_SOURCE
		own.source = C.uint32_t(*options.Source)
	}
	return explained(func(buffer *C.char, capacity C.size_t, needed *C.size_t,
		failed **C.plimsoll_error) C.enum_plimsoll_status {
		return C.plimsoll_cluster_dump(c.handle, &own, buffer, capacity, needed, failed)
	})
}

// OverrideSource is a plimsoll_override_source.
type OverrideSource struct {
	Kind uint32
	Name string
	Path []string
}

// The kinds of an override source.
const (
	OverrideHeader       = C.PLIMSOLL_OVERRIDE_HEADER
	OverrideMetadata     = C.PLIMSOLL_OVERRIDE_METADATA
	OverrideSelectedHost = C.PLIMSOLL_OVERRIDE_SELECTED_HOST
)

// OverrideSources is plimsoll_cluster_for_each_override_source.
func (c Cluster) OverrideSources() ([]OverrideSource, *Failure) {
	var list C.plimsoll_go_list
	defer C.plimsoll_go_list_free(&list)
	var failed *C.plimsoll_error
	status := C.plimsoll_go_override_sources(c.handle, &list, &failed)
	if status != C.PLIMSOLL_STATUS_OK {
		return nil, failure(status, failed)
	}
	texts := textsOf(&list)
	var sources []OverrideSource
	for _, item := range unsafe.Slice((*C.plimsoll_go_override)(list.items), int(list.count)) {
		text := texts.take(item.length)
		if item.kind != 0 {
			sources = append(sources, OverrideSource{Kind: uint32(item.kind), Name: text})
			continue
		}
		last := &sources[len(sources)-1]
		last.Path = append(last.Path, text)
	}
	return sources, nil
}

// Prometheus is plimsoll_prometheus.
func Prometheus(clusters []Cluster, maxHosts, maxLocalities uint32) (string, Status) {
	options := C.plimsoll_prometheus_options{
		size:           C.sizeof_plimsoll_prometheus_options,
		max_hosts:      C.uint32_t(maxHosts),
		max_localities: C.uint32_t(maxLocalities),
	}
	handles := make([]*C.plimsoll_cluster, len(clusters))
	for i, cluster := range clusters {
		handles[i] = cluster.handle
	}
	return written(func(buffer *C.char, capacity C.size_t, needed *C.size_t) C.enum_plimsoll_status {
		return C.plimsoll_prometheus(unsafe.SliceData(handles), C.size_t(len(handles)), &options, buffer,
			capacity, needed)
	})
}

// HostTable is plimsoll_cluster_hosts.
func (c Cluster) HostTable() (string, Status) {
	return written(func(buffer *C.char, capacity C.size_t, needed *C.size_t) C.enum_plimsoll_status {
		return C.plimsoll_cluster_hosts(c.handle, buffer, capacity, needed)
	})
}

// Stats is plimsoll_cluster_stats.
func (c Cluster) Stats() (string, Status) {
	return written(func(buffer *C.char, capacity C.size_t, needed *C.size_t) C.enum_plimsoll_status {
		return C.plimsoll_cluster_stats(c.handle, buffer, capacity, needed)
	})
}

// ExportReports is plimsoll_cluster_export_reports.
func (c Cluster) ExportReports() (string, Status) {
	return written(func(buffer *C.char, capacity C.size_t, needed *C.size_t) C.enum_plimsoll_status {
		return C.plimsoll_cluster_export_reports(c.handle, buffer, capacity, needed)
	})
}

// written is the text that a call writes into a buffer that is large enough.
func written(write func(*C.char, C.size_t, *C.size_t) C.enum_plimsoll_status) (string, Status) {
	return writtenInto(make([]byte, 1024), write)
}

// writtenInto is written, with a buffer to begin with.
func writtenInto(buffer []byte, write func(*C.char, C.size_t, *C.size_t) C.enum_plimsoll_status) (
	string, Status) {
	for {
		var needed C.size_t
		status := write(dataOf(buffer), C.size_t(len(buffer)), &needed)
		switch status {
		case C.PLIMSOLL_STATUS_OK:
			return string(buffer[:needed-1]), StatusOK
		case C.PLIMSOLL_STATUS_BUFFER_TOO_SMALL:
			// Room for what comes until the next call.
			buffer = make([]byte, needed+needed/4)
		default:
			return "", Status(status)
		}
	}
}

// explained is written, for a call that also says why it failed.
func explained(write func(*C.char, C.size_t, *C.size_t, **C.plimsoll_error) C.enum_plimsoll_status) (
	string, *Failure) {
	var failed *C.plimsoll_error
	text, status := written(func(buffer *C.char, capacity C.size_t, needed *C.size_t) C.enum_plimsoll_status {
		// Of the call before, whose buffer was too small.
		C.plimsoll_error_free(failed)
		failed = nil
		return write(buffer, capacity, needed, &failed)
	})
	return text, failure(C.enum_plimsoll_status(status), failed)
}

// texts takes a block of C's apart.
type texts struct{ rest []byte }

func textsOf(list *C.plimsoll_go_list) *texts {
	return &texts{rest: unsafe.Slice((*byte)(unsafe.Pointer(list.text)), int(list.text_length))}
}

func (t *texts) take(length C.uint32_t) string {
	taken := string(t.rest[:length])
	t.rest = t.rest[length:]
	return taken
}
