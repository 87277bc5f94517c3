/* The proxy's counters as text; see counters.h. */
#include "counters.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

static const struct {
    const char *name;
    size_t offset;
} members[] = {
#define COUNTERS_ENTRY(name) {#name, offsetof(struct counters, name)},
    COUNTERS(COUNTERS_ENTRY)
#undef COUNTERS_ENTRY
};

static uint_fast64_t sum(struct counters *sets, size_t set_count, size_t offset)
{
    uint_fast64_t total = 0;
    for (size_t i = 0; i < set_count; i++) {
        atomic_uint_fast64_t *counter = (void *)((char *)&sets[i] + offset);
        total += atomic_load_explicit(counter, memory_order_relaxed);
    }
    return total;
}

size_t counters_print(struct counters *sets, size_t set_count, char *out, size_t capacity)
{
    size_t used = 0;
    for (size_t i = 0; i < sizeof members / sizeof members[0] && used < capacity; i++) {
        uint_fast64_t total = sum(sets, set_count, members[i].offset);
        int length = snprintf(out + used, capacity - used, "proxy.%s: %" PRIuFAST64 "\n",
                              members[i].name, total);
        used += length > 0 ? (size_t)length : 0;
    }
    return used < capacity ? used : capacity;
}
