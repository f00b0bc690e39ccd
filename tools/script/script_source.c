/* SPDX-License-Identifier: Apache-2.0 */
/* The lines of a script that made calls, because messages name them by number. */
#include <stdlib.h>
#include <string.h>

#include "script_state.h"

void script_source_keep(struct script *script)
{
    struct script_source *source = &script->source;
    if (source->count && source->line[source->count - 1].number == script->line)
        return;
    if (source->count == source->room) {
        source->room = source->room ? source->room * 2 : 64;
        source->line = text_grow(source->line, source->room * sizeof *source->line);
    }
    size_t from = 0, to = script->length;
    while (from < to && strchr(" \t", script->text[from]))
        from++;
    while (to > from && strchr(" \t", script->text[to - 1]))
        to--;
    char *text = text_grow(NULL, to - from + 1);
    memcpy(text, script->text + from, to - from);
    text[to - from] = 0;
    source->line[source->count++] = (struct script_source_line){script->line, text};
}

/* Lines are kept in their order. */
static int by_number(const void *wanted, const void *line)
{
    const int number = *(const int *)wanted, is = ((const struct script_source_line *)line)->number;
    return number < is ? -1 : number > is;
}

const char *script_source_line(const struct script *script, int number)
{
    const struct script_source *source = &script->source;
    const struct script_source_line *line =
        source->count ? bsearch(&number, source->line, source->count, sizeof *source->line, by_number) : NULL;
    return line ? line->text : NULL;
}

void script_source_free(struct script *script)
{
    for (size_t i = 0; i < script->source.count; i++)
        free(script->source.line[i].text);
    free(script->source.line);
}
