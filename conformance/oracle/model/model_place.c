/* SPDX-License-Identifier: Apache-2.0 */
/* model_place.c - which address a reservation gets.
 *
 *   small (below a chunk):  [ chunk: r r . r ....][ chunk: r ........]      first fit in open chunks, else a new one
 *   large:                  [ chunk | chunk | chu.]                         whole chunks of its own
 *
 * A chunk is open while a small reservation lies in it; its start is a multiple of its size, so a small reservation's
 * address determines its chunk. The context's two chunks are open from the first context on.
 */
#include "model_managed.h"

#define MIB ((uint64_t)1 << 20)

/* Addresses where nothing may be placed. */
struct taken {
    uint64_t start, size;
};

static uint64_t chunk_of(const struct model *m)
{
    return m->profile->va_chunk ? m->profile->va_chunk : m->profile->va_granularity;
}

static bool small(const struct model *m, uint64_t size)
{
    return size < chunk_of(m);
}

/* Rounded up; UINT64_MAX where that would wrap. */
static uint64_t round_up(uint64_t value, uint64_t unit)
{
    uint64_t rest = value % unit;
    if (!rest)
        return value;
    return value > UINT64_MAX - (unit - rest) ? UINT64_MAX : value + (unit - rest);
}

/* The two chunks of the first context, and the driver's part of each: i 0 the lower, all but its last 2 MiB; i 1 the
 * upper, its first 8 MiB. */
static struct taken context_chunk(const struct model *m, int i)
{
    return (struct taken){m->profile->va_context + (i ? chunk_of(m) : 0), chunk_of(m)};
}

static struct taken context_part(const struct model *m, int i)
{
    struct taken chunk = context_chunk(m, i);
    return (struct taken){chunk.start, i ? 8 * MIB : chunk.size - 2 * MIB};
}

static bool has_context_chunks(const struct model *m)
{
    return m->profile->va_context != 0 && m->context_count > 0;
}

/* Reservations and managed memory, and the addresses of pools. */
static size_t ranges(const struct model *m)
{
    return m->reservation_count + m->managed_count + m->pool_count;
}

static struct taken range(const struct model *m, size_t i)
{
    if (i < m->reservation_count)
        return (struct taken){m->reservations[i].start, m->reservations[i].size};
    if (i < m->reservation_count + m->managed_count) {
        const struct model_managed *managed = &m->managed[i - m->reservation_count];
        return (struct taken){managed->start, managed->span};
    }
    const struct model_pool *pool = m->pools[i - m->reservation_count - m->managed_count];
    bool has = !pool->gone && pool->start;
    return (struct taken){has ? pool->start : UINT64_MAX, has ? pool->heap.slots * pool->heap.slot : 0};
}

/* The end of an element of the list that overlaps [at, at + size), 0 when none does. */
static uint64_t meets(struct taken one, uint64_t at, uint64_t size)
{
    return model_overlap(at, size, one.start, one.size) ? one.start + one.size : 0;
}

/* What is in the way of a small reservation inside a chunk. */
static uint64_t in_the_way(const struct model *m, uint64_t at, uint64_t size)
{
    uint64_t end = 0;
    for (int i = 0; !end && has_context_chunks(m) && i < 2; i++)
        end = meets(context_part(m, i), at, size);
    for (size_t i = 0; !end && i < ranges(m); i++)
        end = meets(range(m, i), at, size);
    return end;
}

/* What is in the way of a new chunk: addresses of others, open chunks, and large reservations with the rest of their
 * last chunk. */
static uint64_t in_the_way_of_new(const struct model *m, uint64_t at, uint64_t size)
{
    uint64_t end = 0, chunk = chunk_of(m);
    for (int i = 0; !end && i < SIM_MAX_TAKEN; i++) {
        const struct sim_range *range = &m->profile->va_taken[i];
        end = meets((struct taken){range->start, range->end - range->start}, at, size);
    }
    for (int i = 0; !end && has_context_chunks(m) && i < 2; i++)
        end = meets(context_chunk(m, i), at, size);
    for (size_t i = 0; !end && i < ranges(m); i++) {
        struct taken r = range(m, i);
        if (small(m, r.size))
            end = r.size ? meets((struct taken){r.start / chunk * chunk, chunk}, at, size) : 0;
        else
            end = meets((struct taken){r.start, round_up(r.size, chunk)}, at, size);
    }
    return end;
}

/* The lowest address of the chunk, not below from, where a small range fits; 0 when it does not. */
static uint64_t place_in(const struct model *m, uint64_t chunk_start, uint64_t size, uint64_t alignment, uint64_t from)
{
    uint64_t end = chunk_start + chunk_of(m), at = round_up(from > chunk_start ? from : chunk_start, alignment);
    while (at < end && model_fits(at, size, end)) {
        uint64_t behind = in_the_way(m, at, size);
        if (!behind)
            return at;
        at = round_up(behind, alignment);
    }
    return 0;
}

static uint64_t lower(uint64_t a, uint64_t b)
{
    return a && (!b || a < b) ? a : b;
}

static uint64_t place_in_open(const struct model *m, uint64_t size, uint64_t alignment, uint64_t from)
{
    uint64_t best = 0, chunk = chunk_of(m);
    for (int i = 0; has_context_chunks(m) && i < 2; i++)
        best = lower(place_in(m, context_chunk(m, i).start, size, alignment, from), best);
    for (size_t i = 0; i < m->reservation_count + m->managed_count; i++)
        if (small(m, range(m, i).size))
            best = lower(place_in(m, range(m, i).start / chunk * chunk, size, alignment, from), best);
    return best;
}

static uint64_t place_new(const struct model *m, uint64_t size, uint64_t alignment, uint64_t from)
{
    uint64_t start = m->profile->va_start, at = round_up(from > start ? from : start, alignment);
    while (model_fits(at, size, m->profile->va_end)) {
        uint64_t behind = in_the_way_of_new(m, at, size);
        if (!behind)
            return at;
        at = round_up(behind, alignment);
    }
    return 0;
}

uint64_t model_place(const struct model *m, uint64_t size, uint64_t alignment, uint64_t hint)
{
    uint64_t chunk = chunk_of(m), least = m->profile->va_granularity, unit = alignment > least ? alignment : least;
    if (unit > m->profile->va_alignment_max)
        return 0;
    uint64_t at = small(m, size) ? place_in_open(m, size, unit, hint) : 0;
    return at ? at : place_new(m, round_up(size, chunk), unit > chunk ? unit : chunk, hint);
}
