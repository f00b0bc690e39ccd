/* SPDX-License-Identifier: Apache-2.0 */
/* world_write.c - output of the small world: the dump for readers, the recording for replay. */
#include <string.h>

#include "world_parts.h"

/* ---- the recording ---- */

void world_keep(struct world *w, uint32_t state, uint32_t call, const char *reported, bool foreseen, bool moved)
{
    char answer[LOCKSTEP_TOLD + 16];
    snprintf(answer, sizeof answer, "%s%s%s", foreseen ? "" : "!", reported, moved ? " moved" : "");
    if (w->options->record && !w->seeking)
        world_record_put(&w->record, call, answer);
    if (!w->options->recording || w->record.state != state)
        return;
    const char *recorded = world_record_answer(&w->record, call);
    w->report->compared++;
    if (*recorded == '!' || !strcmp(recorded, answer))
        return;
    if (w->report->unlike++ == 0)
        snprintf(w->report->difference, sizeof w->report->difference,
                 "state %zu, call a%u: the recording has \"%.200s\", the system answers \"%.200s\"", w->record.state,
                 call, recorded, answer);
}

bool world_recorded(struct world *w, uint32_t state, const char **error)
{
    *error = NULL;
    while (!w->record_read || w->record.state < state) { /* states that could not be reached are missing from it */
        if (!world_record_next(&w->record, error))
            return false;
        w->record_read = true;
    }
    return true;
}

/* ---- the dump ---- */

void world_dump_call(struct world *w, uint32_t state, size_t call, const char *where, uint32_t next)
{
    if (!w->options->dump)
        return;
    const vmm_detail *detail = vmm_last_detail();
    fprintf(w->options->dump, "t s%u a%zu %d %s ", state, call, w->pair.refused ? (int)detail->result : 0,
            detail->rule ? detail->rule : "-");
    if (next == NO_STATE)
        fprintf(w->options->dump, "%s\n", where);
    else
        fprintf(w->options->dump, "s%u\n", next);
}

void world_dump_alphabet(const struct world *w, uint64_t unit)
{
    char line[512];
    fprintf(w->options->dump, "spec %s\nunit %llu\n", w->spec, (unsigned long long)unit);
    for (size_t i = 0; i < w->alphabet.count; i++) {
        step_print(&w->alphabet.steps[i], unit, line, sizeof line);
        fprintf(w->options->dump, "a%zu %s\n", i, line);
    }
}

void world_dump_states(const struct world *w)
{
    for (size_t i = 0; i < w->report->states; i++) {
        fprintf(w->options->dump, "s%zu ", i);
        for (int k = 0; k < KEY; k++)
            fprintf(w->options->dump, "%02x", w->states[i].key[k]);
        if (w->states[i].before != NO_STATE)
            fprintf(w->options->dump, " s%u a%u", w->states[i].before, w->states[i].call);
        fputc('\n', w->options->dump);
    }
}
