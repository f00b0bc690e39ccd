/* SPDX-License-Identifier: Apache-2.0 */
#include "mempool.h"

#include <stdlib.h>

#include "heap.h"
#include "pool_policy.h"

void mempool_init(struct mempool *pool)
{
    *pool = (struct mempool){.threshold = POOL_THRESHOLD,
                             .follow_events = POOL_FOLLOW_EVENTS,
                             .opportunistic = POOL_OPPORTUNISTIC,
                             .internal = POOL_INTERNAL};
    pool_init(&pool->regions, sizeof(struct region));
}

void mempool_clear(struct mempool *pool)
{
    struct region_bins *next;
    for (struct region_bins *lane = pool->lanes; lane; lane = next) {
        next = lane->next;
        heap.free(lane);
    }
    pool_clear(&pool->regions);
    pool->lanes = NULL;
    pool->chunks = NULL;
}

static bool same_lane(const struct queue_place *a, const struct queue_place *b)
{
    return a->stream == b->stream && a->context == b->context && a->thread == b->thread;
}

/* ---- marks ---- */

static void mark_add(struct free_mark *mark, struct region *region)
{
    region->mark = mark;
    region->mark_previous = NULL;
    region->mark_next = mark->first;
    if (region->mark_next)
        region->mark_next->mark_previous = region;
    mark->first = region;
}

static void mark_remove(struct region *region)
{
    if (region->mark_next)
        region->mark_next->mark_previous = region->mark_previous;
    if (region->mark_previous)
        region->mark_previous->mark_next = region->mark_next;
    else
        region->mark->first = region->mark_next;
    region->mark = NULL;
}

/* ---- chunks in use ---- */

static void unlink_chunk(struct mempool *pool, struct mempool_chunk *chunk)
{
    if (chunk->next)
        chunk->next->previous = chunk->previous;
    if (chunk->previous)
        chunk->previous->next = chunk->next;
    else
        pool->chunks = chunk->next;
}

static void link_first(struct mempool *pool, struct mempool_chunk *chunk)
{
    chunk->previous = NULL;
    chunk->next = pool->chunks;
    if (chunk->next)
        chunk->next->previous = chunk;
    pool->chunks = chunk;
}

static void use(struct mempool *pool, struct mempool_chunk *chunk)
{
    pool->idle -= !chunk->busy++;
}

/* Chunks that nothing uses come first, where a trim finds them. */
static void unuse(struct mempool *pool, struct mempool_chunk *chunk)
{
    if (--chunk->busy)
        return;
    pool->idle++;
    if (!chunk->previous)
        return;
    unlink_chunk(pool, chunk);
    link_first(pool, chunk);
}

/* ---- neighbours ---- */

/* Two regions that can be one: both free, or both freed by one mark. */
static bool joins(const struct region *low, const struct region *high)
{
    return low && high && low->state != REGION_LIVE && low->state == high->state && low->mark == high->mark;
}

/* Removes a region that is not live from every list but the chunk's. */
static void detach(struct mempool *pool, struct region *region)
{
    region_bins_remove(region);
    if (region->state == REGION_PENDING) {
        mark_remove(region);
        pool->pending--;
    }
}

/* Adds the region above to the one below, which is in no list. */
static void join(struct mempool *pool, struct region *low, struct region *high)
{
    detach(pool, high);
    if (low->state == REGION_PENDING)
        unuse(pool, low->chunk);
    low->size += high->size;
    low->after = high->after;
    if (low->after)
        low->after->before = low;
    pool_free(&pool->regions, high);
}

/* Puts a region that is in no list where its state and mark belong, as one with neighbours alike. */
static void settle(struct mempool *pool, struct region *region, struct region_bins *bins)
{
    struct region *before = region->before;
    if (joins(region, region->after))
        join(pool, region, region->after);
    if (joins(before, region)) {
        struct free_mark *mark = before->mark;
        detach(pool, before);
        before->mark = mark;
        if (region->state == REGION_PENDING)
            unuse(pool, before->chunk);
        before->size += region->size;
        before->after = region->after;
        if (before->after)
            before->after->before = before;
        pool_free(&pool->regions, region);
        region = before;
    }
    region_bins_add(bins, region);
    if (region->state == REGION_PENDING) {
        mark_add(region->mark, region);
        pool->pending++;
    }
}

/* ---- allocating ---- */

static struct region_bins *lane_of(const struct mempool *pool, const struct queue_place *place)
{
    struct region_bins *lane = pool->lanes;
    while (lane && !same_lane(&lane->lane, place))
        lane = lane->next;
    return lane;
}

struct search {
    const struct mempool *pool;
    const struct mempool_request *request;
};

/* May the request have what another stream freed, without waiting for it? */
static bool may_have(void *user, const struct region *region)
{
    const struct search *search = user;
    const struct mempool_request *request = search->request;
    return region->mark->item->number == request->waited ||
           (search->pool->follow_events && request->ordered && request->ordered(request->user, region->mark)) ||
           (search->pool->opportunistic && request->done && request->done(request->user, region->mark));
}

static struct region *find_elsewhere(const struct mempool *pool, const struct mempool_request *request,
                                     const struct region_bins *own, bool (*fits)(void *, const struct region *))
{
    struct search search = {pool, request};
    struct region *found = NULL;
    for (const struct region_bins *lane = pool->lanes; lane && !found; lane = lane->next)
        if (lane != own)
            found = region_bins_find(lane, request->size, fits, &search);
    return found;
}

struct region *mempool_find(const struct mempool *pool, const struct mempool_request *request, struct free_mark **wait)
{
    const struct region_bins *own = pool->pending ? lane_of(pool, request->place) : NULL;
    struct region *found = own ? region_bins_find(own, request->size, NULL, NULL) : NULL;
    *wait = NULL;
    if (!found)
        found = region_bins_find(&pool->free, request->size, NULL, NULL);
    if (!found && pool->pending && (pool->follow_events || pool->opportunistic || request->waited))
        found = find_elsewhere(pool, request, own, may_have);
    if (!found && pool->pending && pool->internal) {
        found = find_elsewhere(pool, request, own, NULL);
        if (found)
            *wait = found->mark;
    }
    return found;
}

/* Makes the part of a region behind size bytes a region of its own, in no list yet; NULL when the host's memory is out. */
static struct region *split(struct mempool *pool, struct region *region, uint64_t size)
{
    struct region *rest = pool_alloc(&pool->regions);
    if (!rest)
        return NULL;
    *rest = (struct region){.start = region->start + size, .size = region->size - size, .before = region,
                            .after = region->after, .chunk = region->chunk, .state = region->state, .mark = region->mark};
    if (rest->after)
        rest->after->before = rest;
    region->after = rest;
    return rest;
}

struct region *mempool_take(struct mempool *pool, struct region *region, uint64_t size)
{
    struct region_bins *bins = region->bins;
    struct region *rest = NULL;
    uint64_t whole = region->size;
    struct free_mark *mark = region->mark;
    if (whole > size && !(rest = split(pool, region, size)))
        return NULL;
    detach(pool, region); /* by its whole size, which says where it is */
    region->size = size;
    if (region->state == REGION_FREE)
        use(pool, region->chunk);
    if (rest) {
        rest->mark = mark;
        region_bins_add(bins, rest);
        if (rest->state == REGION_PENDING) {
            mark_add(mark, rest);
            pool->pending++;
            use(pool, region->chunk);
        }
    }
    region->state = REGION_LIVE;
    pool->live++;
    pool->used += size;
    pool->used_high = pool->used > pool->used_high ? pool->used : pool->used_high;
    return region;
}

/* ---- freeing ---- */

static void end(struct mempool *pool, struct region *region)
{
    pool->live--;
    pool->used -= region->size;
}

void mempool_free(struct mempool *pool, struct region *region)
{
    end(pool, region);
    region->state = REGION_FREE;
    region->mark = NULL;
    unuse(pool, region->chunk);
    settle(pool, region, &pool->free);
}

/* The bins of a stream: its own, or empty ones of another. */
static struct region_bins *lane_for(struct mempool *pool, const struct queue_place *place)
{
    struct region_bins *lane = lane_of(pool, place), *idle = pool->lanes;
    if (lane)
        return lane;
    while (idle && !region_bins_empty(idle))
        idle = idle->next;
    if (!idle) {
        idle = heap.calloc(1, sizeof *idle);
        if (!idle)
            return NULL;
        idle->next = pool->lanes;
        pool->lanes = idle;
    }
    idle->lane = *place;
    return idle;
}

bool mempool_pend(struct mempool *pool, struct region *region, struct free_mark *mark, const struct queue_place *place)
{
    struct region_bins *lane = lane_for(pool, place);
    if (!lane)
        return false;
    end(pool, region);
    region->state = REGION_PENDING;
    region->mark = mark;
    settle(pool, region, lane);
    return true;
}

void mempool_known(struct free_mark *mark)
{
    struct region *region;
    while ((region = mark->first) != NULL) {
        struct mempool *pool = region->chunk->pool;
        detach(pool, region);
        region->state = REGION_FREE;
        unuse(pool, region->chunk);
        settle(pool, region, &pool->free);
    }
}

/* ---- chunks ---- */

bool mempool_add(struct mempool *pool, struct mempool_chunk *chunk)
{
    struct region *all = pool_alloc(&pool->regions);
    if (!all)
        return false;
    *all = (struct region){.start = chunk->start, .size = chunk->size, .chunk = chunk, .state = REGION_FREE};
    chunk->pool = pool;
    chunk->first = all;
    chunk->busy = 0;
    link_first(pool, chunk);
    pool->idle++;
    region_bins_add(&pool->free, all);
    pool->reserved += chunk->size;
    pool->reserved_high = pool->reserved > pool->reserved_high ? pool->reserved : pool->reserved_high;
    return true;
}

void mempool_remove(struct mempool *pool, struct mempool_chunk *chunk)
{
    struct region *all = chunk->first;
    region_bins_remove(all);
    pool_free(&pool->regions, all);
    unlink_chunk(pool, chunk);
    pool->idle--;
    pool->reserved -= chunk->size;
}

struct mempool_chunk *mempool_idle_chunk(const struct mempool *pool)
{
    struct mempool_chunk *chunk = pool->idle ? pool->chunks : NULL;
    while (chunk && chunk->busy)
        chunk = chunk->next;
    return chunk;
}
