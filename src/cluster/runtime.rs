//! Values that change at run time, by Envoy's runtime keys.

use std::collections::BTreeMap;

/// Percent of available hosts below which a priority panics; overrides the configured one.
pub(super) const HEALTHY_PANIC_THRESHOLD: &str = "upstream.healthy_panic_threshold";

/// Runtime values, as Envoy's runtime layers would give them. Keys that nothing reads are kept
/// and have no effect.
///
/// ```
/// use plimsoll::Runtime;
///
/// let mut runtime = Runtime::default();
/// runtime.set("upstream.healthy_panic_threshold", Some(30));
/// assert_eq!(runtime.get("upstream.healthy_panic_threshold"), Some(30));
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Runtime(BTreeMap<String, u64>);

impl Runtime {
    /// Sets a value, or removes it.
    pub fn set(&mut self, key: &str, value: Option<u64>) {
        match value {
            Some(value) => self.0.insert(key.to_owned(), value),
            None => self.0.remove(key),
        };
    }

    /// A value, if it is set.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<u64> {
        self.0.get(key).copied()
    }
}
