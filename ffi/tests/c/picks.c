/* The calls of a request: which host, whether it counts, and when it is over. */

#include "check.h"

static plimsoll_cluster *cluster;
static plimsoll_worker *worker;

static void hosts_share_evenly(void) {
    CHECK(gets_about_half(worker, "10.0.0.1:80"));
    CHECK(gets_about_half(worker, "10.0.0.2:80"));
}

static void a_request_ends_once(void) {
    plimsoll_pick pick = pick_one(worker);
    CHECK(pick.flags == PLIMSOLL_PICK_COUNTED);
    CHECK(pick.priority == 0);
    OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_ERROR));
    EXPECT(PLIMSOLL_STATUS_STALE_PICK, plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_ERROR));
}

static void any_worker_ends_a_request(void) {
    plimsoll_worker *other = worker_of(cluster);
    plimsoll_pick pick = pick_one(worker);
    OK(plimsoll_worker_done(other, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    EXPECT(PLIMSOLL_STATUS_STALE_PICK,
           plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    plimsoll_worker_free(other);
}

static void an_uncounted_pick_has_no_end(void) {
    plimsoll_pick_context context = PLIMSOLL_PICK_CONTEXT_INIT;
    context.flags = PLIMSOLL_PICK_UNCOUNTED;
    plimsoll_pick pick;
    OK(plimsoll_worker_pick(worker, &context, &pick));
    CHECK(pick.flags == 0);
    EXPECT(PLIMSOLL_STATUS_NOT_COUNTED,
           plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    CHECK(pick_is(worker, &pick, "10.0.0.1:80") || pick_is(worker, &pick, "10.0.0.2:80"));
}

static void a_batch_is_as_many_picks(void) {
    plimsoll_pick picks[101];
    memset(picks, 0xff, sizeof picks);
    size_t count = 0;
    OK(plimsoll_worker_pick_batch(worker, NULL, picks, 100, &count));
    CHECK(count == 100);
    CHECK(picks[100].slot == UINT32_MAX);
    int first = 0;
    for (size_t index = 0; index < count; index++) {
        CHECK(picks[index].flags == PLIMSOLL_PICK_COUNTED);
        first += pick_is(worker, &picks[index], "10.0.0.1:80");
        OK(plimsoll_worker_done(worker, &picks[index], PLIMSOLL_OUTCOME_SUCCESS));
    }
    CHECK(first >= 45 && first <= 55);

    OK(plimsoll_worker_pick_batch(worker, NULL, NULL, 0, &count));
    CHECK(count == 0);
}

static void a_batch_of_an_empty_cluster_is_zero(void) {
    plimsoll_cluster *empty = NULL;
    OK(plimsoll_cluster_open(PLIMSOLL_STR("name: empty"), NULL, &empty, NULL));
    plimsoll_worker *idle = worker_of(empty);
    plimsoll_pick picks[2] = {{1, 1, 1, 1}, {1, 1, 1, 1}};
    size_t count = 9;
    EXPECT(PLIMSOLL_STATUS_NO_HOST, plimsoll_worker_pick_batch(idle, NULL, picks, 2, &count));
    CHECK(count == 0);
    CHECK(picks[0].flags == 0 && picks[1].slot == 0);
    /* As many peeks are outstanding as there are healthy hosts: none. */
    EXPECT(PLIMSOLL_STATUS_PEEK_LIMIT, plimsoll_worker_peek(idle, NULL, &picks[0]));
    plimsoll_worker_free(idle);
    plimsoll_cluster_free(empty);
}

static void a_peek_tells_the_next_pick(void) {
    plimsoll_pick peeked[2], again, pick;
    OK(plimsoll_worker_peek(worker, NULL, &peeked[0]));
    CHECK(peeked[0].flags == 0);
    OK(plimsoll_worker_peek(worker, NULL, &peeked[1]));
    EXPECT(PLIMSOLL_STATUS_PEEK_LIMIT, plimsoll_worker_peek(worker, NULL, &again));
    CHECK(again.slot == 0 && again.generation == 0);
    for (int index = 0; index < 2; index++) {
        pick = pick_one(worker);
        CHECK(pick.slot == peeked[index].slot && pick.generation == peeked[index].generation);
        OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    }
}

/* What the filter is to refuse, and what it has seen. */
typedef struct {
    const char *refused;
    int asked;
    plimsoll_pick last;
} filter;

static int accept(void *userdata, const plimsoll_pick *candidate) {
    filter *state = userdata;
    state->asked++;
    state->last = *candidate;
    CHECK(candidate->flags == 0);

    /* The candidate may be asked about; everything else is refused while the pick goes on. */
    plimsoll_pick other = {candidate->slot + 1, candidate->generation, 0, 0}, pick;
    char address[64];
    size_t needed;
    void *data;
    OK(plimsoll_worker_host_data(worker, candidate, &data));
    CHECK(data == NULL);
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_worker_host_address(worker, &other, address, sizeof address, &needed));
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT, plimsoll_worker_pick(worker, NULL, &pick));
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT, plimsoll_worker_quiesce(worker));
    EXPECT(PLIMSOLL_STATUS_INVALID_ARGUMENT,
           plimsoll_worker_done(worker, candidate, PLIMSOLL_OUTCOME_SUCCESS));
    return pick_is(worker, candidate, state->refused) ? 0 : -1;
}

static void a_filter_is_heard_as_often_as_retries_say(void) {
    plimsoll_pick_context context = PLIMSOLL_PICK_CONTEXT_INIT;
    context.retries = 5;
    for (int turn = 0; turn < 10; turn++) {
        filter state = {"10.0.0.1:80", 0, {0, 0, 0, 0}};
        plimsoll_pick pick;
        OK(plimsoll_worker_pick_filtered(worker, &context, &state, accept, &pick));
        CHECK(state.asked >= 1 && state.asked <= 6);
        CHECK(pick_is(worker, &pick, "10.0.0.2:80"));
        CHECK(pick.slot == state.last.slot && pick.flags == PLIMSOLL_PICK_COUNTED);
        OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    }

    /* Without retries the only candidate is taken, refused or not. */
    int refused = 0;
    for (int turn = 0; turn < 10; turn++) {
        filter state = {"10.0.0.1:80", 0, {0, 0, 0, 0}};
        plimsoll_pick pick;
        OK(plimsoll_worker_pick_filtered(worker, NULL, &state, accept, &pick));
        refused += pick_is(worker, &pick, "10.0.0.1:80");
        OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    }
    CHECK(refused > 0);
}

static void a_worker_sees_an_update_at_its_next_pick_or_refresh(void) {
    plimsoll_pick before = pick_one(worker);
    apply(cluster, change_of(PLIMSOLL_CHANGE_REMOVE,
                             pick_is(worker, &before, "10.0.0.1:80") ? "10.0.0.1:80"
                                                                     : "10.0.0.2:80"));
    char address[64];
    size_t needed;
    OK(plimsoll_worker_host_address(worker, &before, address, sizeof address, &needed));
    OK(plimsoll_worker_refresh(worker));
    EXPECT(PLIMSOLL_STATUS_STALE_PICK,
           plimsoll_worker_host_address(worker, &before, address, sizeof address, &needed));
    CHECK(needed == 0 && address[0] == '\0');
    /* The request goes on all the same, and ends as any other. */
    OK(plimsoll_worker_done(worker, &before, PLIMSOLL_OUTCOME_SUCCESS));
}

static void an_idle_worker_lets_go(void) {
    plimsoll_pick pick = pick_one(worker);
    OK(plimsoll_worker_quiesce(worker));
    void *data = &data;
    EXPECT(PLIMSOLL_STATUS_STALE_PICK, plimsoll_worker_host_data(worker, &pick, &data));
    CHECK(data == NULL);
    OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
    pick = pick_one(worker);
    OK(plimsoll_worker_host_data(worker, &pick, &data));
    OK(plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS));
}

static void traffic_may_fail_on_panic(void) {
    char text[1024];
    snprintf(text, sizeof text,
             "%scommon_lb_config: {zone_aware_lb_config: {fail_traffic_on_panic: true}}\n",
             TWO_HOSTS);
    plimsoll_cluster *panicking = NULL;
    OK(plimsoll_cluster_open(str(text), NULL, &panicking, NULL));
    plimsoll_worker *refusing = worker_of(panicking);
    plimsoll_host_change changes[2] = {change_of(PLIMSOLL_CHANGE_HEALTH, "10.0.0.1:80"),
                                       change_of(PLIMSOLL_CHANGE_HEALTH, "10.0.0.2:80")};
    changes[0].event = changes[1].event = PLIMSOLL_HEALTH_EJECT;
    OK(plimsoll_cluster_update(panicking, changes, 2, NULL, NULL));
    plimsoll_pick pick;
    EXPECT(PLIMSOLL_STATUS_NO_HOST_PANIC, plimsoll_worker_pick(refusing, NULL, &pick));
    plimsoll_worker_free(refusing);
    plimsoll_cluster_free(panicking);
}

void test_picks(void) {
    cluster = open_two();
    worker = worker_of(cluster);
    hosts_share_evenly();
    a_request_ends_once();
    any_worker_ends_a_request();
    an_uncounted_pick_has_no_end();
    a_batch_is_as_many_picks();
    a_batch_of_an_empty_cluster_is_zero();
    a_peek_tells_the_next_pick();
    a_filter_is_heard_as_often_as_retries_say();
    a_worker_sees_an_update_at_its_next_pick_or_refresh();
    an_idle_worker_lets_go();
    traffic_may_fail_on_panic();
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}
