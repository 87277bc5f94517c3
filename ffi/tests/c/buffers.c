/* Text goes into the caller's buffer: all of it with its NUL, or nothing. */

#include "check.h"

static plimsoll_cluster *cluster;
static plimsoll_worker *worker;
static plimsoll_pick pick;

static plimsoll_status hosts(char *buffer, size_t capacity, size_t *needed) {
    return plimsoll_cluster_hosts(cluster, buffer, capacity, needed);
}

static plimsoll_status stats(char *buffer, size_t capacity, size_t *needed) {
    return plimsoll_cluster_stats(cluster, buffer, capacity, needed);
}

static plimsoll_status address(char *buffer, size_t capacity, size_t *needed) {
    return plimsoll_worker_host_address(worker, &pick, buffer, capacity, needed);
}

static void fits_exactly_or_not_at_all(plimsoll_status (*write)(char *, size_t, size_t *)) {
    size_t needed = 0;
    EXPECT(PLIMSOLL_STATUS_BUFFER_TOO_SMALL, write(NULL, 0, &needed));
    CHECK(needed > 1);

    char *exact = malloc(needed);
    CHECK(exact != NULL);
    memset(exact, 'x', needed);
    size_t again = 0;
    EXPECT(PLIMSOLL_STATUS_BUFFER_TOO_SMALL, write(exact, needed - 1, &again));
    CHECK(again == needed);
    CHECK(exact[0] == '\0' && exact[1] == 'x');

    OK(write(exact, needed, &again));
    CHECK(again == needed);
    CHECK(strlen(exact) == needed - 1);
    free(exact);

    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT, write(NULL, 10, &again));
    CHECK(again == 0);
    char kept[2] = "k";
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT, write(kept, sizeof kept, NULL));
    CHECK(kept[0] == '\0');
}

static void the_table_names_every_host(void) {
    char table[4096];
    size_t needed;
    OK(hosts(table, sizeof table, &needed));
    CHECK(strstr(table, "10.0.0.1:80") != NULL);
    CHECK(strstr(table, "10.0.0.2:80") != NULL);
}

static void counters_are_lines(void) {
    char lines[4096];
    size_t needed;
    OK(stats(lines, sizeof lines, &needed));
    CHECK(strstr(lines, ": ") != NULL);
    CHECK(lines[needed - 2] == '\n');
}

void test_buffers(void) {
    cluster = open_two();
    worker = worker_of(cluster);
    pick = pick_one(worker);
    fits_exactly_or_not_at_all(hosts);
    fits_exactly_or_not_at_all(stats);
    fits_exactly_or_not_at_all(address);
    the_table_names_every_host();
    counters_are_lines();
    OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}
