//! Which engine a cluster had before, so that a changed configuration does not forget what hosts have
//! reported.
//!
//! Envoy makes a cluster anew whenever its configuration changes, and has the new one warm up beside the
//! old one. What the old engine knows goes to the new one with the first hosts.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, Weak};

use crate::engine::{Engine, lock};

/// The newest shared engine of each cluster.
static NEWEST: LazyLock<Mutex<HashMap<String, Weak<Engine>>>> = LazyLock::new(Mutex::default);

/// Takes note of a new engine, and gives it the one before to take over from.
pub(crate) fn register(cluster: &str, engine: &Arc<Engine>) {
    let mut newest = lock(&NEWEST);
    newest.retain(|_, engine| engine.strong_count() > 0);
    let before = newest.insert(cluster.to_owned(), Arc::downgrade(engine));
    if let Some(before) = before.and_then(|before| before.upgrade()) {
        engine.follows(before);
    }
}
