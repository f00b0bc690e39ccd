/* SPDX-License-Identifier: Apache-2.0 */
/* What the formats share. See export.h. */
#include <stdlib.h>
#include <string.h>

#include "export.h"

int export_device(const struct timeline *timeline, const struct timeline_object *object)
{
    if (object->kind == TIMELINE_MAPPING && object->handle != TIMELINE_NONE)
        object = &timeline->object[object->handle];
    return object->location.type == VMM_MEM_LOCATION_TYPE_DEVICE ? object->location.id : -1;
}

static uint32_t *nones(size_t count)
{
    uint32_t *array = text_grow(NULL, (count + 1) * sizeof *array);
    memset(array, 0xff, (count + 1) * sizeof *array); /* TIMELINE_NONE in each */
    return array;
}

void export_index_of(struct export_index *index, const struct timeline *timeline)
{
    *index = (struct export_index){nones(timeline->calls), nones(timeline->objects), nones(timeline->objects),
                                   nones(timeline->changes)};
    for (uint32_t i = (uint32_t)timeline->objects; i-- > 0;) {
        uint32_t died = timeline->object[i].died;
        if (died == TIMELINE_NONE)
            continue;
        index->next_end[i] = index->first_end[died];
        index->first_end[died] = i;
    }
    for (uint32_t i = 0; i < timeline->changes; i++) {
        uint32_t object = timeline->change[i].object;
        index->change_before[i] = index->last_change[object];
        index->last_change[object] = i;
    }
}

void export_index_free(struct export_index *index)
{
    free(index->first_end);
    free(index->next_end);
    free(index->last_change);
    free(index->change_before);
}

enum { PLACES = VMM_MAX_DEVICES + 1 };

/* Devices by their ordinals; HOST and HOST_NUMA are one place behind them. */
static int place_of(vmm_mem_location location)
{
    bool device = location.type == VMM_MEM_LOCATION_TYPE_DEVICE && location.id >= 0 && location.id < VMM_MAX_DEVICES;
    return device ? location.id : VMM_MAX_DEVICES;
}

void export_rights(const struct export_index *index, const struct timeline *timeline, uint32_t mapping, uint32_t at,
                   struct text *text)
{
    bool known[PLACES] = {false};
    uint32_t rights[PLACES] = {0};
    size_t before = text->length;
    for (uint32_t i = index->last_change[mapping]; i != TIMELINE_NONE; i = index->change_before[i]) {
        const struct timeline_change *c = &timeline->change[i];
        int place = place_of(c->location);
        if (c->call > at || c->kind != TIMELINE_RIGHTS || known[place])
            continue;
        known[place] = true;
        rights[place] = c->value;
    }
    for (int i = 0; i < PLACES; i++) {
        if (!rights[i])
            continue;
        text_add(text, "%s", text->length > before ? ", " : "");
        if (i < VMM_MAX_DEVICES)
            text_add(text, "dev%d", i);
        else
            text_add(text, "host");
        text_add(text, rights[i] == VMM_MEM_ACCESS_FLAGS_PROT_READWRITE ? " rw" : " r-");
    }
    if (text->length == before)
        text_add(text, "no rights");
}
