/* SPDX-License-Identifier: Apache-2.0 */
/* report_rig.h - for tests of reports: one system, and the fields of a detail except the object. Included by one file
 * of a program. */
#ifndef SIM_REPORT_RIG_H
#define SIM_REPORT_RIG_H

#include <stdio.h>
#include <string.h>

#include "tap.h"
#include "vmm.h"

#define G (UINT64_C(2) << 20)
#define RW VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
#define DEVICE VMM_MEM_LOCATION_TYPE_DEVICE
#define HOST VMM_MEM_LOCATION_TYPE_HOST

typedef vmm_mem_generic_allocation_handle handle_t;

static vmm_system *sys;

static inline void need(vmm_result result)
{
    if (result != VMM_SUCCESS)
        tap_bail("set-up: %s %s", vmm_result_name(result), vmm_last_detail()->note);
}

static inline void begin(const char *spec)
{
    vmm_context context;
    need(vmm_open(spec, &sys));
    need(vmm_init(sys, 0));
    need(vmm_ctx_create(sys, &context, 0, 0));
}

static inline void ignore(void *user, const vmm_detail *detail)
{
    (void)user;
    (void)detail;
}

static inline void end(void)
{
    vmm_set_report(sys, ignore, NULL);
    vmm_close(sys);
}

static inline handle_t created(vmm_mem_location_type type)
{
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED, .location = {type, 0}};
    handle_t handle = 0;
    need(vmm_mem_create(sys, &handle, G, &prop, 0));
    return handle;
}

/* The fields of the detail except the object: argument, value, the value it is compared with, and the note about this call. */
static inline void reported(vmm_result result, const char *rule, const char *argument, uint64_t value, uint64_t expected,
                        const char *note)
{
    const vmm_detail *d = vmm_last_detail();
    const char *named = d->argument ? d->argument : "";
    tap_ok(result != VMM_SUCCESS && d->rule && !strcmp(d->rule, rule) && !strcmp(named, argument) && d->value == value &&
               d->expected == expected,
           "%s: %s = %llu, against %llu", d->rule ? d->rule : "no rule", named, (unsigned long long)d->value,
           (unsigned long long)d->expected);
    tap_text(d->note, note, "and in words");
}

static inline bool nearest_is(vmm_object_kind kind, uint64_t number)
{
    return vmm_last_detail()->nearest.kind == kind && vmm_last_detail()->nearest.number == number;
}

#endif
