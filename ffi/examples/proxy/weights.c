/* The page of weights; see weights.h. */
#define _GNU_SOURCE 1
#include "weights.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

/* Called by the library for each host. */
static int print_host(void *userdata, const plimsoll_host *host)
{
    FILE *page = userdata;
    fprintf(page, "%-24.*s %10" PRIu32 " %10.3f", (int)host->address.len, host->address.data,
            host->weight, host->effective_weight);
    if (host->slow_start_seconds_left > 0) {
        fprintf(page, " %10.3f %7.2f", host->slow_start_factor, host->slow_start_seconds_left);
    } else {
        fprintf(page, " %10s %7s", "-", "-");
    }
    if (host->has_report) {
        fprintf(page, " %11.6f %7.2f %12.3f\n", host->utilization,
                (double)host->report_age_ns / 1e9, host->reported_weight);
    } else {
        fprintf(page, " %11s %7s %12s\n", "-", "-", "-");
    }
    return 0;
}

char *weights_text(const plimsoll_cluster *cluster)
{
    char *text = NULL;
    size_t length = 0;
    FILE *page = open_memstream(&text, &length);
    if (page == NULL) {
        return NULL;
    }
    fprintf(page, "%-24s %10s %10s %10s %7s %11s %7s %12s\n", "address", "weight", "effective",
            "slow start", "left s", "utilization", "age s", "reported");
    plimsoll_status status = plimsoll_cluster_for_each_host(cluster, page, print_host, NULL);
    if (fclose(page) != 0 || status != PLIMSOLL_STATUS_OK) {
        free(text);
        return NULL;
    }
    return text;
}
