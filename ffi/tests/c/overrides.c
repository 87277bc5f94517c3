/* Picks of hosts that the request names. */

#include "check.h"

static plimsoll_cluster *cluster;
static plimsoll_worker *worker;

/* Picks one of the addresses and says whether it was `expected`. */
static bool gives(const char *addresses, uint32_t strict, const char *expected) {
    const plimsoll_str text = str(addresses);
    plimsoll_pick pick;
    OK(plimsoll_worker_pick_override(worker, NULL, &text, 1, strict, &pick));
    CHECK(pick.flags == PLIMSOLL_PICK_COUNTED);
    bool same = pick_is(worker, &pick, expected);
    OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    return same;
}

static void refused(const char *addresses, plimsoll_status expected) {
    const plimsoll_str text = str(addresses);
    plimsoll_pick pick = {1, 1, 1, 1};
    EXPECT(expected, plimsoll_worker_pick_override(worker, NULL, &text, 1, 1, &pick));
    CHECK(pick.slot == 0 && pick.generation == 0 && pick.flags == 0);
}

static void a_request_goes_where_it_asks_to(void) {
    for (int turn = 0; turn < 10; turn++) {
        CHECK(gives("10.0.0.2:80", 1, "10.0.0.2:80"));
        CHECK(gives("10.0.0.9:80,\t10.0.0.1:80 ,10.0.0.2:80", 1, "10.0.0.1:80"));
        CHECK(gives("\xff, not an address, 10.0.0.2:80", 0, "10.0.0.2:80"));
    }
    const plimsoll_str several[2] = {PLIMSOLL_STR_INIT("10.0.0.9:80"),
                                     PLIMSOLL_STR_INIT("10.0.0.1:80")};
    plimsoll_pick_context context = PLIMSOLL_PICK_CONTEXT_INIT;
    context.flags = PLIMSOLL_PICK_UNCOUNTED;
    plimsoll_pick pick;
    OK(plimsoll_worker_pick_override(worker, &context, several, 2, 1, &pick));
    CHECK(pick.flags == 0 && pick_is(worker, &pick, "10.0.0.1:80"));
}

/* Picks by policy take turns. */
static bool goes_by_policy(const plimsoll_str *addresses, size_t count, uint32_t strict) {
    int first = 0;
    for (int turn = 0; turn < 100; turn++) {
        plimsoll_pick pick;
        OK(plimsoll_worker_pick_override(worker, NULL, addresses, count, strict, &pick));
        first += pick_is(worker, &pick, "10.0.0.1:80");
        OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    }
    return first >= 45 && first <= 55;
}

static void who_cannot_be_had_is_replaced_unless_it_is_strict(void) {
    refused("10.0.0.9:80", PLIMSOLL_STATUS_OVERRIDE_NOT_FOUND);
    refused("\xff", PLIMSOLL_STATUS_OVERRIDE_NOT_FOUND);
    const plimsoll_str nobody = PLIMSOLL_STR_INIT("10.0.0.9:80");
    CHECK(goes_by_policy(&nobody, 1, 0));

    plimsoll_host_change change = change_of(PLIMSOLL_CHANGE_HEALTH, "10.0.0.2:80");
    change.event = PLIMSOLL_HEALTH_EJECT;
    apply(cluster, change);
    refused("10.0.0.9:80,10.0.0.2:80", PLIMSOLL_STATUS_OVERRIDE_NOT_ALLOWED);
    CHECK(gives("10.0.0.2:80", 0, "10.0.0.1:80"));
    CHECK(gives("10.0.0.2:80,10.0.0.1:80", 1, "10.0.0.1:80"));
    change.event = PLIMSOLL_HEALTH_UNEJECT;
    apply(cluster, change);
    CHECK(gives("10.0.0.2:80", 1, "10.0.0.2:80"));
}

static void who_names_nobody_gets_the_policy(void) {
    const plimsoll_str blank = PLIMSOLL_STR_INIT(" , ");
    CHECK(goes_by_policy(&blank, 1, 1));
    CHECK(goes_by_policy(NULL, 0, 1));
    const plimsoll_str none = {NULL, 0};
    CHECK(goes_by_policy(&none, 1, 1));
}

/* Gives the cluster the policy `override_host` with these settings. */
static void reload_with(const char *settings) {
    static const char before[] =
        "name: api\n"
        "load_balancing_policy:\n"
        "  policies:\n"
        "  - typed_extension_config:\n"
        "      name: envoy.load_balancing_policies.override_host\n"
        "      typed_config: {\"@type\": type.googleapis.com/envoy.extensions."
        "load_balancing_policies.override_host.v3.OverrideHost, ";
    static const char after[] =
        ", fallback_policy: {policies: [{typed_extension_config: {name: "
        "envoy.load_balancing_policies.round_robin, typed_config: {\"@type\": type.googleapis.com/"
        "envoy.extensions.load_balancing_policies.round_robin.v3.RoundRobin}}}]}}\n";
    char text[2048];
    int length = snprintf(text, sizeof text, "%s%s%s", before, settings, after);
    CHECK(length > 0 && (size_t)length < sizeof text);
    OK(plimsoll_cluster_reload(cluster, str(text), NULL, NULL));
}

static void each_attempt_takes_the_next_one_if_the_policy_says_so(void) {
    reload_with("override_host_sources: [{ header: x-destination }]");
    const plimsoll_str addresses = PLIMSOLL_STR_INIT("10.0.0.2:80,10.0.0.9:80,10.0.0.1:80");
    static const char *const expected[] = {"10.0.0.2:80", "10.0.0.1:80"};
    plimsoll_pick_context context = PLIMSOLL_PICK_CONTEXT_INIT;
    context.flags = PLIMSOLL_PICK_UNCOUNTED;
    plimsoll_pick pick;
    for (context.attempt = 0; context.attempt < 2; context.attempt++) {
        OK(plimsoll_worker_pick_override(worker, &context, &addresses, 1, 1, &pick));
        CHECK(pick_is(worker, &pick, expected[context.attempt]));
    }
    EXPECT(PLIMSOLL_STATUS_OVERRIDE_NOT_FOUND,
           plimsoll_worker_pick_override(worker, &context, &addresses, 1, 1, &pick));
    OK(plimsoll_worker_pick_override(worker, &context, &addresses, 1, 0, &pick));
}

static int refuse_the_first(void *userdata, const plimsoll_pick *candidate) {
    ++*(int *)userdata;
    return !pick_is(worker, candidate, "10.0.0.1:80");
}

static void a_filter_is_asked_about_hosts_of_the_policy_only(void) {
    plimsoll_pick_context context = PLIMSOLL_PICK_CONTEXT_INIT;
    context.flags = PLIMSOLL_PICK_UNCOUNTED;
    context.retries = 10;
    const plimsoll_str first = PLIMSOLL_STR_INIT("10.0.0.1:80");
    const plimsoll_str nobody = PLIMSOLL_STR_INIT("10.0.0.9:80");
    int asked = 0;
    plimsoll_pick pick;
    OK(plimsoll_worker_pick_override_filtered(worker, &context, &first, 1, 0, &asked,
                                              refuse_the_first, &pick));
    CHECK(asked == 0 && pick_is(worker, &pick, "10.0.0.1:80"));
    for (int turn = 0; turn < 10; turn++) {
        OK(plimsoll_worker_pick_override_filtered(worker, &context, &nobody, 1, 0, &asked,
                                                  refuse_the_first, &pick));
        CHECK(pick_is(worker, &pick, "10.0.0.2:80"));
    }
    CHECK(asked >= 10);
    EXPECT(PLIMSOLL_STATUS_OVERRIDE_NOT_FOUND,
           plimsoll_worker_pick_override_filtered(worker, &context, &nobody, 1, 1, &asked,
                                                  refuse_the_first, &pick));
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_worker_pick_override_filtered(worker, &context, &nobody, 1, 2, &asked,
                                                  refuse_the_first, &pick));
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_worker_pick_override_filtered(worker, &context, &nobody, 1, 0, &asked, NULL,
                                                  &pick));
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_worker_pick_override_filtered(NULL, &context, &nobody, 1, 0, &asked,
                                                  refuse_the_first, &pick));
    CHECK(pick.slot == 0 && pick.flags == 0);
}

/* Adds a line for a source to the text, and ends with a path of one field. */
static int describe(void *userdata, const plimsoll_override_source *source) {
    char *text = userdata;
    /* What the library knows, however large the caller's struct is. */
    CHECK(source->size == offsetof(plimsoll_override_source, path_count) + sizeof source->path_count);
    CHECK(source->reserved == 0);
    sprintf(text + strlen(text), "%u %.*s", source->kind, (int)source->name.len, source->name.data);
    for (size_t index = 0; index < source->path_count; index++) {
        const plimsoll_str field = source->path[index];
        sprintf(text + strlen(text), "/%.*s", (int)field.len, field.data);
    }
    strcat(text, "\n");
    return source->path_count == 1;
}

static void a_cluster_says_where_addresses_stand(void) {
    char found[512] = "";
    OK(plimsoll_cluster_for_each_override_source(cluster, found, describe, NULL));
    CHECK(found[0] == '\0');
    reload_with("override_host_sources: [{ header: x-destination }, { metadata: { key: envoy.lb, "
                "path: [{ key: hosts }, { key: first }] } }], selected_host_key: { key: envoy.lb, "
                "path: [{ key: chosen }] }");
    OK(plimsoll_cluster_for_each_override_source(cluster, found, describe, NULL));
    CHECK(strcmp(found, "1 x-destination\n2 envoy.lb/hosts/first\n3 envoy.lb/chosen\n") == 0);
    reload_with("override_host_sources: [{ metadata: { key: a, path: [{ key: b }] } }, "
                "{ header: x-destination }]");
    found[0] = '\0';
    OK(plimsoll_cluster_for_each_override_source(cluster, found, describe, NULL));
    CHECK(strcmp(found, "2 a/b\n") == 0);
    plimsoll_error *error;
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_cluster_for_each_override_source(cluster, NULL, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "visit", NULL);
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_cluster_for_each_override_source(NULL, found, describe, NULL));
}

static void misuse_is_an_answer(void) {
    const plimsoll_str address = PLIMSOLL_STR_INIT("10.0.0.2:80"), nowhere = {NULL, 1};
    const plimsoll_str endless = {address.data, SIZE_MAX};
    plimsoll_pick pick = {1, 1, 1, 1};
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_worker_pick_override(NULL, NULL, &address, 1, 0, &pick));
    CHECK(pick.slot == 0 && pick.flags == 0);
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_worker_pick_override(worker, NULL, NULL, 1, 0, &pick));
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_worker_pick_override(worker, NULL, &nowhere, 1, 0, &pick));
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_worker_pick_override(worker, NULL, &address, 1, 0, NULL));
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_worker_pick_override(worker, NULL, &address, 1, 2, &pick));
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_worker_pick_override(worker, NULL, &address, SIZE_MAX, 0, &pick));
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_worker_pick_override(worker, NULL, &endless, 1, 0, &pick));
    plimsoll_pick_context context = PLIMSOLL_PICK_CONTEXT_INIT;
    context.flags = 4;
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_worker_pick_override(worker, &context, &address, 1, 0, &pick));
}

void test_overrides(void) {
    cluster = open_two();
    worker = worker_of(cluster);
    a_request_goes_where_it_asks_to();
    a_filter_is_asked_about_hosts_of_the_policy_only();
    who_cannot_be_had_is_replaced_unless_it_is_strict();
    who_names_nobody_gets_the_policy();
    a_cluster_says_where_addresses_stand();
    misuse_is_an_answer();
    each_attempt_takes_the_next_one_if_the_policy_says_so();
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}
