/* One request through the proxy; see exchange.h. */
#include "exchange.h"

#include <stdio.h>

#include "client.h"
#include "forward.h"
#include "worker.h"

/* More attempts at finding a host that did not just fail. If they all lead to it (it may be the
 * only one) it is tried again. */
#define OTHER_HOST_ATTEMPTS 16

static void finish_pick(struct client *client, uint32_t outcome)
{
    struct exchange *exchange = &client->exchange;
    struct worker *worker = client->worker;
    if (!exchange->picked) {
        return;
    }
    exchange->picked = false;
    if (plimsoll_worker_done(worker->picker, &exchange->pick, outcome) == PLIMSOLL_STATUS_OK) {
        count(&worker->counters->picks_done);
    }
}

static void drop_upstream(struct client *client)
{
    if (client->exchange.upstream != NULL) {
        upstream_close(client->worker, client->exchange.upstream);
        client->exchange.upstream = NULL;
    }
}

void exchange_abandon(struct client *client)
{
    /* The client left; nothing speaks against the host. */
    finish_pick(client, PLIMSOLL_OUTCOME_SUCCESS);
    drop_upstream(client);
}

/* A client that has seen a part of the response can only be told by breaking the connection. */
void exchange_fail(struct client *client, uint32_t outcome, unsigned status, const char *why)
{
    finish_pick(client, outcome);
    drop_upstream(client);
    if (client->exchange.response_begun) {
        client_close(client, true);
    } else {
        client_reply(client, status, why);
    }
}

static void reply_without_host(struct client *client, plimsoll_status status)
{
    char why[64];
    snprintf(why, sizeof why, "no upstream: %s", plimsoll_status_name(status));
    count(&client->worker->counters->picks_without_host);
    client_reply(client, 503, why);
}

/* Whether the request may be sent once more: it must still be here whole, and it must not have been
 * carried out already. A host that was never reached cannot have done that. */
static bool may_retry(const struct client *client)
{
    const struct exchange *exchange = &client->exchange;
    bool reached = exchange->upstream != NULL && exchange->upstream->connected;
    return !exchange->retried && client->head_held && exchange->interim == 0 &&
           (!reached || client->request.idempotent);
}

static int is_other_host(void *userdata, const plimsoll_pick *candidate)
{
    const plimsoll_pick *failed = userdata;
    return candidate->slot != failed->slot || candidate->generation != failed->generation;
}

static void retry(struct client *client);

void exchange_host_failed(struct client *client, unsigned status, const char *why)
{
    if (may_retry(client)) {
        retry(client);
    } else {
        exchange_fail(client, PLIMSOLL_OUTCOME_ERROR, status, why);
    }
}

/* A host is picked, and `upstream` leads to it; NULL if the connection failed at once. */
static void start(struct client *client, struct upstream *upstream)
{
    client->exchange.upstream = upstream;
    if (upstream == NULL) {
        count(&client->worker->counters->upstream_connect_failed);
        exchange_host_failed(client, 502, "upstream connection failed");
        return;
    }
    upstream->client = client;
    client_enter(client, upstream->connected ? CLIENT_EXCHANGING : CLIENT_CONNECTING);
}

static bool take_pick(struct client *client, plimsoll_status status)
{
    if (status != PLIMSOLL_STATUS_OK) {
        reply_without_host(client, status);
        return false;
    }
    client->exchange.picked = true;
    client->worker->picked = true;
    count(&client->worker->counters->picks);
    return true;
}

void exchange_begin(struct client *client)
{
    struct worker *worker = client->worker;
    struct exchange *exchange = &client->exchange;
    *exchange = (struct exchange){0};
    route_begin(client);
    if (take_pick(client, route_pick(client, &exchange->pick))) {
        struct upstream *pooled = upstream_take(worker, &exchange->pick);
        start(client, pooled != NULL ? pooled : upstream_open(worker, &exchange->pick));
    }
}

static void retry(struct client *client)
{
    struct worker *worker = client->worker;
    struct exchange *exchange = &client->exchange;
    finish_pick(client, PLIMSOLL_OUTCOME_ERROR);
    drop_upstream(client);
    *exchange = (struct exchange){.retried = true, .failed = exchange->pick};
    count(&worker->counters->retries);
    /* By policy, also if the request had named the host: with a hash policy to the host that the
     * same hash has for its second attempt. */
    plimsoll_pick_context context = route_context(client, 1);
    context.retries = OTHER_HOST_ATTEMPTS;
    plimsoll_status status = plimsoll_worker_pick_filtered(
        worker->picker, &context, &exchange->failed, is_other_host, &exchange->pick);
    if (take_pick(client, status)) {
        /* Not from the pool: what broke one idle connection may have broken the next one too. */
        start(client, upstream_open(worker, &exchange->pick));
    }
}

static bool step_connecting(struct client *client)
{
    struct upstream *upstream = client->exchange.upstream;
    if (!upstream->stream.writable) {
        return false;
    }
    if (upstream_check_connected(upstream)) {
        client_enter(client, CLIENT_EXCHANGING);
    } else {
        count(&client->worker->counters->upstream_connect_failed);
        exchange_host_failed(client, 502, "upstream connection failed");
    }
    return true;
}

/* The upstream connection is used again if nothing at all is left over on it. */
void exchange_finish(struct client *client)
{
    struct exchange *exchange = &client->exchange;
    struct upstream *upstream = exchange->upstream;
    finish_pick(client, exchange->status >= 500 ? PLIMSOLL_OUTCOME_ERROR
                                                : PLIMSOLL_OUTCOME_SUCCESS);
    bool sound = !upstream->stream.hung_up && !upstream->stream.write_failed &&
                 !forward_is_over(upstream);
    bool clean = client->request_body.complete && !exchange->upstream_close &&
                 buffer_used(&upstream->in) == 0 && buffer_used(&upstream->out) == 0 && sound;
    exchange->upstream = NULL;
    if (clean) {
        upstream_release(client->worker, upstream);
    } else {
        upstream_close(client->worker, upstream);
    }
    client_enter(client, CLIENT_FLUSHING);
}

bool exchange_step(struct client *client)
{
    return client->phase == CLIENT_CONNECTING ? step_connecting(client) : forward_step(client);
}

/* Whether it is the client that keeps the exchange waiting: it does not read, or does not send. */
static bool client_stalls(const struct client *client)
{
    const struct exchange *exchange = &client->exchange;
    return buffer_used(&client->out) > 0 ||
           (!client->request_body.complete && buffer_used(&exchange->upstream->out) == 0);
}

void exchange_expire(struct client *client)
{
    if (client->phase == CLIENT_EXCHANGING && client_stalls(client)) {
        exchange_fail(client, PLIMSOLL_OUTCOME_SUCCESS, 408, "request body not complete in time");
        return;
    }
    count(&client->worker->counters->upstream_timed_out);
    if (client->phase == CLIENT_CONNECTING) {
        exchange_host_failed(client, 504, "upstream connection timed out");
    } else {
        exchange_fail(client, PLIMSOLL_OUTCOME_ERROR, 504, "upstream did not answer in time");
    }
}
