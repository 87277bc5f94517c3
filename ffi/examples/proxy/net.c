/* Sockets and the clock; see net.h. */
#define _GNU_SOURCE 1
#include "net.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <time.h>
#include <unistd.h>

uint64_t clock_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

int64_t clock_ms(void)
{
    return (int64_t)(clock_ns() / NS_PER_MS);
}

/* A decimal port; -1 for anything else. */
static long port_parse(const char *text)
{
    char *rest;
    errno = 0;
    long port = strtol(text, &rest, 10);
    bool whole = isdigit((unsigned char)text[0]) && *rest == '\0' && errno == 0;
    return whole && port <= UINT16_MAX ? port : -1;
}

/* IPv4 and IPv6 keep the port at different places of the address. */
static in_port_t *port_of(struct endpoint *endpoint)
{
    if (endpoint->address.ss_family == AF_INET6) {
        return &((struct sockaddr_in6 *)&endpoint->address)->sin6_port;
    }
    return &((struct sockaddr_in *)&endpoint->address)->sin_port;
}

unsigned endpoint_port(const struct endpoint *endpoint)
{
    struct endpoint copy = *endpoint;
    return ntohs(*port_of(&copy));
}

void endpoint_print(const struct endpoint *endpoint, bool with_port, char out[ADDRESS_LIMIT])
{
    const struct sockaddr_in *v4 = (const struct sockaddr_in *)&endpoint->address;
    const struct sockaddr_in6 *v6 = (const struct sockaddr_in6 *)&endpoint->address;
    bool is_v6 = endpoint->address.ss_family == AF_INET6;
    char host[INET6_ADDRSTRLEN] = "";
    inet_ntop(endpoint->address.ss_family,
              is_v6 ? (const void *)&v6->sin6_addr : (const void *)&v4->sin_addr, host,
              sizeof host);
    if (with_port) {
        snprintf(out, ADDRESS_LIMIT, is_v6 ? "[%s]:%u" : "%s:%u", host, endpoint_port(endpoint));
    } else {
        snprintf(out, ADDRESS_LIMIT, "%s", host);
    }
}

/* The address without its port; `host` is "127.0.0.1" or "[::1]" and may be overwritten. */
static bool host_parse(char *host, struct endpoint *out)
{
    struct sockaddr_in *v4 = (struct sockaddr_in *)&out->address;
    struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)&out->address;
    size_t length = strlen(host);
    memset(out, 0, sizeof *out);
    if (host[0] != '[') {
        v4->sin_family = AF_INET;
        out->length = sizeof *v4;
        return inet_pton(AF_INET, host, &v4->sin_addr) == 1;
    }
    if (host[length - 1] != ']') {
        return false;
    }
    host[length - 1] = '\0';
    v6->sin6_family = AF_INET6;
    out->length = sizeof *v6;
    return inet_pton(AF_INET6, host + 1, &v6->sin6_addr) == 1;
}

bool endpoint_parse(const char *text, struct endpoint *out)
{
    char host[ADDRESS_LIMIT];
    const char *colon = strrchr(text, ':');
    size_t length = colon == NULL ? 0 : (size_t)(colon - text);
    if (length == 0 || length >= sizeof host) {
        return false;
    }
    memcpy(host, text, length);
    host[length] = '\0';
    long port = port_parse(colon + 1);
    if (port < 0 || !host_parse(host, out)) {
        return false;
    }
    endpoint_set_port(out, (unsigned)port);
    return true;
}

int listen_on(const struct endpoint *endpoint, bool shared)
{
    int one = 1;
    int fd = socket(endpoint->address.ss_family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (fd < 0) {
        return -1;
    }
    /* REUSEADDR: a restart need not wait for the old connections' TIME_WAIT. */
    bool ready = setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof one) == 0 &&
                 (!shared || setsockopt(fd, SOL_SOCKET, SO_REUSEPORT, &one, sizeof one) == 0) &&
                 bind(fd, (const struct sockaddr *)&endpoint->address, endpoint->length) == 0 &&
                 listen(fd, 1024) == 0;
    if (!ready) {
        int reason = errno;
        close(fd);
        errno = reason;
        return -1;
    }
    return fd;
}

unsigned socket_port(int fd)
{
    struct endpoint bound = {.length = sizeof bound.address};
    if (getsockname(fd, (struct sockaddr *)&bound.address, &bound.length) != 0) {
        return 0;
    }
    return endpoint_port(&bound);
}

void endpoint_set_port(struct endpoint *endpoint, unsigned port)
{
    *port_of(endpoint) = htons((uint16_t)port);
}

bool stream_watch(struct stream *stream, int epoll)
{
    int one = 1;
    /* A head and its body leave in separate writes; Nagle would hold the second one back. */
    setsockopt(stream->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    struct epoll_event event = {.events = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET,
                                .data.ptr = stream};
    return epoll_ctl(epoll, EPOLL_CTL_ADD, stream->fd, &event) == 0;
}

void stream_note(struct stream *stream, uint32_t events)
{
    uint32_t over = EPOLLRDHUP | EPOLLHUP | EPOLLERR;
    stream->readable |= (events & (EPOLLIN | over)) != 0;
    stream->writable |= (events & (EPOLLOUT | EPOLLHUP | EPOLLERR)) != 0;
    stream->hung_up |= (events & over) != 0;
    stream->broken |= (events & EPOLLERR) != 0;
}

bool stream_fill(struct stream *stream, struct buffer *buffer)
{
    bool moved = false;
    while (stream->readable && buffer_room(buffer) > 0) {
        size_t room;
        char *space = buffer_reserve(buffer, &room);
        ssize_t count = recv(stream->fd, space, room, 0);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count > 0) {
            buffer_commit(buffer, (size_t)count);
            /* A short read emptied the socket: the next byte makes a new edge. Not so the FIN that
             * an earlier edge announced already. */
            stream->readable = (size_t)count == room || stream->hung_up;
        } else {
            stream->ended = count == 0;
            stream->read_failed = count < 0 && errno != EAGAIN;
            stream->readable = false;
        }
        moved |= count > 0 || stream->ended || stream->read_failed;
    }
    return moved;
}

bool stream_drain(struct stream *stream, struct buffer *buffer)
{
    bool moved = false;
    while (stream->writable && buffer_used(buffer) > 0) {
        size_t used = buffer_used(buffer);
        ssize_t count = send(stream->fd, buffer_data(buffer), used, MSG_NOSIGNAL);
        if (count < 0 && errno == EINTR) {
            continue;
        }
        if (count >= 0) {
            buffer_consume(buffer, (size_t)count);
            stream->writable = (size_t)count == used;
            moved = true;
        } else {
            stream->write_failed = errno != EAGAIN;
            stream->writable = false;
        }
    }
    if (stream->write_failed && buffer_used(buffer) > 0) {
        buffer_consume(buffer, buffer_used(buffer));
        moved = true;
    }
    return moved;
}

void stream_close(struct stream *stream, bool reset)
{
    if (stream->fd < 0) {
        return;
    }
    if (reset) {
        struct linger now = {.l_onoff = 1, .l_linger = 0};
        setsockopt(stream->fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
    }
    close(stream->fd); /* which also takes it out of epoll */
    stream->fd = -1;
}
