/* SPDX-License-Identifier: Apache-2.0 */
#include "run.h"

#include "notes.h"
#include "tap.h"
#include "waiver.h"

#define ATTEMPTS 3 /* of a test that failed only because of a driver's free memory */

const char *const test_kind_names[] = {"breaks", "near miss", "expects"};

const char *test_subject(const struct test *test, char *id, size_t size)
{
    if (test->kind == TEST_KIND_EXPECTS)
        return test->subject;
    test_rule_id(test->subject, id, size);
    return id;
}

/* A function of its own, so that no local variable lives across the longjmp. */
static void run_body(struct fix *f, const struct test *test)
{
    jmp_buf out;
    f->out = &out;
    if (setjmp(out) == 0)
        test->run(f);
    f->out = NULL; /* the jump buffer is invalid from here on */
}

/* Runs the test to its end. f is closed and holds the result; false, with the reason in *why, when the machine cannot
 * be set up that way. */
static bool attempt(const struct run *run, const struct test *test, enum fix_mode mode, const char *rule,
                    struct fix *f, const char **why)
{
    vmm_result result = VMM_SUCCESS;
    *f = (struct fix){.root = f, .house = run->house, .rule = rule};
    bool possible = fix_open_variant(f, run->spec, test->lines, mode, test->options, &result, why);
    if (possible && result == VMM_SUCCESS)
        run_body(f, test);
    else if (possible && run->house && !(test->options & FIX_RAW))
        run->house->lost = true;
    if (possible && result != VMM_SUCCESS)
        fix_failed(f, __FILE__, __LINE__, "the system does not open: %s %s", vmm_result_name(result),
                   vmm_last_detail()->note);
    fix_close(f);
    return possible;
}

/* Skips the tests where a driver crashes or its answer varies from run to run. */
static const char *reason_not_to(const struct run *run, const struct test *test, const char *subject)
{
    const vmm_rule *rule = test->kind == TEST_KIND_BREAKS ? vmm_rule_find(subject) : NULL;
    if (!run->house || !rule)
        return NULL;
    if (rule->driver_580 == VMM_DRIVER_CRASHES)
        return "driver 580 crashes where this rule is broken";
    return rule->driver_580 == VMM_DRIVER_VARIES ? "driver 580's answer varies where this rule is broken" : NULL;
}

static void run_in(const struct run *run, const struct test *test, enum fix_mode mode, struct fix *f)
{
    static const char *const modes[] = {"", " (observed)", " (strict)"};
    const char *kind = test_kind_names[test->kind];
    char id[96];
    const char *subject = test_subject(test, id, sizeof id), *why = reason_not_to(run, test, subject);
    const char *rule = test->kind == TEST_KIND_EXPECTS ? NULL : subject;
    if (mode != FIX_STRICT)
        notes_begin(test->name);
    if (!why && attempt(run, test, mode, rule, f, &why)) {
        notes_end(f, test->name);
        why = f->failures ? NULL : f->skip;
    }
    for (int again = 1; again < ATTEMPTS && !why && f->failures && f->failures == f->about_memory; again++) {
        tap_note("  others may use the device: %s is run again", test->name);
        attempt(run, test, mode, rule, f, &why);
    }
    f->skip = why;
    if (why)
        tap_skip(why, "%s %s: %s%s", kind, subject, test->name, modes[mode]);
    else
        tap_ok(f->failures == 0, "%s %s: %s%s", kind, subject, test->name, modes[mode]);
}

/* The point of the documented rule, judged by the test's observed run. */
static void run_waived(const struct test *test, const struct waiver *waiver, const struct fix *f)
{
    char todo[600];
    const char *kind = test_kind_names[test->kind];
    if (f->skip && !f->held) {
        tap_skip(f->skip, "%s %s: %s (documents)", kind, waiver->rule, test->name);
        return;
    }
    snprintf(todo, sizeof todo, "%s: %s (driver %s)", waiver->id, waiver->effect, waiver->drivers);
    tap_todo(todo, f->held, "%s %s: %s (documents)", kind, waiver->rule, test->name);
}

void run_test(const struct run *run, const struct test *test)
{
    char id[96];
    struct fix f = {0};
    struct waiver waiver;
    if (test->modes == TEST_AS_GIVEN) {
        run_in(run, test, FIX_AS_GIVEN, &f);
        return;
    }
    run_in(run, test, FIX_OBSERVED, &f);
    if (test->modes != TEST_BOTH_MODES)
        return;
    if (run->house && waiver_find(test_subject(test, id, sizeof id), &waiver))
        run_waived(test, &waiver, &f);
    else
        run_in(run, test, FIX_STRICT, &f);
}
