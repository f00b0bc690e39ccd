/* SPDX-License-Identifier: Apache-2.0 */
/* Instructions that ptxas was asked about are taken and refused here as they were there; where not, the table says so. */
#include "verdicts.h"

#include "ptx_program.h"
#include "random.h"

static struct ptx_error error;

static bool taken(const char *instruction)
{
    static char text[8192];
    static const struct ptx_options none;
    snprintf(text, sizeof text, "%s%s\nret;\n}\n", VERDICT_HEAD, instruction);
    struct ptx_program *program = ptx_program_new(text, strlen(text), &none, &error);
    ptx_program_free(program);
    return program != NULL;
}

static unsigned lines_of(const char *text)
{
    unsigned lines = 1;
    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

/* A table with only ptxas's verdict; adds ours. */
static int mark(const char *path)
{
    struct verdict v;
    FILE *file = fopen(path, "r");
    if (!file)
        return 1;
    while (verdict_next(file, &v)) {
        bool here = taken(v.instruction);
        printf("%c\t%s\n", here == v.ptxas ? v.line[0] : here ? '<' : '>', v.instruction);
    }
    fclose(file);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 3 && strcmp(argv[1], "--head") == 0) { /* the text before an instruction, for verdicts.py */
        FILE *file = fopen(argv[2], "w");
        return !file || fputs(VERDICT_HEAD, file) < 0 || fclose(file) != 0;
    }
    if (argc == 3 && strcmp(argv[1], "--mark") == 0)
        return mark(argv[2]);
    struct verdict v;
    unsigned seen = 0, refused = 0, differ = 0, wrong = 0, misplaced = 0;
    FILE *file = verdicts_open();
    const unsigned line = lines_of(VERDICT_HEAD);
    while (verdict_next(file, &v)) {
        bool here = taken(v.instruction);
        seen++;
        refused += !here;
        differ += v.here != v.ptxas;
        wrong += here != v.here;
        misplaced += !here && (error.place.line != line || error.place.column > strlen(v.instruction) || !error.text[0]);
        if (here != v.here)
            tap_note("%s%s%s", v.line, here ? "" : ": ", here ? "" : error.text);
    }
    fclose(file);
    tap_u64(wrong, 0, "%u instructions, of which %u are refused, as the table says", seen, refused);
    tap_u64(misplaced, 0, "each refusal names the place, within the instruction");
    tap_ok(seen > 2000 && refused > 500 && differ < seen / 25, "ptxas answers otherwise to %u of them", differ);
    return tap_done();
}
