/* Load reports of hosts: as a response brings them, or as an object. */

#include <strings.h>

#include "cluster.h"
#include "values.h"

/* The values of the two headers that reports come in; the first one of each counts. */
static void find_headers(const plimsoll_header *headers, size_t count, plimsoll_str *binary,
                         plimsoll_str *text) {
    const plimsoll_str names[] = {text_of("endpoint-load-metrics-bin"),
                                  text_of("endpoint-load-metrics")};
    plimsoll_str *values[] = {binary, text};
    for (size_t index = 0; index < count; index++) {
        for (size_t which = 0; which < 2; which++) {
            plimsoll_str name = headers[index].name;
            bool same = name.len == names[which].len &&
                        strncasecmp(name.data, names[which].data, name.len) == 0;
            if (same && values[which]->data == NULL) {
                *values[which] = headers[index].value;
            }
        }
    }
}

/* A report of a host. */
typedef struct {
    plimsoll_str host;
    uint64_t worker;
    const json *orca, *headers, *trailers;
    bool echo;
    uint32_t behavior;
    plimsoll_response_load load;
} host_report;

static host_report read_report(operation *op) {
    host_report report = {.load = PLIMSOLL_RESPONSE_LOAD_INIT};
    report.host = keys_text(&op->keys, "host", REQUIRED);
    report.worker = keys_integer(&op->keys, "worker", 0);
    report.orca = keys_object(&op->keys, "orca", OPTIONAL);
    report.headers = keys_object(&op->keys, "headers", OPTIONAL);
    report.trailers = keys_object(&op->keys, "trailers", OPTIONAL);
    check_headers(&op->keys, path_of(&op->keys, "headers"), report.headers);
    check_headers(&op->keys, path_of(&op->keys, "trailers"), report.trailers);
    report.echo = keys_boolean(&op->keys, "echo");
    return report;
}

/* Puts the report where the library looks for it. An object goes in as a header would bring it. */
static bool fill_load(operation *op, host_report *report) {
    if (report->orca != NULL) {
        if (report->headers != NULL || report->trailers != NULL) {
            refuse(op, "orca", "a report is either an object or in headers and trailers");
            return false;
        }
        plimsoll_str object = json_text(op->memory, report->orca);
        report->load.header_text = arena_text(op->memory, "JSON %.*s", SHOWN(object));
        return true;
    }
    const plimsoll_header *headers = NULL, *trailers = NULL;
    size_t header_count = 0, trailer_count = 0;
    if (!header_values(op, "headers", report->headers, &headers, &header_count) ||
        !header_values(op, "trailers", report->trailers, &trailers, &trailer_count)) {
        return false;
    }
    find_headers(headers, header_count, &report->load.header_binary, &report->load.header_text);
    find_headers(trailers, trailer_count, &report->load.trailer_binary,
                 &report->load.trailer_text);
    return true;
}

/* What became of a report; one that a policy does not go by is ignored. */
static void answer_report(operation *op, const host_report *report, plimsoll_status status,
                          plimsoll_error *error) {
    bool is_unreadable =
        status == PLIMSOLL_STATUS_NO_REPORT || status == PLIMSOLL_STATUS_REPORT_UNREADABLE;
    if (status == PLIMSOLL_STATUS_REPORT_NOT_WANTED) {
        answer_ok(op);
    } else if (is_unreadable && report->orca != NULL) {
        answer_failure(op, "invalid_argument", text_of("orca"), plimsoll_error_message(error));
    } else if (is_unreadable) {
        answer_failure(op, "report_rejected", text_of(""), plimsoll_error_message(error));
    } else {
        answer_status(op, status, error);
        return;
    }
    plimsoll_error_free(error);
}

/* The report as the library reads it. */
typedef struct {
    const host_report *report;
    plimsoll_error *error;
} echo_call;

static plimsoll_status write_report(void *call, char *text, size_t capacity, size_t *needed) {
    echo_call *of = call;
    plimsoll_error_free(of->error);
    return plimsoll_response_load_json(&of->report->load, of->report->behavior, text, capacity,
                                       needed, &of->error);
}

/* The report comes back, whatever the policy makes of it. */
static void echo(operation *op, const cluster *cluster, const host_report *report) {
    echo_call call = {report, NULL};
    buffer text = {NULL, 0, 0};
    plimsoll_status status = text_from(&text, write_report, &call);
    if (status == PLIMSOLL_STATUS_OK) {
        plimsoll_cluster_report_response(cluster->handle, report->host, &report->load, NULL);
        answer_text(op, "report", (plimsoll_str){text.data, text.length});
    } else {
        answer_report(op, report, status, call.error);
    }
    buffer_free(&text);
}

void run_report(operation *op) {
    host_report report = read_report(op);
    cluster *cluster = begin_with_cluster(op);
    if (cluster == NULL || worker_of(op, cluster, report.worker) == NULL) {
        return;
    }
    json_member name = {.value = {.kind = JSON_STRING, .string = report.host}};
    json hosts = {.kind = JSON_LIST, .members = &name, .count = 1};
    if (!knows_hosts(op, cluster, &hosts) || !fill_load(op, &report)) {
        return;
    }
    report.behavior = cluster->behavior;
    if (report.echo) {
        echo(op, cluster, &report);
        return;
    }
    plimsoll_error *error = NULL;
    plimsoll_status status =
        plimsoll_cluster_report_response(cluster->handle, report.host, &report.load, &error);
    answer_report(op, &report, status, error);
}
