/* SPDX-License-Identifier: Apache-2.0 */
/* A text of PTX that a program loads. A refusal names a place within the text; an accepted text runs to its end within its
 * budget, with the same outcome in the steps for any processor and in those for wider vectors.
 *
 *   input   [ options: 1 lets instructions stay that do not run here | the text ] */
#include "fuzz.h"

#include <stdlib.h>
#include <string.h>

#include "ptx_program.h"
#include "ptx_run.h"

#define BASE UINT64_C(0x300000000)

/* The limit for a kernel of an input: many runs per second are worth more than a long one. */
enum { MEMORY = 1 << 16, SHARED_MOST = 1 << 16, LOCAL_MOST = 1 << 14, PARAMS_MOST = 1 << 15, KERNELS_MOST = 2, BUDGET = 3000 };

struct flat {
    struct twin_memory memory; /* first: the accessor gets this pointer back */
    unsigned char bytes[MEMORY];
};

static bool run(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use, unsigned char **bytes)
{
    struct flat *flat = (struct flat *)memory;
    (void)use;
    if (address < BASE || address - BASE > MEMORY - width)
        return false;
    uint64_t rest = MEMORY - (address - BASE);
    *size = *size < rest ? *size : rest;
    *bytes = flat->bytes + (address - BASE);
    return true;
}

/* Every parameter and every variable has an address of memory that exists. */
static void launch(const struct ptx_program *program, const struct ptx_kernel *kernel, struct flat *flat, bool narrow, struct ptx_outcome *outcome)
{
    static unsigned char params[PARAMS_MOST];
    uint64_t *globals = calloc(program->global_count + 1u, sizeof *globals);
    const uint64_t base = BASE + 256;
    for (size_t i = 0; i < sizeof params; i += sizeof base)
        memcpy(params + i, &base, sizeof base);
    for (uint32_t i = 0; globals && i < program->global_count; i++)
        globals[i] = BASE + 4096 + i % 64 * 512;
    for (size_t i = 0; i < MEMORY; i++)
        flat->bytes[i] = (unsigned char)(i * 7 + (i >> 8));
    flat->memory = (struct twin_memory){.run = run, .dry = true}; /* nothing is printed */
    struct ptx_launch what = {.program = program, .kernel = kernel, .grid = {2, 1, 1}, .block = {40, 1, 1}, .params = params, .globals = globals,
                              .dynamic_shared = 64, .budget = BUDGET, .local_most = LOCAL_MOST, .multiprocessors = 2, .narrow = narrow};
    if (globals)
        ptx_run(&flat->memory, &what, outcome);
    free(globals);
}

/* Clocks differ from run to run. */
static bool is_fickle(const char *text)
{
    return strstr(text, "%clock") || strstr(text, "%globaltimer");
}

static void run_kernel(const struct ptx_program *program, const struct ptx_kernel *kernel, const char *text)
{
    static struct flat flat[2];
    struct ptx_outcome outcome[2] = {{.end = PTX_END_DONE}};
    if (kernel->shared_bytes > SHARED_MOST || kernel->local_bytes > LOCAL_MOST || kernel->param_bytes > PARAMS_MOST)
        return;
    for (int narrow = 0; narrow < 2; narrow++)
        launch(program, kernel, &flat[narrow], narrow, &outcome[narrow]);
    if (outcome[0].end > PTX_END_STOPPED || outcome[0].end == PTX_END_STOPPED)
        fuzz_finding("kernel %s ended with %d", kernel->name, (int)outcome[0].end);
    if (is_fickle(text))
        return;
    if (outcome[0].end != outcome[1].end || outcome[0].steps != outcome[1].steps || outcome[0].line.line != outcome[1].line.line)
        fuzz_finding("kernel %s ends with %d at line %u after %llu steps, and in the other tier with %d at %u after %llu", kernel->name,
                     (int)outcome[0].end, outcome[0].line.line, (unsigned long long)outcome[0].steps, (int)outcome[1].end, outcome[1].line.line,
                     (unsigned long long)outcome[1].steps);
    if (memcmp(flat[0].bytes, flat[1].bytes, MEMORY) != 0)
        fuzz_finding("kernel %s leaves other bytes in the other tier", kernel->name);
}

static void check_error(const struct ptx_error *error, const char *text)
{
    uint32_t lines = 1;
    for (const char *at = text; *at; at++)
        lines += *at == '\n';
    if (error->no_memory)
        return;
    if (!error->text[0] || !error->place.line || error->place.line > lines || !error->place.column)
        fuzz_finding("it is refused at line %u, column %u of %u lines: %s", error->place.line, error->place.column, lines, error->text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct fuzz_bytes in = {data, size};
    struct ptx_options options = {.let_unsupported_stay = fuzz_byte(&in) & 1};
    struct ptx_error error = {.no_memory = false};
    char *text = fuzz_text(in.at, in.left);
    if (!text)
        return 0;
    struct ptx_program *program = ptx_program_new(text, strlen(text), &options, &error);
    if (!program)
        check_error(&error, text);
    for (uint32_t i = 0; program && i < program->kernel_count && i < KERNELS_MOST; i++)
        run_kernel(program, &program->kernels[i], text);
    ptx_program_free(program);
    free(text);
    return 0;
}
