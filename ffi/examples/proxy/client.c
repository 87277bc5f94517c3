/* A client's connection; see client.h. */
#define _GNU_SOURCE 1
#include "client.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "exchange.h"
#include "worker.h"

#define KEEP_ALIVE_MS 30000
#define LINGER_MS 1000
/* Steps of one client before the others get their turn. */
#define TURN 16

static void link_client(struct client *client)
{
    struct worker *worker = client->worker;
    client->next = worker->clients;
    if (worker->clients != NULL) {
        worker->clients->previous = client;
    }
    worker->clients = client;
    worker->client_count++;
}

static void unlink_client(struct client *client)
{
    struct worker *worker = client->worker;
    if (client->previous != NULL) {
        client->previous->next = client->next;
    } else {
        worker->clients = client->next;
    }
    if (client->next != NULL) {
        client->next->previous = client->previous;
    }
    worker->client_count--;
}

void client_accept(struct worker *worker, int fd)
{
    struct client *client = calloc(1, sizeof *client);
    if (client == NULL) {
        close(fd);
        return;
    }
    client->worker = worker;
    client->stream = (struct stream){
        .fd = fd, .kind = STREAM_CLIENT, .readable = true, .writable = true};
    if (!stream_watch(&client->stream, worker->epoll)) {
        close(fd);
        free(client);
        return;
    }
    link_client(client);
    route_connected(client);
    count(&worker->counters->client_opened);
    client_enter(client, CLIENT_READING);
    client_run(client);
}

void client_close(struct client *client, bool reset)
{
    if (client->phase == CLIENT_CLOSED) {
        return;
    }
    exchange_abandon(client);
    client->phase = CLIENT_CLOSED;
    stream_close(&client->stream, reset);
    unlink_client(client);
    count(&client->worker->counters->client_closed);
    worker_bury(client->worker, &client->stream);
}

/* How long the phase may last without progress. */
static int64_t patience(const struct client *client)
{
    const struct options *options = client->worker->options;
    switch (client->phase) {
    case CLIENT_READING:
        return client->head_started ? options->client_timeout_ms : KEEP_ALIVE_MS;
    case CLIENT_CONNECTING:
        return options->connect_timeout_ms;
    case CLIENT_EXCHANGING:
        return options->upstream_timeout_ms;
    case CLIENT_FLUSHING:
        return options->client_timeout_ms;
    case CLIENT_LINGERING:
    case CLIENT_CLOSED:
        break;
    }
    return LINGER_MS;
}

static void extend_deadline(struct client *client)
{
    client->deadline_ms = client->worker->now_ms + patience(client);
}

void client_enter(struct client *client, enum client_phase phase)
{
    client->phase = phase;
    if (phase == CLIENT_READING) {
        client->scan = (struct http_scan){0, 0};
        client->line_skipped = false;
        client->head_started = false;
    }
    extend_deadline(client);
}

void client_drop_head(struct client *client)
{
    if (client->head_held) {
        client->head_held = false;
        buffer_consume(&client->in, client->request.length);
    }
}

void client_reply(struct client *client, unsigned status, const char *why)
{
    client_drop_head(client);
    /* The rest of the request would be taken for the next one. */
    client->closing |= !client->request_body.complete || client->worker->draining;
    buffer_print(&client->out,
                 "HTTP/1.1 %u %s\r\nContent-Type: text/plain\r\nContent-Length: %zu\r\n%s\r\n",
                 status, http_reason(status), strlen(why) + 1,
                 client->closing ? "Connection: close\r\n" : "");
    if (!client->request.is_head) {
        buffer_print(&client->out, "%s\n", why);
    }
    count(&client->worker->counters->replies_local);
    client_enter(client, CLIENT_FLUSHING);
}

/* Where a message that was not understood ends is not known either: the connection goes with it. */
static void refuse(struct client *client, unsigned status, const char *why)
{
    client->closing = true;
    client_reply(client, status, why);
}

static void take_request(struct client *client)
{
    const struct options *options = client->worker->options;
    struct http_head *request = &client->request;
    struct http_refusal refusal =
        http_parse_request(buffer_data(&client->in), client->scan.next, request);
    if (refusal.status == 0 && request->content_length > options->body_limit) {
        refusal = HTTP_REFUSED(413, "request body too large");
    }
    if (refusal.status != 0) {
        refuse(client, refusal.status, refusal.why);
        return;
    }
    count(&client->worker->counters->requests);
    client->head_held = true;
    client->closing = request->close || client->worker->draining;
    body_begin(&client->request_body, request->framing, request->framing, request->content_length,
               options->body_limit);
    exchange_begin(client);
}

/* RFC 9112 asks to forgive one empty line before a request: old clients ended a body with one. */
static void skip_empty_line(struct client *client)
{
    if (!client->line_skipped && buffer_used(&client->in) >= 2 &&
        memcmp(buffer_data(&client->in), "\r\n", 2) == 0) {
        buffer_consume(&client->in, 2);
        client->line_skipped = true;
        client->scan = (struct http_scan){0, 0};
    }
}

static bool scan_request(struct client *client)
{
    /* Until a head is understood, nothing is known of its method. */
    client->request.is_head = false;
    switch (http_scan(&client->scan, buffer_data(&client->in), buffer_used(&client->in))) {
    case HTTP_SCAN_MORE:
        if (client->stream.ended) {
            client_close(client, false);
        }
        return false;
    case HTTP_SCAN_DONE:
        take_request(client);
        return true;
    case HTTP_SCAN_MALFORMED:
        refuse(client, 400, "a line does not end in CR LF");
        return true;
    case HTTP_SCAN_LONG_LINE:
        refuse(client, 414, "request line too long");
        return true;
    case HTTP_SCAN_LONG:
        refuse(client, 431, "request head too long");
        return true;
    }
    return false;
}

static bool read_request(struct client *client)
{
    skip_empty_line(client);
    if (buffer_used(&client->in) == 0) {
        if (client->stream.ended) {
            client_close(client, false);
        }
        return false;
    }
    if (!client->head_started) {
        /* From its first byte on a head has one deadline: dripping bytes does not extend it. */
        client->head_started = true;
        extend_deadline(client);
    }
    return scan_request(client);
}

/* The response is written: on to the next request, or to the end. */
static bool finish_response(struct client *client)
{
    if (client->stream.write_failed) {
        client_close(client, true);
        return true;
    }
    if (buffer_used(&client->out) > 0) {
        return false;
    }
    if (client->closing || client->worker->draining) {
        /* Closing now, with input unread, would make the kernel send an RST, and the client might
         * lose the response that it has not read yet. */
        shutdown(client->stream.fd, SHUT_WR);
        client_enter(client, CLIENT_LINGERING);
    } else {
        client_enter(client, CLIENT_READING);
    }
    return true;
}

static bool linger(struct client *client)
{
    size_t unread = buffer_used(&client->in);
    buffer_consume(&client->in, unread);
    if (client->stream.ended) {
        client_close(client, false);
    }
    return unread > 0;
}

static bool step_phase(struct client *client)
{
    switch (client->phase) {
    case CLIENT_READING:
        return read_request(client);
    case CLIENT_CONNECTING:
    case CLIENT_EXCHANGING:
        return exchange_step(client);
    case CLIENT_FLUSHING:
        return finish_response(client);
    case CLIENT_LINGERING:
        return linger(client);
    case CLIENT_CLOSED:
        break;
    }
    return false;
}

/* Moves what can be moved once. True if anything was: then another step may find more to do. */
static bool step(struct client *client)
{
    bool filled = stream_fill(&client->stream, &client->in);
    if (client->stream.read_failed || client->stream.broken) {
        client_close(client, false);
        return false;
    }
    bool moved = step_phase(client);
    if (client->phase == CLIENT_CLOSED) {
        return false;
    }
    moved |= stream_drain(&client->stream, &client->out);
    /* What was merely received is no progress: it may be for the next request. */
    if (moved && (client->phase == CLIENT_EXCHANGING || client->phase == CLIENT_FLUSHING)) {
        extend_deadline(client);
    }
    return filled || moved;
}

void client_run(struct client *client)
{
    for (int i = 0; i < TURN; i++) {
        if (client->phase == CLIENT_CLOSED || !step(client)) {
            return;
        }
    }
    if (client->phase != CLIENT_CLOSED && !client->is_ready) {
        client->is_ready = true;
        client->next_ready = client->worker->ready;
        client->worker->ready = client;
    }
}

void client_expire(struct client *client)
{
    switch (client->phase) {
    case CLIENT_READING:
        if (!client->head_started) {
            client_close(client, false);
            return;
        }
        refuse(client, 408, "request head not complete in time");
        break;
    case CLIENT_CONNECTING:
    case CLIENT_EXCHANGING:
        exchange_expire(client);
        break;
    case CLIENT_FLUSHING:
    case CLIENT_LINGERING:
    case CLIENT_CLOSED:
        client_close(client, client->phase == CLIENT_FLUSHING);
        return;
    }
    client_run(client);
}

void client_drain(struct client *client)
{
    if (client->phase == CLIENT_READING && !client->head_started) {
        client_close(client, false);
        return;
    }
    client->closing |= !client->exchange.response_begun;
}
