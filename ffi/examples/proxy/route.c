/* Which host a request should have; see route.h. */
#define _GNU_SOURCE 1
#include "route.h"

#include <stdio.h>
#include <string.h>

#include "client.h"
#include "worker.h"

static plimsoll_str text_of(const char *text)
{
    return (plimsoll_str){text, strlen(text)};
}

static plimsoll_str part_of(const char *data, struct http_text text)
{
    return (plimsoll_str){data + text.start, text.length};
}

void route_connected(struct client *client)
{
    struct route_addresses *addresses = &client->addresses;
    struct endpoint remote = {.length = sizeof remote.address};
    struct endpoint local = {.length = sizeof local.address};
    if (getpeername(client->stream.fd, (struct sockaddr *)&remote.address, &remote.length) != 0 ||
        getsockname(client->stream.fd, (struct sockaddr *)&local.address, &local.length) != 0) {
        return; /* it is gone already */
    }
    endpoint_print(&remote, false, addresses->source_ip);
    endpoint_print(&remote, true, addresses->remote);
    endpoint_print(&local, true, addresses->local);
}

/* A cookie that does not fit is left out: the client is hashed by its address until it has one. */
static void keep_cookie(void *userdata, plimsoll_str value)
{
    struct route *route = userdata;
    size_t room = sizeof route->new_cookies - route->new_cookies_length;
    int length = snprintf(route->new_cookies + route->new_cookies_length, room,
                          "Set-Cookie: %.*s\r\n", (int)value.len, value.data);
    if (length > 0 && (size_t)length < room) {
        route->new_cookies_length += (size_t)length;
    }
    route->new_cookies[route->new_cookies_length] = '\0';
}

void route_begin(struct client *client)
{
    struct worker *worker = client->worker;
    const struct http_head *head = &client->request;
    const char *data = buffer_data(&client->in);
    plimsoll_header headers[HTTP_FIELD_LIMIT];
    for (unsigned i = 0; i < head->field_count; i++) {
        headers[i].name = part_of(data, head->fields[i].name);
        headers[i].value = part_of(data, head->fields[i].value);
    }
    plimsoll_request request = PLIMSOLL_REQUEST_INIT;
    request.headers = headers;
    request.header_count = head->field_count;
    request.path = part_of(data, head->target);
    request.source_ip = text_of(client->addresses.source_ip);
    request.remote_address = text_of(client->addresses.remote);
    request.local_address = text_of(client->addresses.local);
    struct route *route = &client->route;
    route->new_cookies_length = 0;
    route->new_cookies[0] = '\0';
    /* Without a hash, and with a policy that needs none, the library goes on by itself. */
    route->hashed = plimsoll_worker_hash(worker->picker, worker->route, &request, route,
                                         keep_cookie, &route->hash) == PLIMSOLL_STATUS_OK;
}

/* The time is on the clock that the library is ticked with: hosts in slow start are weighed by it as
 * Envoy does it; the native behavior goes by the ticks. */
plimsoll_pick_context route_context(const struct client *client, uint32_t attempt)
{
    plimsoll_pick_context context = PLIMSOLL_PICK_CONTEXT_INIT;
    context.now_ns = worker_now_ns(client->worker);
    context.attempt = attempt;
    if (client->route.hashed) {
        context.flags = PLIMSOLL_PICK_HASHED;
        context.hash = client->route.hash;
    }
    return context;
}

/* The first header of this name; NULL in `data` if there is none. */
static plimsoll_str header_of(const struct client *client, const char *name)
{
    const char *data = buffer_data(&client->in);
    for (unsigned i = 0; i < client->request.field_count; i++) {
        plimsoll_str own = part_of(data, client->request.fields[i].name);
        if (own.len == strlen(name) && strncasecmp(own.data, name, own.len) == 0) {
            return part_of(data, client->request.fields[i].value);
        }
    }
    return (plimsoll_str){NULL, 0};
}

plimsoll_status route_pick(struct client *client, plimsoll_pick *out)
{
    plimsoll_worker *picker = client->worker->picker;
    const char *name = client->worker->options->override_header;
    plimsoll_pick_context context = route_context(client, 0);
    plimsoll_str addresses = {NULL, 0};
    if (name != NULL) {
        addresses = header_of(client, name);
    }
    if (addresses.len == 0) {
        return plimsoll_worker_pick(picker, &context, out);
    }
    return plimsoll_worker_pick_override(picker, &context, &addresses, 1, 0, out);
}
