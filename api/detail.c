/* SPDX-License-Identifier: Apache-2.0 */
#include "detail.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* The one piece of global state in the API: like errno, and for the same reason. */
_Thread_local vmm_detail vmm_detail_record;
static _Thread_local vmm_fault fault_of_record;

vmm_detail *vmm_detail_here(void)
{
    return &vmm_detail_record;
}

const vmm_detail *vmm_last_detail(void)
{
    return &vmm_detail_record;
}

void vmm_detail_clear(void)
{
    vmm_detail_record.result = VMM_SUCCESS;
    vmm_detail_record.severity = VMM_SEVERITY_NONE;
    vmm_detail_record.rule = NULL;
    vmm_detail_record.argument = NULL;
    vmm_detail_record.value = 0;
    vmm_detail_record.expected = 0;
    vmm_detail_record.nearest.kind = VMM_OBJECT_NONE;
    vmm_detail_record.note[0] = '\0';
    vmm_detail_record.fault = NULL;
}

static void fill(enum vmm_rule_id id, vmm_severity severity, uint64_t value, uint64_t expected,
                 const vmm_object *nearest)
{
    const vmm_rule *rule = vmm_rule_row(id);
    vmm_detail_record.severity = severity;
    vmm_detail_record.rule = rule->id;
    vmm_detail_record.argument = rule->argument[0] ? rule->argument : NULL;
    vmm_detail_record.value = value;
    vmm_detail_record.expected = expected;
    vmm_detail_record.note[0] = '\0';
    vmm_detail_record.fault = NULL;
    if (nearest)
        vmm_detail_record.nearest = *nearest;
    else
        vmm_detail_record.nearest.kind = VMM_OBJECT_NONE;
}

vmm_result vmm_detail_refuse(enum vmm_rule_id id, uint64_t value, uint64_t expected, const vmm_object *nearest)
{
    fill(id, VMM_SEVERITY_ERROR, value, expected, nearest);
    vmm_detail_record.result = vmm_rule_row(id)->result;
    return vmm_detail_record.result;
}

void vmm_detail_warn(enum vmm_rule_id id, uint64_t value, uint64_t expected, const vmm_object *nearest)
{
    if (vmm_detail_record.severity == VMM_SEVERITY_NONE)
        fill(id, VMM_SEVERITY_WARNING, value, expected, nearest);
}

void vmm_detail_argument(const char *argument)
{
    vmm_detail_record.argument = argument;
}

void vmm_detail_note(const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vsnprintf(vmm_detail_record.note, sizeof vmm_detail_record.note, format, args);
    va_end(args);
}

void vmm_detail_fault(const vmm_fault *fault)
{
    fault_of_record = *fault;
    vmm_detail_record.fault = &fault_of_record;
}

vmm_result vmm_detail_fail(vmm_result result, const char *function, const char *format, ...)
{
    va_list args;
    memset(&vmm_detail_record, 0, sizeof vmm_detail_record);
    vmm_detail_record.result = result;
    vmm_detail_record.severity = VMM_SEVERITY_ERROR;
    vmm_detail_record.function = function;
    va_start(args, format);
    vsnprintf(vmm_detail_record.note, sizeof vmm_detail_record.note, format, args);
    va_end(args);
    return result;
}
