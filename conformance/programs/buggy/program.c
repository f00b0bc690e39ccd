/* SPDX-License-Identifier: Apache-2.0 */
/* The programs in the order of their files and lines, regardless of the linker's order of constructors. */
#include <stdio.h>
#include <string.h>

#include "buggy.h"

static struct program *first;

struct program *program_first(void)
{
    return first;
}

static bool before(const struct program *a, const struct program *b)
{
    int order = strcmp(a->file, b->file);
    return order < 0 || (order == 0 && a->line < b->line);
}

void program_register(struct program *program)
{
    struct program **place = &first;
    while (*place && before(*place, program))
        place = &(*place)->next;
    program->next = *place;
    *place = program;
}

const char *program_theme(const struct program *program, char *theme, size_t size)
{
    const char *slash = strrchr(program->file, '/'), *name = slash ? slash + 1 : program->file;
    snprintf(theme, size, "%.*s", (int)strcspn(name, "."), name);
    return theme;
}
