#include "cluster.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

void cluster_free(cluster *cluster) {
    for (uint64_t number = 0; number < cluster->worker_count; number++) {
        plimsoll_worker_free(cluster->workers[number]);
    }
    for (size_t index = 0; index < cluster->held_count; index++) {
        free(cluster->held[index].picks);
        free((char *)cluster->held[index].address.data);
    }
    plimsoll_cluster_free(cluster->handle);
    free(cluster->workers);
    free(cluster->held);
    free((char *)cluster->name.data);
    free(cluster);
}

plimsoll_status open_worker(const cluster *cluster, uint64_t number, const uint64_t *draws,
                            size_t draw_count, plimsoll_worker **out, plimsoll_error **error) {
    plimsoll_worker_options options = PLIMSOLL_WORKER_OPTIONS_INIT;
    options.peek_capacity = PEEK_CAPACITY;
    options.has_number = 1;
    options.number = number;
    options.draws = draws;
    options.draw_count = draw_count;
    return plimsoll_worker_new_with(cluster->handle, &options, out, error);
}

plimsoll_worker **worker_place(operation *op, cluster *cluster, uint64_t number) {
    if (number >= cluster->worker_count) {
        refuse(op, "worker", "there is no worker %" PRIu64 " of %" PRIu64, number,
               cluster->worker_count);
        return NULL;
    }
    return &cluster->workers[number];
}

plimsoll_worker *worker_of(operation *op, cluster *cluster, uint64_t number) {
    plimsoll_worker **place = worker_place(op, cluster, number);
    if (place != NULL && *place == NULL) {
        refuse(op, "worker", "worker %" PRIu64 " is closed", number);
    }
    return place != NULL ? *place : NULL;
}

/* Addresses as they are seen. */
typedef struct {
    arena *memory;
    plimsoll_str *addresses;
    size_t count, capacity;
} seen_hosts;

static int see(void *userdata, const plimsoll_host *host) {
    seen_hosts *seen = userdata;
    seen->addresses = arena_grow(seen->memory, seen->addresses, seen->count, &seen->capacity,
                                 sizeof *seen->addresses);
    seen->addresses[seen->count++] =
        arena_copy(seen->memory, host->address.data, host->address.len);
    return 0;
}

static int by_address(const void *left, const void *right) {
    return compare_text(*(const plimsoll_str *)left, *(const plimsoll_str *)right);
}

const plimsoll_str *addresses_of(operation *op, const cluster *cluster, size_t *count) {
    seen_hosts seen = {.memory = op->memory};
    plimsoll_cluster_for_each_host(cluster->handle, &seen, see, NULL);
    if (seen.count > 0) {
        qsort(seen.addresses, seen.count, sizeof *seen.addresses, by_address);
    }
    *count = seen.count;
    return seen.addresses;
}

void refuse_host(operation *op, plimsoll_str address) {
    answer_failure(op, "unknown_host", address,
                   arena_text(op->memory, "the cluster has no host %.*s", SHOWN(address)));
}

bool knows_hosts(operation *op, const cluster *cluster, const json *hosts) {
    if (hosts == NULL || hosts->count == 0) {
        return true;
    }
    size_t count = 0;
    const plimsoll_str *known = addresses_of(op, cluster, &count);
    for (size_t index = 0; index < hosts->count; index++) {
        plimsoll_str host = hosts->members[index].value.string;
        if (count == 0 || bsearch(&host, known, count, sizeof host, by_address) == NULL) {
            refuse_host(op, host);
            return false;
        }
    }
    return true;
}

held_host *held_at(cluster *cluster, plimsoll_str address) {
    for (size_t index = 0; index < cluster->held_count; index++) {
        if (same_text(cluster->held[index].address, address)) {
            return &cluster->held[index];
        }
    }
    return NULL;
}

void hold(cluster *cluster, plimsoll_str address, plimsoll_pick pick) {
    held_host *host = held_at(cluster, address);
    if (host == NULL) {
        size_t size = (cluster->held_count + 1) * sizeof *cluster->held;
        cluster->held = must_grow(cluster->held, size);
        host = &cluster->held[cluster->held_count++];
        char *own = must_allocate(address.len + 1);
        memcpy(own, address.data, address.len);
        *host = (held_host){.address = {own, address.len}};
    }
    if (host->end == host->capacity) {
        host->capacity = host->capacity == 0 ? 8 : 2 * host->capacity;
        host->picks = must_grow(host->picks, host->capacity * sizeof *host->picks);
    }
    host->picks[host->end++] = pick;
}

bool to_nanoseconds(operation *op, const char *field, uint64_t ms, uint64_t *ns) {
    const uint64_t ns_per_ms = 1000000;
    if (ms > UINT64_MAX / ns_per_ms) {
        refuse(op, field, "the time does not fit into 64 bits of nanoseconds");
        return false;
    }
    *ns = ms * ns_per_ms;
    return true;
}
