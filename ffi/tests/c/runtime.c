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
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}
