package plimsoll_test

import (
	"fmt"
	"testing"

	"plimsoll.example/plimsoll"
)

// benchmarked is a cluster of 1000 hosts in 10 localities.
func benchmarked(b *testing.B) *plimsoll.Cluster {
	b.Helper()
	seed := uint64(1)
	cluster, err := plimsoll.Open("name: bench\nlb_policy: ROUND_ROBIN\n", &plimsoll.Options{Seed: &seed})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { cluster.Close() })
	var changes []plimsoll.Change
	for i := range 1000 {
		changes = append(changes, plimsoll.Upsert(plimsoll.HostSpec{
			Address:  fmt.Sprintf("10.0.%d.%d:80", i/250, i%250),
			Locality: plimsoll.Locality{Zone: fmt.Sprint(i % 10)},
			Weight:   uint32(1 + i%7),
		}))
	}
	if _, err := cluster.Update(changes...); err != nil {
		b.Fatal(err)
	}
	return cluster
}

func BenchmarkClusterPickDone(b *testing.B) {
	cluster := benchmarked(b)
	for b.Loop() {
		pick, _ := cluster.Pick(nil)
		cluster.Done(pick, plimsoll.Success)
	}
}

func BenchmarkClusterPickUncounted(b *testing.B) {
	cluster := benchmarked(b)
	context := &plimsoll.PickContext{Uncounted: true}
	for b.Loop() {
		cluster.Pick(context)
	}
}

func BenchmarkWorkerPickUncounted(b *testing.B) {
	worker, err := benchmarked(b).NewWorker()
	if err != nil {
		b.Fatal(err)
	}
	defer worker.Close()
	context := &plimsoll.PickContext{Uncounted: true}
	for b.Loop() {
		worker.Pick(context)
	}
}

func BenchmarkWorkerPickDone(b *testing.B) {
	worker, err := benchmarked(b).NewWorker()
	if err != nil {
		b.Fatal(err)
	}
	defer worker.Close()
	for b.Loop() {
		pick, _ := worker.Pick(nil)
		worker.Done(pick, plimsoll.Success)
	}
}

func BenchmarkWorkerPickBatch64Uncounted(b *testing.B) {
	worker, err := benchmarked(b).NewWorker()
	if err != nil {
		b.Fatal(err)
	}
	defer worker.Close()
	context := &plimsoll.PickContext{Uncounted: true}
	picks := make([]plimsoll.Pick, 64)
	for b.Loop() {
		worker.PickBatch(context, picks)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/pick")
}

func BenchmarkWorkerPickBatch64Done(b *testing.B) {
	worker, err := benchmarked(b).NewWorker()
	if err != nil {
		b.Fatal(err)
	}
	defer worker.Close()
	picks := make([]plimsoll.Pick, 64)
	for b.Loop() {
		worker.PickBatch(nil, picks)
		worker.DoneBatch(picks, plimsoll.Success)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/pick")
}

func BenchmarkClusterPickBatch64Uncounted(b *testing.B) {
	cluster := benchmarked(b)
	context := &plimsoll.PickContext{Uncounted: true}
	picks := make([]plimsoll.Pick, 64)
	for b.Loop() {
		cluster.PickBatch(context, picks)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/64, "ns/pick")
}

func BenchmarkClusterPickDoneParallel(b *testing.B) {
	cluster := benchmarked(b)
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			pick, _ := cluster.Pick(nil)
			cluster.Done(pick, plimsoll.Success)
		}
	})
}
