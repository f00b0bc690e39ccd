/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_ptx_run.h"

#include "abi_host.h"
#include "abi_plugins.h"
#include "abi_ptx.h"
#include "ptx_beside.h"
#include "ptx_report.h"

/* Registered host memory, in addition to the engine's. */
static bool access_beside(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use,
                          unsigned char **bytes)
{
    struct twin_memory *inner = ((struct ptx_beside *)memory)->inner;
    struct abi_host_range range;
    if (!abi_host_find(address, width, &range) || !range.registered)
        return inner->run(inner, address, width, size, use, bytes);
    if (use != TWIN_READ && !inner->dry)
        inner->show(inner);
    uint64_t rest = range.size - (address - range.start);
    *size = *size < rest ? *size : rest;
    *bytes = (unsigned char *)(uintptr_t)address;
    return true;
}

void abi_ptx_run(struct twin_memory *memory, const struct vmm_call_launch *call, void *user)
{
    const struct abi_ptx_kernel *kernel = user;
    const uint64_t *head = call->args;
    struct ptx_outcome outcome;
    struct ptx_beside beside;
    const struct ptx_launch launch = {
        .program = kernel->code,
        .kernel = kernel->kernel,
        .grid = {(uint32_t)head[0], (uint32_t)(head[0] >> 32), (uint32_t)head[1]},
        .block = {(uint32_t)(head[1] >> 32), (uint32_t)head[2], (uint32_t)(head[2] >> 32)},
        .dynamic_shared = (uint32_t)head[ABI_LAUNCH_SHARED],
        .cooperative = head[ABI_LAUNCH_SHARED] >> 32 != 0,
        .params = (const unsigned char *)(head + ABI_LAUNCH_HEAD),
        .globals = (const uint64_t *)(uintptr_t)head[ABI_LAUNCH_VARIABLES],
        .threads = memory->threads,
        .budget = memory->steps,
        .local_most = PTX_LOCAL_MOST,
        .multiprocessors = kernel->device.multiprocessors,
        .strict = kernel->device.strict,
    };
    ptx_beside_set(&beside, memory);
    beside.memory.run = access_beside;
    bool before = abi_inside_kernel(true);
    ptx_run(abi_host_any_registered() ? &beside.memory : memory, &launch, &outcome);
    abi_inside_kernel(before);
    memory->made = outcome.steps;
    ptx_report(memory, kernel->code, &outcome);
}
