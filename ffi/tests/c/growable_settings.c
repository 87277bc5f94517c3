/* The structs of settings and hosts grow as the others do, each of them on its own. */

#include "check.h"

enum { ROOM = 512 };

/* A struct of any age, with what lies behind it. */
typedef union {
    size_t size;
    uint64_t alignment;
    unsigned char bytes[ROOM];
} any_struct;

/* Opens a cluster that names this struct somewhere, or does whatever else reads it. */
typedef plimsoll_status attempt(const void *it, plimsoll_error **error);

static plimsoll_status open_with(const plimsoll_cluster_settings *settings,
                                 const plimsoll_assignment *assignment, plimsoll_error **error) {
    plimsoll_cluster *cluster;
    plimsoll_status status = plimsoll_cluster_new(settings, assignment, NULL, &cluster, error);
    CHECK((cluster != NULL) == (status == PLIMSOLL_STATUS_OK));
    plimsoll_cluster_free(cluster);
    return status;
}

static plimsoll_cluster_settings settings_of(uint32_t policy) {
    plimsoll_cluster_settings settings = PLIMSOLL_CLUSTER_SETTINGS_INIT;
    settings.name = PLIMSOLL_STR("api");
    settings.policy = policy;
    return settings;
}

static plimsoll_status settings(const void *it, plimsoll_error **error) {
    return open_with(it, NULL, error);
}

static plimsoll_status slow_start(const void *it, plimsoll_error **error) {
    plimsoll_cluster_settings own = settings_of(PLIMSOLL_POLICY_ROUND_ROBIN);
    own.slow_start = it;
    return open_with(&own, NULL, error);
}

static plimsoll_status least_request(const void *it, plimsoll_error **error) {
    plimsoll_cluster_settings own = settings_of(PLIMSOLL_POLICY_LEAST_REQUEST);
    own.least_request = it;
    return open_with(&own, NULL, error);
}

static plimsoll_status weighted(const void *it, plimsoll_error **error) {
    plimsoll_cluster_settings own = settings_of(PLIMSOLL_POLICY_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN);
    own.client_side_weighted_round_robin = it;
    return open_with(&own, NULL, error);
}

static plimsoll_status oob_reporting(const void *it, plimsoll_error **error) {
    plimsoll_client_side_weighted_round_robin own = PLIMSOLL_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN_INIT;
    own.oob_reporting_config = it;
    return weighted(&own, error);
}

static plimsoll_status ring_hash(const void *it, plimsoll_error **error) {
    plimsoll_cluster_settings own = settings_of(PLIMSOLL_POLICY_RING_HASH);
    own.ring_hash = it;
    return open_with(&own, NULL, error);
}

static plimsoll_status maglev(const void *it, plimsoll_error **error) {
    plimsoll_cluster_settings own = settings_of(PLIMSOLL_POLICY_MAGLEV);
    own.maglev = it;
    return open_with(&own, NULL, error);
}

static plimsoll_status zone_aware(const void *it, plimsoll_error **error) {
    plimsoll_cluster_settings own = settings_of(PLIMSOLL_POLICY_RANDOM);
    own.locality_routing = PLIMSOLL_ROUTING_ZONE_AWARE;
    own.zone_aware = it;
    return open_with(&own, NULL, error);
}

static plimsoll_status load_aware(const void *it, plimsoll_error **error) {
    plimsoll_cluster_settings own = settings_of(PLIMSOLL_POLICY_RANDOM);
    own.locality_routing = PLIMSOLL_ROUTING_LOAD_AWARE;
    own.load_aware_locality = it;
    return open_with(&own, NULL, error);
}

static plimsoll_status override_host(const void *it, plimsoll_error **error) {
    plimsoll_cluster_settings own = settings_of(PLIMSOLL_POLICY_RANDOM);
    own.override_host = it;
    return open_with(&own, NULL, error);
}

static plimsoll_status override_source(const void *it, plimsoll_error **error) {
    plimsoll_override_host own = PLIMSOLL_OVERRIDE_HOST_INIT;
    own.sources = it;
    own.source_count = 1;
    return override_host(&own, error);
}

static plimsoll_status assignment(const void *it, plimsoll_error **error) {
    plimsoll_cluster_settings own = settings_of(PLIMSOLL_POLICY_RANDOM);
    return open_with(&own, it, error);
}

static plimsoll_status locality_hosts(const void *it, plimsoll_error **error) {
    plimsoll_assignment own = PLIMSOLL_ASSIGNMENT_INIT;
    own.localities = it;
    own.locality_count = 1;
    return assignment(&own, error);
}

static plimsoll_status endpoint(const void *it, plimsoll_error **error) {
    plimsoll_locality_hosts own = PLIMSOLL_LOCALITY_HOSTS_INIT;
    own.hosts = it;
    own.host_count = 1;
    return locality_hosts(&own, error);
}

static plimsoll_status hash_policy(const void *it, plimsoll_error **error) {
    plimsoll_hash_policies *policies;
    plimsoll_status status = plimsoll_hash_policies_new(it, 1, &policies, error);
    CHECK((policies != NULL) == (status == PLIMSOLL_STATUS_OK));
    plimsoll_hash_policies_free(policies);
    return status;
}

static any_struct copy_of(const void *from, size_t size) {
    any_struct copy;
    CHECK(size + sizeof(uint64_t) <= sizeof copy);
    memset(&copy, 0, sizeof copy);
    memcpy(copy.bytes, from, size);
    return copy;
}

/* `known` is a struct of `size` bytes, of which an older header has `older`; `name` is the argument
 * or the member that it stands in. */
static void expect_growth(attempt *attempt, const char *name, const void *known, size_t size,
                          size_t older) {
    any_struct it = copy_of(known, size);
    CHECK(it.size == size);
    OK(attempt(&it, NULL));

    /* Beyond `size`, and so not read: no such number, flag or pointer would be accepted. */
    memset(it.bytes + older, 0xfe, ROOM - older);
    it.size = older;
    OK(attempt(&it, NULL));

    it = copy_of(known, size);
    it.size = size + sizeof(uint64_t);
    OK(attempt(&it, NULL));
    it.bytes[size + 3] = 1;
    plimsoll_error *error = NULL;
    EXPECT(PLIMSOLL_STATUS_UNSUPPORTED_FIELD, attempt(&it, &error));
    char message[160];
    snprintf(message, sizeof message,
             "byte %zu is set, and this library knows of none there: it is older than the header "
             "of its caller",
             size + 3);
    expect_error(error, PLIMSOLL_STATUS_UNSUPPORTED_FIELD, "unsupported_field", name, message);

    char field[160];
    snprintf(field, sizeof field, "%s.size", name);
    static const size_t impossible[] = {0, sizeof(size_t) - 1, 4097, SIZE_MAX};
    for (size_t index = 0; index < sizeof impossible / sizeof impossible[0]; index++) {
        it.size = impossible[index];
        EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT, attempt(&it, &error));
        expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", field, NULL);
    }
}

#define GROWS(attempt, name, known, type, first_unknown) \
    expect_growth(attempt, name, &known, sizeof known, offsetof(type, first_unknown))

static void each_struct_of_settings_grows(void) {
    plimsoll_cluster_settings own = settings_of(PLIMSOLL_POLICY_ROUND_ROBIN);
    GROWS(settings, "settings", own, plimsoll_cluster_settings, policy);
    plimsoll_slow_start warm_up = PLIMSOLL_SLOW_START_INIT;
    GROWS(slow_start, "settings.slow_start", warm_up, plimsoll_slow_start, window_ns);
    plimsoll_least_request busy = PLIMSOLL_LEAST_REQUEST_INIT;
    GROWS(least_request, "settings.least_request", busy, plimsoll_least_request, choice_count);
    plimsoll_client_side_weighted_round_robin reported =
        PLIMSOLL_CLIENT_SIDE_WEIGHTED_ROUND_ROBIN_INIT;
    GROWS(weighted, "settings.client_side_weighted_round_robin", reported,
          plimsoll_client_side_weighted_round_robin, blackout_period_ns);
    plimsoll_oob_reporting streams = PLIMSOLL_OOB_REPORTING_INIT;
    GROWS(oob_reporting, "settings.client_side_weighted_round_robin.oob_reporting_config", streams,
          plimsoll_oob_reporting, authority);
    plimsoll_ring_hash ring = PLIMSOLL_RING_HASH_INIT;
    GROWS(ring_hash, "settings.ring_hash", ring, plimsoll_ring_hash, hash_function);
    plimsoll_maglev table = PLIMSOLL_MAGLEV_INIT;
    GROWS(maglev, "settings.maglev", table, plimsoll_maglev, table_size);
    plimsoll_zone_aware zones = PLIMSOLL_ZONE_AWARE_INIT;
    GROWS(zone_aware, "settings.zone_aware", zones, plimsoll_zone_aware, routing_enabled);
    plimsoll_load_aware_locality loads = PLIMSOLL_LOAD_AWARE_LOCALITY_INIT;
    GROWS(load_aware, "settings.load_aware_locality", loads, plimsoll_load_aware_locality,
          weight_update_period_ns);
    plimsoll_override_source source = PLIMSOLL_OVERRIDE_SOURCE_INIT;
    source.kind = PLIMSOLL_OVERRIDE_HEADER;
    source.name = PLIMSOLL_STR("x-host");
    GROWS(override_source, "settings.override_host.sources[0]", source, plimsoll_override_source,
          path);
    plimsoll_override_host named = PLIMSOLL_OVERRIDE_HOST_INIT;
    named.sources = &source;
    named.source_count = 1;
    GROWS(override_host, "settings.override_host", named, plimsoll_override_host,
          selected_host_key);
}

static void each_struct_of_hosts_grows(void) {
    plimsoll_assignment all = PLIMSOLL_ASSIGNMENT_INIT;
    GROWS(assignment, "assignment", all, plimsoll_assignment, localities);
    plimsoll_locality_hosts group = PLIMSOLL_LOCALITY_HOSTS_INIT;
    GROWS(locality_hosts, "assignment.localities[0]", group, plimsoll_locality_hosts, region);
    plimsoll_endpoint host = PLIMSOLL_ENDPOINT_INIT;
    host.address = PLIMSOLL_STR("10.0.0.1:80");
    GROWS(endpoint, "assignment.localities[0].hosts[0]", host, plimsoll_endpoint, hostname);
    plimsoll_hash_policy policy = PLIMSOLL_HASH_POLICY_INIT;
    policy.kind = PLIMSOLL_HASH_HEADER;
    policy.name = PLIMSOLL_STR("x-user");
    GROWS(hash_policy, "policies[0]", policy, plimsoll_hash_policy, path);
}

static void hosts_of_a_newer_caller_lie_further_apart(void) {
    struct {
        plimsoll_endpoint known;
        uint64_t invented;
    } hosts[2] = {{PLIMSOLL_ENDPOINT_INIT, 0}, {PLIMSOLL_ENDPOINT_INIT, 0}};
    hosts[0].known.size = hosts[1].known.size = sizeof hosts[0];
    hosts[0].known.address = PLIMSOLL_STR("10.0.0.1:80");
    hosts[1].known.address = PLIMSOLL_STR("10.0.0.2:80");
    plimsoll_locality_hosts group = PLIMSOLL_LOCALITY_HOSTS_INIT;
    group.hosts = &hosts[0].known;
    group.host_count = 2;
    plimsoll_assignment all = PLIMSOLL_ASSIGNMENT_INIT;
    all.localities = &group;
    all.locality_count = 1;
    plimsoll_cluster_settings own = settings_of(PLIMSOLL_POLICY_ROUND_ROBIN);
    plimsoll_cluster *cluster;
    OK(plimsoll_cluster_new(&own, &all, NULL, &cluster, NULL));
    CHECK(host_of(cluster, "10.0.0.2:80").weight == 1);
    plimsoll_cluster_free(cluster);

    hosts[1].invented = 1;
    plimsoll_error *error;
    EXPECT(PLIMSOLL_STATUS_UNSUPPORTED_FIELD,
           plimsoll_cluster_new(&own, &all, NULL, &cluster, &error));
    expect_error(error, PLIMSOLL_STATUS_UNSUPPORTED_FIELD, "unsupported_field",
                 "assignment.localities[0].hosts[1]", NULL);
    hosts[1].known.size = sizeof(plimsoll_endpoint);
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_cluster_new(&own, &all, NULL, &cluster, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument",
                 "assignment.localities[0].hosts[1].size", NULL);
}

void test_growable_settings(void) {
    each_struct_of_settings_grows();
    each_struct_of_hosts_grows();
    hosts_of_a_newer_caller_lie_further_apart();
}
