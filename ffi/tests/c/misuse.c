/* What a debug build of the library says to a caller who would get undefined behaviour from a release
 * build. The argument says which mistake is made; a program of its own, because one of them ends it. */

#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plimsoll/plimsoll.h"

#define OK(call) \
    do { \
        if ((call) != PLIMSOLL_STATUS_OK) { \
            printf("failed: %s\n", #call); \
            return 1; \
        } \
    } while (0)

static plimsoll_cluster *cluster;
static plimsoll_worker *worker;
static plimsoll_pick pick;

static int use_after_free(void) {
    plimsoll_worker_free(worker);
    puts(plimsoll_status_name(plimsoll_worker_pick(worker, NULL, &pick)));
    plimsoll_error *error;
    plimsoll_cluster_free(cluster);
    if (plimsoll_cluster_tick(cluster, 1, &error) != PLIMSOLL_STATUS_OK) {
        printf("%s: %s\n", plimsoll_error_field(error).data, plimsoll_error_message(error).data);
        plimsoll_error_free(error);
    }
    return 0;
}

static int free_twice(void) {
    plimsoll_worker_free(worker);
    plimsoll_worker_free(worker);
    puts("not noticed");
    return 0;
}

static int take_one_for_another(void) {
    puts(plimsoll_status_name(plimsoll_worker_pick((plimsoll_worker *)cluster, NULL, &pick)));
    return 0;
}

/* Settings keep no handle, but they may name one. */
static int configure_with_a_freed_handle(void) {
    plimsoll_hash_policies *policies;
    OK(plimsoll_hash_policies_new(NULL, 0, &policies, NULL));
    plimsoll_hash_policies_free(policies);
    plimsoll_ring_hash ring_hash = PLIMSOLL_RING_HASH_INIT;
    ring_hash.hash_policies = policies;
    plimsoll_cluster_settings settings = PLIMSOLL_CLUSTER_SETTINGS_INIT;
    settings.name = PLIMSOLL_STR("api");
    settings.policy = PLIMSOLL_POLICY_RING_HASH;
    settings.ring_hash = &ring_hash;
    plimsoll_error *error;
    plimsoll_status status = plimsoll_cluster_configure(cluster, &settings, NULL, NULL, &error);
    printf("%s: %s\n", plimsoll_status_name(status), plimsoll_error_field(error).data);
    plimsoll_error_free(error);
    plimsoll_cluster_free(cluster);
    status = plimsoll_cluster_configure(cluster, NULL, NULL, NULL, &error);
    printf("%s: %s\n", plimsoll_status_name(status), plimsoll_error_field(error).data);
    plimsoll_error_free(error);
    return 0;
}

static void *use_it_too(void *unused) {
    plimsoll_pick other;
    puts(plimsoll_status_name(plimsoll_worker_pick(worker, NULL, &other)));
    return unused;
}

/* Runs in the middle of a pick of this thread's. */
static int let_another_in(void *unused, const plimsoll_pick *candidate) {
    (void)unused;
    (void)candidate;
    pthread_t thread;
    return pthread_create(&thread, NULL, use_it_too, NULL) || pthread_join(thread, NULL) || 1;
}

static int use_from_two_threads(void) {
    plimsoll_pick_context context = PLIMSOLL_PICK_CONTEXT_INIT;
    context.retries = 1;
    OK(plimsoll_worker_pick_filtered(worker, &context, NULL, let_another_in, &pick));
    /* One after the other is as it should be. */
    pthread_t thread;
    return pthread_create(&thread, NULL, use_it_too, NULL) || pthread_join(thread, NULL);
}

static int use_after_fork(void) {
    pid_t child = fork();
    if (child == 0) {
        puts(plimsoll_status_name(plimsoll_worker_pick(worker, NULL, &pick)));
        plimsoll_cluster *own;
        OK(plimsoll_cluster_open(PLIMSOLL_STR("name: api"), NULL, &own, NULL));
        plimsoll_cluster_free(own);
        return 0;
    }
    int status;
    if (child < 0 || waitpid(child, &status, 0) != child) {
        return 1;
    }
    puts(plimsoll_status_name(plimsoll_worker_pick(worker, NULL, &pick)));
    return status;
}

int main(int count, char **arguments) {
    setvbuf(stdout, NULL, _IONBF, 0);
    static const plimsoll_str text = PLIMSOLL_STR_INIT(
        "{\"name\": \"api\", \"load_assignment\": {\"cluster_name\": \"api\", \"endpoints\": [{"
        "\"lb_endpoints\": [{\"endpoint\": {\"address\": {\"socket_address\": {\"address\": "
        "\"10.0.0.1\", \"port_value\": 80}}}}]}]}}");
    OK(plimsoll_cluster_open(text, NULL, &cluster, NULL));
    OK(plimsoll_worker_new(cluster, &worker, NULL));
    static const struct {
        const char *name;
        int (*make)(void);
    } mistakes[] = {
        {"use_after_free", use_after_free},
        {"free_twice", free_twice},
        {"take_one_for_another", take_one_for_another},
        {"configure_with_a_freed_handle", configure_with_a_freed_handle},
        {"use_from_two_threads", use_from_two_threads},
        {"use_after_fork", use_after_fork},
    };
    for (size_t index = 0; count > 1 && index < sizeof mistakes / sizeof mistakes[0]; index++) {
        if (strcmp(arguments[1], mistakes[index].name) == 0) {
            return mistakes[index].make();
        }
    }
    return 2;
}
