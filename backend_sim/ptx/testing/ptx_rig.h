/* SPDX-License-Identifier: Apache-2.0 */
/* ptx_rig.h - for tests: PTX texts as programs, and kernels over a flat piece of memory.
 *
 *     struct rig rig;
 *     rig_open(&rig, RIG_HEAD RIG_KERNEL("k", ".reg .b32 %r<4>;", "..."));
 *     rig_launch(&rig, "k", 2, 64, (uint64_t[]){RIG_BASE}, 1);       its parameters are of 64 bits; rig.outcome says how it ended
 *     rig_u32(&rig)[5]                                               what it wrote at RIG_BASE + 20
 */
#ifndef PTX_RIG_H
#define PTX_RIG_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ptx_memory.h"
#include "ptx_program.h"
#include "ptx_run.h"
#include "ptx_variables.h"
#include "tap.h"

#define RIG_BASE UINT64_C(0x300000000)
#define RIG_GLOBALS (RIG_BASE + (UINT64_C(1) << 20))

enum { RIG_SIZE = 2 << 20 };

#define RIG_HEAD ".version 8.0\n.target sm_90\n.address_size 64\n"

struct rig {
    struct twin_memory memory; /* first: the accessor gets this pointer back */
    unsigned char *bytes;
    uint64_t last; /* the address that was refused */
    unsigned requests;
    struct ptx_program *program;
    struct ptx_error error;
    struct ptx_outcome outcome;
    uint64_t globals[256];
    uint32_t dynamic_shared;
    unsigned threads;
    bool cooperative;
    bool narrow;
    uint64_t *counts;
    uint64_t budget;
    uint32_t local_most;
};

__attribute__((unused)) static bool rig_run(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size,
                                            enum twin_use use, unsigned char **bytes)
{
    struct rig *rig = (struct rig *)memory;
    (void)use;
    rig->requests++;
    if (address < RIG_BASE || address - RIG_BASE > RIG_SIZE - width) {
        rig->last = address;
        return false;
    }
    uint64_t rest = RIG_SIZE - (address - RIG_BASE);
    *size = *size < rest ? *size : rest;
    *bytes = rig->bytes + (address - RIG_BASE);
    return true;
}

__attribute__((unused)) static void rig_place_globals(struct rig *rig)
{
    uint64_t at = RIG_GLOBALS;
    const struct ptx_program *p = rig->program;
    for (uint32_t i = 0; i < p->global_count; i++) {
        at = (at + p->globals[i].align - 1) / p->globals[i].align * p->globals[i].align;
        rig->globals[i] = at;
        at += p->globals[i].size;
    }
    for (uint32_t i = 0; i < p->global_count; i++)
        if (p->globals[i].initial)
            ptx_variable_initial(&p->globals[i], rig->globals, rig->bytes + (rig->globals[i] - RIG_BASE));
}

/* False: rig->error has the reason. */
__attribute__((unused)) static bool rig_open_with(struct rig *rig, const char *text, const struct ptx_options *options)
{
    memset(rig, 0, sizeof *rig);
    rig->memory.run = rig_run;
    rig->local_most = 512 << 10;
    rig->program = ptx_program_new(text, strlen(text), options, &rig->error);
    if (!rig->program)
        return false;
    rig->bytes = calloc(1, RIG_SIZE);
    rig_place_globals(rig);
    return true;
}

__attribute__((unused)) static void rig_open(struct rig *rig, const char *text)
{
    static const struct ptx_options none;
    if (!rig_open_with(rig, text, &none))
        tap_bail("line %u, column %u: %s", rig->error.place.line, rig->error.place.column, rig->error.text);
}

__attribute__((unused)) static void rig_close(struct rig *rig)
{
    ptx_program_free(rig->program);
    free(rig->bytes);
}

__attribute__((unused)) static enum ptx_end rig_launch_dims(struct rig *rig, const char *kernel, const uint32_t grid[3],
                                                            const uint32_t block[3], const uint64_t *args, unsigned count)
{
    unsigned char params[4096] = {0};
    long k = ptx_program_kernel(rig->program, kernel);
    if (k < 0)
        tap_bail("there is no kernel %s", kernel);
    const struct ptx_kernel *code = &rig->program->kernels[k];
    for (unsigned i = 0; i < count; i++)
        memcpy(params + code->params[i].offset, &args[i], code->params[i].size < 8 ? code->params[i].size : 8);
    struct ptx_launch launch = {.program = rig->program, .kernel = code, .params = params, .globals = rig->globals,
                                .dynamic_shared = rig->dynamic_shared, .threads = rig->threads, .narrow = rig->narrow, .counts = rig->counts, .cooperative = rig->cooperative, .budget = rig->budget,
                                .local_most = rig->local_most, .multiprocessors = 132};
    memcpy(launch.grid, grid, sizeof launch.grid);
    memcpy(launch.block, block, sizeof launch.block);
    ptx_run(&rig->memory, &launch, &rig->outcome);
    return rig->outcome.end;
}

__attribute__((unused)) static enum ptx_end rig_launch(struct rig *rig, const char *kernel, uint32_t grid, uint32_t block,
                                                       const uint64_t *args, unsigned count)
{
    return rig_launch_dims(rig, kernel, (uint32_t[3]){grid, 1, 1}, (uint32_t[3]){block, 1, 1}, args, count);
}

__attribute__((unused)) static uint32_t *rig_u32(const struct rig *rig)
{
    return (uint32_t *)(void *)rig->bytes;
}

__attribute__((unused)) static uint64_t *rig_u64(const struct rig *rig)
{
    return (uint64_t *)(void *)rig->bytes;
}

#endif
