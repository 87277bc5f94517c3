package plimsoll_test

import (
	"strings"
	"testing"

	"plimsoll.example/plimsoll"
)

func TestAScrapeHoldsAllClustersAndSoManyHosts(t *testing.T) {
	first, second := opened(t, configured("ROUND_ROBIN", 3), nil), opened(t,
		strings.ReplaceAll(configured("RANDOM", 1), "api", "other"), nil)
	scrape := must[string](t)(plimsoll.Prometheus(plimsoll.PrometheusOptions{MaxHosts: 2}, first, second))
	for _, wanted := range []string{
		`plimsoll_membership_healthy{cluster="api"} 3`, `plimsoll_membership_healthy{cluster="other"} 1`, `"10.0.0.2:80"`,
	} {
		if !strings.Contains(scrape, wanted) {
			t.Errorf("%s is not in\n%s", wanted, scrape)
		}
	}
	if strings.Contains(scrape, `"10.0.0.3:80"`) {
		t.Error("a third host has samples of its own")
	}
	if empty := must[string](t)(plimsoll.Prometheus(plimsoll.PrometheusOptions{})); strings.Contains(empty, "cluster=") {
		t.Errorf("a scrape of nothing is %q", empty)
	}
	ok(t, second.Close())
	if _, err := plimsoll.Prometheus(plimsoll.PrometheusOptions{}, first, second); err != plimsoll.ErrClosed {
		t.Errorf("a scrape of a closed cluster gives %v", err)
	}
}
