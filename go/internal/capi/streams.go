package capi

// #include "shim.h"
import "C"

import "unsafe"

// StreamAction is a plimsoll_stream_action.
type StreamAction struct {
	Kind, Slot, Generation   uint32
	IntervalNS               uint64
	Address, Dial, Authority string
}

// What is to be done about a stream, and a stream that ended without a status.
const (
	StreamOpen   = C.PLIMSOLL_STREAM_OPEN
	StreamClose  = C.PLIMSOLL_STREAM_CLOSE
	StreamBroken = C.PLIMSOLL_STREAM_BROKEN
)

// PollStreams is plimsoll_cluster_poll_streams.
func (c Cluster) PollStreams(nowNS uint64, add func(StreamAction)) (nextNS uint64, _ *Failure) {
	var list C.plimsoll_go_list
	defer C.plimsoll_go_list_free(&list)
	var next C.uint64_t
	var failed *C.plimsoll_error
	status := C.plimsoll_go_poll_streams(c.handle, C.uint64_t(nowNS), &list, &next, &failed)
	if status != C.PLIMSOLL_STATUS_OK {
		return 0, failure(status, failed)
	}
	texts := textsOf(&list)
	for _, action := range unsafe.Slice((*C.plimsoll_go_stream)(list.items), int(list.count)) {
		add(StreamAction{
			Kind:       uint32(action.kind),
			Slot:       uint32(action.slot),
			Generation: uint32(action.generation),
			IntervalNS: uint64(action.interval_ns),
			Address:    texts.take(action.lengths[0]),
			Dial:       texts.take(action.lengths[1]),
			Authority:  texts.take(action.lengths[2]),
		})
	}
	return uint64(next), nil
}

// StreamMessage is plimsoll_cluster_stream_message.
func (c Cluster) StreamMessage(slot, generation uint32, message []byte, nowNS uint64) *Failure {
	var failed *C.plimsoll_error
	status := C.plimsoll_cluster_stream_message(c.handle, C.uint32_t(slot), C.uint32_t(generation),
		unsafe.Pointer(unsafe.SliceData(message)), C.size_t(len(message)), C.uint64_t(nowNS), &failed)
	return failure(status, failed)
}

// StreamEnded is plimsoll_cluster_stream_ended.
func (c Cluster) StreamEnded(slot, generation uint32, grpcStatus int32, nowNS uint64) *Failure {
	var failed *C.plimsoll_error
	status := C.plimsoll_cluster_stream_ended(c.handle, C.uint32_t(slot), C.uint32_t(generation),
		C.int32_t(grpcStatus), C.uint64_t(nowNS), &failed)
	return failure(status, failed)
}
