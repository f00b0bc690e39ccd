/* SPDX-License-Identifier: Apache-2.0 */
#include "alias_views.h"

#include <stdbool.h>
#include <stdlib.h>

#include "chance.h"
#include "heap.h"

static bool same(struct view_key a, struct view_key b)
{
    return a.block == b.block && a.unit == b.unit && a.mapping == b.mapping;
}

/* The slot that holds the key's view, or the empty slot where it belongs. */
static struct view **place(struct view **slot, size_t room, struct view_key key)
{
    size_t at = (size_t)chance_of(chance_of(key.block, key.mapping), key.unit) & (room - 1);
    while (slot[at] && !same(slot[at]->key, key))
        at = (at + 1) & (room - 1);
    return &slot[at];
}

struct view *alias_views_find(const struct alias_views *views, struct view_key key)
{
    struct view *view = views->room ? *place(views->slot, views->room, key) : NULL;
    return view && view->age == views->age ? view : NULL;
}

static bool make_room(struct alias_views *views)
{
    if (2 * views->count < views->room)
        return true;
    size_t room = views->room ? 2 * views->room : 64;
    struct view **slot = heap.calloc(room, sizeof(struct view *));
    if (!slot)
        return false;
    for (size_t i = 0; i < views->room; i++)
        if (views->slot[i])
            *place(slot, room, views->slot[i]->key) = views->slot[i];
    heap.free(views->slot);
    views->slot = slot;
    views->room = room;
    return true;
}

struct view *alias_views_add(struct alias_views *views, struct view_key key)
{
    if (!make_room(views))
        return NULL;
    struct view **slot = place(views->slot, views->room, key);
    if (!*slot) {
        struct view *view = heap.malloc(sizeof *view);
        if (!view)
            return NULL;
        view->key = key;
        *slot = view;
        views->count++;
    }
    (*slot)->age = views->age;
    return *slot;
}

void alias_views_forget(struct alias_views *views)
{
    views->age++;
}

void alias_views_clear(struct alias_views *views)
{
    for (size_t i = 0; i < views->room; i++)
        heap.free(views->slot[i]);
    heap.free(views->slot);
    *views = (struct alias_views){0};
}
