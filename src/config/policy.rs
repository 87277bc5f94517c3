//! The policies and their settings.

use std::time::Duration;

use super::error::{ConfigError, Problem};
use super::hashing::{ConsistentHashing, Maglev, RingHash};
use super::weighted::ClientSideWeightedRoundRobin;

/// How a host is chosen among the eligible ones.
///
/// ```
/// use plimsoll::config::{LeastRequest, Policy};
///
/// let policy = Policy::LeastRequest(LeastRequest { choice_count: 3, ..LeastRequest::default() });
/// policy.validate()?;
/// assert_eq!(policy.name(), "least_request");
/// # Ok::<(), plimsoll::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Policy {
    /// Each host in its turn, in proportion to the weights. Native: spread evenly over time, by a
    /// cursor and without a random number. Envoy: in list order if the weights are equal, else by
    /// Envoy's EDF scheduler, which starts anew with every update and which each worker makes for
    /// itself at its first pick after one.
    RoundRobin(RoundRobin),
    /// The least busy of a few hosts drawn at random. Native: the hosts are distinct, each is drawn
    /// in proportion to its weight, and requests are counted in proportion to the weight. Envoy:
    /// the same host may be drawn twice, and if weights differ (or hosts are in slow start) its EDF
    /// scheduler takes turns by weight and load instead.
    LeastRequest(LeastRequest),
    /// Each host in its turn, in proportion to the weights that follow from what hosts report of
    /// their load, see [`ClientSideWeightedRoundRobin`]. Otherwise as [`RoundRobin`](Self::RoundRobin).
    ClientSideWeightedRoundRobin(ClientSideWeightedRoundRobin),
    /// A host at random. Native: in proportion to the weights. Envoy: weights are ignored, and
    /// one number decides both the priority and the host, as in Envoy.
    Random,
    /// The host whose point on a ring follows the hash of the request, see [`RingHash`].
    RingHash(RingHash),
    /// The host that a table has for the hash of the request, see [`Maglev`].
    Maglev(Maglev),
}

impl Policy {
    /// Round robin with Envoy's defaults.
    pub const ROUND_ROBIN: Self = Self::RoundRobin(RoundRobin { slow_start: None });
    /// Least request with Envoy's defaults.
    pub const LEAST_REQUEST: Self = Self::LeastRequest(LeastRequest::DEFAULT);
    /// Ring hash with Envoy's defaults.
    pub const RING_HASH: Self = Self::RingHash(RingHash::DEFAULT);
    /// Maglev with Envoy's defaults.
    pub const MAGLEV: Self = Self::Maglev(Maglev::DEFAULT);

    /// Envoy's name of the policy, without its `envoy.load_balancing_policies.` prefix.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::RoundRobin(_) => "round_robin",
            Self::LeastRequest(_) => "least_request",
            Self::ClientSideWeightedRoundRobin(_) => "client_side_weighted_round_robin",
            Self::Random => "random",
            Self::RingHash(_) => "ring_hash",
            Self::Maglev(_) => "maglev",
        }
    }

    /// How new hosts are warmed up; `None` if they are not.
    #[must_use]
    pub fn slow_start(&self) -> Option<&SlowStart> {
        self.slow_start_config().filter(|slow_start| !slow_start.window.is_zero())
    }

    fn slow_start_config(&self) -> Option<&SlowStart> {
        match self {
            Self::RoundRobin(policy) => policy.slow_start.as_ref(),
            Self::LeastRequest(policy) => policy.slow_start.as_ref(),
            Self::ClientSideWeightedRoundRobin(policy) => policy.slow_start.as_ref(),
            Self::Random | Self::RingHash(_) | Self::Maglev(_) => None,
        }
    }

    /// How requests are hashed, if the policy goes by that.
    #[must_use]
    pub fn consistent_hashing(&self) -> Option<&ConsistentHashing> {
        match self {
            Self::RingHash(policy) => Some(&policy.consistent_hashing),
            Self::Maglev(policy) => Some(&policy.consistent_hashing),
            _ => None,
        }
    }

    /// Checks every range. Fields are named as in Envoy's message of the policy.
    ///
    /// # Errors
    ///
    /// The first value outside its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        match self {
            Self::LeastRequest(policy) => policy.validate_own()?,
            Self::ClientSideWeightedRoundRobin(policy) => policy.validate_own()?,
            Self::RingHash(policy) => policy.validate_own()?,
            Self::Maglev(policy) => policy.validate_own()?,
            Self::RoundRobin(_) | Self::Random => {}
        }
        let slow_start = self.slow_start_config().map_or(Ok(()), SlowStart::validate);
        slow_start.map_err(|error| error.within("slow_start_config"))
    }
}

impl Default for Policy {
    fn default() -> Self {
        Self::ROUND_ROBIN
    }
}

/// The settings of [`Policy::RoundRobin`].
#[derive(Debug, Clone, PartialEq, Default)]
pub struct RoundRobin {
    /// How new hosts are warmed up. Default `None`: they get their full share at once.
    pub slow_start: Option<SlowStart>,
}

/// The settings of [`Policy::LeastRequest`].
#[derive(Debug, Clone, PartialEq)]
pub struct LeastRequest {
    /// How many hosts are drawn, of which the least busy is taken: from 2 to
    /// [`MAX_CHOICE_COUNT`], default 2. Without effect with [`SelectionMethod::FullScan`].
    pub choice_count: u32,
    /// How much active requests count, at least 0 and finite; 1 if `None`: 0 makes all hosts alike,
    /// more than 1 shuns busy hosts more. Native compares `((active + 1) ^ bias - 1) / weight`,
    /// which is 0 for every idle host. Envoy divides the weight by `(active + 1) ^ bias`, and does
    /// so only where weights differ.
    pub active_request_bias: Option<RuntimeDouble>,
    /// Whether a few hosts are looked at, or all.
    pub selection_method: SelectionMethod,
    /// How new hosts are warmed up. Default `None`: they get their full share at once.
    pub slow_start: Option<SlowStart>,
}

/// The largest [`LeastRequest::choice_count`]: each choice costs a random number and a look at a
/// host, so that more would stall the worker. Envoy has no such limit.
pub const MAX_CHOICE_COUNT: u32 = 65_536;

impl LeastRequest {
    const DEFAULT: Self = Self {
        choice_count: 2,
        active_request_bias: None,
        selection_method: SelectionMethod::NChoices,
        slow_start: None,
    };

    fn validate_own(&self) -> Result<(), ConfigError> {
        let rule = "LeastRequestValidationError.ChoiceCount";
        let problem = if self.choice_count < 2 {
            Some(Problem::BelowMinimum { rule, minimum: 2 })
        } else if self.choice_count > MAX_CHOICE_COUNT {
            Some(Problem::AboveMaximum { rule, maximum: MAX_CHOICE_COUNT.into() })
        } else {
            None
        };
        if let Some(problem) = problem {
            return Err(ConfigError::new("choice_count", problem));
        }
        let Some(bias) = &self.active_request_bias else { return Ok(()) };
        bias.validate(|value| value >= 0.0, "the bias must be finite and at least 0")
            .map_err(|error| error.within("active_request_bias"))
    }
}

impl Default for LeastRequest {
    fn default() -> Self {
        Self::DEFAULT
    }
}

/// Which hosts [`Policy::LeastRequest`] looks at.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SelectionMethod {
    /// [`choice_count`](LeastRequest::choice_count) hosts, drawn at random.
    #[default]
    NChoices,
    /// All hosts. A pick takes time in proportion to their number.
    FullScan,
}

/// How a new host's share of the traffic grows to what its weight gives it.
///
/// `t` into the window a host counts as its weight times
/// `max(min_weight_percent / 100, (t / window) ^ (1 / aggression))`. The window begins when a host
/// first turns healthy, and again whenever an active health check passes that failed before. While
/// it is not healthy, a host that is used all the same has its full weight.
///
/// Native: the share follows the clock of [`Cluster::tick`](crate::Cluster::tick) to within a
/// hundredth. Envoy: a host's factor is read when its turn comes, so that with many hosts or few
/// requests the share lags behind.
///
/// Source: Envoy's documentation of slow start mode, with the window in milliseconds as in its
/// code.
#[derive(Debug, Clone, PartialEq)]
pub struct SlowStart {
    /// How long it takes, at least a millisecond; 0 switches it off. Parts of a millisecond do not
    /// count.
    pub window: Duration,
    /// 1 grows linearly, more than 1 faster at first. Finite and more than 0; 1 if `None`.
    pub aggression: Option<RuntimeDouble>,
    /// The least share of the weight that a new host has, 0 to 100. Default 10.
    pub min_weight_percent: f64,
}

impl SlowStart {
    /// A linear ramp from 10 % of the weight.
    #[must_use]
    pub fn new(window: Duration) -> Self {
        Self { window, aggression: None, min_weight_percent: 10.0 }
    }

    fn validate(&self) -> Result<(), ConfigError> {
        let invalid = |field: &str, message: &str| {
            Err(ConfigError::new(field, Problem::Invalid { message: message.to_owned() }))
        };
        if !self.window.is_zero() && self.window < Duration::from_millis(1) {
            return invalid("slow_start_window", "a window is 0 or at least 1 ms");
        }
        if i64::try_from(self.window.as_nanos()).is_err() {
            return invalid("slow_start_window", "a window is less than 2^63 nanoseconds");
        }
        if let Some(aggression) = &self.aggression {
            aggression
                .validate(|value| value > 0.0, "aggression must be finite and greater than 0")
                .map_err(|error| error.within("aggression"))?;
        }
        Problem::of_percent(self.min_weight_percent)
            .map_or(Ok(()), |problem| Err(ConfigError::new("min_weight_percent", problem)))
    }
}

/// A number that a runtime value may replace.
#[derive(Debug, Clone, PartialEq)]
pub struct RuntimeDouble {
    /// The number while the runtime has no value for the key.
    pub default_value: f64,
    /// The key, not empty. See [`Runtime`](crate::Runtime).
    pub runtime_key: String,
}

impl RuntimeDouble {
    fn validate(&self, fits: impl Fn(f64) -> bool, rule: &str) -> Result<(), ConfigError> {
        if self.runtime_key.is_empty() {
            return Err(ConfigError::new("runtime_key", Problem::Required));
        }
        if self.default_value.is_finite() && fits(self.default_value) {
            return Ok(());
        }
        let problem = Problem::Invalid { message: rule.to_owned() };
        Err(ConfigError::new("default_value", problem))
    }
}
