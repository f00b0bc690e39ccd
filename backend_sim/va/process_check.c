/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of process.h. */
#include <inttypes.h>

#include "arrays.h"
#include "checks.h"
#include "pools.h"
#include "rights.h"

/* Each range that a map stores begins with its start. */
static uint64_t start_of(const void *range)
{
    return *(const uint64_t *)range;
}
_Static_assert(!offsetof(struct sim_reservation, start) && !offsetof(struct sim_mapping, start) &&
                   !offsetof(struct sim_allocation, start) && !offsetof(struct mempool_chunk, start) && !offsetof(struct sim_pool, start) &&
                   !offsetof(struct sim_piece, allocation), "start_of");

/* ---- addresses ---- */

/* The number of address bytes that the VA allocator excluded at the start, because the rest of the program uses them. */
static uint64_t excluded(const struct sim_process *process, size_t *ranges)
{
    const struct sim_profile *profile = &process->machine->profile;
    uint64_t bytes = 0;
    for (int i = 0; process->window.start == profile->va_start && i < SIM_MAX_TAKEN && profile->va_taken[i].end; i++, ++*ranges)
        bytes += profile->va_taken[i].end - profile->va_taken[i].start;
    return bytes;
}

static const char *check_range(const struct sim_process *process, const char *kind, uint32_t number, uint64_t start,
                               uint64_t size, struct va_allocator_taken *taken)
{
    if (!size || size > UINT64_MAX - start)
        return check_say("%s%" PRIu32 " has 0x%" PRIx64 " bytes at 0x%" PRIx64, kind, number, size, start);
    return check_in(va_allocator_check_taken(&process->va, start, size, taken), "%s%" PRIu32, kind, number);
}

/* The owners of addresses: reservations, allocations and memory pools. */
struct taker {
    char letter;
    uint32_t number;
    uint64_t start, size;
    bool there;
};

/* The first of a kind that starts at or after address, or, when last is true, the last that starts at or before it. */
static struct taker taker_of(const struct sim_process *process, unsigned kind, uint64_t address, bool last)
{
    const struct addrmap *map = kind == 0 ? &process->reservations : kind == 1 ? &process->allocations : &process->pool_ranges;
    const void *found = last ? addrmap_floor(map, address) : addrmap_ceil(map, address);
    if (!found)
        return (struct taker){0};
    const struct sim_reservation *r = found;
    const struct sim_allocation *a = found;
    const struct sim_pool *p = found;
    return kind == 0   ? (struct taker){'R', r->number, r->start, r->size, true}
           : kind == 1 ? (struct taker){'A', a->number, a->start, a->span, true}
                       : (struct taker){'P', p->number, p->start, p->memory.size, true};
}

/* All of them in the order of their addresses: no two overlap. */
static const char *check_ranges(const struct sim_process *process, struct va_allocator_taken *taken)
{
    struct taker next[3];
    const char *said = NULL;
    uint64_t end = 0;
    for (unsigned kind = 0; kind < 3; kind++)
        next[kind] = taker_of(process, kind, 0, false);
    while (!said && (next[0].there || next[1].there || next[2].there)) {
        unsigned first = 0;
        for (unsigned kind = 1; kind < 3; kind++)
            if (next[kind].there && (!next[first].there || next[kind].start < next[first].start))
                first = kind;
        const struct taker t = next[first];
        const char kind[] = {t.letter, '\0'};
        said = t.start < end ? check_say("%c%" PRIu32 " at 0x%" PRIx64 " overlaps what ends at 0x%" PRIx64, t.letter, t.number, t.start, end)
                             : check_range(process, kind, t.number, t.start, t.size, taken);
        end = t.start + t.size;
        if (said)
            break;
        next[first] = taker_of(process, first, end, false);
        const struct taker inside = taker_of(process, first, end - 1, true);
        if (inside.start != t.start)
            said = check_say("what starts at 0x%" PRIx64 " overlaps %c at 0x%" PRIx64, inside.start, t.letter, t.start);
    }
    return said;
}

static const char *check_va(const struct sim_process *process)
{
    struct va_allocator_taken taken = {0};
    const char *said = check_in(addrmap_check(&process->reservations, start_of), "reservations");
    if (!said)
        said = check_in(addrmap_check(&process->allocations, start_of), "allocations");
    if (!said)
        said = check_in(addrmap_check(&process->chunks, start_of), "chunks");
    if (!said)
        said = check_in(addrmap_check(&process->pool_ranges, start_of), "pools");
    if (!said)
        said = check_ranges(process, &taken);
    for (int i = 0; i < 2 && !said; i++)
        if (process->context_taken[i].size)
            said = check_range(process, "context ", (uint32_t)i, process->context_taken[i].start,
                               process->context_taken[i].size, &taken);
    taken.large_bytes += excluded(process, &taken.large);
    return said ? said
                : check_in(va_allocator_check(&process->va, process->window.end - process->window.start, &taken), "addresses");
}

/* ---- mappings ---- */

/* The two access bits of each location. */
static const char *check_rights(const struct sim_process *process, const struct sim_mapping *m)
{
    unsigned host = sim_access_of(m->access, SIM_HOST_SLOT);
    for (unsigned slot = 0; slot <= SIM_HOST_SLOT; slot++) {
        unsigned rights = sim_access_of(m->access, slot);
        if (rights == 2 || (rights && slot != SIM_HOST_SLOT && slot >= (unsigned)process->machine->profile.devices))
            return check_say("M%" PRIu32 " has rights %u for location %u", m->number, rights, slot);
    }
    if (m->host_shown && m->host_shown != host)
        return check_say("M%" PRIu32 " is shown to the host with rights %u, which has %u", m->number, m->host_shown, host);
    return NULL;
}

static const char *check_mapping(const struct sim_process *process, const struct sim_mapping *m)
{
    const struct sim_handle *h = m->handle;
    if (!m->size || m->size > UINT64_MAX - m->start)
        return check_say("M%" PRIu32 " has 0x%" PRIx64 " bytes at 0x%" PRIx64, m->number, m->size, m->start);
    if (!sim_reservation_at(process, m->start))
        return check_say("M%" PRIu32 " starts at 0x%" PRIx64 ", in no reservation", m->number, m->start);
    if (!h)
        return check_in(check_say("there is none"), "the handle of M%" PRIu32, m->number);
    const char *said = slots_check_value(&process->handles, h->value, h);
    if (said)
        return check_in(said, "the handle of M%" PRIu32, m->number);
    if (!h->maps || m->offset > h->size || m->size > h->size - m->offset)
        return check_say("M%" PRIu32 " shows 0x%" PRIx64 " bytes at 0x%" PRIx64 " of H%" PRIu32 ", which has 0x%" PRIx64
                         " and counts %" PRIu32 " mappings",
                         m->number, m->size, m->offset, h->number, h->size, h->maps);
    return check_rights(process, m);
}

static const char *check_apart(const struct sim_mapping *before, const struct sim_mapping *m)
{
    return !before || !m || before->start + before->size <= m->start
               ? NULL
               : check_say("M%" PRIu32 " at 0x%" PRIx64 " overlaps M%" PRIu32 " at 0x%" PRIx64 ", of 0x%" PRIx64 " bytes",
                           m->number, m->start, before->number, before->start, before->size);
}

struct tally {
    struct sim_process *process;
    uint64_t shown, rdma; /* of mappings; of these, those that their handle names for RDMA */
    uint64_t rdma_named;  /* of handles */
    uint32_t aliased;
    const char *said;
};

static const char *check_mappings(struct tally *tally)
{
    const struct sim_process *process = tally->process;
    const struct sim_mapping *before = NULL, *m;
    const char *said = check_in(addrmap_check(&process->mappings, start_of), "mappings");
    for (m = said ? NULL : addrmap_ceil(&process->mappings, 0); m;
         m = addrmap_ceil(&process->mappings, before->start + 1)) {
        said = check_mapping(process, m);
        if (!said)
            said = check_apart(before, m);
        if (said)
            break;
        m->handle->counted++;
        tally->shown += m->host_shown != 0;
        tally->rdma += (uint64_t)(m->handle->rdma_first == m) + (m->handle->rdma_late == m);
        before = m;
    }
    return said;
}

/* ---- values ---- */

static const char *check_handle(const struct sim_process *process, const struct sim_handle *h)
{
    const char *said = check_in(slots_check_value(&process->handles, h->value, h), "H%" PRIu32, h->number);
    if (said)
        return said;
    if (!h->block || (!h->refs && !h->maps))
        return check_say("H%" PRIu32 " is live with %" PRIu32 " references, %" PRIu32 " mappings and %s block", h->number,
                         h->refs, h->maps, h->block ? "a" : "no");
    if (h->block->size != h->size || !h->block->holders)
        return check_say("H%" PRIu32 " has 0x%" PRIx64 " bytes, its block 0x%" PRIx64 " and %" PRIu32 " holders", h->number,
                         h->size, h->block->size, h->block->holders);
    return check_in(block_data_check(&h->block->bytes), "H%" PRIu32, h->number);
}

static void start_handle(void *user, void *object)
{
    (void)user;
    ((struct sim_handle *)object)->counted = 0;
}

static void end_handle(void *user, void *object)
{
    struct tally *tally = user;
    const struct sim_handle *h = object;
    if (tally->said)
        return;
    tally->said = check_handle(tally->process, h);
    if (!tally->said && h->counted != h->maps)
        tally->said = check_say("H%" PRIu32 " has %" PRIu32 " mappings, %" PRIu32 " are counted", h->number, h->counted, h->maps);
    tally->aliased += h->maps > 1;
    tally->rdma_named += (uint64_t)(h->rdma_first != NULL) + (h->rdma_late != NULL);
}

/* Does the value name a context that work and memory can belong to at all? */
static const char *check_owner(const struct sim_process *process, uint64_t value)
{
    void *context;
    if (slots_find(&process->contexts, value, &context) != SLOT_LIVE)
        return check_say("its context 0x%" PRIx64 " has ended", value);
    return ((struct sim_context *)context)->ended_primary ? check_say("its context 0x%" PRIx64 " is not retained", value) : NULL;
}

static const char *check_context(const struct sim_process *process, const struct sim_context *c)
{
    const char *said = slots_check_value(&process->contexts, c->value, c);
    if (!said && !sim_device_valid(process, c->device))
        said = check_say("it is of device %d", c->device);
    if (!said && c->primary != (process->primary[c->device] == c))
        said = check_say("it is %s primary context of device %d", c->primary ? "not the" : "the", c->device);
    return check_in(said, "C%" PRIu32, c->number);
}

static const char *check_stream(const struct sim_process *process, const struct sim_stream *s)
{
    const char *said = slots_check_value(&process->streams, s->value, s);
    return check_in(said ? said : check_owner(process, s->context), "S%" PRIu32, s->number);
}

static const char *check_event(const struct sim_process *process, const struct sim_event *e)
{
    const char *said = slots_check_value(&process->events, e->value, e);
    return check_in(said ? said : check_owner(process, e->context), "E%" PRIu32, e->number);
}

static void each_context(void *user, void *object)
{
    struct tally *tally = user;
    tally->said = tally->said ? tally->said : check_context(tally->process, object);
}

static void each_stream(void *user, void *object)
{
    struct tally *tally = user;
    tally->said = tally->said ? tally->said : check_stream(tally->process, object);
}

static void each_event(void *user, void *object)
{
    struct tally *tally = user;
    tally->said = tally->said ? tally->said : check_event(tally->process, object);
}

static const char *check_values(struct tally *tally)
{
    struct sim_process *process = tally->process;
    struct {
        const struct slots *slots;
        void (*each)(void *, void *);
    } kinds[] = {{&process->handles, end_handle}, {&process->contexts, each_context}, {&process->streams, each_stream},
                 {&process->events, each_event}};
    for (unsigned i = 0; i < sizeof kinds / sizeof kinds[0] && !tally->said; i++)
        slots_each(kinds[i].slots, kinds[i].each, tally);
    return tally->said;
}

/* ---- ended and current objects ---- */

/* The number of the live object of that kind at an address; 0: there is none. */
static uint32_t number_at(const struct sim_process *process, unsigned kind, uint64_t address)
{
    const struct sim_mapping *m = kind == VMM_OBJECT_MAPPING ? addrmap_floor(&process->mappings, address) : NULL;
    const struct sim_reservation *r = kind == VMM_OBJECT_RESERVATION ? addrmap_floor(&process->reservations, address) : NULL;
    const struct sim_allocation *a = kind == VMM_OBJECT_ALLOCATION ? sim_allocation_at(process, address) : NULL;
    return m ? m->number : r ? r->number : a ? a->number : 0;
}

static const char *check_ended(const struct sim_process *process, const struct retired_range *range)
{
    const char *kind = range->kind == VMM_OBJECT_MAPPING ? "M" : range->kind == VMM_OBJECT_RESERVATION ? "R" : "A";
    if (range->number > process->numbers[range->kind])
        return check_say("%s%" PRIu32 " has ended, of %" PRIu32 " that there were", kind, range->number,
                         process->numbers[range->kind]);
    if (number_at(process, range->kind, range->start) == range->number)
        return check_say("%s%" PRIu32 " has ended, and is live at 0x%" PRIx64, kind, range->number, range->start);
    return NULL;
}

static const char *check_retired(const struct sim_process *process)
{
    const struct retired_range *range;
    const char *said = retired_ranges_check(&process->retired);
    for (unsigned age = 0; age < RETIRED_RANGES_SIZE && !said && (range = retired_ranges_aged(&process->retired, age)); age++)
        said = check_ended(process, range);
    return check_in(said, "retired ranges");
}

static bool given(const void *process, uint64_t context)
{
    void *object;
    return slots_find(&((const struct sim_process *)process)->contexts, context, &object) != SLOT_FORGED;
}

const char *process_check_touched(const struct sim_process *process)
{
    const char *said = retired_ranges_check_newest(&process->retired);
    const struct retired_range *newest = said ? NULL : retired_ranges_aged(&process->retired, 0);
    if (newest)
        said = check_ended(process, newest);
    if (said)
        return check_in(said, "retired ranges");
    return check_in(context_stack_check_own(&process->current, given, process), "contexts");
}

static const char *check_tables(const struct sim_process *process)
{
    const char *said = check_in(slots_check(&process->handles), "handles");
    if (!said)
        said = check_in(slots_check(&process->contexts), "contexts");
    if (!said)
        said = check_in(slots_check(&process->streams), "streams");
    if (!said)
        said = check_in(slots_check(&process->events), "events");
    return said ? said : check_in(slots_check(&process->pools), "pools");
}

static const char *check_pools(const struct sim_process *process)
{
    const char *said = check_in(pool_check(&process->reservation_pool, process->reservations.count), "room for reservations");
    if (!said)
        said = check_in(pool_check(&process->piece_pool, process->pieces.count), "room for allocations of pools");
    return said ? said : check_in(pool_check(&process->handle_pool, slots_kept(&process->handles)), "room for handles");
}

static const char *check_tally(const struct tally *tally)
{
    const struct sim_process *process = tally->process;
    if (tally->aliased != process->aliased)
        return check_say("%" PRIu32 " handles are mapped more than once, %" PRIu32 " are counted", tally->aliased,
                         process->aliased);
    if (tally->shown != process->host_sees)
        return check_say("%" PRIu64 " mappings are shown to the host, %" PRIu64 " are counted", tally->shown, process->host_sees);
    if (tally->rdma != tally->rdma_named)
        return check_say("handles name %" PRIu64 " mappings for RDMA, %" PRIu64 " of which are theirs", tally->rdma_named,
                         tally->rdma);
    for (int i = 0; i < VMM_MAX_DEVICES; i++)
        if (process->primary_retains[i] && !process->primary[i])
            return check_say("the primary context of device %d is retained %" PRIu32 " times, and is not there", i,
                             process->primary_retains[i]);
    return NULL;
}

const char *process_check(struct sim_process *process)
{
    struct tally tally = {.process = process};
    const char *said = check_tables(process);
    if (!said)
        said = check_va(process);
    if (!said) {
        slots_each(&process->handles, start_handle, NULL);
        said = check_mappings(&tally);
    }
    if (!said)
        said = check_values(&tally);
    if (!said)
        said = check_tally(&tally);
    if (!said)
        said = sim_pools_check(process);
    if (!said)
        said = arrays_check(process);
    if (!said)
        said = check_retired(process);
    if (!said)
        said = check_in(context_stack_check(&process->current, given, process), "contexts");
    return said ? said : check_pools(process);
}

/* ---- the objects that a call used ---- */

static const char *check_allocation(const struct sim_process *process, const struct sim_allocation *a)
{
    struct va_allocator_taken taken = {0};
    if (a->pooled)
        return sim_piece_check(process, (const struct sim_piece *)(const void *)a);
    if (a->adopted)
        return check_in(block_data_check(&a->block->bytes), "A%" PRIu32, a->number);
    const char *said = check_range(process, "A", a->number, a->start, a->span, &taken);
    if (!said && (!a->block || !a->block->holders || a->size > a->span || a->block->size != a->span))
        said = check_say("A%" PRIu32 " has 0x%" PRIx64 " bytes of 0x%" PRIx64 ", its block %s", a->number, a->size, a->span,
                         a->block ? "another size or no holder" : "is missing");
    if (!said)
        said = check_in(block_data_check(&a->block->bytes), "A%" PRIu32, a->number);
    return said ? said : check_in(check_owner(process, a->context), "A%" PRIu32, a->number);
}

const char *process_check_at(const struct sim_process *process, uint64_t address)
{
    struct va_allocator_taken taken = {0};
    const char *said = check_in(addrmap_check_at(&process->mappings, address, start_of), "mappings");
    if (!said)
        said = check_in(addrmap_check_at(&process->reservations, address, start_of), "reservations");
    if (!said)
        said = check_in(addrmap_check_at(&process->allocations, address, start_of), "allocations");
    const struct sim_mapping *m = said ? NULL : addrmap_floor(&process->mappings, address);
    const struct sim_reservation *r = said ? NULL : sim_reservation_at(process, address);
    const struct sim_allocation *a = said ? NULL : sim_allocation_at(process, address);
    if (m && (said = check_mapping(process, m)) == NULL)
        said = check_apart(m, addrmap_ceil(&process->mappings, m->start + 1));
    if (r && a && !said)
        said = check_say("R%" PRIu32 " and A%" PRIu32 " overlap at 0x%" PRIx64, r->number, a->number, address);
    if (r && !said)
        said = check_range(process, "R", r->number, r->start, r->size, &taken);
    if (a && !said)
        said = check_allocation(process, a);
    return said ? said : check_in(va_allocator_check_at(&process->va, address), "addresses");
}

const char *process_check_value(const struct sim_process *process, uint64_t value)
{
    void *object;
    if (slots_find(&process->handles, value, &object) == SLOT_LIVE)
        return check_handle(process, object);
    if (slots_find(&process->contexts, value, &object) == SLOT_LIVE)
        return check_context(process, object);
    if (slots_find(&process->streams, value, &object) == SLOT_LIVE)
        return check_stream(process, object);
    if (slots_find(&process->pools, value, &object) == SLOT_LIVE)
        return sim_pool_check(process, object);
    return slots_find(&process->events, value, &object) == SLOT_LIVE ? check_event(process, object) : NULL;
}

/* ---- holders of the machine's blocks ---- */

struct holder {
    struct machine_sum *sum;
    enum machine_pass pass;
    const char *said;
};

static void each_handle(void *user, void *object)
{
    struct holder *holder = user;
    struct sim_handle *handle = object;
    if (!holder->said)
        holder->said = check_in(machine_check_holder(holder->sum, holder->pass, handle->block), "H%" PRIu32, handle->number);
}

const char *process_check_blocks(struct sim_process *process, struct machine_sum *sum, enum machine_pass pass)
{
    struct holder holder = {sum, pass, NULL};
    slots_each(&process->handles, each_handle, &holder);
    const struct sim_allocation *a = addrmap_ceil(&process->allocations, 0);
    for (; a && !holder.said; a = addrmap_ceil(&process->allocations, a->start + 1))
        holder.said = a->block ? check_in(machine_check_holder(sum, pass, a->block), "A%" PRIu32, a->number)
                               : check_say("A%" PRIu32 " has no block", a->number);
    for (a = addrmap_ceil(&process->adopted, 0); a && !holder.said; a = addrmap_ceil(&process->adopted, a->start + 1))
        holder.said = check_in(machine_check_holder(sum, pass, a->block), "A%" PRIu32, a->number);
    const struct mempool_chunk *c = addrmap_ceil(&process->chunks, 0);
    for (; c && !holder.said; c = addrmap_ceil(&process->chunks, c->start + 1))
        holder.said = check_in(machine_check_holder(sum, pass, c->block), "P%" PRIu32, sim_pool_of(c->pool)->number);
    for (const struct sim_pool *pool = process->first_pool; pool && !holder.said; pool = pool->next)
        if (pool->table)
            holder.said = check_in(machine_check_holder(sum, pass, pool->table), "table of P%" PRIu32, pool->number);
    return holder.said ? holder.said : arrays_check_blocks(process, sum, pass);
}
