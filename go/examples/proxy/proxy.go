package main

import (
	"context"
	"io"
	"net"
	"net/http"
	"net/http/httputil"
	"sync"
	"time"

	"plimsoll.example/plimsoll"
)

const (
	// How many hosts a request is tried on.
	attempts = 3
	// How long a host that cannot be reached gets no requests.
	ejection = time.Second
)

// newProxy is a proxy for the hosts of a cluster.
func newProxy(cluster *plimsoll.Cluster) http.Handler {
	return &httputil.ReverseProxy{
		// The balancer says where it goes.
		Rewrite:   func(request *httputil.ProxyRequest) { request.Out.URL.Scheme = "http"; request.SetXForwarded() },
		Transport: &balanced{cluster: cluster, hosts: http.DefaultTransport},
		ModifyResponse: func(response *http.Response) error {
			hideLoad(response)
			return nil
		},
	}
}

// hideLoad hides what hosts say of themselves, which is nobody else's business.
func hideLoad(response *http.Response) {
	for _, header := range []http.Header{response.Header, response.Trailer} {
		header.Del("Endpoint-Load-Metrics")
		header.Del("Endpoint-Load-Metrics-Bin")
	}
}

// balanced is a transport that asks the balancer for a host, for each attempt at a request.
type balanced struct {
	cluster *plimsoll.Cluster
	hosts   http.RoundTripper
}

// RoundTrip sends a request to the host that is picked for it, and to another one if there is no
// answer.
func (b *balanced) RoundTrip(request *http.Request) (*http.Response, error) {
	known := &plimsoll.PickContext{Retries: 10, Now: time.Now()}
	cookies := b.hash(request, known)
	var tried []plimsoll.Pick
	for {
		pick, err := b.cluster.PickAvoiding(known, tried...)
		if err != nil {
			return nil, err
		}
		response, err := b.send(request, pick)
		if err == nil {
			for _, cookie := range cookies {
				response.Header.Add("Set-Cookie", cookie)
			}
			return response, nil
		}
		b.cluster.Done(pick, plimsoll.Failure)
		b.eject(b.cluster.Address(pick))
		tried, known.Attempt = append(tried, pick), known.Attempt+1
		// A body has gone with the first attempt, and only some requests may come twice.
		again := request.Method == http.MethodGet || request.Method == http.MethodHead
		if !again || len(tried) == attempts || request.Context().Err() != nil {
			return nil, err
		}
	}
}

// hash has the pick go by the request's hash, if the cluster's policy does, and gives the cookies that
// the client is to have.
func (b *balanced) hash(request *http.Request, known *plimsoll.PickContext) (cookies []string) {
	source, _, _ := net.SplitHostPort(request.RemoteAddr)
	hash, err := b.cluster.Hash(nil, &plimsoll.Request{
		Header: request.Header, Authority: request.Host, Method: request.Method,
		Path: request.URL.RequestURI(), SourceIP: source, RemoteAddress: request.RemoteAddr,
		LocalAddress: localAddress(request.Context()),
	}, func(cookie string) { cookies = append(cookies, cookie) })
	if err == nil {
		known.Hash, known.Hashed = hash, true
	}
	return cookies
}

func localAddress(ctx context.Context) string {
	if address, ok := ctx.Value(http.LocalAddrContextKey).(net.Addr); ok {
		return address.String()
	}
	return ""
}

func (b *balanced) send(request *http.Request, pick plimsoll.Pick) (*http.Response, error) {
	sent := request.Clone(request.Context())
	sent.URL.Host = b.cluster.Address(pick)
	response, err := b.hosts.RoundTrip(sent)
	if err != nil {
		return nil, err
	}
	if response.StatusCode == http.StatusSwitchingProtocols {
		// What follows is no body, and may last for days.
		b.cluster.Done(pick, plimsoll.Success)
		return response, nil
	}
	// The request is over when its body is: only then the trailers are there.
	response.Body = &body{ReadCloser: response.Body, cluster: b.cluster, pick: pick, response: response}
	return response, nil
}

// eject lets a host that cannot be reached have a rest. That it is gone meanwhile is no failure.
func (b *balanced) eject(address string) {
	b.cluster.Update(plimsoll.LearnHealth(address, plimsoll.HealthEject))
	time.AfterFunc(ejection, func() {
		b.cluster.Update(plimsoll.LearnHealth(address, plimsoll.HealthUneject))
	})
}

// body tells the balancer when a request is over, and what the response said of its host's load.
type body struct {
	io.ReadCloser
	cluster  *plimsoll.Cluster
	pick     plimsoll.Pick
	response *http.Response
	over     sync.Once
}

func (b *body) Close() error {
	err := b.ReadCloser.Close()
	b.over.Do(func() {
		b.cluster.Report(b.pick, plimsoll.LoadOf(b.response.Header, b.response.Trailer))
		hideLoad(b.response)
		outcome := plimsoll.OutcomeOf(err)
		if b.response.StatusCode >= http.StatusInternalServerError {
			outcome = plimsoll.Failure
		}
		b.cluster.Done(b.pick, outcome)
	})
	return err
}

// adminPages show what the balancer knows, as JSON.
func adminPages(cluster *plimsoll.Cluster) http.Handler {
	pages := http.NewServeMux()
	show := func(path string, page func() ([]byte, error)) {
		pages.HandleFunc("GET "+path, func(response http.ResponseWriter, _ *http.Request) {
			text, err := page()
			if err != nil {
				http.Error(response, err.Error(), http.StatusInternalServerError)
				return
			}
			response.Header().Set("Content-Type", "application/json")
			response.Write(append(text, '\n'))
		})
	}
	for path, part := range map[string]plimsoll.DumpPart{
		"/hosts": plimsoll.DumpHosts, "/localities": plimsoll.DumpLocalities,
		"/loads": plimsoll.DumpLoads, "/stats": plimsoll.DumpStats,
	} {
		show(path, func() ([]byte, error) { return cluster.Dump(part, nil) })
	}
	show("/explain", func() ([]byte, error) {
		explanation, err := cluster.Explain(nil, plimsoll.ExplainOptions{})
		if err != nil {
			return nil, err
		}
		return explanation.JSON, nil
	})
	return pages
}
