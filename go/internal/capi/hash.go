package capi

// #cgo noescape plimsoll_go_hash
// #cgo nocallback plimsoll_go_hash
// #include "shim.h"
// #include <stdlib.h>
import "C"

import (
	"encoding/binary"
	"time"
	"unsafe"
)

// HashPolicies are plimsoll_hash_policies.
type HashPolicies struct{ handle *C.plimsoll_hash_policies }

// ParseHashPolicies is plimsoll_hash_policies_parse.
func ParseHashPolicies(policies string) (HashPolicies, *Failure) {
	var parsed HashPolicies
	var failed *C.plimsoll_error
	status := C.plimsoll_hash_policies_parse(str(policies), &parsed.handle, &failed)
	return parsed, failure(status, failed)
}

// The kinds of a hash policy.
const (
	HashHeader         = C.PLIMSOLL_HASH_HEADER
	HashCookie         = C.PLIMSOLL_HASH_COOKIE
	HashSourceIP       = C.PLIMSOLL_HASH_SOURCE_IP
	HashQueryParameter = C.PLIMSOLL_HASH_QUERY_PARAMETER
	HashFilterState    = C.PLIMSOLL_HASH_FILTER_STATE
)

// HashPolicy is a plimsoll_hash_policy.
type HashPolicy struct {
	Kind       uint32
	Terminal   bool
	Name, Path string
	TTL        *time.Duration
	Attributes [][2]string
}

// NewHashPolicies is plimsoll_hash_policies_new.
func NewHashPolicies(policies []HashPolicy) (HashPolicies, *Failure) {
	var memory arena
	defer memory.free()
	var made HashPolicies
	var failed *C.plimsoll_error
	status := C.plimsoll_hash_policies_new(putAll(&memory, policies, memory.hashPolicy),
		C.size_t(len(policies)), &made.handle, &failed)
	return made, failure(status, failed)
}

func (a *arena) hashPolicy(from HashPolicy) C.plimsoll_hash_policy {
	to := C.plimsoll_go_hash_policy
	to.kind = C.uint32_t(from.Kind)
	to.terminal = flag(from.Terminal)
	to.name = a.str(from.Name)
	to.path = a.str(from.Path)
	to.has_ttl = flag(from.TTL != nil)
	set(&to.ttl_ns, from.TTL)
	to.attributes = putAll(a, from.Attributes, func(attribute [2]string) C.plimsoll_header {
		return C.plimsoll_header{name: a.str(attribute[0]), value: a.str(attribute[1])}
	})
	to.attribute_count = C.size_t(len(from.Attributes))
	return to
}

// Free is plimsoll_hash_policies_free.
func (p HashPolicies) Free() { C.plimsoll_hash_policies_free(p.handle) }

// Request is a plimsoll_request in the making: its headers, its cookies, then the rest, and then its
// filter states.
type Request struct {
	block   block
	lengths []C.uint32_t
	rest    C.plimsoll_go_request
	hashes  []C.uint64_t
}

// AddHeader adds a header.
func (r *Request) AddHeader(name, value string) {
	r.rest.header_count++
	r.lengths = append(r.lengths, r.block.add(name), r.block.add(value))
}

// AddCookie adds a cookie.
func (r *Request) AddCookie(name, value string) {
	r.rest.cookie_count++
	r.lengths = append(r.lengths, r.block.add(name), r.block.add(value))
}

// Finish adds what is neither. Without a query it is found in the path.
func (r *Request) Finish(path string, query *string, sourceIP, remote, local string) {
	var known string
	if query != nil {
		r.rest.has_query, known = 1, *query
	}
	for i, text := range [...]string{path, known, sourceIP, remote, local} {
		r.rest.lengths[i] = r.block.add(text)
	}
}

// AddFilterState adds an object that the proxy keeps for the request, by its hash.
func (r *Request) AddFilterState(key string, hash uint64) {
	r.rest.filter_state_count++
	r.lengths = append(r.lengths, r.block.add(key))
	r.hashes = append(r.hashes, C.uint64_t(hash))
}

// Reset makes a request of it that has nothing, and keeps its memory.
func (r *Request) Reset() {
	r.block, r.lengths, r.hashes = r.block[:0], r.lengths[:0], r.hashes[:0]
	r.rest = C.plimsoll_go_request{}
}

// Hash is plimsoll_hash_policies_hash. With a nil setCookie nobody gets a cookie.
func (p HashPolicies) Hash(request *Request, setCookie func(string)) (uint64, Status) {
	return Worker{}.Hash(p, request, setCookie)
}

// Hash is plimsoll_worker_hash. With a nil setCookie nobody gets a cookie.
func (w Worker) Hash(route HashPolicies, request *Request, setCookie func(string)) (uint64, Status) {
	many := scratchOfMany[C.plimsoll_header](
		int(request.rest.header_count) + int(request.rest.cookie_count))
	if many != nil {
		defer C.free(unsafe.Pointer(many))
	}
	var states *C.plimsoll_filter_state
	if len(request.hashes) > 0 {
		states = scratch[C.plimsoll_filter_state](len(request.hashes))
		defer C.free(unsafe.Pointer(states))
	}
	var room [512]byte
	var cookies []byte
	if setCookie != nil {
		cookies = room[:]
	}
	for {
		var needed C.size_t
		var hash C.uint64_t
		status := C.plimsoll_go_hash(w.handle, route.handle, request.block.data(),
			unsafe.SliceData(request.lengths), &request.rest, unsafe.SliceData(request.hashes), many,
			states, dataOf(cookies), C.size_t(len(cookies)), &needed, &hash)
		if setCookie != nil && int(needed) > len(cookies) {
			// The same request makes the same cookies again.
			cookies = make([]byte, needed)
			continue
		}
		for rest := cookies[:needed]; len(rest) > 0; {
			end := 4 + binary.NativeEndian.Uint32(rest)
			setCookie(string(rest[4:end]))
			rest = rest[end:]
		}
		return uint64(hash), Status(status)
	}
}
