/* SPDX-License-Identifier: Apache-2.0 */
/* shrink_test.c - needed steps stay, all others go. */
#include "shrink.h"

#include <string.h>

#include "tap.h"

/* A script is wrong when it contains these names in this order; steps after the last are not needed. */
struct needs {
    uint32_t names[4];
    size_t count;
    uint64_t add; /* and the last of them has at least this in its first argument */
};

static bool wrong(void *user, const struct script *script, size_t *length)
{
    const struct needs *needs = user;
    size_t found = 0;
    for (size_t i = 0; i < script->count; i++) {
        if (script->steps[i].name == needs->names[found])
            found++;
        if (found == needs->count) {
            *length = i + 1;
            return script->steps[i].arg[0].add >= needs->add;
        }
    }
    return false;
}

static struct script numbered(uint32_t count)
{
    struct script script = {0};
    for (uint32_t i = 1; i <= count; i++) {
        struct step step = step_of(VMM_CALL_mem_unmap);
        step.name = i;
        step.arg[0].add = 5;
        step.arg[1].add = 7;
        steps_add(&script, &step);
    }
    return script;
}

static void keeps_what_is_needed(uint32_t length, struct needs needs, const char *what)
{
    struct script script = numbered(length);
    size_t asked = shrink(&script, wrong, &needs);
    tap_u64(script.count, needs.count, "%s: %zu of %u steps stay", what, needs.count, length);
    for (size_t i = 0; i < script.count && i < needs.count; i++)
        tap_u64(script.steps[i].name, needs.names[i], "%s: step %zu", what, i + 1);
    tap_ok(asked < 40 * needs.count + 100, "%s: tested %zu times", what, asked);
    steps_free(&script);
}

static void arguments_become_plain(void)
{
    struct needs needs = {{4}, 1, 5};
    struct script script = numbered(9);
    shrink(&script, wrong, &needs);
    tap_u64(script.steps[0].arg[0].add, 5, "an argument that matters stays");
    tap_u64(script.steps[0].arg[1].add, 0, "one that does not becomes 0");
    steps_free(&script);
}

/* The difference that the fault layer makes: three maps, and only what a third map needs. */
static bool really_wrong(void *user, const struct script *script, size_t *length)
{
    char difference[600];
    size_t at = lockstep_run(user, script, 0, 0, difference, sizeof difference);
    *length = at < script->count ? at + 1 : script->count;
    return at < script->count;
}

static void a_real_difference(void)
{
    char spec[] = "fault=mem_map:3|sim:h100", difference[600];
    struct lockstep pair;
    struct chooser dice = {.state = 3};
    struct script script = {0};
    if (!lockstep_open(&pair, spec))
        tap_bail("%s", pair.difference);
    for (uint32_t i = 0; i < 2000; i++) {
        struct step step;
        lockstep_random(&dice, &pair, STEP_FIRST_NAME + i, &step);
        steps_add(&script, &step);
        if (!lockstep_step(&pair, &step))
            break;
    }
    lockstep_close(&pair);
    tap_ok(lockstep_run(spec, &script, 0, 0, difference, sizeof difference) < script.count,
           "the episode differs when it is run again");
    shrink(&script, really_wrong, spec);
    size_t maps = 0;
    for (size_t i = 0; i < script.count; i++)
        maps += script.steps[i].call == VMM_CALL_mem_map;
    tap_ok(script.count <= 5, "shrunk to a few steps (%zu)", script.count);
    tap_u64(maps, 3, "of which three are the maps that the fault counts");
    tap_u64(lockstep_run(spec, &script, 0, 0, difference, sizeof difference), script.count - 1,
            "and the last one differs");
    steps_free(&script);
}

int main(void)
{
    keeps_what_is_needed(1, (struct needs){{1}, 1, 0}, "alone");
    keeps_what_is_needed(1000, (struct needs){{1}, 1, 0}, "the first");
    keeps_what_is_needed(1000, (struct needs){{1000}, 1, 0}, "the last");
    keeps_what_is_needed(1000, (struct needs){{3, 500, 501, 999}, 4, 0}, "four");
    keeps_what_is_needed(37, (struct needs){{17, 18}, 2, 0}, "neighbours");
    arguments_become_plain();
    a_real_difference();
    return tap_done();
}
