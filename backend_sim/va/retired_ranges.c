/* SPDX-License-Identifier: Apache-2.0 */
#include "retired_ranges.h"

const struct retired_range *retired_ranges_find(const struct retired_ranges *ring, vmm_object_kind kind, uint64_t address)
{
    for (unsigned i = 1; i <= RETIRED_RANGES_SIZE; i++) {
        const struct retired_range *retired = &ring->range[(ring->next + RETIRED_RANGES_SIZE - i) % RETIRED_RANGES_SIZE];
        if (retired->kind == (uint16_t)kind && address >= retired->start && address - retired->start < retired->size)
            return retired;
    }
    return NULL;
}
