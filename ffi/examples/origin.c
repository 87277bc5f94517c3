/*
 * A tiny origin server, to have something behind the proxy: one thread, one epoll.
 *
 *     origin --listen 127.0.0.1:18081 --name a1 [--delay-ms N] [--capacity RPS]
 *
 * Every request is answered with 200, the header "x-origin: NAME" and a line that says the name and
 * how long the request's body was. Bodies may have a Content-Length or be chunked. --delay-ms is
 * the time between a request and its answer. With --capacity each answer reports the load: how many
 * requests per second came lately, and what part of the capacity that is. It trusts its peer to be
 * the proxy: what is not well-formed ends the connection.
 */
#define _GNU_SOURCE 1
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define INPUT_CAPACITY 65536
#define OUTPUT_CAPACITY 4096
#define ANSWER_LIMIT 512
/* Requests are counted over the last half second. */
#define SLICE_MS 50
#define SLICES 10

enum phase { HEAD, LENGTH_BODY, CHUNK_SIZE, CHUNK_DATA, CHUNK_END, TRAILER, WAITING };

struct connection {
    int fd;
    enum phase phase;
    unsigned long long remaining; /* of the body, or of the chunk */
    unsigned long long body;      /* received so far */
    bool is_head;
    bool close;
    long long answer_at_ms;
    struct connection *next;
    struct connection *previous;
    size_t input;
    size_t output;
    char in[INPUT_CAPACITY];
    char out[OUTPUT_CAPACITY];
};

static struct {
    const char *name;
    long delay_ms;
    double capacity;              /* requests per second; 0: the load is not reported */
    unsigned long counts[SLICES]; /* of requests, by slice of time */
    long long slice;              /* the present one */
    int epoll;
    struct connection *connections;
} origin = {.name = "origin"};

static long long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void end_connection(struct connection *connection)
{
    close(connection->fd);
    if (connection->next != NULL) {
        connection->next->previous = connection->previous;
    }
    if (connection->previous != NULL) {
        connection->previous->next = connection->next;
    } else {
        origin.connections = connection->next;
    }
    free(connection);
}

static void take(struct connection *connection, size_t count)
{
    connection->input -= count;
    memmove(connection->in, connection->in + count, connection->input);
}

/* The line at the front without its CRLF, NUL-terminated in place, and its length with it; 0 if
 * there is no whole line yet. */
static size_t next_line(struct connection *connection, char **line)
{
    char *end = memmem(connection->in, connection->input, "\r\n", 2);
    if (end == NULL) {
        return 0;
    }
    *end = '\0';
    *line = connection->in;
    return (size_t)(end - connection->in) + 2;
}

static void put(struct connection *connection, const char *text)
{
    size_t length = strlen(text);
    if (connection->output + length <= OUTPUT_CAPACITY) {
        memcpy(connection->out + connection->output, text, length);
        connection->output += length;
    }
}

static void count_request(void)
{
    long long slice = now_ms() / SLICE_MS;
    for (long long i = origin.slice + 1; i <= slice && i <= origin.slice + SLICES; i++) {
        origin.counts[i % SLICES] = 0;
    }
    origin.slice = slice;
    origin.counts[slice % SLICES]++;
}

/* The header that reports the load; "" if it is not reported. */
static const char *load_report(void)
{
    static char text[128];
    unsigned long count = 0;
    for (int i = 0; i < SLICES; i++) {
        count += origin.counts[i];
    }
    double rate = (double)count * 1000 / (SLICES * SLICE_MS);
    if (origin.capacity > 0) {
        snprintf(text, sizeof text,
                 "endpoint-load-metrics: TEXT rps_fractional=%.0f,application_utilization=%.9f,"
                 "eps=0\r\n",
                 rate, rate / origin.capacity);
    }
    return text;
}

static void answer(struct connection *connection)
{
    char body[128];
    char text[ANSWER_LIMIT];
    int length =
        snprintf(body, sizeof body, "%s received %llu bytes\n", origin.name, connection->body);
    snprintf(text, sizeof text,
             "HTTP/1.1 200 OK\r\nx-origin: %s\r\nContent-Type: text/plain\r\n"
             "Content-Length: %d\r\n%s%s\r\n%s",
             origin.name, length, load_report(), connection->close ? "Connection: close\r\n" : "",
             connection->is_head ? "" : body);
    put(connection, text);
    connection->phase = HEAD;
    connection->body = 0;
}

static void end_request(struct connection *connection)
{
    count_request();
    connection->phase = WAITING;
    connection->answer_at_ms = origin.delay_ms > 0 ? now_ms() + origin.delay_ms : 0;
}

/* One header line of a request. */
static void read_field(struct connection *connection, const char *line)
{
    if (strncasecmp(line, "content-length:", 15) == 0) {
        connection->remaining = strtoull(line + 15, NULL, 10);
        connection->phase = connection->remaining > 0 ? LENGTH_BODY : WAITING;
    } else if (strcasecmp(line, "transfer-encoding: chunked") == 0) {
        connection->phase = CHUNK_SIZE;
    } else if (strcasecmp(line, "connection: close") == 0) {
        connection->close = true;
    } else if (strcasecmp(line, "expect: 100-continue") == 0) {
        put(connection, "HTTP/1.1 100 Continue\r\n\r\n");
    }
}

/* True once a whole head was read. */
static bool read_head(struct connection *connection)
{
    char *end = memmem(connection->in, connection->input, "\r\n\r\n", 4);
    if (end == NULL) {
        return false;
    }
    size_t length = (size_t)(end - connection->in) + 4;
    end[2] = '\0';
    connection->is_head = strncmp(connection->in, "HEAD ", 5) == 0;
    connection->phase = WAITING;
    char *rest = connection->in;
    for (char *line; (line = strsep(&rest, "\n")) != NULL;) {
        line[strcspn(line, "\r")] = '\0';
        read_field(connection, line);
    }
    take(connection, length);
    if (connection->phase == WAITING) {
        end_request(connection);
    }
    return true;
}

/* Payload of the body or of a chunk; true when it is all there. */
static bool read_payload(struct connection *connection)
{
    unsigned long long count = connection->input;
    count = count < connection->remaining ? count : connection->remaining;
    take(connection, (size_t)count);
    connection->body += count;
    connection->remaining -= count;
    return connection->remaining == 0;
}

/* A line of chunked framing: a size, the end of a chunk, or a trailer. */
static bool read_framing(struct connection *connection)
{
    char *line;
    size_t length = next_line(connection, &line);
    if (length == 0) {
        return false;
    }
    switch (connection->phase) {
    case CHUNK_SIZE:
        connection->remaining = strtoull(line, NULL, 16);
        connection->phase = connection->remaining > 0 ? CHUNK_DATA : TRAILER;
        break;
    case CHUNK_END:
        connection->phase = CHUNK_SIZE;
        break;
    default:
        if (length == 2) {
            end_request(connection);
        }
        break;
    }
    take(connection, length);
    return true;
}

/* Reads one thing; false if it is not there yet. */
static bool advance(struct connection *connection)
{
    switch (connection->phase) {
    case HEAD:
        return read_head(connection);
    case LENGTH_BODY:
        if (read_payload(connection)) {
            end_request(connection);
            return true;
        }
        return false;
    case CHUNK_DATA:
        if (read_payload(connection)) {
            connection->phase = CHUNK_END;
            return true;
        }
        return false;
    case CHUNK_SIZE:
    case CHUNK_END:
    case TRAILER:
        return read_framing(connection);
    case WAITING:
        break;
    }
    if (connection->answer_at_ms > now_ms() ||
        connection->output + ANSWER_LIMIT > OUTPUT_CAPACITY) {
        return false;
    }
    answer(connection);
    return true;
}

/* Writes what it can; false if the connection is over. */
static bool flush(struct connection *connection)
{
    while (connection->output > 0) {
        ssize_t count = send(connection->fd, connection->out, connection->output, MSG_NOSIGNAL);
        if (count < 0) {
            return errno == EAGAIN || errno == EINTR;
        }
        connection->output -= (size_t)count;
        memmove(connection->out, connection->out + count, connection->output);
    }
    return !connection->close || connection->phase != HEAD;
}

static void run(struct connection *connection)
{
    for (;;) {
        while (advance(connection)) {
        }
        if (!flush(connection)) {
            break;
        }
        size_t room = INPUT_CAPACITY - connection->input;
        if (room == 0 && connection->phase != WAITING) {
            break; /* a line longer than all that fits */
        }
        ssize_t count =
            room == 0 ? -1 : recv(connection->fd, connection->in + connection->input, room, 0);
        if (room == 0 || (count < 0 && errno == EAGAIN)) {
            return;
        }
        if (count <= 0) {
            break;
        }
        connection->input += (size_t)count;
    }
    end_connection(connection);
}

static void accept_connection(int listener)
{
    int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    struct connection *connection = fd < 0 ? NULL : calloc(1, sizeof *connection);
    if (connection == NULL) {
        close(fd);
        return;
    }
    int one = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    connection->fd = fd;
    connection->next = origin.connections;
    if (origin.connections != NULL) {
        origin.connections->previous = connection;
    }
    origin.connections = connection;
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLET, .data.ptr = connection};
    epoll_ctl(origin.epoll, EPOLL_CTL_ADD, fd, &event);
}

/* Delayed answers that are due; returns how long the next one takes. */
static int run_delayed(void)
{
    if (origin.delay_ms == 0) {
        return -1;
    }
    struct connection *next;
    for (struct connection *at = origin.connections; at != NULL; at = next) {
        next = at->next;
        if (at->phase == WAITING && at->answer_at_ms <= now_ms()) {
            run(at);
        }
    }
    return 1; /* a millisecond: the delays are longer, and nothing else goes on here */
}

static int listen_at(const char *address)
{
    char host[64];
    unsigned port;
    int one = 1;
    struct sockaddr_in at = {.sin_family = AF_INET};
    if (sscanf(address, "%63[^:]:%u", host, &port) != 2 || port > UINT16_MAX ||
        inet_pton(AF_INET, host, &at.sin_addr) != 1) {
        return -1;
    }
    at.sin_port = htons((uint16_t)port);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one);
    if (bind(fd, (struct sockaddr *)&at, sizeof at) != 0 || listen(fd, 1024) != 0) {
        return -1;
    }
    socklen_t length = sizeof at;
    getsockname(fd, (struct sockaddr *)&at, &length);
    printf("%s listening on port %u\n", origin.name, ntohs(at.sin_port));
    fflush(stdout);
    return fd;
}

static void serve(int listener)
{
    struct epoll_event events[64];
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = NULL};
    origin.epoll = epoll_create1(EPOLL_CLOEXEC);
    epoll_ctl(origin.epoll, EPOLL_CTL_ADD, listener, &event);
    for (;;) {
        int count = epoll_wait(origin.epoll, events, 64, run_delayed());
        for (int i = 0; i < count; i++) {
            if (events[i].data.ptr == NULL) {
                accept_connection(listener);
            } else {
                run(events[i].data.ptr); /* one event per connection and batch: no stale ones */
            }
        }
    }
}

int main(int argc, char **argv)
{
    const char *address = "127.0.0.1:0";
    for (int i = 1; i + 1 < argc; i += 2) {
        if (strcmp(argv[i], "--listen") == 0) {
            address = argv[i + 1];
        } else if (strcmp(argv[i], "--name") == 0 && strlen(argv[i + 1]) <= 64) {
            origin.name = argv[i + 1];
        } else if (strcmp(argv[i], "--delay-ms") == 0) {
            origin.delay_ms = strtol(argv[i + 1], NULL, 10);
        } else if (strcmp(argv[i], "--capacity") == 0 && strtod(argv[i + 1], NULL) > 0) {
            origin.capacity = strtod(argv[i + 1], NULL);
        } else {
            argc = 0; /* say how it is used */
        }
    }
    int listener = argc % 2 == 1 ? listen_at(address) : -1;
    if (listener < 0) {
        fprintf(stderr, "usage: origin [--listen ADDRESS:PORT] [--name NAME] [--delay-ms N] "
                        "[--capacity RPS]\n");
        return EXIT_FAILURE;
    }
    serve(listener);
}
