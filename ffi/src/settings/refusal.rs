//! Errors of the engine about settings, with the names of members in place of Envoy's fields.

use plimsoll::config::ConfigError;

use crate::failure::Failure;
use crate::member;

/// What the fields of Envoy's messages are called in the structs.
const RENAMED: [(&str, &str); 13] = [
    ("common_lb_config", ""),
    ("consistent_hashing_lb_config", ""),
    ("zone_aware_lb_config", "zone_aware"),
    ("override_host_sources", "sources"),
    ("metadata", ""),
    ("key", "name"),
    ("slow_start_window", "window_ns"),
    ("oob_reporting_period", "oob_reporting_period_ns"),
    ("blackout_period", "blackout_period_ns"),
    ("weight_expiration_period", "weight_expiration_period_ns"),
    ("weight_update_period", "weight_update_period_ns"),
    ("smoothing_time_constant", "smoothing_time_constant_ns"),
    ("slow_start_config", "slow_start"),
];

/// The error with the member's name.
pub(super) fn named(error: &ConfigError) -> Failure {
    Failure::of_member(&member_of(error.field()), error)
}

fn member_of(field: &str) -> String {
    match field {
        // The settings of zones need not be there for a policy not to go with them.
        "zone_aware_lb_config" => return "settings.locality_routing".to_owned(),
        _ if field.starts_with("override_host") => return override_member(field),
        _ => {}
    }
    // Each policy has its own slow start in Envoy.
    let field = field.find("slow_start_config").map_or(field, |start| &field[start..]);
    member::path("settings", field, &RENAMED)
}

fn override_member(field: &str) -> String {
    let is_in_path = field.contains(".path[");
    // A field of metadata is a message in Envoy, and a text here.
    let field = if is_in_path { field.trim_end_matches(".key") } else { field };
    let member = member::path("settings", field, &RENAMED);
    // Of a source that has nothing Envoy names the source alone.
    if field.ends_with(']') && !is_in_path { member + ".name" } else { member }
}
