/* Threads of every kind at once, for a build under the thread sanitizer: workers pick, peek, report and
 * end each other's requests, while one thread changes hosts, health, settings and time, looks at all
 * of it, and frees the cluster under them. What is wrong is for the sanitizer to say; the program
 * itself only checks that all of it happened.
 *
 * Control calls come from one thread: the locks of Rust's library are not instrumented, so that two
 * threads waiting for one would look like a race. Models and tests have that case. */

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plimsoll/plimsoll.h"

enum { WORKERS = 3, REQUESTS = 30000, ROUNDS = 300, SEATS = 64, HOSTS = 12 };

#define OK(call) \
    do { \
        plimsoll_status status_ = (call); \
        if (status_ != PLIMSOLL_STATUS_OK) { \
            fprintf(stderr, "%s: %s\n", #call, plimsoll_status_name(status_)); \
            exit(1); \
        } \
    } while (0)

/* The policies that the cluster changes between, so that every kind of table is read. */
static const char *const SETTINGS[] = {
    "{\"name\": \"api\", \"lb_policy\": \"ROUND_ROBIN\"}",
    "{\"name\": \"api\", \"lb_policy\": \"LEAST_REQUEST\"}",
    "{\"name\": \"api\", \"lb_policy\": \"MAGLEV\"}",
    "{\"name\": \"api\", \"lb_policy\": \"RANDOM\"}",
    "{\"name\": \"api\", \"load_balancing_policy\": {\"policies\": [{\"typed_extension_config\": "
    "{\"name\": \"envoy.load_balancing_policies.client_side_weighted_round_robin\", \"typed_config\": "
    "{\"@type\": \"type.googleapis.com/envoy.extensions.load_balancing_policies."
    "client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin\", \"blackout_period\": \"0s\", "
    "\"weight_update_period\": \"1s\"}}}]}}",
};

static plimsoll_cluster *cluster;
static plimsoll_worker *workers[WORKERS];
static atomic_int released, is_over;

/* The data of hosts: 1 while it belongs to the library. Relaxed atomics, which no sanitizer takes for
 * an order of anything else. */
static atomic_int objects[ROUNDS + 1];

/* Requests that one worker has begun and another one is to end; each seat has a lock of its own. */
static struct {
    pthread_mutex_t lock;
    int taken;
    plimsoll_pick pick;
} seats[SEATS];

static void swap_seats(plimsoll_worker *worker, int index, const plimsoll_pick *begun) {
    pthread_mutex_lock(&seats[index].lock);
    int was_taken = seats[index].taken;
    plimsoll_pick before = seats[index].pick;
    seats[index].taken = begun != NULL;
    if (begun != NULL) {
        seats[index].pick = *begun;
    }
    pthread_mutex_unlock(&seats[index].lock);
    if (was_taken) {
        OK(plimsoll_worker_done(worker, &before, before.slot % 7 == 0 ? PLIMSOLL_OUTCOME_ERROR
                                                                       : PLIMSOLL_OUTCOME_SUCCESS));
    }
}

static int refuse_some(void *userdata, const plimsoll_pick *candidate) {
    (void)userdata;
    return candidate->slot % 3 != 0;
}

/* One request, in one of the ways there are; 0 if there was no host. */
static int pick_somehow(plimsoll_worker *worker, int turn, plimsoll_pick *pick) {
    static const plimsoll_str wanted = PLIMSOLL_STR_INIT("10.0.0.3:80, 10.0.0.4:80");
    plimsoll_pick_context context = PLIMSOLL_PICK_CONTEXT_INIT;
    context.flags = PLIMSOLL_PICK_HASHED;
    context.hash = (uint64_t)turn * 0x9e3779b97f4a7c15u;
    context.retries = 2;
    switch (turn % 4) {
    case 0: return plimsoll_worker_pick(worker, &context, pick) == PLIMSOLL_STATUS_OK;
    case 1:
        return plimsoll_worker_pick_filtered(worker, &context, NULL, refuse_some, pick) ==
               PLIMSOLL_STATUS_OK;
    case 2:
        return plimsoll_worker_pick_override(worker, &context, &wanted, 1, 0, pick) ==
               PLIMSOLL_STATUS_OK;
    default: {
        plimsoll_pick ahead;
        (void)!plimsoll_worker_peek(worker, NULL, &ahead);
        return plimsoll_worker_pick(worker, NULL, pick) == PLIMSOLL_STATUS_OK;
    }
    }
}

static void *serve(void *argument) {
    plimsoll_worker *worker = argument;
    plimsoll_response_load load = PLIMSOLL_RESPONSE_LOAD_INIT;
    load.header_text = PLIMSOLL_STR("TEXT rps_fractional=100,cpu_utilization=0.4");
    long served = 0;
    /* At least so many, and on until the other side has done all of its part. */
    for (int turn = 0; turn < REQUESTS || !atomic_load_explicit(&is_over, memory_order_relaxed); turn++) {
        plimsoll_pick pick;
        if (!pick_somehow(worker, turn, &pick)) {
            continue;
        }
        served++;
        char address[64];
        size_t needed;
        void *data;
        (void)!plimsoll_worker_host_address(worker, &pick, address, sizeof address, &needed);
        if (plimsoll_worker_host_data(worker, &pick, &data) == PLIMSOLL_STATUS_OK && data != NULL) {
            /* It must not be released before the request is done. */
            if (atomic_load_explicit((atomic_int *)data, memory_order_relaxed) != 1) {
                fprintf(stderr, "the data of a host is gone\n");
                exit(1);
            }
        }
        (void)plimsoll_worker_report(worker, &pick, &load);
        swap_seats(worker, turn % SEATS, &pick);
        if (turn % 1000 == 999) {
            (void)plimsoll_worker_quiesce(worker);
        }
    }
    return (void *)served;
}

static void release(void *data) {
    atomic_store_explicit((atomic_int *)data, 0, memory_order_relaxed);
    atomic_fetch_add_explicit(&released, 1, memory_order_relaxed);
}

static plimsoll_host_change change_of(uint32_t kind, int number) {
    static char addresses[HOSTS][16];
    plimsoll_host_change change = PLIMSOLL_HOST_CHANGE_INIT;
    int length = snprintf(addresses[number], sizeof addresses[number], "10.0.0.%d:80", number);
    change.kind = kind;
    change.address.data = addresses[number];
    change.address.len = (size_t)length;
    change.weight = (uint32_t)number + 1;
    return change;
}

/* Puts data behind a host; one that has some keeps it. */
static void give_data(int number) {
    static int next;
    atomic_int *object = &objects[next++];
    atomic_store_explicit(object, 1, memory_order_relaxed);
    plimsoll_str address = change_of(0, number).address;
    (void)!plimsoll_cluster_set_host_data(cluster, address, object, release, NULL);
}

static int look(void *userdata, const plimsoll_host *host) {
    *(double *)userdata += host->share + host->active;
    return 0;
}

static void *control(void *unused) {
    for (int round = 0; round < ROUNDS; round++) {
        int number = round % HOSTS;
        plimsoll_host_change changes[2] = {change_of(PLIMSOLL_CHANGE_UPSERT, number),
                                           change_of(PLIMSOLL_CHANGE_HEALTH, number)};
        changes[1].event = round % 2 ? PLIMSOLL_HEALTH_EJECT : PLIMSOLL_HEALTH_UNEJECT;
        OK(plimsoll_cluster_update(cluster, changes, 2, NULL, NULL));
        give_data(number);
        if (round % 5 == 4) {
            plimsoll_host_change gone = change_of(PLIMSOLL_CHANGE_REMOVE, number);
            OK(plimsoll_cluster_update(cluster, &gone, 1, NULL, NULL));
        }
        if (round % 10 == 9) {
            const char *settings = SETTINGS[round / 10 % 5];
            plimsoll_str text = {settings, strlen(settings)};
            OK(plimsoll_cluster_reload(cluster, text, NULL, NULL));
        }
        OK(plimsoll_cluster_tick(cluster, (uint64_t)round * 100000000u, NULL));
        double sum = 0;
        OK(plimsoll_cluster_for_each_host(cluster, &sum, look, NULL));
        static char text[65536];
        size_t needed;
        const plimsoll_cluster *clusters[] = {cluster};
        OK(plimsoll_prometheus(clusters, 1, NULL, text, sizeof text, &needed));
    }
    plimsoll_cluster_free(cluster); /* the workers go on */
    atomic_store_explicit(&is_over, 1, memory_order_relaxed);
    return unused;
}

int main(void) {
    plimsoll_str settings = {SETTINGS[0], strlen(SETTINGS[0])};
    OK(plimsoll_cluster_open(settings, NULL, &cluster, NULL));
    plimsoll_host_change first = change_of(PLIMSOLL_CHANGE_UPSERT, 0);
    OK(plimsoll_cluster_update(cluster, &first, 1, NULL, NULL));
    give_data(0);
    for (int index = 0; index < SEATS; index++) {
        pthread_mutex_init(&seats[index].lock, NULL);
    }
    pthread_t threads[WORKERS + 1];
    for (int index = 0; index < WORKERS; index++) {
        OK(plimsoll_worker_new(cluster, &workers[index], NULL));
    }
    for (int index = 0; index <= WORKERS; index++) {
        void *(*body)(void *) = index < WORKERS ? serve : control;
        if (pthread_create(&threads[index], NULL, body, index < WORKERS ? workers[index] : NULL)) {
            return 1;
        }
    }
    long served = 0;
    for (int index = 0; index <= WORKERS; index++) {
        void *result;
        pthread_join(threads[index], &result);
        served += (long)result;
    }
    for (int index = 0; index < SEATS; index++) {
        swap_seats(workers[0], index, NULL);
    }
    for (int index = 0; index < WORKERS; index++) {
        plimsoll_worker_free(workers[index]);
    }
    printf("%ld requests, %d times data was released\n", served, atomic_load(&released));
    return served < WORKERS * 1000L || atomic_load(&released) < ROUNDS / 5;
}
