/*
 * An HTTP/1.1 reverse proxy on Plimsoll: what a program in C that links the library looks like.
 *
 *     proxy --cluster cluster.yaml --listen 127.0.0.1:8080 --admin 127.0.0.1:9901 --threads 2
 *
 * Who calls what, and on which thread:
 *
 *   this file            the control side: opens the clusters, lets their time go by, reloads them
 *   proxy/worker.c       one thread each, with one plimsoll_worker each: the data path
 *   proxy/exchange.c     a request: plimsoll_worker_pick ... plimsoll_worker_done
 *   proxy/route.c        before that: plimsoll_worker_hash, plimsoll_worker_pick_override
 *   proxy/load_report.c  plimsoll_worker_report, before the request is done
 *   proxy/upstream.c     connections by slot and generation; plimsoll_worker_host_data
 *   proxy/backend.c      plimsoll_cluster_set_host_data, and what its release callback is for
 *   proxy/health.c       a thread that reports with plimsoll_cluster_update
 *   proxy/hosts.c        plimsoll_cluster_for_each_host, for addresses
 *   proxy/weights.c      the same, for a page of weights, slow starts and load reports
 *   proxy/localities.c   plimsoll_cluster_for_each_locality, for a page of how traffic divides
 *   proxy/admin.c        a thread that shows plimsoll_cluster_hosts and plimsoll_cluster_stats
 *
 * The data path takes no lock and shares nothing but the library: a worker's listener, epoll,
 * connections and counters are its own.
 *
 * It is an example and not a product: no TLS, no HTTP/2, no names to resolve, no access log.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <inttypes.h>
#include <plimsoll/plimsoll.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "proxy/admin.h"
#include "proxy/backend.h"
#include "proxy/counters.h"
#include "proxy/health.h"
#include "proxy/net.h"
#include "proxy/options.h"
#include "proxy/worker.h"

#define TICK_NS 100000000L
#define CLUSTER_FILE_LIMIT (64u << 20)

struct proxy {
    struct options options;
    plimsoll_cluster *cluster;
    plimsoll_cluster *local_cluster; /* the proxies themselves; NULL if they are not known */
    plimsoll_hash_policies *route;   /* what requests are hashed from; see route.h */
    atomic_bool stopping;
    /* One set of counters for each worker, and one each for the two other threads that count. */
    struct counters counters[THREAD_LIMIT + 2];
    struct worker workers[THREAD_LIMIT];
    unsigned worker_count;
    pthread_t worker_threads[THREAD_LIMIT];
    unsigned thread_count;
    struct health health;
    pthread_t health_thread;
    bool health_started;
    struct admin admin;
    pthread_t admin_thread;
    bool admin_started;
};

static struct counters *control_counters(struct proxy *proxy)
{
    return &proxy->counters[THREAD_LIMIT];
}

static void print_text(const char *name, plimsoll_str text)
{
    fprintf(stderr, " %s=%.*s", name, (int)text.len, text.data);
}

/* An error object says what a status cannot: which value of the file is wrong, and why. */
static void print_error(const char *what, plimsoll_error *error)
{
    fprintf(stderr, "proxy: %s:", what);
    print_text("code", plimsoll_error_code(error));
    print_text("field", plimsoll_error_field(error));
    print_text("message", plimsoll_error_message(error));
    fputc('\n', stderr);
    plimsoll_error_free(error);
}

/* The whole file, to be freed; {NULL, 0} after a message. */
static plimsoll_str read_file(const char *path)
{
    plimsoll_str text = {NULL, 0};
    FILE *file = fopen(path, "rb");
    char *data = NULL;
    size_t length = 0;
    if (file != NULL && fseek(file, 0, SEEK_END) == 0) {
        long size = ftell(file);
        rewind(file);
        if (size >= 0 && (unsigned long)size <= CLUSTER_FILE_LIMIT) {
            data = malloc((size_t)size + 1);
            length = data == NULL ? 0 : fread(data, 1, (size_t)size, file);
        }
        if (data != NULL && length != (size_t)size) {
            free(data); /* a part of a file may well be a file of its own */
            data = NULL;
        }
    }
    if (data == NULL) {
        fprintf(stderr, "proxy: %s: %s\n", path, file == NULL ? strerror(errno) : "unreadable");
    } else {
        text = (plimsoll_str){data, length};
    }
    if (file != NULL) {
        fclose(file);
    }
    return text;
}

static plimsoll_cluster *open_cluster(const char *path, const plimsoll_cluster_options *options)
{
    plimsoll_str text = read_file(path);
    if (text.data == NULL) {
        return NULL;
    }
    plimsoll_cluster *cluster = NULL;
    plimsoll_error *error = NULL;
    plimsoll_status status = plimsoll_cluster_open(text, options, &cluster, &error);
    free((char *)text.data);
    if (status != PLIMSOLL_STATUS_OK) {
        print_error(path, error);
    }
    return cluster;
}

/* The cluster of hosts, and before it the one of the proxies, if there is a file of it. Nothing is
 * ever sent to a host of the latter: it is there for the other one to look at. */
static bool open_clusters(struct proxy *proxy)
{
    const struct options *given = &proxy->options;
    plimsoll_cluster_options options = PLIMSOLL_CLUSTER_OPTIONS_INIT;
    options.behavior = given->behavior;
    options.region = (plimsoll_str){given->region, strlen(given->region)};
    options.zone = (plimsoll_str){given->zone, strlen(given->zone)};
    options.now_ns = clock_ns();
    if (given->local_cluster_path != NULL) {
        proxy->local_cluster = open_cluster(given->local_cluster_path, &options);
        if (proxy->local_cluster == NULL) {
            return false;
        }
        options.local_cluster = proxy->local_cluster;
    }
    proxy->cluster = open_cluster(given->cluster_path, &options);
    if (proxy->cluster == NULL) {
        return false;
    }
    backends_attach(proxy->cluster);
    return true;
}

/* What the command line has requests hashed from, which may be nothing. The
 * names are tokens, so that they need no escapes in JSON. */
static bool open_route(struct proxy *proxy)
{
    const char *header = proxy->options.hash_header, *cookie = proxy->options.hash_cookie;
    char text[512] = "[";
    size_t length = 1;
    if (header != NULL) {
        length += (size_t)snprintf(
            text + length, sizeof text - length,
            "{\"header\": {\"header_name\": \"%s\"}, \"terminal\": true}%s", header,
            cookie == NULL ? "" : ", ");
    }
    if (cookie != NULL) {
        /* No time to live: the browser forgets it at the end of its session. */
        length += (size_t)snprintf(
            text + length, sizeof text - length,
            "{\"cookie\": {\"name\": \"%s\", \"ttl\": \"0s\", \"path\": \"/\"}}", cookie);
    }
    text[length++] = ']';
    plimsoll_error *error = NULL;
    plimsoll_status status =
        plimsoll_hash_policies_parse((plimsoll_str){text, length}, &proxy->route, &error);
    if (status != PLIMSOLL_STATUS_OK) {
        print_error("hash policies", error);
    }
    return status == PLIMSOLL_STATUS_OK;
}

/* All or nothing: a file that is refused changes nothing, and the proxy serves on. */
static void reload_cluster(struct proxy *proxy, const plimsoll_cluster *cluster, const char *path)
{
    plimsoll_str text = read_file(path);
    plimsoll_applied applied;
    plimsoll_error *error = NULL;
    if (text.data == NULL) {
        count(&control_counters(proxy)->reloads_refused);
        return;
    }
    plimsoll_status status = plimsoll_cluster_reload(cluster, text, &applied, &error);
    free((char *)text.data);
    if (status != PLIMSOLL_STATUS_OK) {
        count(&control_counters(proxy)->reloads_refused);
        print_error("reload refused", error);
        return;
    }
    count(&control_counters(proxy)->reloads);
    printf("reloaded %s, snapshot %" PRIu64 "%s\n", path, applied.version,
           applied.published ? "" : " (nothing changed)");
}

/* Reads the files again; first the one that the other looks at. */
static void reload_clusters(struct proxy *proxy)
{
    if (proxy->local_cluster != NULL) {
        reload_cluster(proxy, proxy->local_cluster, proxy->options.local_cluster_path);
    }
    reload_cluster(proxy, proxy->cluster, proxy->options.cluster_path);
    backends_attach(proxy->cluster);
    if (proxy->health_started) {
        health_wake(&proxy->health);
    }
}

/* Opens a listener, and says where: for port 0 the kernel has chosen. */
static int open_listener(const char *what, struct endpoint *endpoint, bool shared)
{
    int fd = listen_on(endpoint, shared);
    if (fd < 0) {
        fprintf(stderr, "proxy: cannot listen for %s: %s\n", what, strerror(errno));
        return -1;
    }
    endpoint_set_port(endpoint, socket_port(fd));
    return fd;
}

static bool open_workers(struct proxy *proxy)
{
    for (unsigned i = 0; i < proxy->options.threads; i++) {
        plimsoll_worker *picker = NULL;
        plimsoll_error *error = NULL;
        int listener = open_listener("clients", &proxy->options.listen, true);
        if (listener < 0) {
            return false;
        }
        if (plimsoll_worker_new(proxy->cluster, &picker, &error) != PLIMSOLL_STATUS_OK) {
            print_error("no worker", error);
            close(listener);
            return false;
        }
        proxy->worker_count++;
        if (!worker_init(&proxy->workers[i], &proxy->options, &proxy->stopping,
                         &proxy->counters[i], picker, proxy->route, listener)) {
            fprintf(stderr, "proxy: no epoll: %s\n", strerror(errno));
            return false;
        }
    }
    return true;
}

static bool open_others(struct proxy *proxy)
{
    int listener = open_listener("admin", &proxy->options.admin, false);
    proxy->admin = (struct admin){
        .cluster = proxy->cluster,
        .stopping = &proxy->stopping,
        .counters = proxy->counters,
        .counter_sets = sizeof proxy->counters / sizeof proxy->counters[0],
        .listener = listener,
    };
    proxy->health = (struct health){
        .cluster = proxy->cluster,
        .options = &proxy->options,
        .stopping = &proxy->stopping,
        .counters = &proxy->counters[THREAD_LIMIT + 1],
        .wake = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK),
    };
    return listener >= 0 && proxy->health.wake >= 0;
}

static void *run_worker(void *worker)
{
    worker_run(worker);
    return NULL;
}

static bool start_threads(struct proxy *proxy)
{
    while (proxy->thread_count < proxy->worker_count &&
           pthread_create(&proxy->worker_threads[proxy->thread_count], NULL, run_worker,
                          &proxy->workers[proxy->thread_count]) == 0) {
        proxy->thread_count++;
    }
    proxy->admin_started =
        pthread_create(&proxy->admin_thread, NULL, admin_run, &proxy->admin) == 0;
    bool checks = proxy->options.health_path != NULL;
    proxy->health_started =
        checks && pthread_create(&proxy->health_thread, NULL, health_run, &proxy->health) == 0;
    return proxy->thread_count == proxy->worker_count && proxy->admin_started &&
           proxy->health_started == checks;
}

/* Signals are taken here and nowhere else: every thread has them blocked, so that no handler runs
 * in the middle of anything. */
static void block_signals(sigset_t *signals)
{
    sigemptyset(signals);
    sigaddset(signals, SIGHUP);
    sigaddset(signals, SIGINT);
    sigaddset(signals, SIGTERM);
    pthread_sigmask(SIG_BLOCK, signals, NULL);
    signal(SIGPIPE, SIG_IGN); /* whoever read our standard output may be gone */
}

/* The local cluster first: the other one looks at it when its own turn comes. */
static void tick(const struct proxy *proxy)
{
    uint64_t now_ns = clock_ns();
    if (proxy->local_cluster != NULL) {
        plimsoll_cluster_tick(proxy->local_cluster, now_ns, NULL);
    }
    plimsoll_cluster_tick(proxy->cluster, now_ns, NULL);
}

/* The control thread. The library reads no clock: this is where its time comes from, and where
 * hosts that left are released. Time goes on before a reload, so that the slow start of new hosts
 * begins now and not at the last tick. */
static void run_control(struct proxy *proxy, const sigset_t *signals)
{
    const struct timespec pause = {.tv_sec = 0, .tv_nsec = TICK_NS};
    for (;;) {
        int signal = sigtimedwait(signals, NULL, &pause);
        if (signal == SIGINT || signal == SIGTERM) {
            return;
        }
        tick(proxy);
        if (signal == SIGHUP) {
            reload_clusters(proxy);
        }
    }
}

static void stop_threads(struct proxy *proxy)
{
    atomic_store_explicit(&proxy->stopping, true, memory_order_relaxed);
    for (unsigned i = 0; i < proxy->thread_count; i++) {
        pthread_join(proxy->worker_threads[i], NULL);
    }
    if (proxy->health_started) {
        health_wake(&proxy->health);
        pthread_join(proxy->health_thread, NULL);
    }
    if (proxy->admin_started) {
        pthread_join(proxy->admin_thread, NULL);
    }
}

static void close_all(struct proxy *proxy)
{
    for (unsigned i = 0; i < proxy->worker_count; i++) {
        worker_free(&proxy->workers[i]);
    }
    /* The last handle: what the library still held for hosts is released here. */
    plimsoll_cluster_free(proxy->cluster);
    plimsoll_cluster_free(proxy->local_cluster);
    plimsoll_hash_policies_free(proxy->route);
    if (proxy->admin.listener >= 0) {
        close(proxy->admin.listener);
    }
    if (proxy->health.wake >= 0) {
        close(proxy->health.wake);
    }
}

static void announce(const struct proxy *proxy)
{
    printf("plimsoll %s, %u threads, listening on port %u, admin on port %u\n", plimsoll_version(),
           proxy->options.threads, endpoint_port(&proxy->options.listen),
           endpoint_port(&proxy->options.admin));
}

static int run(struct proxy *proxy)
{
    sigset_t signals;
    block_signals(&signals);
    bool started = open_clusters(proxy) && open_route(proxy) && open_workers(proxy) &&
                   open_others(proxy) && start_threads(proxy);
    if (started) {
        announce(proxy);
        run_control(proxy, &signals);
    }
    stop_threads(proxy);
    close_all(proxy);
    return started ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    /* Too large for a stack, and zero to begin with. */
    static struct proxy proxy = {.admin.listener = -1, .health.wake = -1};
    setvbuf(stdout, NULL, _IOLBF, 0); /* line by line, also into a file or a pipe */
    if (plimsoll_abi_version() != PLIMSOLL_ABI_VERSION) {
        fprintf(stderr, "proxy: built with another version of the library's interface\n");
        return EXIT_FAILURE;
    }
    if (!options_parse(argc, argv, &proxy.options)) {
        return EXIT_FAILURE;
    }
    return run(&proxy);
}
