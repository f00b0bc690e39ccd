/* SPDX-License-Identifier: Apache-2.0 */
#include "detail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "thread.h"

static _Thread_local vmm_fault fault_of_record;
static _Thread_local vmm_order order_of_record;

vmm_detail *vmm_detail_here(void)
{
    return &vmm_this_thread()->detail;
}

const vmm_detail *vmm_last_detail(void)
{
    return &vmm_this_thread()->detail;
}

void vmm_detail_clear(void)
{
    vmm_detail *record = vmm_detail_here();
    record->result = VMM_SUCCESS;
    record->severity = VMM_SEVERITY_NONE;
    record->rule = NULL;
    record->argument = NULL;
    record->value = 0;
    record->expected = 0;
    record->nearest.kind = VMM_OBJECT_NONE;
    record->note[0] = '\0';
    record->fault = NULL;
    record->order = NULL;
    record->issued = (vmm_site){0};
}

static void fill(enum vmm_rule_id id, vmm_severity severity, uint64_t value, uint64_t expected,
                 const vmm_object *nearest)
{
    vmm_detail *record = vmm_detail_here();
    const vmm_rule *rule = vmm_rule_row(id);
    record->severity = severity;
    record->rule = rule->id;
    record->argument = rule->argument[0] ? rule->argument : NULL;
    record->value = value;
    record->expected = expected;
    record->note[0] = '\0';
    record->fault = NULL;
    record->order = NULL;
    record->issued = (vmm_site){0};
    if (nearest)
        record->nearest = *nearest;
    else
        record->nearest.kind = VMM_OBJECT_NONE;
}

vmm_result vmm_detail_refuse(enum vmm_rule_id id, uint64_t value, uint64_t expected, const vmm_object *nearest)
{
    vmm_detail *record = vmm_detail_here();
    fill(id, VMM_SEVERITY_ERROR, value, expected, nearest);
    record->result = vmm_rule_row(id)->result;
    return record->result;
}

void vmm_detail_warn(enum vmm_rule_id id, uint64_t value, uint64_t expected, const vmm_object *nearest)
{
    vmm_detail *record = vmm_detail_here();
    if (record->severity == VMM_SEVERITY_NONE)
        fill(id, VMM_SEVERITY_WARNING, value, expected, nearest);
}

void vmm_detail_argument(const char *argument)
{
    vmm_detail *record = vmm_detail_here();
    record->argument = argument;
}

void vmm_detail_note(const char *format, ...)
{
    vmm_detail *record = vmm_detail_here();
    va_list args;
    va_start(args, format);
    vsnprintf(record->note, sizeof record->note, format, args);
    va_end(args);
}

void vmm_detail_issued(vmm_site site)
{
    vmm_detail_here()->issued = site;
}

void vmm_detail_fault(const vmm_fault *fault)
{
    vmm_detail *record = vmm_detail_here();
    fault_of_record = *fault;
    record->fault = &fault_of_record;
}

void vmm_detail_order(const vmm_order *order)
{
    vmm_detail *record = vmm_detail_here();
    order_of_record = *order;
    record->order = &order_of_record;
}

vmm_result vmm_refuse_open(enum vmm_rule_id rule, const char *function, const char *format, ...)
{
    vmm_detail *record = vmm_detail_here();
    va_list args;
    memset(record, 0, sizeof *record);
    vmm_detail_refuse(rule, 0, 0, NULL);
    record->function = function;
    record->argument = NULL; /* the text names what is wrong */
    va_start(args, format);
    vsnprintf(record->note, sizeof record->note, format, args);
    va_end(args);
    return record->result;
}

vmm_result vmm_detail_fail(vmm_result result, const char *function, const char *format, ...)
{
    vmm_detail *record = vmm_detail_here();
    va_list args;
    memset(record, 0, sizeof *record);
    record->result = result;
    record->severity = VMM_SEVERITY_ERROR;
    record->function = function;
    va_start(args, format);
    vsnprintf(record->note, sizeof record->note, format, args);
    va_end(args);
    return result;
}
