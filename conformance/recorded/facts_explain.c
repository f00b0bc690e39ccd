/* SPDX-License-Identifier: Apache-2.0 */
#include "factcheck.h"
#include "tap.h"

#include <stdio.h>
#include <string.h>

/* Rules about a state that no object of the machine stands for. */
static bool about_no_object(const char *rule)
{
    static const char *const rules[] = {"VMM-INIT-REQUIRED", "VMM-INIT-FORKED", "VMM-CTX-CURRENT"};
    for (size_t i = 0; i < sizeof rules / sizeof rules[0]; i++)
        if (strcmp(rule, rules[i]) == 0)
            return true;
    return false;
}

/* Whether the call made last had an argument of that name, and with that value. */
static bool argument_was(const struct facts *f, const char *name, uint64_t value, bool *named)
{
    *named = false;
    for (size_t i = 0; i < f->call.count; i++)
        if (strcmp(f->call.args[i].name, name) == 0) {
            *named = true;
            if (f->call.args[i].value == value)
                return true;
        }
    return false;
}

static void count_place(void *user, const vmm_object *object)
{
    if (object->kind >= VMM_OBJECT_RESERVATION && object->kind <= VMM_OBJECT_ALLOCATION)
        ++*(unsigned *)user;
}

/* A rule about state is explained by an object, where the machine has any that could. */
static bool lacks_object(const struct facts *f, const vmm_detail *d, const vmm_rule *rule)
{
    unsigned places = 0;
    if (rule->rule_class != VMM_RULE_STATE && rule->rule_class != VMM_RULE_LIFETIME)
        return false;
    if (d->nearest.kind != VMM_OBJECT_NONE || about_no_object(rule->id))
        return false;
    return vmm_visit(f->sys, count_place, &places) != VMM_SUCCESS || places;
}

static const char *argument_fault(const struct facts *f, const vmm_detail *d, const vmm_rule *rule)
{
    bool named;
    if (!d->argument)
        return rule->argument[0] ? "the argument is not named" : NULL;
    if (argument_was(f, d->argument, d->value, &named))
        return NULL;
    return named ? "the value shown is not the argument's" : "the argument named is none of the call's";
}

static const char *text_fault(const vmm_detail *d, const vmm_rule *rule)
{
    char text[4096];
    size_t length = vmm_detail_text(d, text, sizeof text);
    if (length >= sizeof text)
        return "the text does not end";
    if (!rule->message[0] || !strstr(text, rule->message))
        return "the text does not say what is wrong";
    if (!rule->way_out[0] || !strstr(text, rule->way_out))
        return "the text shows no way out";
    if (!strstr(text, d->function) || !strstr(text, rule->id) || (d->argument && !strstr(text, d->argument)))
        return "the text does not name call, rule and argument";
    return NULL;
}

static const char *rule_fault(const vmm_rule *rule, vmm_result result, bool crash)
{
    if (rule->result != result)
        return "the rule's row has another result";
    if (crash)
        return rule->driver_580 == VMM_DRIVER_CRASHES ? NULL : "the rule's row does not say that the driver crashes";
    return rule->driver_580 == VMM_DRIVER_REJECTS ? NULL : "the rule's row does not say that the driver rejects it";
}

const char *facts_unexplained(const struct facts *f, vmm_result result, bool crash)
{
    const vmm_detail *d = vmm_last_detail();
    const vmm_rule *rule = d->rule ? vmm_rule_find(d->rule) : NULL;
    const char *fault;
    if (d->severity != VMM_SEVERITY_ERROR || d->result != result)
        return "the detail is not of this refusal";
    if (!d->function || strcmp(d->function, f->call.function) != 0)
        return "the detail names another call";
    if (!rule)
        return "no rule";
    if ((fault = rule_fault(rule, result, crash)) || (fault = argument_fault(f, d, rule)) ||
        (fault = text_fault(d, rule)))
        return fault;
    if (lacks_object(f, d, rule))
        return "a rule about state, and no object is shown";
    return NULL;
}

static void verdict(struct facts *f, const char *rule, const char *fault, const char *name)
{
    f->count->failing++;
    f->count->explained += !*fault;
    tap_ok(!*fault, "%s: %s explained by %s%s%s", f->profile, name, rule, *fault ? ", but " : "", fault);
    facts_reason(f, rule, name);
}

static void explain(struct facts *f, vmm_result result, const char *name, bool crash)
{
    if (result == VMM_SUCCESS)
        return;
    const char *rule = vmm_last_detail()->rule, *fault = facts_unexplained(f, result, crash);
    verdict(f, rule ? rule : "nothing", fault ? fault : "", name);
}

void facts_explain(struct facts *f, vmm_result result, const char *name)
{
    explain(f, result, name, false);
}

void facts_explain_crash(struct facts *f, vmm_result result, const char *name)
{
    explain(f, result, name, true);
}

void facts_explain_told(struct facts *f, const char *rule, const char *fault, const char *name)
{
    verdict(f, rule, fault, name);
}
