/* SPDX-License-Identifier: Apache-2.0 */
/* model_box.c - copies of boxes, on a context and between two (facts: copies, copies3d).
 *
 *     looked at     [base, + (layers - 1) * height * pitch + (rows - 1) * pitch + width), with the caller's own pitch and height
 *     copied        row after row from base + (z * height + y) * pitch + x on
 *
 * Not foreseen: a copy within the program's own memory on a stream; memory of a pool of the host, which is the host's side of a
 * copy; memory of the host that is mapped, whose rows the host or the device may move. Where a row leaves memory that
 * may be used, the device is lost.
 *
 * A side may be an array: model_array.h has the layout of its rows, and no rights are checked. On a driver, copies
 * between contexts have no arrays, since one did not come back, and arrays of another device are not foreseen.
 */
#include "model_array.h"
#include "model_managed.h"

#define INVALID VMM_ERROR_INVALID_VALUE

enum { MOST_ROWS = 4096 };

struct extent {
    uint64_t width, height, depth;
};

/* What the caller says of a side, and what is there. */
struct side {
    vmm_memorytype type;
    uint64_t base, x, y, z, pitch, height, lod;
    const void *value;               /* of an array */
    const struct model_array *array; /* NULL: memory at an address */
    bool program; /* it is the program's own memory */
    bool open;    /* rights are not checked within one mapping, or within one allocation of a pool */
    bool writes;
    int device;   /* whose rights count */
};

/* From one row to the next, and from one layer to the next. */
static uint64_t pitch_of(const struct side *s, const struct extent *e)
{
    return s->pitch ? s->pitch : s->x + e->width;
}

static uint64_t layer_of(const struct side *s, const struct extent *e)
{
    return pitch_of(s, e) * (s->height ? s->height : s->y + e->height);
}

static uint64_t row_at(const struct side *s, const struct extent *e, uint64_t layer, uint64_t row)
{
    return s->base + (s->z + layer) * layer_of(s, e) + (s->y + row) * pitch_of(s, e) + s->x;
}

static uint64_t span(const struct extent *e, uint64_t pitch, uint64_t layer)
{
    return (e->depth - 1) * layer + (e->height - 1) * pitch + e->width;
}

/* ---- what a side may be ---- */

/* Is the address in memory of the program that the model knows? Other values may end the process. */
static bool is_programs(const struct model *m, uint64_t address)
{
    for (size_t i = 0; i < sizeof m->program / sizeof m->program[0]; i++)
        if (address >= m->program[i].start && address - m->program[i].start < m->program[i].size)
            return true;
    return false;
}

/* x counts bytes; of compressed elements whole blocks are copied. */
static bool array_allowed(struct model *m, struct side *s, const struct extent *e, struct model_answer *a)
{
    const struct model_array *array = model_array_of(m, s->value);
    if (!array || array->ended || array->mipmapped)
        return model_refuse(a, INVALID, "VMM-COPY-ARRAY");
    const struct model_shape *shape = &array->whole->shape;
    const uint64_t block = shape->element.side > 1 ? shape->element.bytes : 1;
    s->array = array;
    a->foreseen &= !m->driver || array->device == s->device;
    return (!s->lod && s->x % block == 0 && e->width % block == 0 && model_fits(s->x, e->width, model_shape_row(shape, array->level)) &&
            model_fits(s->y, e->height, model_shape_rows(shape, array->level)) &&
            model_fits(s->z, e->depth, model_shape_layers(shape, array->level))) ||
           model_refuse(a, INVALID, "VMM-COPY-ARRAY-BOUNDS");
}

static bool type_allowed(struct model *m, struct side *s, struct model_answer *a)
{
    const bool mapped = model_mapping_at(m, s->base), pooled = model_block_at(m, s->base);
    if (model_managed_at(m, s->base)) /* not followed */
        return a->foreseen = false;
    const bool known = s->type == VMM_MEMORYTYPE_HOST || s->type == VMM_MEMORYTYPE_DEVICE || s->type == VMM_MEMORYTYPE_UNIFIED;
    s->program = !mapped && !pooled;
    if (!mapped && !known)
        return model_refuse(a, INVALID, "VMM-ROWS-MEMORY");
    const struct model_mapping *there = pooled ? model_memory_at(m, s->base) : NULL;
    if (there && there->of_host_pool && s->type == VMM_MEMORYTYPE_DEVICE)
        return model_refuse(a, INVALID, "VMM-POOL-COPY-HOST");
    if (there && there->of_host_pool)
        a->foreseen = false;
    if (s->program && (!s->base || s->type == VMM_MEMORYTYPE_DEVICE))
        return model_refuse(a, INVALID, "VMM-ROWS-MEMORY");
    if (s->program && !is_programs(m, s->base))
        a->foreseen = false;
    return a->foreseen;
}

/* Of mapped memory and of a pool's x and y may leave the row and the layer. */
static bool form_allowed(struct model *m, const struct side *s, const struct extent *e, struct model_answer *a)
{
    const bool narrow = s->program;
    if (s->pitch && (e->width > s->pitch || (narrow && s->x > s->pitch - e->width)))
        return model_refuse(a, INVALID, "VMM-ROWS-PITCH");
    if (s->height && (e->height > s->height || (narrow && s->y > s->height - e->height)))
        return model_refuse(a, INVALID, "VMM-BOX-HEIGHT");
    const struct model_block *block = model_block_at(m, s->base);
    const uint64_t start = row_at(s, e, 0, 0) - s->base, length = span(e, pitch_of(s, e), layer_of(s, e));
    const uint64_t left = block ? block->start + block->size - s->base : UINT64_MAX;
    if (m->driver && ((length <= left && start + length > left) || length > UINT64_MAX - s->base))
        a->foreseen = false; /* a driver uses what the pool has behind the allocation, and took a length that wraps (captured) */
    return start + length <= left || model_refuse(a, INVALID, "VMM-ROWS-END");
}

static bool side_allowed(struct model *m, struct side *s, const struct extent *e, struct model_answer *a)
{
    if (s->type == VMM_MEMORYTYPE_ARRAY)
        return array_allowed(m, s, e, a);
    return type_allowed(m, s, a) && form_allowed(m, s, e, a);
}

/* ---- what is looked at, and what is used ---- */

/* Is the range within one mapping or within one allocation of a pool? */
static bool in_one_piece(struct model *m, uint64_t base, uint64_t size)
{
    const struct model_mapping *in = model_mapping_at(m, base);
    const struct model_block *block = model_block_at(m, base);
    return in ? size <= in->size - (base - in->start) : block && size <= block->size - (base - block->start);
}

/* All rows, from the base on. */
static uint64_t rows_of(const struct side *s, const struct extent *e)
{
    return row_at(s, e, e->depth - 1, e->height - 1) + e->width - s->base;
}

static bool looks(struct model *m, const struct side *s, const struct side *other, const struct extent *e,
                  struct model_answer *a)
{
    const struct model_access all = {.start = s->base, .size = span(e, s->pitch, s->pitch * s->height), .writes = s->writes,
                                     .with_program = other->program};
    const bool one = s->open && in_one_piece(m, s->base, all.size);
    if (s->array || s->program || !all.size || (one && in_one_piece(m, s->base, rows_of(s, e))))
        return true;
    bool may = model_reaches(m, s->device, &all, a);
    a->loses |= a->wraps;
    if (m->driver && one && !may && m->current < 0)
        a->foreseen = false; /* in one piece but for its rows: accepted once, and refused once where a context was current */
    return may;
}

static bool on_host(struct model *m, uint64_t address)
{
    const struct model_mapping *there = model_memory_at(m, address);
    return there && !model_in_device(m, there);
}

/* Is each row usable? Otherwise the copy starts, and loses the device. */
static bool rows_usable(struct model *m, const struct side *s, const struct side *other, const struct extent *e,
                        struct model_answer *a)
{
    for (uint64_t layer = 0; !s->array && !s->program && layer < e->depth; layer++)
        for (uint64_t row = 0; row < e->height; row++) {
            struct model_answer ignored = {.rule = NULL};
            const uint64_t at = row_at(s, e, layer, row);
            const struct model_access one = {.start = at, .size = e->width, .writes = s->writes, .with_program = other->program};
            if (on_host(m, at) || on_host(m, at + e->width - 1))
                a->foreseen = false;
            if (at > UINT64_MAX - e->width || !model_reaches(m, s->device, &one, &ignored)) {
                a->loses = true;
                return !m->strict || model_refuse(a, INVALID, "VMM-ROWS-END");
            }
        }
    return true;
}

/* A copy between the program and adjacent rows, of which one leaves its memory. */
static bool is_adjacent_past(struct model *m, const struct side *dst, const struct side *src, const struct extent *e)
{
    const struct side *memory = dst->program ? src : dst, *other = dst->program ? dst : src;
    struct model_answer turn = {.foreseen = true};
    if (!other->program || memory->program || memory->pitch || e->height > MOST_ROWS || e->depth > MOST_ROWS / e->height)
        return false;
    rows_usable(m, memory, other, e, &turn);
    return turn.loses;
}

/* A deferred array without memory loses the device. */
static bool has_memory(const struct model *m, const struct side *s, struct model_answer *a)
{
    if (!s->array || !model_array_is_deferred(s->array->whole) || s->array->whole->serial)
        return true;
    a->loses = true;
    return !m->strict || model_refuse(a, INVALID, "VMM-ROWS-END");
}

/* Compressed elements have blocks, which only elements of the same size can take the place of. */
static bool blocks_match(const struct side *dst, const struct side *src)
{
    if (!dst->array || !src->array)
        return true;
    const struct model_element d = dst->array->whole->shape.element, s = src->array->whole->shape.element;
    return (d.side == 1 && s.side == 1) || d.bytes == s.bytes;
}

static bool box_allowed(struct model *m, struct side *dst, struct side *src, const struct extent *e, struct model_answer *a)
{
    if (!side_allowed(m, src, e, a) || !side_allowed(m, dst, e, a))
        return false;
    if (!blocks_match(dst, src))
        return model_refuse(a, INVALID, "VMM-COPY-ARRAY-BOUNDS");
    if (!looks(m, dst, src, e, a) || !looks(m, src, dst, e, a))
        return false;
    if (on_host(m, dst->base) || on_host(m, src->base) || e->height > MOST_ROWS || e->depth > MOST_ROWS / e->height)
        a->foreseen = false;
    return a->foreseen && rows_usable(m, dst, src, e, a) && rows_usable(m, src, dst, e, a) && has_memory(m, dst, a) &&
           has_memory(m, src, a);
}

/* ---- the bytes ---- */

/* The range that holds all rows. */
static void hull(const struct side *s, const struct extent *e, uint64_t *start, uint64_t *end)
{
    *start = row_at(s, e, 0, 0);
    *end = row_at(s, e, e->depth - 1, e->height - 1) + e->width;
}

/* Do the boxes share memory, so that the order of rows decides? */
static bool is_murky(struct model *m, const struct side *dst, const struct side *src, const struct extent *e)
{
    uint64_t to, to_end, from, from_end;
    hull(dst, e, &to, &to_end);
    hull(src, e, &from, &from_end);
    return model_overlap(to, to_end - to, from, from_end - from) || model_murky(m, to, from, to_end - to > from_end - from
                                                                                ? to_end - to : from_end - from);
}

/* A byte of a row; -1: not known. */
static int byte_of(struct model *m, const struct side *s, const struct extent *e, uint64_t layer, uint64_t row, uint64_t i)
{
    if (s->array)
        return model_array_byte(m, s->array, s->x + i, s->y + row, s->z + layer);
    const uint64_t at = row_at(s, e, layer, row) + i;
    return s->program ? *(const uint8_t *)(uintptr_t)at : model_byte(m, at);
}

static void put_byte(struct model *m, const struct side *s, const struct extent *e, uint64_t layer, uint64_t row, uint64_t i, int value)
{
    const uint64_t at = s->array ? 0 : row_at(s, e, layer, row) + i;
    const uint8_t byte = (uint8_t)value;
    if (s->array)
        model_array_put(m, s->array, s->x + i, s->y + row, s->z + layer, value);
    else if (value < 0)
        model_forget_range(m, at, 1);
    else
        model_write(m, at, 1, &byte, 1);
}

/* Of two arrays that share memory, the order of rows and tiles decides. */
static void copy_array_row(struct model *m, const struct side *dst, const struct side *src, const struct extent *e, uint64_t layer,
                           uint64_t row, struct model_answer *a)
{
    const bool murky = dst->array && src->array && model_arrays_meet(dst->array, src->array);
    for (uint64_t i = 0; i < e->width; i++) {
        const int byte = murky ? -1 : byte_of(m, src, e, layer, row, i);
        if (!dst->program)
            put_byte(m, dst, e, layer, row, i, byte);
        else if (byte >= 0)
            model_expect(a, "dst", *(const uint8_t *)(uintptr_t)(row_at(dst, e, layer, row) + i), (uint64_t)byte);
    }
}

static void copy_rows(struct model *m, int lane, const struct side *dst, const struct side *src, const struct extent *e,
                      struct model_answer *a)
{
    const bool arrays = dst->array || src->array;
    const bool murky = !arrays && !dst->program && !src->program && is_murky(m, dst, src, e);
    for (uint64_t layer = 0; layer < e->depth; layer++)
        for (uint64_t row = 0; row < e->height; row++) {
            const uint64_t to = row_at(dst, e, layer, row), from = row_at(src, e, layer, row);
            if (!dst->program && !dst->array)
                model_use(m, lane, to, e->width, a);
            if (!src->program && !src->array)
                model_use(m, lane, from, e->width, a);
            if (!model_succeeded(a) || (dst->program && src->program))
                continue;
            if (arrays)
                copy_array_row(m, dst, src, e, layer, row, a);
            else if (src->program)
                model_write(m, to, e->width, (const uint8_t *)(uintptr_t)from, e->width);
            else if (dst->program)
                model_expect_bytes(m, from, (const uint8_t *)(uintptr_t)to, e->width, a);
            else
                model_move(m, to, from, e->width, murky);
        }
}

/* ---- in graphs ---- */

static struct side source_of(const vmm_memcpy3d *c)
{
    return (struct side){.type = c->src_memory_type, .x = c->src_x_in_bytes, .y = c->src_y, .z = c->src_z, .pitch = c->src_pitch,
                         .height = c->src_height, .value = c->src_array, .lod = c->src_lod,
                         .base = c->src_memory_type == VMM_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)c->src_host : c->src_device};
}

static struct side destination_of(const vmm_memcpy3d *c)
{
    return (struct side){.type = c->dst_memory_type, .x = c->dst_x_in_bytes, .y = c->dst_y, .z = c->dst_z, .pitch = c->dst_pitch,
                         .height = c->dst_height, .writes = true, .value = c->dst_array, .lod = c->dst_lod,
                         .base = c->dst_memory_type == VMM_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)c->dst_host : c->dst_device};
}

/* Not observed: copies within the program's memory, and rows of mapped memory of the host. */
bool model_box_allowed(struct model *model, int device, const vmm_memcpy3d *asked, bool open, struct model_box *box,
                       struct model_answer *answer)
{
    const struct extent e = {asked->width_in_bytes, asked->height, asked->depth};
    struct side src = source_of(asked), dst = destination_of(asked);
    src.open = dst.open = open;
    src.device = dst.device = device;
    if (!side_allowed(model, &src, &e, answer) || !side_allowed(model, &dst, &e, answer))
        return false;
    if (src.array || dst.array) { /* not followed into graphs */
        answer->foreseen = false;
        return false;
    }
    if (!looks(model, &dst, &src, &e, answer) || !looks(model, &src, &dst, &e, answer)) {
        if (model->driver && (on_host(model, dst.base) || on_host(model, src.base)))
            answer->foreseen = false; /* a node of memory without rights was made once */
        return false;
    }
    const bool rows = e.height > 1 || e.depth > 1;
    if (model->driver && !open && is_adjacent_past(model, &dst, &src, &e))
        answer->foreseen = false; /* refused once; other rows of nodes that leave their memory are accepted */
    if ((dst.program && src.program) || (rows && (on_host(model, dst.base) || on_host(model, src.base))) || e.height > MOST_ROWS ||
        e.depth > MOST_ROWS || e.height * e.depth > MOST_ROWS)
        answer->foreseen = false;
    *box = (struct model_box){.to_pitch = pitch_of(&dst, &e), .from_pitch = pitch_of(&src, &e), .to_layer = layer_of(&dst, &e),
                              .from_layer = layer_of(&src, &e), .height = e.height, .depth = e.depth, .asked = *asked};
    box->row = (struct model_transfer){.kind = src.program   ? MODEL_FROM_PROGRAM
                                               : dst.program ? MODEL_TO_PROGRAM
                                                             : MODEL_BETWEEN,
                                       .to = row_at(&dst, &e, 0, 0), .from = row_at(&src, &e, 0, 0), .size = e.width};
    return answer->foreseen;
}

static struct model_transfer row_of(const struct model_box *box, uint64_t layer, uint64_t row)
{
    struct model_transfer one = box->row;
    one.to += layer * box->to_layer + row * box->to_pitch;
    one.from += layer * box->from_layer + row * box->from_pitch;
    return one;
}

/* Has the program's side, which was no device's memory then, become part of a mapping? One of many gigabytes may be at any address. */
static bool is_covered(struct model *m, const struct model_transfer *one)
{
    return (one->kind == MODEL_FROM_PROGRAM && model_mapping_at(m, one->from)) || (one->kind == MODEL_TO_PROGRAM && model_mapping_at(m, one->to));
}

bool model_box_usable(struct model *model, int device, const struct model_box *box)
{
    bool may = true;
    for (uint64_t layer = 0; layer < box->depth; layer++)
        for (uint64_t row = 0; row < box->height; row++) {
            const struct model_transfer one = row_of(box, layer, row);
            struct model_answer turn = {.foreseen = true};
            may &= model_transfer_allowed(model, device, &one, &turn) && !turn.loses && !is_covered(model, &one);
        }
    return may;
}

struct model_access model_box_writes(const struct model_box *box)
{
    const bool any = box->row.kind != MODEL_TO_PROGRAM;
    return (struct model_access){.start = any ? box->row.to : 0,
                                 .size = any ? (box->depth - 1) * box->to_layer + (box->height - 1) * box->to_pitch + box->row.size : 0};
}

struct model_access model_box_reads(const struct model_box *box)
{
    const bool any = box->row.kind != MODEL_FROM_PROGRAM;
    return (struct model_access){
        .start = any ? box->row.from : 0,
        .size = any ? (box->depth - 1) * box->from_layer + (box->height - 1) * box->from_pitch + box->row.size : 0};
}

void model_box_move(struct model *model, const struct model_box *box)
{
    const struct model_access to = model_box_writes(box), from = model_box_reads(box);
    const bool murky = box->row.kind == MODEL_BETWEEN &&
                       ((to.size != box->row.size && model_overlap(to.start, to.size, from.start, from.size)) ||
                        model_murky(model, to.start, from.start, to.size > from.size ? to.size : from.size));
    for (uint64_t layer = 0; layer < box->depth; layer++)
        for (uint64_t row = 0; row < box->height; row++) {
            const struct model_transfer one = row_of(box, layer, row);
            if (one.kind == MODEL_FROM_PROGRAM)
                model_write(model, one.to, one.size, (const uint8_t *)(uintptr_t)one.from, one.size);
            else if (one.kind == MODEL_BETWEEN)
                model_move(model, one.to, one.from, one.size, murky);
        }
}

/* ---- the calls ---- */

/* Whose devices' rights the two sides need. */
struct devices {
    int src, dst;
};

/* The device of the context; of NULL the one that is given. */
static bool find_device(const struct model *m, vmm_context context, int otherwise, int *device)
{
    *device = otherwise;
    for (size_t i = 0; i < m->context_count; i++)
        if (m->contexts[i].value == context) {
            *device = m->contexts[i].device;
            return true;
        }
    return !context;
}

static void copy_with(struct model *m, const vmm_memcpy3d *c, struct devices devices, vmm_stream stream, bool waits, struct model_answer *a)
{
    const int lane = model_lane_of(m, (uint64_t)(uintptr_t)stream, a);
    if (lane < 0)
        return;
    const struct extent e = {c->width_in_bytes, c->height, c->depth};
    struct side src = source_of(c), dst = destination_of(c);
    src.device = devices.src;
    dst.device = devices.dst;
    const bool any = e.width && e.height && e.depth;
    if (any && !box_allowed(m, &dst, &src, &e, a))
        return;
    if (any && ((!waits && dst.program && src.program) || (m->driver && (dst.array || src.array) && devices.dst != m->lane[lane].device)))
        a->foreseen = false; /* not observed */
    if (any && !a->asked && !a->loses)
        copy_rows(m, lane, &dst, &src, &e, a);
    if (waits && model_succeeded(a))
        m->orders++; /* but pools get nothing back */
}

/* As other copies, with the rights of the current context's device. */
static void copy_box(struct model *m, const vmm_memcpy3d *c, vmm_stream stream, bool waits, struct model_answer *a)
{
    const int lane = model_lane_of(m, (uint64_t)(uintptr_t)stream, a);
    const int device = m->current >= 0 ? model_current_device(m) : lane >= 0 ? m->lane[lane].device : -1;
    if (lane >= 0)
        copy_with(m, c, (struct devices){device, device}, stream, waits, a);
}

/* Each side with those of its own context; NULL is the stream's. */
static void copy_between(struct model *m, const vmm_memcpy3d_peer *c, vmm_stream stream, bool waits, struct model_answer *a)
{
    const vmm_memcpy3d same = {
        .src_x_in_bytes = c->src_x_in_bytes, .src_y = c->src_y, .src_z = c->src_z, .src_memory_type = c->src_memory_type,
        .src_host = c->src_host, .src_device = c->src_device, .src_array = c->src_array, .src_lod = c->src_lod,
        .src_pitch = c->src_pitch, .src_height = c->src_height,
        .dst_x_in_bytes = c->dst_x_in_bytes, .dst_y = c->dst_y, .dst_z = c->dst_z, .dst_memory_type = c->dst_memory_type,
        .dst_host = c->dst_host, .dst_device = c->dst_device, .dst_array = c->dst_array, .dst_lod = c->dst_lod,
        .dst_pitch = c->dst_pitch, .dst_height = c->dst_height,
        .width_in_bytes = c->width_in_bytes, .height = c->height, .depth = c->depth};
    struct devices devices;
    const int lane = model_lane_of(m, (uint64_t)(uintptr_t)stream, a);
    if (lane < 0)
        return;
    const int own = m->lane[lane].device;
    a->ends |= m->driver && (c->src_array || c->dst_array);
    if (!find_device(m, c->dst_context, own, &devices.dst) || !find_device(m, c->src_context, own, &devices.src))
        model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-PEER-CONTEXT");
    else
        copy_with(m, &same, devices, stream, waits, a);
}

static bool has_array(const void *from, const void *to)
{
    return from || to;
}

bool model_copies_array(const struct vmm_call *call)
{
    const union vmm_any_call *any = (const union vmm_any_call *)(const void *)call;
    const vmm_memcpy3d *box = call->id == VMM_CALL_memcpy_3d ? any->memcpy_3d.p_copy : NULL;
    const vmm_memcpy3d_peer *peer = call->id == VMM_CALL_memcpy_3d_peer ? any->memcpy_3d_peer.p_copy : NULL;
    return (box && has_array(box->src_array, box->dst_array)) || (peer && has_array(peer->src_array, peer->dst_array));
}

/* The default stream's context is checked first, except for copies between contexts: that is our choice, because a
 * driver's process ends then. */
static void no_box(struct model *m, vmm_stream stream, bool waits, bool peer, struct model_answer *a)
{
    if (stream || peer || m->current >= 0) {
        model_refuse(a, INVALID, "VMM-BOX-NULL");
        return;
    }
    a->foreseen = waits || !m->driver; /* of a copy on a stream it was not observed */
    model_refuse(a, VMM_ERROR_INVALID_CONTEXT, "VMM-CTX-CURRENT");
}

#define BOX(name, copy, on_stream, waits, peer)                            \
    MODEL_ON(name)                                                        \
    {                                                                     \
        if (!c->p_copy)                                                   \
            no_box(m, on_stream, waits, peer, a);                         \
        else                                                              \
            copy(m, c->p_copy, on_stream, waits, a);                      \
    }

BOX(memcpy_3d, copy_box, NULL, true, false)
BOX(memcpy_3d_async, copy_box, c->stream, false, false)
BOX(memcpy_3d_peer, copy_between, NULL, true, true)
BOX(memcpy_3d_peer_async, copy_between, c->stream, false, true)
