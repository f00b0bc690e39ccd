/* SPDX-License-Identifier: Apache-2.0 */
/* retired_ranges.h - the last ranges that ended, so that a message can say "unmapped by call 41".
 *
 * A ring buffer: the newest entry overwrites the oldest. The caller does all locking.
 */
#ifndef SIM_RETIRED_RANGES_H
#define SIM_RETIRED_RANGES_H

#include "vmm.h"

enum { RETIRED_RANGES_SIZE = 256 };

struct retired_range {
    uint64_t start, size, created, ended;
    uint64_t handle; /* of a mapping */
    uint32_t number, handle_number;
    uint16_t created_by, ended_by; /* enum vmm_call_id */
    uint16_t kind;                 /* vmm_object_kind, 0 while empty */
    vmm_mem_location location;
};

struct retired_ranges {
    struct retired_range range[RETIRED_RANGES_SIZE];
    unsigned next;
};

static inline void retired_ranges_add(struct retired_ranges *ring, const struct retired_range *retired)
{
    ring->range[ring->next] = *retired;
    ring->next = (ring->next + 1) % RETIRED_RANGES_SIZE;
}

/* The newest entry of that kind that held address, or NULL. */
const struct retired_range *retired_ranges_find(const struct retired_ranges *ring, vmm_object_kind kind, uint64_t address);

#endif
