/* Opening a cluster: what is read, what is refused, and what an error object says of it. */

#include "check.h"

static void yaml_and_json_are_the_same_cluster(void) {
    static const char json[] =
        "{\"name\": \"api\", \"lbPolicy\": \"ROUND_ROBIN\", \"loadAssignment\": {\"clusterName\":"
        " \"api\", \"endpoints\": [{\"lbEndpoints\": [{\"endpoint\": {\"address\":"
        " {\"socketAddress\": {\"address\": \"10.0.0.1\", \"portValue\": 80}}}}, {\"endpoint\":"
        " {\"address\": {\"socketAddress\": {\"address\": \"10.0.0.2\", \"portValue\": 80}}}}]}]}}";
    plimsoll_cluster *clusters[2] = {open_two(), NULL};
    OK(plimsoll_cluster_open(str(json), NULL, &clusters[1], NULL));
    CHECK(has_the_hosts_of(clusters[1], clusters[0]));
    plimsoll_cluster_free(clusters[0]);
    plimsoll_cluster_free(clusters[1]);
}

static void a_cluster_without_an_assignment_has_no_host_yet(void) {
    plimsoll_cluster *cluster = NULL;
    plimsoll_error *error = NULL;
    OK(plimsoll_cluster_open(PLIMSOLL_STR("{\"name\": \"api\"}"), NULL, &cluster, &error));
    CHECK(error == NULL);
    plimsoll_worker *worker = worker_of(cluster);
    plimsoll_pick pick = {1, 1, 1, 1};
    EXPECT(PLIMSOLL_STATUS_NO_HOST, plimsoll_worker_pick(worker, NULL, &pick));
    CHECK(pick.slot == 0 && pick.generation == 0 && pick.priority == 0 && pick.flags == 0);
    OK(plimsoll_cluster_assign(cluster, str(THIRD_HOST), NULL, NULL));
    CHECK(next_is(worker, "10.0.0.3:80"));
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

/* The same seed gives the same random picks. */
static void a_seed_makes_picks_repeatable(void) {
    static const char text[] =
        "name: api\nlb_policy: RANDOM\nload_assignment:\n  cluster_name: api\n  endpoints:\n"
        "  - lb_endpoints:\n"
        "    - endpoint: {address: {socket_address: {address: 10.0.0.1, port_value: 80}}}\n"
        "    - endpoint: {address: {socket_address: {address: 10.0.0.2, port_value: 80}}}\n";
    uint32_t slots[2][32];
    for (int run = 0; run < 2; run++) {
        plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
        options.behavior = PLIMSOLL_BEHAVIOR_ENVOY;
        options.has_seed = 1;
        options.seed = 99;
        options.region = PLIMSOLL_STR("eu");
        plimsoll_cluster *cluster = NULL;
        OK(plimsoll_cluster_open(str(text), &options, &cluster, NULL));
        plimsoll_worker *worker = worker_of(cluster);
        for (int index = 0; index < 32; index++) {
            slots[run][index] = pick_one(worker).slot;
        }
        plimsoll_worker_free(worker);
        plimsoll_cluster_free(cluster);
    }
    CHECK(memcmp(slots[0], slots[1], sizeof slots[0]) == 0);
}

static plimsoll_error *refused(const char *text, plimsoll_status expected) {
    plimsoll_cluster *cluster = (plimsoll_cluster *)&cluster;
    plimsoll_error *error = NULL;
    EXPECT(expected, plimsoll_cluster_open(str(text), NULL, &cluster, &error));
    CHECK(cluster == NULL);
    return error;
}

static void an_error_names_the_value_at_fault(void) {
    plimsoll_error *error = refused("name: [", PLIMSOLL_STATUS_PARSE_ERROR);
    expect_error(error, PLIMSOLL_STATUS_PARSE_ERROR, "parse_error", "", NULL);

    error = refused("name: api\ncommon_lb_config: {healthy_panic_threshold: {value: 101}}\n",
                    PLIMSOLL_STATUS_INVALID_ARGUMENT);
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument",
                 "common_lb_config.healthy_panic_threshold",
                 "PercentValidationError.Value: value must be inside range [0, 100]");

    error = refused("{\"name\": \"api\", \"lb_policy\": \"CLUSTER_PROVIDED\"}",
                    PLIMSOLL_STATUS_UNSUPPORTED);
    expect_error(error, PLIMSOLL_STATUS_UNSUPPORTED, "unsupported", "lb_policy", NULL);

    error = refused("\xff", PLIMSOLL_STATUS_INVALID_ARGUMENT);
    expect_error(error, PLIMSOLL_STATUS_INVALID_ARGUMENT, "invalid_argument", "cluster",
                 "cluster is not UTF-8 from byte 0 on");
}

static void the_status_alone_will_do(void) {
    plimsoll_cluster *cluster = NULL;
    EXPECT(PLIMSOLL_STATUS_PARSE_ERROR,
           plimsoll_cluster_open(PLIMSOLL_STR("{"), NULL, &cluster, NULL));
}

static void no_error_object_has_no_text(void) {
    EXPECT(PLIMSOLL_STATUS_NULL_ARGUMENT, plimsoll_error_status(NULL));
    CHECK(is(plimsoll_error_code(NULL), ""));
    CHECK(is(plimsoll_error_field(NULL), ""));
    CHECK(is(plimsoll_error_message(NULL), ""));
}

static void freeing_null_does_nothing(void) {
    plimsoll_cluster_free(NULL);
    plimsoll_worker_free(NULL);
    plimsoll_error_free(NULL);
}

void test_open(void) {
    yaml_and_json_are_the_same_cluster();
    a_cluster_without_an_assignment_has_no_host_yet();
    a_seed_makes_picks_repeatable();
    an_error_names_the_value_at_fault();
    the_status_alone_will_do();
    no_error_object_has_no_text();
    freeing_null_does_nothing();
}
