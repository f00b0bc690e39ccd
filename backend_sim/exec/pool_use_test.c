/* SPDX-License-Identifier: Apache-2.0 */
/* pool_use: for every pair of streams, memory allocated on one and used on the other with nothing between is reported unless a
 * default stream orders the two. Two contexts, each with its default stream, one that it blocks and one that it does not. */
#include <string.h>

#include "tap.h"
#include "vmm.h"

enum { CONTEXTS = 2, KINDS = 3, STREAMS = CONTEXTS * KINDS, SIZE = 1 << 16 };

static const char *const kinds[KINDS] = {"default", "blocking", "non-blocking"};
static unsigned reported, others;

static void count(void *user, const vmm_detail *detail)
{
    (void)user;
    bool it = detail->rule && !strcmp(detail->rule, "VMM-POOL-USE-UNORDERED");
    reported += it;
    others += !it;
}

static void need(vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("set-up: %s: %s", vmm_result_name(result), vmm_last_detail()->note);
}

/* The documentation's rule: a default stream and the blocking streams of its context wait for each other. */
static bool ordered(unsigned a, unsigned b)
{
    unsigned kind = a % KINDS, other = b % KINDS;
    return a == b || (a / KINDS == b / KINDS && kind != 2 && other != 2 && (!kind || !other));
}

int main(void)
{
    vmm_system *sys;
    vmm_context context[CONTEXTS];
    vmm_stream stream[STREAMS];
    need(vmm_open("sim:h100", &sys));
    need(vmm_init(sys, 0));
    for (unsigned i = 0; i < STREAMS; i++) {
        if (i % KINDS == 0)
            need(vmm_ctx_create(sys, &context[i / KINDS], 0, 0));
        stream[i] = NULL;
        if (i % KINDS)
            need(vmm_stream_create(sys, &stream[i], i % KINDS == 2 ? VMM_STREAM_NON_BLOCKING : VMM_STREAM_DEFAULT));
    }
    vmm_set_report(sys, count, NULL);
    for (unsigned pair = 0; pair < STREAMS * STREAMS; pair++) {
        const unsigned a = pair / STREAMS, b = pair % STREAMS;
        vmm_deviceptr ptr = 0;
        reported = others = 0;
        need(vmm_ctx_set_current(sys, context[a / KINDS]));
        need(vmm_mem_alloc_async(sys, &ptr, SIZE, stream[a]));
        need(vmm_ctx_set_current(sys, context[b / KINDS]));
        need(vmm_memset_d8_async(sys, ptr, 1, SIZE, stream[b]));
        tap_ok(reported == !ordered(a, b) && !others, "allocated on the %s stream of context %u, used on the %s stream of context %u: %s",
               kinds[a % KINDS], a / KINDS, kinds[b % KINDS], b / KINDS, ordered(a, b) ? "ordered" : "reported");
        for (unsigned i = 0; i < CONTEXTS; i++) {
            need(vmm_ctx_set_current(sys, context[i]));
            need(vmm_ctx_synchronize(sys));
        }
        need(vmm_mem_free_async(sys, ptr, stream[KINDS]));
        need(vmm_ctx_synchronize(sys));
    }
    vmm_close(sys);
    return tap_done();
}
