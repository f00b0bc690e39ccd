/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "team.h"

void team_need(struct fix *f)
{
    fix_need_simulator(f, "multicast was never tried on a driver (CUVMM_REAL_MULTICAST, docs/multicast.md)");
}

vmm_multicast_object_prop team_prop(unsigned devices, uint64_t size)
{
    return (vmm_multicast_object_prop){.num_devices = devices, .size = size};
}

uint64_t team_unit(struct fix *f)
{
    const vmm_multicast_object_prop prop = team_prop(2, 0);
    uint64_t unit = 0;
    fix_need(f, vmm_multicast_get_granularity(f->sys, &unit, &prop, VMM_MULTICAST_GRANULARITY_MINIMUM));
    return unit;
}

vmm_mem_generic_allocation_handle team_object(struct fix *f, unsigned devices)
{
    const vmm_multicast_object_prop prop = team_prop(devices, TEAM_UNITS * team_unit(f));
    vmm_mem_generic_allocation_handle object = 0;
    fix_need(f, vmm_multicast_create(f->sys, &object, &prop));
    fix_note(f, FIX_HANDLE, object, 0);
    return object;
}

vmm_mem_generic_allocation_handle team_complete(struct fix *f, unsigned devices)
{
    vmm_mem_generic_allocation_handle object = team_object(f, devices);
    for (unsigned device = 0; device < devices; device++)
        fix_need(f, vmm_multicast_add_device(f->sys, object, (int)device));
    return object;
}

vmm_mem_generic_allocation_handle team_memory(struct fix *f, int device)
{
    const vmm_mem_allocation_prop prop = fix_prop(device);
    return fix_create_prop(f, TEAM_UNITS * team_unit(f), &prop);
}

vmm_deviceptr team_reserve(struct fix *f, uint64_t size)
{
    return fix_reserve_at(f, size, team_unit(f), 0);
}

vmm_deviceptr team_mapped(struct fix *f, uint64_t size, vmm_mem_access_flags flags,
                          vmm_mem_generic_allocation_handle *memory)
{
    vmm_deviceptr p = team_reserve(f, size);
    vmm_mem_generic_allocation_handle made = fix_create(f, size);
    fix_map(f, p, size, made);
    fix_access(f, p, size, flags);
    if (memory)
        *memory = made;
    return p;
}

void team_access(struct fix *f, vmm_deviceptr ptr, uint64_t size, unsigned devices, vmm_mem_access_flags flags)
{
    for (unsigned device = 0; device < devices; device++)
        fix_access_at(f, ptr, size, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, (int)device), flags);
}

struct crew team_crew(struct fix *f, unsigned devices, unsigned bound)
{
    struct crew crew = {.devices = devices, .unit = team_unit(f)};
    crew.size = TEAM_UNITS * crew.unit;
    crew.object = team_complete(f, devices);
    for (unsigned device = 0; device < devices; device++) {
        crew.memory[device] = team_memory(f, (int)device);
        crew.own[device] = team_reserve(f, crew.size);
        fix_map(f, crew.own[device], crew.size, crew.memory[device]);
        fix_access_at(f, crew.own[device], crew.size, fix_at(VMM_MEM_LOCATION_TYPE_DEVICE, (int)device),
                      VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
        if (device < bound)
            fix_need(f, vmm_multicast_bind_mem(f->sys, crew.object, 0, crew.memory[device], 0, crew.size, 0));
        crew.context[device] = device ? fix_context(f, (int)device) : f->ctx;
    }
    crew.mc = team_reserve(f, crew.size);
    fix_map(f, crew.mc, crew.size, crew.object);
    team_access(f, crew.mc, crew.size, devices, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    team_on(f, &crew, 0);
    return crew;
}

void team_on(struct fix *f, const struct crew *crew, unsigned device)
{
    fix_need(f, vmm_ctx_set_current(f->sys, crew->context[device]));
}

uint64_t team_word(struct fix *f, const struct crew *crew, unsigned device, uint64_t offset)
{
    uint64_t word = 0;
    team_on(f, crew, device);
    fix_need(f, vmm_memcpy_dtoh(f->sys, &word, crew->own[device] + offset, sizeof word));
    return word;
}

void team_set(struct fix *f, const struct crew *crew, unsigned device, uint64_t offset, uint64_t value)
{
    team_on(f, crew, device);
    fix_need(f, vmm_memcpy_htod(f->sys, crew->own[device] + offset, &value, sizeof value));
}

void team_reported(struct fix *f, int line, vmm_result got, vmm_result want, const char *rule, uint64_t value,
               vmm_object_kind near, const char *words)
{
    const vmm_detail detail = *vmm_last_detail();
    char text[4096];
    vmm_detail_text(&detail, text, sizeof text);
    rule = rule ? rule : f->rule;
    if (got != want || !detail.rule || strcmp(detail.rule, rule) != 0)
        fix_failed(f, __FILE__, line, "%s by %s, expected %s", vmm_result_name(got), detail.rule ? detail.rule : "no rule",
                   rule);
    else if (detail.value != value || detail.nearest.kind != near || !strstr(text, words))
        fix_failed(f, __FILE__, line, "0x%llx, object of kind %d, \"%s\"; expected 0x%llx, kind %d and \"%s\"",
                   (unsigned long long)detail.value, (int)detail.nearest.kind, detail.note, (unsigned long long)value,
                   (int)near, words);
    else if (detail.severity != (want == VMM_SUCCESS ? VMM_SEVERITY_WARNING : VMM_SEVERITY_ERROR))
        fix_failed(f, __FILE__, line, "severity %d", (int)detail.severity);
    else if (!strstr(text, "fix "))
        fix_failed(f, __FILE__, line, "no fix: %s", text);
}
