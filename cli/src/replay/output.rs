//! Results as JSON: their keys in the documented order, and numbers in the documented form.

use std::io;
use std::time::Duration;

use super::reports::Refused;
use super::session::invalid;
use plimsoll::config::Behavior;
use plimsoll::{
    Cluster, Error, Explanation, HostView, Locality, LocalityDecision, LocalityRoute,
    PriorityDecision, Routes, Source, View, Warmup,
};
use serde::Serialize;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Map, Value, json};

/// What an operation that failed gives.
pub(crate) fn refused(refused: &Refused) -> Value {
    match refused {
        Refused::Error(error) => {
            json!({"code": error.code(), "field": error.field(), "message": error.to_string()})
        }
        Refused::Unreadable(message) => {
            json!({"code": "report_rejected", "field": "", "message": message})
        }
    }
}

/// A value as results have it: no spaces, floats as [`Floats`] says.
pub(crate) fn text(value: &Value) -> String {
    let mut text = Vec::new();
    // A value has string keys only, and a vector takes everything.
    let written = value.serialize(&mut Serializer::with_formatter(&mut text, Floats));
    debug_assert!(written.is_ok(), "{written:?}");
    String::from_utf8_lossy(&text).into_owned()
}

/// Floats in the shortest form that reads back equal, always with a point or an exponent: an
/// exponent below 1e-5 and from 1e16 on. `serde_json` has had several forms of its own.
struct Floats;

impl Formatter for Floats {
    fn write_f64<W: ?Sized + io::Write>(&mut self, writer: &mut W, value: f64) -> io::Result<()> {
        // Between these two, `Debug` already has an exponent; elsewhere it agrees.
        if (1e-5..1e-4).contains(&value.abs()) {
            write!(writer, "{value}")
        } else {
            write!(writer, "{value:?}")
        }
    }
}

/// The loads of every priority, in percent.
pub(crate) fn loads(view: &View) -> Value {
    let behavior = view.config().behavior;
    let (mut healthy, mut degraded, mut panic) = (Vec::new(), Vec::new(), Vec::new());
    for priority in view.priorities() {
        healthy.push(percent(priority.healthy_load, behavior));
        degraded.push(percent(priority.degraded_load, behavior));
        panic.push(Value::Bool(priority.panic));
    }
    json!({"healthy": healthy, "degraded": degraded, "panic": panic})
}

/// Envoy's loads are whole percents.
fn percent(load: f64, behavior: Behavior) -> Value {
    match behavior {
        Behavior::Native => json!(load),
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "from 0 to 100"
        )]
        Behavior::Envoy => json!(load.round() as u64),
    }
}

/// All hosts.
pub(crate) fn hosts(view: &View) -> Value {
    view.hosts().iter().map(host).collect()
}

fn host(view: &HostView<'_>) -> Value {
    json!({
        "address": view.host.address().as_str(),
        "priority": view.host.priority(),
        "locality": locality(view.host.locality()),
        "health": view.host.health().to_string(),
        "weight": view.host.weight(),
        "effective_weight": view.effective_weight,
        "active": view.active,
        "utilization": view.load.map(|load| load.utilization),
        "report_age_ms": view.load.map(|load| milliseconds(load.age)),
        "slow_start": view.slow_start.as_ref().map(slow_start),
    })
}

/// How the traffic of each priority and source divides among localities.
pub(crate) fn localities(view: &View, priority: Option<u64>, source: Option<Source>) -> Value {
    let mut shown = Vec::new();
    for (index, view) in (0..).zip(view.priorities()) {
        for kind in [Source::Healthy, Source::Degraded, Source::All] {
            if priority.is_none_or(|it| it == index) && source.is_none_or(|it| it == kind) {
                shown.push(routes(index, kind, &view.routes(kind)));
            }
        }
    }
    shown.into()
}

/// The hosts of a hash table by place.
pub(crate) fn table(view: &View, priority: u64, source: Source) -> Result<Value, Error> {
    let index = usize::try_from(priority).unwrap_or(usize::MAX);
    let view = view.priorities().nth(index);
    let view =
        view.ok_or_else(|| invalid("priority", format!("there is no priority {priority}")))?;
    Ok(view.hash_table(source).map(|host| json!(host.address().as_str())).collect())
}

fn routes(priority: u64, source: Source, routes: &Routes<'_>) -> Value {
    let locality = |route: &LocalityRoute<'_>| {
        json!({
            "region": route.locality.region,
            "zone": route.locality.zone,
            "sub_zone": route.locality.sub_zone,
            "hosts": route.hosts,
            "utilization": route.utilization,
            "weight": route.weight,
        })
    };
    json!({
        "priority": priority,
        "source": source.name(),
        "all_local": routes.all_local,
        "localities": routes.localities.iter().map(locality).collect::<Value>(),
    })
}

fn milliseconds(age: Duration) -> u64 {
    u64::try_from(age.as_millis()).unwrap_or(u64::MAX)
}

fn slow_start(warmup: &Warmup) -> Value {
    json!({"factor": warmup.factor, "seconds_left": warmup.seconds_left})
}

fn locality(locality: &Locality) -> Value {
    json!({
        "region": locality.region,
        "zone": locality.zone,
        "sub_zone": locality.sub_zone,
    })
}

/// All counters and gauges.
pub(crate) fn stats(cluster: &Cluster) -> Result<Value, Error> {
    let stats = cluster.stats()?;
    let entries = stats.iter().map(|(name, value)| (name.to_owned(), json!(value)));
    Ok(Value::Object(entries.collect::<Map<_, _>>()))
}

/// Which snapshot is the newest, how many there were, and what was built for them; in `envoy`, how
/// many tables Envoy would have built.
pub(crate) fn snapshot(cluster: &Cluster) -> Result<Value, Error> {
    let version = cluster.view().version();
    let stats = cluster.stats()?;
    let tables = match cluster.view().config().behavior {
        Behavior::Native => stats.get("plimsoll.tables_built"),
        Behavior::Envoy => stats.get("plimsoll.tables_built_as_envoy"),
    };
    Ok(json!({
        "version": version,
        "published": stats.get("plimsoll.snapshots_published"),
        "live": stats.get("plimsoll.snapshots_live"),
        "built": {"tables": tables, "schedulers": stats.get("plimsoll.schedulers_built")},
    }))
}

/// Why a pick goes where it goes.
pub(crate) fn explanation(explanation: &Explanation, behavior: Behavior) -> Value {
    let host = explanation.host.as_ref().ok();
    json!({
        "snapshot": explanation.snapshot,
        "draw": explanation.draw,
        "priority": explanation.priority.as_ref().map(|choice| decision(choice, behavior)),
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn floats_have_a_point_or_an_exponent_and_read_back_equal() {
        for (value, expected) in [
            (1.0, "1.0"),
            (0.1, "0.1"),
            (-0.0, "-0.0"),
            (33.333_333_333_333_336, "33.333333333333336"),
            (1e-4, "0.0001"),
            (1.5e-5, "0.000015"),
            (1e-5, "0.00001"),
            (9.9e-6, "9.9e-6"),
            (1e-7, "1e-7"),
            (5e-324, "5e-324"),
            (9.99e15, "9990000000000000.0"),
            (1e16, "1e16"),
            (12_345_678_901_234_568.0, "1.2345678901234568e16"),
            (f64::MAX, "1.7976931348623157e308"),
        ] {
            assert_eq!(text(&json!(value)), expected);
            assert_eq!(expected.parse::<f64>().map(f64::to_bits), Ok(f64::to_bits(value)));
        }
    }

    #[test]
    fn results_have_no_spaces_and_keep_the_order_of_their_keys() {
        let value = json!({"b": [1, null, true], "a": {"c": "d e", "ü": u64::MAX}});
        assert_eq!(text(&value), r#"{"b":[1,null,true],"a":{"c":"d e","ü":18446744073709551615}}"#);
    }
}
