/* How traffic divides among localities: what is shown of it, the local cluster that zone-aware
 * routing goes by, and the load that hosts report. */

#include "check.h"

#define PERIOD UINT64_C(100000000) /* between two updates of load-aware weights, in nanoseconds */

#define NAME "name: api\n"
#define ZONE_AWARE "common_lb_config: {zone_aware_lb_config: {min_cluster_size: 1}}\n"
#define LOAD_AWARE                                                                               \
    "load_balancing_policy:\n"                                                                   \
    "  policies:\n"                                                                              \
    "  - typed_extension_config:\n"                                                              \
    "      name: envoy.load_balancing_policies.load_aware_locality\n"                            \
    "      typed_config:\n"                                                                      \
    "        \"@type\": type.googleapis.com/envoy.extensions.load_balancing_policies."           \
    "load_aware_locality.v3.LoadAwareLocality\n"                                                 \
    "        weight_update_period: 0.1s\n"                                                       \
    "        remote_probe_fraction: 0\n"                                                         \
    "        endpoint_picking_policy:\n"                                                         \
    "          policies:\n"                                                                      \
    "          - typed_extension_config:\n"                                                      \
    "              name: envoy.load_balancing_policies.round_robin\n"                            \
    "              typed_config:\n"                                                              \
    "                \"@type\": type.googleapis.com/envoy.extensions.load_balancing_policies."   \
    "round_robin.v3.RoundRobin\n"
#define HOSTS "load_assignment:\n  cluster_name: api\n  endpoints:\n"
#define ZONE(name) "  - locality: {region: eu, zone: " name "}\n    lb_endpoints:\n"
#define HOST(address)                                                                            \
    "    - endpoint: {address: {socket_address: {address: " address ", port_value: 80}}}\n"

/* One host where the node is, two in the other zone. */
#define ONE_HERE_TWO_THERE                                                                       \
    HOSTS ZONE("b") HOST("10.0.0.1") ZONE("a") HOST("10.0.0.2") HOST("10.0.0.3")

/* Two proxies where the node is, one in the other zone. */
static const char PROXIES[] =
    "name: proxies\n" HOSTS ZONE("b") HOST("10.1.0.1") HOST("10.1.0.2") ZONE("a") HOST("10.1.0.3");

static const uint32_t BEHAVIORS[] = {PLIMSOLL_BEHAVIOR_NATIVE, PLIMSOLL_BEHAVIOR_ENVOY};

enum { ROOM = 24 };

/* What was shown, with texts that outlive the visit. */
typedef struct {
    size_t count;
    size_t stop_after;
    plimsoll_locality localities[ROOM];
    char texts[ROOM][3][16];
} shown;

static plimsoll_str keep(char *room, plimsoll_str text) {
    CHECK(text.data != NULL && text.len < 16);
    memcpy(room, text.data, text.len);
    room[text.len] = '\0';
    plimsoll_str kept = {room, text.len};
    return kept;
}

static int remember(void *userdata, const plimsoll_locality *locality) {
    shown *all = userdata;
    CHECK(all->count < ROOM);
    CHECK(locality->size == sizeof *locality);
    char(*texts)[16] = all->texts[all->count];
    plimsoll_locality *copy = &all->localities[all->count++];
    *copy = *locality;
    copy->region = keep(texts[0], locality->region);
    copy->zone = keep(texts[1], locality->zone);
    copy->sub_zone = keep(texts[2], locality->sub_zone);
    return all->count == all->stop_after;
}

/* All that is shown; the texts of one call last until the next. */
static const shown *all_of(const plimsoll_cluster *cluster) {
    static const shown none;
    static shown all;
    plimsoll_error *error = NULL;
    all = none;
    OK(plimsoll_cluster_for_each_locality(cluster, &all, remember, &error));
    CHECK(error == NULL);
    return &all;
}

/* A cluster of a node in zone b of region eu. */
static plimsoll_cluster *open_in_b(const char *text, uint32_t behavior,
                                   const plimsoll_cluster *local_cluster) {
    plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
    options.behavior = behavior;
    options.has_seed = 1;
    options.seed = 1;
    options.region = PLIMSOLL_STR("eu");
    options.zone = PLIMSOLL_STR("b");
    options.local_cluster = local_cluster;
    plimsoll_cluster *cluster = NULL;
    plimsoll_error *error = NULL;
    OK(plimsoll_cluster_open(str(text), &options, &cluster, &error));
    return cluster;
}

/* Whether healthy hosts get these weights, the node's own zone b before zone a. */
static bool divides(const plimsoll_cluster *cluster, double here, double there, bool all_local) {
    const plimsoll_locality *localities = all_of(cluster)->localities;
    CHECK(is(localities[0].zone, "b") && is(localities[1].zone, "a"));
    for (int index = 0; index < 2; index++) {
        CHECK(localities[index].priority == 0);
        CHECK(localities[index].source == PLIMSOLL_SOURCE_HEALTHY);
        CHECK(localities[index].all_local == (uint32_t)all_local);
    }
    double difference_here = localities[0].weight - here;
    double difference_there = localities[1].weight - there;
    /* Envoy's proportions are whole ten-thousandths. */
    return difference_here < 2e-4 && difference_here > -2e-4 && difference_there < 2e-4 &&
           difference_there > -2e-4;
}

static void each_locality_is_shown_by_priority_and_kind_of_hosts(void) {
    static const char text[] =
        NAME HOSTS
        "  - priority: 1\n"
        "    lb_endpoints:\n" HOST("10.0.1.1")
        "  - locality: {region: eu, zone: b, sub_zone: \"1\"}\n"
        "    lb_endpoints:\n" HOST("10.0.0.2") "      load_balancing_weight: 3\n"
        ZONE("a") HOST("10.0.0.1") HOST("10.0.0.3") "      health_status: DEGRADED\n";
    static const uint32_t sources[] = {PLIMSOLL_SOURCE_HEALTHY, PLIMSOLL_SOURCE_DEGRADED,
                                       PLIMSOLL_SOURCE_ALL};
    plimsoll_cluster *cluster = open_in_b(text, PLIMSOLL_BEHAVIOR_NATIVE, NULL);
    const shown *all = all_of(cluster);
    CHECK(all->count == 9);
    for (int source = 0; source < 3; source++) {
        const plimsoll_locality *a = &all->localities[2 * source], *b = a + 1;
        const plimsoll_locality *spare = &all->localities[6 + source];
        CHECK(is(a->region, "eu") && is(a->zone, "a") && is(a->sub_zone, ""));
        CHECK(is(b->region, "eu") && is(b->zone, "b") && is(b->sub_zone, "1"));
        CHECK(is(spare->region, "") && is(spare->zone, "") && is(spare->sub_zone, ""));
        CHECK(a->priority == 0 && b->priority == 0 && spare->priority == 1);
        CHECK(a->source == sources[source] && b->source == sources[source]);
        CHECK(spare->source == sources[source]);
        CHECK(a->all_local == 0 && a->has_utilization == 0 && near(a->utilization, 0));
        CHECK(near(a->load, b->load));
    }
    /* 2 of 3 hosts are healthy, times 1.4. The rest goes to healthy hosts of the next priority
     * before it goes to degraded ones. */
    const plimsoll_locality *healthy = &all->localities[0], *degraded = &all->localities[2];
    CHECK(near(healthy->load, 1.4 * 2 / 3) && near(degraded->load, 0));
    CHECK(near(all->localities[4].load, 0) && near(all->localities[6].load, 1 - 1.4 * 2 / 3));
    CHECK(healthy[0].hosts == 1 && healthy[1].hosts == 1);
    CHECK(near(healthy[0].weight, 0.25) && near(healthy[1].weight, 0.75));
    CHECK(degraded[0].hosts == 1 && degraded[1].hosts == 0);
    CHECK(near(degraded[0].weight, 1) && near(degraded[1].weight, 0));
    CHECK(all->localities[4].hosts == 2 && all->localities[5].hosts == 1);
    plimsoll_cluster_free(cluster);
}

static void in_panic_everything_goes_to_all_hosts(void) {
    for (size_t index = 0; index < 2; index++) {
        plimsoll_cluster *cluster = open_in_b(NAME ONE_HERE_TWO_THERE, BEHAVIORS[index], NULL);
        CHECK(near(all_of(cluster)->localities[0].load, 1));
        static const char *const addresses[] = {"10.0.0.1:80", "10.0.0.2:80"};
        for (size_t host = 0; host < 2; host++) {
            plimsoll_host_change change = change_of(PLIMSOLL_CHANGE_HEALTH, addresses[host]);
            change.event = PLIMSOLL_HEALTH_EJECT;
            apply(cluster, change);
        }
        const plimsoll_locality *localities = all_of(cluster)->localities;
        CHECK(all_of(cluster)->count == 6);
        CHECK(near(localities[0].load, 0) && near(localities[2].load, 0));
        CHECK(localities[4].source == PLIMSOLL_SOURCE_ALL && near(localities[4].load, 1));
        CHECK(localities[4].hosts == 1 && localities[5].hosts == 2);
        plimsoll_cluster_free(cluster);
    }
}

static void change_proxy(const plimsoll_cluster *proxies, uint32_t kind, const char *address,
                         const char *zone) {
    plimsoll_host_change change = change_of(kind, address);
    if (kind == PLIMSOLL_CHANGE_UPSERT) {
        change.region = PLIMSOLL_STR("eu");
        change.zone = str(zone);
    }
    apply(proxies, change);
}

static void zones_share_by_hosts_and_proxies(uint32_t behavior) {
    plimsoll_cluster *proxies = open_in_b(PROXIES, behavior, NULL);
    plimsoll_cluster *cluster =
        open_in_b(NAME ZONE_AWARE ONE_HERE_TWO_THERE, behavior, proxies);
    plimsoll_worker *worker = worker_of(cluster);
    /* A third of the hosts for two thirds of the proxies: half of the requests may stay. */
    CHECK(divides(cluster, 0.5, 0.5, false));
    CHECK(all_of(cluster)->localities[0].has_utilization == 0);
    int here = share_of(worker, 1000, "10.0.0.1:80");
    CHECK(here > 400 && here < 600); /* six standard deviations, were it random */

    /* The proxies move, which shows after a control call of the cluster itself. */
    change_proxy(proxies, PLIMSOLL_CHANGE_REMOVE, "10.1.0.2:80", NULL);
    CHECK(divides(cluster, 0.5, 0.5, false));
    OK(plimsoll_cluster_tick(cluster, 1, NULL));
    CHECK(divides(cluster, 2.0 / 3, 1.0 / 3, false));
    change_proxy(proxies, PLIMSOLL_CHANGE_UPSERT, "10.1.0.4:80", "a");
    OK(plimsoll_cluster_tick(cluster, 2, NULL));
    CHECK(divides(cluster, 1, 0, true));
    CHECK(share_of(worker, 100, "10.0.0.1:80") == 100);
    plimsoll_worker_free(worker);

    /* Either may go first. A local cluster that was freed is as it was. */
    if (behavior == PLIMSOLL_BEHAVIOR_ENVOY) {
        plimsoll_cluster_free(cluster);
        plimsoll_cluster_free(proxies);
        return;
    }
    plimsoll_cluster_free(proxies);
    plimsoll_host_change change = change_of(PLIMSOLL_CHANGE_REMOVE, "10.0.0.3:80");
    apply(cluster, change);
    CHECK(divides(cluster, 1, 0, true));
    OK(plimsoll_cluster_reload(cluster, str(NAME ZONE_AWARE ONE_HERE_TWO_THERE), NULL, NULL));
    CHECK(divides(cluster, 1, 0, true));
    plimsoll_cluster_free(cluster);
}

static void a_local_cluster_is_no_use_without_a_place(void) {
    plimsoll_cluster *proxies = open_in_b(PROXIES, PLIMSOLL_BEHAVIOR_NATIVE, NULL);
    for (size_t index = 0; index < 2; index++) {
        plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
        options.behavior = BEHAVIORS[index];
        options.local_cluster = proxies;
        plimsoll_cluster *cluster = NULL;
        OK(plimsoll_cluster_open(str(NAME ZONE_AWARE ONE_HERE_TWO_THERE), &options, &cluster,
                                 NULL));
        const plimsoll_locality *localities = all_of(cluster)->localities;
        CHECK(is(localities[0].zone, "a") && is(localities[1].zone, "b"));
        CHECK(near(localities[0].weight, 2.0 / 3) && near(localities[1].weight, 1.0 / 3));
        plimsoll_cluster_free(cluster);

        /* And zone-aware routing none without a local cluster. */
        cluster = open_in_b(NAME ZONE_AWARE ONE_HERE_TWO_THERE, BEHAVIORS[index], NULL);
        CHECK(divides(cluster, 1.0 / 3, 2.0 / 3, false));
        plimsoll_cluster_free(cluster);
    }
    plimsoll_cluster_free(proxies);
}

/* What a host that is this busy says on a stream. */
static void report_utilization(const plimsoll_cluster *cluster, const char *address,
                               double utilization) {
    unsigned char message[9] = {0x09}; /* field 1, cpu_utilization, in 64 bits, lowest byte first */
    uint64_t bits;
    memcpy(&bits, &utilization, sizeof bits);
    for (int byte = 0; byte < 8; byte++) {
        message[1 + byte] = (unsigned char)(bits >> (8 * byte));
    }
    OK(plimsoll_cluster_report(cluster, str(address), message, sizeof message, 0, NULL));
}

static void a_busy_zone_shares_its_load(uint32_t behavior) {
    plimsoll_cluster *cluster = open_in_b(NAME LOAD_AWARE ONE_HERE_TWO_THERE, behavior, NULL);
    bool is_envoy = behavior == PLIMSOLL_BEHAVIOR_ENVOY;
    /* Nothing is known: in Envoy everything stays, natively what a third of the hosts take of half
     * of the load. */
    CHECK(divides(cluster, is_envoy ? 1 : 2.0 / 3, is_envoy ? 0 : 1.0 / 3, is_envoy));
    CHECK(all_of(cluster)->localities[0].has_utilization == 1);
    for (uint64_t tick = 1; tick <= 100; tick++) {
        report_utilization(cluster, "10.0.0.1:80", 0.9);
        report_utilization(cluster, "10.0.0.2:80", 0.1);
        report_utilization(cluster, "10.0.0.3:80", 0.3);
        OK(plimsoll_cluster_tick(cluster, tick * PERIOD, NULL));
    }
    const plimsoll_locality *localities = all_of(cluster)->localities;
    CHECK(localities[0].has_utilization == 1 && localities[1].has_utilization == 1);
    CHECK(near(localities[0].utilization, 0.9) && near(localities[1].utilization, 0.2));
    if (is_envoy) {
        /* What each host has left: one of 0.1, two of 0.8. */
        CHECK(divides(cluster, 0.1, 1.6, false));
    } else {
        /* The zone stays as busy whatever it gets, and so it gets less and less. */
        CHECK(localities[0].weight > 0.01 && localities[0].weight < 0.5);
        CHECK(near(localities[0].weight + localities[1].weight, 1));
        CHECK(localities[0].all_local == 0);
    }
    plimsoll_cluster_free(cluster);
}

static void a_visit_can_be_the_last(void) {
    plimsoll_cluster *cluster =
        open_in_b(NAME ONE_HERE_TWO_THERE, PLIMSOLL_BEHAVIOR_NATIVE, NULL);
    static shown all;
    for (size_t visits = 1; visits <= 6; visits++) {
        all.count = 0;
        all.stop_after = visits;
        OK(plimsoll_cluster_for_each_locality(cluster, &all, remember, NULL));
        CHECK(all.count == visits);
    }
    plimsoll_cluster_free(cluster);
    cluster = open_in_b("name: api", PLIMSOLL_BEHAVIOR_NATIVE, NULL);
    CHECK(all_of(cluster)->count == 0);
    plimsoll_cluster_free(cluster);
}

/* Removes all hosts of the cluster at the first visit, and still sees the rest. */
static int empty(void *userdata, const plimsoll_locality *locality) {
    plimsoll_cluster **cluster = userdata;
    OK(plimsoll_cluster_assign(*cluster, PLIMSOLL_STR("{\"cluster_name\": \"api\"}"), NULL, NULL));
    OK(plimsoll_cluster_tick(*cluster, 1, NULL));
    CHECK(all_of(*cluster)->count == 0);
    CHECK(locality->zone.len == 1 && locality->region.len == 2);
    return 0;
}

static void every_call_may_be_made_during_a_visit(void) {
    plimsoll_cluster *cluster =
        open_in_b(NAME ONE_HERE_TWO_THERE, PLIMSOLL_BEHAVIOR_NATIVE, NULL);
    OK(plimsoll_cluster_for_each_locality(cluster, &cluster, empty, NULL));
    plimsoll_cluster_free(cluster);
}

void test_localities(void) {
    each_locality_is_shown_by_priority_and_kind_of_hosts();
    in_panic_everything_goes_to_all_hosts();
    for (size_t index = 0; index < 2; index++) {
        zones_share_by_hosts_and_proxies(BEHAVIORS[index]);
        a_busy_zone_shares_its_load(BEHAVIORS[index]);
    }
    a_local_cluster_is_no_use_without_a_place();
    a_visit_can_be_the_last();
    every_call_may_be_made_during_a_visit();
}
