package plimsoll_test

import (
	"slices"
	"testing"

	"plimsoll.example/plimsoll"
)

func TestWhereTheAddressesOfAnOverrideStand(t *testing.T) {
	const config = `name: api
load_balancing_policy: {policies: [{typed_extension_config: {
  name: envoy.load_balancing_policies.override_host,
  typed_config: {
    "@type": type.googleapis.com/envoy.extensions.load_balancing_policies.override_host.v3.OverrideHost,
    override_host_sources: [{header: x-host}, {metadata: {key: envoy.lb, path: [{key: a}, {key: b}]}}],
    fallback_policy: {policies: [{typed_extension_config: {
      name: envoy.load_balancing_policies.random,
      typed_config: {"@type": type.googleapis.com/envoy.extensions.load_balancing_policies.random.v3.Random}}}]}}}}]}
`
	sources := must[[]plimsoll.OverrideSource](t)(opened(t, config, nil).OverrideSources())
	if len(sources) != 2 || sources[0].Kind != plimsoll.OverrideHeader || sources[0].Name != "x-host" ||
		sources[1].Kind != plimsoll.OverrideMetadata || sources[1].Name != "envoy.lb" ||
		!slices.Equal(sources[1].Path, []string{"a", "b"}) {
		t.Errorf("the sources are %+v", sources)
	}
	if none := must[[]plimsoll.OverrideSource](t)(opened(t, "name: api\n", nil).OverrideSources()); len(none) != 0 {
		t.Errorf("without the policy there are %+v", none)
	}
}
