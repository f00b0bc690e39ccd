/* SPDX-License-Identifier: Apache-2.0 */
#include "transfer.h"

#include <string.h>

#include "translate.h"

/* Allocates storage for every byte of the range, so that moving bytes there cannot fail halfway: block_data_touch or
 * block_data_reserve. */
static bool make_room_by(bool (*make)(struct block_data *bytes, uint64_t offset, uint64_t length), const struct sim_process *process,
                         uint64_t address, uint64_t size)
{
    struct translate_run run;
    for (; size; address += run.length, size -= run.length)
        if (!translate_run(process, address, size, &run) ||
            (!translate_is_nothing(&run) && !make(&run.block->bytes, run.offset, run.length)))
            return false;
    return true;
}

static bool touch(const struct sim_process *process, uint64_t address, uint64_t size)
{
    return make_room_by(block_data_touch, process, address, size);
}

static bool is_zero(const unsigned char *bytes, uint64_t size)
{
    return !bytes[0] && memcmp(bytes, bytes + 1, size - 1) == 0;
}

/* The longest contiguous run of bytes at address, at most *length, across mappings; NULL if it was never written and so is
 * zero. */
static unsigned char *together(const struct sim_process *process, uint64_t address, uint64_t *length)
{
    unsigned char *first = NULL;
    struct translate_run run;
    uint64_t done = 0;
    while (done < *length && translate_run(process, address + done, *length - done, &run)) {
        unsigned char *at = block_data_run(&run.block->bytes, run.offset, &run.length);
        if (!done)
            first = at;
        else if (first ? at != first + done : at != NULL)
            break;
        done += run.length;
    }
    *length = done;
    return first;
}

/* Allocates storage for what store is about to write. Zeros over bytes that were never written need none. */
static bool touch_for_store(const struct sim_process *process, uint64_t address, const unsigned char *from, uint64_t size)
{
    uint64_t length;
    if (size <= BLOCK_DATA_CHUNK)
        return touch(process, address, size);
    for (; size; address += length, from += length, size -= length) {
        length = size < BLOCK_DATA_CHUNK ? size : BLOCK_DATA_CHUNK;
        bool there = together(process, address, &length) != NULL;
        if (!there && !is_zero(from, length) && !touch(process, address, length))
            return false;
    }
    return true;
}

/* Copies from the host. Skips runs that were never written: touch_for_store left them so only where the source is zero, too. */
static void store(const struct sim_process *process, uint64_t address, const unsigned char *from, uint64_t size)
{
    uint64_t length;
    for (; size; address += length, from += length, size -= length) {
        length = size;
        unsigned char *to = together(process, address, &length);
        if (to)
            memcpy(to, from, length);
    }
}

static void load(const struct sim_process *process, unsigned char *to, uint64_t address, uint64_t size)
{
    uint64_t length;
    for (; size; address += length, to += length, size -= length) {
        length = size;
        const unsigned char *from = together(process, address, &length);
        if (from)
            memcpy(to, from, length);
        else
            memset(to, 0, length);
    }
}

/* The length of a contiguous run that ends at end, at most size; it may be shorter than the longest. */
static uint64_t together_before(const struct sim_process *process, uint64_t end, uint64_t size)
{
    uint64_t step = size < BLOCK_DATA_CHUNK ? size : BLOCK_DATA_CHUNK, length = step;
    while (together(process, end - step, &length), length < step)
        length = step -= length;
    return step;
}

/* Handles one run of a copy: at most *length bytes; stores in *length how many of them are contiguous on both sides. */
typedef bool run_action(const struct sim_process *process, uint64_t dst, uint64_t src, uint64_t *length);

/* Walks a copy run by run: backwards when the destination lies inside the source, so that every byte is read before it is
 * written. */
static bool walk(const struct sim_process *process, uint64_t dst, uint64_t src, uint64_t size, run_action *action)
{
    bool backwards = dst - src < size; /* below the source it is 2^64 less the distance */
    while (size) {
        uint64_t length = size, at = 0;
        if (backwards) {
            length = together_before(process, src + size, size);
            length = together_before(process, dst + size, length);
            at = size - length;
        }
        if (!action(process, dst + at, src + at, &length))
            return false;
        if (!backwards) {
            dst += length;
            src += length;
        }
        size -= length;
    }
    return true;
}

/* Can the run be written without more storage? Also true when source and destination were never written: both are zero. */
static bool has_room(const struct sim_process *process, uint64_t dst, uint64_t src, uint64_t *length)
{
    bool from = together(process, src, length) != NULL;
    return together(process, dst, length) || !from;
}

static bool make_run_room(const struct sim_process *process, uint64_t dst, uint64_t src, uint64_t *length)
{
    return has_room(process, dst, src, length) || touch(process, dst, *length);
}

/* Allocates storage for what a copy is about to write, in copy order: a run that gets storage was already read. With aliases
 * it may be read again under another address; then the whole destination gets storage. */
static bool touch_for_move(const struct sim_process *process, uint64_t dst, uint64_t src, uint64_t size)
{
    if (size <= BLOCK_DATA_CHUNK)
        return touch(process, dst, size);
    return walk(process, dst, src, size, make_run_room) &&
           (!process->aliased || walk(process, dst, src, size, has_room) || touch(process, dst, size));
}

/* Copies one run. Skips a destination that was never written: it got no storage because the source is zero, too. */
static bool move_run(const struct sim_process *process, uint64_t dst, uint64_t src, uint64_t *length)
{
    const unsigned char *from = together(process, src, length);
    unsigned char *to = together(process, dst, length);
    if (to && from)
        memmove(to, from, *length);
    else if (to)
        memset(to, 0, *length);
    return true;
}

static void fill(const struct sim_process *process, const struct transfer *t)
{
    struct translate_run run;
    uint64_t dst = t->dst, left = t->size;
    for (; left && translate_run(process, dst, left, &run); dst += run.length, left -= run.length)
        block_data_fill(&run.block->bytes, run.offset, run.length, t->from, t->width);
}

static bool make_room(const struct sim_process *process, const struct transfer *t)
{
    switch (t->direction) { /* LCOV_EXCL_BR_LINE: all directions are listed */
    case FROM_HOST: return touch_for_store(process, t->dst, t->from, t->size);
    case BETWEEN: return touch_for_move(process, t->dst, t->src, t->size);
    case FILL: return is_zero(t->from, t->width) || make_room_by(block_data_reserve, process, t->dst, t->size);
    case TO_HOST: break;
    }
    return true;
}

bool transfer_make(const struct sim_process *process, const struct transfer *t)
{
    if (!t->size || !process->machine->bytes)
        return true;
    if (!make_room(process, t))
        return false;
    switch (t->direction) { /* LCOV_EXCL_BR_LINE: all directions are listed */
    case FROM_HOST: store(process, t->dst, t->from, t->size); break;
    case TO_HOST: load(process, t->to, t->src, t->size); break;
    case BETWEEN: walk(process, t->dst, t->src, t->size, move_run); break;
    case FILL: fill(process, t); break;
    }
    return true;
}
