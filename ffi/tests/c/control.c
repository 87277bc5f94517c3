/* The control calls: each is one step, and one that fails is none. */

#include "check.h"

static plimsoll_cluster *cluster;
static plimsoll_worker *worker;

static uint64_t version(void) {
    plimsoll_applied applied;
    OK(plimsoll_cluster_update(cluster, NULL, 0, &applied, NULL));
    CHECK(!applied.published);
    return applied.version;
}

static void a_batch_is_one_snapshot(void) {
    uint64_t before = version();
    plimsoll_host_change changes[3] = {
        change_of(PLIMSOLL_CHANGE_REMOVE, "10.0.0.1:80"),
        change_of(PLIMSOLL_CHANGE_UPSERT, "10.0.0.3:80"),
        change_of(PLIMSOLL_CHANGE_UPSERT, "10.0.0.4:80"),
    };
    changes[1].hostname = PLIMSOLL_STR("three");
    changes[1].region = PLIMSOLL_STR("eu");
    changes[1].weight = 2;
    changes[2].health_status = PLIMSOLL_EDS_DRAINING;
    plimsoll_applied applied;
    plimsoll_error *error = NULL;
    OK(plimsoll_cluster_update(cluster, changes, 3, &applied, &error));
    CHECK(error == NULL);
    CHECK(applied.published && applied.version == before + 1);
    int two_thirds = share_of(worker, 300, "10.0.0.3:80");
    CHECK(two_thirds >= 194 && two_thirds <= 206);
    CHECK(share_of(worker, 300, "10.0.0.1:80") == 0);
    CHECK(share_of(worker, 300, "10.0.0.4:80") == 0);
}

static void the_same_again_makes_no_snapshot(void) {
    plimsoll_applied first, second;
    OK(plimsoll_cluster_assign(cluster, str(THIRD_HOST), &first, NULL));
    OK(plimsoll_cluster_assign(cluster, str(THIRD_HOST), &second, NULL));
    CHECK(first.published && !second.published);
    CHECK(first.version == second.version);
    OK(plimsoll_cluster_update(cluster, NULL, 0, &second, NULL));
    CHECK(!second.published && first.version == second.version);
    CHECK(next_is(worker, "10.0.0.3:80"));
}

static void health_leads_traffic_elsewhere(void) {
    OK(plimsoll_cluster_reload(cluster, str(TWO_HOSTS), NULL, NULL));
    plimsoll_host_change eject = change_of(PLIMSOLL_CHANGE_HEALTH, "10.0.0.1:80");
    eject.event = PLIMSOLL_HEALTH_EJECT;
    apply(cluster, eject);
    CHECK(share_of(worker, 10, "10.0.0.2:80") == 10);
    eject.event = PLIMSOLL_HEALTH_UNEJECT;
    apply(cluster, eject);
    CHECK(gets_about_half(worker, "10.0.0.2:80"));

    static const uint32_t others[] = {PLIMSOLL_HEALTH_FAIL,
                                      PLIMSOLL_HEALTH_TIMED_OUT,
                                      PLIMSOLL_HEALTH_FAIL_NOW,
                                      PLIMSOLL_HEALTH_DEGRADED,
                                      PLIMSOLL_HEALTH_PASS,
                                      PLIMSOLL_HEALTH_OUTLIER_DEGRADED,
                                      PLIMSOLL_HEALTH_OUTLIER_RECOVERED};
    for (size_t index = 0; index < sizeof others / sizeof others[0]; index++) {
        eject.event = others[index];
        apply(cluster, eject);
    }
    CHECK(gets_about_half(worker, "10.0.0.2:80"));
}

static void refused(plimsoll_host_change change, plimsoll_status status, const char *code,
                    const char *field) {
    /* The first change is fine, and must not happen either. */
    plimsoll_host_change changes[2] = {change_of(PLIMSOLL_CHANGE_UPSERT, "10.0.0.9:80"), change};
    uint64_t before = version();
    plimsoll_applied applied = {77, true};
    plimsoll_error *error = NULL;
    EXPECT(status, plimsoll_cluster_update(cluster, changes, 2, &applied, &error));
    CHECK(applied.version == 0 && !applied.published);
    expect_error(error, status, code, field, NULL);
    CHECK(version() == before);
    CHECK(share_of(worker, 10, "10.0.0.9:80") == 0);
}

static void a_refused_change_takes_its_batch_with_it(void) {
    const plimsoll_status invalid = PLIMSOLL_STATUS_INVALID_ARGUMENT;
    plimsoll_host_change unknown = change_of(PLIMSOLL_CHANGE_REMOVE, "10.0.0.8:80");
    refused(unknown, PLIMSOLL_STATUS_UNKNOWN_HOST, "unknown_host", "10.0.0.8:80");

    plimsoll_host_change change = change_of(4, "10.0.0.1:80");
    refused(change, invalid, "invalid_argument", "changes[1].kind");
    change = change_of(PLIMSOLL_CHANGE_HEALTH, "10.0.0.1:80");
    refused(change, invalid, "invalid_argument", "changes[1].event");
    change.event = 10;
    refused(change, invalid, "invalid_argument", "changes[1].event");
    change = change_of(PLIMSOLL_CHANGE_UPSERT, "");
    refused(change, invalid, "invalid_argument", "changes[1].address");
    change = change_of(PLIMSOLL_CHANGE_UPSERT, "\xff");
    refused(change, invalid, "invalid_argument", "changes[1].address");
    change = change_of(PLIMSOLL_CHANGE_UPSERT, "10.0.0.1:80");
    change.health_status = 6;
    refused(change, invalid, "invalid_argument", "changes[1].health_status");
    change = change_of(PLIMSOLL_CHANGE_UPSERT, "10.0.0.1:80");
    change.priority = 129;
    refused(change, invalid, "invalid_argument", "changes[1].priority");
    change = change_of(PLIMSOLL_CHANGE_UPSERT, "10.0.0.1:80");
    change.sub_zone.len = 1;
    refused(change, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "changes[1].sub_zone");
}

static void a_reload_is_settings_and_hosts_in_one_step(void) {
    static const char reloaded[] =
        "name: api\nlb_policy: RANDOM\nload_assignment:\n  cluster_name: api\n  endpoints:\n"
        "  - lb_endpoints:\n"
        "    - endpoint: {address: {socket_address: {address: 10.0.0.7, port_value: 80}}}\n";
    uint64_t before = version();
    plimsoll_applied applied;
    OK(plimsoll_cluster_reload(cluster, str(reloaded), &applied, NULL));
    CHECK(applied.published && applied.version == before + 1);
    CHECK(share_of(worker, 10, "10.0.0.7:80") == 10);

    /* Settings without hosts leave the hosts alone. */
    OK(plimsoll_cluster_reload(cluster, PLIMSOLL_STR("name: api\nlb_policy: ROUND_ROBIN"), NULL,
                               NULL));
    CHECK(share_of(worker, 10, "10.0.0.7:80") == 10);

    plimsoll_error *error = NULL;
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_cluster_reload(cluster, PLIMSOLL_STR("name: api\nlb_polcy: RANDOM"), &applied,
                                   &error));
    CHECK(applied.version == 0);
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "lb_polcy", NULL);
    EXPECT(PLIMSOLL_STATUS_PARSE_ERROR,
           plimsoll_cluster_assign(cluster, PLIMSOLL_STR("endpoints: ["), NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_PARSE_ERROR, "parse_error", "", NULL);
    CHECK(share_of(worker, 10, "10.0.0.7:80") == 10);
}

void test_control(void) {
    cluster = open_two();
    worker = worker_of(cluster);
    a_batch_is_one_snapshot();
    the_same_again_makes_no_snapshot();
    health_leads_traffic_elsewhere();
    a_refused_change_takes_its_batch_with_it();
    a_reload_is_settings_and_hosts_in_one_step();
    OK(plimsoll_cluster_tick(cluster, 1, NULL));
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}
