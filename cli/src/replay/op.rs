//! The operations of a replay as they are written. Types say what is well-formed; whether it can
//! be done is up to the cluster.

use std::collections::BTreeMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use plimsoll::Locality;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::line::{Keyed, U64};
use super::names::{Action, All, BehaviorName, Event, Outcome, RandomHash, SourceName, What};

/// A JSON object that somebody else reads.
pub(crate) type Object = Map<String, Value>;

/// One operation.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub(crate) enum Operation {
    Open(Box<Open>),
    Assign {
        load_assignment: Object,
    },
    Reconfigure {
        config: Object,
    },
    Health {
        hosts: BTreeMap<String, Event>,
    },
    Runtime {
        values: Object,
    },
    Advance {
        ms: U64,
        #[serde(default)]
        late: bool,
    },
    Report(Report),
    Load {
        hosts: BTreeMap<String, Load>,
    },
    Draws {
        values: Vec<U64>,
        #[serde(default)]
        worker: U64,
    },
    Pick(Choice),
    Peek(Choice),
    Done {
        hosts: Vec<String>,
        #[serde(default)]
        outcome: Outcome,
    },
    Tally(Tally),
    Worker {
        worker: U64,
        action: Action,
    },
    Explain(Choice),
    Show(Show),
    Hash(Hash),
}

/// A new cluster.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Open {
    pub(crate) config: Object,
    #[serde(default)]
    pub(crate) node: Keyed<Node>,
    pub(crate) local_cluster: Option<String>,
    #[serde(default)]
    pub(crate) behavior: BehaviorName,
    #[serde(default = "one")]
    pub(crate) workers: U64,
    #[serde(default)]
    pub(crate) seed: U64,
    #[serde(default)]
    pub(crate) draws: Vec<U64>,
    #[serde(default)]
    pub(crate) now_ms: U64,
    #[serde(default)]
    pub(crate) runtime: Object,
}

fn one() -> U64 {
    U64(1)
}

/// Where this proxy is.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Node {
    pub(crate) locality: Option<Keyed<Place>>,
}

/// A locality; parts that are left out are empty.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Place {
    region: String,
    zone: String,
    sub_zone: String,
}

impl From<Place> for Locality {
    fn from(place: Place) -> Self {
        Self::new(place.region, place.zone, place.sub_zone)
    }
}

/// A load report of a host.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Report {
    pub(crate) host: String,
    #[serde(default)]
    pub(crate) worker: U64,
    pub(crate) orca: Option<Object>,
    pub(crate) headers: Option<Headers>,
    pub(crate) trailers: Option<Headers>,
    #[serde(default)]
    pub(crate) echo: bool,
}

/// Headers by name.
pub(crate) type Headers = BTreeMap<String, HeaderValues>;

/// One value, or several in order.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a header's value or a list of them")]
pub(crate) enum HeaderValues {
    One(HeaderValue),
    Several(Vec<HeaderValue>),
}

/// A value as text, or as bytes that are none.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a string or {\"base64\":S}")]
pub(crate) enum HeaderValue {
    Text(String),
    Bytes(Keyed<Base64>),
}

/// Bytes in base64.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Base64 {
    base64: String,
}

impl HeaderValue {
    /// The bytes.
    ///
    /// # Errors
    ///
    /// That it is not base64, in words that no library chose.
    pub(crate) fn bytes(&self) -> Result<Vec<u8>, &'static str> {
        match self {
            Self::Text(text) => Ok(text.clone().into_bytes()),
            Self::Bytes(Keyed(Base64 { base64 })) => {
                STANDARD.decode(base64).map_err(|_| "this is not base64")
            }
        }
    }
}

/// How busy a host is.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a count or {\"active\":N,\"pending\":N}")]
pub(crate) enum Load {
    Active(U64),
    Both(Keyed<Loads>),
}

/// Requests at a host, and waiting for it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Loads {
    pub(crate) active: U64,
    pub(crate) pending: Option<U64>,
}

/// What a pick is told; also for `peek` and `explain`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Choice {
    #[serde(default = "one")]
    pub(crate) n: U64,
    #[serde(default)]
    pub(crate) worker: U64,
    pub(crate) hash: Option<Hashes>,
    #[serde(default)]
    pub(crate) attempt: U64,
    #[serde(default)]
    pub(crate) reject: Vec<String>,
    #[serde(default)]
    pub(crate) retries: U64,
    #[serde(rename = "override")]
    pub(crate) override_hosts: Option<Vec<String>>,
    /// Says what happens without a host of `override`, and so nothing without one.
    #[serde(default)]
    pub(crate) strict: bool,
    pub(crate) metadata: Option<Object>,
    #[serde(default)]
    pub(crate) hold: bool,
    /// `explain` only.
    pub(crate) draw: Option<U64>,
}

/// One hash for all picks, or several in turn.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "expected a 64-bit integer or a list of them")]
pub(crate) enum Hashes {
    One(U64),
    Cycle(Vec<U64>),
}

impl Hashes {
    /// The hash of the pick with this index; `None` from an empty list.
    pub(crate) fn get(&self, index: usize) -> Option<u64> {
        match self {
            Self::One(hash) => Some(hash.0),
            Self::Cycle(hashes) => hashes.get(index % hashes.len().max(1)).map(|hash| hash.0),
        }
    }
}

/// Many picks, counted.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Tally {
    #[serde(default = "one")]
    pub(crate) n: U64,
    #[serde(default)]
    pub(crate) worker: Workers,
    #[expect(dead_code, reason = "a pick without a hash draws one")]
    hash: Option<RandomHash>,
    #[serde(default)]
    pub(crate) attempt: U64,
    #[serde(rename = "override")]
    pub(crate) override_hosts: Option<Vec<String>>,
    #[serde(default)]
    pub(crate) strict: bool,
}

/// One worker, or all in turn.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(untagged, expecting = "expected a worker's index or \"all\"")]
pub(crate) enum Workers {
    One(U64),
    All(All),
}

impl Default for Workers {
    fn default() -> Self {
        Self::One(U64(0))
    }
}

/// What to show, and what of it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Show {
    pub(crate) what: What,
    /// `localities` and `table` only.
    pub(crate) priority: Option<U64>,
    /// `localities` and `table` only.
    pub(crate) source: Option<SourceName>,
}

/// A hash of a request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Hash {
    pub(crate) policies: Vec<Object>,
    pub(crate) request: Keyed<Request>,
}

/// What a request's hash is made from.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Request {
    pub(crate) headers: Headers,
    pub(crate) query: String,
    pub(crate) cookies: BTreeMap<String, String>,
    pub(crate) source_ip: String,
}

impl Operation {
    /// Refuses keys that the operation has only in another form.
    ///
    /// # Errors
    ///
    /// The key, in words.
    pub(crate) fn check_keys(&self) -> Result<(), String> {
        match self {
            Self::Pick(choice) if choice.draw.is_some() => {
                Err("pick.draw: only explain has this key".to_owned())
            }
            Self::Peek(choice) if choice.draw.is_some() => {
                Err("peek.draw: only explain has this key".to_owned())
            }
            Self::Show(Show { what: What::Localities | What::Table, .. }) => Ok(()),
            Self::Show(Show { priority: Some(_), .. }) => {
                Err("show.priority: only localities and table have this key".to_owned())
            }
            Self::Show(Show { source: Some(_), .. }) => {
                Err("show.source: only localities and table have this key".to_owned())
            }
            _ => Ok(()),
        }
    }
}
