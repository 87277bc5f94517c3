package replay

import (
	"errors"
	"fmt"

	"plimsoll.example/plimsoll"
)

// failure is an operation that failed, as results show it.
type failure struct{ code, field, message string }

func (f *failure) Error() string { return f.field + ": " + f.message }

func (f *failure) value() any {
	value := &object{}
	value.add("code", f.code)
	value.add("field", f.field)
	value.add("message", f.message)
	return value
}

// invalid is a value that is well-formed and cannot be used.
func invalid(field, message string, arguments ...any) error {
	return &failure{"invalid_argument", field, fmt.Sprintf(message, arguments...)}
}

// notOpen is a cluster that is not there.
func notOpen(field, name string) error {
	return invalid(field, "no cluster %s is open", text(name))
}

// asFailure is an error as results show it.
func asFailure(err error) *failure {
	var own *failure
	if errors.As(err, &own) {
		return own
	}
	var failed *plimsoll.Error
	if errors.As(err, &failed) {
		return &failure{failed.Code.String(), failed.Field, failed.Message}
	}
	return &failure{"invalid_argument", "", err.Error()}
}

// operation is what a line does: the key of its result, and the value.
type operation func(s *session, cluster *string) (key string, payload any, err error)

// onCluster is an operation on one cluster whose result is that it went well.
func onCluster(run func(*cluster) error) operation {
	return showing("ok", func(c *cluster) (any, error) { return true, run(c) })
}

// showing is an operation on one cluster with a result.
func showing(key string, run func(*cluster) (any, error)) operation {
	return func(s *session, name *string) (string, any, error) {
		cluster, err := s.cluster(name)
		if err != nil {
			return key, nil, err
		}
		payload, err := run(cluster)
		return key, payload, err
	}
}

// operations read the keys of each operation.
var operations = map[string]func(*fields) operation{
	"open":        readOpen,
	"assign":      readAssign,
	"reconfigure": readReconfigure,
	"health":      readHealth,
	"runtime":     readRuntime,
	"advance":     readAdvance,
	"report":      readReport,
	"load":        readLoad,
	"draws":       readDraws,
	"pick":        readPick,
	"peek":        readPeek,
	"done":        readDone,
	"tally":       readTally,
	"worker":      readWorker,
	"explain":     readExplain,
	"show":        readShow,
	"hash":        readHash,
}

// session are the clusters of one replay, by name.
type session struct {
	clusters map[string]*cluster
	// The cluster opened last, the default of all operations.
	last *string
}

func (s *session) close() {
	for _, cluster := range s.clusters {
		cluster.close()
	}
}

func (s *session) execute(line *line) (string, any, error) {
	for _, cluster := range s.clusters {
		if err := cluster.follow(); err != nil {
			return "", nil, err
		}
	}
	return line.run(s, line.cluster)
}

func (s *session) cluster(name *string) (*cluster, error) {
	if name == nil {
		name = s.last
	}
	if name == nil {
		return nil, invalid("cluster", "no cluster is open")
	}
	cluster, ok := s.clusters[*name]
	if !ok {
		return nil, notOpen("cluster", *name)
	}
	return cluster, nil
}

// open puts a cluster in the place of one of its name.
func (s *session) open(name string, opened *cluster) {
	if replaced, ok := s.clusters[name]; ok {
		replaced.close()
	}
	s.clusters[name], s.last = opened, &name
}

func readShow(f *fields) operation {
	parts := map[string]plimsoll.DumpPart{
		"loads": plimsoll.DumpLoads, "hosts": plimsoll.DumpHosts, "localities": plimsoll.DumpLocalities,
		"table": plimsoll.DumpTable, "stats": plimsoll.DumpStats, "snapshot": plimsoll.DumpSnapshot,
	}
	sources := map[string]plimsoll.Source{
		"healthy": plimsoll.SourceHealthy, "degraded": plimsoll.SourceDegraded, "all": plimsoll.SourceAll,
	}
	what, _ := f.keys.values["what"].(string)
	part := need(f, "what", words(parts), wordOf(parts))
	options := &plimsoll.DumpOptions{Priority: f.optional("priority")}
	if source, ok := read(f, "source", words(sources), wordOf(sources)); ok {
		options.Source = &source
	}
	if part != plimsoll.DumpLocalities && part != plimsoll.DumpTable {
		if options.Priority != nil {
			f.fail("priority", "only localities and table have this key")
		}
		if options.Source != nil {
			f.fail("source", "only localities and table have this key")
		}
	}
	return showing(what, func(c *cluster) (any, error) {
		dump, err := c.engine.Dump(part, options)
		return raw(dump), err
	})
}
