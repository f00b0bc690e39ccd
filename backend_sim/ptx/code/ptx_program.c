/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_program.h"

#include <stdio.h>
#include <string.h>

#include "heap.h"
#include "ptx_lower.h"
#include "ptx_parse.h"

static const struct {
    const char *name, *fields;
} steps[] = {
#define PTX_STEP(NAME, fields) {#NAME, fields},
#include "ptx_steps.def"
};

const char *ptx_step_name(unsigned step)
{
    return steps[step].name;
}

const char *ptx_step_fields(unsigned step)
{
    return steps[step].fields;
}

/* False: the error has the reason. The two contexts own everything that was made so far. */
static bool make(struct ptx_context *work, struct ptx_program *program, struct ptx_text text, const struct ptx_options *options)
{
    const struct ptx_module *module = ptx_parse(work, text);
    if (!module)
        return false;
    if (setjmp(work->fail))
        return false;
    if (setjmp(program->context.fail))
        return false;
    struct ptx_lower *l = ptx_alloc(work, 1, sizeof *l);
    l->context = work;
    l->lasting = &program->context;
    l->module = module;
    l->options = options;
    l->program = program;
    ptx_lower_module(l);
    return true;
}

struct ptx_program *ptx_program_new(const char *text, size_t size, const struct ptx_options *options, struct ptx_error *error)
{
    struct ptx_context work;
    struct ptx_program *program = heap.calloc(1, sizeof *program);
    ptx_context_open(&work, error);
    work.newest = options->newest;
    if (!program) {
        error->no_memory = true;
        return NULL;
    }
    struct ptx_error lasting;
    ptx_context_open(&program->context, &lasting);
    bool made = false;
    if ((uint64_t)size > UINT32_MAX)
        snprintf(error->text, sizeof error->text, "a PTX text must be smaller than 4 GiB, but this one has %zu bytes", size);
    else
        made = make(&work, program, (struct ptx_text){text, (uint32_t)size}, options);
    ptx_context_close(&work);
    program->context.error = NULL;
    if (made)
        return program;
    if (lasting.no_memory)
        *error = lasting;
    ptx_program_free(program);
    return NULL;
}

void ptx_program_free(struct ptx_program *program)
{
    if (!program)
        return;
    ptx_context_close(&program->context);
    heap.free(program);
}

long ptx_program_kernel(const struct ptx_program *program, const char *name)
{
    for (uint32_t i = 0; i < program->kernel_count; i++)
        if (strcmp(program->kernels[i].name, name) == 0)
            return (long)i;
    return -1;
}
