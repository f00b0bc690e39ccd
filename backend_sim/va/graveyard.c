/* SPDX-License-Identifier: Apache-2.0 */
#include "graveyard.h"

const struct grave *graveyard_find(const struct graveyard *yard, vmm_object_kind kind, uint64_t address)
{
    for (unsigned i = 1; i <= GRAVEYARD_SIZE; i++) {
        const struct grave *grave = &yard->grave[(yard->next + GRAVEYARD_SIZE - i) % GRAVEYARD_SIZE];
        if (grave->kind == (uint16_t)kind && address >= grave->start && address - grave->start < grave->size)
            return grave;
    }
    return NULL;
}
