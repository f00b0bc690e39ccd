/* SPDX-License-Identifier: Apache-2.0 */
#include "graph_memory.h"

#include <inttypes.h>

#include "checks.h"
#include "heap.h"
#include "pool_policy.h"

struct sim_graph_memory *sim_graph_memory_of(struct sim_process *process, int device)
{
    assert_locked(process->machine);
    struct sim_graph_memory **memory = &process->graph_memory[device], *made = *memory;
    if (made)
        return made;
    made = heap.calloc(1, sizeof *made);
    if (made)
        made->pool = sim_pool_for_graphs(process, device);
    if (made && !made->pool) {
        heap.free(made);
        made = NULL;
    }
    return *memory = made;
}

/* ---- addresses ---- */

/* The end of the last allocation of a graph in [start, end); 0 when there is none. */
static uint64_t allocated_until(const struct sim_process *process, uint64_t start, uint64_t end)
{
    const struct sim_piece *last = addrmap_floor(&process->pieces, end - 1);
    uint64_t until = last ? last->allocation.start + last->allocation.span : 0;
    return until > start ? until : 0;
}

bool sim_graph_memory_take(const struct sim_process *process, struct sim_graph_memory *memory, uint64_t size, uint64_t *start)
{
    const struct mempool *chunks = &memory->pool->memory;
    uint64_t at = chunks->start, wanted = pool_round(size, chunks->chunk), until = 0;
    struct sim_graph_range **link = &memory->ranges, *range;
    *start = 0;
    for (bool fits = false; !fits;) {
        if (!wanted || wanted > chunks->size - (at - chunks->start))
            return true;
        if (*link && (*link)->start < at + wanted) {
            at = (*link)->start + (*link)->size;
            link = &(*link)->next;
        } else if ((until = allocated_until(process, at, at + wanted)) != 0) {
            at = chunks->start + pool_round(until - chunks->start, chunks->chunk);
        } else {
            fits = true;
        }
    }
    range = heap.malloc(sizeof *range);
    if (!range)
        return false;
    *range = (struct sim_graph_range){at, wanted, *link};
    *link = range;
    *start = at;
    return true;
}

static struct sim_graph_range **range_at(struct sim_graph_memory *memory, uint64_t start)
{
    struct sim_graph_range **link = &memory->ranges;
    while ((*link)->start != start)
        link = &(*link)->next;
    return link;
}

bool sim_graph_memory_grow(const struct sim_process *process, struct sim_graph_memory *memory, uint64_t start, uint64_t more)
{
    const struct mempool *chunks = &memory->pool->memory;
    struct sim_graph_range *range = *range_at(memory, start);
    const uint64_t end = range->start + range->size, wanted = pool_round(more, chunks->chunk);
    const uint64_t until = range->next ? range->next->start : chunks->start + chunks->size;
    if (!wanted || wanted > until - end || allocated_until(process, end, end + wanted))
        return false;
    range->size += wanted;
    return true;
}

void sim_graph_memory_give(struct sim_graph_memory *memory, uint64_t start)
{
    struct sim_graph_range **link = range_at(memory, start), *range;
    range = *link;
    *link = range->next;
    heap.free(range);
}

/* ---- chunks ---- */

struct sim_graph_pin *sim_graph_memory_back(struct sim_process *process, struct sim_graph_memory *memory, uint64_t start,
                                            uint64_t size, uint64_t *lacks, uint64_t *left)
{
    assert_locked(process->machine);
    struct sim_pool *pool = memory->pool;
    struct sim_graph_pin *pin = heap.malloc(sizeof *pin);
    *left = *lacks = sim_pool_lacks(pool, start, size);
    if (*lacks) /* measured: pools keep their idle memory */
        *left = sim_machine_room(process->machine, pool->props.location, *lacks);
    if (!pin || *lacks > *left || !sim_pool_back_pinned(process, pool, start, size)) {
        heap.free(pin);
        return NULL;
    }
    *pin = (struct sim_graph_pin){.start = start, .size = size, .held = true, .next = memory->pins};
    if (memory->used_high < pool->memory.reserved)
        memory->used_high = pool->memory.reserved;
    return memory->pins = pin;
}

/* Removes the pin from the list and frees it. */
static void end_pin(struct sim_graph_memory *memory, struct sim_graph_pin **link)
{
    struct sim_graph_pin *pin = *link;
    *link = pin->next;
    mempool_unpin(&memory->pool->memory, pin->start, pin->size);
    heap.free(pin);
}

void sim_graph_pin_end(struct sim_graph_memory *memory, struct sim_graph_pin *pin)
{
    struct sim_graph_pin **link = &memory->pins;
    while (*link != pin)
        link = &(*link)->next;
    end_pin(memory, link);
}

void sim_graph_pins_settle(struct sim_graph_memory *memory, bool (*done)(void *user, const struct sim_graph_pin *pin), void *user)
{
    for (struct sim_graph_pin **link = &memory->pins; *link;) {
        if (!(*link)->held && done(user, *link))
            end_pin(memory, link);
        else
            link = &(*link)->next;
    }
}

/* ---- allocations ---- */

struct sim_piece *sim_graph_piece_new(struct sim_process *process, struct sim_graph_memory *memory, uint64_t start, uint64_t size,
                                      const struct queue_place *place, struct sim_origin made)
{
    assert_locked(process->machine);
    struct mempool *chunks = &memory->pool->memory;
    struct sim_piece *piece = pool_alloc(&process->piece_pool);
    if (!piece || !addrmap_insert(&process->pieces, start, piece)) {
        if (piece)
            pool_free(&process->piece_pool, piece);
        return NULL;
    }
    const uint64_t span = pool_round(size, POOL_UNIT);
    /* analysers: null-dereference is wrong: the launch gave these addresses memory */
    *piece = (struct sim_piece){.allocation = {.start = start, .size = size, .span = span,
                                               .block = mempool_chunk_at(chunks, start)->block, .made = made,
                                               .number = sim_process_number(process, VMM_OBJECT_ALLOCATION), .pooled = true},
                                .pool = memory->pool, .place = *place};
    mempool_pin(chunks, start, span);
    return piece;
}

void sim_graph_piece_free(struct sim_process *process, struct sim_piece *piece, struct sim_origin ended)
{
    struct mempool *chunks = &piece->pool->memory;
    mempool_unpin(chunks, piece->allocation.start, piece->allocation.span);
    sim_piece_end(process, piece, ended);
}

struct sim_graph_pin *sim_graph_piece_pend(struct sim_process *process, struct sim_piece *piece, struct sim_origin ended)
{
    struct sim_graph_memory *memory = process->graph_memory[piece->pool->props.location.id];
    struct sim_graph_pin *pin = heap.malloc(sizeof *pin);
    if (!pin)
        return NULL;
    *pin = (struct sim_graph_pin){.start = piece->allocation.start, .size = piece->allocation.span, .next = memory->pins};
    sim_piece_end(process, piece, ended);
    return memory->pins = pin;
}

/* ---- the end, and checks ---- */

void sim_graph_memory_end(struct sim_process *process)
{
    for (int i = 0; i < VMM_MAX_DEVICES; i++) {
        struct sim_graph_memory *memory = process->graph_memory[i];
        process->graph_memory[i] = NULL;
        while (memory && memory->ranges)
            sim_graph_memory_give(memory, memory->ranges->start);
        for (struct sim_graph_pin *pin = memory ? memory->pins : NULL, *next; pin; pin = next) {
            next = pin->next;
            heap.free(pin);
        }
        heap.free(memory);
    }
}

/* The chunks that contain a range. */
static uint64_t chunks_of(const struct mempool *chunks, uint64_t start, uint64_t size)
{
    return (start - chunks->start + size - 1) / chunks->chunk - (start - chunks->start) / chunks->chunk + 1;
}

static const char *check_pins(const struct sim_process *process, const struct sim_graph_memory *memory)
{
    const struct mempool *chunks = &memory->pool->memory;
    uint64_t pins = 0;
    for (const struct sim_graph_pin *pin = memory->pins; pin; pin = pin->next)
        pins += chunks_of(chunks, pin->start, pin->size);
    for (const struct sim_piece *p = addrmap_ceil(&process->pieces, chunks->start); p && p->pool == memory->pool;
         p = addrmap_ceil(&process->pieces, p->allocation.start + 1))
        pins += chunks_of(chunks, p->allocation.start, p->allocation.span);
    return pins == chunks->pins ? NULL : check_say("chunks have %" PRIu64 " pins; there are %" PRIu64, chunks->pins, pins);
}

const char *sim_graph_memory_check(const struct sim_process *process, const struct sim_graph_memory *memory)
{
    const struct mempool *chunks = &memory->pool->memory;
    uint64_t end = chunks->start;
    for (const struct sim_graph_range *range = memory->ranges; range; range = range->next) {
        if (range->start < end || range->size % chunks->chunk || !range->size ||
            range->size > chunks->size - (range->start - chunks->start))
            return check_say("the addresses of a graph at 0x%" PRIx64 " overlap others or leave the device's", range->start);
        end = range->start + range->size;
    }
    if (memory->used_high < chunks->reserved)
        return check_say("the high mark is lower than the current memory");
    return check_pins(process, memory);
}
