/* Requests by their hash: what it is made from, where it leads, and cookies for new clients. */

#include "check.h"

#define INVALID(call) EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT, call)
#define NULL_ARGUMENT(call) EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT, call)
#define NO_HASH(call) EXPECT(PLIMSOLL_STATUS_NO_HASH, call)

#define HOSTS 5

/* xxHash64 of "foo", as Envoy's tests have it. */
static const uint64_t HASH_OF_FOO = UINT64_C(3728699739546630719);

/* Not readable at all: a length without a place. */
static const plimsoll_str NOWHERE = {NULL, 1};

/* A cluster of five hosts, 10.0.0.1:80 to 10.0.0.5:80, whose keys are "key 1" to "key 5". */
static plimsoll_cluster *open_hashed(const char *own_policies) {
    char text[1024];
    snprintf(text, sizeof text,
             "name: api\n"
             "load_balancing_policy:\n"
             "  policies:\n"
             "  - typed_extension_config:\n"
             "      name: envoy.load_balancing_policies.maglev\n"
             "      typed_config:\n"
             "        \"@type\": type.googleapis.com/envoy.extensions.load_balancing_policies."
             "maglev.v3.Maglev\n"
             "        consistent_hashing_lb_config: { hash_policy: %s }\n",
             own_policies);
    plimsoll_cluster *cluster = NULL;
    OK(plimsoll_cluster_open(str(text), NULL, &cluster, NULL));
    plimsoll_host_change changes[HOSTS];
    char addresses[HOSTS][16], keys[HOSTS][16];
    for (int index = 0; index < HOSTS; index++) {
        snprintf(addresses[index], sizeof addresses[index], "10.0.0.%d:80", index + 1);
        snprintf(keys[index], sizeof keys[index], "key %d", index + 1);
        changes[index] = change_of(PLIMSOLL_CHANGE_UPSERT, addresses[index]);
        changes[index].hash_key = str(keys[index]);
    }
    OK(plimsoll_cluster_update(cluster, changes, HOSTS, NULL, NULL));
    return cluster;
}

static plimsoll_pick_context hashed(uint64_t hash, uint32_t attempt) {
    plimsoll_pick_context context = PLIMSOLL_PICK_CONTEXT_INIT;
    context.flags = PLIMSOLL_PICK_UNCOUNTED | PLIMSOLL_PICK_HASHED;
    context.hash = hash;
    context.attempt = attempt;
    return context;
}

/* Where a hash leads: the last octet of the address. */
static int host_of_hash(plimsoll_worker *worker, uint64_t hash, uint32_t attempt) {
    plimsoll_pick_context context = hashed(hash, attempt);
    plimsoll_pick pick;
    OK(plimsoll_worker_pick(worker, &context, &pick));
    char address[64];
    size_t needed;
    OK(plimsoll_worker_host_address(worker, &pick, address, sizeof address, &needed));
    int host = 0;
    CHECK(sscanf(address, "10.0.0.%d:80", &host) == 1);
    return host;
}

/* Hashes whose high and low bits differ. */
static uint64_t hash_number(uint64_t number) {
    return (number + 1) * UINT64_C(0x9e3779b97f4a7c15);
}

static void a_hash_always_leads_to_the_same_host(void) {
    plimsoll_cluster *cluster = open_hashed("[]");
    plimsoll_worker *workers[2] = {worker_of(cluster), worker_of(cluster)};
    int requests[HOSTS + 1] = {0};
    for (uint64_t number = 0; number < 500; number++) {
        int host = host_of_hash(workers[0], hash_number(number), 0);
        CHECK(host_of_hash(workers[0], hash_number(number), 0) == host);
        CHECK(host_of_hash(workers[1], hash_number(number), 0) == host);
        requests[host]++;
    }
    for (int host = 1; host <= HOSTS; host++) {
        CHECK(requests[host] > 50);
    }
    for (int index = 0; index < 2; index++) {
        plimsoll_worker_free(workers[index]);
    }
    plimsoll_cluster_free(cluster);
}

static void each_attempt_leads_to_another_host(void) {
    plimsoll_cluster *cluster = open_hashed("[]");
    plimsoll_worker *worker = worker_of(cluster);
    for (uint64_t number = 0; number < 50; number++) {
        unsigned seen = 0;
        for (uint32_t attempt = 0; attempt < HOSTS; attempt++) {
            seen |= 1u << host_of_hash(worker, hash_number(number), attempt);
        }
        CHECK(seen == 0x3e);
    }
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

static void a_batch_has_one_hash(void) {
    plimsoll_cluster *cluster = open_hashed("[]");
    plimsoll_worker *worker = worker_of(cluster);
    plimsoll_pick_context context = hashed(HASH_OF_FOO, 0);
    plimsoll_pick picks[20], alone;
    size_t count;
    OK(plimsoll_worker_pick(worker, &context, &alone));
    OK(plimsoll_worker_pick_batch(worker, &context, picks, 20, &count));
    CHECK(count == 20);
    for (size_t index = 0; index < count; index++) {
        CHECK(picks[index].slot == alone.slot && picks[index].flags == 0);
    }
    EXPECT(PLIMSOLL_STATUS_PEEK_LIMIT, plimsoll_worker_peek(worker, &context, &alone));
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

static int refuse(void *userdata, const plimsoll_pick *candidate) {
    unsigned *seen = userdata;
    *seen |= 1u << candidate->slot;
    return 0;
}

static void a_filter_sees_other_hosts(void) {
    plimsoll_cluster *cluster = open_hashed("[]");
    plimsoll_worker *worker = worker_of(cluster);
    plimsoll_pick_context context = hashed(HASH_OF_FOO, 0);
    context.retries = HOSTS - 1;
    unsigned seen = 0;
    plimsoll_pick pick;
    OK(plimsoll_worker_pick_filtered(worker, &context, &seen, refuse, &pick));
    seen |= 1u << pick.slot;
    CHECK(seen == 0x1f);
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

static void a_host_goes_by_its_key(void) {
    plimsoll_cluster *cluster = open_hashed("[]");
    plimsoll_worker *worker = worker_of(cluster);
    int before[200];
    for (uint64_t number = 0; number < 200; number++) {
        before[number] = host_of_hash(worker, hash_number(number), 0);
    }
    plimsoll_host_change changes[2] = {change_of(PLIMSOLL_CHANGE_REMOVE, "10.0.0.2:80"),
                                       change_of(PLIMSOLL_CHANGE_UPSERT, "10.0.0.9:80")};
    changes[1].hash_key = PLIMSOLL_STR("key 2");
    OK(plimsoll_cluster_update(cluster, changes, 2, NULL, NULL));
    for (uint64_t number = 0; number < 200; number++) {
        int expected = before[number] == 2 ? 9 : before[number];
        CHECK(host_of_hash(worker, hash_number(number), 0) == expected);
    }

    /* A caller that knows of no keys: the host goes by its address then, which is another place. */
    changes[1].size = offsetof(plimsoll_host_change, hash_key);
    OK(plimsoll_cluster_update(cluster, &changes[1], 1, NULL, NULL));
    int moved = 0;
    for (uint64_t number = 0; number < 200; number++) {
        int expected = before[number] == 2 ? 9 : before[number];
        moved += host_of_hash(worker, hash_number(number), 0) != expected;
    }
    CHECK(moved > 0);

    changes[1].size = sizeof changes[1];
    changes[1].hash_key = NOWHERE;
    plimsoll_error *error = NULL;
    NULL_ARGUMENT(plimsoll_cluster_update(cluster, &changes[1], 1, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "changes[0].hash_key",
                 NULL);
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

static void contexts_of_any_age_work(void) {
    plimsoll_cluster *cluster = open_hashed("[]");
    plimsoll_worker *worker = worker_of(cluster);
    plimsoll_pick pick;
    /* Without a hash a number is drawn: 20 requests do not go to one host. */
    plimsoll_pick_context context = hashed(HASH_OF_FOO, 0);
    context.flags = PLIMSOLL_PICK_UNCOUNTED;
    static const size_t sizes[] = {offsetof(plimsoll_pick_context, now_ns),
                                   offsetof(plimsoll_pick_context, hash),
                                   sizeof(plimsoll_pick_context)};
    for (size_t index = 0; index < sizeof sizes / sizeof sizes[0]; index++) {
        context.size = sizes[index];
        unsigned seen = 0;
        for (int turn = 0; turn < 100; turn++) {
            OK(plimsoll_worker_pick(worker, &context, &pick));
            CHECK(pick.flags == 0);
            seen |= 1u << pick.slot;
        }
        CHECK((seen & (seen - 1)) != 0);
    }
    context = hashed(HASH_OF_FOO, 0);
    context.flags |= 4;
    INVALID(plimsoll_worker_pick(worker, &context, &pick));
    context = hashed(HASH_OF_FOO, 0);
    context.reserved = 1;
    EXPECT(PLIMSOLL_STATUS_UNSUPPORTED_FIELD, plimsoll_worker_pick(worker, &context, &pick));
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

static plimsoll_hash_policies *policies_of(const char *text) {
    plimsoll_hash_policies *policies = NULL;
    plimsoll_error *error = NULL;
    OK(plimsoll_hash_policies_parse(str(text), &policies, &error));
    CHECK(policies != NULL && error == NULL);
    return policies;
}

/* The hash of a request by the policies of a route; 0 if there is none. */
static uint64_t hash_by(plimsoll_worker *worker, const char *route, plimsoll_request request) {
    plimsoll_hash_policies *policies = policies_of(route);
    uint64_t hash = 7;
    plimsoll_status status = plimsoll_worker_hash(worker, policies, &request, NULL, NULL, &hash);
    CHECK(status == PLIMSOLL_STATUS_OK || (status == PLIMSOLL_STATUS_NO_HASH && hash == 0));
    plimsoll_hash_policies_free(policies);
    return hash;
}

static void a_request_is_hashed_by_what_policies_ask_for(void) {
    plimsoll_cluster *cluster = open_hashed("[]");
    plimsoll_worker *worker = worker_of(cluster);
    plimsoll_header headers[] = {
        {PLIMSOLL_STR_INIT("X-Session"), PLIMSOLL_STR_INIT("foo")},
        {PLIMSOLL_STR_INIT("cookie"), PLIMSOLL_STR_INIT("other=1; session=\"foo\"")},
        {PLIMSOLL_STR_INIT("x-bytes"), PLIMSOLL_STR_INIT("\xff\xfe")},
    };
    plimsoll_request request = PLIMSOLL_REQUEST_INIT;
    request.headers = headers;
    request.header_count = 3;
    request.path = PLIMSOLL_STR("/cart?user=foo&more=1");
    request.source_ip = PLIMSOLL_STR("foo"); /* not looked at closer */
    static const char *const routes[] = {
        "[{\"header\": {\"header_name\": \"x-session\"}}]",
        "- cookie: { name: session }",
        "[{\"query_parameter\": {\"name\": \"user\"}}]",
        "[{\"connection_properties\": {\"source_ip\": true}}]",
        ("[{\"header\": {\"header_name\": \"x-session\"}, \"terminal\": true},"
         " {\"query_parameter\": {\"name\": \"more\"}}]"),
    };
    for (size_t index = 0; index < sizeof routes / sizeof routes[0]; index++) {
        CHECK(hash_by(worker, routes[index], request) == HASH_OF_FOO);
    }
    CHECK(hash_by(worker, "- header: { header_name: x-bytes }", request) != 0);
    CHECK(hash_by(worker, "- header: { header_name: x-none }", request) == 0);
    CHECK(hash_by(worker, "- filter_state: { key: anything }", request) == 0);
    plimsoll_filter_state objects[] = {{PLIMSOLL_STR_INIT("any"), 1},
                                       {PLIMSOLL_STR_INIT("anything"), 4711}};
    request.filter_states = objects;
    request.filter_state_count = 2;
    CHECK(hash_by(worker, "- filter_state: { key: anything }", request) == 4711);
    CHECK(hash_by(worker, "- filter_state: { key: nothing }", request) == 0);
    CHECK(hash_by(worker, "[]", request) == 0);

    /* The query comes before the path, even an empty one. */
    request.query = PLIMSOLL_STR("");
    CHECK(hash_by(worker, routes[2], request) == 0);
    request.path = (plimsoll_str){NULL, 0};
    request.query = PLIMSOLL_STR("user=foo");
    CHECK(hash_by(worker, routes[2], request) == HASH_OF_FOO);
    request.query = (plimsoll_str){NULL, 0};
    CHECK(hash_by(worker, routes[2], request) == 0);

    /* No route: only the cluster could say what to hash by. */
    uint64_t hash = 7;
    NO_HASH(plimsoll_worker_hash(worker, NULL, &request, NULL, NULL, &hash));
    CHECK(hash == 0);
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

static void policies_of_the_cluster_come_first(void) {
    plimsoll_cluster *cluster = open_hashed("[{ header: { header_name: x-session } }]");
    plimsoll_worker *worker = worker_of(cluster);
    const plimsoll_header header = {PLIMSOLL_STR_INIT("x-session"), PLIMSOLL_STR_INIT("foo")};
    plimsoll_request request = PLIMSOLL_REQUEST_INIT;
    request.headers = &header;
    request.header_count = 1;
    request.source_ip = PLIMSOLL_STR("10.0.0.1");
    uint64_t hash;
    OK(plimsoll_worker_hash(worker, NULL, &request, NULL, NULL, &hash));
    CHECK(hash == HASH_OF_FOO);
    static const char route[] = "[{\"connection_properties\": {\"source_ip\": true}}]";
    CHECK(hash_by(worker, route, request) == HASH_OF_FOO);
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);

    /* A policy that does not go by hashes needs none, whatever the route says. */
    cluster = open_two();
    worker = worker_of(cluster);
    CHECK(hash_by(worker, route, request) == 0);
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

/* The cookies that a response would carry. */
typedef struct {
    plimsoll_worker *worker;
    int count;
    char text[128];
} jar;

static void keep(void *userdata, plimsoll_str value) {
    jar *cookies = userdata;
    cookies->count++;
    snprintf(cookies->text, sizeof cookies->text, "%.*s", (int)value.len, value.data);
    plimsoll_pick pick;
    INVALID(plimsoll_worker_pick(cookies->worker, NULL, &pick));
}

static void a_new_client_gets_a_cookie_that_sticks(void) {
    plimsoll_cluster *cluster = open_hashed("[]");
    plimsoll_worker *worker = worker_of(cluster);
    plimsoll_hash_policies *route =
        policies_of("[{\"cookie\": {\"name\": \"session\", \"ttl\": \"60s\", \"path\": \"/\"}}]");
    plimsoll_request request = PLIMSOLL_REQUEST_INIT;
    request.remote_address = PLIMSOLL_STR("10.9.0.1:4711");
    request.local_address = PLIMSOLL_STR("10.9.0.2:80");
    jar cookies = {worker, 0, ""};
    uint64_t first, second;
    OK(plimsoll_worker_hash(worker, route, &request, &cookies, keep, &first));
    CHECK(cookies.count == 1);
    char value[17];
    int end = 0;
    CHECK(sscanf(cookies.text, "session=\"%16[0-9a-f]\"; Max-Age=60; Path=/; HttpOnly%n", value,
                 &end) == 1);
    CHECK(strlen(value) == 16 && end > 0 && cookies.text[end] == '\0');

    /* The client comes back with it, from anywhere. */
    char sent[32];
    snprintf(sent, sizeof sent, "session=%s", value);
    const plimsoll_header header = {PLIMSOLL_STR_INIT("Cookie"), str(sent)};
    request.headers = &header;
    request.header_count = 1;
    request.remote_address = PLIMSOLL_STR("10.9.0.7:99");
    OK(plimsoll_worker_hash(worker, route, &request, &cookies, keep, &second));
    CHECK(cookies.count == 1 && first == second);

    /* Without an address, or a way to set a cookie, there is none. */
    request.header_count = 0;
    NO_HASH(plimsoll_worker_hash(worker, route, &request, NULL, NULL, &second));
    request.local_address = (plimsoll_str){NULL, 0};
    NO_HASH(plimsoll_worker_hash(worker, route, &request, &cookies, keep, &second));
    CHECK(cookies.count == 1);
    plimsoll_hash_policies_free(route);
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

static void policies_hash_without_a_cluster(void) {
    plimsoll_hash_policies *policies = NULL;
    OK(plimsoll_hash_policies_parse(PLIMSOLL_STR("- cookie: {name: session}"), &policies, NULL));
    plimsoll_request request = PLIMSOLL_REQUEST_INIT;
    uint64_t hash = 7;
    NO_HASH(plimsoll_hash_policies_hash(policies, &request, NULL, NULL, &hash));
    CHECK(hash == 0);
    const plimsoll_header header = {PLIMSOLL_STR_INIT("Cookie"),
                                    PLIMSOLL_STR_INIT("session=\"foo\"")};
    request.headers = &header;
    request.header_count = 1;
    OK(plimsoll_hash_policies_hash(policies, &request, NULL, NULL, &hash));
    CHECK(hash == HASH_OF_FOO);
    /* Cookies that were parsed already come first. */
    const plimsoll_header cookies[] = {{PLIMSOLL_STR_INIT("other"), PLIMSOLL_STR_INIT("foo")},
                                       {PLIMSOLL_STR_INIT("session"), PLIMSOLL_STR_INIT("bar")}};
    request.cookies = cookies;
    request.cookie_count = 2;
    OK(plimsoll_hash_policies_hash(policies, &request, NULL, NULL, &hash));
    CHECK(hash != HASH_OF_FOO);
    request.cookie_count = 1;
    OK(plimsoll_hash_policies_hash(policies, &request, NULL, NULL, &hash));
    CHECK(hash == HASH_OF_FOO);
    request.cookies = NULL;
    NULL_ARGUMENT(plimsoll_hash_policies_hash(policies, &request, NULL, NULL, &hash));
    NULL_ARGUMENT(plimsoll_hash_policies_hash(NULL, &request, NULL, NULL, &hash));
    NULL_ARGUMENT(plimsoll_hash_policies_hash(policies, NULL, NULL, NULL, &hash));
    NULL_ARGUMENT(plimsoll_hash_policies_hash(policies, &request, NULL, NULL, NULL));
    plimsoll_hash_policies_free(policies);
}

static void policies_that_cannot_be_read_are_named(void) {
    plimsoll_hash_policies *policies = (plimsoll_hash_policies *)&policies;
    plimsoll_error *error = NULL;
    EXPECT(PLIMSOLL_STATUS_PARSE_ERROR,
           plimsoll_hash_policies_parse(PLIMSOLL_STR("["), &policies, &error));
    CHECK(policies == NULL);
    expect_error(error, PLIMSOLL_STATUS_PARSE_ERROR, "parse_error", "", NULL);
    INVALID(plimsoll_hash_policies_parse(PLIMSOLL_STR("[{}]"), &policies, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "hash_policy[0]",
                 "hash policy not set");
    static const char rewritten[] =
        "- header: { header_name: a, regex_rewrite: { pattern: { regex: b } } }";
    EXPECT(PLIMSOLL_STATUS_UNSUPPORTED,
           plimsoll_hash_policies_parse(str(rewritten), &policies, &error));
    expect_error(error, PLIMSOLL_STATUS_UNSUPPORTED, "unsupported",
                 "hash_policy[0].header.regex_rewrite", NULL);
    NULL_ARGUMENT(plimsoll_hash_policies_parse(NOWHERE, &policies, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "text", NULL);
    NULL_ARGUMENT(plimsoll_hash_policies_parse(PLIMSOLL_STR("[]"), NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "out", NULL);
    plimsoll_hash_policies_free(NULL);
}

static void misuse_is_an_answer(void) {
    plimsoll_cluster *cluster = open_hashed("[{ header: { header_name: x-session } }]");
    plimsoll_worker *worker = worker_of(cluster);
    plimsoll_header headers[2] = {
        {PLIMSOLL_STR_INIT("x-session"), PLIMSOLL_STR_INIT("foo")},
        {PLIMSOLL_STR_INIT("other"), PLIMSOLL_STR_INIT("")},
    };
    plimsoll_request request = PLIMSOLL_REQUEST_INIT;
    request.headers = headers;
    request.header_count = 2;
    uint64_t hash = 7;
    NULL_ARGUMENT(plimsoll_worker_hash(NULL, NULL, &request, NULL, NULL, &hash));
    CHECK(hash == 0);
    NULL_ARGUMENT(plimsoll_worker_hash(worker, NULL, NULL, NULL, NULL, &hash));
    NULL_ARGUMENT(plimsoll_worker_hash(worker, NULL, &request, NULL, NULL, NULL));
    plimsoll_str *const texts[] = {&request.path,           &request.query,
                                   &request.source_ip,      &request.remote_address,
                                   &request.local_address,  &headers[1].name,
                                   &headers[1].value};
    for (size_t index = 0; index < sizeof texts / sizeof texts[0]; index++) {
        plimsoll_str before = *texts[index];
        *texts[index] = NOWHERE;
        NULL_ARGUMENT(plimsoll_worker_hash(worker, NULL, &request, NULL, NULL, &hash));
        *texts[index] = before;
    }
    for (size_t index = 2; index < 5; index++) {
        plimsoll_str before = *texts[index];
        *texts[index] = PLIMSOLL_STR("\xff");
        INVALID(plimsoll_worker_hash(worker, NULL, &request, NULL, NULL, &hash));
        *texts[index] = before;
    }
    request.header_count = SIZE_MAX;
    INVALID(plimsoll_worker_hash(worker, NULL, &request, NULL, NULL, &hash));
    request.headers = NULL;
    NULL_ARGUMENT(plimsoll_worker_hash(worker, NULL, &request, NULL, NULL, &hash));
    request.headers = headers;
    request.header_count = 2;
    OK(plimsoll_worker_hash(worker, NULL, &request, NULL, NULL, &hash));
    CHECK(hash == HASH_OF_FOO);

    struct {
        plimsoll_request known;
        uint64_t invented;
    } later = {request, 0};
    later.known.size = sizeof later;
    OK(plimsoll_worker_hash(worker, NULL, &later.known, NULL, NULL, &hash));
    later.invented = 1;
    EXPECT(PLIMSOLL_STATUS_UNSUPPORTED_FIELD,
           plimsoll_worker_hash(worker, NULL, &later.known, NULL, NULL, &hash));
    request.size = offsetof(plimsoll_request, path);
    request.path = NOWHERE; /* beyond `size`, and so not read */
    OK(plimsoll_worker_hash(worker, NULL, &request, NULL, NULL, &hash));
    request.size = 1;
    INVALID(plimsoll_worker_hash(worker, NULL, &request, NULL, NULL, &hash));
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

void test_hashes(void) {
    a_hash_always_leads_to_the_same_host();
    each_attempt_leads_to_another_host();
    a_batch_has_one_hash();
    a_filter_sees_other_hosts();
    a_host_goes_by_its_key();
    contexts_of_any_age_work();
    a_request_is_hashed_by_what_policies_ask_for();
    policies_of_the_cluster_come_first();
    a_new_client_gets_a_cookie_that_sticks();
    policies_hash_without_a_cluster();
    policies_that_cannot_be_read_are_named();
    misuse_is_an_answer();
}
