/* SPDX-License-Identifier: Apache-2.0 */
#include "backing_file.h"

#include <stdlib.h>

#include "heap.h"
#include "os_share.h"

#define LONGEST (UINT64_C(1) << 52) /* of the file: beyond any machine's memory, below any system's limit */

void backing_file_init(struct backing_file *frames)
{
    *frames = (struct backing_file){.file = -1};
    free_ranges_init(&frames->free, 0);
}

void backing_file_lie_in(struct backing_file *frames, int (*make)(void *user), void *user)
{
    frames->make = make;
    frames->user = user;
    frames->scarce = true;
}

void backing_file_clear(struct backing_file *frames)
{
    for (uint64_t i = 0; i < frames->windows; i++)
        if (frames->window[i])
            os_unmap(frames->window[i], BACKING_FILE_WINDOW);
    heap.free(frames->window);
    if (frames->file >= 0)
        os_file_close(frames->file);
    free_ranges_clear(&frames->free);
    backing_file_init(frames);
}

/* Opens the file on first use, so that a machine that receives only queries creates no file. */
static bool opened(struct backing_file *frames)
{
    if (frames->file >= 0)
        return true;
    frames->file = frames->make ? frames->make(frames->user) : os_file_new();
    if (frames->file >= 0 && !free_ranges_grant(&frames->free, 0, LONGEST)) {
        os_file_close(frames->file);
        frames->file = -1;
    }
    return frames->file >= 0;
}

uint64_t backing_file_take(struct backing_file *frames, uint64_t size)
{
    uint64_t place, page = os_page_size();
    if (size > LONGEST || !opened(frames))
        return BACKING_FILE_NOWHERE;
    size = (size + page - 1) / page * page;
    if (!free_ranges_find(&frames->free, size, page, 0, &place))
        return BACKING_FILE_NOWHERE;
    /* A whole number of windows, so that each can be mapped. */
    uint64_t whole = (place + size + BACKING_FILE_WINDOW - 1) / BACKING_FILE_WINDOW * BACKING_FILE_WINDOW;
    if (!os_file_grow(frames->file, whole) || !free_ranges_take(&frames->free, place, size))
        return BACKING_FILE_NOWHERE;
    return place;
}

void backing_file_abandon(struct backing_file *frames)
{
    frames->abandoned = true;
}

void backing_file_free(struct backing_file *frames, uint64_t place, uint64_t size)
{
    uint64_t page = os_page_size();
    size = (size + page - 1) / page * page;
    if (!frames->abandoned && !os_file_clear(frames->file, place, size))
        return; /* one block's old bytes must not appear in another: the place stays taken */
    free_ranges_add(&frames->free, place, size);
}

/* Makes room to store the window's address. */
static bool counted(struct backing_file *frames, uint64_t index)
{
    if (index < frames->windows)
        return true;
    uint64_t count = 2 * frames->windows > index ? 2 * frames->windows : index + 1;
    unsigned char **more = heap.realloc(frames->window, count * sizeof *more);
    if (!more)
        return false;
    for (uint64_t i = frames->windows; i < count; i++)
        more[i] = NULL;
    frames->window = more;
    frames->windows = count;
    return true;
}

bool backing_file_see(struct backing_file *frames, uint64_t place, uint64_t size)
{
    for (uint64_t i = place / BACKING_FILE_WINDOW; i <= (place + size - 1) / BACKING_FILE_WINDOW; i++) {
        if (!counted(frames, i))
            return false;
        if (frames->window[i])
            continue;
        frames->window[i] = os_map(frames->file, i * BACKING_FILE_WINDOW, BACKING_FILE_WINDOW);
        if (!frames->window[i])
            return false;
    }
    return true;
}

bool backing_file_room(struct backing_file *frames, uint64_t place, uint64_t size)
{
    return !frames->scarce || os_file_room(frames->file, place, size);
}

unsigned char *backing_file_at(const struct backing_file *frames, uint64_t place)
{
    return frames->window[place / BACKING_FILE_WINDOW] + place % BACKING_FILE_WINDOW;
}
