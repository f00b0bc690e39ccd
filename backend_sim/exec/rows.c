/* SPDX-License-Identifier: Apache-2.0 */
#include "rows.h"

#include <stdatomic.h>

static _Atomic rows_find_pinned find_pinned;

void rows_set_pinned(rows_find_pinned find)
{
    atomic_store(&find_pinned, find);
}

static bool pinned_at(uint64_t address, struct rows_pinned *range)
{
    rows_find_pinned find = atomic_load(&find_pinned);
    return find && find(address, range);
}

bool rows_is_pinned(uint64_t address)
{
    struct rows_pinned range;
    return pinned_at(address, &range);
}

bool rows_is_registered(uint64_t address)
{
    struct rows_pinned range = {.read_only = false};
    return pinned_at(address, &range) && range.registered;
}

vmm_result rows_check_pinned(uint64_t address, uint64_t size, bool writes, const char *argument)
{
    struct rows_pinned range = {.read_only = false};
    if (!size || !pinned_at(address, &range) || !range.registered)
        return VMM_SUCCESS;
    const uint64_t left = range.start + range.size - address;
    vmm_result result = VMM_SUCCESS;
    if (size > left)
        result = vmm_detail_refuse(VMM_RULE_COPY_RUNS_PAST, size, left, NULL);
    else if (writes && range.read_only)
        result = vmm_detail_refuse(VMM_RULE_PINNED_READ_ONLY, address, 0, NULL);
    if (result != VMM_SUCCESS) {
        vmm_detail_argument(argument);
        vmm_detail_note("0x%llx: 0x%llx bytes are registered at 0x%llx%s", (unsigned long long)address,
                        (unsigned long long)range.size, (unsigned long long)range.start, range.read_only ? ", to be read only" : "");
    }
    return result;
}

/* ---- one side of a copy ---- */

/* What the caller declares about a side, with its name. */
struct declared {
    const char *argument;
    vmm_memorytype type;
    uint64_t device;
    const void *host;
    uint64_t x, y, z, pitch, rows; /* rows: from one layer to the next */
    rows_find_planned find_planned;
    vmm_array array;
    uint64_t lod;
};

static vmm_result refuse(const struct sim_process *process, enum vmm_rule_id rule, const char *argument, uint64_t value,
                         uint64_t expected)
{
    vmm_object nearest = sim_object_nearest(process, value);
    vmm_result result = vmm_detail_refuse(rule, value, expected, &nearest);
    vmm_detail_argument(argument);
    return result;
}

static vmm_result refuse_side(const struct sim_process *process, const struct declared *d, uint64_t value, const char *what)
{
    vmm_result result = refuse(process, VMM_RULE_ROWS_MEMORY, d->argument, value, 0);
    vmm_detail_note("%s: 0x%llx %s", d->argument, (unsigned long long)value, what);
    return result;
}

static enum rows_there what_is_at(const struct sim_process *process, uint64_t address, uint64_t *left)
{
    const struct sim_allocation *allocation = sim_allocation_at(process, address);
    if (sim_mapping_at(process, address))
        return ROWS_MAPPED;
    if (!allocation)
        return sim_reservation_at(process, address) ? ROWS_RESERVED : ROWS_NOTHING;
    *left = allocation->start + allocation->size - address;
    return ROWS_ALLOCATED;
}

enum rows_there rows_look_up(const struct sim_process *process, uint64_t base, struct rows_side *side)
{
    struct rows_pinned range = {.read_only = false};
    uint64_t left = UINT64_MAX;
    enum rows_there there = what_is_at(process, base, &left);
    bool pinned = pinned_at(base, &range);
    side->host = pinned ? range.registered : there != ROWS_MAPPED && there != ROWS_ALLOCATED;
    side->outside = pinned || side->host;
    side->left = pinned ? range.start + range.size - base : left;
    const struct sim_allocation *allocation = there == ROWS_ALLOCATED && !pinned ? sim_allocation_at(process, base) : NULL;
    side->pooled = allocation && allocation->pooled;
    return pinned ? ROWS_ALLOCATED : there;
}

/* If nothing is mapped at a side's base: is there memory of that kind? If so, sets host, left and planned. find may be NULL. */
static bool rows_look_planned(const struct sim_process *process, rows_find_planned find, struct rows_side *side)
{
    uint64_t left = find ? find(process, side->base) : 0;
    if (!left)
        return false;
    side->host = side->outside = false;
    side->planned = true;
    side->left = left;
    return true;
}

/* The driver treats mapped memory as what it is, whatever the declared type; any other memory must have the declared type. */
static vmm_result check_type(const struct sim_process *process, const struct declared *d, uint64_t base, struct rows_side *side)
{
    enum rows_there there = rows_look_up(process, base, side);
    if (there == ROWS_MAPPED)
        return VMM_SUCCESS;
    if (d->type != VMM_MEMORYTYPE_HOST && d->type != VMM_MEMORYTYPE_DEVICE && d->type != VMM_MEMORYTYPE_UNIFIED)
        return refuse_side(process, d, (uint64_t)d->type, "is not a memory type: expected HOST, DEVICE or UNIFIED");
    if (there == ROWS_ALLOCATED && translate_host_pool(process, base)) {
        side->host = true;
        return d->type == VMM_MEMORYTYPE_DEVICE ? translate_check_side(process, base, d->argument) : VMM_SUCCESS;
    }
    if (there == ROWS_ALLOCATED || (there == ROWS_NOTHING && rows_look_planned(process, d->find_planned, side)))
        return VMM_SUCCESS;
    if (!base || host_window_holds(&process->window, base, 1))
        return refuse_side(process, d, base, "is an address where nothing is mapped");
    if (d->type == VMM_MEMORYTYPE_DEVICE)
        return refuse_side(process, d, base, "is host memory that is not registered: declare it as MEMORYTYPE_HOST");
    return VMM_SUCCESS;
}

/* For mapped memory and that of pools the driver does not compare x with the pitch, as recorded. */
static vmm_result check_pitch(const struct sim_process *process, const struct rows_extent *extent, const struct declared *d,
                              const struct rows_side *side)
{
    bool x_counts = side->host || (side->left != UINT64_MAX && !side->pooled);
    if (!d->pitch || (extent->width <= d->pitch && (!x_counts || d->x <= d->pitch - extent->width)))
        return VMM_SUCCESS;
    vmm_result result = refuse(process, VMM_RULE_ROWS_PITCH, d->argument, d->pitch, extent->width);
    vmm_detail_note("%s: a row of %llu bytes from %llu on is longer than the pitch, %llu", d->argument,
                    (unsigned long long)extent->width, (unsigned long long)d->x, (unsigned long long)d->pitch);
    return result;
}

static vmm_result check_rows(const struct sim_process *process, const struct rows_extent *extent, const struct declared *d,
                             const struct rows_side *side)
{
    bool y_counts = side->host || (side->left != UINT64_MAX && !side->pooled);
    if (!d->rows || (extent->height <= d->rows && (!y_counts || d->y <= d->rows - extent->height)))
        return VMM_SUCCESS;
    vmm_result result = refuse(process, VMM_RULE_BOX_HEIGHT, d->argument, d->rows, extent->height);
    vmm_detail_note("%s: %llu rows from %llu on are more than the height of a layer, %llu", d->argument,
                    (unsigned long long)extent->height, (unsigned long long)d->y, (unsigned long long)d->rows);
    return result;
}

/* From the start of the first row to the end of the last one, modulo 2^64, as in the driver. */
static uint64_t rows_span(const struct rows_extent *extent, uint64_t pitch, uint64_t layer)
{
    return (extent->depth - 1) * layer + (extent->height - 1) * pitch + extent->width;
}

/* A driver does not check where the rows in a pool's memory begin, and copies whatever the pool has there; refused here. */
static vmm_result check_end(const struct sim_process *process, const struct rows_extent *extent, const struct rows_side *side)
{
    uint64_t end = side->start - side->base + rows_span(extent, side->pitch, side->layer);
    if (side->left == UINT64_MAX || end <= side->left)
        return VMM_SUCCESS;
    vmm_object nearest = sim_object_nearest(process, side->base);
    vmm_result result = vmm_detail_refuse(VMM_RULE_ROWS_END, end, side->left, &nearest);
    vmm_detail_argument(side->argument);
    vmm_detail_note("%s: rows end 0x%llx bytes after 0x%llx, but the memory ends after 0x%llx", side->argument,
                    (unsigned long long)end,
                    (unsigned long long)side->base, (unsigned long long)side->left);
    return result;
}

/* ---- a side that is an array ---- */

static vmm_result refuse_bounds(const struct declared *d, const struct sim_array *array, uint64_t value, uint64_t limit,
                                const char *what)
{
    vmm_object object = sim_object_array(array);
    vmm_result result = vmm_detail_refuse(VMM_RULE_COPY_ARRAY_BOUNDS, value, limit, &object);
    vmm_detail_argument(d->argument);
    vmm_detail_note("%s: %s", d->argument, what);
    return result;
}

bool rows_array_of(const struct sim_process *process, vmm_array value, struct rows_array *rows)
{
    struct sim_array *array;
    if (sim_array_find(process, (uint64_t)(uintptr_t)value, &array) != SLOT_LIVE || array->mipmapped)
        return false;
    const struct array_layout *layout = &array->whole->layout;
    const struct array_level *level = &layout->level[array->level];
    *rows = (struct rows_array){array->start, level->row, level->rows, (uint64_t)layout->layers * level->extent[2], layout->block};
    return true;
}

static vmm_result check_bounds(const struct rows_extent *extent, const struct declared *d, const struct sim_array *array,
                               const struct rows_array *has)
{
    const struct array_block *block = &has->block;
    if (d->lod)
        return refuse_bounds(d, array, d->lod, 0, "a copy names a level by the level's array, and its LOD must be 0");
    if (block->width > 1 && (d->x % block->bytes || extent->width % block->bytes))
        return refuse_bounds(d, array, d->x % block->bytes ? d->x : extent->width, block->bytes,
                             "compressed blocks can only be copied as a whole");
    if (d->x >= has->row || extent->width > has->row - d->x)
        return refuse_bounds(d, array, d->x, has->row, "the copy leaves the array's rows, in bytes");
    if (d->y >= has->rows || extent->height > has->rows - d->y)
        return refuse_bounds(d, array, d->y, has->rows, "the copy leaves the array's rows, of which there are fewer");
    if (d->z >= has->layers || extent->depth > has->layers - d->z)
        return refuse_bounds(d, array, d->z, has->layers, "the copy leaves the array's layers");
    return VMM_SUCCESS;
}

static vmm_result resolve_array(const struct sim_process *process, const struct rows_extent *extent, const struct declared *d,
                                struct rows_side *side)
{
    const uint64_t value = (uint64_t)(uintptr_t)d->array;
    struct sim_array *array;
    struct rows_array has;
    sim_array_find(process, value, &array);
    if (!rows_array_of(process, d->array, &has)) {
        vmm_object object = array ? sim_object_array(array) : (vmm_object){0};
        vmm_result result = vmm_detail_refuse(VMM_RULE_COPY_ARRAY, value, 0, &object);
        vmm_detail_argument(d->argument);
        if (array && array->mipmapped)
            vmm_detail_note("%s: a copy takes a single level, as returned by cuMipmappedArrayGetLevel", d->argument);
        return result;
    }
    vmm_result result = check_bounds(extent, d, array, &has);
    if (result == VMM_SUCCESS)
        *side = (struct rows_side){.argument = d->argument, .array = true, .block = has.block, .base = has.start,
                                   .start = has.start + (d->z * has.rows + d->y) * has.row + d->x,
                                   .given = has.row, .pitch = has.row, .given_rows = has.rows, .layer = has.rows * has.row,
                                   .left = UINT64_MAX};
    return result;
}

static vmm_result resolve(const struct sim_process *process, const struct rows_extent *extent, const struct declared *d,
                          struct rows_side *side)
{
    if (d->type == VMM_MEMORYTYPE_ARRAY)
        return resolve_array(process, extent, d, side);
    uint64_t base = d->type == VMM_MEMORYTYPE_HOST ? (uint64_t)(uintptr_t)d->host : d->device;
    uint64_t pitch = d->pitch ? d->pitch : d->x + extent->width, rows = d->rows ? d->rows : d->y + extent->height;
    *side = (struct rows_side){.argument = d->argument, .base = base, .start = base + (d->z * rows + d->y) * pitch + d->x,
                               .given = d->pitch, .pitch = pitch, .given_rows = d->rows, .layer = rows * pitch};
    vmm_result result = check_type(process, d, base, side);
    if (result == VMM_SUCCESS)
        result = check_pitch(process, extent, d, side);
    if (result == VMM_SUCCESS)
        result = check_rows(process, extent, d, side);
    return result == VMM_SUCCESS ? check_end(process, extent, side) : result;
}

/* ---- the checked and the accessed memory ---- */

/* Checks size bytes from a side's base on, as any copy or fill is checked, for work of that device. */
static vmm_result rows_check_range(const struct sim_process *process, int device, const struct rows_side *side, uint64_t size,
                            enum translate_use use)
{
    if (side->planned && size <= side->left)
        return VMM_SUCCESS;
    vmm_result result = translate_check_pool(process, side->base, size, side->argument);
    return result == VMM_SUCCESS ? translate_check(process, device, side->base, size, use, side->argument) : result;
}

vmm_result rows_check_span(const struct sim_process *process, int device, const struct rows_side *side,
                           const struct rows_extent *extent, enum translate_use use)
{
    uint64_t size = rows_span(extent, side->given, side->given_rows * side->given);
    if (side->array || (side->host && use != TRANSLATE_FILL) || !size)
        return VMM_SUCCESS;
    vmm_result result = rows_check_range(process, device, side, size, use);
    if (result != VMM_SUCCESS)
        vmm_detail_note("%llu rows of %llu bytes, %llu apart, are checked as the %llu bytes from 0x%llx on",
                        (unsigned long long)extent->height * extent->depth, (unsigned long long)extent->width,
                        (unsigned long long)side->given, (unsigned long long)size, (unsigned long long)side->base);
    return result;
}

/* Does the device have this access to the whole range? Leaves the thread's detail unchanged. */
static bool may(const struct sim_process *process, int device, uint64_t address, uint64_t size, enum translate_use use)
{
    const vmm_detail before = *vmm_last_detail();
    bool good = size <= UINT64_MAX - address && translate_check(process, device, address, size, use, "") == VMM_SUCCESS;
    *vmm_detail_here() = before;
    return good;
}

/* Finds the first run of the range without access; its start if only the range as a whole is refused. */
static bool unreachable(const struct sim_process *process, int device, uint64_t address, uint64_t size, enum translate_use use,
                        uint64_t *first)
{
    struct translate_run run;
    *first = address;
    if (may(process, device, address, size, use))
        return false;
    for (uint64_t at = address, left = size; left; at += run.length, left -= run.length)
        if (!translate_run(process, at, left, &run) || !may(process, device, at, run.length, use)) {
            *first = at;
            break;
        }
    return true;
}

enum { ROWS_SEEN = 4096 };

/* The same for rows that do not wrap past the end of the address space. */
static bool bad_in_order(const struct sim_process *process, int device, const struct rows_side *side, uint64_t width,
                         uint64_t height, enum translate_use use, uint64_t *row)
{
    const uint64_t end = side->start + (height - 1) * side->pitch + width;
    uint64_t first;
    for (uint64_t next = 0;; next = *row + 1) { /* the first finding lies in a row or before the next one */
        uint64_t at = side->start + next * side->pitch;
        if (!unreachable(process, device, at, end - at, use, &first))
            return false;
        *row = (first - side->start) / side->pitch;
        if ((first - side->start) % side->pitch < width)
            return true;
    }
}

/* The same for rows that wrap; if there are many, they cannot all be mapped, and the last one stands for them. */
static bool bad_among(const struct sim_process *process, int device, const struct rows_side *side, uint64_t width,
                      uint64_t height, enum translate_use use, uint64_t *row)
{
    uint64_t first;
    for (*row = 0; *row < height && *row < ROWS_SEEN; ++*row)
        if (unreachable(process, device, side->start + *row * side->pitch, width, use, &first))
            return true;
    *row = height - 1;
    return height > ROWS_SEEN;
}

bool rows_bad_row(const struct sim_process *process, int device, const struct rows_side *side, uint64_t width, uint64_t height,
                  enum translate_use use, uint64_t *row)
{
    bool wraps = width > UINT64_MAX - side->start || height - 1 > (UINT64_MAX - side->start - width) / side->pitch;
    return (wraps ? bad_among : bad_in_order)(process, device, side, width, height, use, row);
}

vmm_result rows_refuse_row(const struct rows_side *side, uint64_t row)
{
    uint64_t at = side->start + row * side->pitch;
    vmm_result result = vmm_detail_refuse(VMM_RULE_ROWS_END, at, side->left, NULL);
    vmm_detail_argument(side->argument);
    vmm_detail_note("%s: row %llu, at 0x%llx, leaves the accessible memory; the driver starts such a call, which then faults",
                    side->argument, (unsigned long long)row, (unsigned long long)at);
    return result;
}

vmm_result rows_check_fill(const struct sim_process *process, int device, const vmm_memset_node_params *fill, rows_find_planned find)
{
    const uint64_t bytes = fill->width * fill->element_size, pitch = fill->height > 1 ? fill->pitch : bytes;
    const uint64_t size = (fill->height - 1) * pitch + bytes;
    struct rows_side side = {.argument = "dstDevice", .base = fill->dst, .start = fill->dst, .given = pitch, .pitch = pitch};
    if (rows_look_up(process, fill->dst, &side) == ROWS_NOTHING)
        rows_look_planned(process, find, &side);
    if (fill->height == 1 && !side.host && !side.planned) /* one range, whose end is checked as a plain fill's */
        side.left = UINT64_MAX;
    if (side.left != UINT64_MAX && size > side.left)
        return rows_refuse_end(&side);
    return side.host && side.left != UINT64_MAX ? VMM_SUCCESS : rows_check_range(process, device, &side, size, TRANSLATE_FILL);
}

vmm_result rows_refuse_end(const struct rows_side *side)
{
    vmm_result result = vmm_detail_refuse(VMM_RULE_ROWS_END, side->base, side->left, NULL);
    vmm_detail_argument(side->argument);
    vmm_detail_note("rows from 0x%llx on leave their memory, which ends 0x%llx bytes later", (unsigned long long)side->base,
                    (unsigned long long)side->left);
    return result;
}

/* The last layer is checked first: if there are more than fit in memory, it stands for all. */
bool rows_bad_layer(const struct sim_process *process, int device, const struct rows_side *side, const struct rows_extent *extent,
                    enum translate_use use, uint64_t *layer, uint64_t *row)
{
    if (side->host || side->array)
        return false;
    struct rows_side one = *side;
    *layer = extent->depth - 1;
    one.start = side->start + *layer * side->layer;
    bool bad = rows_bad_row(process, device, &one, extent->width, extent->height, use, row);
    if (bad && extent->depth > ROWS_SEEN)
        return true;
    for (uint64_t i = 0; i < extent->depth - 1; i++) {
        uint64_t first;
        one.start = side->start + i * side->layer;
        if (rows_bad_row(process, device, &one, extent->width, extent->height, use, &first)) {
            *layer = i;
            *row = first;
            return true;
        }
    }
    return bad;
}

/* ---- both sides ---- */

/* Measured on two H200: compressed blocks can be copied to and from elements of the same size. */
static vmm_result check_blocks(const struct rows_copy *copy)
{
    const struct array_block *from = &copy->from.block, *to = &copy->to.block;
    if (!copy->from.array || !copy->to.array || from->bytes == to->bytes || (from->width == 1 && to->width == 1))
        return VMM_SUCCESS;
    vmm_result result = vmm_detail_refuse(VMM_RULE_COPY_ARRAY_BOUNDS, to->bytes, from->bytes, NULL);
    vmm_detail_argument("dst");
    vmm_detail_note("an element or block has %u bytes at the source and %u at the destination, and one of the arrays is compressed", from->bytes,
                    to->bytes);
    return result;
}

static vmm_result copy_of(const struct sim_process *process, const vmm_memcpy3d *c, rows_find_planned find, struct rows_copy *copy)
{
    const struct declared from = {"src", c->src_memory_type, c->src_device, c->src_host, c->src_x_in_bytes,
                                  c->src_y, c->src_z, c->src_pitch, c->src_height, find, c->src_array, c->src_lod};
    const struct declared to = {"dst", c->dst_memory_type, c->dst_device, c->dst_host, c->dst_x_in_bytes,
                                c->dst_y, c->dst_z, c->dst_pitch, c->dst_height, find, c->dst_array, c->dst_lod};
    struct rows_pinned range = {.read_only = false};
    *copy = (struct rows_copy){.extent = {c->width_in_bytes, c->height, c->depth}};
    vmm_result result = resolve(process, &copy->extent, &from, &copy->from);
    if (result == VMM_SUCCESS)
        result = resolve(process, &copy->extent, &to, &copy->to);
    if (result == VMM_SUCCESS)
        result = check_blocks(copy);
    if (result == VMM_SUCCESS && pinned_at(copy->to.base, &range) && range.read_only)
        result = refuse(process, VMM_RULE_PINNED_READ_ONLY, "dst", copy->to.base, 0);
    copy->write = copy->from.host ? TRANSLATE_FROM_HOST : TRANSLATE_WRITE;
    copy->read = copy->to.host ? TRANSLATE_TO_HOST : TRANSLATE_READ;
    return result;
}

vmm_result rows_copy_of(const struct sim_process *process, const vmm_memcpy3d *asked, struct rows_copy *copy)
{
    return copy_of(process, asked, NULL, copy);
}

/* Does the range lie in one mapping, or in one allocation of a pool, whose end was already checked? */
static bool in_one_piece(const struct sim_process *process, uint64_t base, uint64_t size)
{
    const struct sim_mapping *mapping = sim_mapping_at(process, base);
    const struct sim_allocation *allocation = sim_allocation_at(process, base);
    if (mapping)
        return size <= mapping->size - (base - mapping->start);
    return allocation && allocation->pooled;
}

vmm_result rows_check_copy(const struct sim_process *process, int device, bool open, const vmm_memcpy3d *asked,
                           rows_find_planned find, unsigned *programs)
{
    struct rows_copy copy;
    vmm_result result = copy_of(process, asked, find, &copy);
    const struct rows_side *sides[] = {&copy.to, &copy.from};
    *programs = (copy.from.outside ? ROWS_FROM_PROGRAM : 0u) | (copy.to.outside ? ROWS_TO_PROGRAM : 0u);
    for (int i = 0; i < 2 && result == VMM_SUCCESS; i++) {
        const struct rows_side *side = sides[i];
        const uint64_t span = rows_span(&copy.extent, side->given, side->given_rows * side->given);
        const uint64_t used = side->start - side->base + rows_span(&copy.extent, side->pitch, side->layer);
        if (!side->host && !side->array && !(open && in_one_piece(process, side->base, used > span ? used : span)))
            result = rows_check_range(process, device, side, span, i ? copy.read : copy.write);
    }
    return result;
}
