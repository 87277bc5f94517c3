//! From a policy's configuration and the runtime values to the numbers that hold now.

use std::time::Duration;

use super::runtime::{COUNT_PENDING_REQUESTS, Runtime};
use crate::config::{LeastRequest, Policy, SelectionMethod, SlowStart};
use crate::policy::{Method, Selection, Settings};
use crate::schedule::Ramp;

/// The settings of this moment. A runtime value out of its range counts as 1, as in Envoy.
pub(super) fn resolve(policy: &Policy, runtime: &Runtime) -> Settings {
    let method = match policy {
        // By the weights that hosts report, which come in by another way.
        Policy::RoundRobin(_) | Policy::ClientSideWeightedRoundRobin(_) => Method::RoundRobin,
        Policy::LeastRequest(policy) => Method::LeastRequest(selection(policy, runtime)),
        Policy::Random => Method::Random,
        Policy::RingHash(_) | Policy::Maglev(_) => Method::Hash,
    };
    Settings { method, ramp: policy.slow_start().map(|config| ramp(config, runtime)) }
}

//= envoy v1.40 source/extensions/load_balancing_policies/least_request/least_request_lb.h#refresh
fn selection(policy: &LeastRequest, runtime: &Runtime) -> Selection {
    let bias = policy.active_request_bias.as_ref().map_or(1.0, |bias| runtime.double(bias));
    Selection {
        choices: match policy.selection_method {
            SelectionMethod::NChoices => Some(policy.choice_count),
            SelectionMethod::FullScan => None,
        },
        active_request_bias: if bias >= 0.0 { bias } else { 1.0 },
        counts_pending: runtime.is_on(COUNT_PENDING_REQUESTS, false),
    }
}

fn ramp(config: &SlowStart, runtime: &Runtime) -> Ramp {
    let aggression = config.aggression.as_ref().map_or(1.0, |value| runtime.double(value));
    Ramp {
        window_ms: milliseconds(config.window),
        aggression: if aggression > 0.0 { aggression } else { 1.0 },
        min_weight: config.min_weight_percent / 100.0,
    }
}

fn milliseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::RuntimeDouble;

    fn double(default_value: f64) -> Option<RuntimeDouble> {
        Some(RuntimeDouble { default_value, runtime_key: "key".to_owned() })
    }

    #[test]
    fn runtime_values_out_of_range_count_as_one() {
        let slow_start =
            SlowStart { aggression: double(2.0), ..SlowStart::new(Duration::from_secs(1)) };
        let policy = Policy::LeastRequest(LeastRequest {
            active_request_bias: double(0.5),
            slow_start: Some(slow_start),
            ..LeastRequest::default()
        });
        let mut runtime = Runtime::default();
        let mut resolved = |value: Option<f64>| {
            runtime.set("key", value.map(Into::into));
            let Settings { method: Method::LeastRequest(selection), ramp: Some(ramp) } =
                resolve(&policy, &runtime)
            else {
                panic!("another policy")
            };
            (selection.active_request_bias, ramp.aggression)
        };
        assert_eq!(resolved(None), (0.5, 2.0));
        assert_eq!(resolved(Some(3.0)), (3.0, 3.0));
        assert_eq!(resolved(Some(0.0)), (0.0, 1.0));
        assert_eq!(resolved(Some(-1.0)), (1.0, 1.0));
        assert_eq!(resolved(Some(f64::NAN)), (1.0, 1.0));
    }

    #[test]
    fn a_window_of_nothing_is_no_slow_start() {
        let slow_start = Some(SlowStart::new(Duration::ZERO));
        let policy = Policy::RoundRobin(crate::config::RoundRobin { slow_start });
        assert_eq!(resolve(&policy, &Runtime::default()).ramp, None);
    }
}
