/* SPDX-License-Identifier: Apache-2.0 */
#include "retired_ranges.h"

#include <inttypes.h>
#include <stdbool.h>

#include "checks.h"

const struct retired_range *retired_ranges_find(const struct retired_ranges *yard, vmm_object_kind kind, uint64_t address)
{
    for (unsigned i = 1; i <= RETIRED_RANGES_SIZE; i++) {
        const struct retired_range *grave = &yard->grave[(yard->next + RETIRED_RANGES_SIZE - i) % RETIRED_RANGES_SIZE];
        if (grave->kind == (uint16_t)kind && address >= grave->start && address - grave->start < grave->size)
            return grave;
    }
    return NULL;
}

static const char *check_entry(const struct retired_range *grave)
{
    bool mapping = grave->kind == VMM_OBJECT_MAPPING;
    if (!mapping && grave->kind != VMM_OBJECT_RESERVATION && grave->kind != VMM_OBJECT_ALLOCATION)
        return check_say("an object of kind %u has no range", grave->kind);
    if (!grave->number || !grave->size || grave->size - 1 > UINT64_MAX - grave->start)
        return check_say("number %" PRIu32 " had 0x%" PRIx64 " bytes at 0x%" PRIx64, grave->number, grave->size, grave->start);
    if (!mapping && (grave->handle || grave->handle_number))
        return check_say("number %" PRIu32 ", no mapping, was of H%" PRIu32, grave->number, grave->handle_number);
    return NULL;
}

const char *retired_ranges_check_newest(const struct retired_ranges *yard)
{
    if (yard->next >= RETIRED_RANGES_SIZE)
        return check_say("the next entry is %u of %d", yard->next, RETIRED_RANGES_SIZE);
    const struct retired_range *grave = retired_ranges_aged(yard, 0);
    return grave ? check_in(check_entry(grave), "the newest") : NULL;
}

const char *retired_ranges_check(const struct retired_ranges *yard)
{
    const char *said = retired_ranges_check_newest(yard);
    bool full = yard->grave[RETIRED_RANGES_SIZE - 1].kind != 0;
    for (unsigned i = 0; i < RETIRED_RANGES_SIZE && !said; i++) {
        const struct retired_range *grave = &yard->grave[i];
        if ((grave->kind != 0) != (full || i < yard->next))
            said = check_say("entry %u is %s, the next one is %u", i, grave->kind ? "there" : "empty", yard->next);
        else if (grave->kind)
            said = check_in(check_entry(grave), "entry %u", i);
    }
    return said;
}
