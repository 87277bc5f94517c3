/* The command line; see options.h. */
#define _GNU_SOURCE 1
#include "options.h"

#include <ctype.h>
#include <errno.h>
#include <getopt.h>
#include <plimsoll/plimsoll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "http.h"

static const char usage[] =
    "usage: proxy --cluster FILE [options]\n"
    "  --cluster FILE            Envoy cluster, JSON or YAML; read again on SIGHUP\n"
    "  --listen ADDRESS          where clients connect        (127.0.0.1:0)\n"
    "  --admin ADDRESS           /stats, /hosts, /weights,    (127.0.0.1:0)\n"
    "                            /localities\n"
    "  --threads N               worker threads               (2)\n"
    "  --connections N           clients per thread           (1024)\n"
    "  --behavior native|envoy   whose decisions are made     (native)\n"
    "  --region NAME             where this proxy is          (not known)\n"
    "  --zone NAME\n"
    "  --local-cluster FILE      where all proxies are        (not known)\n"
    "  --health-path PATH        check hosts with GET PATH    (no checks)\n"
    "  --health-interval-ms N    time between checks          (1000)\n"
    "  --connect-timeout-ms N    for a connection to a host   (1000)\n"
    "  --client-timeout-ms N     for a silent client          (10000)\n"
    "  --upstream-timeout-ms N   for a silent host            (10000)\n"
    "  --body-limit BYTES        of a request                 (1073741824)\n"
    "  --load-reports strip|keep from what clients get        (strip)\n"
    "  --hash-header NAME        what RING_HASH and MAGLEV    (the cluster's hash_policy)\n"
    "                            go by\n"
    "  --hash-cookie NAME        the same; who has none gets  (none)\n"
    "                            one\n"
    "  --override-header NAME    with addresses of hosts to   (none)\n"
    "                            take; for trusted clients\n";

enum { CLUSTER = 1, LISTEN, ADMIN, THREADS, CONNECTIONS, BEHAVIOR, REGION, ZONE, LOCAL_CLUSTER,
       HEALTH_PATH, HEALTH_INTERVAL, CONNECT_TIMEOUT, CLIENT_TIMEOUT, UPSTREAM_TIMEOUT, BODY_LIMIT,
       LOAD_REPORTS, HASH_HEADER, HASH_COOKIE, OVERRIDE_HEADER };

static const struct option names[] = {
    {"cluster", required_argument, NULL, CLUSTER},
    {"listen", required_argument, NULL, LISTEN},
    {"admin", required_argument, NULL, ADMIN},
    {"threads", required_argument, NULL, THREADS},
    {"connections", required_argument, NULL, CONNECTIONS},
    {"behavior", required_argument, NULL, BEHAVIOR},
    {"region", required_argument, NULL, REGION},
    {"zone", required_argument, NULL, ZONE},
    {"local-cluster", required_argument, NULL, LOCAL_CLUSTER},
    {"health-path", required_argument, NULL, HEALTH_PATH},
    {"health-interval-ms", required_argument, NULL, HEALTH_INTERVAL},
    {"connect-timeout-ms", required_argument, NULL, CONNECT_TIMEOUT},
    {"client-timeout-ms", required_argument, NULL, CLIENT_TIMEOUT},
    {"upstream-timeout-ms", required_argument, NULL, UPSTREAM_TIMEOUT},
    {"body-limit", required_argument, NULL, BODY_LIMIT},
    {"load-reports", required_argument, NULL, LOAD_REPORTS},
    {"hash-header", required_argument, NULL, HASH_HEADER},
    {"hash-cookie", required_argument, NULL, HASH_COOKIE},
    {"override-header", required_argument, NULL, OVERRIDE_HEADER},
    {NULL, 0, NULL, 0},
};

/* A whole number from 1 to `limit`; 0 for anything else. */
static int64_t number(const char *text, int64_t limit)
{
    char *rest;
    errno = 0;
    long long value = strtoll(text, &rest, 10);
    bool whole = isdigit((unsigned char)text[0]) && *rest == '\0' && errno == 0;
    return whole && value >= 1 && value <= limit ? value : 0;
}

static bool set_behavior(const char *name, uint32_t *out)
{
    *out = strcmp(name, "envoy") == 0 ? PLIMSOLL_BEHAVIOR_ENVOY : PLIMSOLL_BEHAVIOR_NATIVE;
    return *out == PLIMSOLL_BEHAVIOR_ENVOY || strcmp(name, "native") == 0;
}

/* A path of a request target's characters: it is sent as it is. */
static bool set_path(const char *path, const char **out)
{
    *out = path;
    for (const char *at = path; *at != '\0'; at++) {
        if (*at <= ' ' || *at > '~') {
            return false;
        }
    }
    return path[0] == '/' && strlen(path) <= 256;
}

/* A name of a header or a cookie. */
static bool set_name(const char *name, const char **out)
{
    *out = name;
    for (const char *at = name; *at != '\0'; at++) {
        if (!http_is_token(*at)) {
            return false;
        }
    }
    return name[0] != '\0' && strlen(name) <= 100;
}

/* An hour is more than anybody waits. */
static bool set_time(const char *text, int64_t *out)
{
    *out = number(text, 3600 * 1000);
    return *out > 0;
}

static bool set_count(const char *text, int64_t limit, unsigned *out)
{
    *out = (unsigned)number(text, limit);
    return *out > 0;
}

static bool set(struct options *out, int name, const char *value)
{
    switch (name) {
    case CLUSTER:
        out->cluster_path = value;
        return true;
    case LISTEN:
        return endpoint_parse(value, &out->listen);
    case ADMIN:
        return endpoint_parse(value, &out->admin);
    case THREADS:
        return set_count(value, THREAD_LIMIT, &out->threads);
    case CONNECTIONS:
        return set_count(value, 100000, &out->connections);
    case BEHAVIOR:
        return set_behavior(value, &out->behavior);
    case REGION:
        out->region = value;
        return true;
    case ZONE:
        out->zone = value;
        return true;
    case LOCAL_CLUSTER:
        out->local_cluster_path = value;
        return true;
    case HEALTH_PATH:
        return set_path(value, &out->health_path);
    case HEALTH_INTERVAL:
        return set_time(value, &out->health_interval_ms);
    case CONNECT_TIMEOUT:
        return set_time(value, &out->connect_timeout_ms);
    case CLIENT_TIMEOUT:
        return set_time(value, &out->client_timeout_ms);
    case UPSTREAM_TIMEOUT:
        return set_time(value, &out->upstream_timeout_ms);
    case BODY_LIMIT:
        out->body_limit = (uint64_t)number(value, INT64_MAX);
        return out->body_limit > 0;
    case LOAD_REPORTS:
        out->keep_load_reports = strcmp(value, "keep") == 0;
        return out->keep_load_reports || strcmp(value, "strip") == 0;
    case HASH_HEADER:
        return set_name(value, &out->hash_header);
    case HASH_COOKIE:
        return set_name(value, &out->hash_cookie);
    case OVERRIDE_HEADER:
        return set_name(value, &out->override_header);
    default:
        return false;
    }
}

static void set_defaults(struct options *out)
{
    *out = (struct options){
        .threads = 2,
        .connections = 1024,
        .behavior = PLIMSOLL_BEHAVIOR_NATIVE,
        .region = "",
        .zone = "",
        .health_interval_ms = 1000,
        .connect_timeout_ms = 1000,
        .client_timeout_ms = 10000,
        .upstream_timeout_ms = 10000,
        .body_limit = UINT64_C(1) << 30,
    };
    endpoint_parse("127.0.0.1:0", &out->listen);
    endpoint_parse("127.0.0.1:0", &out->admin);
}

bool options_parse(int argc, char **argv, struct options *out)
{
    set_defaults(out);
    int name;
    while ((name = getopt_long(argc, argv, "", names, NULL)) != -1) {
        if (name == '?' || !set(out, name, optarg)) {
            if (name != '?') {
                fprintf(stderr, "proxy: --%s does not take \"%s\"\n", names[name - 1].name, optarg);
            }
            fputs(usage, stderr);
            return false;
        }
    }
    if (optind < argc || out->cluster_path == NULL) {
        fputs(usage, stderr);
        return false;
    }
    return true;
}
