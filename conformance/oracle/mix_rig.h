/* SPDX-License-Identifier: Apache-2.0 */
/* mix_rig.h - for tests of one mix of random calls: system and model agree, and what one of them has wrong is noticed.
 *
 *     mix_run("sim:h100", 3, steps, seed, flip, ...)   ->  how many random calls of mix 3 both answer alike
 *     mix_faults(faults, n, 3, steps)                      a system that refuses what it should not is noticed
 *     mix_spoils(spoils, n)                                steps, a model made wrong, and a last step that notices
 *     mix_stories(stories, n)                              steps that are answered alike, the last one refused by a rule
 */
#ifndef MIX_RIG_H
#define MIX_RIG_H

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "lockstep.h"
#include "tap.h"

enum { MIX_STEPS = 24, MIX_EVERY = 200 };

static const uint64_t mix_unit = 2 << 20;
static struct lockstep_counts mix_counts; /* of all runs so far */

/* Steps, and then another one; what is made wrong in the model between them. Each is also run with nothing wrong. */
struct mix_spoil {
    const char *what;
    void (*spoil)(struct model *m);
    const char *steps[MIX_STEPS], *last;
};

/* Steps, of which the last is refused by the rule; NULL: it is accepted. */
struct mix_story {
    const char *what, *rule, *steps[MIX_STEPS];
};

/* Random calls until both differ; the index of that call, or steps. */
static inline size_t mix_run(const char *spec, unsigned mix, size_t steps, uint64_t seed, uint64_t flip, char *difference,
                             size_t size)
{
    struct lockstep pair;
    struct chooser dice = {.state = seed};
    size_t i = 0;
    if (!lockstep_open(&pair, spec))
        tap_bail("%s", pair.difference);
    pair.flip = flip;
    pair.mix = mix;
    for (bool same = true; same && i < steps; i += same) {
        struct step step;
        lockstep_random(&dice, &pair, STEP_FIRST_NAME + (uint32_t)i, &step);
        same = lockstep_step(&pair, &step) && ((i + 1) % MIX_EVERY || lockstep_check(&pair));
        lockstep_count(&mix_counts, &pair, &step);
    }
    snprintf(difference, size, "%s", pair.difference);
    lockstep_close(&pair);
    return i;
}

static inline void mix_agrees(const char *spec, unsigned mix, size_t steps, uint64_t seed)
{
    char difference[600];
    tap_u64(mix_run(spec, mix, steps, seed, 0, difference, sizeof difference), steps,
            "%s: no difference in %zu calls, --seed %" PRIu64 " --mix %u %s", spec, steps, seed, mix, difference);
}

/* What the runs made of the calls of a kind. */
struct mix_made {
    uint64_t made, succeeded, left_out; /* left_out: of all calls */
    unsigned calls;
};

/* So many runs, and each call of the kind succeeds in one of them, but for never; VMM_CALL_COUNT: each. */
static inline struct mix_made mix_made(unsigned mix, size_t steps, unsigned runs, bool (*is_of_kind)(enum vmm_call_id call),
                                       int never)
{
    char difference[600];
    struct mix_made of = {0};
    for (uint64_t seed = 12; seed < 12 + runs; seed++)
        tap_u64(mix_run("sim:h100", mix, steps, seed, 0, difference, sizeof difference), steps, "a longer run %s", difference);
    for (int call = 0; call < VMM_CALL_COUNT; call++) {
        of.left_out += mix_counts.made[call] - mix_counts.left_out[call][LEFT_OUT_NOT];
        if (!is_of_kind((enum vmm_call_id)call))
            continue;
        of.made += mix_counts.made[call];
        of.succeeded += mix_counts.succeeded[call];
        of.calls++;
        if (!mix_counts.succeeded[call] && call != never)
            tap_ok(false, "no %s succeeds: %" PRIu64 " made", vmm_call_name((enum vmm_call_id)call), mix_counts.made[call]);
    }
    return of;
}

static inline void mix_flips(unsigned mix, size_t steps)
{
    char difference[600];
    for (uint64_t flip = 70; flip < 500; flip += 139)
        tap_ok(mix_run("sim:h100", mix, steps, 11, flip, difference, sizeof difference) < steps,
               "call %" PRIu64 ", inverted, is noticed", flip);
}

static inline void mix_faults(const char *const *faults, size_t count, unsigned mix, size_t steps)
{
    for (size_t i = 0; i < count; i++) {
        char spec[96], difference[600];
        snprintf(spec, sizeof spec, "fault=%s:OUT_OF_MEMORY|sim:h100", faults[i]);
        tap_ok(mix_run(spec, mix, steps, 11, 0, difference, sizeof difference) < steps && difference[0], "%s is noticed",
               faults[i]);
    }
}

static inline void mix_parse(const char *line, struct step *step)
{
    char error[200];
    if (!step_parse(line, mix_unit, step, error, sizeof error))
        tap_bail("%s: %s", line, error);
}

/* The step is answered alike, and accepted. */
static inline bool mix_make(struct lockstep *pair, const char *line)
{
    struct step step;
    mix_parse(line, &step);
    return lockstep_step(pair, &step) && !pair->refused && !pair->left_out;
}

/* Do system and model still agree after the last step, and in every byte that is checked? */
static inline bool mix_spoiled_agrees(const struct mix_spoil *spoil, bool spoils, char *why, size_t size)
{
    struct lockstep pair;
    if (!lockstep_open(&pair, "sim:h100"))
        tap_bail("%s", pair.difference);
    for (size_t i = 0; spoil->steps[i]; i++)
        if (!mix_make(&pair, spoil->steps[i]))
            tap_bail("%s: %s", spoil->steps[i], pair.difference);
    if (spoils)
        spoil->spoil(&pair.model);
    bool same = mix_make(&pair, spoil->last) && lockstep_check(&pair);
    snprintf(why, size, "%s", pair.difference);
    lockstep_close(&pair);
    return same;
}

static inline void mix_spoils(const struct mix_spoil *spoils, size_t count)
{
    char why[600];
    for (size_t i = 0; i < count; i++) {
        tap_ok(mix_spoiled_agrees(&spoils[i], false, why, sizeof why), "%s, as the model has it %s", spoils[i].what, why);
        tap_ok(!mix_spoiled_agrees(&spoils[i], true, why, sizeof why) && why[0], "%s, made wrong, is noticed: %s", spoils[i].what,
               why);
    }
}

static inline void mix_stories(const struct mix_story *stories, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct lockstep pair;
        if (!lockstep_open(&pair, "sim:h100"))
            tap_bail("%s", pair.difference);
        bool same = true;
        for (size_t k = 0; same && stories[i].steps[k]; k++) {
            struct step step;
            mix_parse(stories[i].steps[k], &step);
            same = lockstep_step(&pair, &step) && !pair.left_out;
        }
        tap_ok(same && lockstep_check_objects(&pair), "%s is the same on both sides: %s", stories[i].what, pair.difference);
        tap_text(pair.rule ? pair.rule : "none", stories[i].rule ? stories[i].rule : "none", "and refused as it should be");
        tap_ok(lockstep_check(&pair), "and so is everything after it %s", pair.difference);
        lockstep_close(&pair);
    }
}

#endif
