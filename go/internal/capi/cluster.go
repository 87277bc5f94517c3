package capi

// #include "shim.h"
// #include <stdlib.h>
import "C"

import (
	"runtime/cgo"
	"unsafe"
)

// Cluster is a plimsoll_cluster, and what its messages are told to.
type Cluster struct {
	handle *C.plimsoll_cluster
	log    cgo.Handle
}

// Options are plimsoll_cluster_options.
type Options struct {
	Behavior     uint32
	HasSeed      bool
	Seed         uint64
	NowNS        uint64
	Locality     [3]string // region, zone, sub-zone
	LocalCluster Cluster
	Runtime      []RuntimeValue
	// Log is told messages of this level and the ones that matter more, in the middle of a call; nil:
	// nobody is.
	Log      func(level uint32, message string)
	LogLevel uint32
}

// The levels of messages.
const (
	LogError   = C.PLIMSOLL_LOG_ERROR
	LogWarning = C.PLIMSOLL_LOG_WARNING
	LogInfo    = C.PLIMSOLL_LOG_INFO
	LogDebug   = C.PLIMSOLL_LOG_DEBUG
)

// RuntimeValue is a plimsoll_runtime_value.
type RuntimeValue struct {
	Key     string
	Kind    uint32
	Boolean bool
	Integer uint64
	Number  float64
}

// The kinds of a runtime value.
const (
	RuntimeRemoved = C.PLIMSOLL_RUNTIME_REMOVED
	RuntimeInteger = C.PLIMSOLL_RUNTIME_INTEGER
	RuntimeNumber  = C.PLIMSOLL_RUNTIME_NUMBER
	RuntimeBoolean = C.PLIMSOLL_RUNTIME_BOOLEAN
)

// Applied is a plimsoll_applied.
type Applied struct {
	Version   uint64
	Published bool
}

// The numbers of a behavior.
const (
	BehaviorNative = C.PLIMSOLL_BEHAVIOR_NATIVE
	BehaviorEnvoy  = C.PLIMSOLL_BEHAVIOR_ENVOY
)

// Open is plimsoll_cluster_open.
func Open(config string, options *Options) (Cluster, *Failure) {
	return open(config, nil, nil, options)
}

// New is plimsoll_cluster_new.
func New(settings *Settings, assignment *Assignment, options *Options) (Cluster, *Failure) {
	var memory arena
	defer memory.free()
	return open("", memory.settings(settings), memory.assignment(assignment), options)
}

func open(config string, settings *C.plimsoll_cluster_settings, assignment *C.plimsoll_assignment,
	options *Options) (Cluster, *Failure) {
	own := C.plimsoll_cluster_options{
		size:          C.sizeof_plimsoll_cluster_options,
		behavior:      C.uint32_t(options.Behavior),
		seed:          C.uint64_t(options.Seed),
		now_ns:        C.uint64_t(options.NowNS),
		local_cluster: options.LocalCluster.handle,
		runtime_count: C.size_t(len(options.Runtime)),
		log_level:     C.uint32_t(options.LogLevel),
	}
	if options.HasSeed {
		own.has_seed = 1
	}
	var block block
	var lengths [3]C.uint32_t
	for i, part := range options.Locality {
		lengths[i] = block.add(part)
	}
	runtime := runtimeValues(&block, options.Runtime)
	scratch := scratch[C.plimsoll_runtime_value](len(runtime))
	defer C.free(unsafe.Pointer(scratch))
	var cluster Cluster
	if options.Log != nil {
		cluster.log = cgo.NewHandle(options.Log)
	}
	var failed *C.plimsoll_error
	status := C.plimsoll_go_open(data(config), C.size_t(len(config)), settings, assignment, &own,
		block.data(), &lengths[0], unsafe.SliceData(runtime), scratch, C.uintptr_t(cluster.log),
		&cluster.handle, &failed)
	if status != C.PLIMSOLL_STATUS_OK {
		cluster.Free()
	}
	return cluster, failure(status, failed)
}

// Free is plimsoll_cluster_free. No message comes after it.
func (c Cluster) Free() {
	C.plimsoll_cluster_free(c.handle)
	if c.log != 0 {
		c.log.Delete()
	}
}

// Reload is plimsoll_cluster_reload.
func (c Cluster) Reload(config string) (Applied, *Failure) {
	var out C.plimsoll_applied
	var failed *C.plimsoll_error
	status := C.plimsoll_cluster_reload(c.handle, str(config), &out, &failed)
	return applied(out), failure(status, failed)
}

// Configure is plimsoll_cluster_configure.
func (c Cluster) Configure(settings *Settings, assignment *Assignment) (Applied, *Failure) {
	var memory arena
	defer memory.free()
	var out C.plimsoll_applied
	var failed *C.plimsoll_error
	status := C.plimsoll_cluster_configure(c.handle, memory.settings(settings),
		memory.assignment(assignment), &out, &failed)
	return applied(out), failure(status, failed)
}

// Assign is plimsoll_cluster_assign.
func (c Cluster) Assign(assignment string) (Applied, *Failure) {
	var out C.plimsoll_applied
	var failed *C.plimsoll_error
	status := C.plimsoll_cluster_assign(c.handle, str(assignment), &out, &failed)
	return applied(out), failure(status, failed)
}

// Change is a plimsoll_host_change.
type Change struct {
	Kind, Event, Priority, Weight, HealthStatus uint32
	// Address, hostname, region, zone, sub-zone, hash key.
	Texts [6]string
}

// The kinds of a change.
const (
	ChangeUpsert = C.PLIMSOLL_CHANGE_UPSERT
	ChangeRemove = C.PLIMSOLL_CHANGE_REMOVE
	ChangeHealth = C.PLIMSOLL_CHANGE_HEALTH
)

// Update is plimsoll_cluster_update. It asks each for the changes, in order.
func (c Cluster) Update(count int, each func(i int) Change) (Applied, *Failure) {
	var block block
	changes := make([]C.plimsoll_go_change, count)
	for i := range changes {
		change := each(i)
		to := &changes[i]
		to.kind = C.uint32_t(change.Kind)
		to.event = C.uint32_t(change.Event)
		to.priority = C.uint32_t(change.Priority)
		to.weight = C.uint32_t(change.Weight)
		to.health_status = C.uint32_t(change.HealthStatus)
		for j, text := range change.Texts {
			to.lengths[j] = block.add(text)
		}
	}
	scratch := scratch[C.plimsoll_host_change](count)
	defer C.free(unsafe.Pointer(scratch))
	var out C.plimsoll_applied
	var failed *C.plimsoll_error
	status := C.plimsoll_go_update(c.handle, block.data(), unsafe.SliceData(changes), scratch,
		C.size_t(count), &out, &failed)
	return applied(out), failure(status, failed)
}

// Load is a plimsoll_host_load.
type Load struct {
	Address         string
	Active, Pending uint32
	HasPending      bool
}

// SetLoads is plimsoll_cluster_set_loads. It asks each for the loads, in order.
func (c Cluster) SetLoads(count int, each func(i int) Load) *Failure {
	var block block
	loads := make([]C.plimsoll_go_load, count)
	for i := range loads {
		load := each(i)
		to := &loads[i]
		to.length = block.add(load.Address)
		to.active = C.uint32_t(load.Active)
		to.pending = C.uint32_t(load.Pending)
		if load.HasPending {
			to.flags = C.PLIMSOLL_LOAD_HAS_PENDING
		}
	}
	scratch := scratch[C.plimsoll_host_load](count)
	defer C.free(unsafe.Pointer(scratch))
	var failed *C.plimsoll_error
	status := C.plimsoll_go_set_loads(c.handle, block.data(), unsafe.SliceData(loads), scratch,
		C.size_t(count), &failed)
	return failure(status, failed)
}

// Tick is plimsoll_cluster_tick.
func (c Cluster) Tick(nowNS uint64) *Failure {
	var failed *C.plimsoll_error
	status := C.plimsoll_cluster_tick(c.handle, C.uint64_t(nowNS), &failed)
	return failure(status, failed)
}

// NextTick is plimsoll_cluster_next_tick.
func (c Cluster) NextTick() (uint64, *Failure) {
	var next C.uint64_t
	var failed *C.plimsoll_error
	status := C.plimsoll_cluster_next_tick(c.handle, &next, &failed)
	return uint64(next), failure(status, failed)
}

// UpdateRuntime is plimsoll_cluster_update_runtime.
func (c Cluster) UpdateRuntime(values []RuntimeValue) (Applied, *Failure) {
	var block block
	own := runtimeValues(&block, values)
	scratch := scratch[C.plimsoll_runtime_value](len(own))
	defer C.free(unsafe.Pointer(scratch))
	var out C.plimsoll_applied
	var failed *C.plimsoll_error
	status := C.plimsoll_go_update_runtime(c.handle, block.data(), unsafe.SliceData(own), scratch,
		C.size_t(len(own)), &out, &failed)
	return applied(out), failure(status, failed)
}

func runtimeValues(block *block, values []RuntimeValue) []C.plimsoll_go_runtime {
	own := make([]C.plimsoll_go_runtime, len(values))
	for i, value := range values {
		to := &own[i]
		to.length = block.add(value.Key)
		to.kind = C.uint32_t(value.Kind)
		to.integer = C.uint64_t(value.Integer)
		to.number = C.double(value.Number)
		if value.Boolean {
			to.boolean = 1
		}
	}
	return own
}

// Report is plimsoll_cluster_report.
func (c Cluster) Report(address string, message []byte, nowNS uint64) *Failure {
	var failed *C.plimsoll_error
	status := C.plimsoll_cluster_report(c.handle, str(address),
		unsafe.Pointer(unsafe.SliceData(message)), C.size_t(len(message)), C.uint64_t(nowNS), &failed)
	return failure(status, failed)
}

// ReportResponse is plimsoll_cluster_report_response.
func (c Cluster) ReportResponse(address string, load *ResponseLoad) *Failure {
	block, lengths := load.texts(nil)
	var failed *C.plimsoll_error
	status := C.plimsoll_go_report_response(c.handle, data(address), C.size_t(len(address)),
		block.data(), &lengths[0], C.uint64_t(load.NowNS), &failed)
	return failure(status, failed)
}

// ImportReports is plimsoll_cluster_import_reports.
func (c Cluster) ImportReports(reports string) (int, *Failure) {
	var taken C.size_t
	var failed *C.plimsoll_error
	status := C.plimsoll_cluster_import_reports(c.handle, str(reports), &taken, &failed)
	return int(taken), failure(status, failed)
}

func applied(from C.plimsoll_applied) Applied {
	return Applied{Version: uint64(from.version), Published: bool(from.published)}
}

// block collects texts that go over together.
type block []byte

func (b *block) add(text string) C.uint32_t {
	*b = append(*b, text...)
	return C.uint32_t(len(text))
}

func (b block) data() *C.char { return dataOf(b) }

// scratch is room for structs of C. Of no size it may still be freed.
func scratch[T any](count int) *T {
	var one T
	return (*T)(C.malloc(C.size_t(uintptr(count) * unsafe.Sizeof(one))))
}

// scratchOfMany is the same, and nil if there are so few that C needs none.
func scratchOfMany[T any](count int) *T {
	if count <= C.PLIMSOLL_GO_FEW {
		return nil
	}
	return scratch[T](count)
}
