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

static unsigned rights(const struct sim_process *process, int device, uint64_t address)
{
    const struct sim_mapping *m = sim_mapping_at(process, address);
    if (m)
        return sim_access_of(m->access, (unsigned)device);
    const struct sim_allocation *a = sim_allocation_at(process, address);
    return a && a->block->prop.location.id == device ? VMM_MEM_ACCESS_FLAGS_PROT_READWRITE
                                                     : VMM_MEM_ACCESS_FLAGS_PROT_NONE;
}

static vmm_result refuse(const struct sim_process *process, enum vmm_rule_id rule, uint64_t at, uint64_t address,
                         const char *argument, int device)
{
    static const char *const word[] = {"nothing", "reading", "(never given)", "reading and writing"};
    vmm_object nearest = sim_object_nearest(process, at);
    vmm_result result = vmm_detail_refuse(rule, address, 0, &nearest);
    vmm_detail_argument(argument);
    if (rule == VMM_RULE_COPY_NO_READ || rule == VMM_RULE_COPY_NO_WRITE)
        vmm_detail_note("device %d may do %s at 0x%llx, %llu bytes into the range", device,
                        word[rights(process, device, at)], (unsigned long long)at, (unsigned long long)(at - address));
    else
        vmm_detail_note("nothing is mapped at 0x%llx, %llu bytes into the range", (unsigned long long)at,
                        (unsigned long long)(at - address));
    return result;
}

vmm_result reach_check(const struct sim_process *process, int device, uint64_t address, uint64_t size, bool write,
                       const char *argument)
{
    struct reach_run run;
    unsigned need = write ? VMM_MEM_ACCESS_FLAGS_PROT_READWRITE : VMM_MEM_ACCESS_FLAGS_PROT_READ;
    if (size > UINT64_MAX - address) {
        vmm_object nearest = sim_object_nearest(process, address);
        vmm_result result = vmm_detail_refuse(VMM_RULE_COPY_OVERFLOW, size, UINT64_MAX - address, &nearest);
        vmm_detail_note("from 0x%llx on there are fewer bytes", (unsigned long long)address);
        return result;
    }
    for (uint64_t at = address, left = size; left; at += run.length, left -= run.length) {
        if (!reach_run(process, at, left, &run))
            return refuse(process, at == address ? VMM_RULE_COPY_NOT_MAPPED : VMM_RULE_COPY_RUNS_PAST, at, address,
                          argument, device);
        if ((rights(process, device, at) & need) != need)
            return refuse(process, write ? VMM_RULE_COPY_NO_WRITE : VMM_RULE_COPY_NO_READ, at, address, argument,
                          device);
    }
    return VMM_SUCCESS;
}
