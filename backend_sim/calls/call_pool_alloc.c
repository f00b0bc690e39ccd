/* SPDX-License-Identifier: Apache-2.0 */
/* Allocations in the order of a stream, from memory pools. */
#include "call_pool.h"
#include "in_flight.h"
#include "launch.h"
#include "pool_policy.h"
#include "pool_use.h"
#include "sim.h"
#include "work.h"

/* One allocation on its way. */
struct request {
    struct sim_process *process;
    const struct vmm_call *call;
    struct sim_pool *pool;
    struct queue_place place;
    uint64_t size;
    struct mempool_request memory;
    bool looked; /* in_flight_look_from was called for it */
};

/* ---- what a stream knows of other streams' frees ---- */

static bool is_ordered(void *user, const struct free_mark *mark)
{
    const struct request *request = user;
    return stream_clock_after(&request->process->in_flight->clocks, &request->place, mark->clock, mark->tick);
}

static bool is_done(void *user, const struct free_mark *mark)
{
    struct request *request = user;
    if (!request->looked)
        in_flight_look_from(request->process, &request->place);
    request->looked = true;
    return !mark->item || mark->item->state == QUEUE_DONE;
}

/* ---- allocating ---- */

static vmm_result refuse_memory(const struct request *request, enum vmm_rule_id rule, uint64_t left)
{
    vmm_object nearest = sim_object_pool(request->pool);
    return vmm_detail_refuse(rule, request->size, left, &nearest);
}

/* Gives all of the region's low part memory. */
static vmm_result back(const struct request *request, const struct region *region)
{
    struct sim_process *process = request->process;
    struct sim_pool *pool = request->pool;
    uint64_t lacks = sim_pool_lacks(pool, region->start, request->memory.size);
    uint64_t limit = pool->props.max_size ? pool->props.max_size : UINT64_MAX;
    uint64_t allowed = limit > pool->memory.reserved ? limit - pool->memory.reserved : 0;
    if (lacks > allowed)
        return refuse_memory(request, VMM_RULE_POOL_ALLOC_MAX_SIZE, allowed);
    uint64_t left = lacks ? sim_machine_room(process->machine, pool->props.location, lacks) : 0;
    if (lacks > left)
        return refuse_memory(request, VMM_RULE_POOL_ALLOC_MEMORY, left);
    return sim_pool_back(process, pool, region->start, request->memory.size) ? VMM_SUCCESS : sim_out_of_host_memory();
}

static vmm_result find(struct request *request, struct region **region)
{
    *region = mempool_find(&request->pool->memory, &request->memory);
    if (!*region)
        return refuse_memory(request, VMM_RULE_POOL_ALLOC_MEMORY, request->pool->memory.size);
    bool backed = (*region)->state == REGION_PENDING || (*region)->backed;
    return backed ? VMM_SUCCESS : back(request, *region);
}

static vmm_result allocate(struct request *request, vmm_deviceptr *out)
{
    struct sim_process *process = request->process;
    struct region *region;
    request->memory = (struct mempool_request){.size = pool_round(request->size, POOL_UNIT), .place = &request->place,
                                               .ordered = is_ordered, .done = is_done, .user = request};
    if (!request->memory.size)
        return refuse_memory(request, VMM_RULE_POOL_ALLOC_MEMORY, request->pool->memory.size);
    vmm_result result = find(request, &region);
    if (result != VMM_SUCCESS)
        return result;
    struct sim_piece *piece = sim_piece_new(process, request->pool, region, request->size, &request->place,
                                            sim_origin(request->call));
    if (!piece)
        return sim_out_of_host_memory();
    piece->orders = process->in_flight->orders;
    *out = piece->allocation.start;
    return VMM_SUCCESS;
}

static vmm_result allocate_here(struct request *request, vmm_deviceptr *out)
{
    struct sim_machine *machine = request->process->machine;
    if (!sim_machine_begin(machine))
        return sim_machine_unreachable(share_why(machine->share));
    vmm_result result = allocate(request, out);
    sim_machine_end(machine);
    return result;
}

static vmm_result check_stream(struct sim_process *process, vmm_stream stream, struct sim_context **context)
{
    vmm_result result = sim_stream_context(process, stream, context);
    return result == VMM_SUCCESS ? sim_context_check(process, *context, false) : result;
}

vmm_result sim_mem_alloc_async(struct sim_process *process, const struct vmm_call_mem_alloc_async *call)
{
    struct sim_context *context;
    if (!call->dptr)
        return vmm_detail_refuse(VMM_RULE_POOL_ALLOC_NULL, 0, 0, NULL);
    vmm_result result = check_stream(process, call->stream, &context);
    if (result != VMM_SUCCESS)
        return result;
    if (!call->bytesize)
        return vmm_detail_refuse(VMM_RULE_POOL_ALLOC_SIZE_ZERO, 0, 0, NULL);
    const struct sim_pools *pools = sim_pools_of(process, context->device);
    if (!pools)
        return sim_out_of_host_memory();
    struct request request = {.process = process, .call = &call->head, .pool = pools->current, .size = call->bytesize,
                              .place = in_flight_place(process, context, call->stream)};
    return allocate_here(&request, call->dptr);
}

vmm_result sim_mem_alloc_from_pool_async(struct sim_process *process, const struct vmm_call_mem_alloc_from_pool_async *call)
{
    struct sim_context *context;
    struct sim_pool *pool;
    if (!call->dptr)
        return vmm_detail_refuse(VMM_RULE_POOL_ALLOC_NULL, 0, 0, NULL);
    vmm_result result = check_stream(process, call->stream, &context);
    if (result == VMM_SUCCESS)
        result = sim_pool_live(process, call->pool, "pool", &pool);
    if (result != VMM_SUCCESS)
        return result;
    if (!call->bytesize)
        return vmm_detail_refuse(VMM_RULE_POOL_ALLOC_SIZE_ZERO, 0, 0, NULL);
    struct request request = {.process = process, .call = &call->head, .pool = pool, .size = call->bytesize,
                              .place = in_flight_place(process, context, call->stream)};
    return allocate_here(&request, call->dptr);
}

/* ---- freeing ---- */

/* When a stream was created, among streams; default streams come before all. */
static uint64_t rank_of(const struct sim_process *process, const struct queue_place *place)
{
    void *object;
    bool live = slots_find(&process->streams, place->stream, &object) == SLOT_LIVE;
    return live ? ((const struct sim_stream *)object)->number : 0;
}

static vmm_result free_in_order(struct sim_process *process, const struct vmm_call_mem_free_async *call, struct sim_piece *piece,
                                const struct queue_place *place)
{
    bool fresh;
    struct sim_pool *pool = piece->pool;
    struct free_mark *mark = in_flight_free_mark(process, place, &call->head, &fresh);
    if (!mark)
        return sim_out_of_host_memory();
    if (!mempool_pend(&pool->memory, piece->region, mark, place, rank_of(process, place))) {
        if (fresh)
            in_flight_free_undo(process);
        return sim_out_of_host_memory();
    }
    sim_piece_end(process, piece, sim_origin(&call->head));
    return fresh ? in_flight_free_end(process) : VMM_SUCCESS;
}

vmm_result sim_mem_free_async(struct sim_process *process, const struct vmm_call_mem_free_async *call)
{
    struct sim_context *context;
    vmm_result result = check_stream(process, call->stream, &context);
    if (result != VMM_SUCCESS)
        return result;
    if (!call->dptr)
        return VMM_SUCCESS;
    struct sim_allocation *allocation = sim_allocation_at(process, call->dptr);
    if (!allocation || allocation->start != call->dptr || !allocation->pooled) {
        vmm_object nearest = sim_object_nearest(process, call->dptr);
        enum vmm_rule_id rule = allocation && !allocation->pooled ? VMM_RULE_POOL_FREE_ORDINARY : VMM_RULE_POOL_FREE_UNKNOWN;
        return vmm_detail_refuse(rule, call->dptr, 0, &nearest);
    }
    struct queue_place place = in_flight_place(process, context, call->stream);
    pool_use_freeing(process, &place, (const struct sim_piece *)allocation);
    return free_in_order(process, call, (struct sim_piece *)allocation, &place);
}
