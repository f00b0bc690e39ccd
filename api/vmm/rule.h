/* SPDX-License-Identifier: Apache-2.0 */
/* rule.h - the rules that calls check, keeping documentation, measurement and choice separate. Part of vmm.h, which states the
 * conventions. */
#ifndef CUVMM_VMM_RULE_H
#define CUVMM_VMM_RULE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum vmm_rule_class {
    VMM_RULE_ARGUMENT, /* wrong in any state */
    VMM_RULE_STATE,    /* wrong in this state */
    VMM_RULE_LIFETIME, /* the object still exists, or no longer does */
    VMM_RULE_LIMIT,    /* memory, address space, capabilities */
    VMM_RULE_HAZARD    /* allowed, and likely a mistake */
} vmm_rule_class;

typedef enum vmm_rule_origin {
    VMM_ORIGIN_DOCUMENTED, /* the documentation says so */
    VMM_ORIGIN_OBSERVED,   /* a recorded driver behaves like this; the documentation is silent or differs */
    VMM_ORIGIN_OURS        /* this project's choice */
} vmm_rule_origin;

typedef enum vmm_rule_behaviour {
    VMM_DRIVER_UNKNOWN, /* not measured */
    VMM_DRIVER_REJECTS,
    VMM_DRIVER_ACCEPTS, /* the driver accepts it: a warning in observed mode, an error in strict mode */
    VMM_DRIVER_CRASHES, /* the process dies; the simulator returns VMM_ERROR_INVALID_VALUE and reports it */
    VMM_DRIVER_VARIES
} vmm_rule_behaviour;

typedef struct vmm_rule {
    const char *id;        /* permanent, never reused */
    const char *function;  /* the driver's name of the call that it belongs to, or a family ("memcpy", "any") */
    const char *argument;
    vmm_result result;     /* what a refusal returns */
    vmm_rule_class rule_class;
    vmm_rule_origin origin;
    vmm_rule_behaviour driver_580; /* what driver 580.159.04 does */
    const char *needs;     /* capability a machine needs for the rule to matter, "" for none */
    const char *documents; /* what the documentation says, in our words, and where: "" when it is silent */
    const char *observed;  /* what was measured, and on what: "" when nothing was */
    const char *message;   /* one line: what is wrong */
    const char *explanation;
    const char *way_out;
} vmm_rule;

/* All rules in the order in which each call checks them. */
VMM_API const vmm_rule *vmm_rules(size_t *count);
/* Returns NULL if there is no such id. */
VMM_API const vmm_rule *vmm_rule_find(const char *id);

#ifdef __cplusplus
}
#endif

#endif
