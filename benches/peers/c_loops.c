/* Loops over the C interface, as a C program would run them. */
#include <plimsoll/plimsoll.h>
#include <stdint.h>
#include <stdlib.h>

#define BATCH 64

static plimsoll_pick_context context_of(uint32_t flags) {
    plimsoll_pick_context context = PLIMSOLL_PICK_CONTEXT_INIT;
    context.flags = flags;
    return context;
}

uint64_t c_picks(plimsoll_worker *worker, uint32_t flags, uint64_t count) {
    const plimsoll_pick_context context = context_of(flags);
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; ++i) {
        plimsoll_pick pick;
        if (plimsoll_worker_pick(worker, &context, &pick) != PLIMSOLL_STATUS_OK) abort();
        sum += pick.slot;
    }
    return sum;
}

uint64_t c_pairs(plimsoll_worker *worker, uint64_t count) {
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count; ++i) {
        plimsoll_pick pick;
        if (plimsoll_worker_pick(worker, NULL, &pick) != PLIMSOLL_STATUS_OK) abort();
        sum += pick.slot;
        if (plimsoll_worker_done(worker, &pick, PLIMSOLL_OUTCOME_SUCCESS) != PLIMSOLL_STATUS_OK) {
            abort();
        }
    }
    return sum;
}

/* `count` picks, rounded down to whole batches. */
uint64_t c_batches(plimsoll_worker *worker, uint32_t flags, uint64_t count) {
    const plimsoll_pick_context context = context_of(flags);
    plimsoll_pick picks[BATCH];
    uint64_t sum = 0;
    for (uint64_t i = 0; i < count / BATCH; ++i) {
        size_t picked;
        if (plimsoll_worker_pick_batch(worker, &context, picks, BATCH, &picked) !=
            PLIMSOLL_STATUS_OK) {
            abort();
        }
        for (size_t k = 0; k < picked; ++k) sum += picks[k].slot;
    }
    return sum;
}
