/*
 * A load driver that counts who answered: one thread, one epoll, requests without a body.
 *
 *     load --target 127.0.0.1:8080 [--connections 8] [--requests N] [--seconds S]
 *          [--slice-ms 500] [--path /]
 *
 * Each connection sends its next request when it has the answer to the last. It stops after N
 * requests or S seconds, whichever comes first, and waits for what is under way; both are bounded
 * (10 000 000 requests, 600 seconds). Lines for programs come out:
 *
 *     slice ms=500 origin=a1 count=123        answers by "x-origin", of the slice that starts then
 *     origin name=a1 count=456                the same over all slices; "-" without that header
 *     status code=200 count=456
 *     failed reason=connect count=1           no answer: connect, closed, timeout, malformed
 *     latency p50_us=210 p90_us=300 p99_us=410 max_us=2002
 *     total requests=456 failed=1 seconds=1.500 per_second=304
 */
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTION_LIMIT 1024
#define ORIGIN_LIMIT 32
#define SLICE_LIMIT 1200
#define STATUS_LIMIT 600
#define RESPONSE_CAPACITY 16384
#define ANSWER_TIMEOUT_US 5000000
#define RECONNECT_US 10000
/* Latencies in steps of a sixteenth: 16 steps for each power of two. */
#define STEPS 16
#define LATENCY_BUCKETS (STEPS * 40)

enum failure { FAILED_CONNECT, FAILED_CLOSED, FAILED_TIMEOUT, FAILED_MALFORMED, FAILURES };

static const char *const failure_names[] = {"connect", "closed", "timeout", "malformed"};

struct connection {
    int fd; /* -1: to be opened again at `since_us` + RECONNECT_US */
    bool waiting; /* a request was sent and is not answered */
    bool connected;
    int64_t since_us; /* when the request was sent, or the connection failed */
    size_t skip;      /* body bytes still to come, plus one; 0 while the head is read */
    int origin;
    unsigned status;
    bool close;
    size_t received;
    char response[RESPONSE_CAPACITY + 1];
};

static struct {
    struct sockaddr_in target;
    unsigned connection_count;
    uint64_t request_limit;
    int64_t run_us;
    int64_t slice_us;
    const char *path;
    char request[1024];
    size_t request_length;
    int epoll;
    int64_t start_us;
    uint64_t sent;
    uint64_t answered;
    unsigned under_way;
    char origins[ORIGIN_LIMIT][32];
    int origin_count;
    uint64_t slices[SLICE_LIMIT][ORIGIN_LIMIT];
    uint64_t statuses[STATUS_LIMIT];
    uint64_t failures[FAILURES];
    uint64_t latencies[LATENCY_BUCKETS];
    int64_t slowest_us;
    struct connection connections[CONNECTION_LIMIT];
} load = {
    .connection_count = 8,
    .request_limit = 10000000,
    .run_us = 600 * INT64_C(1000000),
    .slice_us = 500000,
    .path = "/",
};

static int64_t now_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (int64_t)now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

static bool is_over(void)
{
    return load.sent >= load.request_limit || now_us() - load.start_us >= load.run_us;
}

static size_t bucket_of(int64_t us)
{
    uint64_t value = us < STEPS ? STEPS : (uint64_t)us;
    unsigned power = 63u - (unsigned)__builtin_clzll(value);
    size_t bucket = (power - 4) * STEPS + (size_t)(value >> (power - 4)) - STEPS;
    return bucket < LATENCY_BUCKETS ? bucket : LATENCY_BUCKETS - 1;
}

/* The upper end of a bucket. */
static int64_t bucket_us(size_t bucket)
{
    return (int64_t)(bucket % STEPS + STEPS + 1) << (bucket / STEPS);
}

static void drop(struct connection *connection)
{
    if (connection->fd >= 0) {
        close(connection->fd);
    }
    load.under_way -= connection->waiting;
    connection->fd = -1;
    connection->waiting = false;
    connection->since_us = now_us();
}

static void fail(struct connection *connection, enum failure why)
{
    load.failures[why]++;
    drop(connection);
}

static void open_connection(struct connection *connection)
{
    int one = 1;
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    *connection = (struct connection){.fd = fd, .since_us = now_us()};
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                .data.ptr = connection};
    const struct sockaddr *target = (const struct sockaddr *)&load.target;
    if (fd < 0 || (connect(fd, target, sizeof load.target) != 0 && errno != EINPROGRESS) ||
        epoll_ctl(load.epoll, EPOLL_CTL_ADD, fd, &event) != 0) {
        fail(connection, FAILED_CONNECT);
    }
}

/* A request is shorter than any socket buffer, and there is one at a time: it never gets stuck. */
static void send_request(struct connection *connection)
{
    if (connection->fd < 0 || connection->waiting || is_over()) {
        return;
    }
    ssize_t count = send(connection->fd, load.request, load.request_length, MSG_NOSIGNAL);
    if (count != (ssize_t)load.request_length) {
        /* Closed while it was idle: nothing was asked, so nothing failed. */
        drop(connection);
        return;
    }
    load.sent++;
    load.under_way++;
    connection->waiting = true;
    connection->since_us = now_us();
}

static int origin_index(const char *name, size_t length)
{
    for (int i = 0; i < load.origin_count; i++) {
        if (strlen(load.origins[i]) == length && memcmp(load.origins[i], name, length) == 0) {
            return i;
        }
    }
    if (load.origin_count == ORIGIN_LIMIT || length >= sizeof load.origins[0]) {
        return 0;
    }
    memcpy(load.origins[load.origin_count], name, length);
    return load.origin_count++;
}

/* The value of a header; NULL without it. `name` is "\r\nname:", the head ends in a NUL. */
static const char *field(const char *head, const char *name)
{
    const char *found = strcasestr(head, name);
    return found == NULL ? NULL : found + strlen(name) + strspn(found + strlen(name), " ");
}

static void end_answer(struct connection *connection)
{
    int64_t now = now_us();
    int64_t latency = now - connection->since_us;
    int64_t slice = (now - load.start_us) / load.slice_us;
    load.slices[slice < SLICE_LIMIT ? slice : SLICE_LIMIT - 1][connection->origin]++;
    load.statuses[connection->status]++;
    load.latencies[bucket_of(latency)]++;
    load.slowest_us = latency > load.slowest_us ? latency : load.slowest_us;
    load.answered++;
    load.under_way--;
    connection->waiting = false;
    if (connection->close) {
        drop(connection);
    } else {
        send_request(connection);
    }
}

/* Reads the answer's head, `end` being its empty line; false if it is none with a length. */
static bool read_head(struct connection *connection, char *end)
{
    end[2] = '\0'; /* keeps the last line's CRLF, drops the empty line */
    const char *head = connection->response;
    const char *length = field(head, "\r\ncontent-length:");
    const char *name = field(head, "\r\nx-origin:");
    connection->status = strncmp(head, "HTTP/1.1 ", 9) == 0 ? (unsigned)atoi(head + 9) : 0;
    connection->close = strcasestr(head, "\r\nconnection: close\r\n") != NULL;
    connection->origin =
        name == NULL ? origin_index("-", 1) : origin_index(name, strcspn(name, "\r"));
    connection->skip = length == NULL ? 0 : strtoul(length, NULL, 10);
    return connection->status > 0 && connection->status < STATUS_LIMIT && length != NULL;
}

/* Takes in what was received; false if it is not an answer. */
static bool read_answer(struct connection *connection)
{
    if (connection->skip == 0) {
        char *end = memmem(connection->response, connection->received, "\r\n\r\n", 4);
        if (end == NULL) {
            return connection->received < RESPONSE_CAPACITY;
        }
        size_t head = (size_t)(end - connection->response) + 4;
        if (!read_head(connection, end)) {
            return false;
        }
        connection->received -= head;
        connection->skip += 1;
    } else if (connection->received == 0) {
        return true;
    }
    size_t left = connection->skip - 1;
    size_t count = connection->received < left ? connection->received : left;
    connection->received -= count;
    connection->skip -= count;
    if (connection->skip == 1) {
        connection->skip = 0;
        bool extra = connection->received > 0; /* of which request would that be the answer? */
        end_answer(connection);
        return !extra;
    }
    return true;
}

/* Reads all there is: with edge-triggered epoll nobody will say it again. */
static void receive(struct connection *connection)
{
    while (connection->fd >= 0) {
        size_t room = RESPONSE_CAPACITY - connection->received;
        ssize_t count = recv(connection->fd, connection->response + connection->received, room, 0);
        if (count < 0 && errno == EAGAIN) {
            return;
        }
        if (count <= 0) {
            if (connection->waiting) {
                fail(connection, connection->connected ? FAILED_CLOSED : FAILED_CONNECT);
            } else {
                drop(connection);
            }
            return;
        }
        connection->received += (size_t)count;
        if (!connection->waiting || !read_answer(connection)) {
            fail(connection, FAILED_MALFORMED);
        }
    }
}

static void handle(struct connection *connection, uint32_t events)
{
    if (connection->fd < 0) {
        return;
    }
    if (!connection->connected) {
        int error = 0;
        socklen_t length = sizeof error;
        getsockopt(connection->fd, SOL_SOCKET, SO_ERROR, &error, &length);
        if (error != 0) {
            fail(connection, FAILED_CONNECT);
            return;
        }
        if ((events & EPOLLOUT) == 0) {
            return;
        }
        connection->connected = true;
        send_request(connection);
    }
    receive(connection);
}

/* Gives up on answers that do not come, and connects again where that is due. */
static void sweep(void)
{
    int64_t now = now_us();
    for (unsigned i = 0; i < load.connection_count; i++) {
        struct connection *connection = &load.connections[i];
        int64_t age = now - connection->since_us;
        if (connection->waiting && age > ANSWER_TIMEOUT_US) {
            fail(connection, FAILED_TIMEOUT);
        } else if (connection->fd < 0 && age > RECONNECT_US && !is_over()) {
            open_connection(connection);
        }
    }
}

static void run(void)
{
    struct epoll_event events[256];
    int64_t swept_us = 0;
    load.epoll = epoll_create1(EPOLL_CLOEXEC);
    load.start_us = now_us();
    for (unsigned i = 0; i < load.connection_count; i++) {
        open_connection(&load.connections[i]);
    }
    while (!is_over() || load.under_way > 0) {
        int count = epoll_wait(load.epoll, events, 256, 5);
        for (int i = 0; i < count; i++) {
            handle(events[i].data.ptr, events[i].events);
        }
        if (now_us() - swept_us > RECONNECT_US) {
            swept_us = now_us();
            sweep();
        }
    }
}

static uint64_t print_origin(int origin)
{
    uint64_t total = 0;
    for (int slice = 0; slice < SLICE_LIMIT; slice++) {
        uint64_t count = load.slices[slice][origin];
        total += count;
        if (count > 0) {
            printf("slice ms=%lld origin=%s count=%llu\n",
                   (long long)(slice * load.slice_us / 1000), load.origins[origin],
                   (unsigned long long)count);
        }
    }
    return total;
}

static int64_t percentile(unsigned percent)
{
    uint64_t rank = (load.answered * percent + 99) / 100;
    uint64_t seen = 0;
    for (size_t bucket = 0; bucket < LATENCY_BUCKETS; bucket++) {
        seen += load.latencies[bucket];
        if (seen >= rank) {
            int64_t upper = bucket_us(bucket);
            return upper < load.slowest_us ? upper : load.slowest_us;
        }
    }
    return load.slowest_us;
}

static void print_results(double seconds)
{
    uint64_t totals[ORIGIN_LIMIT];
    uint64_t failed = 0;
    for (int i = 0; i < load.origin_count; i++) {
        totals[i] = print_origin(i);
    }
    for (int i = 0; i < load.origin_count; i++) {
        printf("origin name=%s count=%llu\n", load.origins[i], (unsigned long long)totals[i]);
    }
    for (unsigned i = 0; i < STATUS_LIMIT; i++) {
        if (load.statuses[i] > 0) {
            printf("status code=%u count=%llu\n", i, (unsigned long long)load.statuses[i]);
        }
    }
    for (int i = 0; i < FAILURES; i++) {
        failed += load.failures[i];
        if (load.failures[i] > 0) {
            printf("failed reason=%s count=%llu\n", failure_names[i],
                   (unsigned long long)load.failures[i]);
        }
    }
    printf("latency p50_us=%lld p90_us=%lld p99_us=%lld max_us=%lld\n", (long long)percentile(50),
           (long long)percentile(90), (long long)percentile(99), (long long)load.slowest_us);
    printf("total requests=%llu failed=%llu seconds=%.3f per_second=%.0f\n",
           (unsigned long long)load.answered, (unsigned long long)failed, seconds,
           (double)load.answered / seconds);
}

static bool set_target(const char *text)
{
    char host[64];
    unsigned port;
    if (sscanf(text, "%63[^:]:%u", host, &port) != 2 || port == 0 || port > UINT16_MAX) {
        return false;
    }
    load.target = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    return inet_pton(AF_INET, host, &load.target.sin_addr) == 1;
}

static bool set(const char *name, const char *value)
{
    double number = strtod(value, NULL);
    bool sane = number > 0 && number <= 1e7;
    if (strcmp(name, "--target") == 0) {
        return set_target(value);
    }
    if (strcmp(name, "--path") == 0) {
        load.path = value;
        return value[0] == '/' && strlen(value) < 512;
    }
    if (strcmp(name, "--connections") == 0) {
        load.connection_count = sane ? (unsigned)number : 0;
        return sane && number <= CONNECTION_LIMIT;
    }
    if (strcmp(name, "--requests") == 0) {
        load.request_limit = sane ? (uint64_t)number : 0;
        return sane;
    }
    if (strcmp(name, "--seconds") == 0) {
        load.run_us = sane ? (int64_t)(number * 1e6) : 0;
        return sane && number <= 600;
    }
    if (strcmp(name, "--slice-ms") == 0) {
        load.slice_us = sane ? (int64_t)(number * 1e3) : 0;
        return sane && number >= 1;
    }
    return false;
}

int main(int argc, char **argv)
{
    bool valid = argc % 2 == 1;
    for (int i = 1; valid && i + 1 < argc; i += 2) {
        valid = set(argv[i], argv[i + 1]);
    }
    if (!valid || load.target.sin_port == 0) {
        fprintf(stderr, "usage: load --target ADDRESS:PORT [--connections N] [--requests N] "
                        "[--seconds S] [--slice-ms N] [--path PATH]\n");
        return EXIT_FAILURE;
    }
    int length = snprintf(load.request, sizeof load.request,
                          "GET %s HTTP/1.1\r\nHost: load\r\n\r\n", load.path);
    load.request_length = (size_t)length;
    run();
    print_results((double)(now_us() - load.start_us) / 1e6);
    return EXIT_SUCCESS;
}
