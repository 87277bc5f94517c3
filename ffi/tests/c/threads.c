/* Threads with a worker each, control calls beside them, and a cluster freed under them. */

#include <pthread.h>

#include "check.h"

enum { ROUNDS = 20000, HANDED_OVER = 64 };

typedef struct {
    plimsoll_worker *worker;
    plimsoll_pick mailbox[HANDED_OVER];
    long picked;
} thread_state;

static void *pick_all_the_time(void *argument) {
    thread_state *state = argument;
    for (int round = 0; round < ROUNDS; round++) {
        plimsoll_pick pick = pick_one(state->worker);
        OK(plimsoll_worker_done(state->worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
        state->picked++;
    }
    for (int index = 0; index < HANDED_OVER; index++) {
        state->mailbox[index] = pick_one(state->worker);
    }
    return NULL;
}

static void workers_pick_while_hosts_come_and_go(void) {
    plimsoll_cluster *cluster = open_two();
    thread_state states[2] = {{0}, {0}};
    pthread_t threads[2];
    for (int index = 0; index < 2; index++) {
        states[index].worker = worker_of(cluster);
        CHECK(pthread_create(&threads[index], NULL, pick_all_the_time, &states[index]) == 0);
    }
    for (uint64_t round = 0; round < 500; round++) {
        apply(cluster, change_of(PLIMSOLL_CHANGE_UPSERT, "10.0.0.3:80"));
        apply(cluster, change_of(PLIMSOLL_CHANGE_REMOVE, "10.0.0.3:80"));
        OK(plimsoll_cluster_tick(cluster, round, NULL));
    }
    for (int index = 0; index < 2; index++) {
        CHECK(pthread_join(threads[index], NULL) == 0);
        CHECK(states[index].picked == ROUNDS);
    }
    /* Each worker ends what the other one picked. */
    for (int index = 0; index < 2; index++) {
        for (int pick = 0; pick < HANDED_OVER; pick++) {
            OK(plimsoll_worker_done(states[index].worker, &states[1 - index].mailbox[pick],
                                    PLIMSOLL_OUTCOME_SUCCESS));
        }
    }
    plimsoll_pick stale = states[0].mailbox[0];
    EXPECT(PLIMSOLL_STATUS_STALE_PICK,
           plimsoll_worker_done(states[0].worker, &stale, PLIMSOLL_OUTCOME_SUCCESS));

    /* The cluster goes first; its workers serve on, and the last one takes the rest with it. */
    plimsoll_cluster_free(cluster);
    for (int index = 0; index < 2; index++) {
        CHECK(pthread_create(&threads[index], NULL, pick_all_the_time, &states[index]) == 0);
    }
    for (int index = 0; index < 2; index++) {
        CHECK(pthread_join(threads[index], NULL) == 0);
        CHECK(states[index].picked == 2L * ROUNDS);
        plimsoll_worker_free(states[index].worker);
    }
}

static int count_host(void *userdata, const plimsoll_host *host) {
    int *count = userdata;
    *count += host->address.len == strlen("10.0.0.1:80");
    return 0;
}

static void *reload_all_the_time(void *argument) {
    const plimsoll_cluster *cluster = argument;
    for (int round = 0; round < 100; round++) {
        OK(plimsoll_cluster_assign(cluster, str(THIRD_HOST), NULL, NULL));
        OK(plimsoll_cluster_reload(cluster, str(TWO_HOSTS), NULL, NULL));
        char table[8192];
        size_t needed;
        OK(plimsoll_cluster_hosts(cluster, table, sizeof table, &needed));
        OK(plimsoll_cluster_stats(cluster, table, sizeof table, &needed));
        int hosts = 0;
        OK(plimsoll_cluster_for_each_host(cluster, &hosts, count_host, NULL));
        CHECK(hosts == 1 || hosts == 2); /* of one snapshot or the other, not of both */
    }
    return NULL;
}

static void control_calls_may_come_from_several_threads(void) {
    plimsoll_cluster *cluster = open_two();
    pthread_t threads[2];
    for (int index = 0; index < 2; index++) {
        CHECK(pthread_create(&threads[index], NULL, reload_all_the_time, cluster) == 0);
    }
    for (int index = 0; index < 2; index++) {
        CHECK(pthread_join(threads[index], NULL) == 0);
    }
    plimsoll_worker *worker = worker_of(cluster);
    CHECK(gets_about_half(worker, "10.0.0.1:80"));
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

/* The local cluster of another one: changes, then is freed. */
static void *change_and_free(void *argument) {
    plimsoll_cluster *proxies = argument;
    for (int round = 0; round < 100; round++) {
        OK(plimsoll_cluster_assign(proxies, str(THIRD_HOST), NULL, NULL));
        OK(plimsoll_cluster_assign(proxies, PLIMSOLL_STR("{\"cluster_name\": \"api\"}"), NULL,
                                   NULL));
    }
    plimsoll_cluster_free(proxies);
    return NULL;
}

static int count_locality(void *userdata, const plimsoll_locality *locality) {
    int *count = userdata;
    *count += locality->hosts == 2;
    return 0;
}

static void a_local_cluster_may_change_and_go_while_it_is_followed(void) {
    plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
    plimsoll_cluster *proxies = open_two(), *cluster = NULL;
    options.local_cluster = proxies;
    options.behavior = PLIMSOLL_BEHAVIOR_ENVOY; /* zone-aware unless told otherwise */
    options.zone = PLIMSOLL_STR("a");
    OK(plimsoll_cluster_open(str(TWO_HOSTS), &options, &cluster, NULL));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, change_and_free, proxies) == 0);
    for (uint64_t round = 1; round <= 200; round++) {
        OK(plimsoll_cluster_tick(cluster, round, NULL));
        int localities = 0;
        OK(plimsoll_cluster_for_each_locality(cluster, &localities, count_locality, NULL));
        CHECK(localities == 2); /* healthy hosts and all hosts of the only place */
    }
    CHECK(pthread_join(thread, NULL) == 0);
    OK(plimsoll_cluster_tick(cluster, 201, NULL));
    plimsoll_cluster_free(cluster);
}

static void *read_and_free(void *argument) {
    plimsoll_error *error = argument;
    EXPECT(PLIMSOLL_STATUS_PARSE_ERROR, plimsoll_error_status(error));
    CHECK(is(plimsoll_error_code(error), "parse_error"));
    plimsoll_error_free(error);
    return NULL;
}

static void an_error_object_belongs_to_no_thread(void) {
    plimsoll_cluster *cluster = NULL;
    plimsoll_error *error = NULL;
    EXPECT(PLIMSOLL_STATUS_PARSE_ERROR,
           plimsoll_cluster_open(PLIMSOLL_STR("{"), NULL, &cluster, &error));
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, read_and_free, error) == 0);
    CHECK(pthread_join(thread, NULL) == 0);
}

void test_threads(void) {
    workers_pick_while_hosts_come_and_go();
    control_calls_may_come_from_several_threads();
    a_local_cluster_may_change_and_go_while_it_is_followed();
    an_error_object_belongs_to_no_thread();
}
