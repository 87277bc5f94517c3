/* What a cluster says through its callback: what for, how often, and when not. */

#include "check.h"

enum { ROOM = 512 };

/* The messages so far, each as a line "LEVEL text". */
typedef struct {
    char text[16384];
    size_t length;
    int count;
    const plimsoll_cluster *calls_back;
} journal;

static void keep(void *userdata, uint32_t level, plimsoll_str message) {
    journal *kept = userdata;
    char line[ROOM];
    int length = snprintf(line, sizeof line, "%u %.*s\n", level, (int)message.len, message.data);
    CHECK(length > 0 && length < ROOM && kept->length + (size_t)length < sizeof kept->text);
    memcpy(kept->text + kept->length, line, (size_t)length + 1);
    kept->length += (size_t)length;
    kept->count++;
    if (kept->calls_back != NULL) {
        /* No lock is held: a call that takes it does not wait for itself. */
        uint64_t next_ns;
        OK(plimsoll_cluster_next_tick(kept->calls_back, &next_ns, NULL));
    }
}

static plimsoll_cluster *open_logged(journal *kept, uint32_t level) {
    memset(kept, 0, sizeof *kept);
    plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
    options.has_seed = 1;
    options.log = keep;
    options.log_userdata = kept;
    options.log_level = level;
    plimsoll_cluster *cluster;
    OK(plimsoll_cluster_open(str(TWO_HOSTS), &options, &cluster, NULL));
    return cluster;
}

static void eject(const plimsoll_cluster *cluster, const char *address, uint32_t event) {
    plimsoll_host_change change = change_of(PLIMSOLL_CHANGE_HEALTH, address);
    change.event = event;
    apply(cluster, change);
}

static bool said(const journal *kept, const char *text) {
    return strstr(kept->text, text) != NULL;
}

static void a_cluster_says_what_happens_to_it(void) {
    journal kept;
    plimsoll_cluster *cluster = open_logged(&kept, PLIMSOLL_LOG_DEBUG);
    CHECK(strcmp(kept.text, "3 opened with 2 hosts: 2 healthy, 0 degraded, 0 excluded\n") == 0);
    kept.calls_back = cluster;
    eject(cluster, "10.0.0.1:80", PLIMSOLL_HEALTH_EJECT);
    CHECK(said(&kept, "\n4 snapshot 2: 2 hosts: 1 healthy, 0 degraded, 0 excluded\n"));
    CHECK(!said(&kept, "panic"));
    eject(cluster, "10.0.0.2:80", PLIMSOLL_HEALTH_EJECT);
    CHECK(said(&kept, "\n2 priority 0 is in panic: 0 of 2 hosts are available\n"));
    eject(cluster, "10.0.0.2:80", PLIMSOLL_HEALTH_UNEJECT);
    CHECK(said(&kept, "\n3 priority 0 is out of panic\n"));
    int before = kept.count;
    eject(cluster, "10.0.0.2:80", PLIMSOLL_HEALTH_UNEJECT);
    CHECK(kept.count == before); /* nothing changed, so nothing is said */

    plimsoll_host_change gone = change_of(PLIMSOLL_CHANGE_REMOVE, "10.0.0.9:80");
    EXPECT(PLIMSOLL_STATUS_UNKNOWN_HOST, plimsoll_cluster_update(cluster, &gone, 1, NULL, NULL));
    CHECK(said(&kept, "\n2 refused: the cluster has no host 10.0.0.9:80\n"));
    OK(plimsoll_cluster_reload(cluster, str("name: api\nlb_policy: RANDOM\n"), NULL, NULL));
    CHECK(said(&kept, "\n3 the settings were replaced\n"));
    plimsoll_cluster_free(cluster);
    CHECK(kept.calls_back == cluster && !said(&kept, "\n1 "));
}

static void what_workers_meet_is_summed_up_by_the_next_tick(void) {
    journal kept;
    plimsoll_cluster *cluster = open_logged(&kept, PLIMSOLL_LOG_WARNING);
    plimsoll_worker *worker = worker_of(cluster);
    plimsoll_pick pick = pick_one(worker);
    plimsoll_response_load load = response_load_of("TEXT cpu_utilization=0.5,rps_fractional=1");
    EXPECT(PLIMSOLL_STATUS_REPORT_NOT_WANTED, plimsoll_worker_report(worker, &pick, &load));
    OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    for (int turn = 0; turn < 3; turn++) {
        EXPECT(PLIMSOLL_STATUS_STALE_PICK,
               plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    }
    apply(cluster, change_of(PLIMSOLL_CHANGE_REMOVE, "10.0.0.1:80"));
    apply(cluster, change_of(PLIMSOLL_CHANGE_REMOVE, "10.0.0.2:80"));
    CHECK(kept.count == 1 && said(&kept, "2 priority 0 is in panic: 0 of 0 hosts are available\n"));
    EXPECT(PLIMSOLL_STATUS_NO_HOST, plimsoll_worker_pick(worker, NULL, &pick));
    CHECK(kept.count == 1); /* a worker says nothing */
    OK(plimsoll_cluster_tick(cluster, 1, NULL));
    CHECK(said(&kept, "2 no host for 1 picks\n"));
    CHECK(said(&kept, "2 load reports that were not taken in: 1 of hosts that are gone, beside a "
                      "stream, or with a policy that wants none\n"));
    CHECK(said(&kept, "2 3 requests were ended that were not active: a caller's mistake\n"));
    CHECK(kept.count == 4);
    OK(plimsoll_cluster_tick(cluster, 2, NULL));
    CHECK(kept.count == 4);
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

static void a_kind_of_message_comes_no_more_often_than_it_may(void) {
    journal kept;
    plimsoll_cluster *cluster = open_logged(&kept, 0); /* info */
    plimsoll_host_change gone = change_of(PLIMSOLL_CHANGE_REMOVE, "10.0.0.9:80");
    for (int turn = 0; turn < 100; turn++) {
        EXPECT(PLIMSOLL_STATUS_UNKNOWN_HOST, plimsoll_cluster_update(cluster, &gone, 1, NULL, NULL));
    }
    CHECK(kept.count == 11); /* it was opened, too */
    OK(plimsoll_cluster_tick(cluster, 1000000000, NULL));
    EXPECT(PLIMSOLL_STATUS_UNKNOWN_HOST, plimsoll_cluster_update(cluster, &gone, 1, NULL, NULL));
    CHECK(kept.count == 12 && said(&kept, " (90 messages of this kind were left out before)\n"));
    plimsoll_cluster_free(cluster);
}

static void a_level_that_is_none_is_refused(void) {
    plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
    plimsoll_cluster *cluster;
    plimsoll_error *error;
    options.log_level = 5;
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_cluster_open(str(TWO_HOSTS), &options, &cluster, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "options.log_level",
                 NULL);
    options.log_level = 0;
    options.reserved = 1;
    EXPECT(PLIMSOLL_STATUS_UNSUPPORTED_FIELD,
           plimsoll_cluster_open(str(TWO_HOSTS), &options, &cluster, NULL));
}

void test_logs(void) {
    a_cluster_says_what_happens_to_it();
    what_workers_meet_is_summed_up_by_the_next_tick();
    a_kind_of_message_comes_no_more_often_than_it_may();
    a_level_that_is_none_is_refused();
}
