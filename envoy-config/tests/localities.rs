//! How traffic divides among localities: what arrives from a policy's own message and from the
//! older fields of `common_lb_config`, and what is refused there. `locality_policies.rs` has the
//! policies of which that is the whole business.

use plimsoll::config::{ConfigError, LocalityBasis, LocalityRouting, ZoneAware};
use plimsoll_envoy_config::cluster_from_value;
use serde_json::{Value, json};

/// The policies whose own message has a `locality_lb_config`.
const POLICIES: [&str; 3] =
    ["round_robin.v3.RoundRobin", "least_request.v3.LeastRequest", "random.v3.Random"];
/// The same by the older field.
const OLDER_POLICIES: [&str; 3] = ["ROUND_ROBIN", "LEAST_REQUEST", "RANDOM"];

const TYPED_CONFIG: &str = "load_balancing_policy.policies[0].typed_extension_config.typed_config";
const OUTSIDE_0_TO_100: &str = "PercentValidationError.Value: value must be inside range [0, 100]";

/// A cluster, and the path of what it says about localities.
type Place = (Value, String);

fn own_places(localities: &Value) -> Vec<Place> {
    let places = POLICIES.map(|policy| {
        let url = format!("t/envoy.extensions.load_balancing_policies.{policy}");
        let settings = json!({"locality_lb_config": localities});
        let mut inline = settings.clone();
        inline["@type"] = json!(url);
        let within =
            json!({"@type": "t/xds.type.v3.TypedStruct", "type_url": url, "value": settings});
        [(inline, ""), (within, ".value")].map(|(config, below)| {
            let cluster = json!({"name": "api", "load_balancing_policy": {"policies": [
                {"typed_extension_config": {"name": "any", "typed_config": config}}
            ]}});
            (cluster, format!("{TYPED_CONFIG}{below}.locality_lb_config"))
        })
    });
    places.into_iter().flatten().collect()
}

fn older_places(localities: &Value) -> Vec<Place> {
    let place = |policy: &str| {
        let cluster = json!({"name": "api", "lb_policy": policy, "common_lb_config": localities});
        (cluster, "common_lb_config".to_owned())
    };
    OLDER_POLICIES.map(place).into()
}

fn every_place(localities: &Value) -> Vec<Place> {
    [own_places(localities), older_places(localities)].concat()
}

/// How traffic divides, and whether panic fails it.
fn read(cluster: &Value) -> Result<(LocalityRouting, bool), ConfigError> {
    let config = cluster_from_value(cluster)?.config;
    Ok((config.locality_routing, config.fail_traffic_on_panic))
}

fn check_accepted(places: Vec<Place>, routing: &LocalityRouting, fail_traffic_on_panic: bool) {
    for (cluster, _) in places {
        let expected = (routing.clone(), fail_traffic_on_panic);
        assert_eq!(read(&cluster), Ok(expected), "{cluster}");
    }
}

fn check_refused(places: Vec<Place>, field: &str, message: &str) {
    for (cluster, path) in places {
        let error = read(&cluster).expect_err(&cluster.to_string());
        assert_eq!(error.field(), format!("{path}{field}"), "{cluster}");
        assert_eq!(error.to_string(), message, "{cluster}");
    }
}

fn zone_aware(settings: Value) -> Value {
    json!({"zone_aware_lb_config": settings})
}

#[test]
fn nothing_said_leaves_localities_alone() {
    for (mut cluster, _) in every_place(&Value::Null) {
        assert_eq!(read(&cluster), Ok((LocalityRouting::Unset, false)), "{cluster}");
        cluster["common_lb_config"] = json!({"healthy_panic_threshold": {"value": 1}});
        assert_eq!(read(&cluster), Ok((LocalityRouting::Unset, false)), "{cluster}");
    }
}

#[test]
fn zone_aware_routing_has_envoys_defaults_in_every_place() {
    let expected = ZoneAware {
        routing_enabled: 100.0,
        min_cluster_size: 6,
        force_local_zone: None,
        locality_basis: LocalityBasis::HealthyHostsNum,
    };
    let expected = LocalityRouting::ZoneAware(expected);
    for settings in [
        json!({}),
        json!({
            "routing_enabled": null, "min_cluster_size": null, "fail_traffic_on_panic": null
        }),
    ] {
        check_accepted(every_place(&zone_aware(settings)), &expected, false);
    }
}

#[test]
fn the_fields_that_both_places_have_arrive_from_both() {
    for (settings, expected) in [
        (
            json!({"routing_enabled": {"value": 12.5}}),
            ZoneAware { routing_enabled: 12.5, ..ZoneAware::default() },
        ),
        (
            json!({"routing_enabled": {}}),
            ZoneAware { routing_enabled: 0.0, ..ZoneAware::default() },
        ),
        (
            json!({"min_cluster_size": "18446744073709551615"}),
            ZoneAware { min_cluster_size: u64::MAX, ..ZoneAware::default() },
        ),
        (json!({"minClusterSize": 0}), ZoneAware { min_cluster_size: 0, ..ZoneAware::default() }),
        (
            json!({"routingEnabled": {"value": 100}, "min_cluster_size": 3}),
            ZoneAware { min_cluster_size: 3, ..ZoneAware::default() },
        ),
    ] {
        for fail in [false, true] {
            let mut settings = settings.clone();
            settings["fail_traffic_on_panic"] = json!(fail);
            let expected = LocalityRouting::ZoneAware(expected.clone());
            check_accepted(every_place(&zone_aware(settings)), &expected, fail);
        }
    }
}

//= envoy v1.40 source/extensions/load_balancing_policies/common/load_balancer_impl.cc#ZoneAwareLoadBalancerBase::ZoneAwareLoadBalancerBase
#[test]
fn the_field_that_forces_the_local_zone_wins_over_the_older_one() {
    for (settings, force_local_zone) in [
        (json!({"force_locality_direct_routing": false}), None),
        (json!({"force_locality_direct_routing": true}), Some(1)),
        (json!({"force_local_zone": null}), None),
        (json!({"force_local_zone": {}}), Some(1)),
        (json!({"force_local_zone": {"min_size": null}}), Some(1)),
        (json!({"force_local_zone": {"min_size": 0}}), Some(0)),
        (json!({"forceLocalZone": {"minSize": 7}}), Some(7)),
        (json!({"force_local_zone": {"min_size": 4_294_967_295_u32}}), Some(u32::MAX)),
        (json!({"force_local_zone": null, "force_locality_direct_routing": true}), Some(1)),
        (json!({"force_local_zone": {}, "force_locality_direct_routing": true}), Some(1)),
        (
            json!({"force_local_zone": {"min_size": 5}, "force_locality_direct_routing": true}),
            Some(5),
        ),
        (
            json!({"force_local_zone": {"min_size": 0}, "force_locality_direct_routing": true}),
            Some(0),
        ),
    ] {
        let expected = ZoneAware { force_local_zone, ..ZoneAware::default() };
        let places = own_places(&zone_aware(settings));
        check_accepted(places, &LocalityRouting::ZoneAware(expected), false);
    }
}

#[test]
fn localities_are_compared_by_hosts_or_by_weight() {
    for (basis, locality_basis) in [
        (json!("HEALTHY_HOSTS_NUM"), LocalityBasis::HealthyHostsNum),
        (json!(0), LocalityBasis::HealthyHostsNum),
        (json!(null), LocalityBasis::HealthyHostsNum),
        (json!("HEALTHY_HOSTS_WEIGHT"), LocalityBasis::HealthyHostsWeight),
        (json!(1), LocalityBasis::HealthyHostsWeight),
    ] {
        let expected = ZoneAware { locality_basis, ..ZoneAware::default() };
        let places = own_places(&zone_aware(json!({"locality_basis": basis})));
        check_accepted(places, &LocalityRouting::ZoneAware(expected), false);
    }
}

#[test]
fn localities_are_weighted_from_every_place() {
    for localities in [
        json!({"locality_weighted_lb_config": {}}),
        json!({"localityWeightedLbConfig": {}, "zone_aware_lb_config": null}),
    ] {
        check_accepted(every_place(&localities), &LocalityRouting::Weighted, false);
    }
}

#[test]
fn a_wrong_setting_is_refused_in_every_place() {
    let not_a_percentage = "expected a percentage such as {\"value\": 50}";
    for (settings, field, message) in [
        (json!(1), "", "expected an object"),
        (json!({"routing_enabled": 100}), ".routing_enabled", not_a_percentage),
        (json!({"routing_enabled": {"value": 100.5}}), ".routing_enabled", OUTSIDE_0_TO_100),
        (json!({"routing_enabled": {"value": -1}}), ".routing_enabled", OUTSIDE_0_TO_100),
        (
            json!({"routing_enabled": {"value": "NaN"}}),
            ".routing_enabled",
            "Value not in the range of 0..100 range.",
        ),
        (
            json!({"min_cluster_size": -1}),
            ".min_cluster_size",
            "expected an integer from 0 to 18446744073709551615",
        ),
        (json!({"fail_traffic_on_panic": 1}), ".fail_traffic_on_panic", "expected true or false"),
        (json!({"min_size": 1}), ".min_size", "no such field: min_size"),
        (
            json!({"minClusterSize": 1, "min_cluster_size": 1}),
            ".min_cluster_size",
            "value appears twice",
        ),
    ] {
        let field = format!(".zone_aware_lb_config{field}");
        check_refused(every_place(&zone_aware(settings)), &field, message);
    }
    for (localities, message) in [
        (json!({"locality_weighted_lb_config": true}), "expected an object"),
        (
            json!({"locality_weighted_lb_config": {}, "zone_aware_lb_config": {}}),
            "locality_weighted_lb_config cannot be set together with zone_aware_lb_config",
        ),
    ] {
        check_refused(every_place(&localities), ".locality_weighted_lb_config", message);
    }
    check_refused(
        every_place(&json!({"locality_weighted_lb_config": {"weight": 1}})),
        ".locality_weighted_lb_config.weight",
        "no such field: weight",
    );
}

#[test]
fn a_policys_own_message_has_more_fields_and_its_own_mistakes() {
    let min_size = "expected an integer from 0 to 4294967295";
    let basis = "expected HEALTHY_HOSTS_NUM or HEALTHY_HOSTS_WEIGHT";
    for (settings, field, message) in [
        (
            json!({"force_locality_direct_routing": 1}),
            "force_locality_direct_routing",
            "expected true or false",
        ),
        (json!({"force_local_zone": 1}), "force_local_zone", "expected an object"),
        (json!({"force_local_zone": {"min_size": -1}}), "force_local_zone.min_size", min_size),
        (
            json!({"force_local_zone": {"max_size": 1}}),
            "force_local_zone.max_size",
            "no such field: max_size",
        ),
        (json!({"locality_basis": 2}), "locality_basis", basis),
        (json!({"locality_basis": "healthy_hosts_num"}), "locality_basis", basis),
    ] {
        let field = format!(".zone_aware_lb_config.{field}");
        check_refused(own_places(&zone_aware(settings)), &field, message);
    }
    for field in ["force_locality_direct_routing", "force_local_zone", "locality_basis"] {
        let message = format!("no such field: {field}");
        let path = format!(".zone_aware_lb_config.{field}");
        check_refused(older_places(&zone_aware(json!({field: null}))), &path, &message);
    }
    check_refused(own_places(&json!({})), "", "value is required");
    check_refused(own_places(&zone_aware(Value::Null)), "", "value is required");
}
