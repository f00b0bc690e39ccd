/* SPDX-License-Identifier: Apache-2.0 */
#include "picture.h"

#include <stdlib.h>
#include <string.h>

#include "text.h"

static void collect(void *user, const vmm_object *object)
{
    struct picture *picture = user;
    if (picture->count == picture->room) {
        picture->room = picture->room ? picture->room * 2 : 32;
        picture->object = text_grow(picture->object, picture->room * sizeof *picture->object);
    }
    picture->object[picture->count++] = *object;
}

vmm_result picture_take(struct picture *picture, vmm_system *sys)
{
    picture->count = 0;
    return vmm_visit(sys, collect, picture);
}

void picture_free(struct picture *picture)
{
    free(picture->object);
    free(picture->descriptor);
    picture->object = NULL;
    picture->descriptor = NULL;
    picture->count = picture->room = picture->descriptors = 0;
}

static const vmm_object *picture_find(const struct picture *picture, vmm_object_kind kind, uint32_t number)
{
    for (size_t i = 0; i < picture->count; i++)
        if (picture->object[i].kind == kind && picture->object[i].number == number)
            return &picture->object[i];
    return NULL;
}

const vmm_object *picture_handle(const struct picture *picture, const vmm_object *mapping)
{
    for (size_t i = 0; i < picture->count; i++)
        if (picture->object[i].kind == VMM_OBJECT_HANDLE && picture->object[i].value == mapping->handle)
            return &picture->object[i];
    return picture_find(picture, VMM_OBJECT_HANDLE, mapping->handle_number);
}

const vmm_object *picture_reservation(const struct picture *picture, uint64_t address)
{
    for (size_t i = 0; i < picture->count; i++) {
        const vmm_object *o = &picture->object[i];
        if (o->kind == VMM_OBJECT_RESERVATION && address >= o->start && address - o->start < o->size)
            return o;
    }
    return NULL;
}

const char *picture_short(const struct picture *picture, const vmm_object *object, char buffer[PICTURE_LABEL])
{
    picture->label(picture->user, object, buffer, PICTURE_LABEL);
    char *blank = strchr(buffer, ' ');
    if (blank)
        *blank = 0;
    return buffer;
}

void picture_print(FILE *out, const struct picture *picture)
{
    picture_addresses(out, picture);
    picture_memory(out, picture);
    picture_handles(out, picture);
    picture_descriptors(out, picture);
}
