/* SPDX-License-Identifier: Apache-2.0 */
#include "in_flight_hazards.h"

#include <inttypes.h>

#include "kernels.h"
#include "objects.h"
#include "process.h"
#include "refusal.h"
#include "rights.h"
#include "work.h"

static const char *name_of(const struct work *work)
{
    return work->call.head.id == VMM_CALL_launch ? vmm_kernel_name(work->call.launch.kernel)
                                                 : vmm_reported_name(work->issued_by);
}

/* Only the first warning about a call is reported. */
static void warn(enum vmm_rule_id rule, const struct work *work, const struct access_set_range *range,
                 const struct sim_mapping *mapping, uint64_t value)
{
    bool reported = vmm_last_detail()->severity != VMM_SEVERITY_NONE;
    vmm_object nearest = sim_object_mapping(mapping);
    uint64_t from = range->first > mapping->start ? range->first : mapping->start;
    vmm_detail_warn(rule, value, 0, &nearest);
    if (reported)
        return;
    vmm_detail_issued(work_site(work));
    vmm_detail_note("%s, %s by call %" PRIu64 " on device %d, %s the granule at 0x%" PRIx64 "; no call has waited for it",
                    name_of(work), work->call.head.id == VMM_CALL_launch ? "launched" : "issued",
                    work->call.head.number, queue_place_of(&work->item)->device,
                    range->need == VMM_MEM_ACCESS_FLAGS_PROT_READ ? "reads" : "writes", from);
}

/* A range of addresses in a mapping. */
struct part {
    const struct sim_mapping *mapping;
    uint64_t start, size;
};

/* Does the work need rights of the device (-1: of any)? */
static bool needs_rights_of(const struct work *work, int device)
{
    const int own = queue_place_of(&work->item)->device, to = work->rights.to, from = work->rights.from;
    return device < 0 || (to < 0 ? own : to) == device || (from < 0 ? own : from) == device;
}

/* Warns about the first in-flight work on the device (-1: any) that needs one of the rights on the part. False when there is
 * none. */
static bool warn_of(struct sim_process *process, enum vmm_rule_id rule, const struct part *part, int device,
                    unsigned rights, uint64_t value)
{
    for (struct queue_item *item = process->in_flight->queue.first; item; item = item->after) {
        struct work *work = (struct work *)item;
        int of = queue_place_of(item)->device;
        if (process->fault[of].lost || !needs_rights_of(work, device) || queue_known(&process->in_flight->queue, item))
            continue;
        const struct access_set_range *range = access_set_in(work_accesses(work, process), part->start, part->size, rights);
        if (range) {
            warn(rule, work, range, part->mapping, value);
            return true;
        }
    }
    return false;
}

struct in_flight_used in_flight_used(struct sim_process *process, uint64_t start, uint64_t end)
{
    assert_locked(process->machine);
    struct in_flight_used used = {UINT64_MAX, 0};
    for (struct queue_item *item = process->in_flight->queue.first; item; item = item->after) {
        const struct access_set *accesses = work_accesses((struct work *)item, process);
        if (!accesses->complete)
            return (struct in_flight_used){start, end};
        for (size_t i = 0; i < accesses->count; i++) {
            const struct access_set_range *range = &accesses->range[i];
            if (range->last < start || range->first >= end)
                continue;
            used.first = range->first < used.first ? range->first : used.first;
            used.last = range->last > used.last ? range->last : used.last;
        }
    }
    return used;
}

void in_flight_unmapping(struct sim_process *process, uint64_t start, uint64_t end)
{
    assert_locked(process->machine);
    const struct in_flight_used used = in_flight_used(process, start, end);
    uint64_t from = used.first > start ? used.first : start;
    bool warned = false;
    for (const struct sim_mapping *m = from < end ? sim_mapping_in(process, from, end - from) : NULL;
         m && !warned && in_flight_uses(&used, m->start, m->size); m = sim_mapping_after(process, m->start + m->size, end)) {
        const struct part all = {m, m->start, m->size};
        warned = warn_of(process, VMM_RULE_UNMAP_IN_FLIGHT, &all, -1, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, start);
    }
}

/* The part of a mapping that shows [offset, offset + size) of its memory or multicast object; empty if there is none. */
static struct part part_of(const struct sim_mapping *mapping, uint64_t offset, uint64_t size)
{
    uint64_t first = mapping->offset > offset ? mapping->offset : offset;
    uint64_t mapped = mapping->offset + mapping->size, end = offset + size < mapped ? offset + size : mapped;
    return (struct part){mapping, mapping->start + (first - mapping->offset), end > first ? end - first : 0};
}

void in_flight_unbinding(struct sim_process *process, const struct sim_handle *object, uint64_t offset, uint64_t size)
{
    assert_locked(process->machine);
    bool warned = false;
    for (const struct sim_mapping *m = addrmap_ceil(&process->mappings, 0); m && !warned;
         m = addrmap_ceil(&process->mappings, m->start + 1)) {
        const struct part part = part_of(m, offset, size);
        warned = m->handle == object && part.size &&
                 warn_of(process, VMM_RULE_UNBIND_IN_FLIGHT, &part, -1, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE, offset);
    }
}

void in_flight_granting(struct sim_process *process, const struct sim_mapping *mapping, const vmm_mem_access_desc *desc)
{
    assert_locked(process->machine);
    if (desc->location.type != VMM_MEM_LOCATION_TYPE_DEVICE)
        return;
    unsigned lost = sim_access_of(mapping->access, (unsigned)desc->location.id) & ~(unsigned)desc->flags;
    const struct part all = {mapping, mapping->start, mapping->size};
    if (lost)
        warn_of(process, VMM_RULE_ACCESS_IN_FLIGHT, &all, desc->location.id, lost, (uint64_t)desc->flags);
}
