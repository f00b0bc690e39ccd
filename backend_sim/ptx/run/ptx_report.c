/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_report.h"

#include <stdio.h>
#include <string.h>

static const struct {
    enum twin_failure failure;
    const char *why;
} ends[] = {
    [PTX_END_ACCESS] = {TWIN_NO_ACCESS, ""},
    [PTX_END_MISALIGNED] = {TWIN_MISALIGNED, ""},
    [PTX_END_SPACE] = {TWIN_STRAYED, "an access outside of its shared memory, its local memory or its parameters"},
    [PTX_END_TRAP] = {TWIN_FAILED, "it executed trap"},
    [PTX_END_ASSERT] = {TWIN_ASSERT, ""},
    [PTX_END_BREAKPOINT] = {TWIN_FAILED, "it executed brkpt without a debugger"},
    [PTX_END_POINTER] = {TWIN_STRAYED, "it called a pointer that is not a function with these parameters"},
    [PTX_END_STACK] = {TWIN_STRAYED, "its calls need more local memory than a thread may have"},
    [PTX_END_HEAP] = {TWIN_FAILED, "it freed an address that malloc did not return, or a block twice, or wrote past a block"},
    [PTX_END_UNSUPPORTED] = {TWIN_FAILED, "it reached an instruction that the simulator does not support"},
    [PTX_END_DEADLOCK] = {TWIN_TIMEOUT, "each of its threads waits for another one forever"},
    [PTX_END_BUDGET] = {TWIN_TIMEOUT, "it reached the limit of steps without ending"},
    [PTX_END_MEMORY] = {TWIN_NO_MEMORY, ""},
};

/* "/home/me/src/fill.cu:12" as "fill.cu:12", because folders would leave no room for the rest. */
static const char *without_folders(const char *line)
{
    const char *slash = strrchr(line, '/');
    return slash ? slash + 1 : line;
}

static void describe(const struct ptx_program *program, const struct ptx_outcome *o, char *text, size_t size)
{
    char line[400], more[40] = "";
    unsigned lanes = (unsigned)__builtin_popcount(o->lanes);
    ptx_describe_line(program, &o->line, line, sizeof line);
    if (lanes > 1)
        snprintf(more, sizeof more, " and %u more", lanes - 1);
    snprintf(text, size, "thread (%u,%u,%u)%s of block (%u,%u,%u), %.50s", o->thread[0], o->thread[1], o->thread[2], more, o->block[0],
             o->block[1], o->block[2], without_folders(line));
}

void ptx_report(struct twin_memory *memory, const struct ptx_program *program, const struct ptx_outcome *o)
{
    if (o->end == PTX_END_DONE || o->end == PTX_END_STOPPED)
        return;
    char where[120] = "";
    if (o->lanes)
        describe(program, o, where, sizeof where);
    char misaligned[60];
    snprintf(misaligned, sizeof misaligned, "the address is not a multiple of %u", o->bytes);
    const struct twin_end end = {.failure = ends[o->end].failure, .address = o->address, .width = o->bytes, .use = o->use,
                                 .why = o->text[0] ? o->text : o->end == PTX_END_MISALIGNED ? misaligned : ends[o->end].why,
                                 .where = where};
    memory->ended(memory, &end);
}
