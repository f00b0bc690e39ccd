/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_ptx_run.h"

#include <stdio.h>
#include <string.h>

#include "abi_host.h"
#include "abi_plugins.h"
#include "abi_ptx.h"
#include "ptx_run.h"

enum { LOCAL_MOST = 512 << 10 }; /* CUDA C++ Programming Guide, technical specifications: local memory of a thread */

/* The engine's accessor, with registered memory of the host beside it. */
struct beside {
    struct twin_memory memory; /* first: the kernel passes this pointer back */
    struct twin_memory *inner;
};

static bool access_beside(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use,
                          unsigned char **bytes)
{
    struct twin_memory *inner = ((struct beside *)memory)->inner;
    struct abi_host_range range;
    if (!abi_host_find(address, width, &range) || !range.registered)
        return inner->run(inner, address, width, size, use, bytes);
    if (use != TWIN_READ)
        inner->show(inner);
    uint64_t rest = range.size - (address - range.start);
    *size = *size < rest ? *size : rest;
    *bytes = (unsigned char *)(uintptr_t)address;
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

/* ---- how it ended ---- */

static const struct {
    enum twin_failure failure;
    const char *why;
} ends[] = {
    [PTX_END_ACCESS] = {TWIN_NO_ACCESS, ""},
    [PTX_END_MISALIGNED] = {TWIN_MISALIGNED, ""},
    [PTX_END_SPACE] = {TWIN_STRAYED, "an access outside of its shared memory, its local memory or its parameters"},
    [PTX_END_TRAP] = {TWIN_FAILED, "it executed trap"},
    [PTX_END_ASSERT] = {TWIN_ASSERT, ""},
    [PTX_END_BREAKPOINT] = {TWIN_FAILED, "it executed brkpt, and there is no debugger"},
    [PTX_END_POINTER] = {TWIN_STRAYED, "it called a pointer that leads to no function that fits"},
    [PTX_END_STACK] = {TWIN_STRAYED, "its calls need more local memory than a thread may have"},
    [PTX_END_UNSUPPORTED] = {TWIN_FAILED, "it reached an instruction that does not run here"},
    [PTX_END_DEADLOCK] = {TWIN_TIMEOUT, "each of its threads waits for another one, and will for ever"},
    [PTX_END_BUDGET] = {TWIN_TIMEOUT, "it made as many steps as it may, and had not ended"},
    [PTX_END_MEMORY] = {TWIN_NO_MEMORY, ""},
};

/* "/home/me/src/fill.cu:12" as "fill.cu:12": the folders would leave no room for the rest. */
static const char *without_folders(const char *line)
{
    const char *slash = strrchr(line, '/');
    return slash ? slash + 1 : line;
}

static void describe(const struct abi_ptx_kernel *kernel, const struct ptx_outcome *o, char *text, size_t size)
{
    char line[400], more[40] = "";
    unsigned lanes = (unsigned)__builtin_popcount(o->lanes);
    ptx_describe_line(kernel->code, &o->line, line, sizeof line);
    if (lanes > 1)
        snprintf(more, sizeof more, " and %u more", lanes - 1);
    snprintf(text, size, "thread (%u,%u,%u)%s of block (%u,%u,%u), %.50s", o->thread[0], o->thread[1], o->thread[2], more, o->block[0],
             o->block[1], o->block[2], without_folders(line));
}

static void report(struct twin_memory *memory, const struct abi_ptx_kernel *kernel, const struct ptx_outcome *o)
{
    char where[120] = "";
    if (o->lanes)
        describe(kernel, o, where, sizeof where);
    char misaligned[60];
    snprintf(misaligned, sizeof misaligned, "the address is not a multiple of %u", o->bytes);
    const struct twin_end end = {.failure = ends[o->end].failure, .address = o->address, .width = o->bytes, .use = o->use,
                                 .why = o->text[0] ? o->text : o->end == PTX_END_MISALIGNED ? misaligned : ends[o->end].why,
                                 .where = where};
    memory->ended(memory, &end);
}

void abi_ptx_run(struct twin_memory *memory, const struct vmm_call_launch *call, void *user)
{
    const struct abi_ptx_kernel *kernel = user;
    const uint64_t *head = call->args;
    struct ptx_outcome outcome;
    struct beside beside = {.inner = memory};
    const struct ptx_launch launch = {
        .program = kernel->code,
        .kernel = kernel->kernel,
        .grid = {(uint32_t)head[0], (uint32_t)(head[0] >> 32), (uint32_t)head[1]},
        .block = {(uint32_t)(head[1] >> 32), (uint32_t)head[2], (uint32_t)(head[2] >> 32)},
        .dynamic_shared = (uint32_t)head[ABI_LAUNCH_SHARED],
        .params = (const unsigned char *)(head + ABI_LAUNCH_HEAD),
        .globals = (const uint64_t *)(uintptr_t)head[ABI_LAUNCH_VARIABLES],
        .budget = kernel->device.steps,
        .local_most = LOCAL_MOST,
        .multiprocessors = kernel->device.multiprocessors,
        .strict = kernel->device.strict,
    };
    beside.memory = (struct twin_memory){.run = access_beside, .replicas = replicas_beside, .pause = pause_beside,
                                         .fleeting = memory->fleeting};
    bool before = abi_inside_kernel(true);
    ptx_run(abi_host_any_registered() ? &beside.memory : memory, &launch, &outcome);
    abi_inside_kernel(before);
    if (outcome.end != PTX_END_DONE && outcome.end != PTX_END_STOPPED)
        report(memory, kernel, &outcome);
}
