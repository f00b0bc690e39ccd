/* SPDX-License-Identifier: Apache-2.0 */
#include "waiver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tap.h"
#include "vmm.h"

#define LINE_MAX_LENGTH 800

static FILE *table(void)
{
    char path[512];
    const char *source = getenv("CUVMM_SOURCE");
    snprintf(path, sizeof path, "%s/docs/waivers.md", source && source[0] ? source : ".");
    return fopen(path, "r");
}

/* The text between this '|' and the next, without the blanks around it. */
static const char *cell(const char *bar, char *text, size_t size)
{
    const char *from = bar + 1 + strspn(bar + 1, " "), *end = strchr(from, '|');
    if (!end)
        return NULL;
    size_t length = (size_t)(end - from);
    while (length && from[length - 1] == ' ')
        length--;
    snprintf(text, size, "%.*s", (int)length, from);
    return end;
}

/* The next row of the table. */
static bool next_row(FILE *file, struct waiver *waiver)
{
    char line[LINE_MAX_LENGTH];
    while (fgets(line, sizeof line, file)) {
        const char *at = strncmp(line, "| WAIVER-", 9) == 0 ? line : NULL;
        at = at ? cell(at, waiver->id, sizeof waiver->id) : NULL;
        at = at ? cell(at, waiver->rule, sizeof waiver->rule) : NULL;
        at = at ? cell(at, waiver->drivers, sizeof waiver->drivers) : NULL;
        at = at ? cell(at, waiver->effect, sizeof waiver->effect) : NULL;
        if (at)
            return true;
    }
    return false;
}

bool waiver_find(const char *rule, struct waiver *waiver)
{
    struct waiver row;
    bool found = false;
    FILE *file = rule ? table() : NULL;
    while (file && !found && next_row(file, &row))
        found = strcmp(row.rule, rule) == 0;
    if (file)
        fclose(file);
    if (found && waiver)
        *waiver = row;
    return found;
}

static bool needs_waiver(const vmm_rule *rule)
{
    return rule && rule->origin == VMM_ORIGIN_DOCUMENTED && rule->driver_580 == VMM_DRIVER_ACCEPTS &&
           rule->rule_class != VMM_RULE_HAZARD;
}

void waiver_check(void)
{
    size_t count = 0, wrong = 0;
    struct waiver row;
    const vmm_rule *rules = vmm_rules(&count);
    FILE *file = table();
    if (!file) {
        tap_skip("needs docs/waivers.md (set CUVMM_SOURCE to the source folder)", "waivers are those that are needed");
        return;
    }
    while (next_row(file, &row))
        if (!needs_waiver(vmm_rule_find(row.rule)) || !row.drivers[0] || !row.effect[0]) {
            wrong++;
            tap_note("  %s waives %s, which needs no waiver, or lacks the driver or the meaning", row.id, row.rule);
        }
    fclose(file);
    for (size_t i = 0; i < count; i++)
        if (needs_waiver(&rules[i]) && !waiver_find(rules[i].id, NULL)) {
            wrong++;
            tap_note("  %s needs a waiver", rules[i].id);
        }
    tap_ok(wrong == 0, "documented rules that driver 580 accepts have a waiver, and no others");
}
