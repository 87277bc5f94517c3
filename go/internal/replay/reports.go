package replay

import (
	"errors"
	"strings"

	"plimsoll.example/plimsoll"
)

// readReport takes a report of a host in. With "echo" the report comes back, whatever the policy makes
// of it. A policy that does not go by reports ignores them.
func readReport(f *fields) operation {
	host := need(f, "host", "a string", is[string])
	index := f.integer("worker", 0)
	orca, hasOrca := read(f, "orca", "an object", is[*object])
	headers, hasHeaders := read(f, "headers", "a map to values of headers", mapOf(headerValues))
	trailers, hasTrailers := read(f, "trailers", "a map to values of headers", mapOf(headerValues))
	echo := f.flag("echo")
	return func(s *session, name *string) (string, any, error) {
		c, err := s.cluster(name)
		if err != nil {
			return "", nil, err
		}
		if _, err := c.worker(index); err != nil {
			return "", nil, err
		}
		if err := c.checkHosts(host); err != nil {
			return "", nil, err
		}
		var load plimsoll.ResponseLoad
		switch {
		case hasOrca && (hasHeaders || hasTrailers):
			err = invalid("orca", "a report is either an object or in headers and trailers")
		case hasOrca:
			written := "JSON " + text(orca)
			load.HeaderText = &written
		default:
			load, err = found(headers, trailers)
		}
		if err != nil {
			return "", nil, err
		}
		taken := c.engine.ReportHostResponse(host, load)
		if errors.Is(taken, plimsoll.ErrNoReport) || errors.Is(taken, plimsoll.ErrReportUnreadable) {
			return "", nil, unreadable(taken, hasOrca)
		}
		if echo {
			report, err := load.JSON(c.behavior)
			return "report", raw(report), err
		}
		if taken != nil && !errors.Is(taken, plimsoll.ErrReportNotWanted) {
			return "", nil, taken
		}
		return "ok", true, nil
	}
}

// unreadable is a report that cannot be read: Envoy's text. An object that is none is a mistake of the
// replay.
func unreadable(err error, isObject bool) error {
	message := asFailure(err).message
	if isObject {
		return invalid("orca", "%s", message)
	}
	return &failure{"report_rejected", "", message}
}

// found are the headers that say something of load, the first of each.
func found(headers, trailers []entry[[]headerValue]) (plimsoll.ResponseLoad, error) {
	var load plimsoll.ResponseLoad
	for _, part := range []struct {
		field        string
		from         []entry[[]headerValue]
		binary, text **string
	}{
		{"headers", headers, &load.HeaderBinary, &load.HeaderText},
		{"trailers", trailers, &load.TrailerBinary, &load.TrailerText},
	} {
		all, err := decoded(part.field, part.from)
		if err != nil {
			return load, err
		}
		for i := range all {
			place := map[string]**string{
				"endpoint-load-metrics-bin": part.binary, "endpoint-load-metrics": part.text,
			}[strings.ToLower(all[i].name)]
			if place != nil && *place == nil {
				*place = &all[i].value
			}
		}
	}
	return load, nil
}

// readHash hashes a request, by policies that stand beside it. It needs no cluster.
func readHash(f *fields) operation {
	policies := need(f, "policies", "a list of objects", listOf(is[*object]))
	if _, ok := f.keys.values["request"]; !ok {
		f.fail("request", "it is missing")
	}
	request := f.inside("request")
	headers, _ := read(request, "headers", "a map to values of headers", mapOf(headerValues))
	query := request.text("query")
	cookies, _ := read(request, "cookies", "a map to strings", mapOf(is[string]))
	sourceIP := request.text("source_ip")
	request.finish()
	return func(*session, *string) (string, any, error) {
		var list []any
		for _, policy := range policies {
			list = append(list, policy)
		}
		route, err := plimsoll.ParseHashPolicies(text(list))
		if err != nil {
			return "", nil, err
		}
		own := &plimsoll.Request{
			Header: make(map[string][]string), Cookies: make(map[string]string), SourceIP: sourceIP,
		}
		known, err := decoded("request.headers", headers)
		if err != nil {
			return "", nil, err
		}
		for _, header := range known {
			own.Header[header.name] = append(own.Header[header.name], header.value)
		}
		for _, cookie := range cookies {
			own.Cookies[cookie.key] = cookie.value
		}
		if query != "" {
			own.Query = &query
		}
		hash, err := route.Hash(own, nil)
		if errors.Is(err, plimsoll.ErrNoHash) {
			return "hash", nil, nil
		}
		return "hash", unsigned(hash), err
	}
}
