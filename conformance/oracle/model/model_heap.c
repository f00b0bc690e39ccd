/* SPDX-License-Identifier: Apache-2.0 */
/* model_heap.c - see model_heap.h. */
#include "model_heap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model_parts.h"

enum { UNIT = 512 };
#define NONE SIZE_MAX

static uint64_t slots_for(uint64_t bytes, uint64_t slot)
{
    return bytes / slot + (bytes % slot != 0);
}

uint64_t model_heap_range(uint64_t limit, uint64_t slot, uint64_t device)
{
    return limit ? 2 * slots_for(limit, slot) : slots_for(2 * device, slot);
}

void model_heap_open(struct model_heap *heap, uint64_t limit, uint64_t slot, uint64_t slots, struct model_streams *streams)
{
    memset(heap, 0, sizeof *heap);
    heap->streams = streams;
    heap->slot = slot;
    heap->limit = limit ? slots_for(limit, slot) : UINT64_MAX;
    heap->slots = slots;
    heap->backed = calloc((size_t)heap->slots + 1, sizeof *heap->backed);
    heap->turn = calloc((size_t)heap->slots + 1, sizeof *heap->turn);
    if (!heap->backed || !heap->turn) {
        fputs("model: the host has no memory left\n", stderr);
        exit(255);
    }
    heap->reuse = MODEL_FOLLOW | MODEL_OPPORTUNISTIC | MODEL_INTERNAL;
    heap->main.piece = model_room(NULL, &heap->main.room, 0, sizeof *heap->main.piece);
    heap->main.piece[heap->main.count++] = (struct model_piece){.size = heap->slots * slot};
}

void model_heap_close(struct model_heap *heap)
{
    free(heap->backed);
    free(heap->turn);
    free(heap->main.piece);
    free(heap->pending.piece);
    free(heap->blocks.piece);
    memset(heap, 0, sizeof *heap);
}

/* ---- lists ---- */

static void append(struct model_list *list, struct model_piece piece)
{
    list->piece = model_room(list->piece, &list->room, list->count, sizeof *list->piece);
    list->piece[list->count++] = piece;
}

static struct model_piece pull(struct model_list *list, size_t i)
{
    struct model_piece piece = list->piece[i];
    list->count--;
    memmove(&list->piece[i], &list->piece[i + 1], (list->count - i) * sizeof piece);
    return piece;
}

static bool neighbours(const struct model_piece *a, const struct model_piece *b)
{
    return a->stream == b->stream && (a->start + a->size == b->start || b->start + b->size == a->start);
}

/* Appends a piece as one with its free neighbours of the same stream. Returns where it starts. */
static uint64_t join(struct model_list *list, struct model_piece piece)
{
    for (size_t i = 0; i < list->count;) {
        if (!neighbours(&list->piece[i], &piece)) {
            i++;
            continue;
        }
        struct model_piece other = pull(list, i);
        piece.start = other.start < piece.start ? other.start : piece.start;
        piece.size += other.size;
        i = 0;
    }
    append(list, piece);
    return piece.start;
}

static void see_stream(struct model_streams *streams, uint64_t stream)
{
    for (size_t i = 0; i < streams->count; i++)
        if (streams->stream[i] == stream)
            return;
    streams->stream = model_room(streams->stream, &streams->room, streams->count, sizeof *streams->stream);
    streams->stream[streams->count++] = stream;
}

/* ---- slots ---- */

static bool all_backed(const struct model_heap *heap, const struct model_piece *piece)
{
    for (uint64_t s = piece->start / heap->slot; s <= (piece->start + piece->size - 1) / heap->slot; s++)
        if (!heap->backed[s])
            return false;
    return true;
}

/* Idle slots that are not in [first, last]. */
static uint64_t idle_beside(const struct model_heap *heap, uint64_t first, uint64_t last)
{
    uint64_t idle = 0;
    for (size_t i = 0; heap->reserved && i < heap->main.count; i++) {
        const struct model_piece *p = &heap->main.piece[i];
        for (uint64_t s = slots_for(p->start, heap->slot); s < (p->start + p->size) / heap->slot; s++)
            idle += heap->backed[s] && (s < first || s > last);
    }
    return idle;
}

/* The next idle slot to remove: the highest one of the oldest piece of main with any in [start, end); UINT64_MAX: none. */
static uint64_t next_idle(const struct model_heap *heap, uint64_t start, uint64_t end)
{
    for (size_t i = 0; i < heap->main.count; i++) {
        const struct model_piece *p = &heap->main.piece[i];
        uint64_t from = p->start > start ? p->start : start, to = p->start + p->size < end ? p->start + p->size : end;
        for (uint64_t slot = to / heap->slot; slot-- > 0 && slot * heap->slot >= from;)
            if (heap->backed[slot])
                return slot;
    }
    return UINT64_MAX;
}

/* Gives idle slots of [start, end) back while more than keep bytes are backed. */
static void release(struct model_heap *heap, uint64_t start, uint64_t end, uint64_t keep)
{
    uint64_t slot;
    for (uint64_t idle = idle_beside(heap, UINT64_MAX, UINT64_MAX); idle && heap->reserved * heap->slot > keep; idle--) {
        if ((slot = next_idle(heap, start, end)) == UINT64_MAX)
            return;
        heap->backed[slot] = false;
        heap->reserved--;
    }
}

static void back(struct model_heap *heap, uint64_t slot)
{
    heap->backed[slot] = true;
    heap->turn[slot] = ++heap->turns;
    heap->reserved++;
    if (heap->reserved * heap->slot > heap->reserved_high)
        heap->reserved_high = heap->reserved * heap->slot;
}

/* Backs a piece: first with the memory of idle slots, then with new memory. False when both end before it is whole; what was backed
 * stays. */
static bool commit(struct model_heap *heap, const struct model_piece *piece, uint64_t fresh)
{
    uint64_t last = (piece->start + piece->size - 1) / heap->slot, idle = idle_beside(heap, UINT64_MAX, UINT64_MAX);
    for (uint64_t s = piece->start / heap->slot; s <= last; s++) {
        if (heap->backed[s])
            continue;
        if (idle) {
            heap->backed[next_idle(heap, 0, heap->slots * heap->slot)] = false;
            heap->reserved--;
            idle--;
        } else if (fresh-- == 0)
            return false;
        back(heap, s);
    }
    return true;
}

/* ---- taking ---- */

typedef bool (*piece_test)(const struct model_heap *heap, const struct model_piece *piece, const struct model_order *order, uint64_t in);

static bool any(const struct model_heap *heap, const struct model_piece *piece, const struct model_order *order, uint64_t in)
{
    (void)heap, (void)piece, (void)order, (void)in;
    return true;
}

static bool backed(const struct model_heap *heap, const struct model_piece *piece, const struct model_order *order, uint64_t in)
{
    (void)order, (void)in;
    return all_backed(heap, piece);
}

static bool ordered(const struct model_heap *heap, const struct model_piece *piece, const struct model_order *order, uint64_t in)
{
    (void)heap;
    return order->ordered(order->user, in, piece->stream, piece->mark);
}

static bool complete(const struct model_heap *heap, const struct model_piece *piece, const struct model_order *order, uint64_t in)
{
    (void)heap, (void)in;
    return order->complete(order->user, piece->stream, piece->mark);
}

/* A request, and what decides it. */
struct want {
    uint64_t size, stream;
    const struct model_order *order;
};

/* The smallest piece that is large enough and passes; of equal ones the oldest. */
static size_t best(const struct model_heap *heap, const struct model_list *list, uint64_t of, const struct want *want, piece_test test)
{
    size_t found = NONE;
    for (size_t i = 0; i < list->count; i++) {
        const struct model_piece *p = &list->piece[i];
        if (p->stream == of && p->size >= want->size && (found == NONE || p->size < list->piece[found].size) &&
            test(heap, p, want->order, want->stream))
            found = i;
    }
    return found;
}

/* The front of a piece; the rest is the newest of its list. */
static struct model_piece cut(struct model_list *list, size_t i, uint64_t size)
{
    struct model_piece whole = pull(list, i), rest = whole;
    rest.start += size;
    rest.size -= size;
    whole.size = size;
    if (rest.size)
        append(list, rest);
    return whole;
}

/* Pending pieces of the other streams, one stream after the other. */
static size_t best_elsewhere(const struct model_heap *heap, const struct want *want, piece_test test)
{
    for (size_t i = 0; i < heap->streams->count; i++) {
        size_t found = heap->streams->stream[i] == want->stream ? NONE : best(heap, &heap->pending, heap->streams->stream[i], want, test);
        if (found != NONE)
            return found;
    }
    return NONE;
}

/* The pending piece of a stream with the latest mark that passes. */
static size_t newest(const struct model_heap *heap, uint64_t of, const struct want *want, piece_test test)
{
    size_t found = NONE;
    for (size_t i = 0; i < heap->pending.count; i++) {
        const struct model_piece *p = &heap->pending.piece[i];
        if (p->stream == of && (found == NONE || p->mark > heap->pending.piece[found].mark) && test(heap, p, want->order, want->stream))
            found = i;
    }
    return found;
}

/* Moves pending pieces that pass to main: one stream after the other, the latest free first. Did any move? */
static bool flush(struct model_heap *heap, const struct want *want, piece_test test)
{
    bool moved = false;
    for (size_t i = 0; i < heap->streams->count; i++)
        for (size_t next = newest(heap, heap->streams->stream[i], want, test); next != NONE;
             next = newest(heap, heap->streams->stream[i], want, test)) {
            struct model_piece piece = pull(&heap->pending, next);
            join(&heap->main, (struct model_piece){.start = piece.start, .size = piece.size});
            moved = true;
        }
    return moved;
}

/* Memory that needs no new slot; false: none. */
static bool take_known(struct model_heap *heap, const struct want *want, struct model_piece *got)
{
    struct model_list *list = &heap->pending;
    size_t i = best(heap, list, want->stream, want, any);
    if (i == NONE) {
        list = &heap->main;
        i = best(heap, list, 0, want, backed);
    }
    if (i == NONE) {
        list = &heap->pending;
        if (heap->reuse & MODEL_FOLLOW)
            i = best_elsewhere(heap, want, ordered);
        if (i == NONE && heap->reuse & MODEL_OPPORTUNISTIC)
            i = best_elsewhere(heap, want, complete);
    }
    if (i == NONE)
        return false;
    *got = cut(list, i, want->size);
    return true;
}

static void put_back(struct model_list *list, size_t i, struct model_piece piece)
{
    append(list, piece);
    memmove(&list->piece[i + 1], &list->piece[i], (list->count - 1 - i) * sizeof piece);
    list->piece[i] = piece;
}

/* How many slots a piece lacks once the heap's idle slots are moved there. */
static uint64_t lacking(const struct model_heap *heap, uint64_t start, uint64_t size)
{
    uint64_t first = start / heap->slot, last = (start + size - 1) / heap->slot, missing = 0;
    for (uint64_t s = first; s <= last; s++)
        missing += !heap->backed[s];
    uint64_t idle = missing ? idle_beside(heap, first, last) : 0;
    return missing > idle ? missing - idle : 0;
}

/* Any free memory of main, where slots may have to be backed. What was backed in vain stays, up to the threshold. */
static bool grow(struct model_heap *heap, const struct want *want, struct model_piece *got)
{
    size_t i = best(heap, &heap->main, 0, want, any);
    heap->shortage = MODEL_NO_ADDRESSES;
    if (i == NONE)
        return false;
    const struct model_piece whole = heap->main.piece[i];
    uint64_t limit = heap->limit - heap->reserved, lacks = lacking(heap, whole.start, want->size);
    uint64_t wanted = lacks < limit ? lacks : limit, left = wanted ? want->order->room(want->order->user, wanted) : 0;
    if (lacks <= limit && lacks <= left)
        lacks = lacking(heap, whole.start, want->size); /* its own idle slots may have gone back */
    heap->shortage = lacks <= limit && lacks <= left ? MODEL_ENOUGH : lacks > limit && limit <= left ? MODEL_LIMIT : MODEL_DEVICE;
    *got = cut(&heap->main, i, want->size);
    if (commit(heap, got, heap->shortage == MODEL_ENOUGH ? lacks : heap->shortage == MODEL_LIMIT ? limit : left))
        return true;
    if (whole.size > want->size)
        heap->main.count--; /* the rest, which was appended */
    put_back(&heap->main, i, whole);
    release(heap, 0, heap->slots * heap->slot, heap->threshold);
    return false;
}

/* The last resort: what other streams freed, with a dependency on that. */
static bool take_more(struct model_heap *heap, const struct want *want, struct model_piece *got)
{
    if (grow(heap, want, got))
        return true;
    bool addresses = heap->shortage != MODEL_NO_ADDRESSES;
    size_t other = addresses && heap->reuse & MODEL_INTERNAL ? best_elsewhere(heap, want, any) : NONE;
    if (other == NONE)
        return false;
    heap->shortage = MODEL_ENOUGH;
    *got = cut(&heap->pending, other, want->size);
    return true;
}

uint64_t model_heap_take(struct model_heap *heap, uint64_t size, uint64_t stream, const struct model_order *order)
{
    heap->shortage = MODEL_NO_ADDRESSES;
    see_stream(heap->streams, stream);
    struct want want = {size > UINT64_MAX - UNIT ? UINT64_MAX : (size + UNIT - 1) / UNIT * UNIT, stream, order};
    struct model_piece got;
    if (!take_known(heap, &want, &got)) {
        if (heap->reuse & MODEL_OPPORTUNISTIC)
            flush(heap, &want, complete);
        if (!take_more(heap, &want, &got))
            return UINT64_MAX;
    }
    heap->shortage = MODEL_ENOUGH;
    append(&heap->blocks, (struct model_piece){.start = got.start, .size = want.size, .asked = size});
    heap->used += size;
    if (heap->used > heap->used_high)
        heap->used_high = heap->used;
    return got.start;
}

struct model_piece *model_heap_block(const struct model_heap *heap, uint64_t offset)
{
    for (size_t i = 0; i < heap->blocks.count; i++) {
        struct model_piece *p = &heap->blocks.piece[i];
        if (offset >= p->start && offset - p->start < p->asked)
            return p;
    }
    return NULL;
}

void model_heap_free(struct model_heap *heap, struct model_piece *block, uint64_t stream)
{
    struct model_piece piece = pull(&heap->blocks, (size_t)(block - heap->blocks.piece));
    see_stream(heap->streams, stream);
    heap->used -= piece.asked;
    join(&heap->pending, (struct model_piece){.start = piece.start, .size = piece.size, .stream = stream, .mark = ++heap->frees});
}

/* The driver keeps counting such memory as used. */
void model_heap_free_now(struct model_heap *heap, struct model_piece *block)
{
    struct model_piece piece = pull(&heap->blocks, (size_t)(block - heap->blocks.piece));
    join(&heap->main, (struct model_piece){.start = piece.start, .size = piece.size});
    uint64_t from = piece.start / heap->slot * heap->slot, to = slots_for(piece.start + piece.size, heap->slot) * heap->slot;
    release(heap, from, to, heap->threshold); /* the slots that it was in, no others */
}

struct seen {
    const struct model_order *order;
    uint64_t stream;
    bool all;
};

static bool seen_ordered(const void *user, uint64_t in, uint64_t of, uint64_t mark)
{
    const struct seen *seen = user;
    return seen->all || of == seen->stream || seen->order->ordered(seen->order->user, in, of, mark);
}

bool model_heap_synchronise(struct model_heap *heap, bool all, uint64_t stream, const struct model_order *order)
{
    struct seen seen = {order, stream, all};
    struct model_order through = {seen_ordered, order->complete, order->room, &seen};
    struct want want = {0, stream, &through};
    return flush(heap, &want, ordered);
}

uint64_t model_heap_idle(const struct model_heap *heap)
{
    return idle_beside(heap, UINT64_MAX, UINT64_MAX) * heap->slot;
}

void model_heap_trim(struct model_heap *heap, uint64_t keep)
{
    release(heap, 0, heap->slots * heap->slot, keep);
}

void model_heap_trim_to(struct model_heap *heap, uint64_t least)
{
    model_heap_trim(heap, slots_for(least, heap->slot) * heap->slot); /* which wraps for the largest numbers, as measured */
}
