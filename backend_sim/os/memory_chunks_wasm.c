/* SPDX-License-Identifier: Apache-2.0 */
#include "memory_chunks_wasm.h"

#include <string.h>

#include "checks.h"
#include "heap.h"

enum { LEAF = 256, LEAVES_MOST = 1 << 24 }; /* files of up to 256 TiB */

/* Memory of one or more chunks beside each other. */
struct piece {
    unsigned char *memory;
    /* in chunks: its length, and the number of chunks that refer to it; the number of mappings */
    uint32_t length, chunks, mapped;
};

struct chunk {
    struct piece *piece; /* NULL: missing */
    uint32_t at;
};

struct memory_leaf {
    struct chunk chunk[LEAF];
};

static struct chunk *find(const struct memory_chunks *chunks, uint64_t index)
{
    struct memory_leaf *leaf = index / LEAF < chunks->leaves ? chunks->leaf[index / LEAF] : NULL;
    return leaf ? &leaf->chunk[index % LEAF] : NULL;
}

static bool is_there(const struct memory_chunks *chunks, uint64_t index)
{
    const struct chunk *chunk = find(chunks, index);
    return chunk && chunk->piece;
}

static bool grow(struct memory_chunks *chunks, uint64_t leaf)
{
    if (leaf >= LEAVES_MOST)
        return false;
    if (leaf < chunks->leaves)
        return true;
    size_t more = (size_t)leaf + 1 > 2 * chunks->leaves ? (size_t)leaf + 1 : 2 * chunks->leaves;
    struct memory_leaf **list = heap.realloc(chunks->leaf, more * sizeof *list);
    if (!list)
        return false;
    memset(list + chunks->leaves, 0, (more - chunks->leaves) * sizeof *list);
    chunks->leaf = list;
    chunks->leaves = more;
    return true;
}

/* The entry of a chunk, created if missing; NULL when memory is exhausted. */
static struct chunk *entry(struct memory_chunks *chunks, uint64_t index)
{
    if (!grow(chunks, index / LEAF))
        return NULL;
    struct memory_leaf **leaf = &chunks->leaf[index / LEAF];
    if (!*leaf)
        *leaf = heap.calloc(1, sizeof **leaf);
    return *leaf ? &(*leaf)->chunk[index % LEAF] : NULL;
}

static struct piece *new_piece(uint32_t length)
{
    struct piece *piece = heap.calloc(1, sizeof *piece);
    if (!piece)
        return NULL;
    *piece = (struct piece){.memory = memory_pages_take(length), .length = length};
    if (piece->memory)
        return piece;
    heap.free(piece);
    return NULL;
}

static void free_unused(struct piece *piece)
{
    if (piece->chunks || piece->mapped)
        return;
    memory_pages_free(piece->memory, piece->length);
    heap.free(piece);
}

static unsigned char *memory_of(const struct chunk *chunk)
{
    return chunk->piece->memory + (size_t)chunk->at * MEMORY_CHUNK;
}

static void put(struct chunk *chunk, struct piece *piece, uint32_t at)
{
    struct piece *before = chunk->piece;
    *chunk = (struct chunk){piece, at};
    if (piece)
        piece->chunks++;
    if (before) {
        before->chunks--;
        free_unused(before);
    }
}

unsigned char *memory_chunks_byte(struct memory_chunks *chunks, uint64_t offset, bool make)
{
    uint64_t index = offset / MEMORY_CHUNK;
    if (!make)
        return is_there(chunks, index) ? memory_of(find(chunks, index)) + offset % MEMORY_CHUNK : NULL;
    struct chunk *chunk = entry(chunks, index);
    struct piece *piece = chunk && !chunk->piece ? new_piece(1) : NULL;
    if (piece)
        put(chunk, piece, 0);
    return chunk && chunk->piece ? memory_of(chunk) + offset % MEMORY_CHUNK : NULL;
}

/* ---- mappings ---- */

/* The piece that contains all of these chunks in order; NULL if there is none. */
static struct piece *whole(const struct memory_chunks *chunks, uint64_t first, uint32_t length)
{
    const struct chunk *head = find(chunks, first);
    for (uint32_t i = 0; head && i < length; i++) {
        const struct chunk *chunk = find(chunks, first + i);
        if (!chunk || !chunk->piece || chunk->piece != head->piece || chunk->at != head->at + i)
            head = NULL;
    }
    return head ? head->piece : NULL;
}

static bool can_move(const struct memory_chunks *chunks, uint64_t first, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        if (is_there(chunks, first + i) && find(chunks, first + i)->piece->mapped)
            return false;
    return true;
}

static bool has_entries(struct memory_chunks *chunks, uint64_t first, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        if (!entry(chunks, first + i))
            return false;
    return true;
}

static struct piece *gather(struct memory_chunks *chunks, uint64_t first, uint32_t length)
{
    struct piece *piece = can_move(chunks, first, length) && has_entries(chunks, first, length) ? new_piece(length) : NULL;
    for (uint32_t i = 0; piece && i < length; i++) {
        struct chunk *chunk = find(chunks, first + i);
        if (chunk->piece)
            memcpy(piece->memory + (size_t)i * MEMORY_CHUNK, memory_of(chunk), MEMORY_CHUNK);
        put(chunk, piece, i);
    }
    return piece;
}

static uint64_t count_of(uint64_t size)
{
    return size / MEMORY_CHUNK + (size % MEMORY_CHUNK != 0);
}

unsigned char *memory_chunks_map(struct memory_chunks *chunks, uint64_t offset, uint64_t size)
{
    uint64_t first = offset / MEMORY_CHUNK, length = count_of(size);
    if (!length || length > SIZE_MAX / MEMORY_CHUNK || length > UINT32_MAX)
        return NULL;
    struct piece *piece = whole(chunks, first, (uint32_t)length);
    if (!piece)
        piece = gather(chunks, first, (uint32_t)length);
    if (!piece)
        return NULL;
    piece->mapped++;
    return memory_of(find(chunks, first));
}

void memory_chunks_unmap(struct memory_chunks *chunks, uint64_t offset, uint64_t size)
{
    (void)size;
    find(chunks, offset / MEMORY_CHUNK)->piece->mapped--; /* its chunks refer to it, so it stays */
}

/* ---- contents ---- */

/* Zeroes [from, to) of one chunk. */
static void clear_one(struct chunk *chunk, size_t from, size_t to)
{
    if (to - from == MEMORY_CHUNK && !chunk->piece->mapped)
        put(chunk, NULL, 0);
    else
        memset(memory_of(chunk) + from, 0, to - from);
}

/* The number of chunks from index on that can exist; a missing leaf has none. */
static uint64_t skip_missing(const struct memory_chunks *chunks, uint64_t index)
{
    while (index / LEAF < chunks->leaves && !chunks->leaf[index / LEAF])
        index = (index / LEAF + 1) * LEAF;
    return index;
}

void memory_chunks_clear_range(struct memory_chunks *chunks, uint64_t offset, uint64_t size)
{
    uint64_t end = offset + size, last = (uint64_t)chunks->leaves * LEAF;
    for (uint64_t i = skip_missing(chunks, offset / MEMORY_CHUNK); i < last && i * MEMORY_CHUNK < end; i = skip_missing(chunks, i + 1)) {
        uint64_t start = i * MEMORY_CHUNK, from = offset > start ? offset - start : 0, to = end - start;
        if (is_there(chunks, i))
            clear_one(find(chunks, i), (size_t)from, to < MEMORY_CHUNK ? (size_t)to : MEMORY_CHUNK);
    }
}

void memory_chunks_clear(struct memory_chunks *chunks)
{
    memory_chunks_clear_range(chunks, 0, UINT64_MAX);
    for (size_t i = 0; i < chunks->leaves; i++)
        heap.free(chunks->leaf[i]);
    heap.free(chunks->leaf);
    *chunks = (struct memory_chunks){0};
}

bool memory_chunks_has_data(const struct memory_chunks *chunks, uint64_t offset, uint64_t *length)
{
    uint64_t index = offset / MEMORY_CHUNK, held = MEMORY_CHUNK - offset % MEMORY_CHUNK;
    bool there = is_there(chunks, index);
    while (held < *length && is_there(chunks, index + 1) == there) {
        index++;
        held += MEMORY_CHUNK;
    }
    if (held < *length)
        *length = held;
    return there;
}

/* ---- the check ---- */

static uint32_t names_of(const struct memory_chunks *chunks, const struct piece *piece, uint32_t at, bool anywhere)
{
    uint32_t names = 0;
    for (uint64_t i = skip_missing(chunks, 0); i < (uint64_t)chunks->leaves * LEAF; i = skip_missing(chunks, i + 1)) {
        const struct chunk *chunk = find(chunks, i);
        names += chunk->piece == piece && (anywhere || chunk->at == at);
    }
    return names;
}

const char *memory_chunks_check(const struct memory_chunks *chunks)
{
    for (uint64_t i = skip_missing(chunks, 0); i < (uint64_t)chunks->leaves * LEAF; i = skip_missing(chunks, i + 1)) {
        const struct chunk *chunk = find(chunks, i);
        const struct piece *piece = chunk->piece;
        if (!piece)
            continue;
        if (chunk->at >= piece->length)
            return check_say("chunk %llu lies at %u of a piece of %u", (unsigned long long)i, chunk->at, piece->length);
        if (names_of(chunks, piece, chunk->at, false) != 1)
            return check_say("chunk %llu shares its memory with another one", (unsigned long long)i);
        if (names_of(chunks, piece, 0, true) != piece->chunks)
            return check_say("a piece counts %u chunks, and %u name it", piece->chunks, names_of(chunks, piece, 0, true));
    }
    return NULL;
}
