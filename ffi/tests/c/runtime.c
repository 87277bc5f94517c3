/* Runtime keys: what they override, in which form, and what is refused. */

#include <math.h>

#include "check.h"

#define PANIC_THRESHOLD PLIMSOLL_STR("upstream.healthy_panic_threshold")

static plimsoll_cluster *cluster;
static plimsoll_worker *worker;

/* One host of two is 50 percent: below a threshold of 60 that is a panic, which takes all hosts. */
static bool panics(void) {
    return share_of(worker, 10, "10.0.0.1:80") > 0;
}

static void a_key_overrides_a_setting_until_it_is_removed(void) {
    const uint64_t percent = 60;
    plimsoll_applied applied;
    CHECK(!panics());
    OK(plimsoll_cluster_set_runtime(cluster, PANIC_THRESHOLD, &percent, &applied, NULL));
    CHECK(applied.published && panics());
    CHECK(gets_about_half(worker, "10.0.0.1:80"));
    OK(plimsoll_cluster_set_runtime(cluster, PANIC_THRESHOLD, &percent, &applied, NULL));
    CHECK(!applied.published);
    OK(plimsoll_cluster_set_runtime(cluster, PANIC_THRESHOLD, NULL, &applied, NULL));
    CHECK(applied.published && !panics());
}

static void a_value_of_another_form_leaves_the_setting_as_it_is(void) {
    const uint64_t percent = 60;
    const double number = 60;
    const bool yes = true;
    OK(plimsoll_cluster_set_runtime(cluster, PANIC_THRESHOLD, &percent, NULL, NULL));
    CHECK(panics());
    OK(plimsoll_cluster_set_runtime_double(cluster, PANIC_THRESHOLD, &number, NULL, NULL));
    CHECK(!panics());
    OK(plimsoll_cluster_set_runtime(cluster, PANIC_THRESHOLD, &percent, NULL, NULL));
    OK(plimsoll_cluster_set_runtime_bool(cluster, PANIC_THRESHOLD, &yes, NULL, NULL));
    CHECK(!panics());
}

static void each_form_removes_a_key_of_any_other(void) {
    const uint64_t percent = 60;
    OK(plimsoll_cluster_set_runtime(cluster, PANIC_THRESHOLD, &percent, NULL, NULL));
    OK(plimsoll_cluster_set_runtime_double(cluster, PANIC_THRESHOLD, NULL, NULL, NULL));
    CHECK(!panics());
    OK(plimsoll_cluster_set_runtime(cluster, PANIC_THRESHOLD, &percent, NULL, NULL));
    OK(plimsoll_cluster_set_runtime_bool(cluster, PANIC_THRESHOLD, NULL, NULL, NULL));
    CHECK(!panics());
}

static void a_double_that_is_not_finite_is_refused(void) {
    const uint64_t percent = 60;
    const double refused[] = {NAN, INFINITY, -INFINITY};
    OK(plimsoll_cluster_set_runtime(cluster, PANIC_THRESHOLD, &percent, NULL, NULL));
    for (size_t index = 0; index < sizeof refused / sizeof refused[0]; index++) {
        plimsoll_applied applied = {77, true};
        plimsoll_error *error = NULL;
        EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
               plimsoll_cluster_set_runtime_double(cluster, PANIC_THRESHOLD, &refused[index],
                                                   &applied, &error));
        CHECK(applied.version == 0 && !applied.published);
        expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "value",
                     "value must be finite");
        CHECK(panics());
    }
}

static void a_key_that_nothing_reads_does_nothing(void) {
    const double number = 1.5;
    plimsoll_applied applied = {77, true};
    OK(plimsoll_cluster_set_runtime_double(cluster, PLIMSOLL_STR("no.such.key"), &number, &applied,
                                           NULL));
    CHECK(applied.version > 0 && !applied.published);
}

static plimsoll_runtime_value value_of(const char *key, uint32_t kind) {
    plimsoll_runtime_value value = PLIMSOLL_RUNTIME_VALUE_INIT;
    value.key = str(key);
    value.kind = kind;
    value.integer = 60;
    value.number = 1.5;
    value.boolean = 1;
    return value;
}

static void several_keys_are_one_step(void) {
    plimsoll_runtime_value values[] = {
        value_of("upstream.healthy_panic_threshold", PLIMSOLL_RUNTIME_INTEGER),
        value_of("no.such.key", PLIMSOLL_RUNTIME_NUMBER),
        value_of("no.such.feature", PLIMSOLL_RUNTIME_BOOLEAN),
    };
    plimsoll_applied before, after;
    OK(plimsoll_cluster_set_runtime(cluster, PANIC_THRESHOLD, NULL, &before, NULL));
    CHECK(!panics());
    OK(plimsoll_cluster_update_runtime(cluster, values, 3, &after, NULL));
    CHECK(after.published && after.version == before.version + 1 && panics());
    values[0].kind = PLIMSOLL_RUNTIME_REMOVED;
    OK(plimsoll_cluster_update_runtime(cluster, values, 3, &after, NULL));
    CHECK(after.published && !panics());
    OK(plimsoll_cluster_update_runtime(cluster, NULL, 0, &after, NULL));
    CHECK(!after.published);
}

static void refuses(plimsoll_runtime_value second, const char *field) {
    plimsoll_runtime_value values[] = {
        value_of("upstream.healthy_panic_threshold", PLIMSOLL_RUNTIME_INTEGER), second};
    plimsoll_error *error = NULL;
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_cluster_update_runtime(cluster, values, 2, NULL, &error));
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", field, NULL);
    CHECK(!panics()); /* the first one does not hold either */
}

static void a_value_that_stands_for_nothing_is_named(void) {
    refuses(value_of("a", 4), "values[1].kind");
    refuses(value_of("\xff", PLIMSOLL_RUNTIME_INTEGER), "values[1].key");
    plimsoll_runtime_value value = value_of("a", PLIMSOLL_RUNTIME_BOOLEAN);
    value.boolean = 2;
    refuses(value, "values[1].boolean");
    value = value_of("a", PLIMSOLL_RUNTIME_NUMBER);
    value.number = NAN;
    refuses(value, "values[1].number");
    value.size += sizeof(void *);
    refuses(value, "values[1].size");
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_cluster_update_runtime(cluster, NULL, 1, NULL, NULL));
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_cluster_update_runtime(NULL, NULL, 0, NULL, NULL));
}

/* Envoy takes later values up with the next change of hosts only. */
static void values_may_hold_from_the_start(void) {
    const plimsoll_runtime_value value =
        value_of("upstream.healthy_panic_threshold", PLIMSOLL_RUNTIME_INTEGER);
    plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
    options.behavior = PLIMSOLL_BEHAVIOR_ENVOY;
    options.runtime = &value;
    options.runtime_count = 1;
    plimsoll_cluster *own = NULL;
    OK(plimsoll_cluster_open(str(TWO_HOSTS), &options, &own, NULL));
    plimsoll_host_change eject = change_of(PLIMSOLL_CHANGE_HEALTH, "10.0.0.1:80");
    eject.event = PLIMSOLL_HEALTH_EJECT;
    apply(own, eject);
    plimsoll_worker *picking = worker_of(own);
    CHECK(share_of(picking, 10, "10.0.0.1:80") == 5);
    plimsoll_worker_free(picking);
    plimsoll_cluster_free(own);

    plimsoll_error *error = NULL;
    options.runtime = NULL;
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_cluster_open(str(TWO_HOSTS), &options, &own, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "options.runtime", NULL);
}

void test_runtime(void) {
    cluster = open_two();
    worker = worker_of(cluster);
    plimsoll_host_change eject = change_of(PLIMSOLL_CHANGE_HEALTH, "10.0.0.1:80");
    eject.event = PLIMSOLL_HEALTH_EJECT;
    apply(cluster, eject);
    a_key_overrides_a_setting_until_it_is_removed();
    a_value_of_another_form_leaves_the_setting_as_it_is();
    each_form_removes_a_key_of_any_other();
    a_double_that_is_not_finite_is_refused();
    a_key_that_nothing_reads_does_nothing();
    several_keys_are_one_step();
    a_value_that_stands_for_nothing_is_named();
    values_may_hold_from_the_start();
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}
