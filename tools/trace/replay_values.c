/* SPDX-License-Identifier: Apache-2.0 */
/* The present values for recorded ones, and the host memory that a replay provides. See replay_state.h. */
#define _POSIX_C_SOURCE 200809L
#include "replay_state.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "touch.h"

/* ---- objects ---- */

uint64_t replay_object(const struct replay *r, const struct name *name)
{
    const struct replay_objects *objects = &r->object[name->kind];
    return name->number < objects->room ? objects->object[name->number].now : 0;
}

void replay_learn(struct replay *r, const struct name *name, uint64_t recorded, uint64_t now)
{
    struct replay_objects *objects = &r->object[name->kind];
    if (name->number >= objects->room) {
        const size_t room = 2 * (size_t)name->number + 64;
        objects->object = text_grow(objects->object, room * sizeof *objects->object);
        memset(objects->object + objects->room, 0, (room - objects->room) * sizeof *objects->object);
        objects->room = room;
    }
    objects->object[name->number] = (struct replay_object){recorded, now};
}

static bool is_node(enum vmm_param_kind kind)
{
    return kind == VMM_PARAM_GRAPH_NODE || kind == VMM_PARAM_OUT_GRAPH_NODE;
}

bool replay_knows(struct replay *r, enum vmm_param_kind kind, uint64_t recorded)
{
    struct name name;
    return names_find(&r->names, kind, recorded, &name) || (is_node(kind) && spans_at(&r->nodes, recorded));
}

uint64_t replay_value(struct replay *r, enum vmm_param_kind kind, uint64_t recorded, bool *unmade)
{
    struct name name;
    const struct span *node;
    if (!recorded)
        return 0;
    if (names_find(&r->names, kind, recorded, &name)) {
        if (replay_object(r, &name))
            return recorded + replay_moved(r, &name);
        if (unmade)
            *unmade = true;
    } else if (is_node(kind) && (node = spans_at(&r->nodes, recorded)) != NULL) {
        return node->value;
    }
    return recorded;
}

/* ---- device addresses in place of the host's ---- */

/* msync fails on a page that is not there. */
static bool is_in_process(uint64_t address, uint64_t size)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), start = address / page * page;
    return msync((void *)(uintptr_t)start, (size_t)(address - start + size), MS_ASYNC) == 0;
}

/* A backend turns it into a copy between device addresses. */
static bool is_mapped(const struct replay *r, uint64_t address)
{
    int mapped = 0;
    return vmm_pointer_get_attribute(r->sys, &mapped, VMM_POINTER_ATTRIBUTE_MAPPED, address) == VMM_SUCCESS && mapped;
}

/* Can the program itself read, and write, each page there? It has no access to reserved addresses without memory. */
static bool is_open(uint64_t address, uint64_t size, bool written)
{
    uint64_t page = (uint64_t)sysconf(_SC_PAGESIZE), end = address + size;
    bool open = true;
    touch_begin();
    for (uint64_t at = address; open && at < end; at = at / page * page + page) {
        unsigned char byte;
        open = touch_read(at, &byte) && (!written || touch_write(at, byte));
    }
    touch_end();
    return open;
}

bool replay_device(struct replay *r, uint64_t recorded, uint64_t size, bool written, uint64_t *now)
{
    struct name name;
    if (!names_find(&r->names, VMM_PARAM_ADDRESS, recorded, &name) || name.ended || !replay_object(r, &name))
        return false;
    *now = recorded + replay_moved(r, &name);
    const struct span *span = spans_at(&r->names.object[name.kind], recorded);
    return span && size <= span->size - name.offset && is_in_process(*now, size) && (is_mapped(r, *now) || is_open(*now, size, written));
}

/* ---- host memory ---- */

static unsigned char *keep(struct replay_memory *memory, unsigned char *bytes)
{
    memory->kept = text_grow(memory->kept, (memory->count + 1) * sizeof *memory->kept);
    memory->kept[memory->count++] = bytes;
    return bytes;
}

unsigned char *replay_lend(struct replay_memory *memory, size_t size, bool later)
{
    unsigned char **lent = later ? &memory->of_work : &memory->of_call;
    size_t *room = later ? &memory->work_size : &memory->call_size;
    if (size > *room || !*lent) {
        *room = size > 2 * *room ? size : 2 * *room;
        *lent = keep(memory, text_grow(NULL, *room ? *room : 1));
        memset(*lent, 0, *room);
    }
    return *lent;
}

unsigned char *replay_keep(struct replay_memory *memory, const void *bytes, size_t size)
{
    unsigned char *copy = keep(memory, text_grow(NULL, size ? size : 1));
    memcpy(copy, bytes, size);
    return copy;
}

void replay_memory_end(struct replay_memory *memory)
{
    for (size_t i = 0; i < memory->count; i++)
        free(memory->kept[i]);
    free(memory->kept);
    *memory = (struct replay_memory){0};
}
