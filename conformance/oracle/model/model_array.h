/* SPDX-License-Identifier: Apache-2.0 */
/* model_array.h - what the model knows of arrays and of managed memory. For the model's files.
 *
 *     array     descriptor -> levels, tiles, mip tail, memory                   worked out anew for each question (model_shape_of)
 *     binding   (array, level, layer, tile x y z) -> (memory, offset)           of sparse arrays; level MODEL_TAIL: a part of the tail
 *     texel     (view, place) -> byte                                           what copies wrote and nothing has spoilt since
 *     managed   pages with advice                                               model_managed.c
 *
 * Bytes in a tile are known by the tile's memory and by the place in the tile: another array whose tiles have the same form sees them
 * there. Those of the tail, and of arrays that are mapped as a whole, are known to the same array alone.
 */
#ifndef CUVMM_MODEL_ARRAY_H
#define CUVMM_MODEL_ARRAY_H

#include "model_parts.h"

enum { MODEL_LEVELS = 18, MODEL_TAIL = MODEL_LEVELS, MODEL_TILE = 65536 };

struct model_array {
    uint64_t value;
    uint32_t tag;
    bool mipmapped, ended;
    int device, context;          /* context: index in contexts */
    unsigned levels;              /* as asked for; 1 of an array without */
    vmm_array3d_descriptor is;    /* of a level: its own */
    uint64_t whole;               /* of a level: the number of the array that it belongs to; else its own */
    uint64_t number;              /* 1, 2, ... */
    unsigned level;
    uint64_t memory, at;          /* mapped as a whole: serial of the memory, 0 for none, and the offset */
    unsigned units, unit_at;      /* of a small one: its part of a chunk */
    uint64_t chunk;               /* its number; 0: it has none */
};

/* The tile of an array that has memory. */
struct model_binding {
    uint64_t array;               /* number of the array */
    unsigned level, layer, x, y, z;
    uint64_t memory, at;
};

struct model_texel {
    uint64_t memory, page;        /* where the tile lies; memory 0: an array's own, page its number */
    uint64_t view, place;         /* how it was written, and where in that view */
    uint8_t value;
};

/* Memory of small arrays of one context, in 32 units. */
struct model_chunk {
    uint64_t number;
    int context, device;
    uint32_t used;
};

/* Memory that only tiles hold. */
struct model_held {
    uint64_t serial, size;
    int device;
};

struct model_hint {
    bool read_mostly, host;
    uint32_t devices;
    vmm_mem_location preferred, prefetched;
};

enum { MODEL_PAGE = 4096, MODEL_KNOWN = 4096 };

/* Managed memory. */
struct model_managed {
    uint64_t start, size, span;
    uint32_t tag;
    int context;
    struct model_hint *hint;      /* of each page */
    uint8_t value[MODEL_KNOWN];   /* its first bytes */
    bool known[MODEL_KNOWN];
};

struct model_arrays {
    struct model_array *array;
    size_t count, room;
    uint64_t numbers, chunk_numbers;
    struct model_binding *binding;
    size_t bindings, binding_room;
    struct model_texel *texel;
    size_t texels, texel_room;
    struct model_chunk *chunk;
    size_t chunks, chunk_room;
    struct model_held *held;
    size_t helds, held_room;
    struct model_managed *managed;
    size_t manageds, managed_room;
};

/* ---- what follows from a descriptor ---- */

struct model_shape {
    unsigned bytes, wide;         /* of an element, or of a block of wide x wide elements */
    bool volume;
    unsigned layers, levels;
    uint32_t size[MODEL_LEVELS][3]; /* in elements */
    uint32_t tile[3];             /* of a sparse array, in elements */
    unsigned tail_from;           /* the first level of the tail; levels: none */
    uint64_t tail;                /* bytes of it */
    bool single;                  /* all layers have one */
    uint64_t need;                /* memory for all of it */
};

void model_shape_of(const vmm_array3d_descriptor *is, bool mipmapped, unsigned levels, struct model_shape *shape);
/* The rule that forbids the descriptor; NULL: none. */
const char *model_shape_forbidden(const vmm_array3d_descriptor *is, bool mipmapped, vmm_result *result);

/* ---- arrays ---- */

/* A live array of that value; or one that has ended. */
struct model_array *model_array_of(struct model *model, uint64_t value);
struct model_array *model_array_past(struct model *model, uint64_t value);
struct model_array *model_array_numbered(struct model *model, uint64_t number);

static inline bool model_array_has(const struct model_array *array, unsigned flag)
{
    return (array->is.flags & flag) != 0;
}

/* The memory of a sparse array's tile; NULL: it has none. */
struct model_binding *model_binding_of(struct model *model, uint64_t array, unsigned level, unsigned layer, unsigned x, unsigned y,
                                       unsigned z);
/* Drops the bindings of an array, or of one tile. */
void model_unbind(struct model *model, struct model_binding *binding);

/* Do tiles hold the memory? */
bool model_tiles_hold(const struct model *model, uint64_t serial);
/* Memory without references is held by tiles: its bytes stay taken. Called where it ends. */
void model_hold(struct model *model, const struct model_memory *memory);
/* Some memory may be held no longer. */
void model_let(struct model *model);

/* What arrays have of a device's memory beside handles that live. */
uint64_t model_arrays_take(const struct model *model, int device);

/* A copy with an array on a side. */
void model_array_box(struct model *model, const vmm_memcpy3d *copy, struct model_answer *answer);
/* What is known of the array's bytes, or of that memory's, is so no longer. */
void model_texels_forget_array(struct model *model, uint64_t number);
void model_texels_forget_memory(struct model *model, uint64_t serial);

/* ---- managed memory ---- */

struct model_managed *model_managed_at(struct model *model, uint64_t address);
/* Bytes of the host that it has. */
uint64_t model_managed_take(const struct model *model);
/* cuMemFree of its start. */
void model_managed_free(struct model *model, struct model_managed *managed);
/* Does the call use an address of managed memory, and is it none of its calls? Then its answer is foreseen here, or not at all. */
bool model_managed_decides(struct model *model, const struct vmm_call *call, struct model_answer *answer);

void model_arrays_close(struct model *model);

#endif
