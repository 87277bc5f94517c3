/* The page of localities; see localities.h. */
#define _GNU_SOURCE 1
#include "localities.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

static const char *source_name(uint32_t source)
{
    switch (source) {
    case PLIMSOLL_SOURCE_HEALTHY:
        return "healthy";
    case PLIMSOLL_SOURCE_DEGRADED:
        return "degraded";
    case PLIMSOLL_SOURCE_ALL:
        return "all";
    default:
        return "?"; /* a newer library's */
    }
}

/* The parts that are not empty, with slashes between them; "-" if all are. */
static void print_place(FILE *page, const plimsoll_locality *locality)
{
    const plimsoll_str parts[] = {locality->region, locality->zone, locality->sub_zone};
    char place[256] = "-";
    size_t length = 0;
    for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++) {
        if (parts[i].len > 0 && length < sizeof place) {
            length += (size_t)snprintf(place + length, sizeof place - length, "%s%.*s",
                                       length > 0 ? "/" : "", (int)parts[i].len, parts[i].data);
        }
    }
    fprintf(page, " %-24s", place);
}

/* Called by the library for each locality, for each kind of its hosts. */
static int print_locality(void *userdata, const plimsoll_locality *locality)
{
    FILE *page = userdata;
    fprintf(page, "%8" PRIu32 " %-8s %7.3f", locality->priority, source_name(locality->source),
            100 * locality->load);
    print_place(page, locality);
    fprintf(page, " %6" PRIu64, locality->hosts);
    if (locality->has_utilization) {
        fprintf(page, " %11.6f", locality->utilization);
    } else {
        fprintf(page, " %11s", "-");
    }
    fprintf(page, " %10.6f %s\n", locality->weight, locality->all_local ? "yes" : "no");
    return 0;
}

char *localities_text(const plimsoll_cluster *cluster)
{
    char *text = NULL;
    size_t length = 0;
    FILE *page = open_memstream(&text, &length);
    if (page == NULL) {
        return NULL;
    }
    fprintf(page, "%8s %-8s %7s %-24s %6s %11s %10s %s\n", "priority", "source", "load %",
            "locality", "hosts", "utilization", "weight", "all local");
    plimsoll_status status =
        plimsoll_cluster_for_each_locality(cluster, page, print_locality, NULL);
    if (fclose(page) != 0 || status != PLIMSOLL_STATUS_OK) {
        free(text);
        return NULL;
    }
    return text;
}
