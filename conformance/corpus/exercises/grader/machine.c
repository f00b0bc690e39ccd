/* SPDX-License-Identifier: Apache-2.0 */
/* A machine as a part uses it: its reports are kept, and printed with the point that fails. */
#include "grader.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { SETUP_CALLS = 5 }; /* that grade_open makes before the student's first */

static const char injected_note[] = "layer fault, ";

/* ---- rules and points ---- */

/* Lines of a detail that say what cuvmm explain says, and those that the rule has said already when it is the same. */
static bool is_said_elsewhere(const char *line, bool same_rule)
{
    static const char *const labels[] = {"  why ", "  more ", "  what ", "  fix "};
    for (size_t i = 0; i < (same_rule ? 4 : 2); i++)
        if (strncmp(line, labels[i], strlen(labels[i])) == 0)
            return true;
    return false;
}

static void note_told(const struct grade_told *reported, const char *rule)
{
    const bool same_rule = rule && strcmp(rule, reported->rule) == 0;
    tap_note("  the machine said:");
    for (const char *text = reported->text; *text;) {
        size_t length = strcspn(text, "\n");
        if (!is_said_elsewhere(text, same_rule))
            tap_note("    %.*s", (int)length, text);
        text += length + (text[length] == '\n');
    }
}

static const struct grade_rule all_have[] = {
    {"EX-ERROR-PASSED", "the driver's error is returned to the caller", "return the driver's result unchanged"},
    {"EX-ERROR-UNCHANGED", "a failed call changes nothing, and can be repeated",
     "undo what this call did before the failure, in the opposite order, and write the fields last"},
    {"EX-CRASH", "a program ends by itself",
     "its last output is above; --save=PROGRAM keeps the program for a debugger, which must follow its children"},
    {"EX-HANG", "nothing waits for an event that never happens",
     "notify the other side of every step before you wait yourself; wait only if you cannot continue"},
    {0},
};

static const struct grade_rule *find_own(const struct grade_rule *table, const char *id)
{
    while (table->id && strcmp(table->id, id) != 0)
        table++;
    return table->id ? table : NULL;
}

void grade_note_rule(const char *id)
{
    const vmm_rule *rule = vmm_rule_find(id);
    const struct grade_rule *own = find_own(grade_rules, id);
    own = own ? own : find_own(all_have, id);
    if (rule) {
        tap_note("  rule      %s: %s", id, rule->message);
        tap_note("  fix       %s", rule->way_out);
        tap_note("  more      cuvmm explain %s", id);
    } else if (own) {
        tap_note("  rule      %s: %s", id, own->what);
        tap_note("  fix       %s", own->way_out);
    } else {
        tap_bail("the grader names a rule that does not exist: %s", id);
    }
}

/* The student's program may have printed something and not ended the line, which would hide the point. */
static void new_line(void)
{
    putchar('\n');
}

bool grade_point(struct grade *g, bool good, const char *rule, const char *name, const char *mistake, ...)
{
    char words[600];
    va_list args;
    if (good) {
        new_line();
        tap_ok(true, "%s", name);
        return true;
    }
    va_start(args, mistake);
    vsnprintf(words, sizeof words, mistake, args);
    va_end(args);
    new_line();
    tap_ok(false, "%s", name);
    tap_note("  mistake   %s", words);
    if (!rule && g->reported.is && g->reported.rule[0])
        rule = g->reported.rule;
    if (rule)
        grade_note_rule(rule);
    if (g->reported.is)
        note_told(&g->reported, rule);
    g->reported.is = false;
    return false;
}

bool grade_ok(struct grade *g, vmm_result got, const char *name)
{
    return grade_point(g, got == VMM_SUCCESS, NULL, name, "it returned %s", vmm_result_name(got));
}

bool grade_refused(struct grade *g, vmm_result got, vmm_result want, const char *rule, const char *name)
{
    g->expects = false;
    return grade_point(g, got == want, rule, name, "it returned %s, expected %s", vmm_result_name(got),
                       vmm_result_name(want));
}

void grade_skip(const char *name, const char *reason)
{
    new_line();
    tap_skip(reason, "%s", name);
}

/* ---- reports of the machine ---- */

static void keep(struct grade_told *reported, const vmm_detail *detail)
{
    reported->is = true;
    snprintf(reported->rule, sizeof reported->rule, "%s", detail->rule ? detail->rule : "");
    vmm_detail_text(detail, reported->text, sizeof reported->text);
}

static bool gives_back(const char *function)
{
    static const char *const all[] = {"cuMemUnmap", "cuMemRelease", "cuMemAddressFree", "cuStreamDestroy", "cuEventDestroy"};
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        if (strcmp(function, all[i]) == 0)
            return true;
    return false;
}

/* A driver's shadow reports when it stops checking, which is not the program's mistake. */
static bool is_of_shadow(const vmm_detail *detail)
{
    return detail->rule && strncmp(detail->rule, "VMM-SHADOW-", 11) == 0;
}

static void hear(void *user, const vmm_detail *detail)
{
    struct grade *g = user;
    if (strncmp(detail->note, injected_note, sizeof injected_note - 1) == 0) {
        g->injected++;
        g->gave_back = !g->strict && gives_back(detail->function);
        snprintf(g->failed, sizeof g->failed, "%s (call %llu)", detail->function, (unsigned long long)detail->call);
    } else if (!g->expects && !g->reported.is && detail->severity <= VMM_SEVERITY_ERROR && !is_of_shadow(detail)) {
        keep(&g->reported, detail);
        if (!g->first.is)
            g->first = g->reported;
    }
}

/* ---- its life ---- */

static bool is_exact(const char *spec)
{
    return strncmp(spec, "sim", 3) == 0 && !strstr(spec, "machine=");
}

void grade_open(struct grade *g, const char *spec, const char *layers)
{
    char whole[2048];
    int count = 0;
    const vmm_mem_allocation_prop any = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    *g = (struct grade){.spec = spec};
    snprintf(whole, sizeof whole, "%s%s", layers, spec);
    bool open = vmm_open(whole, &g->sys) == VMM_SUCCESS && vmm_init(g->sys, 0) == VMM_SUCCESS &&
                vmm_device_get_count(g->sys, &count) == VMM_SUCCESS && count > 0;
    g->device = count - 1;
    open = open &&
           vmm_mem_get_allocation_granularity(g->sys, &g->unit, &any, VMM_MEM_ALLOC_GRANULARITY_MINIMUM) == VMM_SUCCESS &&
           vmm_ctx_create(g->sys, &g->ctx, 0, g->device) == VMM_SUCCESS &&
           vmm_mem_get_info(g->sys, &g->before, NULL) == VMM_SUCCESS;
    if (!open)
        tap_bail("%s: %s %s", whole, vmm_result_name(vmm_last_detail()->result), vmm_last_detail()->note);
    if (!is_exact(spec))
        g->before = 0;
    vmm_set_report(g->sys, hear, g);
}

/* The number of held objects, without the grader's context. */
struct held {
    struct grade *g;
    unsigned contexts;
    unsigned long long others;
};

static void hear_leak(void *user, const vmm_detail *detail)
{
    struct held *held = user;
    if (detail->severity != VMM_SEVERITY_LEAK || (strcmp(detail->rule, "VMM-LEAK-CONTEXT") == 0 && held->contexts++ == 0))
        return;
    held->others++;
    if (!held->g->reported.is)
        keep(&held->g->reported, detail);
}

static unsigned long long leaks(struct grade *g)
{
    struct held held = {g, 0, 0};
    g->reported.is = false;
    vmm_leaks(g->sys, hear_leak, &held);
    return held.others;
}

void grade_drop(struct grade *g)
{
    vmm_set_report(g->sys, NULL, NULL);
    if (vmm_ctx_destroy(g->sys, g->ctx) != VMM_SUCCESS)
        vmm_ctx_destroy(g->sys, g->ctx); /* that call was the one to fail */
    vmm_close(g->sys);
    g->sys = NULL;
}

void grade_close(struct grade *g)
{
    grade_point(g, !g->first.is, g->first.is && g->first.rule[0] ? g->first.rule : NULL, "no call was refused or drew a warning",
                g->reported.is ? "a call was" : "a call was, see above");
    unsigned long long left = leaks(g);
    grade_point(g, left == 0, NULL, "nothing is left at the end", "%llu objects are still held after the last call", left);
    grade_drop(g);
}

/* ---- calls that fail on demand ---- */

static const char *after(const struct grade *g)
{
    return g->injected ? "after the failure of " : "with no call failing";
}

void grade_ready(struct grade *g)
{
    g->ours = g->ours || g->injected != g->seen;
    g->seen = g->injected;
}

bool grade_try(struct grade *g, vmm_result got, const char *call)
{
    bool injected = g->injected != g->seen;
    g->seen = g->injected;
    if (injected && g->gave_back)
        return false;
    if (injected && got != GRADE_INJECTED && !g->changed[0])
        snprintf(g->changed, sizeof g->changed, "%s was made to fail with %s, and %s returned %s", g->failed,
                 vmm_result_name(GRADE_INJECTED), call, vmm_result_name(got));
    if (!injected && got != VMM_SUCCESS && !g->spoilt[0])
        snprintf(g->spoilt, sizeof g->spoilt, "%s%s: %s returned %s", after(g), g->failed, call, vmm_result_name(got));
    return got == VMM_SUCCESS;
}

bool grade_again(const struct grade *g)
{
    return g->injected && !g->ours && !g->gave_back && !g->changed[0] && !g->spoilt[0];
}

void grade_holds(struct grade *g, bool good, const char *what)
{
    if (!good && !g->gave_back && !g->spoilt[0])
        snprintf(g->spoilt, sizeof g->spoilt, "%s%s: not true: %s", after(g), g->failed, what);
}

/* The combined result of all runs: the first failure of each of three kinds. */
struct outcome {
    char changed[320], spoilt[320], broke[200], left[200];
    struct grade_told breach, leak;
    unsigned runs;
};

/* The result of a run whose call failed inside one of the student's functions. */
static void judge(struct outcome *o, struct grade *g)
{
    if (!o->changed[0])
        memcpy(o->changed, g->changed, sizeof o->changed);
    if (g->spoilt[0]) {
        if (!o->spoilt[0])
            memcpy(o->spoilt, g->spoilt, sizeof o->spoilt);
        return;
    }
    if (g->gave_back)
        return;
    if (g->first.is && !o->broke[0]) {
        snprintf(o->broke, sizeof o->broke, "%s%s: a call was refused or drew a warning", after(g), g->failed);
        o->breach = g->first;
    }
    unsigned long long left = leaks(g);
    if (left && !o->left[0]) {
        snprintf(o->left, sizeof o->left, "%s%s: %llu objects are still held", after(g), g->failed, left);
        o->leak = g->reported;
    }
}

/* One run, with the nth call failing. False when the scenario was over before. */
static bool run_with_fault(struct outcome *o, const char *spec, unsigned nth, grade_scenario scenario)
{
    char layer[64];
    struct grade g;
    snprintf(layer, sizeof layer, "fault=any:%u:UNKNOWN | ", SETUP_CALLS + nth);
    grade_open(&g, spec, layer);
    scenario(&g);
    grade_ready(&g);
    bool hit = g.injected > 0;
    o->runs += hit && !g.ours;
    if (!g.ours)
        judge(o, &g);
    grade_drop(&g);
    return hit;
}

static void say(const struct outcome *o, const char *name, const char *wrong, const char *rule, const struct grade_told *reported)
{
    struct grade g = {0};
    if (reported)
        g.reported = *reported;
    grade_point(&g, !wrong[0] && o->runs, rule, name, "%s", wrong[0] ? wrong : "it makes no call that could fail");
}

void grade_each_fault(const char *spec, grade_scenario scenario)
{
    static const unsigned most = 400;
    struct outcome o = {.runs = 0};
    for (unsigned nth = 1; nth <= most && run_with_fault(&o, spec, nth, scenario); nth++)
        ;
    say(&o, "an error is passed on", o.changed, "EX-ERROR-PASSED", NULL);
    say(&o, "it still works after an error", o.spoilt, "EX-ERROR-UNCHANGED", NULL);
    say(&o, "the error path breaks no rule", o.broke, NULL, &o.breach);
    say(&o, "nothing is left after an error", o.left, NULL, &o.leak);
    tap_note("  %u calls were made to fail, one in each run", o.runs);
}
