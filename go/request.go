package plimsoll

import (
	"runtime"
	"sync"
	"time"

	"plimsoll.example/plimsoll/internal/capi"
)

// HashPolicies are a route's hash_policy: what its requests are hashed from. Any number of
// goroutines may use them at once. They need not be closed: the garbage collector frees them.
type HashPolicies struct{ handle capi.HashPolicies }

// HashKind is where a [HashPolicy] finds its value.
type HashKind uint32

const (
	// HashHeader are all values of a header.
	HashHeader HashKind = capi.HashHeader
	// HashCookie is the value of a cookie, or of one that is made for a client that has none.
	HashCookie HashKind = capi.HashCookie
	// HashSourceIP is the address that the request comes from, without its port.
	HashSourceIP HashKind = capi.HashSourceIP
	// HashQueryParameter is the first value of a parameter in the query.
	HashQueryParameter HashKind = capi.HashQueryParameter
	// HashFilterState is the hash of an object that the proxy keeps for the request.
	HashFilterState HashKind = capi.HashFilterState
)

// A HashPolicy is one part of what requests are hashed from.
type HashPolicy struct {
	// Kind is where the value comes from.
	Kind HashKind
	// Name is that of the header, cookie or parameter, or the key of the object.
	Name string
	// Terminal asks no further policies once there is a value.
	Terminal bool
	// TTL is for how long a client without the cookie is given one; less than a second is a cookie for
	// the session. Nil: it is given none.
	TTL *time.Duration
	// Path is the path that a new cookie gets.
	Path string
	// Attributes are further attributes of a new cookie, by name and value.
	Attributes [][2]string
}

// NewHashPolicies makes policies of structs, once for many requests. They are asked in order; each value
// that one finds is combined with those before it.
//
// It fails with [ErrInvalidArgument]; the field is policies[3].name, say.
func NewHashPolicies(policies ...HashPolicy) (*HashPolicies, error) {
	own := make([]capi.HashPolicy, len(policies))
	for i, policy := range policies {
		own[i] = capi.HashPolicy{
			Kind:       uint32(policy.Kind),
			Terminal:   policy.Terminal,
			Name:       policy.Name,
			Path:       policy.Path,
			TTL:        policy.TTL,
			Attributes: policy.Attributes,
		}
	}
	return collected(capi.NewHashPolicies(own))
}

// collected are policies that the garbage collector frees.
func collected(handle capi.HashPolicies, failure *capi.Failure) (*HashPolicies, error) {
	if failure != nil {
		return nil, failed(failure)
	}
	policies := &HashPolicies{handle}
	runtime.AddCleanup(policies, capi.HashPolicies.Free, handle)
	return policies, nil
}

// ParseHashPolicies reads a list of Envoy's RouteAction.HashPolicy, as YAML or JSON, once for many
// requests.
//
// It fails with [ErrParse], [ErrInvalidArgument] or [ErrUnsupported].
func ParseHashPolicies(policies string) (*HashPolicies, error) {
	return collected(capi.ParseHashPolicies(policies))
}

// A Request is what is known of a request that is to be hashed. Only what the policies in use ask
// for has to be there.
type Request struct {
	// Header are its headers, such as an http.Header; names may be in any case. Cookies are found in
	// its Cookie, unless they are in Cookies.
	Header map[string][]string
	// Cookies are its cookies by name, where they have been parsed already.
	Cookies map[string]string
	// Authority is its host, which net/http does not have among the headers; a policy finds it as the
	// header :authority.
	Authority string
	// Method is found as the header :method.
	Method string
	// Path is its path with its query, as in /cart?user=7, and is also found as the header :path.
	Path string
	// Query is its query without the question mark; nil: it is found in Path.
	Query *string
	// FilterState are the hashes of the objects that the proxy keeps for the request, by key, as far as
	// policies ask for them.
	FilterState map[string]uint64
	// SourceIP is the address that it comes from, without a port.
	SourceIP string
	// RemoteAddress and LocalAddress are the addresses that it comes from and came to, with ports.
	// New cookies are made from them, and none is made without.
	RemoteAddress, LocalAddress string
}

// Requests on their way into C; what the garbage collector drops is made anew.
var requests = sync.Pool{New: func() any { return new(capi.Request) }}

// hash hashes a request by a worker's cluster.
func (h *handle) hash(route *HashPolicies, request *Request, setCookie func(string)) (uint64, error) {
	if request == nil {
		return 0, missing("request")
	}
	own := request.c()
	defer requests.Put(own)
	var policies capi.HashPolicies
	if route != nil {
		policies = route.handle
	}
	hash, status := h.worker.Hash(policies, own, setCookie)
	runtime.KeepAlive(route)
	return hash, answer(status)
}

// Hash hashes a request by these policies alone, whatever a cluster has: for a proxy that hashes
// before it knows the cluster, and to try policies out. Otherwise it is as [Cluster.Hash].
func (p *HashPolicies) Hash(request *Request, setCookie func(string)) (uint64, error) {
	switch {
	case p == nil:
		return 0, missing("policies")
	case request == nil:
		return 0, missing("request")
	}
	own := request.c()
	defer requests.Put(own)
	hash, status := p.handle.Hash(own, setCookie)
	runtime.KeepAlive(p)
	return hash, answer(status)
}

// c is the request as the library has it. It is to be put back.
func (request *Request) c() *capi.Request {
	own := requests.Get().(*capi.Request)
	own.Reset()
	for name, values := range request.Header {
		for _, value := range values {
			own.AddHeader(name, value)
		}
	}
	pseudo := [...][2]string{
		{":authority", request.Authority}, {":method", request.Method}, {":path", request.Path},
	}
	for _, header := range pseudo {
		if header[1] != "" {
			own.AddHeader(header[0], header[1])
		}
	}
	for name, value := range request.Cookies {
		own.AddCookie(name, value)
	}
	own.Finish(request.Path, request.Query, request.SourceIP, request.RemoteAddress,
		request.LocalAddress)
	for key, hash := range request.FilterState {
		own.AddFilterState(key, hash)
	}
	return own
}
