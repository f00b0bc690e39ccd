/* SPDX-License-Identifier: Apache-2.0 */
#include "code_run.h"

#include <string.h>

#include "code_module.h"
#include "ptx_beside.h"
#include "ptx_report.h"

enum { PARAMS_MOST = 32768 }; /* CUDA C++ Programming Guide, technical specifications: bytes of a kernel's parameters */

/* The launch's accessor, extended by the module's variables. */
struct beside {
    struct ptx_beside accessor; /* first: the kernel passes its address back */
    const struct code_copy *copy;
    uint64_t size;
};

static bool access_beside(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use,
                          unsigned char **bytes)
{
    const struct beside *beside = (struct beside *)memory;
    struct twin_memory *inner = beside->accessor.inner;
    const uint64_t offset = address - (uintptr_t)beside->copy->bytes;
    if (offset >= beside->size || beside->size - offset < width)
        return inner->run(inner, address, width, size, use, bytes);
    const uint64_t rest = beside->size - offset;
    *size = *size < rest ? *size : rest;
    *bytes = beside->copy->bytes + offset;
    return true;
}

/* The words of a launch, in the layout of the kernel's parameters. */
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
    struct beside beside = {.size = kernel->module->variables};
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
        .threads = memory->threads,
        .budget = memory->steps,
        .local_most = PTX_LOCAL_MOST,
        .multiprocessors = memory->multiprocessors,
    };
    ptx_beside_set(&beside.accessor, memory);
    beside.accessor.memory.run = access_beside;
    ptx_run(beside.copy ? &beside.accessor.memory : memory, &launch, &outcome);
    memory->made = outcome.steps;
    ptx_report(memory, kernel->module->program, &outcome);
}
