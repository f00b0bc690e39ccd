/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-ordered allocations from memory pools. */
#include "call_pool.h"
#include "graph_pins.h"
#include "in_flight.h"
#include "order_feed.h"
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

/* ---- what a stream knows about other streams' frees ---- */

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

/* The pool's limit, in chunks. */
static uint64_t allowed(const struct sim_pool *pool)
{
    uint64_t limit = pool->props.max_size ? pool_round(pool->props.max_size, pool->memory.chunk) : UINT64_MAX;
    return limit > pool->memory.reserved ? limit - pool->memory.reserved : 0;
}

/* As measured, a pool that cannot get all the memory for an allocation keeps what it got, up to its threshold. */
static void back_some(const struct request *request, uint64_t start, uint64_t bytes)
{
    struct sim_pool *pool = request->pool;
    uint64_t first = start - (start - pool->memory.start) % pool->memory.chunk, size = request->memory.size;
    uint64_t end = first;
    while (end < start + size && sim_pool_lacks(pool, first, end + pool->memory.chunk - first) <= bytes)
        end += pool->memory.chunk;
    if (end > first)
        sim_pool_back(request->process, pool, start, end - start);
    sim_pool_trim(request->process, pool, pool->memory.threshold);
}

/* Backs all of the region's lower part with memory. */
static vmm_result back(const struct request *request, const struct region *region)
{
    struct sim_process *process = request->process;
    struct sim_pool *pool = request->pool;
    uint64_t start = region->start, lacks = sim_pool_lacks(pool, start, request->memory.size), limit = allowed(pool);
    uint64_t wanted = lacks < limit ? lacks : limit;
    uint64_t left = wanted ? sim_pools_room(process, pool->props.location, wanted) : 0;
    if (lacks <= limit && lacks <= left) /* the pool's idle memory may be gone by now */
        lacks = sim_pool_lacks(pool, start, request->memory.size);
    if (lacks <= limit && lacks <= left)
        return sim_pool_back(process, pool, start, request->memory.size) ? VMM_SUCCESS : sim_out_of_host_memory();
    bool limited = lacks > limit && limit <= left;
    back_some(request, start, limited ? limit : pool_round_down(left, pool->memory.chunk));
    return limited ? refuse_memory(request, VMM_RULE_POOL_ALLOC_MAX_SIZE, limit)
                   : refuse_memory(request, VMM_RULE_POOL_ALLOC_MEMORY, left);
}

/* If the pool cannot grow: memory that another stream freed. The request's stream then waits for that free. */
static struct region *find_to_wait(struct request *request)
{
    struct mempool *memory = &request->pool->memory;
    return memory->internal && memory->pending ? mempool_find_to_wait(memory, &request->memory) : NULL;
}

static vmm_result find(struct request *request, struct region **region)
{
    const vmm_detail before = *vmm_last_detail();
    *region = mempool_find(&request->pool->memory, &request->memory);
    if (!*region)
        return refuse_memory(request, VMM_RULE_POOL_ALLOC_MEMORY, request->pool->memory.size);
    if ((*region)->state == REGION_PENDING || (*region)->backed)
        return VMM_SUCCESS;
    vmm_result result = back(request, *region);
    struct region *other = result == VMM_SUCCESS ? NULL : find_to_wait(request);
    if (!other && result != VMM_SUCCESS && vmm_last_detail()->rule == vmm_rule_row(VMM_RULE_POOL_ALLOC_MAX_SIZE)->id)
        sim_pools_trim_beside(request->process, request->pool);
    if (!other)
        return result;
    *vmm_detail_here() = before;
    *region = other;
    return VMM_SUCCESS;
}

/* Makes the stream wait for another stream's free, if that is not done yet. */
static vmm_result wait_for(const struct request *request, const struct region *region)
{
    const struct queue_item *item = region->state == REGION_PENDING ? region->mark->item : NULL;
    if (!item || item->state == QUEUE_DONE || queue_same_lane(queue_place_of(item), &request->place))
        return VMM_SUCCESS;
    if (request->process->in_flight->order)
        lanes_pass(&request->process->in_flight->order->lanes, queue_place_of(item), &request->place);
    return in_flight_mark_quietly(request->process, &request->place, request->call, item->number);
}

static void meet(struct sim_process *process, struct sim_pool *pool, const struct queue_place *place)
{
    mempool_meet(&pool->memory, place, stream_clock_meet(&process->in_flight->clocks, place));
}

static vmm_result allocate(struct request *request, vmm_deviceptr *out)
{
    struct sim_process *process = request->process;
    struct region *region;
    request->memory = (struct mempool_request){.size = pool_round(request->size, POOL_UNIT), .place = &request->place,
                                               .ordered = is_ordered, .done = is_done, .user = request};
    if (!request->memory.size) /* more than there are addresses, which moves what is pending as any size does (measured once) */
        request->memory.size = UINT64_MAX;
    meet(process, request->pool, &request->place);
    const uint64_t mark = sim_blocks_mark(process->machine), high = request->pool->memory.reserved_high;
    vmm_result result = find(request, &region);
    if (result == VMM_SUCCESS)
        result = wait_for(request, region);
    if (result != VMM_SUCCESS)
        return result;
    struct sim_piece *piece = sim_piece_new(process, request->pool, region, request->size, &request->place,
                                            sim_origin(request->call));
    if (!piece) {
        sim_pool_unback(process, request->pool, region->start, request->memory.size, mark);
        request->pool->memory.reserved_high = high;
        return sim_out_of_host_memory();
    }
    piece->orders = process->in_flight->orders;
    if (process->in_flight->order)
        order_feed_renew(process, piece->allocation.start, request->memory.size);
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
    return result == VMM_SUCCESS ? in_flight_marked(request->process) : result;
}

static vmm_result check_stream(struct sim_process *process, vmm_stream stream, struct sim_context **context)
{
    vmm_result result = sim_stream_context(process, stream, context);
    return result == VMM_SUCCESS ? sim_context_check(process, *context, false) : result;
}

/* Measured: the stream is checked before the output, which is written even if the call is refused. */
static vmm_result check_place(struct sim_process *process, vmm_deviceptr *out, vmm_stream stream, struct sim_context **context)
{
    if (out)
        *out = 0;
    vmm_result result = check_stream(process, stream, context);
    return result == VMM_SUCCESS && !out ? vmm_detail_refuse(VMM_RULE_POOL_ALLOC_NULL, 0, 0, NULL) : result;
}

/* The rest of both calls, once the pool is known. As measured, nothing is allocated for 0 bytes, at address 0. */
static vmm_result allocate_on(struct sim_process *process, const struct vmm_call *call, vmm_deviceptr *out, uint64_t size,
                              struct sim_pool *pool, const struct sim_context *context, vmm_stream stream)
{
    struct request request = {.process = process, .call = call, .pool = pool, .size = size,
                              .place = in_flight_place(process, context, stream)};
    if (size)
        return allocate_here(&request, out);
    return sim_warn_or_refuse(process, VMM_RULE_POOL_ALLOC_SIZE_ZERO, 0, 0, NULL) ? VMM_SUCCESS : VMM_ERROR_INVALID_VALUE;
}

vmm_result sim_mem_alloc_async(struct sim_process *process, const struct vmm_call_mem_alloc_async *call)
{
    struct sim_context *context;
    vmm_result result = check_place(process, call->dptr, call->stream, &context);
    const struct sim_pools *pools = result == VMM_SUCCESS ? sim_pools_of(process, (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, context->device}) : NULL;
    if (result != VMM_SUCCESS)
        return result;
    return pools ? allocate_on(process, &call->head, call->dptr, call->bytesize, pools->current, context, call->stream)
                 : sim_out_of_host_memory();
}

vmm_result sim_mem_alloc_from_pool_async(struct sim_process *process, const struct vmm_call_mem_alloc_from_pool_async *call)
{
    struct sim_context *context;
    struct sim_pool *pool;
    vmm_result result = check_place(process, call->dptr, call->stream, &context);
    if (result == VMM_SUCCESS)
        result = sim_pool_own(process, call->pool, &pool);
    return result == VMM_SUCCESS
               ? allocate_on(process, &call->head, call->dptr, call->bytesize, pool, context, call->stream)
               : result;
}

/* ---- freeing ---- */

static vmm_result free_in_order(struct sim_process *process, const struct vmm_call_mem_free_async *call, struct sim_piece *piece,
                                const struct queue_place *place)
{
    bool fresh;
    struct sim_pool *pool = piece->pool;
    if (pool->graphs) {
        struct sim_graph_pin *pin = sim_graph_piece_pend(process, piece, sim_origin(&call->head));
        if (pin)
            graph_pin_await(process, pin, place);
        return pin ? VMM_SUCCESS : sim_out_of_host_memory();
    }
    struct free_mark *mark = in_flight_free_mark(process, place, &call->head, &fresh);
    if (!mark)
        return sim_out_of_host_memory();
    meet(process, pool, place);
    if (!mempool_pend(&pool->memory, piece->region, mark, place)) {
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
        enum vmm_rule_id rule = allocation && allocation->managed && allocation->start == call->dptr ? VMM_RULE_MANAGED_FREE_ASYNC
                                : allocation && !allocation->pooled && !allocation->managed          ? VMM_RULE_POOL_FREE_ORDINARY
                                                                                                     : VMM_RULE_POOL_FREE_UNKNOWN;
        return vmm_detail_refuse(rule, call->dptr, 0, &nearest);
    }
    struct queue_place place = in_flight_place(process, context, call->stream);
    pool_use_freeing(process, &place, (const struct sim_piece *)allocation);
    return free_in_order(process, call, (struct sim_piece *)allocation, &place);
}
