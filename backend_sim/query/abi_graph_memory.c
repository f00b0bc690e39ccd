/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_graph_memory.h"

#include "abi_process.h"
#include "graph_pins.h"
#include "in_flight.h"
#include "sim.h"

/* ---- addresses ---- */

enum abi_graph_memory abi_graph_memory_take(vmm_system *sys, struct abi_graph_range *range)
{
    struct sim_process *process = abi_process_lock(sys);
    struct sim_graph_memory *memory = sim_graph_memory_of(process, range->device);
    enum abi_graph_memory answer = ABI_GRAPH_MEMORY_HOST;
    if (memory && sim_graph_memory_take(process, memory, range->size, &range->start))
        answer = range->start ? ABI_GRAPH_MEMORY_DONE : ABI_GRAPH_MEMORY_ADDRESSES;
    if (answer == ABI_GRAPH_MEMORY_DONE) /* whole chunks */
        range->size += memory->pool->memory.chunk - 1 - (range->size - 1) % memory->pool->memory.chunk;
    abi_process_unlock(process);
    return answer;
}

bool abi_graph_memory_grow(vmm_system *sys, struct abi_graph_range *range, uint64_t more)
{
    struct sim_process *process = abi_process_lock(sys);
    struct sim_graph_memory *memory = process->graph_memory[range->device];
    const uint64_t chunk = memory->pool->memory.chunk;
    bool grown = sim_graph_memory_grow(process, memory, range->start, more);
    if (grown)
        range->size += more + chunk - 1 - (more - 1) % chunk;
    abi_process_unlock(process);
    return grown;
}

void abi_graph_memory_give(vmm_system *sys, const struct abi_graph_range *range)
{
    struct sim_process *process = abi_process_lock(sys);
    sim_graph_memory_give(process->graph_memory[range->device], range->start);
    abi_process_unlock(process);
}

/* ---- a launch ---- */

/* The pin that a launch under way has on the range. */
static struct sim_graph_pin *held(const struct sim_process *process, const struct abi_graph_range *range)
{
    struct sim_graph_pin *pin = process->graph_memory[range->device]->pins;
    while (!pin->held || pin->start != range->start)
        pin = pin->next;
    return pin;
}

static enum abi_graph_memory back_one(struct sim_process *process, const struct abi_graph_range *range, uint64_t lacks[2])
{
    struct sim_graph_memory *memory = process->graph_memory[range->device];
    graph_pins_settle(process, memory);
    if (sim_graph_memory_back(process, memory, range->start, range->size, &lacks[0], &lacks[1]))
        return ABI_GRAPH_MEMORY_DONE;
    return lacks[0] > lacks[1] ? ABI_GRAPH_MEMORY_FULL : ABI_GRAPH_MEMORY_HOST;
}

/* What a launch that is refused must leave as it was. */
struct before {
    uint64_t reserved, reserved_high, used_high;
};

static void remember(const struct sim_process *process, struct before *before)
{
    for (int i = 0; i < VMM_MAX_DEVICES; i++) {
        const struct sim_graph_memory *memory = process->graph_memory[i];
        if (memory)
            before[i] = (struct before){memory->pool->memory.reserved, memory->pool->memory.reserved_high, memory->used_high};
    }
}

static void take_back(struct sim_process *process, const struct before *before)
{
    for (int i = 0; i < VMM_MAX_DEVICES; i++) {
        struct sim_graph_memory *memory = process->graph_memory[i];
        if (!memory)
            continue;
        sim_pool_trim(process, memory->pool, before[i].reserved);
        memory->pool->memory.reserved_high = before[i].reserved_high;
        memory->used_high = before[i].used_high;
    }
}

static enum abi_graph_memory back(struct sim_process *process, const struct abi_graph_range *ranges, size_t count, uint64_t lacks[2])
{
    struct before before[VMM_MAX_DEVICES];
    enum abi_graph_memory answer = ABI_GRAPH_MEMORY_DONE;
    size_t done = 0;
    remember(process, before);
    while (done < count && (answer = back_one(process, &ranges[done], lacks)) == ABI_GRAPH_MEMORY_DONE)
        done++;
    if (answer == ABI_GRAPH_MEMORY_DONE)
        return answer;
    while (done--)
        sim_graph_pin_end(process->graph_memory[ranges[done].device], held(process, &ranges[done]));
    take_back(process, before);
    return answer;
}

enum abi_graph_memory abi_graph_memory_back(vmm_system *sys, const struct abi_graph_range *ranges, size_t count, uint64_t lacks[2])
{
    struct sim_process *process = abi_process_lock(sys);
    struct sim_machine *machine = process->machine;
    enum abi_graph_memory answer = ABI_GRAPH_MEMORY_HOST;
    if (sim_machine_begin(machine)) {
        answer = back(process, ranges, count, lacks);
        sim_machine_end(machine);
    }
    abi_process_unlock(process);
    return answer;
}

/* The place of the stream that a launch goes to. */
static struct queue_place place_of(struct sim_process *process, vmm_stream stream)
{
    struct sim_context *context = NULL;
    bool there = sim_stream_context(process, stream, &context) == VMM_SUCCESS;
    struct queue_place place = {0};
    if (there) /* LCOV_EXCL_BR_LINE: unless another thread has just destroyed it */
        place = in_flight_place(process, context, stream);
    return place;
}

void abi_graph_memory_issued(vmm_system *sys, const struct abi_graph_range *ranges, size_t count, vmm_stream stream)
{
    struct sim_process *process = abi_process_lock(sys);
    const struct queue_place place = place_of(process, stream);
    for (size_t i = 0; i < count; i++)
        graph_pin_await(process, held(process, &ranges[i]), &place);
    abi_process_unlock(process);
}

bool abi_graph_memory_begin(vmm_system *sys, int device, uint64_t start, uint64_t size, uint32_t peers, vmm_stream stream)
{
    struct sim_process *process = abi_process_lock(sys);
    struct sim_graph_memory *memory = process->graph_memory[device];
    const struct queue_place place = place_of(process, stream);
    const struct vmm_call call = {VMM_CALL_mem_alloc_async, (uint32_t)vmm_last_detail()->call};
    struct sim_piece *piece = sim_graph_piece_new(process, memory, start, size, &place, sim_origin(&call));
    for (unsigned i = 0; piece && i < VMM_MAX_DEVICES; i++)
        if (peers >> i & 1)
            memory->pool->access = sim_access_with(memory->pool->access, i, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE);
    if (piece)
        piece->orders = process->in_flight->orders;
    abi_process_unlock(process);
    return piece != NULL;
}

void abi_graph_memory_end(vmm_system *sys, uint64_t start)
{
    struct sim_process *process = abi_process_lock(sys);
    const struct vmm_call call = {VMM_CALL_mem_free_async, (uint32_t)vmm_last_detail()->call};
    struct sim_allocation *allocation = sim_allocation_at(process, start);
    if (allocation)
        sim_graph_piece_free(process, (struct sim_piece *)allocation, sim_origin(&call));
    abi_process_unlock(process);
}

bool abi_graph_memory_is_live(const vmm_system *sys, uint64_t start)
{
    struct sim_process *process = abi_process_lock(sys);
    const struct sim_allocation *allocation = sim_allocation_at(process, start);
    bool live = allocation && allocation->start == start;
    abi_process_unlock(process);
    return live;
}

/* ---- what a device has ---- */

struct abi_graph_memory_use abi_graph_memory_use(vmm_system *sys, int device)
{
    struct sim_process *process = abi_process_lock(sys);
    const struct sim_graph_memory *memory = process->graph_memory[device];
    struct abi_graph_memory_use use = {0};
    if (memory)
        use = (struct abi_graph_memory_use){memory->pool->memory.reserved, memory->used_high, memory->pool->memory.reserved,
                                            memory->pool->memory.reserved_high};
    abi_process_unlock(process);
    return use;
}

void abi_graph_memory_reset_high(vmm_system *sys, int device, bool used)
{
    struct sim_process *process = abi_process_lock(sys);
    struct sim_graph_memory *memory = process->graph_memory[device];
    if (memory)
        *(used ? &memory->used_high : &memory->pool->memory.reserved_high) = memory->pool->memory.reserved;
    abi_process_unlock(process);
}

void abi_graph_memory_trim(vmm_system *sys, int device)
{
    struct sim_process *process = abi_process_lock(sys);
    struct sim_graph_memory *memory = process->graph_memory[device];
    if (memory) {
        graph_pins_settle(process, memory);
        sim_pool_trim(process, memory->pool, 0);
    }
    abi_process_unlock(process);
}
