#include "reach.h"

bool reach_run(const struct sim_process *process, uint64_t address, uint64_t size, struct reach_run *run)
{
    const struct sim_mapping *m = sim_mapping_at(process, address);
    const struct sim_allocation *a = m ? NULL : sim_allocation_at(process, address);
    uint64_t room;
    if (!m && !a)
        return false;
    if (m) {
        room = m->size - (address - m->start);
        *run = (struct reach_run){m->handle->block, m->offset + (address - m->start), 0};
    } else {
        room = a->size - (address - a->start);
        *run = (struct reach_run){a->block, address - a->start, 0};
    }
    run->length = size < room ? size : room;
    return true;
}

/* Who may do what at an address: the device that works, and the host. */
struct rights {
    unsigned device, host;
    bool host_memory;
    bool copied_anyway; /* cuMemAlloc's memory of another device: copies go between devices, fills do not */
};

static struct rights rights_of(const struct sim_process *process, int device, uint64_t address)
{
    const struct sim_mapping *m = sim_mapping_at(process, address);
    if (m)
        return (struct rights){sim_access_of(m->access, (unsigned)device), sim_access_of(m->access, SIM_HOST_SLOT),
                               m->handle->prop.location.type != VMM_MEM_LOCATION_TYPE_DEVICE, false};
    const struct sim_allocation *a = sim_allocation_at(process, address);
    bool own = a && a->block->prop.location.id == device;
    return (struct rights){own ? VMM_MEM_ACCESS_FLAGS_PROT_READWRITE : VMM_MEM_ACCESS_FLAGS_PROT_NONE, 0, false,
                           a != NULL};
}

unsigned reach_rights(const struct sim_process *process, int device, uint64_t address)
{
    return rights_of(process, device, address).device;
}

/* The rule that forbids the use, or VMM_RULE_COUNT. The table is the measured one. */
static enum vmm_rule_id forbidden(struct rights have, enum reach_use use)
{
    unsigned need = use == REACH_READ ? VMM_MEM_ACCESS_FLAGS_PROT_READ : VMM_MEM_ACCESS_FLAGS_PROT_READWRITE;
    if (have.copied_anyway && use != REACH_FILL)
        return VMM_RULE_COUNT;
    if (have.host_memory && !have.device && use != REACH_FILL)
        return (have.host & need) == need ? VMM_RULE_COUNT : VMM_RULE_COPY_HOST_RIGHTS;
    if ((have.device & need) != need)
        return use == REACH_READ ? VMM_RULE_COPY_NO_READ : VMM_RULE_COPY_NO_WRITE;
    if (have.host_memory && use == REACH_FROM_HOST && have.host == VMM_MEM_ACCESS_FLAGS_PROT_READ)
        return VMM_RULE_COPY_HOST_RIGHTS;
    return VMM_RULE_COUNT;
}

static vmm_result refuse(const struct sim_process *process, enum vmm_rule_id rule, uint64_t at, uint64_t address,
                         const char *argument, int device)
{
    static const char *const may[] = {"may not access", "may only read", "(never given)", "may read and write"};
    struct rights have = rights_of(process, device, at);
    vmm_object nearest = sim_object_nearest(process, at);
    vmm_result result = vmm_detail_refuse(rule, address, 0, &nearest);
    vmm_detail_argument(argument);
    if (rule == VMM_RULE_COPY_NOT_MAPPED || rule == VMM_RULE_COPY_RUNS_PAST)
        vmm_detail_note("nothing is mapped at 0x%llx, %llu bytes into the range", (unsigned long long)at,
                        (unsigned long long)(at - address));
    else if (rule == VMM_RULE_COPY_HOST_RIGHTS)
        vmm_detail_note("%llu bytes into the range device %d %s the memory, and the host %s it",
                        (unsigned long long)(at - address), device, may[have.device], may[have.host]);
    else
        vmm_detail_note("device %d %s 0x%llx, %llu bytes into the range", device, may[have.device],
                        (unsigned long long)at, (unsigned long long)(at - address));
    return result;
}

static vmm_result refuse_overflow(const struct sim_process *process, uint64_t address, uint64_t size)
{
    vmm_object nearest = sim_object_nearest(process, address);
    vmm_result result = vmm_detail_refuse(VMM_RULE_COPY_OVERFLOW, size, UINT64_MAX - address, &nearest);
    vmm_detail_note("from 0x%llx on there are fewer bytes", (unsigned long long)address);
    return result;
}

vmm_result reach_check(const struct sim_process *process, int device, uint64_t address, uint64_t size,
                       enum reach_use use, const char *argument)
{
    struct reach_run run;
    if (size > UINT64_MAX - address)
        return refuse_overflow(process, address, size);
    for (uint64_t at = address, left = size; left; at += run.length, left -= run.length) {
        if (!reach_run(process, at, left, &run))
            return refuse(process, at == address ? VMM_RULE_COPY_NOT_MAPPED : VMM_RULE_COPY_RUNS_PAST, at, address,
                          argument, device);
        enum vmm_rule_id rule = forbidden(rights_of(process, device, at), use);
        if (rule != VMM_RULE_COUNT)
            return refuse(process, rule, at, address, argument, device);
    }
    return VMM_SUCCESS;
}
