/* SPDX-License-Identifier: Apache-2.0 */
#include "alias_model.h"

#include <string.h>

#include "chance.h"

enum { WORD = 8 }; /* no access is wider than a word, and none straddles two words */

/* A place in memory that is mapped more than once. */
struct place {
    const struct sim_mapping *mapping;
    uint64_t offset; /* in the memory */
};

static bool find(const struct alias_model *s, uint64_t address, struct place *place)
{
    const struct sim_mapping *m = sim_mapping_at(s->process, address);
    if (s->out_of_memory || !m || m->handle->maps < 2)
        return false;
    *place = (struct place){m, m->offset + (address - m->start)};
    return true;
}

static struct view_key key_of(const struct place *place, uint32_t mapping)
{
    return (struct view_key){place->mapping->handle->block->id, place->offset / VIEW_UNIT, mapping};
}

/* Copies the bytes of the last granted write to the view of the mapping that wrote them. */
static void settle(struct alias_model *s)
{
    if (s->granted.view)
        memcpy(s->granted.view->bytes + s->granted.at, s->granted.bytes, s->granted.size);
    s->granted.view = NULL;
}

static void fence(struct twin_memory *memory)
{
    struct alias_model *s = (struct alias_model *)memory;
    s->granted.view = NULL;
    alias_views_forget(&s->views);
}

_Static_assert(BLOCK_DATA_CHUNK % VIEW_UNIT == 0, "a unit lies in one chunk of its memory");

/* Copies the unit around address from memory. A byte of the unit is about to be written, so its block has storage; and the
 * right to write includes the right to read. */
static bool copy_unit(struct alias_model *s, uint64_t address, unsigned char *to)
{
    unsigned char *from;
    uint64_t size = VIEW_UNIT;
    uint64_t first = address - address % VIEW_UNIT;
    if (!s->inner->run(s->inner, first, 1, &size, TWIN_READ, &from)) /* LCOV_EXCL_BR_LINE: the byte is readable */
        return false;                                                /* LCOV_EXCL_LINE: the same */
    memcpy(to, from, VIEW_UNIT);
    return true;
}

/* The view of the mapping that is about to write, created on first use. NULL when out of memory. */
static struct view *own_view(struct alias_model *s, uint64_t address, const struct place *place)
{
    struct view *own = alias_views_find(&s->views, key_of(place, place->mapping->number));
    struct view *others = alias_views_find(&s->views, key_of(place, VIEW_OF_OTHERS));
    if (own)
        return own;
    if (!others) {
        others = alias_views_add(&s->views, key_of(place, VIEW_OF_OTHERS));
        if (!others || !copy_unit(s, address, others->bytes))
            return NULL;
    }
    own = alias_views_add(&s->views, key_of(place, place->mapping->number));
    if (own)
        memcpy(own->bytes, others->bytes, VIEW_UNIT);
    return own;
}

static void before_write(struct alias_model *s, uint64_t address, const struct place *place, uint64_t size,
                         const unsigned char *bytes)
{
    struct view *own = own_view(s, address, place);
    s->granted.view = own;
    s->granted.at = place->offset % VIEW_UNIT;
    s->granted.size = size;
    s->granted.bytes = bytes;
    s->out_of_memory = !own;
}

/* Returns a mix: the seed decides for each word whether it comes from memory or from the view of the mapping. now is NULL where
 * nothing was ever written: then there is no view either. */
static unsigned char *mix(struct alias_model *s, const struct place *place, uint64_t size, unsigned char *now)
{
    const struct view *view = alias_views_find(&s->views, key_of(place, place->mapping->number));
    if (!view)
        view = alias_views_find(&s->views, key_of(place, VIEW_OF_OTHERS));
    if (!view) /* nothing was written here */
        return now;
    uint64_t chance = chance_of(chance_of(s->chance, s->views.age), place->mapping->number);
    for (uint64_t done = 0, part; done < size; done += part) {
        uint64_t at = place->offset + done;
        bool old = chance_of(chance, at / WORD) & 1;
        part = WORD - at % WORD;
        part = part < size - done ? part : size - done;
        memcpy(s->mixed + done, old ? view->bytes + at % VIEW_UNIT : now + done, part);
    }
    return s->mixed;
}

static bool run(struct twin_memory *memory, uint64_t address, unsigned width, uint64_t *size, enum twin_use use,
                unsigned char **bytes)
{
    struct alias_model *s = (struct alias_model *)memory;
    uint64_t room = VIEW_UNIT - address % VIEW_UNIT;
    struct place place;
    settle(s);
    if (!find(s, address, &place))
        return s->inner->run(s->inner, address, width, size, use, bytes);
    *size = *size < room ? *size : room;
    if (!s->inner->run(s->inner, address, width, size, use, bytes))
        return false;
    if (use != TWIN_READ)
        before_write(s, address, &place, *size, *bytes);
    else
        *bytes = mix(s, &place, *size, *bytes);
    return true;
}

/* Multimem accesses always use the memory itself, never a view. */
static bool replicas(struct twin_memory *memory, uint64_t address, unsigned width, enum twin_use use,
                     unsigned char *bytes[TWIN_REPLICAS], unsigned *count)
{
    struct alias_model *s = (struct alias_model *)memory;
    settle(s);
    return s->inner->replicas(s->inner, address, width, use, bytes, count);
}

/* Requests of an interpreted kernel that are passed on. */
static void ended(struct twin_memory *memory, const struct twin_end *end)
{
    struct twin_memory *inner = ((struct alias_model *)memory)->inner;
    inner->ended(inner, end);
}

static void show(struct twin_memory *memory)
{
    struct twin_memory *inner = ((struct alias_model *)memory)->inner;
    inner->show(inner);
}

static bool pause_inner(struct twin_memory *memory, uint64_t nanoseconds)
{
    struct alias_model *s = (struct alias_model *)memory;
    settle(s);
    return s->inner->pause(s->inner, nanoseconds);
}

void alias_model_open(struct alias_model *model, const struct sim_process *process, struct twin_memory *inner, uint64_t launch)
{
    *model = (struct alias_model){.memory = {.run = run, .replicas = replicas, .fleeting = true, .fence = fence, .ended = ended,
                                             .show = show, .pause = inner->pause ? pause_inner : NULL, .steps = inner->steps,
                                             .context = inner->context, .process = inner->process,
                                             .multiprocessors = inner->multiprocessors},
                                  .inner = inner, .process = process, .chance = chance_of(process->options.stale_seed, launch)};
}

bool alias_model_close(struct alias_model *model)
{
    alias_views_clear(&model->views);
    return !model->out_of_memory;
}
