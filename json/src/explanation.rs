//! Why a pick goes where it goes.

use plimsoll::config::Behavior;
use plimsoll::{Explanation, LocalityDecision, PriorityDecision};
use serde_json::{Value, json};

use crate::parts::{locality, percent, slow_start};

/// The decisions of one pick.
#[must_use]
pub fn explanation(explanation: &Explanation) -> Value {
    let host = explanation.host.as_ref().ok();
    json!({
        "snapshot": explanation.snapshot,
        "draw": explanation.draw,
        "priority": explanation.priority.as_ref().map(|choice| decision(choice, explanation.behavior)),
        "locality": explanation.locality.as_ref().map(locality_decision),
        "policy": explanation.policy.name(),
        "host": host.map(|host| host.address.as_str()),
        "weight": host.map(|host| host.weight),
        "effective_weight": host.map(|host| host.effective_weight),
        "slow_start": host.and_then(|host| host.slow_start.as_ref()).map(slow_start),
        "why": explanation.why,
    })
}

fn locality_decision(decision: &LocalityDecision) -> Value {
    json!({
        "why": format!("{} of {} localities", decision.chosen, decision.weights.len()),
        "weights": decision.weights,
        "chosen": locality(&decision.chosen),
    })
}

fn decision(choice: &PriorityDecision, behavior: Behavior) -> Value {
    let percents =
        |loads: &[f64]| loads.iter().map(|&load| percent(load, behavior)).collect::<Value>();
    json!({
        "hash": choice.hash,
        "healthy": percents(&choice.healthy_load),
        "degraded": percents(&choice.degraded_load),
        "chosen": choice.chosen,
        "source": choice.source.name(),
        "panic": choice.panic,
    })
}
