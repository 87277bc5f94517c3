/* Workers whose picks can be repeated: by their number, and by the numbers that they draw. */

#include "check.h"

#define PICKS 50

static plimsoll_cluster *cluster;

static plimsoll_worker *worker_with(plimsoll_worker_options options) {
    plimsoll_worker *worker = NULL;
    OK(plimsoll_worker_new_with(cluster, &options, &worker, NULL));
    return worker;
}

static plimsoll_worker *numbered(uint64_t number) {
    plimsoll_worker_options options = PLIMSOLL_WORKER_OPTIONS_INIT;
    options.has_number = 1;
    options.number = number;
    return worker_with(options);
}

/* Which of the next picks go to the first host, a bit for each. */
static uint64_t way_of(plimsoll_worker *worker) {
    uint64_t way = 0;
    for (int turn = 0; turn < PICKS; turn++) {
        way = 2 * way + next_is(worker, "10.0.0.1:80");
    }
    return way;
}

static uint64_t way_and_free(plimsoll_worker *worker) {
    uint64_t way = way_of(worker);
    plimsoll_worker_free(worker);
    return way;
}

static void a_number_goes_the_same_way_again(void) {
    uint64_t first = way_and_free(numbered(0));
    CHECK(way_and_free(numbered(0)) == first);
    CHECK(way_and_free(numbered(1)) != first);
    plimsoll_worker *usual = NULL;
    OK(plimsoll_worker_new_with(cluster, NULL, &usual, NULL));
    CHECK(way_and_free(usual) != first);
}

static void given_numbers_come_before_drawn_ones(void) {
    uint64_t draws[PICKS];
    for (int turn = 0; turn < PICKS; turn++) {
        draws[turn] = turn % 3 == 0 ? UINT64_MAX : 0;
    }
    plimsoll_worker_options options = PLIMSOLL_WORKER_OPTIONS_INIT;
    options.has_number = 1;
    options.draws = draws;
    options.draw_count = PICKS;
    plimsoll_worker *told = worker_with(options);
    uint64_t way = way_of(told);
    CHECK(way != 0 && way != way_and_free(numbered(0)));
    OK(plimsoll_worker_push_draws(told, draws, PICKS));
    CHECK(way_of(told) == way);
    OK(plimsoll_worker_push_draws(told, NULL, 0));
    plimsoll_worker_free(told);
}

static void a_worker_peeks_as_far_as_it_was_told(void) {
    plimsoll_worker_options options = PLIMSOLL_WORKER_OPTIONS_INIT;
    options.peek_capacity = 1;
    plimsoll_worker *worker = worker_with(options);
    plimsoll_pick pick;
    OK(plimsoll_worker_peek(worker, NULL, &pick));
    EXPECT(PLIMSOLL_STATUS_PEEK_LIMIT, plimsoll_worker_peek(worker, NULL, &pick));
    plimsoll_worker_free(worker);
}

static void misuse_is_an_answer(void) {
    plimsoll_error *error = NULL;
    plimsoll_worker *worker = (plimsoll_worker *)&error;
    plimsoll_worker_options options = PLIMSOLL_WORKER_OPTIONS_INIT;
    options.has_number = 2;
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_worker_new_with(cluster, &options, &worker, &error));
    CHECK(worker == NULL);
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "options.has_number",
                 NULL);
    options.has_number = 0;
    options.draw_count = 1;
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT,
           plimsoll_worker_new_with(cluster, &options, &worker, &error));
    expect_error(error, PLIMSOLL_STATUS_NULL_ARGUMENT, "null_argument", "options.draws", NULL);
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT, plimsoll_worker_new_with(NULL, NULL, &worker, NULL));
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT, plimsoll_worker_new_with(cluster, NULL, NULL, NULL));
    const uint64_t draw = 1;
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT, plimsoll_worker_push_draws(NULL, &draw, 1));
    worker = numbered(0);
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT, plimsoll_worker_push_draws(worker, NULL, 1));
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_worker_push_draws(worker, &draw, SIZE_MAX / 8));
    plimsoll_worker_free(worker);
}

static void options_of_any_age_work(void) {
    plimsoll_worker *worker = NULL;
    plimsoll_worker_options older = PLIMSOLL_WORKER_OPTIONS_INIT;
    older.size = offsetof(plimsoll_worker_options, draws);
    older.draw_count = 77; /* beyond `size`, and so not read */
    OK(plimsoll_worker_new_with(cluster, &older, &worker, NULL));
    plimsoll_worker_free(worker);

    struct {
        plimsoll_worker_options known;
        uint64_t invented;
    } later = {PLIMSOLL_WORKER_OPTIONS_INIT, 0};
    later.known.size = sizeof later;
    OK(plimsoll_worker_new_with(cluster, &later.known, &worker, NULL));
    plimsoll_worker_free(worker);
    later.invented = 1;
    EXPECT(PLIMSOLL_STATUS_UNSUPPORTED_FIELD,
           plimsoll_worker_new_with(cluster, &later.known, &worker, NULL));
}

void test_repeat(void) {
    plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
    options.has_seed = 1;
    OK(plimsoll_cluster_open(PLIMSOLL_STR("{\"name\":\"api\",\"lb_policy\":\"RANDOM\"}"), &options,
                             &cluster, NULL));
    apply(cluster, change_of(PLIMSOLL_CHANGE_UPSERT, "10.0.0.1:80"));
    apply(cluster, change_of(PLIMSOLL_CHANGE_UPSERT, "10.0.0.2:80"));
    a_number_goes_the_same_way_again();
    given_numbers_come_before_drawn_ones();
    a_worker_peeks_as_far_as_it_was_told();
    misuse_is_an_answer();
    options_of_any_age_work();
    plimsoll_cluster_free(cluster);
}
