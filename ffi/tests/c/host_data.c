/* The caller's data behind a host: given back once, and not while anybody can still ask for it. */

#include "check.h"

typedef struct {
    int released;
} pool;

static void release(void *data) {
    pool *released = data;
    released->released++;
}

static plimsoll_status attach(const plimsoll_cluster *cluster, const char *address, pool *data,
                              plimsoll_error **error) {
    return plimsoll_cluster_set_host_data(cluster, str(address), data, release, error);
}

static void data_comes_back_after_the_last_request_and_snapshot(void) {
    plimsoll_cluster *cluster = open_two();
    plimsoll_worker *worker = worker_of(cluster);
    pool pools[2] = {{0}, {0}};
    OK(attach(cluster, "10.0.0.1:80", &pools[0], NULL));
    OK(attach(cluster, "10.0.0.2:80", &pools[1], NULL));

    plimsoll_pick pick = pick_one(worker);
    void *data = NULL;
    OK(plimsoll_worker_host_data(worker, &pick, &data));
    pool *picked = data;
    CHECK(picked == &pools[0] || picked == &pools[1]);
    pool *other = picked == &pools[0] ? &pools[1] : &pools[0];

    apply(cluster, change_of(PLIMSOLL_CHANGE_REMOVE,
                             picked == &pools[0] ? "10.0.0.1:80" : "10.0.0.2:80"));
    OK(plimsoll_cluster_tick(cluster, 1, NULL));
    CHECK(picked->released == 0); /* the worker's snapshot names the host */
    OK(plimsoll_worker_refresh(worker));
    OK(plimsoll_cluster_tick(cluster, 2, NULL));
    CHECK(picked->released == 0); /* the request goes on */
    OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    CHECK(picked->released == 0); /* no request's thread runs a callback */
    OK(plimsoll_cluster_tick(cluster, 3, NULL));
    CHECK(picked->released == 1);
    OK(plimsoll_cluster_tick(cluster, 4, NULL));
    CHECK(picked->released == 1 && other->released == 0);

    plimsoll_cluster_free(cluster);
    CHECK(other->released == 0); /* the worker goes on */
    plimsoll_worker_free(worker);
    CHECK(picked->released == 1 && other->released == 1);
}

static void refused_data_stays_with_the_caller(void) {
    plimsoll_cluster *cluster = open_two();
    pool first = {0}, second = {0};
    plimsoll_error *error = NULL;
    EXPECT(PLIMSOLL_STATUS_UNKNOWN_HOST, attach(cluster, "10.0.0.9:80", &first, &error));
    expect_error(error, PLIMSOLL_STATUS_UNKNOWN_HOST, "unknown_host", "10.0.0.9:80", NULL);
    OK(attach(cluster, "10.0.0.1:80", &first, NULL));
    EXPECT(PLIMSOLL_STATUS_HAS_DATA, attach(cluster, "10.0.0.1:80", &second, &error));
    expect_error(error, PLIMSOLL_STATUS_HAS_DATA, "has_data", "10.0.0.1:80", NULL);
    CHECK(first.released == 0 && second.released == 0);
    plimsoll_cluster_free(cluster);
    CHECK(first.released == 1 && second.released == 0);
}

static void data_survives_a_reload_that_keeps_its_host(void) {
    plimsoll_cluster *cluster = open_two();
    pool data = {0};
    OK(attach(cluster, "10.0.0.1:80", &data, NULL));
    OK(plimsoll_cluster_reload(cluster, str(TWO_HOSTS), NULL, NULL));
    OK(plimsoll_cluster_tick(cluster, 1, NULL));
    CHECK(data.released == 0);
    OK(plimsoll_cluster_assign(cluster, str(THIRD_HOST), NULL, NULL));
    OK(plimsoll_cluster_tick(cluster, 2, NULL));
    CHECK(data.released == 1);
    plimsoll_cluster_free(cluster);
    CHECK(data.released == 1);
}

static void data_without_a_release_is_just_a_pointer(void) {
    plimsoll_cluster *cluster = open_two();
    pool data = {0};
    OK(plimsoll_cluster_set_host_data(cluster, str("10.0.0.1:80"), &data, NULL, NULL));
    OK(plimsoll_cluster_set_host_data(cluster, str("10.0.0.2:80"), NULL, NULL, NULL));
    plimsoll_worker *worker = worker_of(cluster);
    for (int turn = 0; turn < 2; turn++) {
        plimsoll_pick pick = pick_one(worker);
        void *found = &found;
        OK(plimsoll_worker_host_data(worker, &pick, &found));
        CHECK(found == (pick_is(worker, &pick, "10.0.0.1:80") ? (void *)&data : NULL));
        OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    }
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

static plimsoll_worker *asking;

static int accept_with_data(void *userdata, const plimsoll_pick *candidate) {
    void *data = NULL;
    OK(plimsoll_worker_host_data(asking, candidate, &data));
    return data == userdata;
}

static void a_filter_can_look_at_the_data(void) {
    plimsoll_cluster *cluster = open_two();
    pool data = {0};
    OK(attach(cluster, "10.0.0.2:80", &data, NULL));
    asking = worker_of(cluster);
    plimsoll_pick_context context = PLIMSOLL_PICK_CONTEXT_INIT;
    context.retries = 3;
    for (int turn = 0; turn < 4; turn++) {
        plimsoll_pick pick;
        OK(plimsoll_worker_pick_filtered(asking, &context, &data, accept_with_data, &pick));
        CHECK(pick_is(asking, &pick, "10.0.0.2:80"));
        OK(plimsoll_worker_done(asking, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    }
    plimsoll_worker_free(asking);
    plimsoll_cluster_free(cluster);
    CHECK(data.released == 1);
}

void test_host_data(void) {
    data_comes_back_after_the_last_request_and_snapshot();
    refused_data_stays_with_the_caller();
    data_survives_a_reload_that_keeps_its_host();
    data_without_a_release_is_just_a_pointer();
    a_filter_can_look_at_the_data();
}
