// Clusters from values: what reaches C of them, how they are changed, and what is refused.

#include "check.hpp"

#include <chrono>
#include <cstdio>
#include <cstring>
#include <utility>
#include <vector>

using plimsoll::Assignment;
using plimsoll::Cluster;
using plimsoll::ClusterSettings;
using plimsoll::Endpoint;
using plimsoll::LocalityHosts;
using plimsoll::OverridePlace;
using plimsoll::Status;
using plimsoll::Time;

namespace {

constexpr Endpoint TWO[] = {{"10.0.0.1:80"}, {"10.0.0.2:80"}};
constexpr Endpoint THIRD[] = {{"10.0.0.3:80"}};

ClusterSettings settings_of(plimsoll::Policy policy) {
    ClusterSettings settings;
    settings.name = "api";
    settings.policy = policy;
    return settings;
}

Cluster must(plimsoll::Result<Cluster> opened) {
    if (!opened) {
        std::fprintf(stderr, "%s\n", opened.error().describe().c_str());
    }
    CHECK(opened);
    return std::move(opened).value();
}

void values_and_text_are_the_same_cluster() {
    const LocalityHosts group[] = {{TWO}};
    const Cluster cluster = must(Cluster::open(settings_of(plimsoll::RoundRobin{}), Assignment{group}));
    CHECK(*cluster.hosts() == *open().hosts());
}

// Each default of a value is that of the macro in C, so that one which says nothing is one of them.
void what_is_left_alone_is_what_c_leaves_alone() {
    const auto same = [](const auto& left, const auto& right) {
        return std::memcmp(&left, &right, sizeof left) == 0;
    };
    const plimsoll::detail::RawSettings plain((ClusterSettings()));
    const plimsoll_cluster_settings settings = PLIMSOLL_CLUSTER_SETTINGS_INIT;
    CHECK(same(*plain.get(), settings));

    const plimsoll::detail::RawAssignment none((Assignment()));
    plimsoll_assignment assignment = PLIMSOLL_ASSIGNMENT_INIT;
    assignment.localities = none.get()->localities;
    CHECK(same(*none.get(), assignment));

    ClusterSettings own = settings_of(plimsoll::LeastRequest{});
    std::get<plimsoll::LeastRequest>(own.policy).slow_start = plimsoll::SlowStart{};
    own.locality_routing = plimsoll::ZoneAware{};
    const plimsoll::detail::RawSettings busy(own);
    const plimsoll_least_request least_request = PLIMSOLL_LEAST_REQUEST_INIT;
    const plimsoll_slow_start slow_start = PLIMSOLL_SLOW_START_INIT;
    const plimsoll_zone_aware zone_aware = PLIMSOLL_ZONE_AWARE_INIT;
    CHECK(same(*busy.get()->least_request, least_request));
    CHECK(same(*busy.get()->slow_start, slow_start));
    CHECK(same(*busy.get()->zone_aware, zone_aware));

    own = settings_of(plimsoll::ClientSideWeightedRoundRobin{});
    own.locality_routing = plimsoll::LoadAwareLocality{};
    const plimsoll::detail::RawSettings reported(own);
    plimsoll_client_side_weighted_round_robin weighted =
        PLIMSOLL_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN_INIT;
    const plimsoll_oob_reporting reporting = PLIMSOLL_OOB_REPORTING_INIT;
    const plimsoll_client_side_weighted_round_robin& by_reports =
        *reported.get()->client_side_weighted_round_robin;
    CHECK(same(*by_reports.oob_reporting_config, reporting));
    weighted.oob_reporting_config = by_reports.oob_reporting_config;
    CHECK(same(by_reports, weighted));
    plimsoll_load_aware_locality load_aware = PLIMSOLL_LOAD_AWARE_LOCALITY_INIT;
    load_aware.oob_reporting_config = reported.get()->load_aware_locality->oob_reporting_config;
    CHECK(same(*load_aware.oob_reporting_config, reporting));
    CHECK(same(*reported.get()->load_aware_locality, load_aware));

    const plimsoll::detail::RawSettings ring(settings_of(plimsoll::RingHash{}));
    const plimsoll_ring_hash ring_hash = PLIMSOLL_RING_HASH_INIT;
    CHECK(same(*ring.get()->ring_hash, ring_hash));
    const plimsoll::detail::RawSettings table(settings_of(plimsoll::Maglev{}));
    const plimsoll_maglev maglev = PLIMSOLL_MAGLEV_INIT;
    CHECK(same(*table.get()->maglev, maglev));
}

void each_value_reaches_its_member() {
    static const plimsoll::Text names[] = {"named_metrics.a", "named_metrics.b"};
    plimsoll::ClientSideWeightedRoundRobin weighted;
    weighted.blackout_period = std::chrono::milliseconds(1);
    weighted.weight_expiration_period = std::chrono::milliseconds(2);
    weighted.weight_update_period = std::chrono::milliseconds(3);
    weighted.oob_reporting_period = std::chrono::milliseconds(4);
    weighted.error_utilization_penalty = 0.5F;
    weighted.enable_oob_load_report = true;
    weighted.oob_reporting_config = {9000, "host"};
    weighted.metric_names_for_computing_utilization = names;
    weighted.slow_start = plimsoll::SlowStart{std::chrono::milliseconds(5), 6,
                                              plimsoll::RuntimeDouble{7, "aggression"}};
    ClusterSettings settings = settings_of(weighted);
    plimsoll::LoadAwareLocality load_aware;
    load_aware.weight_update_period = std::chrono::milliseconds(100);
    load_aware.smoothing_time_constant = std::chrono::milliseconds(9);
    load_aware.weight_expiration_period = std::chrono::milliseconds(10);
    load_aware.oob_reporting_period = std::chrono::milliseconds(11);
    load_aware.utilization_variance_threshold = 0.12;
    load_aware.remote_probe_fraction = 0.13;
    load_aware.enable_oob_load_report = true;
    load_aware.oob_reporting_config = {9001, "other"};
    load_aware.metric_names_for_computing_utilization = plimsoll::Span<const plimsoll::Text>(names).first(1);
    settings.locality_routing = load_aware;
    settings.healthy_panic_threshold = 14;
    settings.fail_traffic_on_panic = true;
    settings.active_health_checks = true;
    settings.ignore_new_hosts_until_first_hc = true;
    settings.ignore_health_on_host_removal = true;
    settings.override_host_status = {plimsoll::EdsHealth::timeout};
    const plimsoll::detail::RawSettings raw(settings);
    const plimsoll_cluster_settings& c = *raw.get();
    CHECK(c.policy == PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN);
    const auto& w = *c.client_side_weighted_round_robin;
    CHECK(w.blackout_period_ns == 1000000 && w.weight_expiration_period_ns == 2000000);
    CHECK(w.weight_update_period_ns == 3000000 && w.oob_reporting_period_ns == 4000000);
    CHECK(w.has_error_utilization_penalty == 1 && w.error_utilization_penalty == 0.5F);
    CHECK(w.enable_oob_load_report == 1 && w.oob_reporting_config->port_value == 9000);
    CHECK(w.oob_reporting_config->authority.len == 4 && w.metric_name_count == 2);
    CHECK(w.metric_names_for_computing_utilization[1].data == names[1].view().data());
    CHECK(c.slow_start->window_ns == 5000000 && c.slow_start->min_weight_percent == 6);
    CHECK(c.slow_start->aggression->default_value == 7);
    CHECK(c.slow_start->aggression->runtime_key.len == 10);
    CHECK(c.locality_routing == PLIMSOLL_ROUTING_LOAD_AWARE);
    const plimsoll_load_aware_locality& l = *c.load_aware_locality;
    CHECK(l.weight_update_period_ns == 100000000 && l.smoothing_time_constant_ns == 9000000);
    CHECK(l.weight_expiration_period_ns == 10000000 && l.oob_reporting_period_ns == 11000000);
    CHECK(l.utilization_variance_threshold == 0.12 && l.remote_probe_fraction == 0.13);
    CHECK(l.enable_oob_load_report == 1 && l.oob_reporting_config->port_value == 9001);
    CHECK(l.metric_name_count == 1);
    CHECK(c.healthy_panic_threshold == 14 && c.fail_traffic_on_panic == 1);
    CHECK(c.active_health_checks == 1 && c.ignore_new_hosts_until_first_hc == 1);
    CHECK(c.ignore_health_on_host_removal == 1);
    CHECK(c.override_host_status == 1U << PLIMSOLL_EDS_TIMEOUT);
    must(Cluster::open(settings));
}

void hashing_and_zones_reach_their_members() {
    auto policies = plimsoll::HashPolicies::of({{plimsoll::HashKind::source_ip}});
    CHECK(policies);
    const plimsoll::detail::RawSettings ring(settings_of(
        plimsoll::RingHash{plimsoll::HashFunction::murmur_hash_2, 1, 2, true, 150, &*policies}));
    const plimsoll_ring_hash& r = *ring.get()->ring_hash;
    CHECK(r.hash_function == PLIMSOLL_HASH_FUNCTION_MURMUR_HASH_2 && r.minimum_ring_size == 1);
    CHECK(r.maximum_ring_size == 2 && r.use_hostname_for_hashing == 1);
    CHECK(r.hash_balance_factor == 150 && r.hash_policies == policies->handle());
    const plimsoll::detail::RawSettings table(
        settings_of(plimsoll::Maglev{251, true, 200, &*policies}));
    const plimsoll_maglev& m = *table.get()->maglev;
    CHECK(m.table_size == 251 && m.use_hostname_for_hashing == 1 && m.hash_balance_factor == 200);
    CHECK(m.hash_policies == policies->handle());

    ClusterSettings settings =
        settings_of(plimsoll::LeastRequest{3, plimsoll::SelectionMethod::full_scan,
                                           plimsoll::RuntimeDouble{0.5, "bias"}});
    settings.locality_routing =
        plimsoll::ZoneAware{50, 7, 0, plimsoll::LocalityBasis::healthy_hosts_weight};
    const plimsoll::detail::RawSettings raw(settings);
    const plimsoll_least_request& b = *raw.get()->least_request;
    CHECK(b.choice_count == 3 && b.selection_method == PLIMSOLL_SELECTION_FULL_SCAN);
    CHECK(b.active_request_bias->default_value == 0.5);
    const plimsoll_zone_aware& z = *raw.get()->zone_aware;
    CHECK(z.routing_enabled == 50 && z.min_cluster_size == 7);
    CHECK(z.has_force_local_zone == 1 && z.force_local_zone == 0);
    CHECK(z.locality_basis == PLIMSOLL_BASIS_HEALTHY_HOSTS_WEIGHT);
}

void hosts_reach_their_members() {
    const std::vector<Endpoint> hosts = {
        {"a", 2, plimsoll::EdsHealth::degraded, "name", "key", true, "checked"}, {"b"}};
    const std::vector<LocalityHosts> groups = {{hosts, "r", "z", "s", 4, 5}, {TWO}};
    const plimsoll::detail::RawAssignment raw(Assignment{groups, 150, true});
    const plimsoll_assignment& a = *raw.get();
    CHECK(a.locality_count == 2 && a.overprovisioning_factor == 150);
    CHECK(a.weighted_priority_health == 1);
    const plimsoll_locality_hosts& group = a.localities[0];
    CHECK(group.region.data[0] == 'r' && group.zone.data[0] == 'z' && group.sub_zone.data[0] == 's');
    CHECK(group.priority == 4 && group.weight == 5 && group.host_count == 2);
    const plimsoll_endpoint& host = group.hosts[0];
    CHECK(host.address.data[0] == 'a' && host.weight == 2);
    CHECK(host.health_status == PLIMSOLL_EDS_DEGRADED && host.hostname.len == 4);
    CHECK(host.hash_key.len == 3 && host.disable_active_health_check == 1);
    CHECK(host.health_check_address.len == 7);
    CHECK(group.hosts[1].address.data[0] == 'b' && group.hosts[1].weight == 1);
    CHECK(a.localities[1].hosts == group.hosts + 2 && a.localities[1].host_count == 2);
}

void settings_and_hosts_change_together_or_apart() {
    const LocalityHosts two[] = {{TWO}}, third[] = {{THIRD}};
    const Cluster cluster =
        must(Cluster::open(settings_of(plimsoll::RoundRobin{}), Assignment{two}));
    plimsoll::Worker worker = worker_of(cluster);
    CHECK(gets(worker, "10.0.0.1:80", 50));
    const auto both = cluster.configure(settings_of(plimsoll::LeastRequest{}), Assignment{third});
    CHECK(both && both->published);
    CHECK(next(worker) == "10.0.0.3:80");
    CHECK(cluster.configure(settings_of(plimsoll::Random{})));
    CHECK(next(worker) == "10.0.0.3:80");
    const auto hosts = cluster.configure(Assignment{two});
    CHECK(hosts && share_of(worker, 10, "10.0.0.3:80") == 0);
    const auto again = cluster.configure(Assignment{two});
    CHECK(again && !again->published && again->version == hosts->version);
}

void mistakes_are_named_by_member() {
    plimsoll::ClusterOptions options;
    const auto field = [](const auto& result) {
        CHECK(result.status() == Status::invalid_argument);
        return std::string(result.error().field());
    };
    CHECK(field(Cluster::open(ClusterSettings())) == "settings.name");
    CHECK(field(Cluster::open(settings_of(plimsoll::LeastRequest{1}), options)) ==
          "settings.least_request.choice_count");
    const Endpoint hosts[] = {{"a"}, {"b", 0}};
    const LocalityHosts groups[] = {{THIRD}, {hosts}};
    const Assignment assignment{groups};
    CHECK(field(Cluster::open(settings_of(plimsoll::Random{}), assignment)) ==
          "assignment.localities[1].hosts[1].weight");
    const Cluster cluster = open();
    CHECK(field(cluster.configure(assignment)) == "assignment.localities[1].hosts[1].weight");
    CHECK(field(cluster.configure(settings_of(plimsoll::Maglev{250}), assignment)) ==
          "settings.maglev.table_size");
    plimsoll::RoundRobin negative;
    negative.slow_start = plimsoll::SlowStart{Time(-1)};
    CHECK(field(cluster.configure(settings_of(negative))) == "settings.slow_start.window_ns");
    plimsoll::Worker worker = worker_of(cluster);
    CHECK(gets(worker, "10.0.0.1:80", 50));
}

void hash_policies_are_made_of_values() {
    const plimsoll::Header attributes[] = {{"Secure", ""}};
    plimsoll::HashPolicy session{plimsoll::HashKind::cookie, "session"};
    session.ttl = std::chrono::seconds(60);
    session.path = "/app";
    session.attributes = attributes;
    const std::vector<plimsoll::HashPolicy> list = {session, {plimsoll::HashKind::header, "X-User"}};
    auto route = plimsoll::HashPolicies::of(list);
    CHECK(route);
    plimsoll::Request request;
    request.remote_address = "10.0.0.7:4711";
    request.local_address = "10.0.0.1:80";
    std::string cookie;
    CHECK(route->hash(request, [&](std::string_view value) { cookie = value; }));
    CHECK(cookie.find("session=") == 0 && cookie.find("Max-Age=60; Path=/app") != std::string::npos);
    CHECK(cookie.find("Secure") != std::string::npos);
    const plimsoll::Header headers[] = {{"x-user", "7"}};
    request.headers = headers;
    CHECK(route->hash(request));

    const auto refused = plimsoll::HashPolicies::of({session, {plimsoll::HashKind::filter_state}});
    CHECK(refused.status() == Status::invalid_argument);
    CHECK(refused.error().field() == "policies[1].name");
}

void places_of_an_override_come_back() {
    static const plimsoll::Text path[] = {"a", "b"};
    static const OverridePlace sources[] = {OverridePlace::header("x-host"),
                                            OverridePlace::metadata("envoy.lb", path)};
    ClusterSettings settings = settings_of(plimsoll::RoundRobin{});
    settings.override_host =
        plimsoll::OverrideHost{sources, OverridePlace::selected_host("envoy.lb", path)};
    const Cluster cluster = must(Cluster::open(settings));
    std::vector<std::string> seen;
    CHECK(cluster.for_each_override_source([&](const plimsoll::OverrideSource& source) {
        seen.push_back(std::string(source.name()) + "/" + std::to_string(source.path().size()));
        return plimsoll::Visit::more;
    }));
    CHECK((seen == std::vector<std::string>{"x-host/0", "envoy.lb/2", "envoy.lb/2"}));
}

}  // namespace

void test_settings() {
    values_and_text_are_the_same_cluster();
    what_is_left_alone_is_what_c_leaves_alone();
    each_value_reaches_its_member();
    hashing_and_zones_reach_their_members();
    hosts_reach_their_members();
    settings_and_hosts_change_together_or_apart();
    mistakes_are_named_by_member();
    hash_policies_are_made_of_values();
    places_of_an_override_come_back();
}
