/* Streams of load reports: when they are opened, what comes of their messages, and how they end. */

#include "check.h"

enum { ROOM = 8, SECOND = 1000000000 };

static const char BY_STREAMS[] =
    "name: api\n"
    "load_balancing_policy:\n"
    "  policies:\n"
    "  - typed_extension_config:\n"
    "      name: envoy.load_balancing_policies.client_side_weighted_round_robin\n"
    "      typed_config:\n"
    "        \"@type\": type.googleapis.com/envoy.extensions.load_balancing_policies."
    "client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin\n"
    "        enable_oob_load_report: true\n"
    "        oob_reporting_period: 2s\n"
    "        blackout_period: 0s\n";

/* An OrcaLoadReport in protobuf: cpu_utilization 0.5, rps_fractional 100. */
static const unsigned char REPORT[] = {0x09, 0, 0, 0, 0, 0, 0, 0xe0, 0x3f,
                                       0x31, 0, 0, 0, 0, 0, 0, 0x59, 0x40};

typedef struct {
    plimsoll_stream_action all[ROOM];
    char dial[ROOM][64];
    size_t count;
    const plimsoll_cluster *calls_back;
} actions;

static void note(void *userdata, const plimsoll_stream_action *action) {
    actions *seen = userdata;
    CHECK(seen->count < ROOM && action->size == sizeof *action && action->reserved == 0);
    snprintf(seen->dial[seen->count], sizeof seen->dial[0], "%.*s", (int)action->dial.len,
             action->dial.data);
    seen->all[seen->count++] = *action;
    if (seen->calls_back != NULL) {
        OK(plimsoll_cluster_tick(seen->calls_back, 0, NULL));
    }
}

/* What is to be done at this time; gives when to ask again. */
static uint64_t poll_at(const plimsoll_cluster *cluster, uint64_t now_ns, actions *seen) {
    uint64_t next_ns;
    memset(seen, 0, sizeof *seen);
    seen->calls_back = cluster;
    OK(plimsoll_cluster_poll_streams(cluster, now_ns, seen, note, &next_ns, NULL));
    return next_ns;
}

static plimsoll_cluster *open_by_streams(void) {
    plimsoll_cluster *cluster;
    OK(plimsoll_cluster_open(str(BY_STREAMS), NULL, &cluster, NULL));
    apply(cluster, change_of(PLIMSOLL_CHANGE_UPSERT, "10.0.0.1:80"));
    return cluster;
}

static void a_stream_is_opened_in_its_time_and_what_it_brings_counts(void) {
    plimsoll_cluster *cluster = open_by_streams();
    actions seen;
    uint64_t next_ns = poll_at(cluster, 0, &seen);
    CHECK(next_ns <= 2ull * SECOND);
    while (seen.count == 0) {
        next_ns = poll_at(cluster, next_ns, &seen);
    }
    CHECK(seen.count == 1 && seen.all[0].kind == PLIMSOLL_STREAM_OPEN);
    CHECK(seen.all[0].interval_ns == 2ull * SECOND && strcmp(seen.dial[0], "10.0.0.1:80") == 0);
    uint32_t slot = seen.all[0].slot, generation = seen.all[0].generation;

    uint64_t now_ns = 3ull * SECOND;
    OK(plimsoll_cluster_tick(cluster, now_ns, NULL));
    OK(plimsoll_cluster_stream_message(cluster, slot, generation, REPORT, sizeof REPORT, now_ns, NULL));
    plimsoll_host host = host_of(cluster, "10.0.0.1:80");
    CHECK(host.has_report == 1 && near(host.utilization, 0.5));

    /* One that is broken is opened again; one whose host is gone is closed. */
    OK(plimsoll_cluster_stream_ended(cluster, slot, generation, PLIMSOLL_STREAM_BROKEN, now_ns, NULL));
    next_ns = poll_at(cluster, now_ns, &seen);
    CHECK(seen.count == 0 && next_ns > now_ns);
    while (seen.count == 0) {
        next_ns = poll_at(cluster, next_ns, &seen);
    }
    CHECK(seen.all[0].kind == PLIMSOLL_STREAM_OPEN && seen.all[0].slot == slot);
    apply(cluster, change_of(PLIMSOLL_CHANGE_REMOVE, "10.0.0.1:80"));
    next_ns = poll_at(cluster, 60ull * SECOND, &seen);
    CHECK(seen.count == 1 && seen.all[0].kind == PLIMSOLL_STREAM_CLOSE && next_ns == 0);
    CHECK(seen.all[0].slot == slot && seen.all[0].generation == generation);
    plimsoll_cluster_free(cluster);
}

static void a_message_that_is_no_report_ends_its_stream(void) {
    plimsoll_cluster *cluster = open_by_streams();
    actions seen;
    uint64_t next_ns = poll_at(cluster, 0, &seen);
    while (seen.count == 0) {
        next_ns = poll_at(cluster, next_ns, &seen);
    }
    plimsoll_stream_action opened = seen.all[0];
    OK(plimsoll_cluster_stream_message(cluster, opened.slot, opened.generation, "\xff\xff", 2, SECOND,
                                       NULL));
    poll_at(cluster, SECOND, &seen);
    CHECK(seen.count == 1 && seen.all[0].kind == PLIMSOLL_STREAM_CLOSE);
    /* Of no stream, and of an old one: nothing happens. */
    OK(plimsoll_cluster_stream_message(cluster, 77, 1, REPORT, sizeof REPORT, SECOND, NULL));
    OK(plimsoll_cluster_stream_ended(cluster, opened.slot, opened.generation + 1, 14, SECOND, NULL));
    plimsoll_cluster_free(cluster);
}

static void other_policies_want_none(void) {
    plimsoll_cluster *cluster = open_two();
    actions seen;
    CHECK(poll_at(cluster, 60ull * SECOND, &seen) == 0 && seen.count == 0);
    plimsoll_cluster_free(cluster);
}

static void misuse_is_an_answer(void) {
    plimsoll_cluster *cluster = open_by_streams();
    actions seen = {0};
    uint64_t next_ns = 7;
    plimsoll_error *error;
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_cluster_poll_streams(NULL, 0, &seen, note, &next_ns, NULL));
    CHECK(next_ns == 0);
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_cluster_poll_streams(cluster, 0, &seen, NULL, &next_ns, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "act", NULL);
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_cluster_poll_streams(cluster, 0, &seen, note, NULL, NULL));
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_cluster_stream_message(cluster, 0, 0, NULL, 1, 0, NULL));
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT, plimsoll_cluster_stream_message(NULL, 0, 0, "", 0, 0, NULL));
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT, plimsoll_cluster_stream_ended(NULL, 0, 0, 0, 0, NULL));
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_cluster_stream_ended(cluster, 0, 0, -2, 0, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "grpc_status", NULL);
    plimsoll_cluster_free(cluster);
}

void test_streams(void) {
    a_stream_is_opened_in_its_time_and_what_it_brings_counts();
    a_message_that_is_no_report_ends_its_stream();
    other_policies_want_none();
    misuse_is_an_answer();
}
