/* SPDX-License-Identifier: Apache-2.0 */
#include "retired_ranges.h"

#include <inttypes.h>
#include <stdbool.h>

#include "checks.h"

const struct retired_range *retired_ranges_find(const struct retired_ranges *ring, vmm_object_kind kind, uint64_t address)
{
    for (unsigned i = 1; i <= RETIRED_RANGES_SIZE; i++) {
        const struct retired_range *retired = &ring->range[(ring->next + RETIRED_RANGES_SIZE - i) % RETIRED_RANGES_SIZE];
        if (retired->kind == (uint16_t)kind && address >= retired->start && address - retired->start < retired->size)
            return retired;
    }
    return NULL;
}

static const char *check_entry(const struct retired_range *retired)
{
    bool mapping = retired->kind == VMM_OBJECT_MAPPING;
    if (!mapping && retired->kind != VMM_OBJECT_RESERVATION && retired->kind != VMM_OBJECT_ALLOCATION)
        return check_say("an object of kind %u has no range", retired->kind);
    if (!retired->number || !retired->size || retired->size - 1 > UINT64_MAX - retired->start)
        return check_say("number %" PRIu32 " had 0x%" PRIx64 " bytes at 0x%" PRIx64, retired->number, retired->size,
                         retired->start);
    if (!mapping && (retired->handle || retired->handle_number))
        return check_say("number %" PRIu32 ", no mapping, was of H%" PRIu32, retired->number, retired->handle_number);
    return NULL;
}

const char *retired_ranges_check_newest(const struct retired_ranges *ring)
{
    if (ring->next >= RETIRED_RANGES_SIZE)
        return check_say("the next entry is %u of %d", ring->next, RETIRED_RANGES_SIZE);
    const struct retired_range *retired = retired_ranges_aged(ring, 0);
    return retired ? check_in(check_entry(retired), "the newest") : NULL;
}

const char *retired_ranges_check(const struct retired_ranges *ring)
{
    const char *said = retired_ranges_check_newest(ring);
    bool full = ring->range[RETIRED_RANGES_SIZE - 1].kind != 0;
    for (unsigned i = 0; i < RETIRED_RANGES_SIZE && !said; i++) {
        const struct retired_range *retired = &ring->range[i];
        if ((retired->kind != 0) != (full || i < ring->next))
            said = check_say("entry %u is %s, the next one is %u", i, retired->kind ? "there" : "empty", ring->next);
        else if (retired->kind)
            said = check_in(check_entry(retired), "entry %u", i);
    }
    return said;
}
