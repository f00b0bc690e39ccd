#include "graveyard.h"

void graveyard_bury(struct graveyard *yard, const struct grave *grave)
{
    yard->grave[yard->next] = *grave;
    yard->next = (yard->next + 1) % GRAVEYARD_SIZE;
}

const struct grave *graveyard_find(const struct graveyard *yard, vmm_object_kind kind, uint64_t address)
{
    for (unsigned i = 1; i <= GRAVEYARD_SIZE; i++) {
        const struct grave *grave = &yard->grave[(yard->next + GRAVEYARD_SIZE - i) % GRAVEYARD_SIZE];
        if (grave->kind == (uint16_t)kind && address >= grave->start && address - grave->start < grave->size)
            return grave;
    }
    return NULL;
}
