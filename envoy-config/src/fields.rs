//! Which fields of Envoy 1.40 are read, which are ignored, and which are refused.
//!
//! Every field of `Cluster` stands in exactly one of [`READ_CLUSTER_FIELDS`],
//! [`IGNORED_CLUSTER_FIELDS`] and [`REFUSED_CLUSTER_FIELDS`]. *Ignored* means accepted with any
//! value, because the field cannot change which host a request goes to: the caller owns
//! connections, resolution, health checking and statistics. *Refused* means that Envoy would send
//! traffic elsewhere, or nowhere, because of the field, so that ignoring it would be a silent
//! mistake; a refused field may still be there with its default value, as some writers of JSON
//! write every field.
//!
//! Below the top level the rule is the same. What is not in these lists is read. Some values are
//! read, checked, and have no effect:
//!
//! * `update_merge_window`: updates are published at once, whatever it says. Envoy holds health
//!   changes back only because publishing is expensive for it.
//! * `endpoint_stale_after`: a control plane's lease on an assignment is the caller's to enforce,
//!   as the engine has no timer.
//! * `consistent_hashing_lb_config` of `common_lb_config` where `lb_policy` chooses neither ring hash
//!   nor Maglev.
//! * `use_hostname_for_hashing` and `hash_balance_factor` of a ring hash that has a
//!   `consistent_hashing_lb_config` besides: in Envoy, too, that took their place.
//! * `slow_start_config` with a window of 0: slow start is off.
//! * `enable_full_scan` of least request: in Envoy, too, `selection_method` took its place.
//! * `locality_lb_config` of a policy inside `load_aware_locality`: in Envoy, too, that policy sees
//!   the hosts of one locality only, and never panics.
//! * `oob_reporting_config` and `oob_reporting_period` without `enable_oob_load_report`.
//!
//! `transport_socket_match_criteria` in `oob_reporting_config` is taken with any value: encryption
//! is the caller's.
//!
//! And some are read, and accepted only where they ask for what is there: `lb_policy` and
//! `load_balancing_policy` (round robin, also by load reports, least request, random, ring hash and
//! Maglev, the two that divide traffic among localities first, `wrr_locality` and
//! `load_aware_locality`, and `override_host` with any of these inside), `type` (not
//! `ORIGINAL_DST`), `cluster_type` (not a custom one). A header in a `hash_policy` is accepted
//! without `regex_rewrite` only.

/// A field of one of Envoy's messages, and why it is in its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Field {
    /// The field's name in the `.proto` file.
    pub name: &'static str,
    /// What happens to it, and why.
    pub why: &'static str,
}

/// Declares lists whose documentation is made from their entries, so that the two agree.
macro_rules! lists {
    ($($(#[doc = $about:literal])+ $list:ident { $($name:literal: $why:literal,)+ })+) => {$(
        $(#[doc = $about])+
        #[doc = ""]
        $(#[doc = concat!("* `", $name, "`: ", $why)])+
        pub const $list: &[Field] = &[$(Field { name: $name, why: $why },)+];
    )+};
}

lists! {
    /// The fields of `Cluster` that are read.
    READ_CLUSTER_FIELDS {
        "name": "for messages and dumps; required, as in Envoy",
        "type": "`ORIGINAL_DST` is refused, as its hosts are not chosen; the others say where \
            hosts come from, which is the caller's business",
        "cluster_type": "accepted for Envoy's own static, DNS and EDS clusters; other types make \
            hosts or choose among them in ways of their own, and are refused",
        "lb_policy": "`ROUND_ROBIN`, `LEAST_REQUEST`, `RANDOM`, `RING_HASH` and `MAGLEV`; without \
            effect when `load_balancing_policy` is there",
        "load_balancing_policy": "the first policy of the list that Envoy knows, by the type of \
            its `typed_config`; refused unless it is round robin (also by load reports), least \
            request, random, ring hash or Maglev, or `wrr_locality` or `load_aware_locality` with one \
            of these inside, or `override_host` with any of them",
        "round_robin_lb_config": "slow start; taken with any value and without effect unless \
            `lb_policy` chooses round robin",
        "least_request_lb_config": "choices, bias and slow start; taken with any value and \
            without effect unless `lb_policy` chooses least request",
        "ring_hash_lb_config": "the ring's sizes and its hash function; taken with any value and \
            without effect unless `lb_policy` chooses ring hash",
        "maglev_lb_config": "the table's size; taken with any value and without effect unless \
            `lb_policy` chooses Maglev",
        "common_lb_config": "panic threshold and behaviour, how traffic divides among localities, \
            what hosts are hashed by, new hosts before their first check, and which hosts a request \
            may name",
        "load_assignment": "the hosts",
        "health_checks": "only whether there are any: hosts then start failed. The checks are the \
            caller's",
        "ignore_health_on_host_removal": "whether removed hosts go at once although their checks \
            pass",
    }
    /// The fields of `Cluster` that have nothing to do with choosing a host.
    IGNORED_CLUSTER_FIELDS {
        "alt_stat_name": "statistics",
        "stats_matcher": "statistics",
        "track_timeout_budgets": "statistics",
        "track_cluster_stats": "statistics",
        "lrs_server": "load reporting",
        "lrs_report_endpoint_metrics": "load reporting",
        "metadata": "information for filters and logs",
        "eds_cluster_config": "where assignments come from; the caller hands them in",
        "wait_for_warm_on_init": "start-up order",
        "connect_timeout": "connections",
        "per_connection_buffer_limit_bytes": "connections",
        "per_connection_buffer_high_watermark_timeout": "connections",
        "max_requests_per_connection": "connections",
        "upstream_bind_config": "connections",
        "upstream_connection_options": "connections",
        "close_connections_on_host_health_failure": "connections",
        "connection_pool_per_downstream_connection": "connections",
        "preconnect_policy": "connections; a caller that opens them ahead peeks as far as it likes",
        "queuing_policies": "the order of requests that wait for a connection",
        "circuit_breakers": "limits of the caller's connection pools, which act after the choice",
        "outlier_detection": "the engine takes ejections from the caller instead of making them",
        "transport_socket": "encryption",
        "transport_socket_matches": "encryption",
        "transport_socket_matcher": "encryption",
        "protocol_selection": "protocols",
        "typed_extension_protocol_options": "protocols",
        "upstream_http_protocol_options": "protocols",
        "common_http_protocol_options": "protocols",
        "http_protocol_options": "protocols",
        "http2_protocol_options": "protocols",
        "upstream_config": "protocols",
        "filters": "network filters",
        "cleanup_interval": "when hosts of an `ORIGINAL_DST` cluster are forgotten",
        "dns_refresh_rate": "resolution",
        "dns_jitter": "resolution",
        "dns_failure_refresh_rate": "resolution",
        "respect_dns_ttl": "resolution",
        "dns_lookup_family": "resolution",
        "dns_resolvers": "resolution",
        "use_tcp_for_dns_lookups": "resolution",
        "dns_resolution_config": "resolution",
        "typed_dns_resolver_config": "resolution",
    }
    /// The fields of `Cluster` that are refused.
    REFUSED_CLUSTER_FIELDS {
        "lb_subset_config": "restricts each request to hosts of certain metadata",
        "original_dst_lb_config": "sends a request where its connection was going",
    }
    /// The fields of `CommonLbConfig` that are accepted with any value.
    IGNORED_COMMON_LB_FIELDS {
        "close_connections_on_host_set_change": "connections",
    }
    /// The fields of `ClusterLoadAssignment` that are refused.
    REFUSED_ASSIGNMENT_FIELDS {
        "named_endpoints": "hosts to which `endpoint_name` would refer",
    }
    /// The fields of `LocalityLbEndpoints` that are accepted with any value.
    IGNORED_LOCALITY_FIELDS {
        "metadata": "information for filters and logs",
        "proximity": "Envoy does not use it",
    }
    /// The fields of `LocalityLbEndpoints` that are refused.
    REFUSED_LOCALITY_FIELDS {
        "load_balancer_endpoints": "a second list of hosts that Envoy does not read",
        "leds_cluster_locality_config": "hosts that come from a collection elsewhere; refused \
            with its default value too",
    }
    /// The fields of an `LbEndpoint`'s `metadata` that are accepted with any value. Of
    /// `filter_metadata` the string `hash_key` of `envoy.lb` is read; the rest is for subsets, which
    /// are refused, and for filters and logs.
    IGNORED_METADATA_FIELDS {
        "typed_filter_metadata": "information for filters and logs",
    }
    /// The fields of `LbEndpoint` that are refused.
    REFUSED_LB_ENDPOINT_FIELDS {
        "endpoint_name": "a host by the name it has in `named_endpoints`",
    }
    /// The fields of `Endpoint` that are accepted with any value.
    IGNORED_ENDPOINT_FIELDS {
        "additional_addresses": "other addresses of the same host, tried while connecting",
        "observability_name": "statistics",
    }
    /// The fields of `HealthCheckConfig` that are accepted with any value.
    IGNORED_HEALTH_CHECK_FIELDS {
        "hostname": "what the caller's checks ask for",
    }
    /// The fields of `SocketAddress` that are accepted with any value.
    IGNORED_SOCKET_ADDRESS_FIELDS {
        "ipv4_compat": "how a socket is bound",
        "network_namespace_filepath": "where a socket is made",
    }
    /// The fields of `SocketAddress` that are refused.
    REFUSED_SOCKET_ADDRESS_FIELDS {
        "named_port": "a port that a custom resolver has to look up",
        "resolver_name": "a custom resolver, which may return any address",
    }
}
