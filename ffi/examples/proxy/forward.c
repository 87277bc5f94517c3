/* Moving one exchange's bytes; see forward.h. */
#include "forward.h"

#include "client.h"
#include "exchange.h"
#include "load_report.h"
#include "worker.h"

/* Nobody sends more than two, and an upstream that sends nothing else would never end. */
#define INTERIM_LIMIT 8

static bool send_head(struct client *client)
{
    struct exchange *exchange = &client->exchange;
    if (exchange->head_sent) {
        return false;
    }
    exchange->head_sent = true;
    if (!http_write_request(buffer_data(&client->in), &client->request,
                            &exchange->upstream->out)) {
        client->closing = true;
        exchange_fail(client, PLIMSOLL_OUTCOME_SUCCESS, 431, "request head too long");
        return true;
    }
    if (!client->request_body.complete) {
        /* The body comes next in the same buffer. A request without one keeps its head there, to
         * be sent again if the host turns out to be dead. */
        client_drop_head(client);
    }
    return true;
}

static bool send_body(struct client *client)
{
    bool moved = false;
    switch (body_move(&client->request_body, &client->in, &client->exchange.upstream->out, false,
                      &moved)) {
    case BODY_DONE:
        return moved;
    case BODY_MORE:
        if (client->stream.ended && buffer_used(&client->in) == 0) {
            client_close(client, true);
        }
        return moved;
    case BODY_MALFORMED:
        client->closing = true;
        exchange_fail(client, PLIMSOLL_OUTCOME_SUCCESS, 400, "malformed chunk");
        return true;
    case BODY_TOO_LARGE:
        client->closing = true;
        exchange_fail(client, PLIMSOLL_OUTCOME_SUCCESS, 413, "request body too large");
        return true;
    }
    return moved;
}

/* Client to upstream. A write that fails is not the end: the upstream may have answered before it
 * stopped reading, and what receive() finds decides. */
static bool send_request(struct client *client)
{
    bool moved = send_head(client);
    if (client->phase == CLIENT_EXCHANGING) {
        moved |= send_body(client);
    }
    if (client->phase == CLIENT_EXCHANGING) {
        struct upstream *upstream = client->exchange.upstream;
        moved |= stream_drain(&upstream->stream, &upstream->out);
    }
    return moved;
}

bool forward_is_over(const struct upstream *upstream)
{
    return upstream->stream.ended || upstream->stream.read_failed;
}

static void pass_interim(struct client *client, const struct http_head *head)
{
    struct exchange *exchange = &client->exchange;
    struct buffer *in = &exchange->upstream->in;
    if (++exchange->interim > INTERIM_LIMIT) {
        exchange_fail(client, PLIMSOLL_OUTCOME_ERROR, 502, "endless responses from upstream");
        return;
    }
    if (client->request.minor >= 1) {
        http_write_response(buffer_data(in), head, FRAMING_NONE, false, "", &client->out);
    }
    buffer_consume(in, head->length);
    exchange->scan = (struct http_scan){0, 0};
}

/* Which framing the client gets: HTTP/1.0 knows no chunks, and for HTTP/1.1 a body that ends with
 * the connection is better chunked, so that the client can tell its end from a failure. */
static enum framing framing_for(const struct client *client, enum framing from)
{
    if (from != FRAMING_CHUNKED && from != FRAMING_UNTIL_CLOSE) {
        return from;
    }
    return client->request.minor >= 1 ? FRAMING_CHUNKED : FRAMING_UNTIL_CLOSE;
}

static void begin_response(struct client *client, const struct http_head *head)
{
    struct exchange *exchange = &client->exchange;
    struct buffer *in = &exchange->upstream->in;
    enum framing to = framing_for(client, head->framing);
    client->closing |= to == FRAMING_UNTIL_CLOSE || !client->request_body.complete ||
                       client->worker->draining;
    if (!http_write_response(buffer_data(in), head, to, client->closing,
                             client->route.new_cookies, &client->out)) {
        exchange_fail(client, PLIMSOLL_OUTCOME_ERROR, 502, "response head from upstream too long");
        return;
    }
    load_report_head(client, buffer_data(in), head);
    buffer_consume(in, head->length);
    body_begin(&exchange->response_body, head->framing, to, head->content_length, UINT64_MAX);
    body_keep_trailers(&exchange->response_body, &client->trailers);
    exchange->response_begun = true;
    exchange->status = head->status;
    exchange->upstream_close = head->close || head->framing == FRAMING_UNTIL_CLOSE;
    count(&client->worker->counters->responses);
}

static void take_head(struct client *client)
{
    struct http_head head;
    struct exchange *exchange = &client->exchange;
    struct http_refusal refusal =
        http_parse_response(buffer_data(&exchange->upstream->in), exchange->scan.next,
                            client->request.is_head, &head);
    if (refusal.status != 0) {
        exchange_fail(client, PLIMSOLL_OUTCOME_ERROR, refusal.status, refusal.why);
        return;
    }
    if (!client->worker->options->keep_load_reports) {
        load_report_strip(&head);
    }
    if (head.status < 200) {
        pass_interim(client, &head);
    } else {
        begin_response(client, &head);
    }
}

static bool read_head(struct client *client)
{
    struct exchange *exchange = &client->exchange;
    struct upstream *upstream = exchange->upstream;
    /* Heads are written to an empty buffer, where each of them fits. */
    if (buffer_used(&client->out) > 0) {
        return false;
    }
    switch (http_scan(&exchange->scan, buffer_data(&upstream->in), buffer_used(&upstream->in))) {
    case HTTP_SCAN_MORE:
        if (forward_is_over(upstream)) {
            exchange_host_failed(client, 502, "upstream closed the connection");
            return true;
        }
        return false;
    case HTTP_SCAN_DONE:
        take_head(client);
        return true;
    case HTTP_SCAN_MALFORMED:
    case HTTP_SCAN_LONG_LINE:
    case HTTP_SCAN_LONG:
        break;
    }
    exchange_fail(client, PLIMSOLL_OUTCOME_ERROR, 502, "malformed response head from upstream");
    return true;
}

static bool pass_body(struct client *client)
{
    struct exchange *exchange = &client->exchange;
    struct upstream *upstream = exchange->upstream;
    bool moved = false;
    bool ended = upstream->stream.ended;
    bool ends_by_closing = exchange->response_body.from == FRAMING_UNTIL_CLOSE && ended;
    switch (body_move(&exchange->response_body, &upstream->in, &client->out, ended, &moved)) {
    case BODY_DONE:
        load_report_trailers(client);
        exchange_finish(client);
        return true;
    case BODY_MORE:
        if (forward_is_over(upstream) && buffer_used(&upstream->in) == 0 && !ends_by_closing) {
            exchange_fail(client, PLIMSOLL_OUTCOME_ERROR, 502, "upstream closed the connection");
            return true;
        }
        return moved;
    case BODY_MALFORMED:
    case BODY_TOO_LARGE:
        break;
    }
    exchange_fail(client, PLIMSOLL_OUTCOME_ERROR, 502, "malformed body from upstream");
    return true;
}

/* Upstream to client. */
static bool receive(struct client *client)
{
    struct exchange *exchange = &client->exchange;
    struct upstream *upstream = exchange->upstream;
    bool moved = stream_fill(&upstream->stream, &upstream->in);
    if (buffer_used(&upstream->in) > 0) {
        client_drop_head(client);
    }
    if (!exchange->response_begun) {
        moved |= read_head(client);
    }
    if (client->phase == CLIENT_EXCHANGING && exchange->response_begun) {
        moved |= pass_body(client);
    }
    return moved;
}

bool forward_step(struct client *client)
{
    bool moved = send_request(client);
    if (client->phase == CLIENT_EXCHANGING) {
        moved |= receive(client);
    }
    return moved;
}
