//! A cluster, part by part.

use std::time::Duration;

use plimsoll::config::{Behavior, ConfigError, Problem};
use plimsoll::{Cluster, Error, HostView, Locality, LocalityRoute, Routes, Source, View, Warmup};
use serde_json::{Map, Value, json};

/// A part of what there is to see of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// How traffic divides among priorities.
    Loads,
    /// All hosts, by priority, then in the assignment's order.
    Hosts,
    /// How the traffic of each priority and source divides among localities.
    Localities,
    /// The hosts of a hash table by place.
    Table,
    /// All counters and gauges that are not zero.
    Stats,
    /// Which snapshot is the newest, and what was built so far.
    Snapshot,
}

/// What to show of a cluster.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Show {
    /// Which part.
    pub part: Part,
    /// Of localities and tables: this priority only. `None` is all of them, and 0 for a table.
    pub priority: Option<u64>,
    /// Of localities and tables: these hosts only. `None` is all of them, and the healthy for a
    /// table.
    pub source: Option<Source>,
}

impl Show {
    /// A whole part.
    #[must_use]
    pub fn all_of(part: Part) -> Self {
        Self { part, priority: None, source: None }
    }
}

/// A part of a cluster, of its newest snapshot.
///
/// # Errors
///
/// A table of a priority that there is not; [`Error::Poisoned`] for what is counted.
pub fn show(cluster: &Cluster, show: &Show) -> Result<Value, Error> {
    let &Show { part, priority, source } = show;
    match part {
        Part::Loads => Ok(loads(&cluster.view())),
        Part::Hosts => Ok(cluster.view().hosts().iter().map(host).collect()),
        Part::Localities => Ok(localities(&cluster.view(), priority, source)),
        Part::Table => {
            table(&cluster.view(), priority.unwrap_or(0), source.unwrap_or(Source::Healthy))
        }
        Part::Stats => stats(cluster),
        Part::Snapshot => snapshot(cluster),
    }
}

/// The loads of every priority, in percent.
fn loads(view: &View) -> Value {
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
pub(crate) fn percent(load: f64, behavior: Behavior) -> Value {
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

fn localities(view: &View, priority: Option<u64>, source: Option<Source>) -> Value {
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

fn table(view: &View, priority: u64, source: Source) -> Result<Value, Error> {
    let index = usize::try_from(priority).unwrap_or(usize::MAX);
    let view = view.priorities().nth(index);
    let view = view.ok_or_else(|| {
        let message = format!("there is no priority {priority}");
        ConfigError::new("priority", Problem::Invalid { message })
    })?;
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

pub(crate) fn slow_start(warmup: &Warmup) -> Value {
    json!({"factor": warmup.factor, "seconds_left": warmup.seconds_left})
}

pub(crate) fn locality(locality: &Locality) -> Value {
    json!({
        "region": locality.region,
        "zone": locality.zone,
        "sub_zone": locality.sub_zone,
    })
}

fn stats(cluster: &Cluster) -> Result<Value, Error> {
    let stats = cluster.stats()?;
    let entries = stats.iter().map(|(name, value)| (name.to_owned(), json!(value)));
    Ok(Value::Object(entries.collect::<Map<_, _>>()))
}

/// In `envoy`, the tables are those that Envoy would have built.
fn snapshot(cluster: &Cluster) -> Result<Value, Error> {
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
