package plimsoll

import (
	"fmt"

	"plimsoll.example/plimsoll/internal/capi"
)

// PrometheusOptions say how much a scrape may hold of each cluster.
type PrometheusOptions struct {
	// MaxHosts is how many hosts at most get samples of their own, the first ones by priority, then in
	// the assignment's order; the rest is counted. 0: none, and no count.
	MaxHosts uint32
	// MaxLocalities is how many localities of each priority at most. 0: none, and no count.
	MaxLocalities uint32
}

// Prometheus is what clusters count and how they stand, in Prometheus' text format. All clusters of a
// scrape go into one call, because each family of metrics may stand in a scrape only once; their names
// are the label cluster, and ought to differ. The figures are those of [Cluster.Stats], zeroes
// included, after plimsoll_, with _ for dots.
//
// It fails with [ErrPoisoned], [ErrClosed], or [ErrInvalidArgument] for a cluster that is nil.
func Prometheus(options PrometheusOptions, clusters ...*Cluster) (string, error) {
	handles := make([]capi.Cluster, len(clusters))
	for i, cluster := range clusters {
		if cluster == nil {
			return "", missing(fmt.Sprintf("clusters[%d]", i))
		}
		if !cluster.lifetime.enter() {
			return "", ErrClosed
		}
		defer cluster.leave()
		handles[i] = cluster.handle
	}
	text, status := capi.Prometheus(handles, options.MaxHosts, options.MaxLocalities)
	return text, answer(status)
}
