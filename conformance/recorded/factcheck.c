/* SPDX-License-Identifier: Apache-2.0 */
#include "factcheck.h"
#include "tap.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

const char *facts_code(vmm_result result)
{
    const char *name = vmm_result_name(result);
    if (strncmp(name, "CUDA_ERROR_", 11) == 0)
        return name + 11;
    return strncmp(name, "CUDA_", 5) == 0 ? name + 5 : name;
}

static struct fact *next_open(struct fact_book *book, const char *name)
{
    for (size_t i = 0; i < book->count; i++)
        if (book->facts[i].verdict == FACT_OPEN && strcmp(book->facts[i].name, name) == 0)
            return &book->facts[i];
    return NULL;
}

static void reproduced(struct facts *f, struct fact *fact, const char *reason)
{
    fact->verdict = FACT_REPRODUCED;
    f->count->reproduced++;
    tap_ok(true, "%s: %s: %s%s%s", f->profile, fact->name, fact->value, reason ? ", by relation: " : "",
           reason ? reason : "");
}

/* Takes the line out as a listed difference; false when it is not listed. */
static bool excepted(struct facts *f, struct fact *fact)
{
    struct fact_exception *exception = fact_exceptions_find(f->exceptions, f->profile, fact->name);
    if (!exception)
        return false;
    exception->used = true;
    fact->verdict = FACT_EXCEPTION;
    f->count->exceptions++;
    tap_todo(exception->reason, false, "%s: %s", f->profile, fact->name);
    return true;
}

static void differs(struct facts *f, struct fact *fact, const char *got)
{
    if (!excepted(f, fact)) {
        fact->verdict = FACT_DIFFERS;
        tap_ok(false, "%s: %s", f->profile, fact->name);
    }
    tap_note("  recorded %s", fact->value);
    tap_note("  replayed %s", got);
}

static void unrecorded(struct facts *f, const char *name, const char *got)
{
    struct fact_exception *exception = fact_exceptions_find(f->exceptions, f->profile, name);
    if (exception) {
        exception->used = true;
        tap_todo(exception->reason, false, "%s: %s: %s, which was not recorded", f->profile, name, got);
    } else {
        tap_ok(false, "%s: %s: %s, which was not recorded", f->profile, name, got);
    }
}

static void answer(struct facts *f, const char *name, const char *got)
{
    const char *reason;
    struct fact *fact = next_open(f->book, name);
    if (!fact) {
        unrecorded(f, name, got);
        return;
    }
    if (fact_agrees(name, fact->value, got, &reason))
        reproduced(f, fact, reason);
    else
        differs(f, fact, got);
}

void facts_result(struct facts *f, vmm_result result, const char *name)
{
    facts_explain(f, result, name);
    answer(f, name, facts_code(result));
}

void facts_told(struct facts *f, vmm_result result, const char *rule, const char *fault, const char *name)
{
    if (result != VMM_SUCCESS)
        facts_explain_told(f, rule, fault, name);
    answer(f, name, facts_code(result));
}

void facts_value(struct facts *f, const char *name, const char *format, ...)
{
    char got[256] = "=";
    va_list args;
    va_start(args, format);
    vsnprintf(got + 1, sizeof got - 1, format, args);
    va_end(args);
    answer(f, name, got);
}

void facts_line(struct facts *f, const char *name, const char *format, ...)
{
    char got[256];
    va_list args;
    va_start(args, format);
    vsnprintf(got, sizeof got, format, args);
    va_end(args);
    answer(f, name, got);
}

void facts_crash(struct facts *f, vmm_result result, const char *name)
{
    const vmm_detail *d = vmm_last_detail();
    const vmm_rule *rule = d->rule ? vmm_rule_find(d->rule) : NULL;
    char got[128];
    snprintf(got, sizeof got, "%s, by a rule that the driver %s", facts_code(result),
             rule && rule->driver_580 == VMM_DRIVER_CRASHES ? "crashes" : "does not crash");
    facts_explain_crash(f, result, name);
    answer(f, name, got);
}

void facts_require(struct facts *f, bool holds, const char *name, const char *what)
{
    if (!holds)
        tap_ok(false, "%s: %s: %s", f->profile, name, what);
}

vmm_result facts_setup(struct facts *f, vmm_result result, const char *what)
{
    char text[1024];
    if (result != VMM_SUCCESS) {
        tap_ok(false, "%s: set-up: %s: %s", f->profile, what, facts_code(result));
        vmm_detail_text(vmm_last_detail(), text, sizeof text);
        tap_note("  %s", text);
    }
    return result;
}

static void check_granularity(struct facts *f)
{
    uint64_t g = 0;
    vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                    .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
    facts_setup(f, vmm_mem_get_allocation_granularity(f->sys, &g, &prop, 0), "granularity");
    if (g != FACTS_G)
        tap_bail("%s: granularity %" PRIu64 ", and the recordings are of machines with %" PRIu64, f->spec, g, FACTS_G);
}

static void open_group(struct facts *f, enum facts_start start)
{
    vmm_device device = 0;
    if (vmm_open(f->spec, &f->sys) != VMM_SUCCESS) {
        char text[1024];
        vmm_detail_text(vmm_last_detail(), text, sizeof text);
        tap_bail("%s cannot be opened: %s", f->spec, text);
    }
    if (start >= FACTS_INITIALISED) {
        facts_setup(f, vmm_init(f->sys, 0), "init");
        facts_setup(f, vmm_device_get_count(f->sys, &f->devices), "device count");
        check_granularity(f);
    }
    if (start >= FACTS_CONTEXT) {
        facts_setup(f, vmm_device_get(f->sys, &device, 0), "device 0");
        facts_setup(f, vmm_device_primary_ctx_retain(f->sys, &f->ctx, device), "primary context");
        facts_setup(f, vmm_ctx_set_current(f->sys, f->ctx), "current context");
    }
}

void facts_renew(struct facts *f)
{
    vmm_close(f->sys);
    open_group(f, FACTS_CONTEXT);
}

static void put_off(struct facts *f, struct fact *fact, const char *capability)
{
    fact->verdict = FACT_LATER;
    f->count->later++;
    tap_skip(capability, "%s: %s: %s", f->profile, fact->name, fact->value);
}

void facts_later(struct facts *f, const char *name, const char *capability)
{
    struct fact *fact = next_open(f->book, name);
    if (fact)
        put_off(f, fact, capability);
    else
        tap_ok(false, "%s: %s was not recorded", f->profile, name);
}

void facts_settle(struct facts *f)
{
    for (size_t i = 0; i < f->book->count; i++) {
        struct fact *fact = &f->book->facts[i];
        f->count->lines++;
        if (fact->verdict != FACT_OPEN)
            continue;
        const char *capability = fact_later(f->later, fact->name, fact->value, &f->count->later_used);
        if (capability)
            put_off(f, fact, capability);
        else if (!excepted(f, fact))
            tap_ok(false, "%s: %s: %s was not replayed", f->profile, fact->name, fact->value);
    }
}

void facts_replay(struct facts *f)
{
    for (size_t i = 0; i < facts_groups_count; i++) {
        if (!fact_book_has(f->book, facts_groups[i].first))
            continue;
        open_group(f, facts_groups[i].start);
        facts_groups[i].run(f);
        vmm_close(f->sys);
        f->sys = NULL;
    }
}
