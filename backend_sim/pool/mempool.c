/* SPDX-License-Identifier: Apache-2.0 */
#include "mempool.h"

#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "pool_policy.h"

bool mempool_init(struct mempool *pool, uint64_t start, uint64_t size, uint64_t chunk)
{
    *pool = (struct mempool){.start = start,
                             .size = size,
                             .chunk = chunk,
                             .threshold = POOL_THRESHOLD,
                             .follow_events = POOL_FOLLOW_EVENTS,
                             .opportunistic = POOL_OPPORTUNISTIC,
                             .internal = POOL_INTERNAL};
    pool_init(&pool->regions, sizeof(struct region));
    pool->first = pool_alloc(&pool->regions);
    if (!pool->first)
        return false;
    *pool->first = (struct region){.start = start, .size = size, .state = REGION_FREE};
    region_tree_add(&pool->unbacked, pool->first);
    return true;
}

/* A pending region takes or drops a reference to its mark. */
static void name(struct region *region, struct free_mark *mark)
{
    struct free_mark *former = region->mark;
    region->mark = mark;
    if (mark)
        mark->refs++;
    if (!former)
        return;
    former->refs--;
    free_mark_settle(former);
}

void mempool_clear(struct mempool *pool)
{
    struct region_lane *next;
    for (struct region_lane *lane = pool->lanes; lane; lane = next) {
        next = lane->next;
        heap.free(lane);
    }
    heap.free(pool->chunks);
    for (struct region *region = pool->first, *after; region; region = after) { /* which may be allocated separately (pool.h) */
        after = region->after;
        name(region, NULL);
        pool_free(&pool->regions, region);
    }
    pool_clear(&pool->regions);
    pool->lanes = NULL;
    pool->chunks = NULL;
    pool->room = 0;
    pool->first = NULL;
}

/* ---- chunks in use ---- */

/* Counts a region's use of its chunks, or stops counting it. */
static void use(struct mempool *pool, const struct region *region)
{
    for (uint64_t at = pool_round_down(region->start - pool->start, pool->chunk); at < region->start - pool->start + region->size;
         at += pool->chunk)
        pool->idle -= !pool->chunks[at / pool->chunk]->busy++;
}

static void unuse(struct mempool *pool, const struct region *region)
{
    for (uint64_t at = pool_round_down(region->start - pool->start, pool->chunk); at < region->start - pool->start + region->size;
         at += pool->chunk)
        pool->idle += !--pool->chunks[at / pool->chunk]->busy;
}

void mempool_pin(struct mempool *pool, uint64_t start, uint64_t size)
{
    for (uint64_t at = start; at < start + size; at += pool->chunk - (at - pool->start) % pool->chunk, pool->pins++)
        pool->idle -= !mempool_chunk_at(pool, at)->busy++;
}

void mempool_unpin(struct mempool *pool, uint64_t start, uint64_t size)
{
    for (uint64_t at = start; at < start + size; at += pool->chunk - (at - pool->start) % pool->chunk, pool->pins--)
        pool->idle += !--mempool_chunk_at(pool, at)->busy;
}

/* Is all of the region backed by memory? */
static bool is_backed(const struct mempool *pool, const struct region *region)
{
    uint64_t end = region->start - pool->start + region->size;
    uint64_t at = pool_round_down(region->start - pool->start, pool->chunk);
    while (at < end && at / pool->chunk < pool->room && pool->chunks[at / pool->chunk])
        at += pool->chunk;
    return at >= end;
}

/* ---- regions in trees ---- */

static struct region_tree *tree_of(struct mempool *pool, const struct region *region)
{
    return region->state == REGION_PENDING ? &region->lane->tree : region->backed ? &pool->backed : &pool->unbacked;
}

/* Inserts a free or pending region into its tree, as the last one of its size. */
static void enter(struct mempool *pool, struct region *region)
{
    region->order = ++pool->orders;
    if (region->state == REGION_FREE)
        region->backed = is_backed(pool, region);
    region_tree_add(tree_of(pool, region), region);
    if (region->state != REGION_PENDING)
        return;
    region->newer = NULL;
    region->older = region->lane->newest;
    while (region->older && region->older->freed > region->freed) { /* a remainder keeps the position of the whole */
        region->newer = region->older;
        region->older = region->older->older;
    }
    if (region->older)
        region->older->newer = region;
    if (region->newer)
        region->newer->older = region;
    else
        region->lane->newest = region;
    pool->pending++;
    use(pool, region);
}

static void leave(struct mempool *pool, struct region *region)
{
    region_tree_remove(tree_of(pool, region), region);
    if (region->state != REGION_PENDING)
        return;
    if (region->newer)
        region->newer->older = region->older;
    else
        region->lane->newest = region->older;
    if (region->older)
        region->older->newer = region->newer;
    pool->pending--;
    unuse(pool, region);
}

/* Regions that are merged when adjacent: both free, or both freed by the same stream. */
static bool joins(const struct region *low, const struct region *high)
{
    return low && high && low->state != REGION_LIVE && low->state == high->state &&
           (low->state == REGION_FREE || low->lane == high->lane);
}

/* Adds the higher region to the lower one; neither is in a tree. */
static void join(struct mempool *pool, struct region *low, struct region *high)
{
    name(high, NULL);
    low->size += high->size;
    low->after = high->after;
    if (low->after)
        low->after->before = low;
    pool_free(&pool->regions, high);
}

/* Inserts a region, merged with equal neighbours. The mark of a merged pending region is the newest, this region's. */
static const struct region *settle(struct mempool *pool, struct region *region)
{
    struct region *before = region->before, *after = region->after;
    if (joins(region, after)) {
        leave(pool, after);
        join(pool, region, after);
    }
    if (joins(before, region)) {
        leave(pool, before);
        name(before, region->mark);
        before->freed = region->freed;
        join(pool, before, region);
        region = before;
    }
    enter(pool, region);
    return region;
}

/* ---- choosing ---- */

static struct region_lane *lane_of(const struct mempool *pool, const struct queue_place *place)
{
    struct region_lane *lane = pool->lanes;
    while (lane && !queue_same_lane(&lane->place, place))
        lane = lane->next;
    return lane;
}

static bool is_ordered(void *user, const struct region *region)
{
    const struct mempool_request *request = user;
    return request->ordered(request->user, region->mark);
}

static bool is_done(void *user, const struct region *region)
{
    const struct mempool_request *request = user;
    return request->done(request->user, region->mark);
}

/* The region freed by the first other stream that fits accepts. */
static struct region *find_elsewhere(const struct mempool *pool, const struct mempool_request *request, const struct region_lane *own,
                                     bool (*fits)(void *user, const struct region *region))
{
    struct region *found = NULL;
    for (const struct region_lane *lane = pool->lanes; lane && !found; lane = lane->next)
        if (lane != own)
            found = region_tree_find(&lane->tree, request->size, fits, (void *)(uintptr_t)request);
    return found;
}

/* The smallest of all free regions. */
static struct region *find_free(const struct mempool *pool, uint64_t size)
{
    struct region *backed = region_tree_find(&pool->backed, size, NULL, NULL);
    struct region *unbacked = region_tree_find(&pool->unbacked, size, NULL, NULL);
    if (!backed || !unbacked)
        return backed ? backed : unbacked;
    return region_less(unbacked, backed) ? unbacked : backed;
}

struct region *mempool_find(struct mempool *pool, const struct mempool_request *request)
{
    const struct region_lane *own = pool->pending ? lane_of(pool, request->place) : NULL;
    struct region *found = own ? region_tree_find(&own->tree, request->size, NULL, NULL) : NULL;
    if (!found)
        found = region_tree_find(&pool->backed, request->size, NULL, NULL);
    if (!found && pool->pending && pool->follow_events)
        found = find_elsewhere(pool, request, own, is_ordered);
    if (!found && pool->pending && pool->opportunistic)
        found = find_elsewhere(pool, request, own, is_done);
    if (!found && pool->pending && pool->opportunistic)
        mempool_return(pool, is_done, (void *)(uintptr_t)request);
    return found ? found : find_free(pool, request->size);
}

struct region *mempool_find_to_wait(const struct mempool *pool, const struct mempool_request *request)
{
    return find_elsewhere(pool, request, lane_of(pool, request->place), NULL);
}

/* ---- allocating and freeing ---- */

bool mempool_take(struct mempool *pool, struct region *region, uint64_t size, uint64_t asked)
{
    struct region *rest = region->size > size ? pool_alloc(&pool->regions) : NULL;
    if (region->size > size && !rest)
        return false;
    leave(pool, region);
    if (rest) {
        *rest = *region;
        rest->mark = NULL;
        name(rest, region->mark);
        rest->start += size;
        rest->size -= size;
        rest->before = region;
        if (rest->after)
            rest->after->before = rest;
        region->after = rest;
        region->size = size;
        enter(pool, rest);
    }
    region->state = REGION_LIVE;
    name(region, NULL);
    region->asked = asked;
    use(pool, region);
    pool->live++;
    pool->used += asked;
    pool->used_high = pool->used > pool->used_high ? pool->used : pool->used_high;
    return true;
}

struct region *mempool_cut(struct mempool *pool, uint64_t start, uint64_t size, bool *out)
{
    struct region *region = pool->first;
    while (region->after && region->after->start <= start)
        region = region->after;
    *out = false;
    if (region->state != REGION_FREE || region->size - (start - region->start) < size)
        return NULL;
    if (region->start == start)
        return region;
    struct region *high = pool_alloc(&pool->regions);
    *out = !high;
    if (!high)
        return NULL;
    leave(pool, region);
    *high = (struct region){.start = start, .size = region->size - (start - region->start), .before = region, .after = region->after,
                            .state = REGION_FREE};
    if (high->after)
        high->after->before = high;
    region->after = high;
    region->size = start - region->start;
    enter(pool, region);
    enter(pool, high);
    return high;
}

void mempool_join(struct mempool *pool, struct region *region)
{
    leave(pool, region);
    settle(pool, region);
}

/* A live region becomes free for all streams. Returns the region that contains it then. */
static const struct region *release(struct mempool *pool, struct region *region)
{
    region->state = REGION_FREE;
    name(region, NULL);
    return settle(pool, region);
}

const struct region *mempool_free(struct mempool *pool, struct region *region)
{
    unuse(pool, region);
    pool->live--;
    return release(pool, region);
}

enum { MANY_LANES = 64 };

/* The last lane, if there are many and it is empty: usually that of a destroyed stream. */
static struct region_lane *spare_lane(struct mempool *pool)
{
    struct region_lane **link = &pool->lanes, *lane;
    if (pool->lane_count < MANY_LANES)
        return NULL;
    while (*link && (*link)->tree.root)
        link = &(*link)->next;
    lane = *link;
    if (lane)
        *link = lane->next;
    return lane;
}

/* The lane of a stream, created if necessary. */
static struct region_lane *lane_for(struct mempool *pool, const struct queue_place *place, uint32_t met)
{
    struct region_lane *lane = lane_of(pool, place), **link = &pool->lanes;
    if (lane)
        return lane;
    lane = spare_lane(pool);
    if (!lane) {
        lane = heap.calloc(1, sizeof *lane);
        pool->lane_count += lane != NULL;
    }
    if (!lane)
        return NULL;
    lane->place = *place;
    lane->met = met;
    while (*link && (*link)->met <= met)
        link = &(*link)->next;
    lane->next = *link;
    *link = lane;
    return lane;
}

void mempool_meet(struct mempool *pool, const struct queue_place *place, uint32_t met)
{
    lane_for(pool, place, met);
}

bool mempool_pend(struct mempool *pool, struct region *region, struct free_mark *mark, const struct queue_place *place)
{
    struct region_lane *lane = lane_for(pool, place, UINT32_MAX);
    if (!lane)
        return false;
    unuse(pool, region);
    pool->live--;
    pool->used -= region->asked;
    region->state = REGION_PENDING;
    region->lane = lane;
    region->freed = ++pool->frees;
    name(region, mark);
    settle(pool, region);
    return true;
}

bool mempool_return(struct mempool *pool, bool (*wanted)(void *user, const struct region *region), void *user)
{
    bool any = false;
    for (struct region_lane *lane = pool->pending ? pool->lanes : NULL; lane; lane = lane->next) {
        struct region *older;
        for (struct region *region = lane->newest; region; region = older) {
            older = region->older;
            if (!wanted(user, region))
                continue;
            leave(pool, region);
            release(pool, region);
            any = true;
        }
    }
    return any;
}

/* ---- chunks ---- */

bool mempool_make_room(struct mempool *pool, uint64_t end)
{
    uint64_t room = pool->room ? pool->room : 16, wanted = (end - pool->start + pool->chunk - 1) / pool->chunk;
    if (wanted <= pool->room)
        return true;
    while (room < wanted)
        room *= 2;
    struct mempool_chunk **chunks = heap.realloc(pool->chunks, room * sizeof(*chunks));
    if (!chunks)
        return false;
    memset(chunks + pool->room, 0, (room - pool->room) * sizeof(*chunks));
    pool->chunks = chunks;
    pool->room = room;
    return true;
}

void mempool_add(struct mempool *pool, struct mempool_chunk *chunk)
{
    chunk->pool = pool;
    chunk->busy = 0;
    pool->chunks[(chunk->start - pool->start) / pool->chunk] = chunk;
    pool->idle++;
    pool->reserved += chunk->size;
    pool->reserved_high = pool->reserved > pool->reserved_high ? pool->reserved : pool->reserved_high;
}

static bool holds(void *user, const struct region *region)
{
    const struct mempool_chunk *chunk = user;
    return region->start <= chunk->start && chunk->start - region->start <= region->size - chunk->size;
}

/* The free region around the chunk is no longer completely backed. */
void mempool_remove(struct mempool *pool, struct mempool_chunk *chunk)
{
    struct region *around = region_tree_find(&pool->backed, chunk->size, holds, chunk);
    if (around) {
        region_tree_remove(&pool->backed, around);
        around->backed = false;
        region_tree_add(&pool->unbacked, around);
    }
    pool->chunks[(chunk->start - pool->start) / pool->chunk] = NULL;
    pool->idle--;
    pool->reserved -= chunk->size;
}

const struct region *mempool_region_at(const struct mempool *pool, uint64_t start)
{
    const struct region *region = pool->first;
    while (region && region->start != start)
        region = region->after;
    return region;
}

/* The last idle chunk in a free region, from an address on; NULL for none. */
static struct mempool_chunk *mempool_idle_in(const struct mempool *pool, const struct region *region, uint64_t from)
{
    uint64_t low = region->start > from ? region->start : from, end = (region->start + region->size - pool->start) / pool->chunk;
    for (uint64_t i = end < pool->room ? end : pool->room; i-- > 0 && pool->start + i * pool->chunk >= low;)
        if (pool->chunks[i] && !pool->chunks[i]->busy) /* it may be pinned */
            return pool->chunks[i];
    return NULL;
}

struct mempool_chunk *mempool_idle_chunk(const struct mempool *pool, const struct region *taken, uint64_t end)
{
    const struct region *oldest = NULL;
    struct mempool_chunk *found = NULL;
    for (const struct region *region = pool->idle ? pool->first : NULL; region; region = region->after) {
        bool sooner = region->state == REGION_FREE && region != taken && (!oldest || region->order < oldest->order);
        struct mempool_chunk *chunk = sooner ? mempool_idle_in(pool, region, 0) : NULL;
        if (chunk) {
            oldest = region;
            found = chunk;
        }
    }
    return found || !taken ? found : mempool_idle_in(pool, taken, end);
}
