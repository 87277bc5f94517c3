/* The command line. */
#ifndef PROXY_OPTIONS_H
#define PROXY_OPTIONS_H

#include <stdbool.h>
#include <stdint.h>

#include "net.h"

#define THREAD_LIMIT 64

struct options {
    const char *cluster_path;
    struct endpoint listen;
    struct endpoint admin;
    unsigned threads;
    unsigned connections; /* clients per thread */
    uint32_t behavior;    /* PLIMSOLL_BEHAVIOR_... */
    const char *region;   /* this proxy's own place; "" if unknown */
    const char *zone;
    const char *local_cluster_path; /* where all proxies are; NULL if unknown */
    const char *health_path; /* NULL: hosts are not checked */
    int64_t health_interval_ms;
    int64_t connect_timeout_ms;
    int64_t client_timeout_ms;
    int64_t upstream_timeout_ms;
    uint64_t body_limit;
    bool keep_load_reports; /* in what clients get */
    const char *hash_header; /* NULL: requests are not hashed by a header */
    const char *hash_cookie; /* the same; clients without one get one */
    const char *override_header; /* names the host to take; NULL: clients have no say */
};

/* Fills in `out`; false, after saying why on standard error, if the command line is not valid. */
bool options_parse(int argc, char **argv, struct options *out);

#endif
