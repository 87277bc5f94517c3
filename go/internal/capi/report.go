package capi

// #cgo noescape plimsoll_go_report
// #cgo nocallback plimsoll_go_report
// #include "shim.h"
import "C"

// ResponseLoad is a plimsoll_response_load; nil is a header that is absent.
type ResponseLoad struct {
	HeaderBinary, HeaderText, TrailerBinary, TrailerText *string
	NowNS                                                uint64
}

// texts are those of the load, after what room holds, and how long they are. The room stays where it
// is: on the stack, if it is there.
func (load *ResponseLoad) texts(room block) (texts block, lengths [4]C.uint32_t) {
	for i, header := range [...]*string{
		load.HeaderBinary, load.HeaderText, load.TrailerBinary, load.TrailerText,
	} {
		lengths[i] = C.PLIMSOLL_GO_ABSENT
		if header != nil {
			lengths[i] = C.uint32_t(len(*header))
			room = append(room, *header...)
		}
	}
	return room, lengths
}

// Report is plimsoll_worker_report.
func (w Worker) Report(pick *Pick, load *ResponseLoad) Status {
	// Enough for what comes in TEXT and BIN.
	var room [512]byte
	block, lengths := load.texts(room[:0])
	return Status(C.plimsoll_go_report(w.handle, pick.c(), block.data(), &lengths[0],
		C.uint64_t(load.NowNS)))
}

// JSON is plimsoll_response_load_json.
func (load *ResponseLoad) JSON(behavior uint32) (string, *Failure) {
	block, lengths := load.texts(nil)
	return explained(func(buffer *C.char, capacity C.size_t, needed *C.size_t,
		failed **C.plimsoll_error) C.enum_plimsoll_status {
		return C.plimsoll_go_load_json(block.data(), &lengths[0], C.uint32_t(behavior),
			buffer, capacity, needed, failed)
	})
}
