/* SPDX-License-Identifier: Apache-2.0 */
/* bin/buggy - runs the programs of conformance/programs/buggy/ with their mistake and without, under every schedule,
 * and compares docs/mistakes.md with them.
 *
 *     buggy              TAP: a point for each form of each program under each schedule, and one for the table; of
 *                        programs that are right by luck also one for each form with seeds of alias=stale:SEED
 *     buggy NAME         these programs alone
 *     buggy --driver SPEC [NAME]   on a driver: what is refused there, and the corrected forms; before it --jobs N: in N
 *                        processes at a time, and --together: forms that leave the driver usable share them (jobs.h)
 *     buggy --explain    what is reported for each buggy form
 *     buggy --table      the tables of docs/mistakes.md
 *
 * The seed of the random schedule is that of $CUVMM_SEED, or 1.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buggy/buggy.h"
#include "buggy/table.h"
#include "jobs.h"
#include "tap.h"

static char random_schedule[40];
static const char *const schedules[] = {"late", "eager", random_schedule};
enum { SCHEDULES = sizeof schedules / sizeof schedules[0], SEEDS = 24 };

static struct run the_run; /* some 70 KB: not on the stack */

/* Counts the seeds under which the bytes are wrong. Everything else is as without a seed. */
static unsigned unlucky(const struct program *program, bool buggy, bool *all_else)
{
    unsigned count = 0;
    *all_else = true;
    for (unsigned seed = 1; seed <= SEEDS; seed++) {
        char options[64];
        snprintf(options, sizeof options, "%s,alias=stale:%u", schedules[seed % SCHEDULES], seed);
        run_program(&the_run, program, buggy, options);
        count += the_run.wrongs > 0;
        *all_else = run_verdict(&the_run) && *all_else;
    }
    return count;
}

static void check_luck(const struct program *program, const char *theme)
{
    bool all_else;
    unsigned count = unlucky(program, true, &all_else);
    tap_ok(count > 0 && count < SEEDS && all_else, "%s %s: out of luck with %u of %d seeds", theme, program->name, count,
           SEEDS);
    tap_ok(unlucky(program, false, &all_else) == 0 && all_else, "%s %s: corrected, with all seeds", theme,
           program->name);
}

static void check(const struct program *program)
{
    char theme[32];
    program_theme(program, theme, sizeof theme);
    for (int form = 0; form < 2; form++)
        for (int s = 0; s < SCHEDULES; s++) {
            run_program(&the_run, program, form == 0, schedules[s]);
            tap_ok(run_verdict(&the_run) && !(program->luck && the_run.wrongs), "%s %s: %s under %s", theme,
                   program->name, form == 0 ? program->rule : "corrected", schedules[s]);
        }
    if (program->luck)
        check_luck(program, theme);
}

/* One form of a program on a driver. */
struct form {
    const struct program *program;
    bool buggy;
    const char *driver;
};

static bool drive(const void *data)
{
    const struct form *form = data;
    run_on_driver(&the_run, form->program, form->buggy, form->driver);
    return run_driver_verdict(&the_run);
}

/* A program that initialises the driver itself needs a new one. */
static enum job_kind kind_of(const struct form *form)
{
    const vmm_rule *rule = vmm_rule_find(form->program->rule);
    if (form->buggy && (rule->result == VMM_ERROR_ILLEGAL_ADDRESS || rule->result == VMM_ERROR_LAUNCH_FAILED))
        return JOB_FAULTS;
    return form->program->bare ? JOB_ALONE : JOB_SHARES;
}

static void check_driver(const struct program *program, const char *driver, struct jobs *jobs)
{
    char theme[32];
    program_theme(program, theme, sizeof theme);
    for (int buggy = 1; buggy >= 0; buggy--) {
        const struct form form = {program, buggy, driver};
        const char *name = buggy ? program->rule : "corrected", *reason = run_undriven(program, buggy);
        if (reason)
            jobs_skip(jobs, reason, "%s %s: %s", theme, program->name, name);
        else
            jobs_point(jobs, kind_of(&form), drive, &form, sizeof form, "%s %s: %s", theme, program->name, name);
    }
}

static void explain(const struct program *program)
{
    run_program(&the_run, program, true, "late");
    printf("---- %s\n", program->name);
    for (unsigned i = 0; i < the_run.reports && i < RUN_REPORTS_MAX; i++)
        printf("%s", the_run.reported[i].text);
    for (unsigned i = 0; i < the_run.lefts && i < RUN_REPORTS_MAX; i++)
        printf("%s", the_run.left[i].text);
}

static bool wanted(const struct program *program, int argc, char **argv)
{
    bool any = false;
    for (int i = 0; i < argc; i++)
        if (argv[i][0] != '-') {
            any = true;
            if (strcmp(argv[i], program->name) == 0)
                return true;
        }
    return !any;
}

static int check_all_on_driver(const char *driver, struct jobs *jobs, int argc, char **argv)
{
    for (const struct program *p = program_first(); p; p = p->next)
        if (wanted(p, argc, argv))
            check_driver(p, driver, jobs);
    jobs_end(jobs);
    return tap_done();
}

int main(int argc, char **argv)
{
    struct jobs jobs = {.seconds = 60};
    if (!jobs_options(&jobs, &argc, &argv))
        tap_bail("--jobs takes a number of processes");
    const char *option = argc > 1 && argv[1][0] == '-' ? argv[1] : "", *seed = getenv("CUVMM_SEED");
    snprintf(random_schedule, sizeof random_schedule, "random:%llu", seed ? strtoull(seed, NULL, 0) : 1ULL);
    if (strcmp(option, "--table") == 0) {
        table_write(stdout);
        return 0;
    }
    if (strcmp(option, "--driver") == 0 && argc > 2)
        return check_all_on_driver(argv[2], &jobs, argc - 3, argv + 3);
    for (const struct program *p = program_first(); p; p = p->next)
        if (wanted(p, argc - 1, argv + 1))
            strcmp(option, "--explain") == 0 ? explain(p) : check(p);
    if (strcmp(option, "--explain") == 0)
        return 0;
    tap_note("random schedule with seed %s", random_schedule + strlen("random:"));
    if (argc == 1)
        tap_ok(table_agrees("docs/mistakes.md"), "docs/mistakes.md lists the programs as they are");
    return tap_done();
}
