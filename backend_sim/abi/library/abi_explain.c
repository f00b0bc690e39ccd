/* SPDX-License-Identifier: Apache-2.0 */
/* Explains refusals: with CUVMM_EXPLAIN=1 the library prints each refusal, warning and leak with its reason on standard error.
 * Without it the library is as quiet as a driver, except about features that it lacks. Under `cuvmm check` all of these are
 * findings. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi.h"
#include "columns.h"
#include "detail.h"
#include "findings.h"
#include "os.h"
#include "os_environment.h"
#include "thread.h"

static bool wanted(void)
{
    const char *value = os_environment("CUVMM_EXPLAIN");
    return value && value[0] && strcmp(value, "0") != 0;
}

/* "VMM-MAP-OVERLAP: part of the range is already mapped; ..." */
static void one_line(const vmm_detail *detail, char *text, size_t size)
{
    const vmm_rule *rule = detail->rule ? vmm_rule_find(detail->rule) : NULL;
    snprintf(text, size, "%s: %s%s%s%s%s", detail->function ? detail->function : "", detail->rule ? detail->rule : "",
             rule ? ": " : "", rule ? rule->message : "", detail->note[0] && rule ? "; " : "", detail->note);
}

/* Prints an explanation, if explanations are enabled. */
static void print(const vmm_detail *detail)
{
    char text[2560];
    if (!wanted())
        return;
    vmm_detail_text(detail, text, sizeof text);
    os_print(text, columns_fold(text, sizeof text, columns_of(2)));
}

void abi_report(void *user, const vmm_detail *detail)
{
    char line[512];
    int cancel = life_no_cancel();
    (void)user;
    if (findings_wanted("simulator", false))
        findings_add(detail);
    else
        print(detail);
    one_line(detail, line, sizeof line);
    if (detail->severity != VMM_SEVERITY_LEAK)
        abi_log(detail->severity == VMM_SEVERITY_WARNING ? CU_LOG_LEVEL_WARNING : CU_LOG_LEVEL_ERROR, line);
    life_may_cancel(cancel);
}

CUresult abi_refused(vmm_result result, const char *function)
{
    struct vmm_within *within = vmm_within_now(&vmm_this_thread()->within);
    vmm_detail_here()->function = function;
    vmm_detail_here()->call = within ? within->number : 0;
    vmm_detail detail = *vmm_last_detail();
    abi_report(NULL, &detail);
    return (CUresult)result;
}

CUresult abi_refuse(enum vmm_rule_id rule, const char *function, const char *format, ...)
{
    char note[sizeof((vmm_detail *)0)->note];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(note, sizeof note, format, arguments);
    va_end(arguments);
    vmm_result result = vmm_detail_refuse(rule, 0, 0, NULL);
    vmm_detail_argument(NULL); /* the note names arguments, since one rule serves several functions */
    vmm_detail_note("%s", note);
    return abi_refused(result, function);
}

CUresult abi_ended(const char *function)
{
    vmm_result result = vmm_detail_refuse(VMM_RULE_INIT_ENDED, 0, 0, NULL);
    vmm_detail_here()->function = function;
    print(vmm_last_detail());
    return (CUresult)result;
}

CUresult abi_no_memory(const char *function)
{
    return abi_refused(vmm_detail_refuse(VMM_RULE_SYSTEM_HOST_MEMORY, 0, 0, NULL), function);
}

CUresult abi_refuse_by(const vmm_system *sys, enum vmm_rule_id rule, const char *function, uint64_t value)
{
    vmm_object nearest = abi_query_nearest(sys, value);
    return abi_refused(vmm_detail_refuse(rule, value, 0, &nearest), function);
}

void abi_say(const char *format, ...)
{
    char text[1024] = "cuvmm: libcuda.so.1: ";
    size_t start = strlen(text);
    va_list arguments;
    va_start(arguments, format);
    size_t end = start + (size_t)vsnprintf(text + start, sizeof text - start - 1, format, arguments);
    va_end(arguments);
    end = end < sizeof text - 2 ? end : sizeof text - 2;
    if (text[end - 1] != '\n')
        text[end++] = '\n';
    os_print(text, end);
}
