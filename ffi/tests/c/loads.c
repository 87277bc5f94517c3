/* How busy hosts are: what the caller says of it, and what least request makes of it. */

#include "check.h"

#define COUNT_PENDING \
    PLIMSOLL_STR("envoy.reloadable_features.least_request_lb_count_pending_requests")

static const plimsoll_pick_context ANY = PLIMSOLL_PICK_CONTEXT_INIT;

static plimsoll_cluster *cluster;
static plimsoll_worker *worker;

/* Both hosts of the cluster at once. */
static void set_both(plimsoll_host_load first, plimsoll_host_load second) {
    plimsoll_host_load loads[2] = {first, second};
    OK(plimsoll_cluster_set_loads(cluster, loads, 2, NULL));
}

static bool all_go_to(const char *address) {
    return uncounted_share_of(worker, ANY, 100, address) == 100;
}

static void the_idle_host_is_picked_over_the_busy_one(void) {
    set_both(load_of("10.0.0.1:80", 0), load_of("10.0.0.2:80", 10));
    CHECK(all_go_to("10.0.0.1:80"));
    CHECK(host_of(cluster, "10.0.0.1:80").active == 0);
    CHECK(host_of(cluster, "10.0.0.2:80").active == 10);
    set_both(load_of("10.0.0.1:80", PLIMSOLL_MAX_LOAD), load_of("10.0.0.2:80", 10));
    CHECK(all_go_to("10.0.0.2:80"));
}

static void picks_and_their_ends_count_on(void) {
    set_both(load_of("10.0.0.1:80", 0), load_of("10.0.0.2:80", 3));
    plimsoll_pick picks[3];
    for (int index = 0; index < 3; index++) {
        picks[index] = pick_one(worker);
        CHECK(pick_is(worker, &picks[index], "10.0.0.1:80"));
    }
    CHECK(host_of(cluster, "10.0.0.1:80").active == 3);
    for (int index = 0; index < 3; index++) {
        OK(plimsoll_worker_done(worker, &picks[index], PLIMSOLL_OUTCOME_SUCCESS));
    }
    CHECK(host_of(cluster, "10.0.0.1:80").active == 0);
}

static void the_policy_sees_picks_of_other_workers(void) {
    set_both(load_of("10.0.0.1:80", 0), load_of("10.0.0.2:80", 0));
    plimsoll_worker *other = worker_of(cluster);
    plimsoll_pick pick = pick_one(other);
    CHECK(all_go_to(pick_is(other, &pick, "10.0.0.1:80") ? "10.0.0.2:80" : "10.0.0.1:80"));
    OK(plimsoll_worker_done(other, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    plimsoll_worker_free(other);
}

static void waiting_requests_count_where_the_runtime_says_so(void) {
    const bool yes = true, no = false;
    plimsoll_host_load waiting = load_of("10.0.0.1:80", 0);
    waiting.pending = 10; /* without the flag it is not read */
    set_both(waiting, load_of("10.0.0.2:80", 5));
    OK(plimsoll_cluster_set_runtime_bool(cluster, COUNT_PENDING, &yes, NULL, NULL));
    CHECK(all_go_to("10.0.0.1:80"));
    waiting.flags = PLIMSOLL_LOAD_HAS_PENDING;
    set_both(waiting, load_of("10.0.0.2:80", 5));
    CHECK(all_go_to("10.0.0.2:80"));
    /* Without the flag what was said before stays. */
    set_both(load_of("10.0.0.1:80", 0), load_of("10.0.0.2:80", 5));
    CHECK(all_go_to("10.0.0.2:80"));
    OK(plimsoll_cluster_set_runtime_bool(cluster, COUNT_PENDING, &no, NULL, NULL));
    CHECK(all_go_to("10.0.0.1:80"));
    OK(plimsoll_cluster_set_runtime_bool(cluster, COUNT_PENDING, &yes, NULL, NULL));
    CHECK(all_go_to("10.0.0.2:80"));
    OK(plimsoll_cluster_set_runtime_bool(cluster, COUNT_PENDING, NULL, NULL, NULL));
    CHECK(all_go_to("10.0.0.1:80"));
}

static void refused(plimsoll_host_load load, plimsoll_status status, const char *code,
                    const char *field) {
    /* The first load is fine, and must not hold either. */
    plimsoll_host_load loads[2] = {load_of("10.0.0.1:80", 7), load};
    plimsoll_error *error = NULL;
    EXPECT(status, plimsoll_cluster_set_loads(cluster, loads, 2, &error));
    expect_error(error, status, code, field, NULL);
    CHECK(host_of(cluster, "10.0.0.1:80").active == 1);
    CHECK(host_of(cluster, "10.0.0.2:80").active == 2);
}

static void a_refused_load_takes_its_call_with_it(void) {
    const plimsoll_status invalid = PLIMSOLL_STATUS_INVALID_ARGUMENT;
    set_both(load_of("10.0.0.1:80", 1), load_of("10.0.0.2:80", 2));
    refused(load_of("10.0.0.9:80", 0), PLIMSOLL_STATUS_UNKNOWN_HOST, "unknown_host", "10.0.0.9:80");
    refused(load_of("", 0), PLIMSOLL_STATUS_UNKNOWN_HOST, "unknown_host", "");
    refused(load_of("\xff", 0), invalid, "invalid_argument", "loads[1].address");
    refused(load_of("10.0.0.2:80", PLIMSOLL_MAX_LOAD + 1u), invalid, "invalid_argument",
            "loads[1].active");
    plimsoll_host_load load = load_of("10.0.0.2:80", 0);
    load.flags = PLIMSOLL_LOAD_HAS_PENDING;
    load.pending = PLIMSOLL_MAX_LOAD + 1u;
    refused(load, invalid, "invalid_argument", "loads[1].pending");
    load.flags = 2;
    refused(load, invalid, "invalid_argument", "loads[1].flags");
    load = load_of("10.0.0.2:80", 0);
    load.reserved = 1;
    refused(load, PLIMSOLL_STATUS_UNSUPPORTED_FIELD, "unsupported_field", "loads[1]");
}

static void a_host_that_is_named_twice_has_its_last_load(void) {
    plimsoll_host_load loads[2] = {load_of("10.0.0.1:80", 7), load_of("10.0.0.1:80", 4)};
    OK(plimsoll_cluster_set_loads(cluster, loads, 2, NULL));
    CHECK(host_of(cluster, "10.0.0.1:80").active == 4);
    OK(plimsoll_cluster_set_loads(cluster, NULL, 0, NULL));
    CHECK(host_of(cluster, "10.0.0.1:80").active == 4);
}

static void only_the_native_policy_can_be_peeked(void) {
    plimsoll_pick peeked;
    set_both(load_of("10.0.0.1:80", 0), load_of("10.0.0.2:80", 10));
    OK(plimsoll_worker_peek(worker, NULL, &peeked));
    CHECK(pick_is(worker, &peeked, "10.0.0.1:80"));

    plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
    options.behavior = PLIMSOLL_BEHAVIOR_ENVOY;
    plimsoll_cluster *envoys = NULL;
    OK(plimsoll_cluster_open(PLIMSOLL_STR("name: api\nlb_policy: LEAST_REQUEST"), &options, &envoys,
                             NULL));
    apply(envoys, change_of(PLIMSOLL_CHANGE_UPSERT, "10.0.0.1:80"));
    plimsoll_worker *other = worker_of(envoys);
    EXPECT(PLIMSOLL_STATUS_PEEK_LIMIT, plimsoll_worker_peek(other, NULL, &peeked));
    CHECK(next_is(other, "10.0.0.1:80"));
    plimsoll_worker_free(other);
    plimsoll_cluster_free(envoys);
}

void test_loads(void) {
    cluster = open_two();
    worker = worker_of(cluster);
    OK(plimsoll_cluster_reload(cluster, PLIMSOLL_STR("name: api\nlb_policy: LEAST_REQUEST"), NULL,
                               NULL));
    the_idle_host_is_picked_over_the_busy_one();
    picks_and_their_ends_count_on();
    the_policy_sees_picks_of_other_workers();
    waiting_requests_count_where_the_runtime_says_so();
    a_refused_load_takes_its_call_with_it();
    a_host_that_is_named_twice_has_its_last_load();
    only_the_native_policy_can_be_peeked();
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}
