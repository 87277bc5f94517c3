/* The hosts of a cluster one by one: what is said of each, in which order, and what may be done
 * meanwhile. */

#include "check.h"

static const char PLACES[] =
    "name: api\n"
    "lb_policy: ROUND_ROBIN\n"
    "load_assignment:\n"
    "  cluster_name: api\n"
    "  endpoints:\n"
    "  - priority: 1\n"
    "    lb_endpoints:\n"
    "    - endpoint: {address: {socket_address: {address: 10.0.1.1, port_value: 80}}}\n"
    "  - locality: {region: eu, zone: a, sub_zone: \"1\"}\n"
    "    lb_endpoints:\n"
    "    - endpoint: {address: {socket_address: {address: 10.0.0.2, port_value: 80}}}\n"
    "      load_balancing_weight: 3\n"
    "    - endpoint:\n"
    "        address: {socket_address: {address: 10.0.0.1, port_value: 80}}\n"
    "        hostname: one\n"
    "    - endpoint: {address: {socket_address: {address: 10.0.0.3, port_value: 80}}}\n"
    "      health_status: DRAINING\n";

enum { ROOM = 8 };

/* What was shown, with texts that outlive the visit. */
typedef struct {
    size_t count;
    size_t stop_after;
    plimsoll_host hosts[ROOM];
    char texts[ROOM][5][32];
} shown;

static plimsoll_str keep(char *room, plimsoll_str text) {
    CHECK(text.data != NULL && text.len < 32);
    memcpy(room, text.data, text.len);
    room[text.len] = '\0';
    plimsoll_str kept = {room, text.len};
    return kept;
}

static int remember(void *userdata, const plimsoll_host *host) {
    shown *all = userdata;
    CHECK(all->count < ROOM);
    CHECK(host->size == sizeof *host);
    char(*texts)[32] = all->texts[all->count];
    plimsoll_host *copy = &all->hosts[all->count++];
    *copy = *host;
    copy->address = keep(texts[0], host->address);
    copy->hostname = keep(texts[1], host->hostname);
    copy->region = keep(texts[2], host->region);
    copy->zone = keep(texts[3], host->zone);
    copy->sub_zone = keep(texts[4], host->sub_zone);
    return all->count == all->stop_after;
}

static shown all_of(const plimsoll_cluster *cluster) {
    static const shown none;
    static shown all;
    plimsoll_error *error = NULL;
    all = none;
    OK(plimsoll_cluster_for_each_host(cluster, &all, remember, &error));
    CHECK(error == NULL);
    return all;
}

static plimsoll_cluster *open_places(void) {
    plimsoll_cluster *cluster = NULL;
    OK(plimsoll_cluster_open(str(PLACES), NULL, &cluster, NULL));
    return cluster;
}

static void each_host_is_shown_as_it_is(void) {
    plimsoll_cluster *cluster = open_places();
    shown all = all_of(cluster);
    CHECK(all.count == 4);
    const plimsoll_host *two = &all.hosts[0], *one = &all.hosts[1], *drained = &all.hosts[2],
                        *spare = &all.hosts[3];
    CHECK(is(two->address, "10.0.0.2:80") && is(one->address, "10.0.0.1:80"));
    CHECK(is(drained->address, "10.0.0.3:80") && is(spare->address, "10.0.1.1:80"));
    CHECK(is(one->hostname, "one") && is(two->hostname, ""));
    CHECK(is(one->region, "eu") && is(one->zone, "a") && is(one->sub_zone, "1"));
    CHECK(is(spare->region, "") && is(spare->zone, "") && is(spare->sub_zone, ""));
    CHECK(one->priority == 0 && spare->priority == 1);
    CHECK(two->weight == 3 && one->weight == 1);
    CHECK(near(two->effective_weight, 3) && near(one->effective_weight, 1));
    CHECK(near(two->share, 0.75) && near(one->share, 0.25));
    CHECK(near(drained->share, 0) && near(spare->share, 0));
    CHECK(near(one->slow_start_factor, 1) && near(one->slow_start_seconds_left, 0));
    CHECK(one->health == 0 && one->coarse == PLIMSOLL_COARSE_HEALTHY);
    CHECK(one->eds_health == PLIMSOLL_EDS_UNKNOWN);
    CHECK(drained->health == PLIMSOLL_FLAG_EDS_STATUS_DRAINING);
    CHECK(drained->eds_health == PLIMSOLL_EDS_DRAINING);
    CHECK(drained->coarse == PLIMSOLL_COARSE_UNHEALTHY);
    plimsoll_cluster_free(cluster);
}

static void health_and_requests_show(void) {
    plimsoll_cluster *cluster = open_two();
    plimsoll_worker *worker = worker_of(cluster);
    plimsoll_host_change change = change_of(PLIMSOLL_CHANGE_HEALTH, "10.0.0.1:80");
    change.event = PLIMSOLL_HEALTH_EJECT;
    apply(cluster, change);
    change = change_of(PLIMSOLL_CHANGE_HEALTH, "10.0.0.2:80");
    change.event = PLIMSOLL_HEALTH_DEGRADED;
    apply(cluster, change);
    plimsoll_pick pick = pick_one(worker);
    CHECK(pick_is(worker, &pick, "10.0.0.2:80"));

    shown all = all_of(cluster);
    CHECK(all.count == 2);
    CHECK(all.hosts[0].health == PLIMSOLL_FLAG_FAILED_OUTLIER_CHECK);
    CHECK(all.hosts[0].coarse == PLIMSOLL_COARSE_UNHEALTHY && all.hosts[0].active == 0);
    CHECK(all.hosts[1].health == PLIMSOLL_FLAG_DEGRADED_ACTIVE_HC);
    CHECK(all.hosts[1].coarse == PLIMSOLL_COARSE_DEGRADED && all.hosts[1].active == 1);
    CHECK(near(all.hosts[1].share, 1));
    OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    CHECK(all_of(cluster).hosts[1].active == 0);
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

static void a_visit_can_be_the_last(void) {
    plimsoll_cluster *cluster = open_places();
    static shown all;
    for (size_t visits = 1; visits <= 4; visits++) {
        all.count = 0;
        all.stop_after = visits;
        OK(plimsoll_cluster_for_each_host(cluster, &all, remember, NULL));
        CHECK(all.count == visits);
    }
    plimsoll_cluster_free(cluster);
}

static void a_cluster_without_hosts_has_no_visits(void) {
    plimsoll_cluster *cluster = NULL;
    OK(plimsoll_cluster_open(PLIMSOLL_STR("name: api"), NULL, &cluster, NULL));
    CHECK(all_of(cluster).count == 0);
    plimsoll_cluster_free(cluster);
}

typedef struct {
    plimsoll_cluster *cluster;
    plimsoll_worker *worker;
    int visits;
    int released;
} busy;

static void release(void *data) {
    busy *state = data;
    state->released++;
}

/* Removes the host that it is shown, after everything else that a control side does. */
static int do_all(void *userdata, const plimsoll_host *host) {
    busy *state = userdata;
    state->visits++;
    CHECK(all_of(state->cluster).count == 3 - (size_t)state->visits);
    OK(plimsoll_cluster_set_host_data(state->cluster, host->address, state, release, NULL));
    plimsoll_pick pick = pick_one(state->worker);
    OK(plimsoll_worker_done(state->worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    plimsoll_host_change change = PLIMSOLL_HOST_CHANGE_INIT;
    change.kind = PLIMSOLL_CHANGE_REMOVE;
    change.address = host->address;
    apply(state->cluster, change);
    OK(plimsoll_worker_quiesce(state->worker));
    OK(plimsoll_cluster_tick(state->cluster, (uint64_t)state->visits, NULL));
    CHECK(state->released == 0); /* the snapshot that is being shown names the host */
    CHECK(host->address.len == strlen("10.0.0.1:80"));
    char text[4096];
    size_t needed;
    OK(plimsoll_cluster_hosts(state->cluster, text, sizeof text, &needed));
    OK(plimsoll_cluster_stats(state->cluster, text, sizeof text, &needed));
    return 0;
}

static void every_call_may_be_made_during_a_visit(void) {
    busy state = {.cluster = open_two()};
    state.worker = worker_of(state.cluster);
    OK(plimsoll_cluster_for_each_host(state.cluster, &state, do_all, NULL));
    CHECK(state.visits == 2);
    CHECK(all_of(state.cluster).count == 0);
    OK(plimsoll_cluster_tick(state.cluster, 3, NULL));
    CHECK(state.released == 2);
    plimsoll_worker_free(state.worker);
    plimsoll_cluster_free(state.cluster);
}

void test_hosts(void) {
    each_host_is_shown_as_it_is();
    health_and_requests_show();
    a_visit_can_be_the_last();
    a_cluster_without_hosts_has_no_visits();
    every_call_may_be_made_during_a_visit();
}
