/* NULL and numbers that stand for nothing, in every argument of every function: each is an answer,
 * never a crash, and leaves zero or NULL behind. */

#include "check.h"

#define NULL_ARGUMENT(call) EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT, call)
#define INVALID(call) EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT, call)

static plimsoll_cluster *cluster;
static plimsoll_worker *worker;

/* Not readable at all: a length without a place. */
static const plimsoll_str NOWHERE = {NULL, 1};

static void null_for_a_control_call(void) {
    plimsoll_error *error = NULL;
    plimsoll_cluster *opened = cluster;
    NULL_ARGUMENT(plimsoll_cluster_open(NOWHERE, NULL, &opened, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "cluster",
                 "cluster is NULL");
    CHECK(opened == NULL);
    NULL_ARGUMENT(plimsoll_cluster_open(str(TWO_HOSTS), NULL, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "out", "out is NULL");
    plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
    options.zone = NOWHERE;
    NULL_ARGUMENT(plimsoll_cluster_open(str(TWO_HOSTS), &options, &opened, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "options.zone", NULL);

    plimsoll_applied applied = {7, true};
    NULL_ARGUMENT(plimsoll_cluster_reload(NULL, str(TWO_HOSTS), &applied, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "cluster",
                 "cluster is NULL");
    CHECK(applied.version == 0 && !applied.published);
    NULL_ARGUMENT(plimsoll_cluster_reload(cluster, NOWHERE, NULL, NULL));
    NULL_ARGUMENT(plimsoll_cluster_assign(NULL, str(THIRD_HOST), NULL, NULL));
    NULL_ARGUMENT(plimsoll_cluster_assign(cluster, NOWHERE, NULL, NULL));
    plimsoll_host_change change = change_of(PLIMSOLL_CHANGE_REMOVE, "10.0.0.1:80");
    NULL_ARGUMENT(plimsoll_cluster_update(NULL, &change, 1, NULL, NULL));
    NULL_ARGUMENT(plimsoll_cluster_update(cluster, NULL, 1, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "changes", NULL);
    change.address = NOWHERE;
    NULL_ARGUMENT(plimsoll_cluster_update(cluster, &change, 1, NULL, NULL));
    NULL_ARGUMENT(plimsoll_cluster_set_runtime(NULL, PLIMSOLL_STR("key"), NULL, NULL, NULL));
    NULL_ARGUMENT(plimsoll_cluster_set_runtime(cluster, NOWHERE, NULL, NULL, NULL));
    const double number = 1;
    const bool yes = true;
    applied.version = 7;
    NULL_ARGUMENT(plimsoll_cluster_set_runtime_double(NULL, str("key"), &number, &applied, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "cluster", NULL);
    CHECK(applied.version == 0);
    NULL_ARGUMENT(plimsoll_cluster_set_runtime_double(cluster, NOWHERE, &number, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "key", NULL);
    NULL_ARGUMENT(plimsoll_cluster_set_runtime_bool(NULL, str("key"), &yes, NULL, NULL));
    NULL_ARGUMENT(plimsoll_cluster_set_runtime_bool(cluster, NOWHERE, &yes, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "key", NULL);
    plimsoll_host_load load = load_of("10.0.0.1:80", 0);
    NULL_ARGUMENT(plimsoll_cluster_set_loads(NULL, &load, 1, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "cluster", NULL);
    NULL_ARGUMENT(plimsoll_cluster_set_loads(cluster, NULL, 1, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "loads", NULL);
    load.address = NOWHERE;
    NULL_ARGUMENT(plimsoll_cluster_set_loads(cluster, &load, 1, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "loads[0].address", NULL);
    NULL_ARGUMENT(plimsoll_cluster_import_reports(NULL, str(""), NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "cluster", NULL);
    NULL_ARGUMENT(plimsoll_cluster_import_reports(cluster, NOWHERE, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "reports", NULL);
    NULL_ARGUMENT(plimsoll_cluster_export_reports(cluster, NULL, 9, NULL));
    NULL_ARGUMENT(plimsoll_cluster_report(NULL, str("10.0.0.1:80"), NULL, 0, 0, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "cluster", NULL);
    NULL_ARGUMENT(plimsoll_cluster_report(cluster, NOWHERE, NULL, 0, 0, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "address", NULL);
    NULL_ARGUMENT(plimsoll_cluster_report(cluster, str("10.0.0.1:80"), NULL, 1, 0, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "message", NULL);
    uint64_t next_ns = 7;
    NULL_ARGUMENT(plimsoll_cluster_next_tick(NULL, &next_ns, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "cluster", NULL);
    CHECK(next_ns == 0);
    NULL_ARGUMENT(plimsoll_cluster_next_tick(cluster, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "next_ns", NULL);
    NULL_ARGUMENT(plimsoll_cluster_set_host_data(NULL, str("10.0.0.1:80"), NULL, NULL, NULL));
    NULL_ARGUMENT(plimsoll_cluster_set_host_data(cluster, NOWHERE, NULL, NULL, NULL));
    NULL_ARGUMENT(plimsoll_cluster_tick(NULL, 0, NULL));
}

static void null_for_a_text(void) {
    char buffer[8] = "kept";
    size_t needed = 7;
    NULL_ARGUMENT(plimsoll_cluster_hosts(NULL, buffer, sizeof buffer, &needed));
    CHECK(needed == 0 && buffer[0] == '\0');
    needed = 7;
    NULL_ARGUMENT(plimsoll_cluster_stats(NULL, buffer, sizeof buffer, &needed));
    CHECK(needed == 0);
    NULL_ARGUMENT(plimsoll_cluster_hosts(cluster, NULL, 1, &needed));
    NULL_ARGUMENT(plimsoll_cluster_stats(cluster, NULL, 1, &needed));
    NULL_ARGUMENT(plimsoll_cluster_hosts(cluster, buffer, sizeof buffer, NULL));
    NULL_ARGUMENT(plimsoll_cluster_stats(cluster, buffer, sizeof buffer, NULL));
}

static int visit_none(void *userdata, const plimsoll_host *host) {
    (void)userdata;
    (void)host;
    CHECK(!"visited");
    return 0;
}

static int visit_no_place(void *userdata, const plimsoll_locality *locality) {
    (void)userdata;
    (void)locality;
    CHECK(!"visited");
    return 0;
}

static void null_for_a_visit(void) {
    plimsoll_error *error = NULL;
    NULL_ARGUMENT(plimsoll_cluster_for_each_host(NULL, NULL, visit_none, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "cluster",
                 "cluster is NULL");
    NULL_ARGUMENT(plimsoll_cluster_for_each_host(cluster, NULL, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "visit", "visit is NULL");
    NULL_ARGUMENT(plimsoll_cluster_for_each_host(cluster, NULL, NULL, NULL));
    NULL_ARGUMENT(plimsoll_cluster_for_each_locality(NULL, NULL, visit_no_place, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "cluster",
                 "cluster is NULL");
    NULL_ARGUMENT(plimsoll_cluster_for_each_locality(cluster, NULL, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "visit", "visit is NULL");
    NULL_ARGUMENT(plimsoll_cluster_for_each_locality(cluster, NULL, NULL, NULL));
}

static int accept(void *userdata, const plimsoll_pick *candidate) {
    (void)userdata;
    (void)candidate;
    return 1;
}

static void null_for_a_worker(void) {
    plimsoll_worker *made = worker;
    plimsoll_error *error = NULL;
    NULL_ARGUMENT(plimsoll_worker_new(NULL, &made, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "cluster", NULL);
    CHECK(made == NULL);
    NULL_ARGUMENT(plimsoll_worker_new(cluster, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "out", NULL);

    plimsoll_pick pick = {1, 1, 1, 1}, picks[2];
    size_t count = 7;
    NULL_ARGUMENT(plimsoll_worker_pick(NULL, NULL, &pick));
    CHECK(pick.slot == 0 && pick.flags == 0);
    NULL_ARGUMENT(plimsoll_worker_pick(worker, NULL, NULL));
    NULL_ARGUMENT(plimsoll_worker_pick_filtered(NULL, NULL, NULL, accept, &pick));
    NULL_ARGUMENT(plimsoll_worker_pick_filtered(worker, NULL, NULL, NULL, &pick));
    NULL_ARGUMENT(plimsoll_worker_pick_filtered(worker, NULL, NULL, accept, NULL));
    NULL_ARGUMENT(plimsoll_worker_pick_batch(NULL, NULL, picks, 2, &count));
    CHECK(count == 0);
    NULL_ARGUMENT(plimsoll_worker_pick_batch(worker, NULL, NULL, 2, &count));
    NULL_ARGUMENT(plimsoll_worker_pick_batch(worker, NULL, picks, 2, NULL));
    NULL_ARGUMENT(plimsoll_worker_peek(NULL, NULL, &pick));
    NULL_ARGUMENT(plimsoll_worker_peek(worker, NULL, NULL));
    NULL_ARGUMENT(plimsoll_worker_done(NULL, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    NULL_ARGUMENT(plimsoll_worker_done(worker, NULL, PLIMSOLL_OUTCOME_SUCCESS));
    plimsoll_response_load load = response_load_of("TEXT eps=1");
    NULL_ARGUMENT(plimsoll_worker_report(NULL, &pick, &load));
    NULL_ARGUMENT(plimsoll_worker_report(worker, NULL, &load));
    NULL_ARGUMENT(plimsoll_worker_report(worker, &pick, NULL));
    plimsoll_str *const texts[] = {&load.header_binary, &load.header_text, &load.trailer_binary,
                                   &load.trailer_text};
    for (size_t index = 0; index < sizeof texts / sizeof texts[0]; index++) {
        plimsoll_str before = *texts[index];
        *texts[index] = NOWHERE;
        NULL_ARGUMENT(plimsoll_worker_report(worker, &pick, &load));
        *texts[index] = before;
    }
    NULL_ARGUMENT(plimsoll_worker_refresh(NULL));
    NULL_ARGUMENT(plimsoll_worker_quiesce(NULL));

    char buffer[8] = "kept";
    void *data = buffer;
    NULL_ARGUMENT(plimsoll_worker_host_address(NULL, &pick, buffer, sizeof buffer, &count));
    CHECK(buffer[0] == '\0');
    NULL_ARGUMENT(plimsoll_worker_host_address(worker, NULL, buffer, sizeof buffer, &count));
    NULL_ARGUMENT(plimsoll_worker_host_address(worker, &pick, NULL, 1, &count));
    NULL_ARGUMENT(plimsoll_worker_host_address(worker, &pick, buffer, sizeof buffer, NULL));
    NULL_ARGUMENT(plimsoll_worker_host_data(NULL, &pick, &data));
    CHECK(data == NULL);
    NULL_ARGUMENT(plimsoll_worker_host_data(worker, NULL, &data));
    NULL_ARGUMENT(plimsoll_worker_host_data(worker, &pick, NULL));
}

static void numbers_that_stand_for_nothing(void) {
    plimsoll_cluster *opened = NULL;
    plimsoll_error *error = NULL;
    plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
    options.behavior = 2;
    INVALID(plimsoll_cluster_open(str(TWO_HOSTS), &options, &opened, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "options.behavior",
                 "2 stands for nothing here: one of PLIMSOLL_BEHAVIOR_... is expected");
    options.behavior = PLIMSOLL_BEHAVIOR_ENVOY;
    options.has_seed = 2;
    INVALID(plimsoll_cluster_open(str(TWO_HOSTS), &options, &opened, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "options.has_seed",
                 NULL);

    plimsoll_pick_context context = PLIMSOLL_PICK_CONTEXT_INIT;
    context.flags = 4;
    plimsoll_pick pick, picks[2];
    size_t count;
    INVALID(plimsoll_worker_pick(worker, &context, &pick));
    INVALID(plimsoll_worker_peek(worker, &context, &pick));
    INVALID(plimsoll_worker_pick_filtered(worker, &context, NULL, accept, &pick));
    INVALID(plimsoll_worker_pick_batch(worker, &context, picks, 2, &count));

    pick = pick_one(worker);
    INVALID(plimsoll_worker_done(worker, &pick, 2));
    pick.flags = 2;
    INVALID(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    plimsoll_response_load load = response_load_of("TEXT eps=1");
    INVALID(plimsoll_worker_report(worker, &pick, &load));
    load.header_text.len = SIZE_MAX;
    INVALID(plimsoll_worker_report(worker, &pick, &load));
    void *data;
    char buffer[64];
    INVALID(plimsoll_worker_host_data(worker, &pick, &data));
    INVALID(plimsoll_worker_host_address(worker, &pick, buffer, sizeof buffer, &count));
    pick.flags = PLIMSOLL_PICK_COUNTED;
    OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));

    plimsoll_pick never = {UINT32_MAX, UINT32_MAX, 0, PLIMSOLL_PICK_COUNTED};
    EXPECT(PLIMSOLL_STATUS_STALE_PICK,
           plimsoll_worker_done(worker, &never, PLIMSOLL_OUTCOME_SUCCESS));
    EXPECT(PLIMSOLL_STATUS_STALE_PICK, plimsoll_worker_host_data(worker, &never, &data));
}

void test_arguments(void) {
    cluster = open_two();
    worker = worker_of(cluster);
    null_for_a_control_call();
    null_for_a_text();
    null_for_a_visit();
    null_for_a_worker();
    numbers_that_stand_for_nothing();
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}
