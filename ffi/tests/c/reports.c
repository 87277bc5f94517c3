/* What hosts say of their own load: where it stands, what is made of it, and what is refused. */

#include "check.h"

#define ONE "10.0.0.1:80"
#define TWO "10.0.0.2:80"
#define SECOND UINT64_C(1000000000)

/* 100 requests per second and a utilization of the CPU of 0.5, in each form. */
#define HALF_TEXT "TEXT rps_fractional=100,cpu_utilization=0.5"
#define HALF_JSON "JSON {\"rps_fractional\": 100, \"cpu_utilization\": 0.5}"
#define HALF_BASE64 "CQAAAAAAAOA/MQAAAAAAAFlA"

static plimsoll_cluster *cluster;
static plimsoll_worker *worker;

static void open_with(uint32_t behavior) {
    cluster = open_by_reports(behavior);
    worker = worker_of(cluster);
}

static void close_both(void) {
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

/* A pick of this host, not counted. */
static plimsoll_pick pick_of(const char *address) {
    plimsoll_pick_context context = PLIMSOLL_PICK_CONTEXT_INIT;
    context.flags = PLIMSOLL_PICK_UNCOUNTED;
    plimsoll_pick pick;
    do {
        OK(plimsoll_worker_pick(worker, &context, &pick));
    } while (!pick_is(worker, &pick, address));
    return pick;
}

static plimsoll_status report(const char *address, plimsoll_response_load load) {
    plimsoll_pick pick = pick_of(address);
    return plimsoll_worker_report(worker, &pick, &load);
}

static plimsoll_status report_text(const char *address, const char *text) {
    return report(address, response_load_of(text));
}

/* One of the cluster's counters. */
static unsigned long long stat_of(const char *name) {
    char text[4096];
    size_t needed;
    OK(plimsoll_cluster_stats(cluster, text, sizeof text, &needed));
    const char *line = strstr(text, name);
    return line == NULL ? 0 : strtoull(line + strlen(name) + strlen(": "), NULL, 10);
}

/* Whether the host shows this utilization. */
static bool shows(const char *address, double utilization) {
    plimsoll_host host = host_of(cluster, address);
    return host.has_report == 1 && near(host.utilization, utilization);
}

static void weights_follow_reports(void) {
    open_with(PLIMSOLL_BEHAVIOR_NATIVE);
    CHECK(gets_about_half(worker, ONE));
    OK(report_text(ONE, "TEXT rps_fractional=100,cpu_utilization=0.2"));
    OK(report_text(TWO, "TEXT rps_fractional=100,cpu_utilization=0.8"));
    CHECK(near(host_of(cluster, ONE).share, 0.5)); /* until weights are taken over */
    OK(plimsoll_cluster_tick(cluster, SECOND / 2 - 1, NULL));
    CHECK(near(host_of(cluster, ONE).share, 0.5));
    OK(plimsoll_cluster_tick(cluster, SECOND, NULL));
    CHECK(near(host_of(cluster, ONE).share, 0.8));
    CHECK(near(host_of(cluster, ONE).effective_weight, 500));
    CHECK(near(host_of(cluster, TWO).effective_weight, 125));
    int share = share_of(worker, 1000, ONE);
    CHECK(share >= 790 && share <= 810);
    CHECK(stat_of("plimsoll.load_reports_accepted") == 2);
    close_both();
}

static void a_host_shows_its_last_report(void) {
    open_with(PLIMSOLL_BEHAVIOR_NATIVE);
    plimsoll_host host = host_of(cluster, ONE);
    CHECK(host.has_report == 0 && host.reserved == 0 && host.report_age_ns == 0);
    CHECK(near(host.utilization, 0) && near(host.reported_weight, 0));
    OK(plimsoll_cluster_tick(cluster, 10 * SECOND, NULL));
    OK(report_text(ONE, "TEXT rps_fractional=100,cpu_utilization=2"));
    OK(plimsoll_cluster_tick(cluster, 13 * SECOND, NULL));
    host = host_of(cluster, ONE);
    CHECK(shows(ONE, 2) && near(host.reported_weight, 50) && host.report_age_ns == 3 * SECOND);
    CHECK(host_of(cluster, TWO).has_report == 0);

    /* The time that came with it counts, if one did. */
    plimsoll_response_load load = response_load_of(HALF_TEXT);
    load.now_ns = 12 * SECOND;
    OK(report(ONE, load));
    CHECK(host_of(cluster, ONE).report_age_ns == SECOND);
    close_both();
}

static void every_form_is_read(void) {
    open_with(PLIMSOLL_BEHAVIOR_NATIVE);
    static const char *const texts[] = {HALF_TEXT, "  " HALF_TEXT " ", HALF_JSON,
                                        "BIN " HALF_BASE64,
                                        HALF_TEXT ",named_metrics.\xe9t\xe9=1"};
    plimsoll_response_load load = PLIMSOLL_RESPONSE_LOAD_INIT;
    for (size_t index = 0; index < sizeof texts / sizeof texts[0]; index++) {
        OK(report_text(ONE, "TEXT rps_fractional=1,cpu_utilization=1"));
        OK(report_text(ONE, texts[index]));
        CHECK(shows(ONE, 0.5));
    }
    load.header_binary = str(HALF_BASE64);
    OK(report(TWO, load));
    CHECK(shows(TWO, 0.5));
    close_both();
}

/* A response whose headers and trailers say different things. */
static plimsoll_response_load divided(const char *header, const char *trailer) {
    plimsoll_response_load load = response_load_of(header);
    load.trailer_text = str(trailer);
    return load;
}

static void trailers_beat_headers_and_in_envoy_headers_trailers(void) {
    const char *first = "TEXT rps_fractional=100,cpu_utilization=0.25";
    static const uint32_t behaviors[] = {PLIMSOLL_BEHAVIOR_NATIVE, PLIMSOLL_BEHAVIOR_ENVOY};
    for (size_t index = 0; index < 2; index++) {
        open_with(behaviors[index]);
        OK(report(ONE, divided(first, HALF_TEXT)));
        CHECK(shows(ONE, behaviors[index] == PLIMSOLL_BEHAVIOR_NATIVE ? 0.5 : 0.25));
        /* What cannot be read leaves it to the other place. */
        OK(report(TWO, divided("garbage", HALF_TEXT)));
        CHECK(shows(TWO, 0.5));
        OK(report(TWO, divided(first, "garbage")));
        CHECK(shows(TWO, 0.25));
        plimsoll_response_load load = PLIMSOLL_RESPONSE_LOAD_INIT;
        load.trailer_binary = str(HALF_BASE64);
        OK(report(TWO, load));
        CHECK(shows(TWO, 0.5));
        close_both();
    }
}

static void a_response_need_not_say_anything(void) {
    open_with(PLIMSOLL_BEHAVIOR_NATIVE);
    plimsoll_response_load load = PLIMSOLL_RESPONSE_LOAD_INIT;
    EXPECT(PLIMSOLL_STATUS_NO_REPORT, report(ONE, load));
    CHECK(strcmp(plimsoll_status_name(PLIMSOLL_STATUS_NO_REPORT), "no_report") == 0);
    CHECK(host_of(cluster, ONE).has_report == 0);
    close_both();
}

static void what_cannot_be_read_is_counted_and_harmless(void) {
    static const char *const texts[] = {"", "garbage", "text rps_fractional=1", "TEXT \xff", "BIN !",
                                        "JSON {", "TEXT rps_fractional=nan"};
    const size_t count = sizeof texts / sizeof texts[0];
    open_with(PLIMSOLL_BEHAVIOR_NATIVE);
    for (size_t index = 0; index < count; index++) {
        EXPECT(PLIMSOLL_STATUS_REPORT_UNREADABLE, report_text(ONE, texts[index]));
    }
    /* A header that is empty is not absent: what stands beside it does not count. */
    plimsoll_response_load load = response_load_of(HALF_TEXT);
    load.header_binary = str("");
    EXPECT(PLIMSOLL_STATUS_REPORT_UNREADABLE, report(ONE, load));
    CHECK(stat_of("plimsoll.load_reports_unreadable") == count + 1);
    CHECK(host_of(cluster, ONE).has_report == 0);
    close_both();
}

static void what_is_of_no_use_is_rejected_and_counted(void) {
    const plimsoll_status rejected = PLIMSOLL_STATUS_REPORT_REJECTED;
    open_with(PLIMSOLL_BEHAVIOR_NATIVE);
    EXPECT(rejected, report_text(ONE, "TEXT mem_utilization=0.5"));
    EXPECT(rejected, report_text(ONE, "TEXT rps_fractional=100"));
    EXPECT(rejected, report_text(ONE, "JSON {\"rps_fractional\": \"Infinity\"}"));
    CHECK(stat_of("plimsoll.load_reports_without_qps") == 1);
    CHECK(stat_of("plimsoll.load_reports_without_utilization") == 1);
    CHECK(stat_of("plimsoll.load_reports_not_finite") == 1);
    CHECK(host_of(cluster, ONE).has_report == 0);

    plimsoll_pick gone = {UINT32_MAX, UINT32_MAX, 0, 0};
    plimsoll_response_load load = response_load_of(HALF_TEXT);
    EXPECT(PLIMSOLL_STATUS_STALE_PICK, plimsoll_worker_report(worker, &gone, &load));
    CHECK(stat_of("plimsoll.load_reports_ignored") == 1);

    OK(plimsoll_cluster_reload(cluster, str(TWO_HOSTS), NULL, NULL));
    EXPECT(rejected, report_text(ONE, HALF_TEXT));
    CHECK(stat_of("plimsoll.load_reports_ignored") == 2);
    CHECK(host_of(cluster, ONE).has_report == 0);
    close_both();
}

static void a_quiescent_worker_takes_reports_in(void) {
    open_with(PLIMSOLL_BEHAVIOR_NATIVE);
    plimsoll_pick pick = pick_one(worker);
    plimsoll_response_load load = response_load_of(HALF_TEXT);
    OK(plimsoll_worker_quiesce(worker));
    OK(plimsoll_worker_report(worker, &pick, &load));
    OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    close_both();
}

static int report_inside(void *userdata, const plimsoll_pick *candidate) {
    (void)userdata;
    plimsoll_response_load load = response_load_of(HALF_TEXT);
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT, plimsoll_worker_report(worker, candidate, &load));
    return 1;
}

static void a_report_inside_accept_is_refused(void) {
    open_with(PLIMSOLL_BEHAVIOR_NATIVE);
    plimsoll_pick pick;
    OK(plimsoll_worker_pick_filtered(worker, NULL, NULL, report_inside, &pick));
    OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    close_both();
}

enum { MESSAGE = 18 };

/* An OrcaLoadReport in protobuf. */
static void encode(char *message, double rps, double utilization) {
    message[0] = 0x31; /* rps_fractional */
    memcpy(message + 1, &rps, 8);
    message[9] = 0x09; /* cpu_utilization */
    memcpy(message + 10, &utilization, 8);
}

static void a_report_may_come_by_address(void) {
    char message[MESSAGE];
    open_with(PLIMSOLL_BEHAVIOR_NATIVE);
    encode(message, 100, 0.2);
    OK(plimsoll_cluster_report(cluster, str(ONE), message, sizeof message, 0, NULL));
    encode(message, 100, 0.8);
    plimsoll_error *error = NULL;
    OK(plimsoll_cluster_report(cluster, str(TWO), message, sizeof message, 1, &error));
    CHECK(error == NULL && shows(ONE, 0.2) && shows(TWO, 0.8));
    OK(plimsoll_cluster_tick(cluster, SECOND, NULL));
    CHECK(near(host_of(cluster, ONE).share, 0.8));
    CHECK(stat_of("plimsoll.load_reports_accepted") == 2);
    close_both();
}

static void a_report_by_address_says_what_is_wrong(void) {
    char message[MESSAGE];
    open_with(PLIMSOLL_BEHAVIOR_NATIVE);
    encode(message, 100, 0.5);
    plimsoll_error *error = NULL;
    EXPECT(PLIMSOLL_STATUS_UNKNOWN_HOST,
           plimsoll_cluster_report(cluster, str("10.0.0.9:80"), message, MESSAGE, 0, &error));
    expect_error(error, PLIMSOLL_STATUS_UNKNOWN_HOST, "unknown_host", "10.0.0.9:80", NULL);
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_cluster_report(cluster, str("\xff"), message, MESSAGE, 0, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "address", NULL);
    EXPECT(PLIMSOLL_STATUS_REPORT_UNREADABLE,
           plimsoll_cluster_report(cluster, str(ONE), message, MESSAGE - 1, 0, &error));
    expect_error(error, PLIMSOLL_STATUS_REPORT_UNREADABLE, "report_unreadable", "message",
                 "invalid OrcaLoadReport payload");
    EXPECT(PLIMSOLL_STATUS_REPORT_REJECTED,
           plimsoll_cluster_report(cluster, str(ONE), NULL, 0, 0, &error));
    expect_error(error, PLIMSOLL_STATUS_REPORT_REJECTED, "report_rejected", ONE,
                 "QPS must be positive");
    OK(plimsoll_cluster_reload(cluster, str(TWO_HOSTS), NULL, NULL));
    EXPECT(PLIMSOLL_STATUS_REPORT_REJECTED,
           plimsoll_cluster_report(cluster, str(ONE), message, MESSAGE, 0, &error));
    expect_error(error, PLIMSOLL_STATUS_REPORT_REJECTED, "report_rejected", ONE,
                 "the policy does not go by load reports");
    close_both();
}

/* What the cluster's hosts have reported, as text. */
static void export(char *text, size_t capacity) {
    size_t needed = 0;
    EXPECT(PLIMSOLL_STATUS_BUFFER_TOO_SMALL,
           plimsoll_cluster_export_reports(cluster, NULL, 0, &needed));
    CHECK(needed <= capacity);
    OK(plimsoll_cluster_export_reports(cluster, text, capacity, &needed));
    CHECK(needed == strlen(text) + 1);
}

static void a_successor_takes_reports_over(void) {
    char message[MESSAGE];
    open_with(PLIMSOLL_BEHAVIOR_NATIVE);
    encode(message, 100, 0.2);
    OK(plimsoll_cluster_report(cluster, str(ONE), message, sizeof message, 0, NULL));
    encode(message, 100, 0.8);
    OK(plimsoll_cluster_report(cluster, str(TWO), message, sizeof message, 0, NULL));
    char text[512];
    export(text, sizeof text);
    close_both();
    open_with(PLIMSOLL_BEHAVIOR_NATIVE);
    size_t taken = 99;
    plimsoll_error *error = NULL;
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_cluster_import_reports(cluster, str("plimsoll-reports 1\nweight x"), &taken,
                                           &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "line 2.value",
                 "expected a finite number");
    CHECK(taken == 0);
    OK(plimsoll_cluster_import_reports(cluster, str(text), &taken, &error));
    CHECK(taken == 2 && error == NULL && near(host_of(cluster, ONE).share, 0.8));
    OK(plimsoll_cluster_import_reports(cluster, str(text), NULL, NULL));
    close_both();
}

static uint64_t next_tick(void) {
    uint64_t next_ns = 7;
    OK(plimsoll_cluster_next_tick(cluster, &next_ns, NULL));
    return next_ns;
}

static void the_next_tick_is_when_weights_are_taken_over(void) {
    open_with(PLIMSOLL_BEHAVIOR_NATIVE);
    uint64_t first_ns = next_tick();
    CHECK(first_ns >= SECOND / 2 && first_ns <= SECOND);
    OK(plimsoll_cluster_tick(cluster, first_ns - 1, NULL));
    CHECK(next_tick() == first_ns);
    OK(plimsoll_cluster_tick(cluster, SECOND + 5, NULL));
    CHECK(next_tick() == 2 * SECOND + 5);
    OK(plimsoll_cluster_reload(cluster, str(TWO_HOSTS), NULL, NULL));
    CHECK(next_tick() == 0);
    close_both();
}

void test_reports(void) {
    weights_follow_reports();
    a_host_shows_its_last_report();
    every_form_is_read();
    trailers_beat_headers_and_in_envoy_headers_trailers();
    a_response_need_not_say_anything();
    what_cannot_be_read_is_counted_and_harmless();
    what_is_of_no_use_is_rejected_and_counted();
    a_quiescent_worker_takes_reports_in();
    a_report_inside_accept_is_refused();
    a_report_may_come_by_address();
    a_report_by_address_says_what_is_wrong();
    a_successor_takes_reports_over();
    the_next_tick_is_when_weights_are_taken_over();
}
