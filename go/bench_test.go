package plimsoll_test

import (
	"fmt"
	"testing"

	"plimsoll.example/plimsoll"
	"plimsoll.example/plimsoll/internal/capi"
)

// benchmarked is a cluster of 1000 hosts in 10 localities.
func benchmarked(b *testing.B) *plimsoll.Cluster {
	b.Helper()
	cluster := opened(b, "name: bench\nlb_policy: ROUND_ROBIN\n", nil)
	var changes []plimsoll.Change
	for i := range 1000 {
		changes = append(changes, plimsoll.Upsert(plimsoll.HostSpec{
			Address:  fmt.Sprintf("10.0.%d.%d:80", i/250, i%250),
			Locality: plimsoll.Locality{Zone: fmt.Sprint(i % 10)},
			Weight:   uint32(1 + i%7),
		}))
	}
	must[plimsoll.Applied](b)(cluster.Update(changes...))
	return cluster
}

// balancer is what clusters and workers have in common.
type balancer interface {
	Pick(context *plimsoll.PickContext) (plimsoll.Pick, error)
	PickBatch(context *plimsoll.PickContext, picks []plimsoll.Pick) (int, error)
	Address(pick plimsoll.Pick) string
	Done(pick plimsoll.Pick, outcome plimsoll.Outcome) error
	DoneBatch(picks []plimsoll.Pick, outcome plimsoll.Outcome) error
}

// The way of a request, in each manner. They are named as in docs/performance.md.
var manners = []struct {
	name string
	// How many requests each run has.
	requests int
	run      func(balancer, *plimsoll.PickContext, []plimsoll.Pick)
}{
	{"pick, uncounted", 1, func(from balancer, uncounted *plimsoll.PickContext, _ []plimsoll.Pick) {
		from.Pick(uncounted)
	}},
	{"pick, uncounted, address", 1, func(from balancer, uncounted *plimsoll.PickContext, _ []plimsoll.Pick) {
		pick, _ := from.Pick(uncounted)
		from.Address(pick)
	}},
	{"pick + done", 1, func(from balancer, _ *plimsoll.PickContext, _ []plimsoll.Pick) {
		pick, _ := from.Pick(nil)
		from.Done(pick, plimsoll.Success)
	}},
	{"64 a batch, uncounted", 64, func(from balancer, uncounted *plimsoll.PickContext, picks []plimsoll.Pick) {
		from.PickBatch(uncounted, picks)
	}},
	{"64 a batch, pick + done", 64, func(from balancer, _ *plimsoll.PickContext, picks []plimsoll.Pick) {
		from.PickBatch(nil, picks)
		from.DoneBatch(picks, plimsoll.Success)
	}},
}

func BenchmarkBalancing(b *testing.B) {
	for _, kind := range []string{"cluster", "worker"} {
		for _, manner := range manners {
			b.Run(kind+"/"+manner.name, func(b *testing.B) {
				cluster := benchmarked(b)
				var from balancer = cluster
				if kind == "worker" {
					from = working(b, cluster)
				}
				uncounted, picks := &plimsoll.PickContext{Uncounted: true}, make([]plimsoll.Pick, 64)
				for b.Loop() {
					manner.run(from, uncounted, picks)
				}
				perRequest(b, manner.requests)
			})
		}
	}
}

// With -cpu 1,2,… this is the throughput by threads.
func BenchmarkThreads(b *testing.B) {
	for _, manner := range manners {
		b.Run(manner.name, func(b *testing.B) {
			cluster := benchmarked(b)
			b.RunParallel(func(loop *testing.PB) {
				uncounted, picks := &plimsoll.PickContext{Uncounted: true}, make([]plimsoll.Pick, 64)
				for loop.Next() {
					manner.run(cluster, uncounted, picks)
				}
			})
			perRequest(b, manner.requests)
		})
	}
}

func perRequest(b *testing.B, requests int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(requests), "ns/request")
	b.ReportMetric(0, "ns/op")
}

// What the way from Go into C and back takes, and nothing else.
func BenchmarkCrossing(b *testing.B) {
	for b.Loop() {
		capi.ABIMatches()
	}
}
