#include "bytes.h"

#include <stdlib.h>

#include "os.h"

enum { BITS = 64, CHUNKS = BYTES_WINDOW / BYTES_CHUNK };

struct bytes_window {
    unsigned char *at;
    uint64_t written[CHUNKS / BITS];
};

static uint64_t windows(const struct bytes *bytes)
{
    return (bytes->size - 1) / BYTES_WINDOW + 1;
}

/* Of the last window less may be left. */
static uint64_t window_size(const struct bytes *bytes, uint64_t index)
{
    uint64_t page = os_page_size(), left = bytes->size - index * BYTES_WINDOW;
    return left < BYTES_WINDOW ? (left + page - 1) / page * page : BYTES_WINDOW;
}

void bytes_init(struct bytes *bytes, struct frames *frames, uint64_t size)
{
    *bytes = (struct bytes){.size = size, .frames = frames, .place = FRAMES_NOWHERE};
}

void bytes_clear(struct bytes *bytes)
{
    for (uint64_t i = 0; bytes->window && i < windows(bytes); i++) {
        if (!bytes->window[i])
            continue;
        os_unmap(bytes->window[i]->at, window_size(bytes, i));
        free(bytes->window[i]);
    }
    free(bytes->window);
    if (bytes->place != FRAMES_NOWHERE)
        frames_give(bytes->frames, bytes->place, bytes->size);
    bytes_init(bytes, bytes->frames, bytes->size);
}

/* Whether the block is in the file or not is decided at its first window. */
static bool prepare(struct bytes *bytes)
{
    if (bytes->window)
        return true;
    bytes->window = calloc(windows(bytes), sizeof *bytes->window);
    if (bytes->window)
        bytes->place = frames_take(bytes->frames, bytes->size);
    return bytes->window != NULL;
}

static bool open_window(struct bytes *bytes, uint64_t index)
{
    if (bytes->window[index])
        return true;
    struct bytes_window *window = calloc(1, sizeof *window);
    if (!window)
        return false;
    bool in_file = bytes->place != FRAMES_NOWHERE;
    window->at = os_map(in_file ? bytes->frames->file : -1, in_file ? bytes->place + index * BYTES_WINDOW : 0,
                        window_size(bytes, index));
    if (!window->at) {
        free(window);
        return false;
    }
    bytes->window[index] = window;
    return true;
}

static bool written(const struct bytes_window *window, uint64_t chunk)
{
    return window->written[chunk / BITS] >> (chunk % BITS) & 1;
}

bool bytes_touch(struct bytes *bytes, uint64_t offset, uint64_t length)
{
    if (!length)
        return true;
    if (!prepare(bytes))
        return false;
    uint64_t last = offset + length - 1;
    for (uint64_t i = offset / BYTES_WINDOW; i <= last / BYTES_WINDOW; i++)
        if (!open_window(bytes, i))
            return false;
    for (uint64_t chunk = offset / BYTES_CHUNK; chunk <= last / BYTES_CHUNK; chunk++)
        bytes->window[chunk / CHUNKS]->written[chunk % CHUNKS / BITS] |= UINT64_C(1) << (chunk % BITS);
    return true;
}

unsigned char *bytes_run(const struct bytes *bytes, uint64_t offset, uint64_t *length)
{
    uint64_t within = offset % BYTES_WINDOW, room = BYTES_WINDOW - within;
    const struct bytes_window *window = bytes->window ? bytes->window[offset / BYTES_WINDOW] : NULL;
    if (*length > room)
        *length = room;
    if (!window || bytes->open)
        return window ? window->at + within : NULL;
    uint64_t chunk = within / BYTES_CHUNK, end = within + *length;
    bool first = written(window, chunk);
    do
        chunk++;
    while (chunk * BYTES_CHUNK < end && written(window, chunk) == first);
    if (chunk * BYTES_CHUNK < end)
        *length = chunk * BYTES_CHUNK - within;
    return first ? window->at + within : NULL;
}

bool bytes_open(struct bytes *bytes)
{
    if (bytes->open)
        return true;
    if (!prepare(bytes) || bytes->place == FRAMES_NOWHERE)
        return false;
    for (uint64_t i = 0; i < windows(bytes); i++)
        if (!open_window(bytes, i))
            return false;
    bytes->open = true;
    return true;
}
