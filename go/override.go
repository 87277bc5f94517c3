package plimsoll

import "plimsoll.example/plimsoll/internal/capi"

// OverrideKind is a kind of place in a request.
type OverrideKind uint32

const (
	// OverrideHeader is the first value of a header.
	OverrideHeader OverrideKind = capi.OverrideHeader
	// OverrideMetadata is a text in the request's dynamic metadata.
	OverrideMetadata OverrideKind = capi.OverrideMetadata
	// OverrideSelectedHost is no source, but where the address of the picked host is to be written, in
	// dynamic metadata.
	OverrideSelectedHost OverrideKind = capi.OverrideSelectedHost
)

// OverrideSource is a place of a request where the policy override_host looks for addresses.
type OverrideSource struct {
	// Kind is what kind of place it is.
	Kind OverrideKind
	// Name is that of the header, or the namespace in metadata, such as envoy.lb.
	Name string
	// Path are the fields of metadata that lead to the text, from the outside in.
	Path []string
}

// OverrideSources are the places of a request where the cluster's policy override_host looks for
// addresses, in order, and last the place where the address of the picked host is to be written, if
// there is one; none without such a policy. What stands there goes to [Cluster.PickOverride]. Ask again
// after [Cluster.Reload] and [Cluster.Configure].
func (c *Cluster) OverrideSources() ([]OverrideSource, error) {
	var sources []OverrideSource
	err := c.look(func(cluster capi.Cluster) error {
		found, failure := cluster.OverrideSources()
		for _, source := range found {
			sources = append(sources, OverrideSource{OverrideKind(source.Kind), source.Name, source.Path})
		}
		return failed(failure)
	})
	return sources, err
}
