/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_kernel_run.h"

#include <setjmp.h>

#include "abi_host.h"
#include "abi_plugins.h"

struct run {
    vmm_kernel_launch k; /* must be first: the plugin returns a pointer to it */
    struct twin_memory *memory;
    const uint64_t *variables; /* their addresses */
    jmp_buf end;
};

enum { WIDEST = 8 }; /* the widest single access; a longer one is split */

/* The bytes for one piece of an access; ends the kernel on an access without rights. NULL: zeros. */
static unsigned char *piece(struct run *run, uint64_t address, uint64_t *size, enum twin_use use)
{
    unsigned char *bytes = NULL;
    struct abi_host_range range;
    uint64_t wanted = *size;
    if (abi_host_any_registered() && abi_host_find(address, wanted, &range) && range.registered) {
        if (use != TWIN_READ)
            run->memory->show(run->memory);
        return (unsigned char *)(uintptr_t)address;
    }
    unsigned width = wanted <= WIDEST ? (unsigned)wanted : 1;
    if (!run->memory->run(run->memory, address, width, size, use, &bytes))
        longjmp(run->end, 1);
    return bytes;
}

static void load(vmm_kernel_launch *k, vmm_ptr from, void *to, size_t size)
{
    uint64_t part;
    for (size_t done = 0; done < size; done += part) {
        part = size - done;
        const unsigned char *bytes = piece((struct run *)k, from + done, &part, TWIN_READ);
        if (bytes)
            memcpy((unsigned char *)to + done, bytes, part);
        else
            memset((unsigned char *)to + done, 0, part);
    }
}

static void store(vmm_kernel_launch *k, vmm_ptr to, const void *from, size_t size)
{
    uint64_t part;
    for (size_t done = 0; done < size; done += part) {
        part = size - done;
        unsigned char *bytes = piece((struct run *)k, to + done, &part, TWIN_WRITE);
        memcpy(bytes, (const unsigned char *)from + done, part);
    }
}

static void *span(vmm_kernel_launch *k, vmm_ptr address, size_t *size, int write)
{
    static unsigned char zeros[4096];
    uint64_t part = *size;
    unsigned char *bytes = part ? piece((struct run *)k, address, &part, write ? TWIN_WRITE : TWIN_READ) : zeros;
    if (!bytes && part > sizeof zeros)
        part = sizeof zeros;
    *size = part;
    return bytes ? bytes : zeros;
}

static void take_time(vmm_kernel_launch *k, uint64_t nanoseconds)
{
    struct run *run = (struct run *)k;
    if (run->memory->pause && !run->memory->pause(run->memory, nanoseconds)) /* LCOV_EXCL_BR_LINE: unless the process ends */
        longjmp(run->end, 1);                                                /* LCOV_EXCL_LINE: then the counters are lost */
}

static vmm_ptr variable(vmm_kernel_launch *k, const struct vmm_variable_entry *entry)
{
    return ((struct run *)k)->variables[abi_variable_index(entry)];
}

/* Runs the threads one after the other, x fastest. */
static void each_thread(vmm_kernel_launch *k, void (*code)(vmm_kernel_launch *k))
{
    vmm_dim *b = &k->block_idx, *t = &k->thread_idx;
    for (b->z = 0; b->z < k->grid_dim.z; b->z++)
        for (b->y = 0; b->y < k->grid_dim.y; b->y++)
            for (b->x = 0; b->x < k->grid_dim.x; b->x++)
                for (t->z = 0; t->z < k->block_dim.z; t->z++)
                    for (t->y = 0; t->y < k->block_dim.y; t->y++)
                        for (t->x = 0; t->x < k->block_dim.x; t->x++)
                            code(k);
}

void abi_kernel_run(struct twin_memory *memory, const struct vmm_call_launch *call, void *user)
{
    const struct abi_kernel *kernel = user;
    const uint64_t *head = call->args;
    struct run run = {
        .k = {.grid_dim = {(unsigned)head[0], (unsigned)(head[0] >> 32), (unsigned)head[1]},
              .block_dim = {(unsigned)(head[1] >> 32), (unsigned)head[2], (unsigned)(head[2] >> 32)},
              .shared_bytes = (uint32_t)head[ABI_LAUNCH_SHARED],
              .params = (const unsigned char *)(head + ABI_LAUNCH_HEAD),
              .offset = kernel->offset,
              .load = load,
              .store = store,
              .span = span,
              .take_time = take_time,
              .variable = variable},
        .memory = memory,
        .variables = (const uint64_t *)(uintptr_t)head[ABI_LAUNCH_VARIABLES],
    };
    bool before = abi_inside_kernel(true);
    if (setjmp(run.end) == 0) {
        if (kernel->entry->per_thread)
            each_thread(&run.k, kernel->entry->run);
        else
            kernel->entry->run(&run.k);
    }
    abi_inside_kernel(before);
}
