/* Clusters in Prometheus' text format. What is in it is for the engine's tests; here it is how it
 * comes out. */

#include "check.h"

enum { ROOM = 65536 };

static char text[ROOM];

/* Writes a scrape of both clusters into `text`. */
static void scrape(const plimsoll_cluster *first, const plimsoll_cluster *second,
                   const plimsoll_prometheus_options *options) {
    const plimsoll_cluster *clusters[] = {first, second};
    size_t needed, again;
    EXPECT(PLIMSOLL_STATUS_BUFFER_TOO_SMALL,
           plimsoll_prometheus(clusters, 2, options, NULL, 0, &needed));
    CHECK(needed > 1 && needed <= ROOM);
    EXPECT(PLIMSOLL_STATUS_BUFFER_TOO_SMALL,
           plimsoll_prometheus(clusters, 2, options, text, needed - 1, &again));
    CHECK(again == needed && text[0] == '\0');
    OK(plimsoll_prometheus(clusters, 2, options, text, needed, &again));
    CHECK(again == needed && strlen(text) == needed - 1);
}

static int times(const char *part) {
    int count = 0;
    for (const char *place = text; (place = strstr(place, part)) != NULL; place++) {
        count++;
    }
    return count;
}

static void clusters_share_their_families(void) {
    plimsoll_cluster *first = open_two();
    plimsoll_cluster *second;
    OK(plimsoll_cluster_open(str("name: \"b \\\"2\\\"\\\\\""), NULL, &second, NULL));
    scrape(first, second, NULL);
    CHECK(times("# TYPE plimsoll_membership_healthy gauge\n") == 1);
    CHECK(times("# TYPE plimsoll_snapshots_published_total counter\n") == 1);
    CHECK(times("\nplimsoll_membership_healthy{cluster=\"api\"} 2\n") == 1);
    CHECK(times("\nplimsoll_membership_healthy{cluster=\"b \\\"2\\\"\\\\\"} 0\n") == 1);
    CHECK(times("plimsoll_host_") == 0 && times("omitted") == 0);

    plimsoll_prometheus_options options = PLIMSOLL_PROMETHEUS_OPTIONS_INIT;
    options.max_hosts = 1;
    options.max_localities = 1;
    scrape(first, second, &options);
    CHECK(times("\nplimsoll_host_share{cluster=\"api\",host=\"10.0.0.1:80\"} 0.5\n") == 1);
    CHECK(times("10.0.0.2:80") == 0);
    CHECK(times("\nplimsoll_hosts_omitted{cluster=\"api\"} 1\n") == 1);
    CHECK(times("\nplimsoll_locality_share{") == 1);
    plimsoll_cluster_free(first);
    plimsoll_cluster_free(second);
}

static void misuse_is_an_answer(void) {
    plimsoll_cluster *cluster = open_two();
    const plimsoll_cluster *clusters[] = {cluster, NULL};
    size_t needed = 7;
    OK(plimsoll_prometheus(NULL, 0, NULL, text, ROOM, &needed));
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_prometheus(clusters, 2, NULL, text, ROOM, &needed));
    CHECK(needed == 0 && text[0] == '\0');
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT, plimsoll_prometheus(NULL, 1, NULL, text, ROOM, &needed));
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_prometheus(clusters, 1, NULL, NULL, ROOM, &needed));
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT, plimsoll_prometheus(clusters, 1, NULL, text, ROOM, NULL));
    plimsoll_prometheus_options options = PLIMSOLL_PROMETHEUS_OPTIONS_INIT;
    options.size = 1;
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_prometheus(clusters, 1, &options, text, ROOM, &needed));
    plimsoll_cluster_free(cluster);
}

void test_scrapes(void) {
    clusters_share_their_families();
    misuse_is_an_answer();
}
