/* SPDX-License-Identifier: Apache-2.0 */
/* retired_ranges.h - the last ranges that ended, so that a message can say "unmapped by call 41".
 *
 * A ring buffer: the newest entry overwrites the oldest. The caller does all locking.
 *
 * Invariants (retired_ranges_check; retired_ranges_check_newest checks only the newest entry):
 *     next            < RETIRED_RANGES_SIZE
 *     empty entries   = those from next on, or none
 *     an entry        is of a reservation, mapping or allocation, has a number and at least a byte, and ends below 2^64
 *     its handle      = 0 unless it is of a mapping
 * and of a process (process.h): a retired object is no longer live.
 */
#ifndef SIM_RETIRED_RANGES_H
#define SIM_RETIRED_RANGES_H

#include "vmm.h"

enum { RETIRED_RANGES_SIZE = 256 };

struct retired_range {
    uint64_t start, size, created, ended;
    uint64_t handle; /* of a mapping */
    uint32_t number, handle_number;
    uint32_t created_stack, ended_stack; /* call_stack */
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

/* An entry by its age; 0: the newest. NULL if there is none that old. next may have any value. */
static inline const struct retired_range *retired_ranges_aged(const struct retired_ranges *ring, unsigned age)
{
    const struct retired_range *retired = &ring->range[(ring->next + RETIRED_RANGES_SIZE - 1 - age) % RETIRED_RANGES_SIZE];
    return retired->kind ? retired : NULL;
}

const char *retired_ranges_check(const struct retired_ranges *ring);
const char *retired_ranges_check_newest(const struct retired_ranges *ring);

#endif
