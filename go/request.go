package plimsoll

import (
	"runtime"
	"sync"

	"plimsoll.example/plimsoll/internal/capi"
)

// HashPolicies are a route's hash_policy: what its requests are hashed from. Any number of
// goroutines may use them at once. They need not be closed: the garbage collector frees them.
type HashPolicies struct{ handle capi.HashPolicies }

// ParseHashPolicies reads a list of Envoy's RouteAction.HashPolicy, as YAML or JSON, once for many
// requests. What is in filter_state is not known here: such an entry finds nothing.
//
// It fails with [ErrParse], [ErrInvalidArgument] or [ErrUnsupported].
func ParseHashPolicies(policies string) (*HashPolicies, error) {
	handle, failure := capi.ParseHashPolicies(policies)
	if failure != nil {
		return nil, failed(failure)
	}
	parsed := &HashPolicies{handle}
	runtime.AddCleanup(parsed, capi.HashPolicies.Free, handle)
	return parsed, nil
}

// A Request is what is known of a request that is to be hashed. Only what the policies in use ask
// for has to be there.
type Request struct {
	// Header are its headers, such as an http.Header; names may be in any case. Cookies are found in
	// its Cookie.
	Header map[string][]string
	// Authority is its host, which net/http does not have among the headers; a policy finds it as the
	// header :authority.
	Authority string
	// Method is found as the header :method.
	Method string
	// Path is its path with its query, as in /cart?user=7, and is also found as the header :path.
	Path string
	// SourceIP is the address that it comes from, without a port.
	SourceIP string
	// RemoteAddress and LocalAddress are the addresses that it comes from and came to, with ports.
	// New cookies are made from them, and none is made without.
	RemoteAddress, LocalAddress string
}

// Requests on their way into C; what the garbage collector drops is made anew.
var requests = sync.Pool{New: func() any { return new(capi.Request) }}

// hash hashes a request by a worker's cluster.
func (h *handle) hash(route *HashPolicies, request *Request, setCookie func(string)) (uint64, capi.Status) {
	own := requests.Get().(*capi.Request)
	defer requests.Put(own)
	own.Reset()
	for name, values := range request.Header {
		for _, value := range values {
			own.Add(name, value)
		}
	}
	pseudo := [...][2]string{
		{":authority", request.Authority}, {":method", request.Method}, {":path", request.Path},
	}
	for _, header := range pseudo {
		if header[1] != "" {
			own.Add(header[0], header[1])
		}
	}
	own.Finish(request.Path, request.SourceIP, request.RemoteAddress, request.LocalAddress)
	var policies capi.HashPolicies
	if route != nil {
		policies = route.handle
	}
	hash, status := h.worker.Hash(policies, own, setCookie)
	runtime.KeepAlive(route)
	return hash, status
}
