/*
 * Sockets and the clock, as far as the proxy needs them.
 *
 * A `stream` is a non-blocking TCP socket under edge-triggered epoll. An edge says "something is
 * there" once, so the stream remembers it (`readable`, `writable`) until the kernel answers EAGAIN;
 * a reader that stops because its buffer is full finds the flag still set when it comes back.
 */
#ifndef PROXY_NET_H
#define PROXY_NET_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/socket.h>

#include "buffer.h"

/* Room for the longest numeric address, "[v6%scope]:port", with its NUL. */
#define ADDRESS_LIMIT 96

struct endpoint {
    struct sockaddr_storage address;
    socklen_t length;
};

enum stream_kind { STREAM_LISTENER, STREAM_CLIENT, STREAM_UPSTREAM };

struct stream {
    int fd; /* -1 once closed */
    enum stream_kind kind;
    bool readable;
    bool writable;
    bool hung_up;      /* epoll saw the peer's FIN or an error: read to the end, not to EAGAIN */
    bool broken;       /* epoll saw an error */
    bool ended;        /* recv returned 0 */
    bool read_failed;  /* recv failed */
    bool write_failed; /* send failed; what the peer sent before may still be readable */
    struct stream *next_buried;
};

#define NS_PER_MS 1000000u

/* CLOCK_MONOTONIC: the one clock of the proxy, and of the cluster. */
uint64_t clock_ns(void);
int64_t clock_ms(void);

/* Reads "127.0.0.1:80" or "[::1]:80". Names are not resolved: a lookup would block the thread. */
bool endpoint_parse(const char *text, struct endpoint *out);

/* A non-blocking listener, or -1 with errno set. With `shared`, several threads may listen on one
 * port and the kernel spreads the connections over them. */
int listen_on(const struct endpoint *endpoint, bool shared);

/* The port that a socket is bound to, 0 if it is not. */
unsigned socket_port(int fd);

unsigned endpoint_port(const struct endpoint *endpoint);

/* Replaces the port, so that the second listener can share what the first was given for port 0. */
void endpoint_set_port(struct endpoint *endpoint, unsigned port);

/* The same address as text, with its port as endpoint_parse() reads it or without one. */
void endpoint_print(const struct endpoint *endpoint, bool with_port, char out[ADDRESS_LIMIT]);

/* Registers with epoll for every edge. False if the kernel refuses. */
bool stream_watch(struct stream *stream, int epoll);

/* Takes in what epoll reported. */
void stream_note(struct stream *stream, uint32_t events);

/* Reads until the buffer is full or the socket empty. True if anything happened. */
bool stream_fill(struct stream *stream, struct buffer *buffer);

/* Writes until the buffer is empty or the socket full. True if anything happened. After a failure
 * the rest is thrown away, so that nobody waits for it. */
bool stream_drain(struct stream *stream, struct buffer *buffer);

/* Closes the descriptor. With `reset` the peer gets an RST: the only way to tell a reader that
 * waits for the end of the connection that this was not the end of the message. */
void stream_close(struct stream *stream, bool reset);

#endif
