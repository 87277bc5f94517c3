//! The words that operations use, as they are written.

use plimsoll::HealthEvent;
use plimsoll::config::Behavior;
use serde::Deserialize;

/// [`Behavior`] by name.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum BehaviorName {
    #[default]
    Native,
    Envoy,
}

impl From<BehaviorName> for Behavior {
    fn from(name: BehaviorName) -> Self {
        match name {
            BehaviorName::Native => Self::Native,
            BehaviorName::Envoy => Self::Envoy,
        }
    }
}

/// The health events that replays know, by name.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Event {
    Pass,
    Fail,
    Degraded,
    Eject,
    Uneject,
}

impl From<Event> for HealthEvent {
    fn from(event: Event) -> Self {
        match event {
            Event::Pass => Self::Pass,
            Event::Fail => Self::Fail,
            Event::Degraded => Self::Degraded,
            Event::Eject => Self::Eject,
            Event::Uneject => Self::Uneject,
        }
    }
}

/// How requests ended.
#[derive(Debug, Clone, Copy, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Outcome {
    #[default]
    Success,
    Error,
}

impl From<Outcome> for plimsoll::Outcome {
    fn from(outcome: Outcome) -> Self {
        match outcome {
            Outcome::Success => Self::Success,
            Outcome::Error => Self::Error,
        }
    }
}

/// The word `all`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum All {
    All,
}

/// The word `random`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum RandomHash {
    Random,
}

/// What becomes of a worker.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Action {
    Close,
    Open,
    Refresh,
    Quiesce,
}

/// What to show.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum What {
    Loads,
    Hosts,
    Localities,
    Table,
    Stats,
    Snapshot,
}

/// Which hosts of a priority.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum SourceName {
    Healthy,
    Degraded,
    All,
}

impl From<SourceName> for plimsoll::Source {
    fn from(source: SourceName) -> Self {
        match source {
            SourceName::Healthy => Self::Healthy,
            SourceName::Degraded => Self::Degraded,
            SourceName::All => Self::All,
        }
    }
}
