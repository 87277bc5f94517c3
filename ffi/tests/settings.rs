//! What structs say is what Envoy's text says, and mistakes in them are named by their members.

// The conversion reads what C points to.
#![allow(unsafe_code)]

mod support;

#[path = "settings/cases.rs"]
mod cases;
#[path = "settings/header.rs"]
mod header;
#[path = "settings/host_mistakes.rs"]
mod host_mistakes;
#[path = "settings/hosts.rs"]
mod hosts;
#[path = "settings/mistakes.rs"]
mod mistakes;

use cases::{Case, Policy, Routing};
use plimsoll_envoy_config::parse_cluster;
use plimsoll_ffi::settings::{ClusterSettings, engine_config};

/// Compares what the text and the struct of a case become.
fn assert_same(case: &Case, policy: &Policy, routing: &Routing) -> bool {
    let Some(text) = case.text(policy, routing) else { return false };
    let expected = parse_cluster(&text).unwrap_or_else(|error| panic!("{error}: {text}")).config;
    let mut settings = ClusterSettings::default();
    case.apply(&mut settings, policy, routing);
    // SAFETY: the case keeps what the settings point to.
    let config = unsafe { engine_config(&settings) };
    let config = config.unwrap_or_else(|failure| panic!("{failure:?}: {text}"));
    assert_eq!(config, expected, "{text}");
    true
}

#[test]
fn structs_say_what_texts_say() {
    let common = cases::common();
    let mut compared = 0_usize;
    for policy in &cases::policies() {
        for routing in &cases::routings() {
            // Each setting besides policy and routing with each of them, but not with all of both.
            let rest = common.iter().cycle().skip(compared);
            for case in rest.take(3) {
                compared += usize::from(assert_same(case, policy, routing));
            }
        }
    }
    let (policies, routings) = (cases::policies(), cases::routings());
    for case in &common {
        for routing in &routings {
            compared += usize::from(assert_same(case, &policies[0], routing));
        }
        for policy in &policies {
            compared += usize::from(assert_same(case, policy, &routings[0]));
        }
    }
    assert!(compared > 5_000, "{compared} cases say little");
}
