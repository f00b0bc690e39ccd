/* SPDX-License-Identifier: Apache-2.0 */
/* The page of a lesson in lines of 30 columns, and as it is. */
#include "lesson_page.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"

static char *printed(const char *const *lines, size_t columns)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    if (!out)
        tap_bail("no memory");
    lesson_page(out, lines, columns);
    fclose(out);
    return text;
}

static const struct {
    const char *name, *lines[8], *narrow;
} cases[] = {
    {"a paragraph is wrapped as one", {"A mapping brings the two", "together, and they", "can part.", "", "Then"},
     "A mapping brings the two\ntogether, and they can part.\n\nThen\n"},
    {"an item with its later lines", {"- CUDA Driver API, Virtual", "  Memory Management", "- the next"},
     "- CUDA Driver API, Virtual\n  Memory Management\n- the next\n"},
    {"a row of a table", {"| maps where something is mapped | VMM-MAP-OVERLAP |", "|---|---|"},
     "| maps where something is\n    mapped | VMM-MAP-OVERLAP |\n|---|---|\n"},
    {"a block between fences stays", {"Text", "```c", "int main(void) { return a + b + c; }", "- 1", "```", "after"},
     "Text\n```c\nint main(void) { return a + b + c; }\n- 1\n```\nafter\n"},
    {"so do headings and indented lines", {"# A heading that is wider than that", "    a drawing that is wider than 30"},
     "# A heading that is wider than that\n    a drawing that is wider than 30\n"},
};

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *text = printed(cases[i].lines, 30);
        tap_text(text, cases[i].narrow, "%s", cases[i].name);
        free(text);
    }
    const char *wide[] = {"one line that is a good deal wider than thirty columns", "and another", NULL};
    char *text = printed(wide, SIZE_MAX);
    tap_text(text, "one line that is a good deal wider than thirty columns\nand another\n", "without a width the lines stay as they are");
    free(text);
    return tap_done();
}
