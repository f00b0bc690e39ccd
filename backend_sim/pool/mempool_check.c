/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of mempool.h and region.h. */
#include <inttypes.h>
#include <stddef.h>

#include "checks.h"
#include "mempool.h"
#include "pool_policy.h"

struct sum {
    uint64_t live, pending, free, idle, chunks, busy;
};

/* Do all chunks of a region exist? */
static bool is_backed(const struct mempool *pool, const struct region *region)
{
    for (uint64_t at = pool_round_down(region->start - pool->start, pool->chunk); at < region->start - pool->start + region->size;
         at += pool->chunk)
        if (at / pool->chunk >= pool->room || !pool->chunks[at / pool->chunk])
            return false;
    return true;
}

static uint64_t chunks_of(const struct mempool *pool, const struct region *region)
{
    return (region->start - pool->start + region->size - 1) / pool->chunk - (region->start - pool->start) / pool->chunk + 1;
}

static bool same(const struct region *a, const struct region *b)
{
    return a->state == b->state && (a->state == REGION_FREE || (a->state == REGION_PENDING && a->lane == b->lane));
}

static const char *check_region(const struct mempool *pool, const struct region *region, struct sum *sum)
{
    bool backed = is_backed(pool, region);
    if (!region->size || region->size % POOL_UNIT)
        return check_say("the region at 0x%" PRIx64 " has 0x%" PRIx64 " bytes", region->start, region->size);
    if ((region->state == REGION_PENDING) != (region->mark != NULL))
        return check_say("the region at 0x%" PRIx64 " is in state %d, with%s a mark", region->start, (int)region->state,
                         region->mark ? "" : "out");
    if (region->state == REGION_FREE ? region->backed != backed : !backed)
        return check_say("the region at 0x%" PRIx64 " in state %d is%s backed", region->start, (int)region->state, backed ? "" : " not");
    if (region->after && same(region, region->after))
        return check_say("the regions at 0x%" PRIx64 " and 0x%" PRIx64 " are not one", region->start, region->after->start);
    sum->live += region->state == REGION_LIVE;
    sum->pending += region->state == REGION_PENDING;
    sum->free += region->state == REGION_FREE;
    sum->busy += region->state == REGION_FREE ? 0 : chunks_of(pool, region);
    return NULL;
}

static const char *check_regions(const struct mempool *pool, struct sum *sum)
{
    const struct region *before = NULL;
    uint64_t at = pool->start;
    const char *said = NULL;
    for (const struct region *region = pool->first; region && !said; before = region, region = region->after) {
        if (region->start != at || region->before != before)
            return check_say("a region starts at 0x%" PRIx64 ", not at 0x%" PRIx64, region->start, at);
        said = check_region(pool, region, sum);
        at += region->size;
    }
    if (!said && at != pool->start + pool->size)
        said = check_say("the regions end at 0x%" PRIx64 ", the pool at 0x%" PRIx64, at, pool->start + pool->size);
    return said;
}

static const char *check_trees(const struct mempool *pool, const struct sum *sum)
{
    uint64_t free = 0, pending = 0, listed = 0;
    const char *said = check_in(region_tree_check(&pool->backed, &free), "backed");
    if (!said)
        said = check_in(region_tree_check(&pool->unbacked, &free), "unbacked");
    for (const struct region_lane *lane = pool->lanes; lane && !said; lane = lane->next) {
        said = check_in(region_tree_check(&lane->tree, &pending), "freed by a stream");
        for (const struct region *region = lane->newest; region && listed <= sum->pending; region = region->older)
            listed += region->lane == lane;
    }
    if (!said && (free != sum->free || pending != sum->pending || listed != pending))
        said = check_say("trees hold %" PRIu64 " free and %" PRIu64 " pending regions, the list %" PRIu64 "; there are %" PRIu64 " and %"
                         PRIu64, free, pending, listed, sum->free, sum->pending);
    return said;
}

static const char *check_chunks(const struct mempool *pool, struct sum *sum)
{
    uint64_t busy = 0;
    for (uint64_t i = 0; i < pool->room; i++) {
        const struct mempool_chunk *chunk = pool->chunks[i];
        if (!chunk)
            continue;
        if (chunk->start != pool->start + i * pool->chunk || chunk->size != pool->chunk || chunk->pool != pool)
            return check_say("chunk %" PRIu64 " is at 0x%" PRIx64 " with 0x%" PRIx64 " bytes", i, chunk->start, chunk->size);
        sum->chunks++;
        sum->idle += !chunk->busy;
        busy += chunk->busy;
    }
    uint64_t uses = sum->busy + pool->pins;
    return busy == uses ? NULL : check_say("chunks count %" PRIu64 " uses; there are %" PRIu64, busy, uses);
}

const char *mempool_check(const struct mempool *pool)
{
    struct sum sum = {0};
    const char *said = check_regions(pool, &sum);
    if (!said)
        said = check_trees(pool, &sum);
    if (!said)
        said = check_chunks(pool, &sum);
    if (said)
        return said;
    if (sum.live != pool->live || sum.pending != pool->pending || sum.idle != pool->idle || sum.chunks * pool->chunk != pool->reserved)
        return check_say("there are %" PRIu64 " live regions, %" PRIu64 " pending, %" PRIu64 " idle chunks of %" PRIu64 "; counted are %"
                         PRIu64 ", %" PRIu64 ", %" PRIu32 ", 0x%" PRIx64 " bytes",
                         sum.live, sum.pending, sum.idle, sum.chunks, pool->live, pool->pending, pool->idle, pool->reserved);
    if (pool->reserved > pool->reserved_high || pool->used > pool->used_high)
        return check_say("a high mark is lower than what it counts");
    return NULL;
}
