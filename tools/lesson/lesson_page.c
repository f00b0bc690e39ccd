/* SPDX-License-Identifier: Apache-2.0 */
#include "lesson_page.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "text.h"

static bool is_item(const char *line)
{
    return strncmp(line, "- ", 2) == 0;
}

static void flush(FILE *out, struct text *paragraph, size_t columns)
{
    if (!paragraph->data)
        return;
    text_wrap(out, paragraph->data, 0, paragraph->data[0] == '|' ? 4 : is_item(paragraph->data) ? 2 : 0, columns);
    fputc('\n', out);
    text_free(paragraph);
}

void lesson_page(FILE *out, const char *const *lines, size_t columns)
{
    struct text paragraph = {0};
    bool in_block = false;
    for (; *lines; lines++) {
        const char *line = *lines;
        bool fence = strncmp(line, "```", 3) == 0;
        /* A line that is indented continues an item, or else belongs to a block. */
        bool stays = columns == SIZE_MAX || in_block || fence || !line[0] || line[0] == '#' || (line[0] == ' ' && !paragraph.data);
        if (stays || line[0] == '|' || is_item(line))
            flush(out, &paragraph, columns);
        if (stays)
            fprintf(out, "%s\n", line);
        else
            text_add(&paragraph, "%s%s", paragraph.data ? " " : "", line + strspn(line, " "));
        in_block ^= fence;
    }
    flush(out, &paragraph, columns);
}
