/* SPDX-License-Identifier: Apache-2.0 */
#include "retired_ranges.h"

const struct retired_range *retired_ranges_find(const struct retired_ranges *yard, vmm_object_kind kind, uint64_t address)
{
    for (unsigned i = 1; i <= RETIRED_RANGES_SIZE; i++) {
        const struct retired_range *grave = &yard->grave[(yard->next + RETIRED_RANGES_SIZE - i) % RETIRED_RANGES_SIZE];
        if (grave->kind == (uint16_t)kind && address >= grave->start && address - grave->start < grave->size)
            return grave;
    }
    return NULL;
}
