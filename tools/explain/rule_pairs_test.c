/* SPDX-License-Identifier: Apache-2.0 */
/* The pairs of the rule book are the tests of the rules: the broken form gets a message of that rule and no other; the corrected
 * form gets none and leaves nothing behind. Leaks that a refusal leaves behind do not count, nor do messages
 * that the script itself expects on its way to the rule.
 *
 *     rule_pairs_test                  on each machine of the table below; a pair fails on those that it names, and on no other
 *     rule_pairs_test [--jobs N] [--together] --driver SPEC [MACHINE]
 *                                      on a driver (of this machine of the table), which reports no rules: results count.
 *                                      Each form runs in its own process, because a process has one driver, and a
 *                                      fault takes the device from the process; N of them at a time, and with --together those
 *                                      that leave the driver usable share them (jobs.h).
 */
#include "rule_examples.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "jobs.h"
#include "script_ran.h"
#include "tap.h"

/* The pairs are written for the first machine. */
static const char *const machines[] = {"h100", "h200x2", "min", "max", "odd", "h100,schedule=eager", "h100,schedule=random:1",
                                       "h100,alias=stale:1"};

struct pair {
    const vmm_rule *rule;
    struct text broken, corrected, machine, not_on;
};

/* What a script came to. */
struct reported {
    struct script_ran ran;
    bool holds; /* something at its end */
};

static struct reported run(const char *lines)
{
    struct reported reported = {.ran = script_ran(lines, true)};
    reported.holds = strstr(reported.ran.out, " still holds ") != NULL;
    return reported;
}

static void reported_free(struct reported *reported, bool good, struct text *notes)
{
    if (!good)
        text_add(notes, "(%d): %s%s", reported->ran.status, reported->ran.out, reported->ran.err);
    script_ran_free(&reported->ran);
}

/* The next rule id in text from *at on; returns false after the last. */
static bool next_id(const char **at, char *id, size_t room)
{
    const char *found = strstr(*at, "VMM-");
    if (!found)
        return false;
    size_t n = strspn(found, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-");
    snprintf(id, room, "%.*s", (int)n, found);
    *at = found + n;
    return true;
}

/* Does a line of the script expect the rule? "expect warning VMM-...:" */
static bool expected(const char *script, const char *id)
{
    char words[120];
    snprintf(words, sizeof words, " %s:", id);
    return strstr(script, words) != NULL;
}

/* Is there a message of this rule, and of no other that counts? */
static bool only(const char *rule, const char *script, const struct reported *reported)
{
    char id[96];
    bool itself = false, leak = strncmp(rule, "VMM-LEAK-", 9) == 0;
    const char *at = reported->ran.out;
    while (next_id(&at, id, sizeof id)) {
        if (strcmp(id, rule) == 0)
            itself = true;
        else if (!expected(script, id) && (strncmp(id, "VMM-LEAK-", 9) != 0 || !(leak || reported->holds)))
            return false;
    }
    return itself;
}

/* Is the last refusal the rule's result? */
static bool has_result(const vmm_rule *rule, const struct reported *reported)
{
    const char *name = vmm_result_name(rule->result), *last = NULL;
    for (const char *at = reported->ran.out; (at = strstr(at, "-> CUDA_ERROR_")); at += 3)
        last = at + 3;
    return last && strncmp(last, name, strlen(name)) == 0 && strchr("\n,", last[strlen(name)]);
}

static enum script_status status_of(const vmm_rule *rule)
{
    bool passes = rule->rule_class == VMM_RULE_HAZARD || rule->driver_580 == VMM_DRIVER_ACCEPTS ||
                  strcmp(rule->function, "vmm_close") == 0;
    bool differs = strncmp(rule->id, "VMM-SHADOW-", 11) == 0 && strcmp(rule->id, "VMM-SHADOW-LOST") != 0; /* a call is refused */
    return passes && !differs ? SCRIPT_OK : SCRIPT_FAILED;
}

/* Does it pass, or end with the rule's result? */
static bool as_the_rule_says(const vmm_rule *rule, const struct reported *reported)
{
    return reported->ran.status == status_of(rule) &&
           (reported->ran.status == SCRIPT_OK || rule->result == VMM_SUCCESS || has_result(rule, reported));
}

static bool breaks(const struct pair *pair, struct text *notes)
{
    struct reported reported = run(pair->broken.data);
    bool good = as_the_rule_says(pair->rule, &reported) && only(pair->rule->id, pair->broken.data, &reported);
    reported_free(&reported, good, notes);
    return good;
}

static bool breaks_on_driver(const struct pair *pair, struct text *notes)
{
    struct reported reported = run(pair->broken.data);
    bool good = as_the_rule_says(pair->rule, &reported);
    reported_free(&reported, good, notes);
    return good;
}

static bool corrects(const struct pair *pair, struct text *notes)
{
    struct reported reported = run(pair->corrected.data);
    bool good = reported.ran.status == SCRIPT_OK && !reported.holds && !strstr(reported.ran.out, "VMM-");
    reported_free(&reported, good, notes);
    return good;
}

/* Is the machine one of the lines of names? */
static bool is_named(const char *names, const char *machine)
{
    size_t length = strlen(machine);
    for (const char *at = names; at && *at; at = strchr(at, '\n'), at += at != NULL)
        if (strncmp(at, machine, length) == 0 && at[length] == '\n')
            return true;
    return false;
}

/* A pair that opens its own machine uses it regardless of the default. */
static bool has_machine(const struct pair *pair)
{
    return strncmp(pair->broken.data, "backend ", 8) == 0 || strstr(pair->broken.data, "\nbackend ");
}

static bool as_it_says(const struct pair *pair, const char *machine, struct text *notes)
{
    char spec[80];
    bool out_of_place = is_named(pair->not_on.data, machine);
    snprintf(spec, sizeof spec, "sim:%s", machine);
    setenv("CUVMM_BACKEND", spec, 1);
    text_add(notes, "on %s:\n", spec);
    bool broken = breaks(pair, notes), corrected = corrects(pair, notes);
    return (broken && corrected) != out_of_place;
}

static void test_machines(const struct pair *pair)
{
    bool good = pair->broken.data && pair->corrected.data;
    struct text notes = {0};
    for (size_t i = 0; good && i < (has_machine(pair) ? 1 : sizeof machines / sizeof *machines); i++) {
        text_free(&notes);
        good = as_it_says(pair, machines[i], &notes);
    }
    if (!tap_ok(good, "%s: its example breaks it alone, and the correction nothing", pair->rule->id))
        tap_note("%s", notes.data ? notes.data : "one form is missing");
    text_free(&notes);
}

/* ---------------------------------------------------------------------------------------------------------- on a driver */

/* One form of a pair. */
struct form {
    const struct pair *pair;
    const char *name;
    bool (*judge)(const struct pair *pair, struct text *notes);
};

/* The process ends like a program, so that `cuvmm check` sees what it left. */
static bool drive(const void *data)
{
    const struct form *form = data;
    struct text notes = {0};
    tap_note("process %ld: %s %s", (long)getpid(), form->name, form->pair->rule->id);
    bool good = form->judge(form->pair, &notes);
    if (!good)
        tap_note("%s", notes.data);
    return good;
}

/* Why the driver of a machine ("": of any) is not tested; NULL if it is. */
static const char *unasked(const struct pair *pair, const char *machine)
{
    if (is_named(pair->not_on.data, machine))
        return "the machine lacks what the rule is about";
    if (has_machine(pair))
        return "its script names a simulated machine";
    if (strstr(pair->broken.data, "ulticast") || strstr(pair->corrected.data, "ulticast"))
        return "multicast is not asked of a driver";
    return NULL;
}

static const char *unbroken(const struct pair *pair)
{
    const vmm_rule *rule = pair->rule;
    if (strstr(pair->broken.data, "expect warning "))
        return "its script expects a warning on its way";
    if (strcmp(rule->function, "vmm_close") == 0)
        return NULL; /* a leak, which a driver accepts */
    if (rule->driver_580 == VMM_DRIVER_CRASHES)
        return "driver 580 ends the process";
    if (rule->driver_580 == VMM_DRIVER_UNKNOWN || rule->driver_580 == VMM_DRIVER_VARIES)
        return "no answer is known";
    if (rule->rule_class == VMM_RULE_HAZARD)
        return "a driver's result varies";
    return NULL;
}

static enum job_kind kind_of(const struct form *form)
{
    switch (form->pair->rule->result) {
    case VMM_ERROR_ILLEGAL_ADDRESS:
    case VMM_ERROR_LAUNCH_FAILED: return form->judge == corrects ? JOB_SHARES : JOB_FAULTS;
    case VMM_ERROR_NOT_INITIALIZED: return JOB_ALONE; /* other scripts have initialised the driver */
    default: return JOB_SHARES;
    }
}

static void test_form(struct jobs *jobs, const char *reason, const struct form *form)
{
    if (reason)
        jobs_skip(jobs, reason, "%s %s: rule book", form->name, form->pair->rule->id);
    else
        jobs_point(jobs, kind_of(form), drive, form, sizeof *form, "%s %s: rule book", form->name, form->pair->rule->id);
}

static void test_driver(const struct pair *pair, const char *machine, struct jobs *jobs)
{
    const char *reason = unasked(pair, machine);
    test_form(jobs, reason ? reason : unbroken(pair), &(const struct form){pair, "breaks", breaks_on_driver});
    test_form(jobs, reason, &(const struct form){pair, "near miss", corrects});
}

/* Writes the file that a spec of the example names. */
static void write_machine(const char *lines)
{
    FILE *out = fopen("my.profile", "w");
    if (!out || fputs(lines, out) < 0 || fclose(out))
        tap_bail("my.profile cannot be written");
}

/* False for a rule without a pair: rule_examples_test knows the reason. */
static bool pair_of(const vmm_rule *rule, struct pair *pair)
{
    struct rule_example example;
    pair->rule = rule;
    if (!rule_example_find(rule->id, &example) || rule_example_part(&example, EXAMPLE_BROKEN, &pair->broken) == 0)
        return false;
    rule_example_part(&example, EXAMPLE_CORRECTED, &pair->corrected);
    rule_example_part(&example, EXAMPLE_NOT_ON, &pair->not_on);
    rule_example_part(&example, EXAMPLE_MACHINE, &pair->machine);
    return true;
}

static void pair_free(struct pair *pair)
{
    text_free(&pair->broken);
    text_free(&pair->corrected);
    text_free(&pair->machine);
    text_free(&pair->not_on);
}

static void test_on_machines(struct pair *pair)
{
    if (pair->machine.data)
        write_machine(pair->machine.data);
    test_machines(pair);
    remove("my.profile");
}

/* jobs: on a driver of this machine; NULL: on all machines, without a driver. */
static void test_pairs(const char *machine, struct jobs *jobs)
{
    size_t count;
    const vmm_rule *rules = vmm_rules(&count);
    struct pair *pairs = calloc(count, sizeof *pairs);
    if (!pairs)
        tap_bail("no memory for the pairs");
    for (size_t i = 0; i < count; i++)
        if (pair_of(&rules[i], &pairs[i]))
            jobs ? test_driver(&pairs[i], machine, jobs) : test_on_machines(&pairs[i]);
    if (jobs)
        jobs_end(jobs);
    for (size_t i = 0; i < count; i++)
        pair_free(&pairs[i]);
    free(pairs);
}

int main(int argc, char **argv)
{
    char folder[300];
    const char *temporary = getenv("TMPDIR");
    struct jobs jobs = {.seconds = 60};
    bool usable = jobs_options(&jobs, &argc, &argv), on_driver = (argc == 3 || argc == 4) && strcmp(argv[1], "--driver") == 0;
    if (!usable || (argc != 1 && !on_driver))
        tap_bail("usage: rule_pairs_test [[--jobs N] [--together] --driver SPEC [MACHINE]]");
    snprintf(folder, sizeof folder, "%s/pairs-XXXXXX", temporary && temporary[0] ? temporary : "/tmp");
    if (!mkdtemp(folder) || chdir(folder))
        tap_bail("%s: no folder for my.profile", folder);
    unsetenv("CUVMM_LAYERS");
    unsetenv("CUVMM_MACHINE");
    if (on_driver)
        setenv("CUVMM_BACKEND", argv[2], 1);
    test_pairs(argc == 4 ? argv[3] : "", on_driver ? &jobs : NULL);
    if (chdir("/") || rmdir(folder))
        tap_note("%s stays behind", folder);
    return tap_done();
}
