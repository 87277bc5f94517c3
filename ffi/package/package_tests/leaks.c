/* A million picks and ten thousand updates: in the end there are as many blocks on the heap as after the
 * first few, and none once the handles are freed. Linked with --wrap for what allocates, so that the
 * count is exact. */

#include <plimsoll/plimsoll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { ROUNDS = 10000, PICKS = 100, FIRST = 200 };

#define OK(call) \
    do { \
        plimsoll_status status_ = (call); \
        if (status_ != PLIMSOLL_STATUS_OK) { \
            fprintf(stderr, "%s: %s\n", #call, plimsoll_status_name(status_)); \
            exit(1); \
        } \
    } while (0)

static const plimsoll_str SETTINGS[2] = {
    PLIMSOLL_STR_INIT("{\"name\": \"api\", \"lb_policy\": \"LEAST_REQUEST\"}"),
    PLIMSOLL_STR_INIT("{\"name\": \"api\", \"lb_policy\": \"MAGLEV\", \"maglev_lb_config\": "
                      "{\"table_size\": 251}}"),
};
static int data_out;

/* Blocks that are allocated. */
static long in_use;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *block, size_t size);
int __real_posix_memalign(void **block, size_t alignment, size_t size);
void __real_free(void *block);

void *__wrap_malloc(size_t size) {
    void *block = __real_malloc(size);
    in_use += block != NULL;
    return block;
}

void *__wrap_calloc(size_t count, size_t size) {
    void *block = __real_calloc(count, size);
    in_use += block != NULL;
    return block;
}

void *__wrap_realloc(void *block, size_t size) {
    in_use += block == NULL;
    return __real_realloc(block, size);
}

int __wrap_posix_memalign(void **block, size_t alignment, size_t size) {
    int failed = __real_posix_memalign(block, alignment, size);
    in_use += !failed;
    return failed;
}

void __wrap_free(void *block) {
    in_use -= block != NULL;
    __real_free(block);
}

static void release(void *data) {
    free(data);
    data_out--;
}

static void discard(void *userdata, uint32_t level, plimsoll_str message) {
    *(size_t *)userdata += level + message.len;
}

static plimsoll_host_change change_of(uint32_t kind, const char *address) {
    plimsoll_host_change change = PLIMSOLL_HOST_CHANGE_INIT;
    change.kind = kind;
    change.address.data = address;
    change.address.len = strlen(address);
    change.event = PLIMSOLL_HEALTH_EJECT;
    return change;
}

/* Settings from structs come and go, one of which names policies that are freed at once, and one of which
 * is refused. The hosts stay, and the settings are the first ones again. */
static void configure(plimsoll_cluster *cluster) {
    plimsoll_cluster_settings settings = PLIMSOLL_CLUSTER_SETTINGS_INIT;
    settings.name = PLIMSOLL_STR("api");
    settings.policy = PLIMSOLL_POLICY_MAGLEV;
    plimsoll_hash_policy by_user = PLIMSOLL_HASH_POLICY_INIT;
    by_user.kind = PLIMSOLL_HASH_HEADER;
    by_user.name = PLIMSOLL_STR("x-user");
    plimsoll_hash_policies *policies;
    OK(plimsoll_hash_policies_new(&by_user, 1, &policies, NULL));
    plimsoll_maglev maglev = PLIMSOLL_MAGLEV_INIT;
    maglev.table_size = 251;
    maglev.hash_policies = policies;
    settings.maglev = &maglev;
    OK(plimsoll_cluster_configure(cluster, &settings, NULL, NULL, NULL));
    plimsoll_hash_policies_free(policies);
    settings.policy = PLIMSOLL_POLICY_LEAST_REQUEST;
    plimsoll_error *error;
    if (plimsoll_cluster_configure(cluster, &settings, NULL, NULL, &error) == PLIMSOLL_STATUS_OK) {
        exit(1);
    }
    plimsoll_error_free(error);
    settings.maglev = NULL;
    OK(plimsoll_cluster_configure(cluster, &settings, NULL, NULL, NULL));
}

/* What a proxy does in a while: a host comes, fails and goes; requests; a mistake; a scrape. Every
 * hundredth time settings change and come back. */
static void live(plimsoll_cluster *cluster, plimsoll_worker *worker, int round) {
    plimsoll_host_change comes = change_of(PLIMSOLL_CHANGE_UPSERT, "10.0.0.3:80");
    OK(plimsoll_cluster_update(cluster, &comes, 1, NULL, NULL));
    OK(plimsoll_cluster_set_host_data(cluster, comes.address, malloc(100), release, NULL));
    data_out++;
    for (int pick = 0; pick < PICKS; pick++) {
        plimsoll_pick picked;
        plimsoll_response_load load = PLIMSOLL_RESPONSE_LOAD_INIT;
        load.header_text = PLIMSOLL_STR("TEXT rps_fractional=1,cpu_utilization=0.1");
        OK(plimsoll_worker_pick(worker, NULL, &picked));
        (void)plimsoll_worker_report(worker, &picked, &load);
        OK(plimsoll_worker_done(worker, &picked, PLIMSOLL_OUTCOME_SUCCESS));
    }
    plimsoll_host_change goes = change_of(PLIMSOLL_CHANGE_REMOVE, "10.0.0.3:80");
    OK(plimsoll_cluster_update(cluster, &goes, 1, NULL, NULL));
    plimsoll_error *error;
    if (plimsoll_cluster_update(cluster, &goes, 1, NULL, &error) == PLIMSOLL_STATUS_OK) {
        exit(1);
    }
    plimsoll_error_free(error);
    if (round % 100 == 0) {
        static char text[65536];
        size_t needed;
        const plimsoll_cluster *clusters[] = {cluster};
        OK(plimsoll_prometheus(clusters, 1, NULL, text, sizeof text, &needed));
        OK(plimsoll_cluster_reload(cluster, SETTINGS[1], NULL, NULL));
        OK(plimsoll_cluster_reload(cluster, SETTINGS[0], NULL, NULL));
        configure(cluster);
    }
    OK(plimsoll_worker_refresh(worker));
    OK(plimsoll_cluster_tick(cluster, (uint64_t)round * 1000000, NULL));
}

/* Says how many blocks there were after the first rounds and after all of them. */
static void live_through(long *early, long *late) {
    size_t said = 0;
    plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
    options.has_seed = 1;
    options.log = discard;
    options.log_userdata = &said;
    options.log_level = PLIMSOLL_LOG_DEBUG;
    plimsoll_cluster *cluster;
    plimsoll_worker *worker;
    OK(plimsoll_cluster_open(SETTINGS[0], &options, &cluster, NULL));
    plimsoll_host_change hosts[] = {change_of(PLIMSOLL_CHANGE_UPSERT, "10.0.0.1:80"),
                                    change_of(PLIMSOLL_CHANGE_UPSERT, "10.0.0.2:80")};
    OK(plimsoll_cluster_update(cluster, hosts, 2, NULL, NULL));
    OK(plimsoll_worker_new(cluster, &worker, NULL));
    for (int round = 1; round <= ROUNDS; round++) {
        live(cluster, worker, round);
        if (round == FIRST) {
            *early = in_use;
        }
    }
    *late = in_use;
    plimsoll_worker_free(worker);
    plimsoll_cluster_free(cluster);
}

int main(void) {
    long early = 0, late = 0;
    live_through(&early, &late);
    printf("%ld blocks after %d rounds, %ld after %d, %ld in the end; %d data\n", early, FIRST, late,
           ROUNDS, in_use, data_out);
    return early <= 0 || early != late || in_use != 0 || data_out != 0;
}
