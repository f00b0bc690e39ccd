/* SPDX-License-Identifier: Apache-2.0 */
#include "ptx_counts.h"

#include <inttypes.h>
#include <stdio.h>
#include <unistd.h>

#include "heap.h"
#include "lifecycle.h"
#include "os_environment.h"
#include "posix.h"
#include "ptx_words.h"

LIFE_LOCK(lock, LIFE_TABLE, NULL)
static uint64_t lanes[PTX_OPCODES]; /* of all launches */

uint64_t *ptx_counts_begin(const struct ptx_program *program)
{
    uint64_t steps = 0;
    if (!os_environment("CUVMM_PTX_COUNTS"))
        return NULL;
    for (uint32_t i = 0; i < program->routine_count; i++)
        steps += program->routines[i].op_count;
    return heap.calloc(steps + 1, sizeof(uint64_t));
}

static void add_up(const struct ptx_program *program, const uint64_t *counts)
{
    for (uint32_t i = 0; i < program->routine_count; i++) {
        const struct ptx_routine *r = &program->routines[i];
        for (uint32_t step = 0; step < r->op_count; step++, counts++)
            if (r->lines[step].begins)
                lanes[r->lines[step].opcode] += *counts;
    }
}

static void write_all(const char *name)
{
    FILE *file = posix.fopen(name, "we");
    for (unsigned i = 0; file && i < PTX_OPCODES; i++)
        if (lanes[i])
            fprintf(file, "%s\t%" PRIu64 "\n", ptx_opcode_text(i), lanes[i]);
    if (file)
        fclose(file);
}

void ptx_counts_end(const struct ptx_program *program, uint64_t *counts)
{
    char name[400];
    if (!counts)
        return;
    life_acquire(&lock);
    add_up(program, counts);
    snprintf(name, sizeof name, "%s.%ld", os_environment("CUVMM_PTX_COUNTS"), (long)getpid());
    write_all(name);
    life_release(&lock);
    heap.free(counts);
}
