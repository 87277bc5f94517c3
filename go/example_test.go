package plimsoll_test

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"time"

	"plimsoll.example/plimsoll"
)

// A cluster of a file, a host that fails, and requests.
func Example() {
	cluster, err := plimsoll.Open(`
name: api
lb_policy: ROUND_ROBIN
load_assignment:
  cluster_name: api
  endpoints:
  - lb_endpoints:
    - endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}
    - endpoint: {address: {socket_address: {address: 10.0.0.2, port_value: 80}}}
`, nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cluster.Close()

	// Something was learnt about a host: the control side, on any goroutine.
	if _, err := cluster.Update(plimsoll.LearnHealth("10.0.0.1:80", plimsoll.HealthEject)); err != nil {
		fmt.Println(err)
	}

	// A request, on any goroutine.
	pick, err := cluster.Pick(nil)
	if err != nil {
		fmt.Println("503:", err)
		return
	}
	fmt.Println("send the request to", cluster.Address(pick))
	cluster.Done(pick, plimsoll.Success)
	// Output: send the request to 10.0.0.2:80
}

// A cluster without a file.
func ExampleConfig_Open() {
	config := plimsoll.Config{
		Name: "api",
		Policy: plimsoll.LeastRequest{
			ChoiceCount: 3,
			SlowStart:   plimsoll.SlowStartConfig{Window: 30 * time.Second},
		},
		Hosts: []plimsoll.HostSpec{
			{Address: "10.0.0.1:80"},
			{Address: "10.0.0.2:80", Weight: 2, Locality: plimsoll.Locality{Zone: "b"}},
		},
	}
	cluster, err := config.Open(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cluster.Close()
	hosts, _ := cluster.Hosts()
	for _, host := range hosts {
		fmt.Printf("%s: weight %d, zone %q, warming up: %v\n",
			host.Address, host.Weight, host.Locality.Zone, host.SlowStart != nil)
	}
	// Output:
	// 10.0.0.1:80: weight 1, zone "", warming up: true
	// 10.0.0.2:80: weight 2, zone "b", warming up: true
}

// Other settings and hosts, in one step.
func ExampleCluster_Configure() {
	config := plimsoll.Config{Name: "api", Hosts: []plimsoll.HostSpec{{Address: "10.0.0.1:80"}}}
	cluster, err := config.Open(nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer cluster.Close()
	config.Policy = plimsoll.Maglev{TableSize: 251}
	config.Hosts = append(config.Hosts, plimsoll.HostSpec{Address: "10.0.0.2:80"})
	if _, err := cluster.Configure(&config); err != nil {
		fmt.Println(err)
	}
	hosts, _ := cluster.Hosts()
	fmt.Println(len(hosts), "hosts")

	config.Policy = plimsoll.Maglev{TableSize: 250}
	_, err = cluster.Configure(&config)
	var failed *plimsoll.Error
	if errors.As(err, &failed) {
		fmt.Println(failed.Field)
	}
	// Output:
	// 2 hosts
	// settings.maglev.table_size
}

func example(policy string) *plimsoll.Cluster {
	cluster, err := plimsoll.Open("name: api\nlb_policy: "+policy+"\n", nil)
	if err != nil {
		panic(err)
	}
	if _, err := cluster.Update(
		plimsoll.Upsert(plimsoll.HostSpec{Address: "10.0.0.1:80"}),
		plimsoll.Upsert(plimsoll.HostSpec{Address: "10.0.0.2:80"}),
		plimsoll.Upsert(plimsoll.HostSpec{Address: "10.0.0.3:80"}),
	); err != nil {
		panic(err)
	}
	return cluster
}

// An error names the value that is at fault.
func ExampleError() {
	_, err := plimsoll.Open("name: api\ncommon_lb_config: {healthy_panic_threshold: {value: 101}}\n", nil)
	if failed, ok := err.(*plimsoll.Error); ok {
		fmt.Println(failed.Code.String(), "in", failed.Field)
	}
	// Output: invalid_argument in common_lb_config.healthy_panic_threshold
}

// Many picks in one call, for 64 requests that come together.
func ExampleCluster_PickBatch() {
	cluster := example("ROUND_ROBIN")
	defer cluster.Close()
	picks := make([]plimsoll.Pick, 64)
	count, err := cluster.PickBatch(nil, picks)
	if err != nil {
		fmt.Println("503:", err)
		return
	}
	picks = picks[:count]
	// … send a request to cluster.Address(pick) for each of them …
	cluster.DoneBatch(picks, plimsoll.Success)
	fmt.Println(count)
	// Output: 64
}

// A second attempt goes elsewhere.
func ExampleCluster_PickAvoiding() {
	cluster := example("RANDOM")
	defer cluster.Close()
	first, _ := cluster.Pick(nil)
	cluster.Done(first, plimsoll.Failure)
	second, _ := cluster.PickAvoiding(&plimsoll.PickContext{Retries: 20}, first)
	cluster.Done(second, plimsoll.Success)
	fmt.Println(first.SameHost(second))
	// Output: false
}

// A filter that looks at what is behind a host.
func ExampleCluster_PickFunc() {
	cluster := example("RANDOM")
	defer cluster.Close()
	type pool struct{ idle int }
	for i := 1; i <= 3; i++ {
		connections := &pool{idle: i - 1}
		released := func() { /* close the connections */ }
		if err := cluster.SetHostData(fmt.Sprintf("10.0.0.%d:80", i), connections, released); err != nil {
			fmt.Println(err)
		}
	}
	pick, _ := cluster.PickFunc(&plimsoll.PickContext{Retries: 100}, func(candidate plimsoll.Pick) bool {
		return cluster.HostData(candidate).(*pool).idle > 1
	})
	fmt.Println(cluster.Address(pick))
	cluster.Done(pick, plimsoll.Success)
	// Output: 10.0.0.3:80
}

// A session stays with its host; a client without a cookie is given one.
func ExampleCluster_Hash() {
	cluster := example("MAGLEV")
	defer cluster.Close()
	route, err := plimsoll.ParseHashPolicies("- cookie: {name: session, ttl: 3600s, path: /}\n")
	if err != nil {
		fmt.Println(err)
		return
	}
	request := &plimsoll.Request{
		Header:        http.Header{"Cookie": {"session=3f2a"}},
		RemoteAddress: "192.0.2.7:4711", LocalAddress: "192.0.2.1:443",
	}
	var context plimsoll.PickContext
	hash, err := cluster.Hash(route, request, func(cookie string) { /* Set-Cookie: cookie */ })
	if err == nil {
		context.Hash, context.Hashed = hash, true
	}
	first, _ := cluster.Pick(&context)
	second, _ := cluster.Pick(&context)
	fmt.Println(first.SameHost(second))
	// Output: true
}

// A response says how busy its host is.
func ExampleCluster_Report() {
	cluster := example("ROUND_ROBIN")
	defer cluster.Close()
	pick, _ := cluster.Pick(nil)
	response := http.Response{Header: http.Header{}}
	response.Header.Set("Endpoint-Load-Metrics", "TEXT rps_fractional=100,cpu_utilization=0.2")
	err := cluster.Report(pick, plimsoll.LoadOf(response.Header, response.Trailer))
	fmt.Println(err)
	cluster.Done(pick, plimsoll.Success)
	// Output: plimsoll: report_not_wanted
}

// The hosts of the next picks, to connect to them in advance.
func ExampleWorker_Peek() {
	cluster := example("RANDOM")
	defer cluster.Close()
	worker, err := cluster.NewWorker()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer worker.Close()
	next, _ := worker.Peek(nil)
	// … open a connection to worker.Address(next) …
	pick, _ := worker.Pick(nil)
	fmt.Println(pick.SameHost(next))
	worker.Done(pick, plimsoll.Success)
	// Output: true
}

// Why a request would go where it would go.
func ExampleCluster_Explain() {
	cluster := example("ROUND_ROBIN")
	defer cluster.Close()
	explanation, err := cluster.Explain(nil, plimsoll.ExplainOptions{})
	if err != nil {
		fmt.Println(err)
		return
	}
	known := []string{"10.0.0.1:80", "10.0.0.2:80", "10.0.0.3:80"}
	fmt.Println(explanation.Policy, explanation.Priority.Source, slices.Contains(known, *explanation.Host))
	// Output: round_robin healthy true
}
