/* The test program of the C interface, and what its tests share. */

#include "check.h"

const char TWO_HOSTS[] =
    "name: api\n"
    "type: STATIC\n"
    "lb_policy: ROUND_ROBIN\n"
    "load_assignment:\n"
    "  cluster_name: api\n"
    "  endpoints:\n"
    "  - lb_endpoints:\n"
    "    - endpoint:\n"
    "        address: {socket_address: {address: 10.0.0.1, port_value: 80}}\n"
    "    - endpoint:\n"
    "        address: {socket_address: {address: 10.0.0.2, port_value: 80}}\n";

static const char BY_REPORTS[] =
    "name: api\n"
    "load_balancing_policy:\n"
    "  policies:\n"
    "  - typed_extension_config:\n"
    "      name: envoy.load_balancing_policies.client_side_weighted_round_robin\n"
    "      typed_config:\n"
    "        \"@type\": type.googleapis.com/envoy.extensions.load_balancing_policies."
    "client_side_weighted_round_robin.v3.ClientSideWeightedRoundRobin\n"
    "        blackout_period: 0s\n"
    "        weight_update_period: 1s\n";

const char THIRD_HOST[] =
    "{\"cluster_name\": \"api\", \"endpoints\": [{\"lb_endpoints\": [{\"endpoint\": {\"address\":"
    " {\"socket_address\": {\"address\": \"10.0.0.3\", \"port_value\": 80}}}}]}]}";

void check(bool holds, const char *condition, const char *file, int line) {
    if (!holds) {
        fprintf(stderr, "%s:%d: not so: %s\n", file, line, condition);
        exit(1);
    }
}

void expect(plimsoll_status expected, plimsoll_status got, const char *call, const char *file,
            int line) {
    if (expected != got) {
        fprintf(stderr, "%s:%d: %s instead of %s: %s\n", file, line, plimsoll_status_name(got),
                plimsoll_status_name(expected), call);
        exit(1);
    }
}

void expect_error(plimsoll_error *error, plimsoll_status status, const char *code,
                  const char *field, const char *message) {
    CHECK(error != NULL);
    EXPECT(status, plimsoll_error_status(error));
    bool told = is(plimsoll_error_code(error), code) && is(plimsoll_error_field(error), field) &&
                (message == NULL || is(plimsoll_error_message(error), message));
    if (!told) {
        fprintf(stderr, "got:      %s, %s, %s\n", plimsoll_error_code(error).data,
                plimsoll_error_field(error).data, plimsoll_error_message(error).data);
        fprintf(stderr, "expected: %s, %s, %s\n", code, field, message ? message : "anything");
    }
    CHECK(told);
    CHECK(plimsoll_error_message(error).len > 0);
    plimsoll_error_free(error);
}

bool is(plimsoll_str text, const char *expected) {
    /* Texts of an error object also end in a NUL, right after what `len` counts. */
    return text.len == strlen(expected) && strcmp(text.data, expected) == 0;
}

plimsoll_str str(const char *text) {
    plimsoll_str lent = {text, strlen(text)};
    return lent;
}

bool near(double number, double expected) {
    double difference = number - expected;
    return difference < 1e-6 && difference > -1e-6;
}

static plimsoll_cluster *open_two_with(uint32_t behavior) {
    plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
    options.behavior = behavior;
    options.has_seed = 1;
    options.seed = 1;
    plimsoll_cluster *cluster = NULL;
    OK(plimsoll_cluster_open(str(TWO_HOSTS), &options, &cluster, NULL));
    return cluster;
}

plimsoll_cluster *open_two(void) {
    return open_two_with(PLIMSOLL_BEHAVIOR_NATIVE);
}

plimsoll_cluster *open_by_reports(uint32_t behavior) {
    plimsoll_cluster *cluster = open_two_with(behavior);
    OK(plimsoll_cluster_reload(cluster, str(BY_REPORTS), NULL, NULL));
    return cluster;
}

plimsoll_worker *worker_of(const plimsoll_cluster *cluster) {
    plimsoll_worker *worker = NULL;
    OK(plimsoll_worker_new(cluster, &worker, NULL));
    return worker;
}

plimsoll_host_change change_of(uint32_t kind, const char *address) {
    plimsoll_host_change change = PLIMSOLL_HOST_CHANGE_INIT;
    change.kind = kind;
    change.address = str(address);
    return change;
}

plimsoll_host_load load_of(const char *address, uint32_t active) {
    plimsoll_host_load load = PLIMSOLL_HOST_LOAD_INIT;
    load.address = str(address);
    load.active = active;
    return load;
}

plimsoll_response_load response_load_of(const char *text) {
    plimsoll_response_load load = PLIMSOLL_RESPONSE_LOAD_INIT;
    load.header_text = str(text);
    return load;
}

/* The host that is looked for, by its address until it is found. */
typedef struct {
    plimsoll_str address;
    plimsoll_host host;
} sought;

static int find(void *userdata, const plimsoll_host *host) {
    sought *wanted = userdata;
    bool same = host->address.len == wanted->address.len &&
                memcmp(host->address.data, wanted->address.data, host->address.len) == 0;
    if (same) {
        wanted->host = *host;
    }
    return same;
}

plimsoll_host host_of(const plimsoll_cluster *cluster, const char *address) {
    sought wanted = {.address = str(address)};
    OK(plimsoll_cluster_for_each_host(cluster, &wanted, find, NULL));
    CHECK(wanted.host.size == sizeof wanted.host);
    return wanted.host;
}

void apply(const plimsoll_cluster *cluster, plimsoll_host_change change) {
    OK(plimsoll_cluster_update(cluster, &change, 1, NULL, NULL));
}

plimsoll_pick pick_one(plimsoll_worker *worker) {
    plimsoll_pick pick;
    OK(plimsoll_worker_pick(worker, NULL, &pick));
    return pick;
}

int uncounted_share_of(plimsoll_worker *worker, plimsoll_pick_context context, int count,
                       const char *address) {
    context.flags = PLIMSOLL_PICK_UNCOUNTED;
    int hits = 0;
    for (int index = 0; index < count; index++) {
        plimsoll_pick pick;
        OK(plimsoll_worker_pick(worker, &context, &pick));
        hits += pick_is(worker, &pick, address);
    }
    return hits;
}

bool next_is(plimsoll_worker *worker, const char *address) {
    plimsoll_pick pick = pick_one(worker);
    bool same = pick_is(worker, &pick, address);
    OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    return same;
}

int share_of(plimsoll_worker *worker, int count, const char *address) {
    int hits = 0;
    for (int index = 0; index < count; index++) {
        hits += next_is(worker, address);
    }
    return hits;
}

bool gets_about_half(plimsoll_worker *worker, const char *address) {
    int hits = share_of(worker, 100, address);
    return hits >= 45 && hits <= 55;
}

bool pick_is(const plimsoll_worker *worker, const plimsoll_pick *pick, const char *address) {
    char text[64];
    size_t needed = 0;
    OK(plimsoll_worker_host_address(worker, pick, text, sizeof text, &needed));
    return strcmp(text, address) == 0;
}

bool has_the_hosts_of(const plimsoll_cluster *cluster, const plimsoll_cluster *other) {
    static char tables[2][4096];
    size_t needed;
    OK(plimsoll_cluster_hosts(cluster, tables[0], sizeof tables[0], &needed));
    OK(plimsoll_cluster_hosts(other, tables[1], sizeof tables[1], &needed));
    return strcmp(tables[0], tables[1]) == 0 && strstr(tables[0], ":80") != NULL;
}

int main(void) {
    CHECK(plimsoll_abi_version() == PLIMSOLL_ABI_VERSION);
    char version[32];
    snprintf(version, sizeof version, "%d.%d.%d", PLIMSOLL_VERSION_MAJOR, PLIMSOLL_VERSION_MINOR,
             PLIMSOLL_VERSION_PATCH);
    CHECK(strcmp(plimsoll_version(), version) == 0);
    CHECK(strcmp(plimsoll_status_name(PLIMSOLL_STATUS_NO_HOST), "no_host") == 0);
    CHECK(strcmp(plimsoll_status_name(15), "unknown") == 0);

    static const struct {
        const char *name;
        void (*run)(void);
    } tests[] = {
        {"open", test_open},             {"picks", test_picks},
        {"control", test_control},       {"runtime", test_runtime},
        {"loads", test_loads},           {"slow_start", test_slow_start},
        {"reports", test_reports},       {"hosts", test_hosts},
        {"localities", test_localities}, {"buffers", test_buffers},
        {"arguments", test_arguments},   {"growable", test_growable},
        {"host_data", test_host_data},   {"threads", test_threads},
        {"hashes", test_hashes},         {"overrides", test_overrides},
        {"logs", test_logs},             {"scrapes", test_scrapes},
        {"streams", test_streams},       {"settings", test_settings},
        {"growable_settings", test_growable_settings},
        {"json", test_json},             {"repeat", test_repeat},
    };
    for (size_t index = 0; index < sizeof tests / sizeof tests[0]; index++) {
        tests[index].run();
        printf("%s passed\n", tests[index].name);
    }
    printf("all passed\n");
    return 0;
}
