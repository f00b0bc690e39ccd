/* SPDX-License-Identifier: Apache-2.0 */
/* The class of a detail: what is a finding, and which results correct programs may get. */
#include <string.h>

#include "findings.h"
#include "findings_text.h"
#include "rules.h"

static bool one_of(const char *text, const char *const *list)
{
    while (*list && strcmp(text, *list) != 0)
        list++;
    return *list != NULL;
}

/* Refusals that a correct program provokes to learn what a machine supports, or whether memory is left. No correct program
 * probes for that by mapping, by importing a pool as memory, by revoking the host's rights to host memory, through a
 * node's graph, or by a call inside a host function or a kernel. */
static bool is_an_answer(const vmm_detail *detail)
{
    static const char *const does[] = {"cuMemMap", "cuMemSetAccess", NULL};
    static const char *const mistakes[] = {"VMM-IMPORT-KIND", "VMM-POOL-ACCESS-HOST", "VMM-GRAPH-OF-NODE", "VMM-HOSTFUNC-CALL",
                                           "VMM-KERNEL-CALL", NULL};
    vmm_result result = detail->result;
    if (detail->rule && one_of(detail->rule, mistakes))
        return false;
    if (result == VMM_ERROR_NOT_SUPPORTED)
        return !(detail->function && one_of(detail->function, does));
    return result == VMM_ERROR_OUT_OF_MEMORY || result == VMM_ERROR_NOT_PERMITTED || result == VMM_ERROR_NOT_READY ||
           result == VMM_ERROR_NO_DEVICE;
}

/* The driver shut down before the program did, and freed everything. Exit handlers cannot know that; the CUDA runtime's exit
 * handlers release a primary context at that point. */
static bool is_the_end(const vmm_detail *detail)
{
    return detail->result == VMM_ERROR_DEINITIALIZED;
}

/* Programs often query whether an address of host memory belongs to the device, and a refusal is a normal answer. */
static bool is_a_question(const vmm_detail *detail)
{
    static const char *const calls[] = {"cuPointerGetAttribute", "cuPointerGetAttributes", "cuMemGetAddressRange", NULL};
    static const char *const rules[] = {"VMM-POINTER-NOT-MAPPED", "VMM-RANGE-NOT-FOUND", NULL};
    return detail->function && one_of(detail->function, calls) && (!detail->rule || one_of(detail->rule, rules));
}

static bool is_a_note(const char *id)
{
    static const char *const notes[] = {"VMM-SHADOW-DIFFERS", "VMM-SHADOW-OPAQUE", "VMM-SHADOW-LOST", "VMM-RESERVE-HINT-NOT-TAKEN", NULL};
    return one_of(id, notes);
}

/* The primary context belongs to the process and ends with it; few programs release it. */
static bool is_primary(const vmm_object *object)
{
    return object->kind == VMM_OBJECT_CONTEXT && object->created_by && strstr(object->created_by, "Primary");
}

/* A failure that the user injected is not the program's mistake. */
static bool is_injected(const vmm_detail *detail)
{
    return !detail->rule && strncmp(detail->note, "layer fault", strlen("layer fault")) == 0;
}

enum finding findings_class(const vmm_detail *detail)
{
    const vmm_rule *rule = detail->rule ? vmm_rule_find(detail->rule) : NULL;
    switch (detail->severity) {
    case VMM_SEVERITY_ERROR:
        if (is_injected(detail))
            return FINDING_NOTHING;
        return is_an_answer(detail) || is_a_question(detail) || is_the_end(detail) ? FINDING_NOTHING : FINDING_ERROR;
    case VMM_SEVERITY_WARNING:
        if (!rule)
            return FINDING_NOTHING;
        if (is_a_note(rule->id))
            return FINDING_NOTE;
        return rule->rule_class == VMM_RULE_HAZARD ? FINDING_HAZARD : FINDING_ERROR;
    case VMM_SEVERITY_LEAK:
        return is_primary(&detail->nearest) || findings_setting("CUVMM_CHECK_LEAKS", "no") ? FINDING_NOTHING : FINDING_LEAK;
    case VMM_SEVERITY_HINT:
        return FINDING_NOTE;
    case VMM_SEVERITY_NONE:
        break;
    }
    return FINDING_NOTHING;
}
