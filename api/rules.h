/* SPDX-License-Identifier: Apache-2.0 */
/* rules.h - the rule table's rows by number; rules.def holds the rows, vmm.h (vmm_rules) shows them. */
#ifndef CUVMM_RULES_H
#define CUVMM_RULES_H

#include "vmm.h"

enum vmm_rule_id {
#define VMM_RULE(symbol, ...) VMM_RULE_##symbol,
#include "rules.def"
    VMM_RULE_COUNT
};

/* Returns the row; id must be below VMM_RULE_COUNT. */
const vmm_rule *vmm_rule_row(enum vmm_rule_id id);

#endif
