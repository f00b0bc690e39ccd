/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>
#include <string.h>

#include "team.h"
#undef LAUNCH
#include "scale.h"

vmm_deviceptr scale_reserve(struct fix *f, uint64_t size)
{
    vmm_deviceptr ptr = 0;
    if (vmm_mem_address_reserve(S, &ptr, size, 0, 0, 0) == VMM_ERROR_OUT_OF_MEMORY)
        fix_skip(f, "needs more addresses");
    fix_need(f, ptr ? VMM_SUCCESS : VMM_ERROR_INVALID_VALUE);
    fix_note(f, FIX_RESERVATION, ptr, size);
    return ptr;
}

void scale_need_addresses(struct fix *f, uint64_t size)
{
    vmm_deviceptr ptr = scale_reserve(f, size);
    fix_address_free(f, ptr, size);
}

void scale_need_memory(struct fix *f, uint64_t size)
{
    if (fix_free_memory(f) < size)
        fix_skip(f, "needs more device memory");
}

void scale_refused(struct fix *f, vmm_result got, vmm_result want, const char *rule)
{
    const char *by = vmm_last_detail()->rule ? vmm_last_detail()->rule : "no rule";
    CHECK(got == want, "%s, expected %s by %s", vmm_result_name(got), vmm_result_name(want), rule);
    CHECK(!f->simulator || got != want || strcmp(by, rule) == 0, "refused by %s, expected %s", by, rule);
}

void *scale_room(struct fix *f, uint64_t count, uint64_t size)
{
    void *room = calloc(count, size);
    fix_need(f, room ? VMM_SUCCESS : VMM_ERROR_OUT_OF_MEMORY);
    return room;
}

void scale_crew(struct fix *f, uint64_t size, uint64_t own, struct crew *crew)
{
    const vmm_multicast_object_prop prop = team_prop(2, size);
    *crew = (struct crew){.devices = 2, .unit = team_unit(f), .size = size};
    fix_need(f, vmm_multicast_create(S, &crew->object, &prop));
    fix_note(f, FIX_HANDLE, crew->object, 0);
    crew->mc = scale_reserve(f, size + crew->unit);
    crew->mc += (crew->unit - crew->mc % crew->unit) % crew->unit;
    for (int id = 0; id < 2; id++) {
        const vmm_mem_allocation_prop on = fix_prop(id);
        fix_need(f, vmm_multicast_add_device(S, crew->object, id));
        crew->memory[id] = fix_create_prop(f, own, &on);
        crew->own[id] = fix_reserve(f, own);
        fix_map(f, crew->own[id], own, crew->memory[id]);
        fix_access(f, crew->own[id], own, RW);
    }
}

uint64_t scale_word(struct fix *f, vmm_deviceptr ptr)
{
    uint64_t word = FIX_UNTOUCHED;
    fix_need(f, vmm_memcpy_dtoh(S, &word, ptr, sizeof word));
    return word;
}
