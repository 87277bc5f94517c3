/* What hosts say of their load; see load_report.h. */
#include "load_report.h"

#include "client.h"
#include "worker.h"

/* The first field of this name; NULL in `data` if there is none, which an empty one is not. */
static plimsoll_str value_of(const char *data, const struct http_head *head, enum http_name name)
{
    for (unsigned i = 0; i < head->field_count; i++) {
        if (head->fields[i].id == name) {
            struct http_text value = head->fields[i].value;
            return (plimsoll_str){data + value.start, value.length};
        }
    }
    return (plimsoll_str){NULL, 0};
}

static void hand_over(struct client *client, plimsoll_response_load load)
{
    struct worker *worker = client->worker;
    struct exchange *exchange = &client->exchange;
    load.now_ns = worker_now_ns(worker);
    plimsoll_status status = plimsoll_worker_report(worker->picker, &exchange->pick, &load);
    /* As in Envoy the first report that can be read is the only one; else the last one counts. */
    exchange->load_is_known = worker->options->behavior == PLIMSOLL_BEHAVIOR_ENVOY &&
                              status != PLIMSOLL_STATUS_NO_REPORT &&
                              status != PLIMSOLL_STATUS_REPORT_UNREADABLE;
}

void load_report_head(struct client *client, const char *data, const struct http_head *head)
{
    plimsoll_response_load load = PLIMSOLL_RESPONSE_LOAD_INIT;
    load.header_binary = value_of(data, head, HTTP_ENDPOINT_LOAD_METRICS_BIN);
    load.header_text = value_of(data, head, HTTP_ENDPOINT_LOAD_METRICS);
    if (load.header_binary.data != NULL || load.header_text.data != NULL) {
        hand_over(client, load);
    }
}

void load_report_trailers(struct client *client)
{
    const struct trailers *trailers = &client->trailers;
    /* The last line is empty, and most often the only one. */
    if (trailers->length <= 2 || client->exchange.load_is_known) {
        return;
    }
    struct http_head head = {.length = trailers->length};
    /* Trailers that are malformed say nothing, and do no harm: none of them goes on. */
    if (http_parse_fields(trailers->bytes, 0, &head).status != 0) {
        return;
    }
    plimsoll_response_load load = PLIMSOLL_RESPONSE_LOAD_INIT;
    load.trailer_binary = value_of(trailers->bytes, &head, HTTP_ENDPOINT_LOAD_METRICS_BIN);
    load.trailer_text = value_of(trailers->bytes, &head, HTTP_ENDPOINT_LOAD_METRICS);
    if (load.trailer_binary.data != NULL || load.trailer_text.data != NULL) {
        hand_over(client, load);
    }
}

void load_report_strip(struct http_head *head)
{
    for (unsigned i = 0; i < head->field_count; i++) {
        uint8_t id = head->fields[i].id;
        head->fields[i].dropped |=
            id == HTTP_ENDPOINT_LOAD_METRICS || id == HTTP_ENDPOINT_LOAD_METRICS_BIN;
    }
}
