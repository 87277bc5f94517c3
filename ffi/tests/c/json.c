/* What there is to see, as JSON: parts of a cluster, the next pick, and load reports. */

#include "check.h"

static plimsoll_cluster *cluster;
static plimsoll_worker *worker;

static char text[8192];

static const char *dump_of(plimsoll_dump_options options) {
    size_t needed = 0;
    OK(plimsoll_cluster_dump(cluster, &options, text, sizeof text, &needed, NULL));
    CHECK(needed == strlen(text) + 1);
    return text;
}

static plimsoll_dump_options part(uint32_t number) {
    plimsoll_dump_options options = PLIMSOLL_DUMP_OPTIONS_INIT;
    options.part = number;
    return options;
}

static void each_part_has_its_form(void) {
    CHECK(strcmp(dump_of(part(PLIMSOLL_DUMP_LOADS)),
                 "{\"healthy\":[100.0],\"degraded\":[0.0],\"panic\":[false]}") == 0);
    CHECK(strstr(dump_of(part(PLIMSOLL_DUMP_HOSTS)), "[{\"address\":\"10.0.0.1:80\",\"priority\":0,"));
    CHECK(strstr(dump_of(part(PLIMSOLL_DUMP_LOCALITIES)), "\"source\":\"degraded\""));
    CHECK(strcmp(dump_of(part(PLIMSOLL_DUMP_TABLE)), "[]") == 0); /* round robin has none */
    CHECK(strstr(dump_of(part(PLIMSOLL_DUMP_STATS)), "\"plimsoll.snapshots_published\":"));
    CHECK(strstr(dump_of(part(PLIMSOLL_DUMP_SNAPSHOT)), "{\"version\":1,\"published\":"));
}

static void filters_leave_the_rest_out(void) {
    plimsoll_dump_options options = part(PLIMSOLL_DUMP_LOCALITIES);
    options.flags = PLIMSOLL_DUMP_HAS_PRIORITY | PLIMSOLL_DUMP_HAS_SOURCE;
    options.source = PLIMSOLL_SOURCE_ALL;
    dump_of(options);
    CHECK(strstr(text, "\"source\":\"all\"") && !strstr(text, "\"source\":\"healthy\""));
    options.priority = 7;
    CHECK(strcmp(dump_of(options), "[]") == 0);
}

static void refused(plimsoll_dump_options options, plimsoll_status status, const char *field,
                    const char *message) {
    plimsoll_error *error = NULL;
    size_t needed = 7;
    text[0] = 'x';
    EXPECT(status, plimsoll_cluster_dump(cluster, &options, text, sizeof text, &needed, &error));
    CHECK(text[0] == '\0' && needed == 0);
    expect_error(error, status, plimsoll_status_name(status), field, message);
}

static void what_stands_for_nothing_is_refused(void) {
    refused(part(0), PLIMSOLL_STATUS_INVALID_ARGUMENT, "options.part", NULL);
    plimsoll_dump_options options = part(PLIMSOLL_DUMP_HOSTS);
    options.flags = PLIMSOLL_DUMP_HAS_PRIORITY;
    refused(options, PLIMSOLL_STATUS_INVALID_ARGUMENT, "options.flags", NULL);
    options = part(PLIMSOLL_DUMP_TABLE);
    options.flags = PLIMSOLL_DUMP_HAS_SOURCE;
    options.source = 3;
    refused(options, PLIMSOLL_STATUS_INVALID_ARGUMENT, "options.source", NULL);
    options.flags = PLIMSOLL_DUMP_HAS_PRIORITY;
    options.priority = 9;
    refused(options, PLIMSOLL_STATUS_INVALID_ARGUMENT, "priority", "there is no priority 9");
    options.reserved = 1;
    refused(options, PLIMSOLL_STATUS_UNSUPPORTED_FIELD, "options", NULL);
    options.size = 3;
    refused(options, PLIMSOLL_STATUS_INVALID_ARGUMENT, "options.size", NULL);
}

static void a_dump_fits_or_says_what_it_takes(void) {
    plimsoll_dump_options options = part(PLIMSOLL_DUMP_LOADS);
    plimsoll_error *error = NULL;
    size_t needed = 0;
    EXPECT(PLIMSOLL_STATUS_BUFFER_TOO_SMALL,
           plimsoll_cluster_dump(cluster, &options, NULL, 0, &needed, &error));
    CHECK(needed == strlen(dump_of(options)) + 1);
    expect_error(error, PLIMSOLL_STATUS_BUFFER_TOO_SMALL, "buffer_too_small", "", NULL);
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_cluster_dump(NULL, &options, text, sizeof text, &needed, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "cluster", NULL);
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_cluster_dump(cluster, NULL, text, sizeof text, &needed, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "options", NULL);
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_cluster_dump(cluster, &options, NULL, 1, &needed, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "buffer", NULL);
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_cluster_dump(cluster, &options, text, sizeof text, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "needed", NULL);
}

static int refuse_the_first(void *userdata, const plimsoll_pick *candidate) {
    int *asked = userdata;
    ++*asked;
    size_t needed = 0;
    char nested[16];
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_worker_explain(worker, NULL, NULL, NULL, NULL, nested, sizeof nested, &needed));
    return !pick_is(worker, candidate, "10.0.0.1:80");
}

static void an_explanation_is_of_the_next_pick_and_changes_nothing(void) {
    for (int turn = 0; turn < 20; turn++) {
        size_t needed = 0;
        OK(plimsoll_worker_explain(worker, NULL, NULL, NULL, NULL, text, sizeof text, &needed));
        CHECK(needed == strlen(text) + 1);
        plimsoll_pick pick = pick_one(worker);
        char address[64], expected[80];
        OK(plimsoll_worker_host_address(worker, &pick, address, sizeof address, &needed));
        OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
        snprintf(expected, sizeof expected, "\"host\":\"%s\"", address);
        CHECK(strstr(text, "\"policy\":\"round_robin\"") && strstr(text, expected));
    }
}

static void an_explanation_asks_the_filter(void) {
    plimsoll_pick_context context = PLIMSOLL_PICK_CONTEXT_INIT;
    context.retries = 10;
    size_t needed = 0;
    int asked = 0;
    OK(plimsoll_worker_explain(worker, &context, NULL, &asked, refuse_the_first, text, sizeof text,
                               &needed));
    CHECK(asked >= 1 && strstr(text, "\"host\":\"10.0.0.2:80\""));
    context.flags = 77;
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_worker_explain(worker, &context, NULL, NULL, NULL, text, sizeof text, &needed));
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_worker_explain(NULL, NULL, NULL, NULL, NULL, text, sizeof text, &needed));
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_worker_explain(worker, NULL, NULL, NULL, NULL, text, sizeof text, NULL));
    EXPECT(PLIMSOLL_STATUS_BUFFER_TOO_SMALL,
           plimsoll_worker_explain(worker, NULL, NULL, NULL, NULL, text, 10, &needed));
    CHECK(text[0] == '\0' && needed > 10);
}

static void a_draw_may_be_given(void) {
    plimsoll_cluster *random = NULL;
    OK(plimsoll_cluster_open(PLIMSOLL_STR("{\"name\":\"api\",\"lb_policy\":\"RANDOM\"}"), NULL,
                             &random, NULL));
    apply(random, change_of(PLIMSOLL_CHANGE_UPSERT, "10.0.0.1:80"));
    plimsoll_worker *drawing = worker_of(random);
    uint64_t draw = UINT64_MAX;
    size_t needed = 0;
    OK(plimsoll_worker_explain(drawing, NULL, &draw, NULL, NULL, text, sizeof text, &needed));
    CHECK(strstr(text, "\"draw\":18446744073709551615"));
    plimsoll_worker_free(drawing);
    plimsoll_cluster_free(random);
}

static plimsoll_status understood(const plimsoll_response_load *load, uint32_t behavior,
                                  plimsoll_error **error) {
    size_t needed = 0;
    return plimsoll_response_load_json(load, behavior, text, sizeof text, &needed, error);
}

static void a_report_is_shown_as_it_is_understood(void) {
    plimsoll_response_load load = response_load_of("TEXT cpu_utilization=0.5,named_metrics.a=1");
    OK(understood(&load, PLIMSOLL_BEHAVIOR_NATIVE, NULL));
    CHECK(strcmp(text, "{\"cpu_utilization\":0.5,\"mem_utilization\":0.0,\"rps\":0,"
                       "\"request_cost\":{},\"utilization\":{},\"rps_fractional\":0.0,\"eps\":0.0,"
                       "\"named_metrics\":{\"a\":1.0},\"application_utilization\":0.0}") == 0);
    load.trailer_text = PLIMSOLL_STR("TEXT cpu_utilization=0.25");
    OK(understood(&load, PLIMSOLL_BEHAVIOR_NATIVE, NULL));
    CHECK(strstr(text, "\"cpu_utilization\":0.25"));
    OK(understood(&load, PLIMSOLL_BEHAVIOR_ENVOY, NULL));
    CHECK(strstr(text, "\"cpu_utilization\":0.5"));
}

static void a_report_that_is_none_is_explained(void) {
    plimsoll_error *error = NULL;
    plimsoll_response_load load = response_load_of("TEXT foo=1");
    EXPECT(PLIMSOLL_STATUS_REPORT_UNREADABLE,
           understood(&load, PLIMSOLL_BEHAVIOR_NATIVE, &error));
    expect_error(error, PLIMSOLL_STATUS_REPORT_UNREADABLE, "report_unreadable", "",
                 "unsupported metric name: foo");
    CHECK(text[0] == '\0');
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT, understood(&load, 2, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "behavior", NULL);
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT, understood(NULL, PLIMSOLL_BEHAVIOR_NATIVE, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "load", NULL);
    plimsoll_response_load silent = PLIMSOLL_RESPONSE_LOAD_INIT;
    EXPECT(PLIMSOLL_STATUS_NO_REPORT, understood(&silent, PLIMSOLL_BEHAVIOR_NATIVE, &error));
    expect_error(error, PLIMSOLL_STATUS_NO_REPORT, "no_report", "", NULL);
}

void test_json(void) {
    cluster = open_two();
    worker = worker_of(cluster);
    each_part_has_its_form();
    filters_leave_the_rest_out();
    what_stands_for_nothing_is_refused();
    a_dump_fits_or_says_what_it_takes();
    an_explanation_is_of_the_next_pick_and_changes_nothing();
    an_explanation_asks_the_filter();
    a_draw_may_be_given();
    a_report_is_shown_as_it_is_understood();
    a_report_that_is_none_is_explained();
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}
