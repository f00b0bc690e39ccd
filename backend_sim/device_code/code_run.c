/* SPDX-License-Identifier: Apache-2.0 */
#include "code_run.h"

#include <string.h>

#include "code_module.h"
#include "ptx_report.h"

enum { LOCAL_MOST = 512 << 10, PARAMS_MOST = 32768 }; /* CUDA C++ Programming Guide, technical specifications: of a thread, of a kernel */

/* The launch's accessor, with the module's variables beside it. */
struct beside {
    struct twin_memory memory; /* first: the kernel passes this pointer back */
    struct twin_memory *inner;
    const struct code_copy *copy;
    uint64_t size;
};

static bool access_beside(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use,
                          unsigned char **bytes)
{
    const struct beside *beside = (struct beside *)memory;
    const uint64_t offset = address - (uintptr_t)beside->copy->bytes;
    if (offset >= beside->size || beside->size - offset < width)
        return beside->inner->run(beside->inner, address, width, size, use, bytes);
    const uint64_t rest = beside->size - offset;
    *size = *size < rest ? *size : rest;
    *bytes = beside->copy->bytes + offset;
    return true;
}

static bool pause_beside(struct twin_memory *memory, uint64_t nanoseconds)
{
    struct twin_memory *inner = ((struct beside *)memory)->inner;
    return inner->pause(inner, nanoseconds);
}

static bool replicas_beside(struct twin_memory *memory, uint64_t address, unsigned width, enum twin_use use,
                            unsigned char *bytes[TWIN_REPLICAS], unsigned *count)
{
    struct twin_memory *inner = ((struct beside *)memory)->inner;
    return inner->replicas(inner, address, width, use, bytes, count);
}

/* The words of a launch as the kernel's parameters lie. */
static void lay_out(const struct code_kernel *kernel, const uint64_t *args, unsigned char *params)
{
    const struct kernels_ptx *ptx = &kernel->ptx;
    for (unsigned i = 0; i < ptx->parameters; args += (ptx->bytes[i] + 7) / 8, i++)
        memcpy(params + kernel->kernel->params[i].offset, args, ptx->bytes[i]);
}

void code_run(struct twin_memory *memory, const struct vmm_call_launch *call, void *user)
{
    const struct code_kernel *kernel = user;
    const struct kernels_ptx *ptx = &kernel->ptx;
    struct ptx_outcome outcome = {.end = PTX_END_MEMORY};
    struct beside beside = {.inner = memory, .size = kernel->module->variables};
    unsigned char params[PARAMS_MOST];
    if (!code_copy_of(kernel->module, memory->process, memory->context, &beside.copy)) {
        ptx_report(memory, kernel->module->program, &outcome);
        return;
    }
    lay_out(kernel, call->args, params);
    const struct ptx_launch launch = {
        .program = kernel->module->program,
        .kernel = kernel->kernel,
        .grid = {call->grid_dim, ptx->grid_y, ptx->grid_z},
        .block = {call->block_dim, ptx->block_y, ptx->block_z},
        .dynamic_shared = ptx->shared_bytes,
        .params = params,
        .globals = beside.copy ? beside.copy->addresses : NULL,
        .budget = memory->steps,
        .local_most = LOCAL_MOST,
        .multiprocessors = memory->multiprocessors,
    };
    beside.memory = (struct twin_memory){.run = access_beside, .replicas = replicas_beside, .pause = pause_beside,
                                         .fleeting = memory->fleeting};
    ptx_run(beside.copy ? &beside.memory : memory, &launch, &outcome);
    ptx_report(memory, kernel->module->program, &outcome);
}
