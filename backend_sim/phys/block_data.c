/* SPDX-License-Identifier: Apache-2.0 */
#include "block_data.h"

#include <stdlib.h>
#include <string.h>

#include "checks.h"
#include "heap.h"
#include "os.h"

enum { BITS = 64 };

void block_data_init(struct block_data *bytes, struct backing_file *backing, uint64_t size)
{
    *bytes = (struct block_data){.size = size, .backing = backing, .place = BACKING_FILE_NOWHERE};
}

void block_data_borrow(struct block_data *bytes, struct backing_file *backing, uint64_t place, uint64_t size)
{
    *bytes = (struct block_data){.size = size, .backing = backing, .place = place, .open = true, .borrowed = true};
}

static uint64_t pages(const struct block_data *bytes)
{
    uint64_t page = os_page_size();
    return (bytes->size + page - 1) / page * page;
}

/* The bytes that the block occupies in the file. */
static uint64_t span(const struct block_data *bytes)
{
    return bytes->size + (bytes->apart ? os_page_size() : 0);
}

void block_data_clear(struct block_data *bytes)
{
    bool apart = bytes->apart;
    if (bytes->place != BACKING_FILE_NOWHERE && !bytes->borrowed)
        backing_file_free(bytes->backing, bytes->place, span(bytes));
    if (bytes->own)
        os_unmap(bytes->own, pages(bytes));
    heap.free(bytes->written);
    block_data_init(bytes, bytes->backing, bytes->size);
    bytes->apart = apart;
}

/* Gives the block its storage, at the first write: a place in the file or, without a file, private memory. */
static bool prepare(struct block_data *bytes)
{
    if (bytes->written || bytes->borrowed)
        return true;
    uint64_t chunks = (bytes->size - 1) / BLOCK_DATA_CHUNK + 1;
    bytes->written = heap.calloc((chunks - 1) / BITS + 1, sizeof *bytes->written);
    if (!bytes->written)
        return false;
    bytes->place = backing_file_take(bytes->backing, span(bytes));
    if (bytes->place == BACKING_FILE_NOWHERE && !(bytes->own = os_map(-1, 0, pages(bytes)))) {
        block_data_clear(bytes);
        return false;
    }
    return true;
}

static bool see(struct block_data *bytes, uint64_t offset, uint64_t length)
{
    return bytes->own || backing_file_map(bytes->backing, bytes->place + offset, length);
}

static bool written(const struct block_data *bytes, uint64_t offset);

/* Allocates space in the file for chunks without any; all chunks of an open block have space. */
static bool make_room(struct block_data *bytes, uint64_t offset, uint64_t length)
{
    uint64_t end = (offset + length - 1) / BLOCK_DATA_CHUNK * BLOCK_DATA_CHUNK + BLOCK_DATA_CHUNK;
    if (bytes->own || bytes->open || !bytes->backing->limited)
        return true;
    for (uint64_t at = offset / BLOCK_DATA_CHUNK * BLOCK_DATA_CHUNK; at < end; at += BLOCK_DATA_CHUNK)
        if (!written(bytes, at))
            return backing_file_allocate(bytes->backing, bytes->place + at, (end < bytes->size ? end : bytes->size) - at);
    return true;
}

/* Chunks are written completely, so all of them can be read afterwards, regardless of window boundaries. */
static bool see_chunks(struct block_data *bytes, uint64_t offset, uint64_t length)
{
    uint64_t first = offset / BLOCK_DATA_CHUNK * BLOCK_DATA_CHUNK, last = (offset + length - 1) / BLOCK_DATA_CHUNK * BLOCK_DATA_CHUNK;
    uint64_t end = bytes->size - last < BLOCK_DATA_CHUNK ? bytes->size : last + BLOCK_DATA_CHUNK;
    return see(bytes, first, end - first);
}

bool block_data_reserve(struct block_data *bytes, uint64_t offset, uint64_t length)
{
    return !length || (prepare(bytes) && see_chunks(bytes, offset, length) && make_room(bytes, offset, length));
}

static void mark(struct block_data *bytes, uint64_t offset, uint64_t length)
{
    for (uint64_t chunk = offset / BLOCK_DATA_CHUNK; chunk <= (offset + length - 1) / BLOCK_DATA_CHUNK; chunk++)
        bytes->written[chunk / BITS] |= UINT64_C(1) << (chunk % BITS);
}

bool block_data_touch(struct block_data *bytes, uint64_t offset, uint64_t length)
{
    if (!block_data_reserve(bytes, offset, length))
        return false;
    if (length && !bytes->borrowed)
        mark(bytes, offset, length);
    return true;
}

static bool written(const struct block_data *bytes, uint64_t offset)
{
    uint64_t chunk = offset / BLOCK_DATA_CHUNK;
    return bytes->open || (bytes->written && (bytes->written[chunk / BITS] >> (chunk % BITS) & 1));
}

/* The number of bytes from offset whose chunks have the same written bit, at most length. */
static uint64_t alike(const struct block_data *bytes, uint64_t offset, uint64_t length)
{
    bool first = written(bytes, offset);
    uint64_t done = BLOCK_DATA_CHUNK - offset % BLOCK_DATA_CHUNK;
    if (bytes->open || !bytes->written)
        return length;
    while (done < length && written(bytes, offset + done) == first)
        done += BLOCK_DATA_CHUNK;
    return done < length ? done : length;
}

unsigned char *block_data_run(const struct block_data *bytes, uint64_t offset, uint64_t *length)
{
    *length = alike(bytes, offset, *length);
    if (!written(bytes, offset))
        return NULL;
    if (bytes->own)
        return bytes->own + offset;
    uint64_t place = bytes->place + offset, room = BACKING_FILE_WINDOW - place % BACKING_FILE_WINDOW;
    if (*length > room)
        *length = room;
    return backing_file_at(bytes->backing, place);
}

const unsigned char *block_data_run_to_read(const struct block_data *bytes, uint64_t offset, uint64_t *length)
{
    const unsigned char *run = block_data_run(bytes, offset, length);
    return run && bytes->open && !os_file_has_data(bytes->backing->file, bytes->place + offset, length) ? NULL : run;
}

/* ---- fills ---- */

static void repeat(unsigned char *to, uint64_t length, const unsigned char *value, unsigned width)
{
    unsigned char repeated[256]; /* the size of one write; bytes read back could come from another writer */
    uint64_t once = length < sizeof repeated ? length : sizeof repeated;
    if (memcmp(value, value + 1, width - 1) == 0) {
        memset(to, value[0], length);
        return;
    }
    for (uint64_t i = 0; i < once; i += width)
        memcpy(repeated + i, value, width);
    for (; length > once; to += once, length -= once)
        memcpy(to, repeated, once);
    memcpy(to, repeated, length);
}

/* Writes the chunk at `from` repeatedly to the file; returns how many of the length bytes were written. Writing new
 * pages of the file costs half as much as touching them in a mapping, where a separate page fault clears each first. */
static uint64_t write_through(struct block_data *bytes, uint64_t offset, uint64_t length, const unsigned char *from)
{
    uint64_t done = 0, piece;
    for (; done < length; done += piece) {
        piece = length - done < BLOCK_DATA_CHUNK ? length - done : BLOCK_DATA_CHUNK;
        if (!os_file_write(bytes->backing->file, bytes->place + offset + done, from, piece))
            break;
    }
    return done;
}

/* Fills the first of length never-written bytes, up to the end of a window; returns the number of filled bytes. */
static uint64_t fill_fresh(struct block_data *bytes, uint64_t offset, uint64_t length, const unsigned char *value, unsigned width)
{
    uint64_t first = BLOCK_DATA_CHUNK, room = BACKING_FILE_WINDOW - (bytes->place + offset) % BACKING_FILE_WINDOW;
    if (!bytes->own && length > room)
        length = room;
    mark(bytes, offset, length);
    if (length < first || bytes->own)
        first = length;
    unsigned char *to = block_data_run(bytes, offset, &first);
    repeat(to, first, value, width);
    /* Bytes are read back from there: only the simulator writes this memory, because open bytes are never fresh. */
    return first + write_through(bytes, offset + first, length - first, to);
}

void block_data_fill(struct block_data *bytes, uint64_t offset, uint64_t length, const unsigned char *value, unsigned width)
{
    static const unsigned char zeros[4];
    for (uint64_t end = offset + length, run; offset < end; offset += run) {
        run = alike(bytes, offset, end - offset);
        unsigned char *to = block_data_run(bytes, offset, &run); /* up to the end of a window */
        if (to)
            repeat(to, run, value, width);
        else if (memcmp(value, zeros, width) != 0)
            run = fill_fresh(bytes, offset, run, value, width);
    }
}

/* Moves the bytes from private memory into the file. */
static bool settle(struct block_data *bytes)
{
    struct block_data there = *bytes;
    there.place = backing_file_take(bytes->backing, span(bytes));
    if (there.place == BACKING_FILE_NOWHERE)
        return false;
    there.own = NULL;
    if (!see(&there, 0, bytes->size)) {
        backing_file_free(bytes->backing, there.place, span(bytes));
        return false;
    }
    for (uint64_t at = 0, run; at < bytes->size; at += run) {
        run = bytes->size - at;
        unsigned char *to = block_data_run(&there, at, &run);
        if (to)
            memcpy(to, bytes->own + at, run);
    }
    os_unmap(bytes->own, pages(bytes));
    *bytes = there;
    return true;
}

bool block_data_open(struct block_data *bytes)
{
    if (bytes->open)
        return true;
    if (!prepare(bytes) || (bytes->own && !settle(bytes)) || !see(bytes, 0, bytes->size) ||
        !backing_file_allocate(bytes->backing, bytes->place, pages(bytes)))
        return false;
    bytes->open = true;
    return true;
}

/* Copies a run of written bytes, which may be two runs at the destination. */
static void copy_run(struct block_data *to, uint64_t offset, const unsigned char *from, uint64_t length)
{
    for (uint64_t done = 0, piece; done < length; done += piece) {
        piece = length - done;
        unsigned char *at = block_data_run(to, offset + done, &piece);
        memcpy(at, from + done, piece);
    }
}

bool block_data_move(struct block_data *bytes, struct backing_file *backing)
{
    struct block_data there;
    block_data_init(&there, backing, bytes->size);
    there.apart = bytes->apart;
    for (uint64_t at = 0, run; at < bytes->size; at += run) {
        run = bytes->size - at;
        const unsigned char *from = block_data_run(bytes, at, &run);
        if (from && !block_data_touch(&there, at, run)) {
            block_data_clear(&there);
            return false;
        }
        if (from)
            copy_run(&there, at, from, run);
    }
    block_data_clear(bytes);
    *bytes = there;
    return true;
}

/* ---- the check ---- */

const char *block_data_check(const struct block_data *bytes)
{
    bool placed = bytes->place != BACKING_FILE_NOWHERE, own = bytes->own != NULL;
    if (bytes->borrowed ? bytes->written || own : (placed + own != (bytes->written != NULL)))
        return check_say("%s bytes, %s, have %s place and %s memory", bytes->borrowed ? "borrowed" : "its own",
                         bytes->written ? "written" : "not written", placed ? "a" : "no", own ? "private" : "no private");
    if (bytes->open && !placed)
        return check_say("its bytes are open without a location");
    if (!placed)
        return NULL;
    const char *said = backing_file_check_place(bytes->backing, bytes->place, bytes->borrowed ? bytes->size : span(bytes));
    return said || !bytes->open ? said : backing_file_check_seen(bytes->backing, bytes->place, bytes->size);
}

void block_data_use(const struct block_data *bytes, const struct backing_file *backing, struct backing_file_use *used)
{
    if (!bytes->borrowed && bytes->place != BACKING_FILE_NOWHERE && bytes->backing == backing)
        backing_file_add(used, bytes->place, span(bytes));
}
