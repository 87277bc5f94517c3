/*
 * What the proxy counts, besides what the library counts.
 *
 * Each thread has a set of its own and is the only one to write it, so that counting never bounces
 * a cache line between cores; the admin page adds the sets up.
 */
#ifndef PROXY_COUNTERS_H
#define PROXY_COUNTERS_H

#include <stdalign.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

/* Sorted, as the page shows them. */
#define COUNTERS(X)                                                                                \
    X(client_closed)                                                                               \
    X(client_opened)                                                                               \
    X(client_over_limit)                                                                           \
    X(health_checks_failed)                                                                        \
    X(health_checks_passed)                                                                        \
    X(health_reports_refused)                                                                      \
    X(picks)                                                                                       \
    X(picks_done)                                                                                  \
    X(picks_without_host)                                                                          \
    X(reloads)                                                                                     \
    X(reloads_refused)                                                                             \
    X(replies_local)                                                                               \
    X(requests)                                                                                    \
    X(responses)                                                                                   \
    X(retries)                                                                                     \
    X(upstream_closed)                                                                             \
    X(upstream_connect_failed)                                                                     \
    X(upstream_opened)                                                                             \
    X(upstream_reused)                                                                             \
    X(upstream_timed_out)

#define COUNTERS_MEMBER(name) atomic_uint_fast64_t name;

struct counters {
    alignas(128) COUNTERS(COUNTERS_MEMBER)
};

/* Relaxed: a count orders nothing else. */
static inline void count(atomic_uint_fast64_t *counter)
{
    atomic_fetch_add_explicit(counter, 1, memory_order_relaxed);
}

/* Writes "proxy.NAME: VALUE" lines, each the sum over `sets`; returns their length. What does not
 * fit in `capacity` is left out. */
size_t counters_print(struct counters *sets, size_t set_count, char *out, size_t capacity);

#endif
