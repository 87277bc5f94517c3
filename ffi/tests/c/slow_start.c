/* Slow start: how far a new host is, on which clock, and what the runtime makes of it. */

#include "check.h"

#define SECONDS UINT64_C(1000000000)
#define HOST(address) \
    "    - endpoint: {address: {socket_address: {address: " address ", port_value: 80}}}\n"

/* The window is 60 s. */
#define SETTINGS \
    "name: api\n" \
    "lb_policy: ROUND_ROBIN\n" \
    "round_robin_lb_config:\n" \
    "  slow_start_config:\n" \
    "    slow_start_window: 60s\n" \
    "    aggression: {default_value: 1, runtime_key: api.aggression}\n" \
    "load_assignment:\n"
#define OLD_HOSTS \
    "  cluster_name: api\n  endpoints:\n  - lb_endpoints:\n" HOST("10.0.0.1") HOST("10.0.0.2")

/* When the cluster is opened, and when its third host comes: the first two are warm by then. */
#define OPENED (1000 * SECONDS)
#define ADDED (1100 * SECONDS)

static plimsoll_cluster *open_with_a_new_host(uint32_t behavior) {
    plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
    options.behavior = behavior;
    options.has_seed = 1;
    options.now_ns = OPENED;
    plimsoll_cluster *cluster = NULL;
    OK(plimsoll_cluster_open(PLIMSOLL_STR(SETTINGS OLD_HOSTS), &options, &cluster, NULL));
    OK(plimsoll_cluster_tick(cluster, ADDED, NULL));
    OK(plimsoll_cluster_assign(cluster, PLIMSOLL_STR(OLD_HOSTS HOST("10.0.0.3")), NULL, NULL));
    return cluster;
}

/* Whether the new host is so far; old hosts are always done. */
static bool is_at(const plimsoll_cluster *cluster, double factor, double seconds_left) {
    plimsoll_host old = host_of(cluster, "10.0.0.1:80"), new = host_of(cluster, "10.0.0.3:80");
    CHECK(near(old.slow_start_factor, 1) && near(old.slow_start_seconds_left, 0));
    CHECK(near(new.effective_weight, factor));
    return near(new.slow_start_factor, factor) && near(new.slow_start_seconds_left, seconds_left);
}

static void a_new_host_is_shown_to_warm_up(void) {
    plimsoll_cluster *cluster = open_with_a_new_host(PLIMSOLL_BEHAVIOR_NATIVE);
    plimsoll_worker *worker = worker_of(cluster);
    CHECK(is_at(cluster, 0.1, 60));
    CHECK(near(host_of(cluster, "10.0.0.3:80").share, 0.1 / 2.1));
    int tenth = share_of(worker, 210, "10.0.0.3:80");
    CHECK(tenth >= 4 && tenth <= 16);

    OK(plimsoll_cluster_tick(cluster, ADDED + 30 * SECONDS, NULL));
    CHECK(is_at(cluster, 0.5, 30));
    CHECK(near(host_of(cluster, "10.0.0.3:80").share, 0.2));

    OK(plimsoll_cluster_tick(cluster, ADDED + 60 * SECONDS, NULL));
    CHECK(is_at(cluster, 1, 0));
    int third = share_of(worker, 300, "10.0.0.3:80");
    CHECK(third >= 94 && third <= 106);
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

static void the_runtime_sets_the_aggression(void) {
    const plimsoll_str key = PLIMSOLL_STR("api.aggression");
    const double two = 2;
    const uint64_t whole_two = 2;
    const bool yes = true;
    static const uint32_t behaviors[] = {PLIMSOLL_BEHAVIOR_NATIVE, PLIMSOLL_BEHAVIOR_ENVOY};
    for (size_t index = 0; index < 2; index++) {
        plimsoll_cluster *cluster = open_with_a_new_host(behaviors[index]);
        OK(plimsoll_cluster_tick(cluster, ADDED + 15 * SECONDS, NULL));
        CHECK(is_at(cluster, 0.25, 45));
        /* The root of a quarter. */
        plimsoll_applied applied;
        OK(plimsoll_cluster_set_runtime_double(cluster, key, &two, &applied, NULL));
        CHECK(applied.published && is_at(cluster, 0.5, 45));
        OK(plimsoll_cluster_set_runtime_double(cluster, key, NULL, &applied, NULL));
        CHECK(applied.published && is_at(cluster, 0.25, 45));
        OK(plimsoll_cluster_set_runtime(cluster, key, &whole_two, NULL, NULL));
        CHECK(is_at(cluster, 0.5, 45));
        OK(plimsoll_cluster_set_runtime_bool(cluster, key, &yes, NULL, NULL));
        CHECK(is_at(cluster, 0.25, 45));
        plimsoll_cluster_free(cluster);
    }
}

/* The share of the new host in percent, of a worker that has no schedule yet. */
static int percent_of_new(const plimsoll_cluster *cluster, plimsoll_pick_context context) {
    plimsoll_worker *worker = worker_of(cluster);
    int share = uncounted_share_of(worker, context, 1000, "10.0.0.3:80") / 10;
    plimsoll_worker_free(worker);
    return share;
}

static void a_pick_may_say_what_time_it_is(void) {
    plimsoll_cluster *cluster = open_with_a_new_host(PLIMSOLL_BEHAVIOR_ENVOY);
    plimsoll_pick_context context = PLIMSOLL_PICK_CONTEXT_INIT;
    int at_the_last_tick = percent_of_new(cluster, context);
    CHECK(at_the_last_tick >= 3 && at_the_last_tick <= 6); /* 0.1 of 2.1 */
    context.now_ns = ADDED + 30 * SECONDS;
    int half_way = percent_of_new(cluster, context);
    CHECK(half_way >= 18 && half_way <= 22); /* 0.5 of 2.5 */
    context.now_ns = ADDED + 60 * SECONDS;
    int warm = percent_of_new(cluster, context);
    CHECK(warm >= 32 && warm <= 34);

    /* A caller that does not know the member yet. */
    context.size = offsetof(plimsoll_pick_context, now_ns);
    CHECK(percent_of_new(cluster, context) == at_the_last_tick);

    /* The time of a pick is that pick's only. */
    CHECK(is_at(cluster, 0.1, 60));
    plimsoll_cluster_free(cluster);
}

void test_slow_start(void) {
    a_new_host_is_shown_to_warm_up();
    the_runtime_sets_the_aggression();
    a_pick_may_say_what_time_it_is();
}
