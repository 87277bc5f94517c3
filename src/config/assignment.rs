//! The hosts of a cluster: Envoy's `ClusterLoadAssignment`.

use super::error::{ConfigError, Problem};
use crate::host::{Address, EdsHealth, Locality};

/// The highest priority that Envoy accepts.
pub const MAX_PRIORITY: u32 = 128;

/// A complete set of hosts, by locality and priority.
///
/// ```
/// use plimsoll::config::{Assignment, Endpoint, LocalityEndpoints};
///
/// let assignment = Assignment {
///     endpoints: vec![LocalityEndpoints {
///         endpoints: vec![Endpoint::new("10.0.0.1:80"), Endpoint::new("10.0.0.2:80")],
///         ..LocalityEndpoints::default()
///     }],
///     ..Assignment::default()
/// };
/// assignment.validate()?;
/// # Ok::<(), plimsoll::config::ConfigError>(())
/// ```
#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    /// Groups of hosts. Several groups may name the same locality and priority.
    pub endpoints: Vec<LocalityEndpoints>,
    /// A priority counts as fully available while its available share times this percentage
    /// reaches 100. At least 1, default 140.
    pub overprovisioning_factor: u32,
    /// Availability is measured in weight instead of in hosts. Default false.
    pub weighted_priority_health: bool,
}

impl Default for Assignment {
    fn default() -> Self {
        Self {
            endpoints: Vec::new(),
            overprovisioning_factor: 140,
            weighted_priority_health: false,
        }
    }
}

/// The hosts of one locality at one priority.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LocalityEndpoints {
    /// Where the hosts are.
    pub locality: Locality,
    /// 0 is used first. At most [`MAX_PRIORITY`].
    pub priority: u32,
    /// The locality's weight, at least 1; `None` where the assignment gives none.
    pub load_balancing_weight: Option<u32>,
    /// The hosts.
    pub endpoints: Vec<Endpoint>,
}

/// One host as the control plane describes it.
#[derive(Debug, Clone, PartialEq)]
pub struct Endpoint {
    /// Its address, the host's identity.
    pub address: Address,
    /// Its name, for consistent hashing by name and for dumps. May be empty.
    pub hostname: String,
    /// Its key for consistent hashing, in place of its name or address; may be empty. In Envoy, the
    /// string `hash_key` of its metadata `envoy.lb`.
    pub hash_key: String,
    /// Its weight, at least 1, default 1.
    pub load_balancing_weight: u32,
    /// What the control plane says of its health.
    pub health_status: EdsHealth,
    /// This host is not checked actively, whatever the cluster says.
    pub disable_active_health_check: bool,
    /// Where its health checks go, if not to `address`.
    pub health_check_address: Option<Address>,
}

impl Endpoint {
    /// A host of weight 1 of which the control plane says nothing.
    #[must_use]
    pub fn new(address: impl Into<Address>) -> Self {
        Self {
            address: address.into(),
            hostname: String::new(),
            hash_key: String::new(),
            load_balancing_weight: 1,
            health_status: EdsHealth::Unknown,
            disable_active_health_check: false,
            health_check_address: None,
        }
    }

    /// Checks every range.
    ///
    /// # Errors
    ///
    /// The first value outside its range.
    pub fn validate(&self) -> Result<(), ConfigError> {
        if self.address.as_str().is_empty() {
            return Err(ConfigError::new("endpoint.address", Problem::Required));
        }
        let rule = "LbEndpointValidationError.LoadBalancingWeight";
        at_least_one("load_balancing_weight", rule, self.load_balancing_weight)
    }
}

impl Assignment {
    /// Checks every range.
    ///
    /// # Errors
    ///
    /// The first value outside its range: groups in order, hosts in order, then the policy.
    pub fn validate(&self) -> Result<(), ConfigError> {
        for (index, group) in self.endpoints.iter().enumerate() {
            group.validate().map_err(|error| error.within(&format!("endpoints[{index}]")))?;
        }
        if self.overprovisioning_factor > 0 {
            return Ok(());
        }
        let rule = "PolicyValidationError.OverprovisioningFactor";
        let problem = Problem::NotAbove { rule, bound: 0 };
        Err(ConfigError::new("policy.overprovisioning_factor", problem))
    }
}

impl LocalityEndpoints {
    fn validate(&self) -> Result<(), ConfigError> {
        check_priority(self.priority)?;
        if let Some(weight) = self.load_balancing_weight {
            let rule = "LocalityLbEndpointsValidationError.LoadBalancingWeight";
            at_least_one("load_balancing_weight", rule, weight)?;
        }
        for (index, endpoint) in self.endpoints.iter().enumerate() {
            endpoint.validate().map_err(|error| error.within(&format!("lb_endpoints[{index}]")))?;
        }
        Ok(())
    }
}

/// Checks a priority's range.
pub(crate) fn check_priority(priority: u32) -> Result<(), ConfigError> {
    if priority <= MAX_PRIORITY {
        return Ok(());
    }
    let rule = "LocalityLbEndpointsValidationError.Priority";
    let problem = Problem::AboveMaximum { rule, maximum: u64::from(MAX_PRIORITY) };
    Err(ConfigError::new("priority", problem))
}

fn at_least_one(field: &str, rule: &'static str, value: u32) -> Result<(), ConfigError> {
    if value >= 1 {
        return Ok(());
    }
    Err(ConfigError::new(field, Problem::BelowMinimum { rule, minimum: 1 }))
}
