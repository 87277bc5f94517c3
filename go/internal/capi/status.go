package capi

// #include "shim.h"
import "C"

import "unsafe"

// Status is a plimsoll_status.
type Status uint32

// The statuses of the header.
const (
	StatusOK                 = C.PLIMSOLL_STATUS_OK
	StatusNullArgument       = C.PLIMSOLL_STATUS_NULL_ARGUMENT
	StatusInvalidArgument    = C.PLIMSOLL_STATUS_INVALID_ARGUMENT
	StatusParseError         = C.PLIMSOLL_STATUS_PARSE_ERROR
	StatusUnsupported        = C.PLIMSOLL_STATUS_UNSUPPORTED
	StatusUnknownHost        = C.PLIMSOLL_STATUS_UNKNOWN_HOST
	StatusHasData            = C.PLIMSOLL_STATUS_HAS_DATA
	StatusBufferTooSmall     = C.PLIMSOLL_STATUS_BUFFER_TOO_SMALL
	StatusUnsupportedField   = C.PLIMSOLL_STATUS_UNSUPPORTED_FIELD
	StatusMisuse             = C.PLIMSOLL_STATUS_MISUSE
	StatusNoHost             = C.PLIMSOLL_STATUS_NO_HOST
	StatusNoHostPanic        = C.PLIMSOLL_STATUS_NO_HOST_PANIC
	StatusPeekLimit          = C.PLIMSOLL_STATUS_PEEK_LIMIT
	StatusStalePick          = C.PLIMSOLL_STATUS_STALE_PICK
	StatusNotCounted         = C.PLIMSOLL_STATUS_NOT_COUNTED
	StatusNoReport           = C.PLIMSOLL_STATUS_NO_REPORT
	StatusReportUnreadable   = C.PLIMSOLL_STATUS_REPORT_UNREADABLE
	StatusReportRejected     = C.PLIMSOLL_STATUS_REPORT_REJECTED
	StatusNoHash             = C.PLIMSOLL_STATUS_NO_HASH
	StatusOverrideNotFound   = C.PLIMSOLL_STATUS_OVERRIDE_NOT_FOUND
	StatusOverrideNotAllowed = C.PLIMSOLL_STATUS_OVERRIDE_NOT_ALLOWED
	StatusReportNotWanted    = C.PLIMSOLL_STATUS_REPORT_NOT_WANTED
	StatusPoisoned           = C.PLIMSOLL_STATUS_POISONED
	StatusPanic              = C.PLIMSOLL_STATUS_PANIC
)

// Name is the word for the status, such as no_host; unknown for a number that is none.
func (s Status) Name() string {
	return C.GoString(C.plimsoll_status_name(C.uint32_t(s)))
}

// Failure is what a control call says of its failure.
type Failure struct {
	Status  Status
	Field   string
	Message string
}

// failure reads an error object and frees it; nil if the call has succeeded.
func failure(status C.enum_plimsoll_status, failed *C.plimsoll_error) *Failure {
	if status == C.PLIMSOLL_STATUS_OK {
		return nil
	}
	defer C.plimsoll_error_free(failed)
	return &Failure{
		Status:  Status(status),
		Field:   text(C.plimsoll_error_field(failed)),
		Message: text(C.plimsoll_error_message(failed)),
	}
}

// text copies a text of C.
func text(from C.plimsoll_str) string {
	return string(unsafe.Slice((*byte)(unsafe.Pointer(from.data)), int(from.len)))
}

// data is where a text of Go begins, for the length of a call.
func data(text string) *C.char {
	return (*C.char)(unsafe.Pointer(unsafe.StringData(text)))
}

// dataOf is where bytes of Go begin, for the length of a call.
func dataOf(bytes []byte) *C.char {
	return (*C.char)(unsafe.Pointer(unsafe.SliceData(bytes)))
}

// str is a text of Go as C has it, for the length of a call that takes it by value.
func str(text string) C.plimsoll_str {
	return C.plimsoll_str{data: data(text), len: C.size_t(len(text))}
}

// Version is the library's version.
func Version() string { return C.GoString(C.plimsoll_version()) }

// ABIMatches is whether the library takes what this package was compiled for.
func ABIMatches() bool { return C.plimsoll_abi_version() == C.PLIMSOLL_ABI_VERSION }
