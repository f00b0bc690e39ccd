/* SPDX-License-Identifier: Apache-2.0 */
/* lockstep_test.c - scripts as text, and that lockstep notices a difference. */
#include "lockstep.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "process.h"
#include "system.h"
#include "tap.h"

enum { STEPS = 3000, SOME_STEPS = 2000, FEW_STEPS = 600, MIX_OF_POOLS = 2 };

static const uint64_t unit = 2 << 20;

/* What one run showed beside its end. */
static struct {
    uint64_t ended;     /* waits that a later write ended */
    uint64_t left_out;
    struct lockstep_counts counts;
} shown;

/* Random calls on spec until both differ; the index of that call, or STEPS. */
static size_t run_mix(const char *spec, unsigned mix, size_t steps, uint64_t seed, uint64_t flip, char *difference, size_t size)
{
    struct lockstep pair;
    struct chooser dice = {.state = seed};
    if (!lockstep_open(&pair, spec))
        tap_bail("%s", pair.difference);
    pair.flip = flip;
    pair.mix = mix;
    memset(&shown, 0, sizeof shown);
    size_t i = 0;
    for (bool same = true; i < steps; i++) {
        struct step step;
        const bool waits = pair.model.blocked >= 0;
        lockstep_random(&dice, &pair, STEP_FIRST_NAME + (uint32_t)i, &step);
        same = lockstep_step(&pair, &step) && lockstep_check_objects(&pair);
        lockstep_count(&shown.counts, &pair, &step);
        shown.ended += waits && pair.model.blocked < 0;
        shown.left_out += pair.left_out != LEFT_OUT_NOT;
        if (!same)
            break;
    }
    snprintf(difference, size, "%s", pair.difference);
    lockstep_close(&pair);
    return i;
}

static size_t run_random(const char *spec, uint64_t seed, uint64_t flip, char *difference, size_t size)
{
    return run_mix(spec, LOCKSTEP_MIX, STEPS, seed, flip, difference, size);
}

/* ---- text ---- */

static void every_random_step_reads_back(unsigned mix, uint32_t steps)
{
    struct lockstep pair;
    struct chooser dice = {.state = 7};
    char line[512], again[512], error[200] = "";
    size_t wrong = 0;
    if (!lockstep_open(&pair, "sim:max"))
        tap_bail("%s", pair.difference);
    pair.mix = mix;
    for (uint32_t i = 0; i < steps; i++) {
        struct step step, read;
        lockstep_random(&dice, &pair, STEP_FIRST_NAME + i, &step);
        lockstep_step(&pair, &step);
        step_print(&step, unit, line, sizeof line);
        bool good = step_parse(line, unit, &read, error, sizeof error);
        if (good)
            step_print(&read, unit, again, sizeof again);
        if (!good || strcmp(line, again) || read.call != step.call || memcmp(read.arg, step.arg, sizeof step.arg)) {
            if (!wrong++)
                tap_note("%s: %s", line, error);
        }
    }
    lockstep_close(&pair);
    tap_u64(wrong, 0, "%d random steps, --seed 7 --mix %u, read back as they were printed", (int)steps, mix);
}

static void bad_lines_name_the_place(void)
{
    static const struct {
        const char *line, *error;
    } bad[] = {
        {"mem_fly ptr=0", "column 1: expected the name of a call"},
        {"mem_unmap ptr=0", "column 16: expected size"},
        {"mem_unmap ptr=z size=0", "column 15: expected a number"},
        {"mem_unmap ptr=0 size=0 flags=0", "column 23: expected the end of the line"},
        {"r99999999999 = mem_unmap ptr=0 size=0", "column 13: expected a smaller name"},
        {"mem_set_access ptr=0 size=0 desc=[1:0=3 1:0=3 1:0=3] count=10", "column 62: expected a count of 9 at most"},
        {"mem_pool_set_access pool=p70 map=[1:0=3 1:0=3 1:0=3] count=10", "column 62: expected a count of 9 at most"},
        {"stream_batch_mem_op stream=s40 count=4 param_array=[2@r64=1/0 0@0=0/0 0@0=0/0] flags=0",
         "column 87: expected 3 operations at most"},
        {"stream_batch_mem_op stream=s40 count=1 param_array=[2@r64=1 0@0=0/0 0@0=0/0] flags=0", "column 77: expected /"},
        {"mem_pool_create pool=out pool_props={1 0 1:0 2G 0}", "column 51: expected  "},
        {"mem_pool_set_attribute pool=p70 attr=4 value=7", "column 47: expected value:"},
    };
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct step step;
        char error[200] = "";
        bool good = step_parse(bad[i].line, unit, &step, error, sizeof error);
        tap_text(good ? "accepted" : error, bad[i].error, "\"%s\" is refused", bad[i].line);
    }
}

static void names_are_values(void)
{
    struct step step;
    char error[200], line[200];
    tap_ok(step_parse("mem_map ptr=r64+1G-4096 size=2G offset=0 handle=h65 flags=0", unit, &step, error, sizeof error),
           "a line with names is a step");
    tap_u64(step.arg[0].name, 64, "the reservation's name");
    tap_u64(step.arg[0].add, unit - 4096, "and the offset from it");
    step_print(&step, unit, line, sizeof line);
    tap_text(line, "mem_map ptr=r64+0x1ff000 size=2G offset=0 handle=h65 flags=0", "printed again");
    step.arg[0].add = 0 - (unit + 8);
    step_print(&step, unit, line, sizeof line);
    tap_text(line, "mem_map ptr=r64-1G-0x8 size=2G offset=0 handle=h65 flags=0", "printed with the part below it");
}

/* ---- differences ---- */

static void agreement(void)
{
    char difference[600];
    const char *const specs[] = {"sim:h100", "sim:odd,strict", "sim:max"};
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        tap_u64(run_random(specs[i], 11, 0, difference, sizeof difference), STEPS,
                "%s: no difference in %d calls, --seed 11", specs[i], STEPS);
        tap_text(difference, "", "%s: no message", specs[i]);
    }
}

/* The mix with pools: most calls succeed, streams wait for what comes later, and hardly a call is left out. */
static void agreement_about_pools(void)
{
    static const enum vmm_call_id calls[] = {
        VMM_CALL_mem_alloc_async, VMM_CALL_mem_alloc_from_pool_async, VMM_CALL_mem_free_async, VMM_CALL_mem_pool_create,
        VMM_CALL_mem_pool_destroy, VMM_CALL_mem_set_mem_pool, VMM_CALL_device_set_mem_pool, VMM_CALL_mem_pool_set_attribute,
        VMM_CALL_mem_pool_set_access, VMM_CALL_stream_wait_value32, VMM_CALL_stream_write_value64, VMM_CALL_stream_batch_mem_op};
    const char *const specs[] = {"sim:h200x2", "sim:odd,strict"};
    char difference[600];
    for (size_t i = 0; i < sizeof specs / sizeof specs[0]; i++) {
        tap_u64(run_mix(specs[i], MIX_OF_POOLS, FEW_STEPS, 11, 0, difference, sizeof difference), FEW_STEPS,
                "%s: no difference in %d calls, --seed 11 --mix 2%s", specs[i], FEW_STEPS, difference);
        tap_ok(shown.left_out <= 2, "%" PRIu64 " of them are left out", shown.left_out);
    }
    run_mix("sim:h100", MIX_OF_POOLS, SOME_STEPS, 12, 0, difference, sizeof difference);
    tap_ok(!difference[0] && shown.ended > 2, "%" PRIu64 " waits ended by a later write %s", shown.ended, difference);
    for (size_t i = 0; i < sizeof calls / sizeof calls[0]; i++)
        tap_ok(shown.counts.made[calls[i]] > 2 && 3 * shown.counts.succeeded[calls[i]] >= shown.counts.made[calls[i]],
               "a third of %s and more succeed: %" PRIu64 " of %" PRIu64, vmm_call_name(calls[i]), shown.counts.succeeded[calls[i]],
               shown.counts.made[calls[i]]);
}

/* Any inverted prediction must be noticed at that very call. */
static void a_wrong_prediction_is_noticed(void)
{
    char difference[600];
    for (uint64_t flip = 20; flip < 1000; flip += 107) {
        size_t at = run_random("sim:h100", 11, flip, difference, sizeof difference);
        tap_ok(at < STEPS && strstr(difference, "the system answers"),
               "the prediction of call %" PRIu64 " inverted is noticed", flip);
    }
    for (uint64_t flip = 30; flip < 500; flip += 157)
        tap_ok(run_mix("sim:h100", MIX_OF_POOLS, STEPS, 11, flip, difference, sizeof difference) < STEPS,
               "so is that of call %" PRIu64 " with --mix 2", flip);
}

/* A system that refuses what it should not. */
static void a_wrong_system_is_noticed(void)
{
    static const char *const faults[] = {"mem_map:3", "mem_unmap:2:INVALID_VALUE", "mem_set_access:4", "mem_create:5",
                                         "mem_address_reserve:6", "mem_release:2", "memset_d8:1",
                                         "pointer_get_attribute:9:NOT_FOUND"};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        char spec[96], difference[600];
        snprintf(spec, sizeof spec, "fault=%s|sim:h100", faults[i]);
        tap_ok(run_random(spec, 11, 0, difference, sizeof difference) < STEPS && difference[0],
               "%s is noticed", spec);
    }
}

/* The same of pools and streams. */
static void wrong_pools_are_noticed(void)
{
    static const char *const faults[] = {"mem_alloc_async:2:OUT_OF_MEMORY", "mem_alloc_from_pool_async:2", "mem_free_async:3",
                                         "mem_pool_create:1", "mem_pool_destroy:1", "mem_pool_trim_to:1", "mem_set_mem_pool:1",
                                         "mem_pool_get_attribute:2", "stream_wait_value64:2", "stream_batch_mem_op:3",
                                         "stream_synchronize:1", "stream_wait_event:2"};
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        char spec[96], difference[600];
        snprintf(spec, sizeof spec, "fault=%s|sim:h100", faults[i]);
        tap_ok(run_mix(spec, MIX_OF_POOLS, STEPS, 11, 0, difference, sizeof difference) < STEPS && difference[0],
               "%s is noticed", spec);
    }
}

/* A change that the model does not see. */
static void a_changed_state_is_noticed(void)
{
    struct lockstep pair;
    vmm_deviceptr ptr;
    if (!lockstep_open(&pair, "sim:h100"))
        tap_bail("%s", pair.difference);
    tap_ok(lockstep_check(&pair), "a fresh pair agrees everywhere");
    tap_result(vmm_mem_address_reserve(pair.sys, &ptr, unit, 0, 0, 0), VMM_SUCCESS, "a reservation on one side");
    tap_ok(!lockstep_check_objects(&pair), "is noticed by comparing the objects");
    tap_ok(strstr(pair.difference, "a reservation of 0x200000 at") != NULL, "and named: %s", pair.difference);
    lockstep_close(&pair);
}

/* What the simulator finds broken in itself is a difference, of the call behind which it was found. */
static void a_broken_invariant_is_noticed(void)
{
    struct lockstep pair;
    struct step step = step_of(VMM_CALL_device_get_count);
    if (!lockstep_open(&pair, "sim:h100"))
        tap_bail("%s", pair.difference);
    tap_ok(checks_wanted() != CHECKS_OFF, "the simulator checks itself");
    tap_ok(lockstep_step(&pair, &step), "a call of a sound simulator");
    struct sim_process *process = (struct sim_process *)pair.sys->top;
    process->aliased++;
    bool same = true;
    for (unsigned i = 0; i < 2000 && same; i++)
        same = lockstep_step(&pair, &step);
    process->aliased--;
    tap_ok(!same && strstr(pair.difference, "0 handles are mapped more than once, 1 are counted"), "of a broken one: %s",
           pair.difference);
    lockstep_close(&pair);
}

static void specs(void)
{
    struct lockstep pair;
    static const struct {
        const char *spec, *why;
    } bad[] = {{"simple", "spec \"simple\": lockstep needs sim:PROFILE or cuda"},
               {"sim:nowhere", "spec \"sim:nowhere\": no profile \"nowhere\""}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        bool open = lockstep_open(&pair, bad[i].spec);
        tap_text(open ? "opened" : pair.difference, bad[i].why, "%s cannot be opened", bad[i].spec);
    }
    tap_ok(lockstep_open(&pair, "sim"), "sim means the default profile");
    tap_u64(lockstep_unit(&pair), unit, "whose unit is 2 MiB");
    lockstep_close(&pair);
}

int main(void)
{
    every_random_step_reads_back(LOCKSTEP_MIX, STEPS);
    every_random_step_reads_back(MIX_OF_POOLS, FEW_STEPS);
    every_random_step_reads_back(LOCKSTEP_NEWEST_MIX, FEW_STEPS);
    bad_lines_name_the_place();
    names_are_values();
    agreement();
    agreement_about_pools();
    a_wrong_prediction_is_noticed();
    a_wrong_system_is_noticed();
    wrong_pools_are_noticed();
    a_changed_state_is_noticed();
    a_broken_invariant_is_noticed();
    specs();
    return tap_done();
}
