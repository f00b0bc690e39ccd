/* SPDX-License-Identifier: Apache-2.0 */
#include "bytes.h"

#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "os.h"

enum { BITS = 64 };

void bytes_init(struct bytes *bytes, struct frames *frames, uint64_t size)
{
    *bytes = (struct bytes){.size = size, .frames = frames, .place = FRAMES_NOWHERE};
}

void bytes_borrow(struct bytes *bytes, struct frames *frames, uint64_t place, uint64_t size)
{
    *bytes = (struct bytes){.size = size, .frames = frames, .place = place, .open = true, .borrowed = true};
}

static uint64_t pages(const struct bytes *bytes)
{
    uint64_t page = os_page_size();
    return (bytes->size + page - 1) / page * page;
}

/* In the file. */
static uint64_t span(const struct bytes *bytes)
{
    return bytes->size + (bytes->apart ? os_page_size() : 0);
}

void bytes_clear(struct bytes *bytes)
{
    bool apart = bytes->apart;
    if (bytes->place != FRAMES_NOWHERE && !bytes->borrowed)
        frames_give(bytes->frames, bytes->place, span(bytes));
    if (bytes->own)
        os_unmap(bytes->own, pages(bytes));
    heap.free(bytes->written);
    bytes_init(bytes, bytes->frames, bytes->size);
    bytes->apart = apart;
}

/* Whether the block is in the file or not is decided when it is first written. */
static bool prepare(struct bytes *bytes)
{
    if (bytes->written || bytes->borrowed)
        return true;
    uint64_t chunks = (bytes->size - 1) / BYTES_CHUNK + 1;
    bytes->written = heap.calloc((chunks - 1) / BITS + 1, sizeof *bytes->written);
    if (!bytes->written)
        return false;
    bytes->place = frames_take(bytes->frames, span(bytes));
    if (bytes->place == FRAMES_NOWHERE && !(bytes->own = os_map(-1, 0, pages(bytes)))) {
        bytes_clear(bytes);
        return false;
    }
    return true;
}

static bool see(struct bytes *bytes, uint64_t offset, uint64_t length)
{
    return bytes->own || frames_see(bytes->frames, bytes->place + offset, length);
}

static bool written(const struct bytes *bytes, uint64_t offset);

/* Room in the file for the chunks that have none yet; all of an open block's have. */
static bool make_room(struct bytes *bytes, uint64_t offset, uint64_t length)
{
    uint64_t end = (offset + length - 1) / BYTES_CHUNK * BYTES_CHUNK + BYTES_CHUNK;
    if (bytes->own || bytes->open || !bytes->frames->scarce)
        return true;
    for (uint64_t at = offset / BYTES_CHUNK * BYTES_CHUNK; at < end; at += BYTES_CHUNK)
        if (!written(bytes, at))
            return frames_room(bytes->frames, bytes->place + at, (end < bytes->size ? end : bytes->size) - at);
    return true;
}

bool bytes_touch(struct bytes *bytes, uint64_t offset, uint64_t length)
{
    if (!length)
        return true;
    if (!prepare(bytes) || !see(bytes, offset, length) || !make_room(bytes, offset, length))
        return false;
    if (bytes->borrowed)
        return true;
    for (uint64_t chunk = offset / BYTES_CHUNK; chunk <= (offset + length - 1) / BYTES_CHUNK; chunk++)
        bytes->written[chunk / BITS] |= UINT64_C(1) << (chunk % BITS);
    return true;
}

static bool written(const struct bytes *bytes, uint64_t offset)
{
    uint64_t chunk = offset / BYTES_CHUNK;
    return bytes->open || (bytes->written && (bytes->written[chunk / BITS] >> (chunk % BITS) & 1));
}

/* How far what is known of the chunk at offset holds, at most length bytes. */
static uint64_t alike(const struct bytes *bytes, uint64_t offset, uint64_t length)
{
    bool first = written(bytes, offset);
    uint64_t done = BYTES_CHUNK - offset % BYTES_CHUNK;
    if (bytes->open || !bytes->written)
        return length;
    while (done < length && written(bytes, offset + done) == first)
        done += BYTES_CHUNK;
    return done < length ? done : length;
}

unsigned char *bytes_run(const struct bytes *bytes, uint64_t offset, uint64_t *length)
{
    *length = alike(bytes, offset, *length);
    if (!written(bytes, offset))
        return NULL;
    if (bytes->own)
        return bytes->own + offset;
    uint64_t place = bytes->place + offset, room = FRAMES_WINDOW - place % FRAMES_WINDOW;
    if (*length > room)
        *length = room;
    return frames_at(bytes->frames, place);
}

/* From memory of its own into the file, after all. */
static bool settle(struct bytes *bytes)
{
    struct bytes there = *bytes;
    there.place = frames_take(bytes->frames, span(bytes));
    if (there.place == FRAMES_NOWHERE)
        return false;
    there.own = NULL;
    if (!see(&there, 0, bytes->size)) {
        frames_give(bytes->frames, there.place, span(bytes));
        return false;
    }
    for (uint64_t at = 0, run; at < bytes->size; at += run) {
        run = bytes->size - at;
        unsigned char *to = bytes_run(&there, at, &run);
        if (to)
            memcpy(to, bytes->own + at, run);
    }
    os_unmap(bytes->own, pages(bytes));
    *bytes = there;
    return true;
}

bool bytes_open(struct bytes *bytes)
{
    if (bytes->open)
        return true;
    if (!prepare(bytes) || (bytes->own && !settle(bytes)) || !see(bytes, 0, bytes->size) ||
        !frames_room(bytes->frames, bytes->place, pages(bytes)))
        return false;
    bytes->open = true;
    return true;
}
