/* SPDX-License-Identifier: Apache-2.0 */
#include "table.h"

#include <stdlib.h>
#include <string.h>

#include "buggy.h"
#include "tap.h"

/* A driver's answer, from the rule unless the program sets it. */
static const char *answer(const struct program *program, char *text, size_t size)
{
    const vmm_rule *rule = vmm_rule_find(program->rule);
    if (program->driver)
        return program->driver;
    if (!rule || strncmp(program->rule, "VMM-LEAK-", 9) == 0)
        return "nothing";
    const char *name = vmm_result_name(rule->result);
    name += strncmp(name, "CUDA_ERROR_", 11) == 0 ? 11 : 0;
    switch (rule->driver_580) {
    case VMM_DRIVER_ACCEPTS: return "SUCCESS";
    case VMM_DRIVER_CRASHES: return "ends the process";
    case VMM_DRIVER_VARIES: return "varies";
    case VMM_DRIVER_UNKNOWN: snprintf(text, size, "not measured; here %s", name); return text;
    case VMM_DRIVER_REJECTS: break;
    }
    return name;
}

/* A link to the rule in the rule book; anchors are in lower case. */
static const char *link_to(const char *rule, char *text, size_t size)
{
    size_t n = (size_t)snprintf(text, size, "[%s](rulebook.md#", rule);
    for (const char *c = rule; *c && n + 2 < size; c++)
        text[n++] = *c >= 'A' && *c <= 'Z' ? (char)(*c - 'A' + 'a') : *c;
    text[n++] = ')';
    text[n] = '\0';
    return text;
}

void table_write(FILE *out)
{
    char last[32] = "", theme[32], text[64], rule[200];
    for (const struct program *p = program_first(); p; p = p->next) {
        if (strcmp(program_theme(p, theme, sizeof theme), last) != 0) {
            fprintf(out, "%s## %s\n\n| program | what people do | a driver answers | rule | reported at | fix |\n"
                    "|---|---|---|---|---|---|\n", *last ? "\n" : "", theme);
            strcpy(last, theme);
        }
        fprintf(out, "| %s | %s | %s | %s | %s | %s |\n", p->name, p->does, answer(p, text, sizeof text),
                link_to(p->rule, rule, sizeof rule), p->at, p->way);
    }
}

static char *read_all(FILE *in)
{
    size_t length = 0, room = 1 << 18;
    char *text = malloc(room + 1);
    if (text && in)
        length = fread(text, 1, room, in);
    if (text)
        text[length] = '\0';
    return text;
}

bool table_agrees(const char *path)
{
    FILE *file = fopen(path, "r"), *own = tmpfile();
    if (!file || !own)
        tap_bail("%s cannot be read", path);
    table_write(own);
    rewind(own);
    char *page = read_all(file), *tables = read_all(own);
    const char *from = page ? strstr(page, "\n## ") : NULL;
    bool agree = from && tables && strcmp(from + 1, tables) == 0;
    if (!agree)
        tap_note("%s is not what buggy --table writes; run make mistakes to regenerate it", path);
    free(page);
    free(tables);
    fclose(file);
    fclose(own);
    return agree;
}
