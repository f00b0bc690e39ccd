/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_callback.h"

#include <stdlib.h>

#include "abi_parts.h"
#include "heap.h"
#include "lifecycle.h"

/* A list of pending callbacks: after a fault they are never called. */
struct waiting {
    CUstreamCallback callback;
    CUstream stream;
    void *user;
    struct waiting *next, **link;
};

LIFE_LOCK(lock, LIFE_TABLE, NULL)
static struct waiting *all;

static void take_out(struct waiting *waiting)
{
    life_acquire(&lock);
    *waiting->link = waiting->next;
    if (waiting->next)
        waiting->next->link = waiting->link;
    life_release(&lock);
}

static void put_in(struct waiting *waiting)
{
    life_acquire(&lock);
    waiting->next = all;
    waiting->link = &all;
    if (all)
        all->link = &waiting->next;
    all = waiting;
    life_release(&lock);
}

static void call(void *user)
{
    struct waiting *waiting = user;
    const struct waiting it = *waiting;
    take_out(waiting);
    heap.free(waiting);
    it.callback(it.stream, CUDA_SUCCESS, it.user);
}

CUresult abi_add_callback(vmm_system *sys, vmm_stream stream, CUstream shown, CUstreamCallback callback, void *user,
                          unsigned flags)
{
    if (!callback)
        return abi_null("cuStreamAddCallback", "callback");
    if (flags)
        return abi_refuse(VMM_RULE_CALL_VALUE, "cuStreamAddCallback", "flags is %u: it must be 0", flags);
    struct waiting *waiting = heap.malloc(sizeof *waiting);
    if (!waiting)
        return abi_no_memory("cuStreamAddCallback");
    *waiting = (struct waiting){callback, shown, user, NULL, NULL};
    put_in(waiting);
    CUresult result = (CUresult)vmm_launch_host_func(sys, stream, call, waiting);
    if (result != CUDA_SUCCESS) {
        take_out(waiting);
        heap.free(waiting);
    }
    return result;
}

void abi_callbacks_close(void)
{
    while (all) {
        struct waiting *next = all->next;
        heap.free(all);
        all = next;
    }
}
