package plimsoll

import (
	"errors"

	"plimsoll.example/plimsoll/internal/capi"
)

// Code is why a call failed, as an error by itself. Its numbers are those of the C interface, and
// new ones may come.
//
// Failed calls have had no effect, except that it is not known after [ErrPanic].
type Code uint32

const (
	// ErrInvalidArgument is a value outside its range, or text that is not UTF-8.
	ErrInvalidArgument Code = capi.StatusInvalidArgument
	// ErrParse is text that is neither JSON nor YAML; the message names line and column.
	ErrParse Code = capi.StatusParseError
	// ErrUnsupported is what Envoy accepts and this version does not: without it traffic would go
	// elsewhere.
	ErrUnsupported Code = capi.StatusUnsupported
	// ErrUnknownHost is an address that no host of the cluster has.
	ErrUnknownHost Code = capi.StatusUnknownHost
	// ErrHasData is a host that has data already.
	ErrHasData Code = capi.StatusHasData
	// ErrUnsupportedField is something that this package sets and an older library does not know.
	ErrUnsupportedField Code = capi.StatusUnsupportedField
	// ErrMisuse is what a debug build of the library says to a handle that was freed or came through a
	// fork, or that two threads use at once. This package does none of that: please report it.
	ErrMisuse Code = capi.StatusMisuse
	// ErrNoHost is a pick that was led where no host is eligible.
	ErrNoHost Code = capi.StatusNoHost
	// ErrNoHostPanic is a pick of a priority in panic, in a cluster that is told to fail then.
	ErrNoHostPanic Code = capi.StatusNoHostPanic
	// ErrPeekLimit is a peek too many: pick one of the peeked hosts first.
	ErrPeekLimit Code = capi.StatusPeekLimit
	// ErrStalePick is a pick that names no request any more: it was done before, or its host is gone.
	ErrStalePick Code = capi.StatusStalePick
	// ErrNotCounted is the end of a pick that was not counted.
	ErrNotCounted Code = capi.StatusNotCounted
	// ErrNoReport is a response that says nothing of its host's load.
	ErrNoReport Code = capi.StatusNoReport
	// ErrReportUnreadable is a load report that cannot be read.
	ErrReportUnreadable Code = capi.StatusReportUnreadable
	// ErrReportRejected is a load report of which nothing can be made: without requests per second or
	// utilization where they are needed, or with a number that is none.
	ErrReportRejected Code = capi.StatusReportRejected
	// ErrReportNotWanted is a load report in a cluster whose policy does not go by reports.
	ErrReportNotWanted Code = capi.StatusReportNotWanted
	// ErrNoHash is a request that there is nothing to hash by: pick without a hash.
	ErrNoHash Code = capi.StatusNoHash
	// ErrOverrideNotFound is a strict override of hosts that the cluster does not have.
	ErrOverrideNotFound Code = capi.StatusOverrideNotFound
	// ErrOverrideNotAllowed is a strict override of hosts whose health is not allowed.
	ErrOverrideNotAllowed Code = capi.StatusOverrideNotAllowed
	// ErrPoisoned is a control call after one that panicked: workers keep serving, open the cluster
	// anew.
	ErrPoisoned Code = capi.StatusPoisoned
	// ErrPanic is a panic inside the library: a fault of it, please report it.
	ErrPanic Code = capi.StatusPanic
)

// ErrClosed is a call of something that is closed. It comes from this package, and has no [Code].
var ErrClosed = errors.New("plimsoll: closed")

// String is the word for the code, such as no_host, as the command line and replays print it.
func (c Code) String() string { return capi.Status(c).Name() }

// Error is the word for the code with the package before it.
func (c Code) Error() string { return "plimsoll: " + c.String() }

// Error is why a control call failed, or what a call of any kind was not given.
type Error struct {
	// Code says what kind of failure it is. It is what the error wraps.
	Code Code
	// Field is which value is at fault: the path of a field in Envoy's messages
	// (endpoints[2].lb_endpoints[0].load_balancing_weight), an argument or a member of one
	// (changes[3].priority), or the address of a host. Empty if no single value is.
	Field string
	// Message says what is wrong, in Envoy's words where Envoy has some.
	Message string
}

// Error is the message, with the field before it.
func (e *Error) Error() string {
	if e.Field == "" {
		return "plimsoll: " + e.Message
	}
	return "plimsoll: " + e.Field + ": " + e.Message
}

// Unwrap is the code, for errors.Is.
func (e *Error) Unwrap() error { return e.Code }

// failed is a failure of the C interface as an error; nil for none.
func failed(failure *capi.Failure) error {
	if failure == nil {
		return nil
	}
	return &Error{Code: Code(failure.Status), Field: failure.Field, Message: failure.Message}
}

// missing refuses an argument of this name that is nil and must not be.
func missing(argument string) error {
	return &Error{Code: ErrInvalidArgument, Field: argument, Message: "it is nil"}
}

// answer is the answer of a worker as an error; nil if it is none.
func answer(status capi.Status) error {
	if status == capi.StatusOK {
		return nil
	}
	return Code(status)
}
