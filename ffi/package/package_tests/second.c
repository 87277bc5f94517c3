/* Two Rust libraries in one program: both work, and the panics of both end inside of them, on any
 * thread. With PROBE the first is the one that can be made to panic. */

#include <plimsoll/plimsoll.h>
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

extern uint32_t second_panics(uint32_t number);
#ifdef PROBE
extern plimsoll_cluster *plimsoll_probe_mined(void);
extern size_t plimsoll_probe_panic(uint32_t number);
#endif

#define CHECK(condition)                                                                           \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                        \
            return (void *)1;                                                                      \
        }                                                                                          \
    } while (0)

/* A cluster is opened, asked and freed; what is wrong with a configuration is said in words. */
static void *works(void) {
    plimsoll_cluster *cluster;
    plimsoll_worker *worker;
    plimsoll_error *error;
    plimsoll_pick pick;
    CHECK(plimsoll_cluster_open(PLIMSOLL_STR("name: [}"), NULL, &cluster, &error) ==
          PLIMSOLL_STATUS_PARSE_ERROR);
    CHECK(plimsoll_error_message(error).len > 0);
    plimsoll_error_free(error);
    CHECK(plimsoll_cluster_open(PLIMSOLL_STR("name: a\n"
                                             "load_assignment:\n"
                                             "  cluster_name: a\n"
                                             "  endpoints:\n"
                                             "  - lb_endpoints:\n"
                                             "    - endpoint: {address: {socket_address:"
                                             " {address: 10.0.0.1, port_value: 80}}}\n"),
                                NULL, &cluster, NULL) == PLIMSOLL_STATUS_OK);
    CHECK(plimsoll_worker_new(cluster, &worker, NULL) == PLIMSOLL_STATUS_OK);
    CHECK(plimsoll_worker_pick(worker, NULL, &pick) == PLIMSOLL_STATUS_OK);
    CHECK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS) == PLIMSOLL_STATUS_OK);
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
    return NULL;
}

#ifdef PROBE
/* A panic in a control call is a status and a message, and the next call goes on. */
static void *panics(void) {
    CHECK(plimsoll_probe_panic(42) == strlen("number 42"));

    plimsoll_cluster *cluster = plimsoll_probe_mined();
    plimsoll_worker *worker;
    plimsoll_error *error;
    plimsoll_pick pick;
    CHECK(cluster != NULL);
    CHECK(plimsoll_worker_new(cluster, &worker, NULL) == PLIMSOLL_STATUS_OK);
    CHECK(plimsoll_cluster_assign(cluster, PLIMSOLL_STR("cluster_name: api"), NULL, NULL) ==
          PLIMSOLL_STATUS_OK);
    CHECK(plimsoll_worker_pick(worker, NULL, &pick) == PLIMSOLL_STATUS_NO_HOST);
    CHECK(plimsoll_cluster_tick(cluster, 1, &error) == PLIMSOLL_STATUS_PANIC);
    CHECK(strcmp(plimsoll_error_message(error).data, "the data of a host went off") == 0);
    plimsoll_error_free(error);
    CHECK(plimsoll_cluster_tick(cluster, 2, NULL) == PLIMSOLL_STATUS_OK);
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);

    /* One in a call that answers nothing. */
    cluster = plimsoll_probe_mined();
    CHECK(cluster != NULL);
    plimsoll_cluster_free(cluster);
    return NULL;
}
#endif

static void *everything(void *first) {
    uint32_t number = *(const uint32_t *)first;
    CHECK(second_panics(number) == number);
    CHECK(works() == NULL);
#ifdef PROBE
    CHECK(panics() == NULL);
#endif
    CHECK(second_panics(number + 1) == number + 1);
    return NULL;
}

int main(void) {
    uint32_t here = 1, there = 3;
    void *answer = everything(&here);
    pthread_t thread;
    if (answer != NULL || pthread_create(&thread, NULL, everything, &there) != 0 ||
        pthread_join(thread, &answer) != 0 || answer != NULL) {
        return 1;
    }
    puts("both work");
    return 0;
}
