/* SPDX-License-Identifier: Apache-2.0 */
#include "rules.h"

#include <string.h>

static const vmm_rule rows[VMM_RULE_COUNT] = {
#define VMM_RULE(symbol, id, function, argument, result, rclass, origin, driver, needs, documents, observed, message, \
                 explanation, way_out)                                                                               \
    {id,                                                                                                              \
     function,                                                                                                        \
     argument,                                                                                                        \
     VMM_##result,                                                                                                    \
     VMM_RULE_##rclass,                                                                                               \
     VMM_ORIGIN_##origin,                                                                                             \
     VMM_DRIVER_##driver,                                                                                             \
     needs,                                                                                                           \
     documents,                                                                                                       \
     observed,                                                                                                        \
     message,                                                                                                         \
     explanation,                                                                                                     \
     way_out},
#include "rules.def"
};

const vmm_rule *vmm_rule_row(enum vmm_rule_id id)
{
    return &rows[id];
}

const vmm_rule *vmm_rules(size_t *count)
{
    if (count)
        *count = VMM_RULE_COUNT;
    return rows;
}

/* Most callers pass the row's own string. */
static const vmm_rule *row_of(const char *id)
{
    for (size_t i = 0; i < VMM_RULE_COUNT; i++)
        if (rows[i].id == id)
            return &rows[i];
    return NULL;
}

const vmm_rule *vmm_rule_find(const char *id)
{
    const vmm_rule *own = row_of(id);
    if (own)
        return own;
    for (size_t i = 0; id && i < VMM_RULE_COUNT; i++)
        if (strcmp(rows[i].id, id) == 0)
            return &rows[i];
    return NULL;
}
