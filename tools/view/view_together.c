/* SPDX-License-Identifier: Apache-2.0 */
/* Which traces a page can show together. See view.h. */
#include <stdio.h>
#include <string.h>

#include "view.h"

/* False with the reason why those two cannot be. */
static bool fit(const struct view_traces *traces, size_t a, size_t b, char *why, size_t size)
{
    const struct timeline_process *one = &traces->timeline[a].process, *other = &traces->timeline[b].process;
    if (strcmp(one->boot, other->boot) != 0)
        snprintf(why, size,
                 "%.200s and %.200s cannot be put on one clock: they were recorded on different machines (%s and %s) or "
                 "before and after a restart; make a page of each",
                 traces->name[a], traces->name[b], one->host, other->host);
    else if (one->number == other->number && one->clock == other->clock)
        snprintf(why, size, "%.200s and %.200s are the same trace, of process %ld; give it once", traces->name[a],
                 traces->name[b], one->number);
    else
        return true;
    return false;
}

static void sort(struct view_traces *traces)
{
    for (size_t i = 1; i < traces->count; i++)
        for (size_t j = i; j && traces->timeline[j].process.clock < traces->timeline[j - 1].process.clock; j--) {
            struct timeline t = traces->timeline[j];
            const char *name = traces->name[j];
            traces->timeline[j] = traces->timeline[j - 1];
            traces->name[j] = traces->name[j - 1];
            traces->timeline[j - 1] = t;
            traces->name[j - 1] = name;
        }
}

bool view_together(struct view_traces *traces, char *why, size_t size)
{
    for (size_t i = 0; traces->count > 1 && i < traces->count; i++) {
        if (!traces->timeline[i].process.known) {
            snprintf(why, size, "%.200s does not name its process, so it cannot be shown beside others; record each process with "
                     "trace=FILE.%%p", traces->name[i]);
            return false;
        }
        for (size_t j = 0; j < i; j++)
            if (!fit(traces, j, i, why, size))
                return false;
    }
    sort(traces);
    return true;
}
