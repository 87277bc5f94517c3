/* Active health checks; see health.h. */
#define _GNU_SOURCE 1
#include "health.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "hosts.h"
#include "net.h"

#define FAILURES_TO_LOSE_HEALTH 2
#define CHECK_MS 1000
/* "HTTP/1.1 200": the rest of the response does not matter. */
#define STATUS_LINE_LENGTH 12

enum check {
    CHECK_CONNECTING,
    CHECK_READING,
    CHECK_PASSED,
    CHECK_FAILED,
    CHECK_TIMED_OUT,
    CHECK_NOT_MADE /* for want of a descriptor: says nothing of the host */
};

struct checked_host {
    char address[ADDRESS_LIMIT];
    bool known; /* it was checked at least once */
    bool healthy;
    unsigned failures; /* in a row */
    enum check check;
    int fd;
    char status_line[STATUS_LINE_LENGTH];
    size_t received;
};

void health_wake(const struct health *health)
{
    uint64_t one = 1;
    ssize_t written = write(health->wake, &one, sizeof one);
    (void)written; /* it fails only when the thread is awake anyway */
}

/* What is known of a host, or NULL. The search starts where the host probably is: as long as none
 * comes or goes, each is where it was. */
static const struct checked_host *find_host(const struct health *health, const char *address,
                                            size_t place)
{
    for (size_t i = 0; i < health->host_count; i++) {
        const struct checked_host *host = &health->hosts[(place + i) % health->host_count];
        if (strcmp(host->address, address) == 0) {
            return host;
        }
    }
    return NULL;
}

/* Takes over the cluster's hosts, and what is known of those that were there before. Without memory
 * the hosts stay as they were. */
static void refresh_hosts(struct health *health)
{
    struct host_list list;
    bool complete = host_list_read(health->cluster, &list);
    struct checked_host *hosts = complete ? calloc(list.count + 1, sizeof *hosts) : NULL;
    for (size_t i = 0; hosts != NULL && i < list.count; i++) {
        const struct checked_host *known = find_host(health, list.addresses[i], i);
        if (known != NULL) {
            hosts[i] = *known;
        } else {
            strcpy(hosts[i].address, list.addresses[i]); /* both are ADDRESS_LIMIT long */
        }
    }
    if (hosts != NULL) {
        free(health->hosts);
        health->hosts = hosts;
        health->host_count = list.count;
    }
    host_list_free(&list);
}

static void end_check(struct checked_host *host, enum check result)
{
    host->check = result;
    if (host->fd >= 0) {
        close(host->fd);
        host->fd = -1;
    }
}

static void start_check(struct checked_host *host)
{
    struct endpoint endpoint;
    host->received = 0;
    host->fd = -1;
    if (!endpoint_parse(host->address, &endpoint)) {
        host->check = CHECK_FAILED; /* as every request for it will */
        return;
    }
    int type = SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC;
    host->fd = socket(endpoint.address.ss_family, type, 0);
    host->check = host->fd < 0 ? CHECK_NOT_MADE : CHECK_CONNECTING;
    const struct sockaddr *address = (const struct sockaddr *)&endpoint.address;
    if (host->fd >= 0 && connect(host->fd, address, endpoint.length) != 0 &&
        errno != EINPROGRESS) {
        end_check(host, CHECK_FAILED);
    }
}

/* Connected, or not: a failed connect shows as a failed send. A request this short fits into an
 * empty socket buffer whole. */
static void send_check(struct checked_host *host, const char *path)
{
    char request[512];
    int length = snprintf(request, sizeof request,
                          "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n", path,
                          host->address);
    host->check = CHECK_READING;
    if (send(host->fd, request, (size_t)length, MSG_NOSIGNAL) != length) {
        end_check(host, CHECK_FAILED);
    }
}

static void read_check(struct checked_host *host)
{
    size_t room = sizeof host->status_line - host->received;
    ssize_t count = recv(host->fd, host->status_line + host->received, room, 0);
    if (count < 0 && errno == EAGAIN) {
        return;
    }
    if (count <= 0) {
        end_check(host, CHECK_FAILED);
        return;
    }
    host->received += (size_t)count;
    if (host->received == sizeof host->status_line) {
        bool passed = memcmp(host->status_line, "HTTP/1.", 7) == 0 && host->status_line[9] == '2';
        end_check(host, passed ? CHECK_PASSED : CHECK_FAILED);
    }
}

/* Lets the checks go on whose sockets are ready. */
static void advance(struct health *health, const struct pollfd *polled)
{
    for (size_t i = 0; i < health->host_count; i++) {
        struct checked_host *host = &health->hosts[i];
        if (host->fd < 0 || polled[i].revents == 0) {
            continue;
        }
        if (host->check == CHECK_CONNECTING) {
            send_check(host, health->options->health_path);
        } else {
            read_check(host);
        }
    }
}

/* Writes what each check waits for; returns how many still do. */
static size_t fill_polled(const struct health *health, struct pollfd *polled)
{
    size_t waiting = 0;
    for (size_t i = 0; i < health->host_count; i++) {
        const struct checked_host *host = &health->hosts[i];
        short events = host->check == CHECK_CONNECTING ? POLLOUT : POLLIN;
        polled[i] = (struct pollfd){.fd = host->fd, .events = events}; /* poll skips fd -1 */
        waiting += host->fd >= 0;
    }
    return waiting;
}

/* Checks all hosts at the same time, for no longer than a check may take. `polled` has room for one
 * entry for each host. */
static void check_hosts(struct health *health, struct pollfd *polled)
{
    int64_t deadline = clock_ms() + CHECK_MS;
    for (size_t i = 0; i < health->host_count; i++) {
        start_check(&health->hosts[i]);
    }
    while (fill_polled(health, polled) > 0) {
        int64_t left = deadline - clock_ms();
        if (left <= 0 || atomic_load_explicit(health->stopping, memory_order_relaxed)) {
            break;
        }
        /* In short waits, so that a stop does not have to wait for a host. */
        if (poll(polled, (nfds_t)health->host_count, left < 100 ? (int)left : 100) > 0) {
            advance(health, polled);
        }
    }
    for (size_t i = 0; i < health->host_count; i++) {
        if (health->hosts[i].fd >= 0) {
            end_check(&health->hosts[i], CHECK_TIMED_OUT);
        }
    }
}

/* What the last check means. The first one decides at once, as in Envoy: a host that was never
 * checked has no health to lose. */
static void judge(struct checked_host *host, struct counters *counters)
{
    bool passed = host->check == CHECK_PASSED;
    count(passed ? &counters->health_checks_passed : &counters->health_checks_failed);
    host->failures = passed ? 0 : host->failures + 1;
    if (passed || !host->known || host->failures >= FAILURES_TO_LOSE_HEALTH) {
        host->healthy = passed;
    }
    host->known = true;
}

static plimsoll_host_change report_of(const struct checked_host *host)
{
    plimsoll_host_change change = PLIMSOLL_HOST_CHANGE_INIT;
    change.kind = PLIMSOLL_CHANGE_HEALTH;
    change.address = (plimsoll_str){host->address, strlen(host->address)};
    if (host->healthy) {
        change.event = PLIMSOLL_HEALTH_PASS;
    } else {
        change.event = host->check == CHECK_TIMED_OUT ? PLIMSOLL_HEALTH_TIMED_OUT
                                                      : PLIMSOLL_HEALTH_FAIL;
    }
    return change;
}

/* `changes` has room for one of each host. */
static void report(struct health *health, plimsoll_host_change *changes)
{
    size_t checked = 0;
    for (size_t i = 0; i < health->host_count; i++) {
        if (health->hosts[i].check != CHECK_NOT_MADE) {
            judge(&health->hosts[i], health->counters);
            changes[checked++] = report_of(&health->hosts[i]);
        }
    }
    if (plimsoll_cluster_update(health->cluster, changes, checked, NULL, NULL) !=
        PLIMSOLL_STATUS_OK) {
        count(&health->counters->health_reports_refused);
    }
}

/* Without memory there is no round: a host that was not checked is not a host that failed. */
static void run_round(struct health *health)
{
    refresh_hosts(health);
    struct pollfd *polled = calloc(health->host_count + 1, sizeof *polled);
    plimsoll_host_change *changes = calloc(health->host_count + 1, sizeof *changes);
    if (polled != NULL && changes != NULL) {
        check_hosts(health, polled);
        /* A stop cuts the checks short. */
        if (!atomic_load_explicit(health->stopping, memory_order_relaxed)) {
            report(health, changes);
        }
    }
    free(polled);
    free(changes);
}

/* Until the next round is due, or somebody calls health_wake(). */
static void rest(const struct health *health, int64_t until_ms)
{
    int64_t left = until_ms - clock_ms();
    struct pollfd polled = {.fd = health->wake, .events = POLLIN};
    if (poll(&polled, 1, left < 0 ? 0 : (int)left) > 0) {
        uint64_t calls;
        ssize_t taken = read(health->wake, &calls, sizeof calls);
        (void)taken; /* how many calls there were does not matter */
    }
}

void *health_run(void *argument)
{
    struct health *health = argument;
    while (!atomic_load_explicit(health->stopping, memory_order_relaxed)) {
        int64_t next_ms = clock_ms() + health->options->health_interval_ms;
        run_round(health);
        rest(health, next_ms);
    }
    free(health->hosts);
    return NULL;
}
