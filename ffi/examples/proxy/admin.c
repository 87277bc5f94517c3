/* The admin port; see admin.h. */
#define _GNU_SOURCE 1
#include "admin.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "http.h"
#include "localities.h"
#include "net.h"
#include "weights.h"

#define CONNECTION_MS 1000
#define COUNTERS_CAPACITY 4096
/* How often a text of the library may outgrow the buffer that was just made for it. */
#define ATTEMPTS 8
/* After a connection could not be accepted: it waits, and would be reported at once again. */
#define ACCEPT_PAUSE_MS 100

struct page {
    unsigned status;
    char *text; /* to be freed; NULL: the reason of the status */
};

/* Waits for `events` on a socket; false if they do not come before the deadline. */
static bool wait_for(int fd, short events, int64_t deadline_ms)
{
    struct pollfd polled = {.fd = fd, .events = events};
    int64_t left = deadline_ms - clock_ms();
    return left > 0 && poll(&polled, 1, (int)left) > 0;
}

/* Reads into `in` until there is a whole head; false if there will be none. */
static bool receive_head(int fd, struct buffer *in, struct http_scan *scan, int64_t deadline_ms)
{
    struct stream stream = {.fd = fd};
    enum http_scan_result result = HTTP_SCAN_MORE;
    while (result == HTTP_SCAN_MORE && !stream.ended && !stream.read_failed) {
        if (!wait_for(fd, POLLIN, deadline_ms)) {
            return false;
        }
        stream.readable = true;
        stream_fill(&stream, in);
        result = http_scan(scan, buffer_data(in), buffer_used(in));
    }
    return result == HTTP_SCAN_DONE;
}

static void send_all(int fd, const char *data, size_t length, int64_t deadline_ms)
{
    while (length > 0 && wait_for(fd, POLLOUT, deadline_ms)) {
        ssize_t count = send(fd, data, length, MSG_NOSIGNAL);
        if (count < 0 && errno != EAGAIN && errno != EINTR) {
            return;
        }
        size_t sent = count > 0 ? (size_t)count : 0;
        data += sent;
        length -= sent;
    }
}

/* plimsoll_cluster_hosts or plimsoll_cluster_stats. */
typedef plimsoll_status cluster_text_function(const plimsoll_cluster *cluster, char *buffer,
                                              size_t capacity, size_t *needed);

/* The whole text, NUL-terminated, to be freed; NULL if the library or the memory fails. */
static char *cluster_text(const plimsoll_cluster *cluster, cluster_text_function *function)
{
    size_t capacity = 4096;
    for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
        size_t needed = 0;
        char *text = malloc(capacity);
        if (text == NULL) {
            return NULL;
        }
        plimsoll_status status = function(cluster, text, capacity, &needed);
        if (status == PLIMSOLL_STATUS_OK) {
            return text;
        }
        free(text);
        if (status != PLIMSOLL_STATUS_BUFFER_TOO_SMALL) {
            return NULL;
        }
        /* Hosts may be added between this call and the next. */
        capacity = needed + needed / 4;
    }
    return NULL;
}

/* The library's counters, then ours. */
static char *stats_text(const struct admin *admin)
{
    char *stats = cluster_text(admin->cluster, plimsoll_cluster_stats);
    if (stats == NULL) {
        return NULL;
    }
    size_t length = strlen(stats);
    char *text = realloc(stats, length + COUNTERS_CAPACITY);
    if (text == NULL) {
        free(stats);
        return NULL;
    }
    counters_print(admin->counters, admin->counter_sets, text + length, COUNTERS_CAPACITY);
    return text;
}

static struct page text_page(char *text)
{
    return (struct page){text == NULL ? 503 : 200, text};
}

static struct page route(const struct admin *admin, const char *data, const struct http_head *head)
{
    if (!head->is_head && !http_text_is(data, head->method, "get")) {
        return (struct page){405, NULL};
    }
    if (http_text_is(data, head->target, "/stats")) {
        return text_page(stats_text(admin));
    }
    if (http_text_is(data, head->target, "/hosts")) {
        return text_page(cluster_text(admin->cluster, plimsoll_cluster_hosts));
    }
    if (http_text_is(data, head->target, "/weights")) {
        return text_page(weights_text(admin->cluster));
    }
    if (http_text_is(data, head->target, "/localities")) {
        return text_page(localities_text(admin->cluster));
    }
    if (http_text_is(data, head->target, "/healthz")) {
        return (struct page){200, NULL};
    }
    return (struct page){404, NULL};
}

static void send_page(int fd, const struct page *page, bool with_body, int64_t deadline_ms)
{
    const char *text = page->text != NULL ? page->text : http_reason(page->status);
    const char *end = page->text != NULL ? "" : "\n";
    char head[256];
    int length = snprintf(head, sizeof head,
                          "HTTP/1.1 %u %s\r\nContent-Type: text/plain; charset=utf-8\r\n"
                          "Content-Length: %zu\r\nConnection: close\r\n\r\n",
                          page->status, http_reason(page->status), strlen(text) + strlen(end));
    send_all(fd, head, (size_t)length, deadline_ms);
    if (with_body) {
        send_all(fd, text, strlen(text), deadline_ms);
        send_all(fd, end, strlen(end), deadline_ms);
    }
}

static void serve(const struct admin *admin, int fd)
{
    int64_t deadline_ms = clock_ms() + CONNECTION_MS;
    struct buffer in = {.start = 0, .end = 0};
    struct http_scan scan = {0, 0};
    struct http_head head;
    if (!receive_head(fd, &in, &scan, deadline_ms)) {
        return;
    }
    struct http_refusal refusal = http_parse_request(buffer_data(&in), scan.next, &head);
    struct page page = {refusal.status, NULL};
    if (refusal.status == 0) {
        page = route(admin, buffer_data(&in), &head);
    }
    send_page(fd, &page, !head.is_head, deadline_ms);
    free(page.text);
}

void *admin_run(void *argument)
{
    const struct admin *admin = argument;
    while (!atomic_load_explicit(admin->stopping, memory_order_relaxed)) {
        if (!wait_for(admin->listener, POLLIN, clock_ms() + 100)) {
            continue;
        }
        int fd = accept4(admin->listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
        if (fd >= 0) {
            serve(admin, fd);
            close(fd);
        } else if (errno != EAGAIN) {
            poll(NULL, 0, ACCEPT_PAUSE_MS);
        }
    }
    return NULL;
}
