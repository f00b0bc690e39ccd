/* SPDX-License-Identifier: Apache-2.0 */
#include "spans.h"

#include <string.h>

#include "heap.h"

/* ---- finding ---- */

/* If any range holds the number, is it in this block? */
static bool covers(const struct spans *spans, size_t block, uint64_t number)
{
    return spans->first[block] <= number && (block + 1 == spans->blocks || number < spans->first[block + 1]);
}

/* The last block that begins at or before the number; the first block if none does. There is one. */
static size_t block_of(struct spans *spans, uint64_t number)
{
    size_t low = 0, high = spans->blocks;
    if (spans->last < spans->blocks && covers(spans, spans->last, number))
        return spans->last;
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        if (spans->first[middle] <= number)
            low = middle;
        else
            high = middle;
    }
    return spans->last = low;
}

/* The index of the first range in the block that ends at or after the number; the block's count if none does. */
static size_t index_in(const struct spans_block *block, uint64_t number)
{
    size_t low = 0, high = block->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (span_last(&block->span[middle]) < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

struct span *spans_from(struct spans *spans, uint64_t number)
{
    if (!spans->blocks)
        return NULL;
    size_t at = block_of(spans, number), index = index_in(spans->block[at], number);
    if (index < spans->block[at]->count)
        return &spans->block[at]->span[index];
    return at + 1 < spans->blocks ? &spans->block[at + 1]->span[0] : NULL;
}

struct span *spans_at(struct spans *spans, uint64_t number)
{
    struct span *span = spans_from(spans, number);
    return span && span->start <= number ? span : NULL;
}

/* ---- blocks ---- */

/* Room for two more blocks: a range that is split may need one, and the new range between the halves another. */
static bool prepare(struct spans *spans)
{
    while (spans->spares < SPANS_SPARE) {
        struct spans_block *block = heap.malloc(sizeof *block);
        if (!block)
            return false;
        spans->spare[spans->spares++] = block;
    }
    if (spans->room >= spans->blocks + SPANS_SPARE)
        return true;
    const size_t room = 2 * spans->room + 8;
    struct spans_block **block = heap.realloc(spans->block, room * sizeof *block);
    if (!block)
        return false;
    spans->block = block;
    uint64_t *first = heap.realloc(spans->first, room * sizeof *first);
    if (!first)
        return false;
    spans->first = first;
    spans->room = room;
    return true;
}

/* Inserts an empty block at that index; the blocks from there on move up. */
static struct spans_block *add_block(struct spans *spans, size_t at)
{
    struct spans_block *block = spans->spare[--spans->spares];
    memmove(spans->block + at + 1, spans->block + at, (spans->blocks - at) * sizeof *spans->block);
    memmove(spans->first + at + 1, spans->first + at, (spans->blocks - at) * sizeof *spans->first);
    block->count = 0;
    spans->block[at] = block;
    spans->blocks++;
    return block;
}

static void remove_block(struct spans *spans, size_t at)
{
    struct spans_block *block = spans->block[at];
    spans->blocks--;
    memmove(spans->block + at, spans->block + at + 1, (spans->blocks - at) * sizeof *spans->block);
    memmove(spans->first + at, spans->first + at + 1, (spans->blocks - at) * sizeof *spans->first);
    if (spans->spares < SPANS_SPARE)
        spans->spare[spans->spares++] = block;
    else
        heap.free(block);
}

/* Moves the ranges of a block from `index` on to the end of another block. */
static void move_part(struct spans_block *from, size_t index, struct spans_block *to)
{
    memcpy(to->span + to->count, from->span + index, (from->count - index) * sizeof *from->span);
    to->count += from->count - index;
    from->count = index;
}

/* Two blocks that fill half of one become one, so that removals leave no run of nearly empty blocks. */
static void join(struct spans *spans, size_t at)
{
    if (at + 1 >= spans->blocks || spans->block[at]->count + spans->block[at + 1]->count > SPANS_BLOCK / 2)
        return;
    move_part(spans->block[at + 1], 0, spans->block[at]);
    remove_block(spans, at + 1);
}

static void remove_at(struct spans *spans, size_t at, size_t index)
{
    struct spans_block *block = spans->block[at];
    block->count--;
    memmove(block->span + index, block->span + index + 1, (block->count - index) * sizeof *block->span);
    spans->count--;
    if (!block->count) {
        remove_block(spans, at);
        return;
    }
    spans->first[at] = block->span[0].start;
    join(spans, at);
    if (at)
        join(spans, at - 1);
}

/* Stores a range where nothing is. Ranges that arrive in order fill one block after the other; an insertion into the middle of
 * a full block splits it in half. */
static void insert(struct spans *spans, struct span span)
{
    size_t at = spans->blocks ? block_of(spans, span.start) : 0;
    struct spans_block *block = spans->blocks ? spans->block[at] : add_block(spans, 0);
    size_t index = index_in(block, span.start);
    if (block->count == SPANS_BLOCK) {
        struct spans_block *next = add_block(spans, at + 1);
        if (index < SPANS_BLOCK || at + 2 < spans->blocks)
            move_part(block, SPANS_BLOCK / 2, next);
        if (next->count)
            spans->first[at + 1] = next->span[0].start;
        if (index > block->count || (index == block->count && !next->count)) {
            index -= block->count;
            block = next;
            at++;
        }
    }
    memmove(block->span + index + 1, block->span + index, (block->count - index) * sizeof *block->span);
    block->span[index] = span;
    block->count++;
    spans->first[at] = block->span[0].start;
    spans->last = at;
    spans->count++;
}

void spans_drop(struct spans *spans, struct span *span)
{
    size_t at = block_of(spans, span->start);
    remove_at(spans, at, (size_t)(span - spans->block[at]->span));
}

/* ---- changes ---- */

/* Removes [start, last] from the ranges. */
static void cut(struct spans *spans, uint64_t start, uint64_t last)
{
    struct span *span;
    while ((span = spans_from(spans, start)) != NULL && span->start <= last) {
        const struct span old = *span;
        if (old.start < start)
            span->size = start - old.start;
        else
            spans_drop(spans, span);
        if (span_last(&old) > last)
            insert(spans, (struct span){last + 1, span_last(&old) - last, old.value});
    }
}

bool spans_put(struct spans *spans, uint64_t start, uint64_t size, uint64_t value)
{
    const uint64_t last = size - 1 > UINT64_MAX - start ? UINT64_MAX : start + (size - 1);
    if (!prepare(spans))
        return false;
    cut(spans, start, last);
    insert(spans, (struct span){start, last - start + 1, value});
    return true;
}

void spans_clear(struct spans *spans)
{
    for (size_t i = 0; i < spans->blocks; i++)
        heap.free(spans->block[i]);
    while (spans->spares)
        heap.free(spans->spare[--spans->spares]);
    heap.free(spans->block);
    heap.free(spans->first);
    *spans = (struct spans){0};
}

const char *spans_check(const struct spans *spans)
{
    size_t count = 0;
    uint64_t before = 0; /* the last number of the range before */
    for (size_t i = 0; i < spans->blocks; i++) {
        const struct spans_block *block = spans->block[i];
        if (!block->count || block->count > SPANS_BLOCK)
            return "a block is empty, or holds more than it can";
        if (spans->first[i] != block->span[0].start)
            return "first is not the first number of its block";
        for (size_t j = 0; j < block->count; j++, count++) {
            if (block->span[j].size - 1 > UINT64_MAX - block->span[j].start)
                return "a range passes the greatest number";
            if (count && block->span[j].start <= before)
                return "a range overlaps the one before it, or precedes it";
            before = span_last(&block->span[j]);
        }
    }
    return count == spans->count ? NULL : "count is not the number of ranges";
}
