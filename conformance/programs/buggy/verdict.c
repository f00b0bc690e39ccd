/* SPDX-License-Identifier: Apache-2.0 */
/* Is the report as expected: this rule, at this call, once, and nothing else? */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "buggy.h"
#include "tap.h"

static bool wrong(const struct run *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool wrong(const struct run *b, const char *format, ...)
{
    char why[512];
    va_list list;
    va_start(list, format);
    vsnprintf(why, sizeof why, format, list);
    va_end(list);
    tap_note("%s:%d: %s under %s, %s: %s", b->program->file, b->program->line, b->program->name, b->schedule,
             b->buggy ? "buggy" : "corrected", why);
    return false;
}

static bool same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static bool is_leak(const char *rule)
{
    return strncmp(rule, "VMM-LEAK-", 9) == 0;
}

/* "call 7" and not "call 71". */
static bool names_call(const char *text, uint64_t call)
{
    char name[32];
    size_t length = (size_t)snprintf(name, sizeof name, "call %llu", (unsigned long long)call);
    for (const char *at = text; (at = strstr(at, name)) != NULL; at += length)
        if (!strchr("0123456789", at[length]) || !at[length])
            return true;
    return false;
}

/* All reports, for the reader of a failure. */
static bool show(const struct run *b)
{
    for (unsigned i = 0; i < b->reports && i < RUN_REPORTS_MAX; i++)
        tap_note("reported: %s", b->reported[i].text);
    for (unsigned i = 0; i < b->lefts && i < RUN_REPORTS_MAX; i++)
        tap_note("left: %s", b->left[i].text);
    return false;
}

/* The kinds of what is left, in order. */
static void letters(const struct run *b, char *text)
{
    static const char of[] = "??RMHACSE";
    for (const char *kind = "RMHACSE"; *kind; kind++)
        for (unsigned i = 0; i < b->lefts && i < RUN_REPORTS_MAX; i++)
            if (of[b->left[i].detail.nearest.kind] == *kind)
                *text++ = *kind;
    *text = '\0';
}

static bool left_is_right(const struct run *b)
{
    const char *expected = b->buggy && b->program->leaves ? b->program->leaves : "";
    char kinds[RUN_REPORTS_MAX + 1];
    letters(b, kinds);
    return same(kinds, expected) && b->lefts == strlen(expected) ? true
           : wrong(b, "leaves \"%s\", expected \"%s\"", kinds, expected);
}

static bool reported_at(const struct run *b, const struct reported *reported, const char *rule, enum run_mark mark)
{
    const vmm_detail *d = &reported->detail;
    if (!same(d->rule, rule))
        return wrong(b, "reported by %s, expected %s", d->rule ? d->rule : "no rule", rule);
    if (d->call != b->call[mark] || d->result != b->result[mark])
        return wrong(b, "%s is reported at call %llu (%s, %s), expected call %llu (%s)", rule, (unsigned long long)d->call,
                     d->function, vmm_result_name(d->result), (unsigned long long)b->call[mark],
                     vmm_result_name(b->result[mark]));
    if (d->severity != (d->result == VMM_SUCCESS ? VMM_SEVERITY_WARNING : VMM_SEVERITY_ERROR))
        return wrong(b, "%s is reported with severity %d", rule, (int)d->severity);
    if (!strstr(reported->text, "fix "))
        return wrong(b, "%s is reported without a fix", rule);
    return true;
}

static bool words_are_right(const struct run *b, const struct reported *reported)
{
    const struct program *p = b->program;
    const vmm_detail *d = &reported->detail;
    if (!same(d->function, p->at))
        return wrong(b, "reported at %s, expected %s", d->function, p->at);
    if (p->argument && !same(d->argument, p->argument))
        return wrong(b, "names argument %s, expected %s", d->argument ? d->argument : "none", p->argument);
    if (b->value_noted && d->value != b->value)
        return wrong(b, "names value 0x%llx, expected 0x%llx", (unsigned long long)d->value,
                     (unsigned long long)b->value);
    if (p->near && d->nearest.kind != p->near)
        return wrong(b, "the nearest object is of kind %d, expected %d", (int)d->nearest.kind, (int)p->near);
    if (b->near && d->nearest.start != b->near)
        return wrong(b, "the nearest object starts at 0x%llx, expected 0x%llx", (unsigned long long)d->nearest.start,
                     (unsigned long long)b->near);
    if (b->call[RUN_CAUSE] && !names_call(reported->text, b->call[RUN_CAUSE]))
        return wrong(b, "does not name call %llu", (unsigned long long)b->call[RUN_CAUSE]);
    return true;
}

/* Must, may or must not the second rule be reported? Consequences of in-flight work depend on when it runs. */
static bool follows(const struct run *b)
{
    bool flight = strstr(b->program->rule, "-IN-FLIGHT") != NULL;
    if (!b->program->then || (flight && same(b->schedule, "eager")))
        return false;
    return !flight || same(b->schedule, "late") || b->reports == 2;
}

static bool leak_is_right(const struct run *b)
{
    for (unsigned i = 0; i < b->lefts && i < RUN_REPORTS_MAX; i++) {
        const vmm_object *object = &b->left[i].detail.nearest;
        if (same(b->left[i].detail.rule, b->program->rule) && object->created == b->call[RUN_REPORTED])
            return same(object->created_by, b->program->at) ? true
                   : wrong(b, "made by %s, expected %s", object->created_by, b->program->at);
    }
    return wrong(b, "no %s of call %llu", b->program->rule, (unsigned long long)b->call[RUN_REPORTED]);
}

static bool buggy_is_right(const struct run *b)
{
    if (is_leak(b->program->rule))
        return b->reports ? wrong(b, "reported before its end") : leak_is_right(b);
    unsigned expected = follows(b) ? 2 : 1;
    if (b->reports != expected)
        return wrong(b, "reported %u times, expected %u", b->reports, expected);
    return reported_at(b, &b->reported[0], b->program->rule, RUN_REPORTED) && words_are_right(b, &b->reported[0]) &&
           (expected == 1 || reported_at(b, &b->reported[1], b->program->then, RUN_THEN));
}

static bool corrected_is_right(const struct run *b)
{
    if (b->reports || b->failures)
        return wrong(b, "reported %u times, %u failures", b->reports, b->failures);
    return b->rights ? true : wrong(b, "nothing is checked");
}

bool run_verdict(const struct run *b)
{
    bool right = (b->buggy ? buggy_is_right(b) : corrected_is_right(b)) && left_is_right(b);
    return right || show(b);
}

bool run_driver_verdict(const struct run *b)
{
    const vmm_rule *rule = vmm_rule_find(b->program->rule);
    if (!b->buggy)
        return b->failures == 0 && (b->rights ? true : wrong(b, "nothing is checked"));
    if (!b->call[RUN_REPORTED])
        return wrong(b, "the call with the mistake was not made");
    return b->result[RUN_REPORTED] == rule->result ? true
           : wrong(b, "answers %s, expected %s", vmm_result_name(b->result[RUN_REPORTED]), vmm_result_name(rule->result));
}

const char *run_undriven(const struct program *program, bool buggy)
{
    const vmm_rule *rule = vmm_rule_find(program->rule);
    if (program->machine)
        return "needs a simulated machine";
    if (!buggy)
        return NULL;
    if (program->driver || rule->driver_580 != VMM_DRIVER_REJECTS || rule->rule_class == VMM_RULE_HAZARD ||
        is_leak(program->rule))
        return "a driver does not refuse it, or not always";
    return NULL;
}
