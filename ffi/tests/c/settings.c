/* Clusters from structs: what they do, how they are changed, and what is refused. What all the members
 * mean is compared with Envoy's texts in tests/settings.rs. */

#include <math.h>

#include "check.h"

static plimsoll_cluster_settings settings_of(uint32_t policy) {
    plimsoll_cluster_settings settings = PLIMSOLL_CLUSTER_SETTINGS_INIT;
    settings.name = PLIMSOLL_STR("api");
    settings.policy = policy;
    return settings;
}

static plimsoll_endpoint endpoint_of(const char *address, uint32_t weight) {
    plimsoll_endpoint host = PLIMSOLL_ENDPOINT_INIT;
    host.address = str(address);
    host.weight = weight;
    return host;
}

static plimsoll_locality_hosts group_of(const plimsoll_endpoint *hosts, size_t count) {
    plimsoll_locality_hosts group = PLIMSOLL_LOCALITY_HOSTS_INIT;
    group.hosts = hosts;
    group.host_count = count;
    return group;
}

static plimsoll_assignment assignment_of(const plimsoll_locality_hosts *groups, size_t count) {
    plimsoll_assignment assignment = PLIMSOLL_ASSIGNMENT_INIT;
    assignment.localities = groups;
    assignment.locality_count = count;
    return assignment;
}

static void structs_and_text_are_the_same_cluster(void) {
    const plimsoll_endpoint hosts[] = {endpoint_of("10.0.0.1:80", 1),
                                       endpoint_of("10.0.0.2:80", 1)};
    const plimsoll_locality_hosts group = group_of(hosts, 2);
    const plimsoll_assignment assignment = assignment_of(&group, 1);
    const plimsoll_cluster_settings settings = settings_of(PLIMSOLL_POLICY_ROUND_ROBIN);
    plimsoll_cluster *clusters[2] = {open_two(), NULL};
    plimsoll_error *error = NULL;
    OK(plimsoll_cluster_new(&settings, &assignment, NULL, &clusters[1], &error));
    CHECK(error == NULL);
    CHECK(has_the_hosts_of(clusters[1], clusters[0]));
    plimsoll_cluster_free(clusters[0]);
    plimsoll_cluster_free(clusters[1]);
}

static void what_the_structs_pointed_to_may_go(void) {
    char address[] = "10.0.0.1:80", name[] = "api";
    plimsoll_endpoint host = endpoint_of(address, 1);
    plimsoll_locality_hosts group = group_of(&host, 1);
    plimsoll_assignment assignment = assignment_of(&group, 1);
    plimsoll_cluster_settings settings = settings_of(PLIMSOLL_POLICY_MAGLEV);
    settings.name = str(name);
    plimsoll_hash_policy by_user = PLIMSOLL_HASH_POLICY_INIT;
    by_user.kind = PLIMSOLL_HASH_HEADER;
    by_user.name = PLIMSOLL_STR("X-User");
    plimsoll_maglev maglev = PLIMSOLL_MAGLEV_INIT;
    plimsoll_hash_policies *policies;
    OK(plimsoll_hash_policies_new(&by_user, 1, &policies, NULL));
    maglev.table_size = 251;
    maglev.hash_policies = policies;
    settings.maglev = &maglev;
    plimsoll_cluster *cluster;
    OK(plimsoll_cluster_new(&settings, &assignment, NULL, &cluster, NULL));

    plimsoll_hash_policies_free(policies);
    memset(address, 'x', strlen(address));
    memset(name, 'x', strlen(name));
    memset(&host, 0xff, sizeof host);
    memset(&group, 0xff, sizeof group);
    memset(&maglev, 0xff, sizeof maglev);
    plimsoll_worker *worker = worker_of(cluster);
    CHECK(next_is(worker, "10.0.0.1:80"));

    /* The cluster's own policies hold: nobody gives any with the request. */
    plimsoll_header user = {PLIMSOLL_STR_INIT("x-user"), PLIMSOLL_STR_INIT("7")};
    plimsoll_request request = PLIMSOLL_REQUEST_INIT;
    uint64_t hash;
    EXPECT(PLIMSOLL_STATUS_NO_HASH, plimsoll_worker_hash(worker, NULL, &request, NULL, NULL, &hash));
    request.headers = &user;
    request.header_count = 1;
    OK(plimsoll_worker_hash(worker, NULL, &request, NULL, NULL, &hash));
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

static void settings_and_hosts_change_in_one_step(void) {
    const plimsoll_endpoint old = endpoint_of("10.0.0.1:80", 1);
    const plimsoll_locality_hosts first = group_of(&old, 1);
    const plimsoll_assignment before = assignment_of(&first, 1);
    const plimsoll_cluster_settings round_robin = settings_of(PLIMSOLL_POLICY_ROUND_ROBIN);
    plimsoll_cluster *cluster;
    OK(plimsoll_cluster_new(&round_robin, &before, NULL, &cluster, NULL));
    plimsoll_worker *worker = worker_of(cluster);
    CHECK(next_is(worker, "10.0.0.1:80"));

    const plimsoll_endpoint fresh[] = {endpoint_of("10.0.0.2:80", 1), endpoint_of("10.0.0.3:80", 3)};
    const plimsoll_locality_hosts second = group_of(fresh, 2);
    const plimsoll_assignment after = assignment_of(&second, 1);
    const plimsoll_cluster_settings busy = settings_of(PLIMSOLL_POLICY_LEAST_REQUEST);
    plimsoll_applied one, none;
    OK(plimsoll_cluster_configure(cluster, &busy, &after, &one, NULL));
    CHECK(one.published);
    CHECK(share_of(worker, 100, "10.0.0.1:80") == 0);
    OK(plimsoll_cluster_configure(cluster, &busy, &after, &none, NULL));
    CHECK(!none.published && none.version == one.version);

    /* What is NULL stays. */
    OK(plimsoll_cluster_configure(cluster, NULL, &before, NULL, NULL));
    CHECK(next_is(worker, "10.0.0.1:80"));
    OK(plimsoll_cluster_configure(cluster, &round_robin, NULL, NULL, NULL));
    CHECK(next_is(worker, "10.0.0.1:80"));
    OK(plimsoll_cluster_configure(cluster, NULL, NULL, &none, NULL));
    CHECK(!none.published);
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

static void a_mistake_in_one_half_changes_neither(void) {
    plimsoll_cluster *cluster = open_two();
    plimsoll_worker *worker = worker_of(cluster);
    plimsoll_endpoint hosts[] = {endpoint_of("10.0.0.8:80", 1), endpoint_of("10.0.0.9:80", 0)};
    plimsoll_locality_hosts groups[] = {group_of(hosts, 1), group_of(hosts, 2)};
    plimsoll_assignment assignment = assignment_of(groups, 2);
    plimsoll_cluster_settings settings = settings_of(PLIMSOLL_POLICY_MAGLEV);
    plimsoll_applied applied = {7, true};
    plimsoll_error *error;
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_cluster_configure(cluster, &settings, &assignment, &applied, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument",
                 "assignment.localities[1].hosts[1].weight",
                 "LbEndpointValidationError.LoadBalancingWeight: value must be greater than or equal to 1");
    CHECK(applied.version == 0 && !applied.published);
    CHECK(gets_about_half(worker, "10.0.0.1:80"));

    hosts[1].weight = 1;
    settings.policy = PLIMSOLL_POLICY_LEAST_REQUEST;
    plimsoll_least_request least_request = PLIMSOLL_LEAST_REQUEST_INIT;
    least_request.choice_count = 1;
    settings.least_request = &least_request;
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_cluster_configure(cluster, &settings, &assignment, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument",
                 "settings.least_request.choice_count",
                 "LeastRequestValidationError.ChoiceCount: value must be greater than or equal to 2");
    CHECK(gets_about_half(worker, "10.0.0.1:80"));
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

/* Their sums have to fit where a policy goes by hashes: settings and hosts are right each by itself. */
static void weights_that_are_too_large_together_are_the_hosts_fault(void) {
    const plimsoll_endpoint hosts[] = {endpoint_of("10.0.0.1:80", UINT32_MAX),
                                       endpoint_of("10.0.0.2:80", 1)};
    const plimsoll_locality_hosts group = group_of(hosts, 2);
    const plimsoll_assignment assignment = assignment_of(&group, 1);
    plimsoll_cluster_settings settings = settings_of(PLIMSOLL_POLICY_RING_HASH);
    plimsoll_cluster *cluster;
    plimsoll_error *error;
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_cluster_new(&settings, &assignment, NULL, &cluster, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument",
                 "assignment.localities", NULL);
    settings.policy = PLIMSOLL_POLICY_RANDOM;
    OK(plimsoll_cluster_new(&settings, &assignment, NULL, &cluster, NULL));
    settings.policy = PLIMSOLL_POLICY_RING_HASH;
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_cluster_configure(cluster, &settings, NULL, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument",
                 "assignment.localities", NULL);
    plimsoll_cluster_free(cluster);
}

static void behavior_and_options_stay(void) {
    const plimsoll_endpoint hosts[] = {endpoint_of("10.0.0.1:80", 1),
                                       endpoint_of("10.0.0.2:80", 1000)};
    const plimsoll_locality_hosts group = group_of(hosts, 2);
    const plimsoll_assignment assignment = assignment_of(&group, 1);
    const plimsoll_cluster_settings random = settings_of(PLIMSOLL_POLICY_RANDOM);
    const plimsoll_cluster_settings round_robin = settings_of(PLIMSOLL_POLICY_ROUND_ROBIN);
    plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
    options.behavior = PLIMSOLL_BEHAVIOR_ENVOY;
    options.has_seed = 1;
    plimsoll_cluster *cluster;
    OK(plimsoll_cluster_new(&round_robin, &assignment, &options, &cluster, NULL));
    OK(plimsoll_cluster_configure(cluster, &random, NULL, NULL, NULL));
    plimsoll_worker *worker = worker_of(cluster);
    /* Envoy's random takes no notice of weights. */
    CHECK(share_of(worker, 100, "10.0.0.1:80") > 20);
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

static void localities_weigh_what_their_structs_say(void) {
    const plimsoll_endpoint near_by = endpoint_of("10.0.0.1:80", 1);
    const plimsoll_endpoint far = endpoint_of("10.0.1.1:80", 1);
    plimsoll_locality_hosts groups[] = {group_of(&near_by, 1), group_of(&far, 1)};
    groups[0].zone = PLIMSOLL_STR("a");
    groups[0].weight = 3;
    groups[1].zone = PLIMSOLL_STR("b");
    groups[1].weight = 1;
    plimsoll_assignment assignment = assignment_of(groups, 2);
    plimsoll_cluster_settings settings = settings_of(PLIMSOLL_POLICY_ROUND_ROBIN);
    settings.locality_routing = PLIMSOLL_ROUTING_WEIGHTED;
    plimsoll_cluster *cluster;
    OK(plimsoll_cluster_new(&settings, &assignment, NULL, &cluster, NULL));
    plimsoll_worker *worker = worker_of(cluster);
    int share = share_of(worker, 400, "10.0.0.1:80");
    CHECK(share > 290 && share < 310);
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

typedef struct {
    int places;
    plimsoll_override_source last;
    char name[32];
} seen_places;

static int see(void *userdata, const plimsoll_override_source *place) {
    seen_places *seen = userdata;
    seen->places++;
    seen->last = *place;
    memcpy(seen->name, place->name.data, place->name.len);
    return 0;
}

/* What a cluster shows is what one is told. */
static void places_of_an_override_come_back(void) {
    const plimsoll_str path[] = {PLIMSOLL_STR_INIT("selected")};
    plimsoll_override_source header = PLIMSOLL_OVERRIDE_SOURCE_INIT;
    header.kind = PLIMSOLL_OVERRIDE_HEADER;
    header.name = PLIMSOLL_STR("x-host");
    plimsoll_override_source selected = PLIMSOLL_OVERRIDE_SOURCE_INIT;
    selected.kind = PLIMSOLL_OVERRIDE_SELECTED_HOST;
    selected.name = PLIMSOLL_STR("envoy.lb");
    selected.path = path;
    selected.path_count = 1;
    plimsoll_override_host override_host = PLIMSOLL_OVERRIDE_HOST_INIT;
    override_host.sources = &header;
    override_host.source_count = 1;
    override_host.selected_host_key = &selected;
    plimsoll_cluster_settings settings = settings_of(PLIMSOLL_POLICY_ROUND_ROBIN);
    settings.override_host = &override_host;
    plimsoll_cluster *cluster;
    OK(plimsoll_cluster_new(&settings, NULL, NULL, &cluster, NULL));
    seen_places seen = {0};
    OK(plimsoll_cluster_for_each_override_source(cluster, &seen, see, NULL));
    CHECK(seen.places == 2 && seen.last.kind == PLIMSOLL_OVERRIDE_SELECTED_HOST);
    CHECK(seen.last.path_count == 1 && strcmp(seen.name, "envoy.lb") == 0);
    plimsoll_cluster_free(cluster);
}

static void an_empty_set_allows_no_override(void) {
    const plimsoll_endpoint host = endpoint_of("10.0.0.1:80", 1);
    const plimsoll_locality_hosts group = group_of(&host, 1);
    const plimsoll_assignment assignment = assignment_of(&group, 1);
    plimsoll_cluster_settings settings = settings_of(PLIMSOLL_POLICY_ROUND_ROBIN);
    plimsoll_cluster *cluster;
    OK(plimsoll_cluster_new(&settings, &assignment, NULL, &cluster, NULL));
    plimsoll_worker *worker = worker_of(cluster);
    const plimsoll_str wanted = PLIMSOLL_STR_INIT("10.0.0.1:80");
    plimsoll_pick pick;
    OK(plimsoll_worker_pick_override(worker, NULL, &wanted, 1, 1, &pick));
    OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    settings.override_host_status = 0;
    OK(plimsoll_cluster_configure(cluster, &settings, NULL, NULL, NULL));
    EXPECT(PLIMSOLL_STATUS_OVERRIDE_NOT_ALLOWED,
           plimsoll_worker_pick_override(worker, NULL, &wanted, 1, 1, &pick));
    settings.override_host_status = 1 << PLIMSOLL_EDS_UNKNOWN;
    OK(plimsoll_cluster_configure(cluster, &settings, NULL, NULL, NULL));
    OK(plimsoll_worker_pick_override(worker, NULL, &wanted, 1, 1, &pick));
    OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

/* Settings and hosts with all that they point to, so that each mistake is one assignment. */
typedef struct {
    plimsoll_cluster_settings settings;
    plimsoll_slow_start slow_start;
    plimsoll_runtime_double aggression;
    plimsoll_least_request least_request;
    plimsoll_load_aware_locality load_aware;
    plimsoll_endpoint host;
    plimsoll_locality_hosts group;
    plimsoll_assignment assignment;
} valid_cluster;

static void make_valid(valid_cluster *it) {
    const plimsoll_runtime_double aggression = {1.5, PLIMSOLL_STR_INIT("api.aggression")};
    const plimsoll_slow_start slow_start = PLIMSOLL_SLOW_START_INIT;
    const plimsoll_least_request least_request = PLIMSOLL_LEAST_REQUEST_INIT;
    const plimsoll_load_aware_locality load_aware = PLIMSOLL_LOAD_AWARE_LOCALITY_INIT;
    it->settings = settings_of(PLIMSOLL_POLICY_LEAST_REQUEST);
    it->settings.locality_routing = PLIMSOLL_ROUTING_LOAD_AWARE;
    it->aggression = aggression;
    it->slow_start = slow_start;
    it->slow_start.aggression = &it->aggression;
    it->settings.slow_start = &it->slow_start;
    it->least_request = least_request;
    it->settings.least_request = &it->least_request;
    it->load_aware = load_aware;
    it->settings.load_aware_locality = &it->load_aware;
    it->host = endpoint_of("10.0.0.1:80", 1);
    it->group = group_of(&it->host, 1);
    it->assignment = assignment_of(&it->group, 1);
}

#define MISTAKE(name, change) \
    static void name(valid_cluster *it) { it->change; }

MISTAKE(no_name, settings.name.len = 0)
MISTAKE(name_of_no_length, settings.name.len = SIZE_MAX)
MISTAKE(name_not_utf_8, settings.name = str("\xff"))
MISTAKE(other_policy, settings.policy = 4)
MISTAKE(policy_without_them, settings.policy = PLIMSOLL_POLICY_RANDOM)
MISTAKE(no_routing, settings.locality_routing = UINT32_MAX)
MISTAKE(routing_without_them, settings.locality_routing = PLIMSOLL_ROUTING_WEIGHTED)
MISTAKE(perhaps, settings.fail_traffic_on_panic = 2)
MISTAKE(later_member, settings.reserved = 1)
MISTAKE(no_such_health, settings.override_host_status = 1 << 6)
MISTAKE(no_number, settings.healthy_panic_threshold = NAN)
MISTAKE(too_small_a_struct, slow_start.size = 4)
MISTAKE(endless_window, slow_start.window_ns = UINT64_MAX)
MISTAKE(no_key, aggression.runtime_key.len = 0)
MISTAKE(no_aggression, aggression.default_value = 0)
MISTAKE(one_choice, least_request.choice_count = 1)
MISTAKE(no_selection, least_request.selection_method = 2)
MISTAKE(names_nowhere, load_aware.metric_name_count = 1)
MISTAKE(everything_remote, load_aware.remote_probe_fraction = 1)
MISTAKE(localities_nowhere, assignment.localities = NULL)
MISTAKE(more_localities_than_memory, assignment.locality_count = SIZE_MAX)
MISTAKE(no_overprovisioning, assignment.overprovisioning_factor = 0)
MISTAKE(last_priority, group.priority = 129)
MISTAKE(more_hosts_than_memory, group.host_count = SIZE_MAX / 2)
MISTAKE(no_weight, host.weight = 0)
MISTAKE(no_address, host.address.len = 0)
MISTAKE(checked_perhaps, host.disable_active_health_check = 7)

static void each_mistake_is_named(void) {
    static const struct {
        void (*make)(valid_cluster *it);
        const char *field;
    } mistakes[] = {
        {no_name, "settings.name"},
        {name_of_no_length, "settings.name"},
        {name_not_utf_8, "settings.name"},
        {other_policy, "settings.policy"},
        {policy_without_them, "settings.slow_start"},
        {no_routing, "settings.locality_routing"},
        {routing_without_them, "settings.load_aware_locality"},
        {perhaps, "settings.fail_traffic_on_panic"},
        {later_member, "settings"},
        {no_such_health, "settings.override_host_status"},
        {no_number, "settings.healthy_panic_threshold"},
        {too_small_a_struct, "settings.slow_start.size"},
        {endless_window, "settings.slow_start.window_ns"},
        {no_key, "settings.slow_start.aggression.runtime_key"},
        {no_aggression, "settings.slow_start.aggression.default_value"},
        {one_choice, "settings.least_request.choice_count"},
        {no_selection, "settings.least_request.selection_method"},
        {names_nowhere, "settings.load_aware_locality.metric_names_for_computing_utilization"},
        {everything_remote, "settings.load_aware_locality.remote_probe_fraction"},
        {localities_nowhere, "assignment.localities"},
        {more_localities_than_memory, "assignment.localities"},
        {no_overprovisioning, "assignment.overprovisioning_factor"},
        {last_priority, "assignment.localities[0].priority"},
        {more_hosts_than_memory, "assignment.localities[0].hosts"},
        {no_weight, "assignment.localities[0].hosts[0].weight"},
        {no_address, "assignment.localities[0].hosts[0].address"},
        {checked_perhaps, "assignment.localities[0].hosts[0].disable_active_health_check"},
    };
    valid_cluster it;
    plimsoll_cluster *cluster, *live;
    make_valid(&it);
    OK(plimsoll_cluster_new(&it.settings, &it.assignment, NULL, &live, NULL));
    for (size_t index = 0; index < sizeof mistakes / sizeof mistakes[0]; index++) {
        make_valid(&it);
        mistakes[index].make(&it);
        plimsoll_error *errors[2];
        plimsoll_status status =
            plimsoll_cluster_new(&it.settings, &it.assignment, NULL, &cluster, &errors[0]);
        CHECK(cluster == NULL);
        EXPECT(status, plimsoll_cluster_configure(live, &it.settings, &it.assignment, NULL, &errors[1]));
        for (int call = 0; call < 2; call++) {
            expect_error(errors[call], status, plimsoll_status_name(status), mistakes[index].field, NULL);
        }
    }
    plimsoll_cluster_free(live);
}

static void what_has_no_effect_is_told_what_was_chosen(void) {
    plimsoll_cluster *cluster;
    plimsoll_error *error;
    const plimsoll_slow_start slow_start = PLIMSOLL_SLOW_START_INIT;
    plimsoll_cluster_settings settings = settings_of(PLIMSOLL_POLICY_MAGLEV);
    settings.slow_start = &slow_start;
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_cluster_new(&settings, NULL, NULL, &cluster, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "settings.slow_start",
                 "set, but without effect: policy is PLIMSOLL_POLICY_MAGLEV");

    const plimsoll_zone_aware zone_aware = PLIMSOLL_ZONE_AWARE_INIT;
    settings = settings_of(PLIMSOLL_POLICY_RANDOM);
    settings.locality_routing = PLIMSOLL_ROUTING_WEIGHTED;
    settings.zone_aware = &zone_aware;
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_cluster_new(&settings, NULL, NULL, &cluster, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "settings.zone_aware",
                 "set, but without effect: locality_routing is PLIMSOLL_ROUTING_WEIGHTED");

    settings = settings_of(4);
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_cluster_new(&settings, NULL, NULL, &cluster, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "settings.policy",
                 "4 stands for nothing here: one of PLIMSOLL_POLICY_... is expected");
}

static void pointers_that_must_be_there_are_named(void) {
    const plimsoll_cluster_settings settings = settings_of(PLIMSOLL_POLICY_ROUND_ROBIN);
    plimsoll_cluster *cluster = (plimsoll_cluster *)&settings; /* which it is not */
    plimsoll_error *error;
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT, plimsoll_cluster_new(NULL, NULL, NULL, &cluster, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "settings",
                 "settings is NULL");
    CHECK(cluster == NULL);
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_cluster_new(&settings, NULL, NULL, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "out", NULL);
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_cluster_configure(NULL, &settings, NULL, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "cluster", NULL);
    plimsoll_hash_policies *policies;
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT, plimsoll_hash_policies_new(NULL, 1, &policies, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "policies", NULL);
    CHECK(policies == NULL);
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT, plimsoll_hash_policies_new(NULL, 0, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "out", NULL);
    OK(plimsoll_hash_policies_new(NULL, 0, &policies, &error));
    plimsoll_hash_policies_free(policies);

    plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
    options.behavior = 77;
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_cluster_new(&settings, NULL, &options, &cluster, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "options.behavior",
                 NULL);
}

void test_settings(void) {
    structs_and_text_are_the_same_cluster();
    what_the_structs_pointed_to_may_go();
    settings_and_hosts_change_in_one_step();
    a_mistake_in_one_half_changes_neither();
    weights_that_are_too_large_together_are_the_hosts_fault();
    behavior_and_options_stay();
    localities_weigh_what_their_structs_say();
    places_of_an_override_come_back();
    an_empty_set_allows_no_override();
    each_mistake_is_named();
    what_has_no_effect_is_told_what_was_chosen();
    pointers_that_must_be_there_are_named();
}
