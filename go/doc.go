// Package plimsoll chooses which host the next request goes to.
//
// It is a Go layer over the C library of the same name, which does what Envoy 1.40's upstream load
// balancing does, exactly with [BehaviorEnvoy] and better with [BehaviorNative], the default. Hosts,
// their health and their load reports go in; a host for each request comes out, in nanoseconds. It
// opens no connections, checks no health and resolves no names: it is for programs that balance
// calls themselves, as a proxy or a client does.
//
// # A balancer
//
// [Open] takes Envoy's own Cluster message, in YAML or JSON; [Config.Open] takes a struct instead.
// Every goroutine may pick from the cluster, and says when its request is over:
//
//	pick, err := cluster.Pick(nil)
//	if err != nil {
//		return err // no host: plimsoll.ErrNoHost and its like
//	}
//	response, err := send(request, cluster.Address(pick))
//	cluster.Done(pick, plimsoll.OutcomeOf(err))
//
// The library reads no clock. [Cluster.Run] ticks every now and then, which slow start, load reports
// and the release of what is not used any more depend on; a program with a timer of its own calls
// [Cluster.Tick].
//
// # Clusters and workers
//
// The library picks through workers, each for one thread at a time. A [Cluster] lends one of its own
// to every call, so that any number of goroutines may use it. A goroutine that picks in a loop may
// have a [Worker] to itself, which saves finding one, and which alone can look ahead ([Worker.Peek]).
//
// A call of C costs more than a pick. [Cluster.PickBatch] makes many picks in one call, and
// [Cluster.DoneBatch] ends many requests.
//
// # Lifetime
//
// [Cluster.Close] and [Worker.Close] free what the library holds, and may be called while other
// goroutines are in the middle of a call, which then comes to its end; later ones give [ErrClosed].
// What is forgotten is freed when the garbage collector finds it. Open clusters after a fork.
//
// # Errors
//
// Calls about requests fail with a [Code], such as [ErrNoHost], or with [ErrClosed]. Control calls fail
// with an [*Error], which also says which value is at fault and why, or with [ErrClosed]; [errors.Is]
// finds the code in it. So does any call for a nil that it cannot do without.
//
// # Linking
//
// The package finds the library through pkg-config. Without tags it is linked as a shared library,
// with the tag plimsoll_static as a part of the program, and with plimsoll_tree from build/lib of
// Plimsoll's source tree. See docs/go-api.md there.
package plimsoll
