/* SPDX-License-Identifier: Apache-2.0 */
/* graveyard.h - the last ranges that ended, so that a message can say "unmapped by call 41".
 *
 * A ring: the newest burial overwrites the oldest. All locking is up to the caller.
 */
#ifndef SIM_GRAVEYARD_H
#define SIM_GRAVEYARD_H

#include "vmm.h"

enum { GRAVEYARD_SIZE = 256 };

struct grave {
    uint64_t start, size, created, ended;
    uint64_t handle; /* of a mapping */
    uint32_t number, handle_number;
    uint16_t created_by, ended_by; /* enum vmm_call_id */
    uint16_t kind;                 /* vmm_object_kind, 0 while empty */
    vmm_mem_location location;
};

struct graveyard {
    struct grave grave[GRAVEYARD_SIZE];
    unsigned next;
};

static inline void graveyard_bury(struct graveyard *yard, const struct grave *grave)
{
    yard->grave[yard->next] = *grave;
    yard->next = (yard->next + 1) % GRAVEYARD_SIZE;
}

/* The newest grave of that kind that held address; NULL when none is remembered. */
const struct grave *graveyard_find(const struct graveyard *yard, vmm_object_kind kind, uint64_t address);

#endif
