/* SPDX-License-Identifier: Apache-2.0 */
#include "pool_use.h"

#include <inttypes.h>

#include "in_flight.h"
#include "objects.h"
#include "work.h"

/* Does the context's default stream order the two? */
static bool by_default(const struct queue_place *a, const struct queue_place *b)
{
    return a->context == b->context && a->kind != QUEUE_NON_BLOCKING && b->kind != QUEUE_NON_BLOCKING &&
           (a->kind == QUEUE_DEFAULT || b->kind == QUEUE_DEFAULT);
}

/* Is the stream at the place certainly not ordered after the allocation? */
static bool unordered(const struct sim_process *process, const struct sim_piece *piece, const struct queue_place *place)
{
    return piece->orders == process->in_flight->orders && !queue_same_lane(&piece->place, place) && !by_default(&piece->place, place);
}

static void warn_unordered(const struct sim_piece *piece, const char *argument)
{
    vmm_object nearest = sim_object_allocation(&piece->allocation);
    vmm_detail_warn(VMM_RULE_POOL_USE_UNORDERED, piece->allocation.start, 0, &nearest);
    vmm_detail_argument(argument);
}

void pool_use_at(struct sim_process *process, const struct queue_place *place, uint64_t address, uint64_t size,
                 const char *argument)
{
    const struct mempool_chunk *chunk = sim_chunk_at(process, address);
    if (!chunk || !size)
        return;
    const struct sim_allocation *allocation = sim_allocation_at(process, address);
    if (!allocation) {
        vmm_object nearest = sim_object_nearest(process, address);
        vmm_detail_warn(VMM_RULE_POOL_USE_FREED, address, 0, &nearest);
        vmm_detail_argument(argument);
    } else if (unordered(process, (const struct sim_piece *)allocation, place)) {
        warn_unordered((const struct sim_piece *)allocation, argument);
    }
}

/* Warns about the first work that uses the memory and is not ordered before the free. */
static void warn_of_use(struct sim_process *process, const struct sim_allocation *a)
{
    for (struct queue_item *item = process->in_flight->queue.first; item; item = item->after) {
        struct work *work = (struct work *)item;
        const struct queue_place *place = queue_place_of(item);
        if (item->mark || item->wanted || process->fault[place->device].lost || queue_known(&process->in_flight->queue, item))
            continue;
        const struct access_set_range *range =
            access_set_in(work_accesses(work, process), a->start, a->size, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
        if (!range)
            continue;
        vmm_object nearest = sim_object_allocation(a);
        vmm_detail_warn(VMM_RULE_POOL_FREE_IN_FLIGHT, a->start, 0, &nearest);
        vmm_detail_note("%s, issued by call %" PRIu64 " on another stream, uses it; nothing makes this stream wait for it",
                        vmm_reported_name(work->issued_by), work->call.head.number);
        vmm_detail_issued(work_site(work));
        return;
    }
}

void pool_use_freeing(struct sim_process *process, const struct queue_place *place, const struct sim_piece *piece)
{
    if (unordered(process, piece, place))
        warn_unordered(piece, "dptr");
    if (!in_flight_any(process->in_flight))
        return;
    in_flight_look_from(process, place);
    warn_of_use(process, &piece->allocation);
}
