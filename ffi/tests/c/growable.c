/* Structs that grow: older callers are served, newer ones as long as they ask for nothing new. */

#include "check.h"

/* What a later header might declare. */
typedef struct {
    plimsoll_cluster_options known;
    uint64_t invented;
} later_options;

typedef struct {
    plimsoll_host_change known;
    uint64_t invented;
} later_change;

typedef struct {
    plimsoll_host_load known;
    uint64_t invented;
} later_load;

typedef struct {
    plimsoll_response_load known;
    uint64_t invented;
} later_response;

typedef struct {
    plimsoll_pick_context known;
    uint64_t invented;
} later_context;

typedef struct {
    plimsoll_request known;
    uint64_t invented;
} later_request;

typedef struct {
    plimsoll_prometheus_options known;
    uint64_t invented;
} later_scrape;

static plimsoll_status open_with(const plimsoll_cluster_options *options, plimsoll_error **error) {
    plimsoll_cluster *cluster = NULL;
    plimsoll_status status = plimsoll_cluster_open(str(TWO_HOSTS), options, &cluster, error);
    plimsoll_cluster_free(cluster);
    return status;
}

static void an_older_caller_leaves_the_rest_unset(void) {
    plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
    options.size = offsetof(plimsoll_cluster_options, behavior);
    /* Beyond `size`, and so not read: neither number would be accepted. */
    options.behavior = 77;
    options.has_seed = 77;
    OK(open_with(&options, NULL));
    options.behavior = PLIMSOLL_BEHAVIOR_ENVOY;
    options.size = offsetof(plimsoll_cluster_options, has_seed);
    OK(open_with(&options, NULL));
    options.has_seed = 0;
    options.size = offsetof(plimsoll_cluster_options, local_cluster);
    options.local_cluster = (const plimsoll_cluster *)&options; /* which it is not */
    OK(open_with(&options, NULL));
    /* Until messages came. */
    options.local_cluster = NULL;
    options.size = offsetof(plimsoll_cluster_options, log);
    CHECK(options.size == 104);
    options.log_level = 77;
    options.reserved = 77;
    OK(open_with(&options, NULL));
}

static void a_newer_caller_may_not_use_what_is_new(void) {
    later_options options = {PLIMSOLL_CLUSTER_OPTIONS_INIT, 0};
    options.known.size = sizeof options;
    OK(open_with(&options.known, NULL));

    options.invented = 1;
    plimsoll_error *error = NULL;
    EXPECT(PLIMSOLL_STATUS_UNSUPPORTED_FIELD, open_with(&options.known, &error));
    char message[160];
    snprintf(message, sizeof message,
             "byte %zu is set, and this library knows of none there: it is older than the header "
             "of its caller",
             offsetof(later_options, invented));
    expect_error(error, PLIMSOLL_STATUS_UNSUPPORTED_FIELD, "unsupported_field", "options", message);
}

static const char NOT_INITIALIZED[] = "size is 0: start from the struct's _INIT macro";

static void a_size_that_cannot_be_is_refused(void) {
    static const size_t sizes[] = {0, 1, sizeof(size_t) - 1, 4097, SIZE_MAX};
    for (size_t index = 0; index < sizeof sizes / sizeof sizes[0]; index++) {
        plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
        options.size = sizes[index];
        plimsoll_error *error = NULL;
        EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT, open_with(&options, &error));
        expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "options.size",
                     sizes[index] == 0 ? NOT_INITIALIZED : NULL);
    }
}

static void a_struct_of_an_array_that_was_not_initialized_is_told_so(void) {
    plimsoll_cluster *cluster = open_two();
    for (size_t forgotten = 0; forgotten < 2; forgotten++) {
        plimsoll_host_load loads[2] = {load_of("10.0.0.1:80", 3), load_of("10.0.0.2:80", 4)};
        loads[forgotten].size = 0;
        plimsoll_error *error = NULL;
        EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
               plimsoll_cluster_set_loads(cluster, loads, 2, &error));
        expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument",
                     forgotten == 0 ? "loads[0].size" : "loads[1].size", NOT_INITIALIZED);
    }
    plimsoll_cluster_free(cluster);
}

static void changes_of_a_newer_caller_lie_further_apart(void) {
    plimsoll_cluster *cluster = open_two();
    later_change changes[2] = {
        {change_of(PLIMSOLL_CHANGE_UPSERT, "10.0.0.3:80"), 0},
        {change_of(PLIMSOLL_CHANGE_REMOVE, "10.0.0.1:80"), 0},
    };
    changes[0].known.size = changes[1].known.size = sizeof changes[0];
    OK(plimsoll_cluster_update(cluster, &changes[0].known, 2, NULL, NULL));
    plimsoll_worker *worker = worker_of(cluster);
    CHECK(gets_about_half(worker, "10.0.0.3:80"));
    CHECK(share_of(worker, 10, "10.0.0.1:80") == 0);
    plimsoll_worker_free(worker);

    changes[1].invented = 1;
    plimsoll_error *error = NULL;
    EXPECT(PLIMSOLL_STATUS_UNSUPPORTED_FIELD,
           plimsoll_cluster_update(cluster, &changes[0].known, 2, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_UNSUPPORTED_FIELD, "unsupported_field", "changes[1]", NULL);

    changes[1].known.size = sizeof(plimsoll_host_change);
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_cluster_update(cluster, &changes[0].known, 2, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "changes[1].size",
                 NULL);

    plimsoll_host_change reserved = change_of(PLIMSOLL_CHANGE_REMOVE, "10.0.0.2:80");
    reserved.reserved = 1;
    EXPECT(PLIMSOLL_STATUS_UNSUPPORTED_FIELD,
           plimsoll_cluster_update(cluster, &reserved, 1, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_UNSUPPORTED_FIELD, "unsupported_field", "changes[0]", NULL);
    plimsoll_cluster_free(cluster);
}

static void loads_of_a_newer_caller_lie_further_apart(void) {
    plimsoll_cluster *cluster = open_two();
    later_load loads[2] = {{load_of("10.0.0.1:80", 3), 0}, {load_of("10.0.0.2:80", 4), 0}};
    loads[0].known.size = loads[1].known.size = sizeof loads[0];
    OK(plimsoll_cluster_set_loads(cluster, &loads[0].known, 2, NULL));
    CHECK(host_of(cluster, "10.0.0.1:80").active == 3);
    CHECK(host_of(cluster, "10.0.0.2:80").active == 4);

    loads[1].invented = 1;
    plimsoll_error *error = NULL;
    EXPECT(PLIMSOLL_STATUS_UNSUPPORTED_FIELD,
           plimsoll_cluster_set_loads(cluster, &loads[0].known, 2, &error));
    expect_error(error, PLIMSOLL_STATUS_UNSUPPORTED_FIELD, "unsupported_field", "loads[1]", NULL);

    loads[1].known.size = sizeof(plimsoll_host_load);
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_cluster_set_loads(cluster, &loads[0].known, 2, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "loads[1].size",
                 "all loads of one call have the same, aligned size");

    loads[0].known.size = sizeof loads[0] + 1;
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_cluster_set_loads(cluster, &loads[0].known, 2, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "loads[0].size",
                 NULL);
    plimsoll_cluster_free(cluster);
}

static void loads_of_an_older_caller_lie_closer_together(void) {
    /* What an older header might have declared, with its members where they are now. */
    typedef struct {
        size_t size;
        plimsoll_str address;
        uint32_t active;
        uint32_t pending;
    } earlier_load;
    plimsoll_cluster *cluster = open_two();
    earlier_load loads[2] = {{sizeof loads[0], PLIMSOLL_STR_INIT("10.0.0.1:80"), 5, 0},
                             {sizeof loads[0], PLIMSOLL_STR_INIT("10.0.0.2:80"), 6, 0}};
    OK(plimsoll_cluster_set_loads(cluster, (const plimsoll_host_load *)loads, 2, NULL));
    CHECK(host_of(cluster, "10.0.0.1:80").active == 5);
    CHECK(host_of(cluster, "10.0.0.2:80").active == 6);
    plimsoll_cluster_free(cluster);
}

static void a_context_of_any_age_works(void) {
    plimsoll_cluster *cluster = open_two();
    plimsoll_worker *worker = worker_of(cluster);
    plimsoll_pick pick;
    later_context context = {PLIMSOLL_PICK_CONTEXT_INIT, 0};

    context.known.flags = PLIMSOLL_PICK_UNCOUNTED;
    context.known.size = offsetof(plimsoll_pick_context, flags);
    OK(plimsoll_worker_pick(worker, &context.known, &pick));
    CHECK(pick.flags == PLIMSOLL_PICK_COUNTED);
    OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));

    /* The first header that had it: until the time was added. */
    context.known.size = offsetof(plimsoll_pick_context, now_ns);
    CHECK(context.known.size == 16);
    OK(plimsoll_worker_pick(worker, &context.known, &pick));
    CHECK(pick.flags == 0);

    context.known.size = sizeof context;
    OK(plimsoll_worker_pick(worker, &context.known, &pick));
    CHECK(pick.flags == 0);

    context.invented = 1;
    EXPECT(PLIMSOLL_STATUS_UNSUPPORTED_FIELD, plimsoll_worker_pick(worker, &context.known, &pick));
    context.known.size = 1;
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT, plimsoll_worker_pick(worker, &context.known, &pick));
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

static void a_response_of_any_age_works(void) {
    plimsoll_cluster *cluster = open_by_reports(PLIMSOLL_BEHAVIOR_NATIVE);
    plimsoll_worker *worker = worker_of(cluster);
    plimsoll_pick pick = pick_one(worker);
    later_response load = {PLIMSOLL_RESPONSE_LOAD_INIT, 0};
    load.known.trailer_text = str("TEXT rps_fractional=100,cpu_utilization=0.5");

    load.known.size = offsetof(plimsoll_response_load, trailer_binary);
    EXPECT(PLIMSOLL_STATUS_NO_REPORT, plimsoll_worker_report(worker, &pick, &load.known));
    load.known.size = offsetof(plimsoll_response_load, now_ns);
    OK(plimsoll_worker_report(worker, &pick, &load.known));
    load.known.size = sizeof load;
    OK(plimsoll_worker_report(worker, &pick, &load.known));

    load.invented = 1;
    EXPECT(PLIMSOLL_STATUS_UNSUPPORTED_FIELD, plimsoll_worker_report(worker, &pick, &load.known));
    load.known.size = 1;
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT, plimsoll_worker_report(worker, &pick, &load.known));
    OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

static void a_request_of_any_age_works(void) {
    plimsoll_cluster *cluster;
    OK(plimsoll_cluster_open(str("{\"name\": \"api\", \"lb_policy\": \"MAGLEV\"}"), NULL, &cluster,
                             NULL));
    plimsoll_worker *worker = worker_of(cluster);
    plimsoll_hash_policies *route;
    OK(plimsoll_hash_policies_parse(str("[{\"filter_state\": {\"key\": \"tenant\"}}]"), &route, NULL));
    plimsoll_filter_state object = {PLIMSOLL_STR_INIT("tenant"), 4711};
    later_request request = {PLIMSOLL_REQUEST_INIT, 0};
    request.known.filter_states = &object;
    request.known.filter_state_count = 1;
    uint64_t hash;

    /* Until filter state came: it is not read, whatever lies there. */
    request.known.size = offsetof(plimsoll_request, filter_states);
    CHECK(request.known.size == 120);
    EXPECT(PLIMSOLL_STATUS_NO_HASH,
           plimsoll_worker_hash(worker, route, &request.known, NULL, NULL, &hash));
    request.known.size = sizeof request;
    OK(plimsoll_worker_hash(worker, route, &request.known, NULL, NULL, &hash));
    CHECK(hash == 4711);
    request.invented = 1;
    EXPECT(PLIMSOLL_STATUS_UNSUPPORTED_FIELD,
           plimsoll_worker_hash(worker, route, &request.known, NULL, NULL, &hash));
    plimsoll_hash_policies_free(route);
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

static void a_scrape_of_any_age_works(void) {
    plimsoll_cluster *cluster = open_two();
    const plimsoll_cluster *clusters[] = {cluster};
    static char text[65536];
    size_t needed;
    later_scrape scrape = {PLIMSOLL_PROMETHEUS_OPTIONS_INIT, 0};
    scrape.known.max_hosts = 2;
    scrape.known.size = offsetof(plimsoll_prometheus_options, max_hosts);
    OK(plimsoll_prometheus(clusters, 1, &scrape.known, text, sizeof text, &needed));
    CHECK(strstr(text, "plimsoll_host_share") == NULL);
    scrape.known.size = sizeof scrape;
    OK(plimsoll_prometheus(clusters, 1, &scrape.known, text, sizeof text, &needed));
    CHECK(strstr(text, "plimsoll_host_share") != NULL);
    scrape.invented = 1;
    EXPECT(PLIMSOLL_STATUS_UNSUPPORTED_FIELD,
           plimsoll_prometheus(clusters, 1, &scrape.known, text, sizeof text, &needed));
    plimsoll_cluster_free(cluster);
}

void test_growable(void) {
    an_older_caller_leaves_the_rest_unset();
    a_newer_caller_may_not_use_what_is_new();
    a_size_that_cannot_be_is_refused();
    a_struct_of_an_array_that_was_not_initialized_is_told_so();
    changes_of_a_newer_caller_lie_further_apart();
    loads_of_a_newer_caller_lie_further_apart();
    loads_of_an_older_caller_lie_closer_together();
    a_context_of_any_age_works();
    a_response_of_any_age_works();
    a_request_of_any_age_works();
    a_scrape_of_any_age_works();
}
