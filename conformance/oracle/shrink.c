/* SPDX-License-Identifier: Apache-2.0 */
/* shrink.c - drop steps, test, keep or restore. */
#include "shrink.h"

#include <stdlib.h>
#include <string.h>

struct shrinking {
    struct script *script;
    struct script candidate;
    shrink_fn still_wrong;
    void *user;
    size_t asked;
};

/* Keeps the candidate when it is still wrong. */
static bool keep_if_wrong(struct shrinking *s)
{
    size_t length = s->candidate.count;
    s->asked++;
    if (!s->still_wrong(s->user, &s->candidate, &length))
        return false;
    s->script->count = length;
    memcpy(s->script->steps, s->candidate.steps, length * sizeof *s->script->steps);
    return true;
}

static void copy(struct shrinking *s)
{
    s->candidate.count = 0;
    for (size_t i = 0; i < s->script->count; i++)
        steps_add(&s->candidate, &s->script->steps[i]);
}

/* Drops steps [from, from + length). */
static bool without(struct shrinking *s, size_t from, size_t length)
{
    s->candidate.count = 0;
    for (size_t i = 0; i < s->script->count; i++)
        if (i < from || i >= from + length)
            steps_add(&s->candidate, &s->script->steps[i]);
    return keep_if_wrong(s);
}

/* From the end, where steps that the last one does not need are most likely. */
static bool leave_out(struct shrinking *s, size_t length)
{
    bool any = false;
    for (size_t end = s->script->count; end > 0;) {
        size_t from = end > length ? end - length : 0;
        any |= without(s, from, end - from);
        end = from < s->script->count ? from : s->script->count; /* a kept candidate may have lost its tail, too */
    }
    return any;
}

/* One argument of one step replaced by 0, by only its name, or by only its value. */
static void plainer(struct shrinking *s)
{
    size_t count;
    for (size_t i = 0; i < s->script->count; i++) {
        const struct vmm_param *params = vmm_call_params(s->script->steps[i].call, &count);
        for (size_t p = 0; p < count && p < STEP_ARGS; p++) {
            struct step_arg arg = s->script->steps[i].arg[p];
            if (params[p].kind >= VMM_PARAM_PROP || !arg.add)
                continue;
            copy(s);
            s->candidate.steps[i].arg[p].add = 0;
            if (keep_if_wrong(s) && i >= s->script->count)
                return;
        }
    }
}

size_t shrink(struct script *script, shrink_fn still_wrong, void *user)
{
    struct shrinking s = {.script = script, .still_wrong = still_wrong, .user = user};
    copy(&s);
    keep_if_wrong(&s); /* drops what follows the difference */
    for (size_t length = script->count / 2; length > 1; length /= 2)
        leave_out(&s, length);
    while (leave_out(&s, 1))
        ;
    plainer(&s);
    while (leave_out(&s, 1))
        ;
    steps_free(&s.candidate);
    return s.asked;
}
