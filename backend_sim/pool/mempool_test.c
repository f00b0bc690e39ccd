/* SPDX-License-Identifier: Apache-2.0 */
/* The memory of a pool: addresses of allocations, idle chunks, and the invariants after random steps. */
#include "mempool.h"

#include <string.h>

#include "breaks.h"
#include "heap.h"
#include "pool_policy.h"
#include "random.h"
#include "tap.h"

#define START (UINT64_C(1) << 40)
#define CHUNK (UINT64_C(16) * POOL_UNIT)
#define CHUNKS 32
#define HELD 48

/* A mark whose item is in its queue. */
struct queued {
    struct free_mark mark; /* first: free_mark_settle frees all of it */
    struct queued *next;
};

struct scene {
    struct mempool pool;
    struct mempool_chunk chunk[CHUNKS];
    struct region *held[HELD];
    struct queue_place place[3];
    bool all_done;
    struct queued *queued;
};

static bool never(void *user, const struct free_mark *mark)
{
    (void)user;
    (void)mark;
    return false;
}

static bool done(void *user, const struct free_mark *mark)
{
    const struct scene *scene = user;
    (void)mark;
    return scene->all_done;
}

static void begin(struct scene *scene)
{
    *scene = (struct scene){0};
    for (unsigned i = 0; i < 3; i++)
        scene->place[i] = (struct queue_place){.context = 1, .stream = i + 1, .kind = QUEUE_NON_BLOCKING};
    if (!mempool_init(&scene->pool, START, CHUNKS * CHUNK, CHUNK))
        tap_bail("no memory");
    scene->pool.follow_events = scene->pool.opportunistic = true;
}

/* Backs the unbacked parts of [start, start + size). */
static void back(struct scene *scene, uint64_t start, uint64_t size)
{
    if (!mempool_make_room(&scene->pool, start + size))
        tap_bail("no memory");
    for (uint64_t i = (start - START) / CHUNK; i <= (start + size - 1 - START) / CHUNK; i++)
        if (!mempool_chunk_at(&scene->pool, START + i * CHUNK)) {
            scene->chunk[i] = (struct mempool_chunk){.start = START + i * CHUNK, .size = CHUNK, .pool = &scene->pool};
            mempool_add(&scene->pool, &scene->chunk[i]);
        }
}

static struct region *take(struct scene *scene, uint64_t units, unsigned stream)
{
    struct mempool_request request = {.size = units * POOL_UNIT, .place = &scene->place[stream], .ordered = never, .done = done,
                                      .user = scene};
    struct region *region = mempool_find(&scene->pool, &request);
    if (!region)
        return NULL;
    if (region->state == REGION_FREE && !region->backed)
        back(scene, region->start, request.size);
    return mempool_take(&scene->pool, region, request.size, request.size) ? region : NULL;
}

/* Frees a region in a stream, with a new mark. */
static void pend(struct scene *scene, struct region *region, unsigned stream)
{
    static const struct queue_item item;
    struct queued *one = heap.calloc(1, sizeof *one);
    if (!one)
        tap_bail("no memory");
    *one = (struct queued){{.item = &item}, scene->queued};
    scene->queued = one;
    if (!mempool_pend(&scene->pool, region, &one->mark, &scene->place[stream]))
        tap_bail("no memory");
}

static bool any(void *user, const struct region *region)
{
    (void)user;
    (void)region;
    return true;
}

/* The item of every mark leaves its queue; then everything is free for all streams. */
static void settle(struct scene *scene)
{
    for (struct queued *one = scene->queued, *next; one; one = next) {
        next = one->next;
        one->mark.item = NULL;
        free_mark_settle(&one->mark);
    }
    scene->queued = NULL;
    mempool_return(&scene->pool, any, NULL);
}

static void trim(struct scene *scene)
{
    struct mempool_chunk *chunk;
    while ((chunk = mempool_idle_chunk(&scene->pool, NULL, 0)))
        mempool_remove(&scene->pool, chunk);
}

static void end(struct scene *scene)
{
    for (unsigned i = 0; i < HELD; i++)
        if (scene->held[i])
            mempool_free(&scene->pool, scene->held[i]);
    settle(scene);
    trim(scene);
    tap_u64(scene->pool.reserved, 0, "a trim of an unused pool leaves nothing");
    mempool_clear(&scene->pool);
}

static void test_order(void)
{
    static struct scene scene;
    begin(&scene);
    struct region *a = take(&scene, 4, 0), *b = take(&scene, 4, 0);
    uint64_t at = a->start;
    tap_ok(at == START && b->start == START + 4 * POOL_UNIT, "allocations are adjacent");
    tap_u64(scene.pool.reserved, CHUNK, "they have the memory of one chunk");
    pend(&scene, a, 0);
    struct region *c = take(&scene, 4, 1);
    tap_ok(c->start != at, "memory with a pending free is not available to another stream");
    struct region *d = take(&scene, 2, 0);
    tap_u64(d->start, at, "it is the stream's own");
    check_holds(mempool_check(&scene.pool), "a pool with a rest that is pending");
    scene.all_done = true;
    scene.held[0] = b;
    scene.held[1] = c;
    scene.held[2] = d;
    end(&scene);
}

static void test_check(void)
{
    static struct scene scene;
    begin(&scene);
    scene.held[0] = take(&scene, 4, 0);
    scene.held[1] = take(&scene, 40, 0);
    struct mempool *pool = &scene.pool;
    check_holds(mempool_check(pool), "a pool with two allocations");
    BREAKS(scene.held[0]->size, 0, mempool_check(pool), "has 0x0 bytes");
    BREAKS(scene.held[1]->start, START, mempool_check(pool), "a region starts at 0x10000000000, not at 0x10000000800");
    BREAKS(scene.held[1]->state, REGION_PENDING, mempool_check(pool), "in state 1, without a mark");
    BREAKS(scene.chunk[0].busy, 3, mempool_check(pool), "chunks count 5 uses; there are 4");
    BREAKS(scene.chunk[1].start, START, mempool_check(pool), "chunk 1 is at 0x10000000000");
    BREAKS(pool->live, 3, mempool_check(pool), "there are 2 live regions");
    BREAKS(pool->pending, 3, mempool_check(pool), "counted are 2, 3");
    BREAKS_TO(pool->used_high, 0, mempool_check(pool), "a high mark is lower");
    BREAKS(pool->size, 0, mempool_check(pool), "the regions end at 0x10000040000, the pool at 0x10000000000");
    end(&scene);
}

/* A pool with frees of two streams, and free regions with and without memory. */
static void test_check_pending(void)
{
    static struct scene scene;
    begin(&scene);
    struct mempool *pool = &scene.pool;
    struct region *a = take(&scene, 16, 0), *b = take(&scene, 16, 0), *c = take(&scene, 16, 0), *d = take(&scene, 16, 0);
    scene.held[0] = c;
    pend(&scene, a, 0);
    pend(&scene, b, 1);
    check_holds(mempool_check(pool), "pending regions of two streams");
    mempool_free(pool, d);
    struct region *free = c->after;
    check_holds(mempool_check(pool), "and a free one, of which a part has memory");
    BREAKS(a->size, a->size + 1, mempool_check(pool), "the region at 0x10000000000 has 0x2001 bytes");
    BREAKS(b->before, NULL, mempool_check(pool), "a region starts at 0x10000002000");
    BREAKS(a->mark, NULL, mempool_check(pool), "the region at 0x10000000000 is in state 1, without a mark");
    BREAKS(c->mark, a->mark, mempool_check(pool), "is in state 2, with a mark");
    BREAKS_TO(pool->room, 1, mempool_check(pool), "the region at 0x10000002000 in state 1 is not backed");
    BREAKS(pool->chunks[2], NULL, mempool_check(pool), "the region at 0x10000004000 in state 2 is not backed");
    BREAKS(free->backed, true, mempool_check(pool), "in state 0 is not backed");
    BREAKS(c->state, REGION_FREE, (c->backed = false, mempool_check(pool)), "the region at 0x10000004000 in state 0 is backed");
    BREAKS(c->state, REGION_FREE, (c->backed = true, mempool_check(pool)), "the regions at 0x10000004000 and 0x10000006000 are not one");
    BREAKS(b->lane, a->lane, mempool_check(pool), "the regions at 0x10000000000 and 0x10000002000 are not one");
    BREAKS(pool->unbacked.root, NULL, mempool_check(pool), "trees hold 0 free and 2 pending regions, the list 2; there are 1 and 2");
    BREAKS(a->lane->tree.root, NULL, mempool_check(pool), "trees hold 1 free and 1 pending regions, the list 2");
    BREAKS(a->lane->newest, NULL, mempool_check(pool), "trees hold 1 free and 2 pending regions, the list 1");
    BREAKS(a->older, a, mempool_check(pool), "2 pending regions, the list 3");
    struct region low = {.start = 1, .size = UINT64_MAX}, root = {.start = 2, .size = 5, .left = &low, .priority = 9};
    BREAKS(pool->backed.root, &root, mempool_check(pool), "backed: the region at 0x1 is out of order");
    BREAKS(pool->unbacked.root, &root, mempool_check(pool), "unbacked: the region at 0x1 is out of order");
    BREAKS(a->lane->tree.root, &root, mempool_check(pool), "freed by a stream: the region at 0x1 is out of order");
    BREAKS(scene.chunk[1].size, 1, mempool_check(pool), "chunk 1 is at 0x10000002000 with 0x1 bytes");
    BREAKS(scene.chunk[1].pool, NULL, mempool_check(pool), "chunk 1 is at 0x10000002000");
    BREAKS(pool->idle, 9, mempool_check(pool), "1 idle chunks of 4; counted are 1, 2, 9");
    BREAKS(pool->reserved, CHUNK, mempool_check(pool), "0x2000 bytes");
    BREAKS_TO(pool->reserved_high, 0, mempool_check(pool), "a high mark is lower");
    check_holds(mempool_check(pool), "all is mended");
    tap_ok(mempool_region_at(pool, c->start) == c && !mempool_region_at(pool, c->start + 1), "a region is found only by "
        "its start");
    end(&scene);
}

/* Frees of the stream that used any pool first are reused first, regardless of the order in this pool. */
static void test_order_of_lanes(void)
{
    static struct scene scene;
    begin(&scene);
    struct mempool *pool = &scene.pool;
    static const uint32_t met[] = {3, 1, 2};
    for (unsigned i = 0; i < 3; i++) {
        struct queue_place place = scene.place[0];
        place.stream = 200 + met[i];
        mempool_meet(pool, &place, met[i]);
    }
    const struct region_lane *lane = pool->lanes;
    tap_ok(lane && lane->place.stream == 201 && lane->next->place.stream == 202 && lane->next->next->place.stream == 203 && !lane->next->next->next,
           "lanes stand in the order in which their streams met a pool");
    end(&scene);
}

/* A pool with many streams drops one without pending regions; if all have some, it keeps more. */
static void test_lanes(void)
{
    enum { FULL = 64, MORE = 6 };
    static struct scene scene;
    begin(&scene);
    struct mempool *pool = &scene.pool;
    struct queue_place *place = &scene.place[0];
    for (unsigned i = 0; i < FULL + MORE; i++) {
        place->stream = 100 + i;
        mempool_meet(pool, place, i + 1);
    }
    tap_u64(pool->lane_count, FULL, "so many streams are known at most while some have nothing pending");
    tap_u64(pool->lanes->place.stream, 100 + MORE, "the first known ones are forgotten first");
    for (unsigned i = 0; i < FULL + MORE; i++) {
        place->stream = 200;
        struct region *region = take(&scene, 1, 0);
        place->stream = 200 + i;
        pend(&scene, region, 0);
    }
    tap_u64(pool->lane_count, FULL + MORE - 1, "if all have pending regions, more streams are kept");
    check_holds(mempool_check(pool), "a pool with as many streams");
    end(&scene);
}

/* The per-thread default stream of each thread is a separate stream. */
static void test_threads(void)
{
    static struct scene scene;
    begin(&scene);
    scene.place[1] = scene.place[0];
    scene.place[1].thread = 7;
    struct region *a = take(&scene, 4, 0);
    const uint64_t at = a->start;
    pend(&scene, a, 0);
    scene.held[0] = take(&scene, 4, 1);
    tap_ok(scene.held[0]->start != at, "another thread's free is another stream's");
    scene.held[1] = take(&scene, 4, 0);
    tap_u64(scene.held[1]->start, at, "the per-thread stream's memory exists");
    check_holds(mempool_check(&scene.pool), "streams of two threads");
    end(&scene);
}

/* A region can be cut out only where everything is free. */
static void test_cut(void)
{
    static struct scene scene;
    bool out = true;
    begin(&scene);
    struct region *a = take(&scene, 4, 0);
    scene.held[0] = a;
    const uint64_t last = START + CHUNKS * CHUNK;
    tap_ok(!mempool_cut(&scene.pool, a->start, POOL_UNIT, &out) && !out, "not out of an allocation");
    tap_ok(!mempool_cut(&scene.pool, last - POOL_UNIT, 2 * POOL_UNIT, &out) && !out, "nor beyond the end");
    struct region *high = mempool_cut(&scene.pool, last - POOL_UNIT, POOL_UNIT, &out);
    tap_ok(high && !out && high->start == last - POOL_UNIT && high->before->state == REGION_FREE, "out of the middle");
    tap_ok(mempool_cut(&scene.pool, last - POOL_UNIT, POOL_UNIT, &out) == high && !out, "it already exists");
    back(&scene, last - POOL_UNIT, POOL_UNIT);
    scene.held[1] = mempool_take(&scene.pool, high, POOL_UNIT, POOL_UNIT) ? high : NULL;
    check_holds(mempool_check(&scene.pool), "an allocation at the end");
    end(&scene);
}

static void test_random(void)
{
    static struct scene scene;
    uint64_t seed = random_seed(21);
    const char *said = NULL;
    begin(&scene);
    for (unsigned step = 0; step < random_rounds(20000) && !said; step++) {
        unsigned i = (unsigned)random_below(&seed, HELD), stream = (unsigned)random_below(&seed, 3);
        scene.all_done = random_below(&seed, 2) != 0;
        if (!scene.held[i]) {
            scene.held[i] = take(&scene, 1 + random_below(&seed, 20), stream);
        } else {
            if (random_below(&seed, 4) == 0)
                mempool_free(&scene.pool, scene.held[i]);
            else
                pend(&scene, scene.held[i], stream);
            scene.held[i] = NULL;
        }
        if (random_below(&seed, 50) == 0)
            settle(&scene);
        if (random_below(&seed, 50) == 0)
            trim(&scene);
        said = mempool_check(&scene.pool);
    }
    tap_ok(!said, "the invariants hold after each step%s%s", said ? ": " : "", said ? said : "");
    end(&scene);
}

int main(void)
{
    test_order();
    test_check();
    test_check_pending();
    test_order_of_lanes();
    test_lanes();
    test_threads();
    test_cut();
    test_random();
    return tap_done();
}
