/* SPDX-License-Identifier: Apache-2.0 */
/* The invariants of mempool.h and region.h. */
#include <inttypes.h>
#include <stddef.h>

#include "checks.h"
#include "mempool.h"
#include "pool_policy.h"

struct sum {
    uint64_t reserved, used, live, pending, idle;
};

/* Is the region in its bin, and in its mark's list? */
static bool listed(const struct region *region)
{
    const struct region *at = region->bins->first[region_bin(region->size)];
    while (at && at != region)
        at = at->next;
    if (!at || region->state == REGION_FREE)
        return at != NULL;
    for (at = region->mark->first; at && at != region;)
        at = at->mark_next;
    return at != NULL;
}

static const char *check_region(const struct mempool *pool, const struct region *region, struct sum *sum)
{
    const struct region *after = region->after;
    if (!region->size || region->size % POOL_UNIT || region->start % POOL_UNIT)
        return check_say("a region has 0x%" PRIx64 " bytes at 0x%" PRIx64, region->size, region->start);
    if ((region->state == REGION_LIVE) != (region->bins == NULL) || (region->state == REGION_PENDING) != (region->mark != NULL))
        return check_say("the region at 0x%" PRIx64 " is in state %d, with%s bins and with%s a mark", region->start, (int)region->state,
                         region->bins ? "" : "out", region->mark ? "" : "out");
    if (region->state == REGION_FREE && region->bins != &pool->free)
        return check_say("the free region at 0x%" PRIx64 " is in other bins", region->start);
    if (region->state != REGION_LIVE && !listed(region))
        return check_say("the region at 0x%" PRIx64 " is in no list", region->start);
    if (after && after->state == region->state && after->mark == region->mark && region->state != REGION_LIVE)
        return check_say("the regions at 0x%" PRIx64 " and 0x%" PRIx64 " are not one", region->start, after->start);
    sum->live += region->state == REGION_LIVE;
    sum->pending += region->state == REGION_PENDING;
    sum->used += region->state == REGION_LIVE ? region->size : 0;
    return NULL;
}

static const char *check_chunk(const struct mempool *pool, const struct mempool_chunk *chunk, struct sum *sum)
{
    const struct region *before = NULL;
    uint64_t at = chunk->start, busy = 0;
    for (const struct region *region = chunk->first; region; before = region, region = region->after) {
        if (region->start != at || region->before != before || region->chunk != chunk)
            return check_say("a region of the chunk at 0x%" PRIx64 " starts at 0x%" PRIx64 ", not at 0x%" PRIx64, chunk->start,
                             region->start, at);
        const char *said = check_region(pool, region, sum);
        if (said)
            return said;
        busy += region->state != REGION_FREE;
        at += region->size;
    }
    if (at != chunk->start + chunk->size || busy != chunk->busy || chunk->pool != pool)
        return check_say("the chunk at 0x%" PRIx64 " ends at 0x%" PRIx64 " with %" PRIu32 " regions in use; its regions end at 0x%" PRIx64
                         ", and %" PRIu64 " are in use", chunk->start, chunk->start + chunk->size, chunk->busy, at, busy);
    sum->reserved += chunk->size;
    sum->idle += !busy;
    return NULL;
}

const char *mempool_check(const struct mempool *pool)
{
    struct sum sum = {0};
    const char *said = NULL;
    for (const struct mempool_chunk *chunk = pool->chunks; chunk && !said; chunk = chunk->next)
        said = check_chunk(pool, chunk, &sum);
    if (said)
        return said;
    if (sum.reserved != pool->reserved || sum.used != pool->used || sum.live != pool->live || sum.pending != pool->pending)
        return check_say("chunks have 0x%" PRIx64 " bytes and %" PRIu64 " live regions of 0x%" PRIx64 ", %" PRIu64
                         " pending; counted are 0x%" PRIx64 ", %" PRIu64 ", 0x%" PRIx64 ", %" PRIu64,
                         sum.reserved, sum.live, sum.used, sum.pending, pool->reserved, pool->live, pool->used, pool->pending);
    if (sum.idle != pool->idle || pool->reserved > pool->reserved_high || pool->used > pool->used_high)
        return check_say("%" PRIu64 " chunks are idle, %" PRIu32 " are counted; or a high mark is lower than what it counts", sum.idle,
                         pool->idle);
    return NULL;
}
