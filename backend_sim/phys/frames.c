/* SPDX-License-Identifier: Apache-2.0 */
#include "frames.h"

#include <stdlib.h>

#include "heap.h"
#include "os_share.h"

#define LONGEST (UINT64_C(1) << 52) /* of the file: beyond any machine's memory, below any system's limit */

void frames_init(struct frames *frames)
{
    *frames = (struct frames){.file = -1};
    holes_init(&frames->free, 0);
}

void frames_lie_in(struct frames *frames, int (*make)(void *user), void *user)
{
    frames->make = make;
    frames->user = user;
    frames->scarce = true;
}

void frames_clear(struct frames *frames)
{
    for (uint64_t i = 0; i < frames->windows; i++)
        if (frames->window[i])
            os_unmap(frames->window[i], FRAMES_WINDOW);
    heap.free(frames->window);
    if (frames->file >= 0)
        os_file_close(frames->file);
    holes_clear(&frames->free);
    frames_init(frames);
}

/* At the first use: a machine that is only asked questions makes no file. */
static bool opened(struct frames *frames)
{
    if (frames->file >= 0)
        return true;
    frames->file = frames->make ? frames->make(frames->user) : os_file_new();
    if (frames->file >= 0 && !holes_grant(&frames->free, 0, LONGEST)) {
        os_file_close(frames->file);
        frames->file = -1;
    }
    return frames->file >= 0;
}

uint64_t frames_take(struct frames *frames, uint64_t size)
{
    uint64_t place, page = os_page_size();
    if (size > LONGEST || !opened(frames))
        return FRAMES_NOWHERE;
    size = (size + page - 1) / page * page;
    if (!holes_find(&frames->free, size, page, 0, &place))
        return FRAMES_NOWHERE;
    uint64_t whole = (place + size + FRAMES_WINDOW - 1) / FRAMES_WINDOW * FRAMES_WINDOW; /* windows end in the file */
    if (!os_file_grow(frames->file, whole) || !holes_take(&frames->free, place, size))
        return FRAMES_NOWHERE;
    return place;
}

void frames_abandon(struct frames *frames)
{
    frames->abandoned = true;
}

void frames_give(struct frames *frames, uint64_t place, uint64_t size)
{
    uint64_t page = os_page_size();
    size = (size + page - 1) / page * page;
    if (!frames->abandoned && !os_file_clear(frames->file, place, size))
        return; /* somebody's old bytes may not become another's: the place stays taken */
    holes_give(&frames->free, place, size);
}

/* Room for the window's address. */
static bool counted(struct frames *frames, uint64_t index)
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

bool frames_see(struct frames *frames, uint64_t place, uint64_t size)
{
    for (uint64_t i = place / FRAMES_WINDOW; i <= (place + size - 1) / FRAMES_WINDOW; i++) {
        if (!counted(frames, i))
            return false;
        if (frames->window[i])
            continue;
        frames->window[i] = os_map(frames->file, i * FRAMES_WINDOW, FRAMES_WINDOW);
        if (!frames->window[i])
            return false;
    }
    return true;
}

bool frames_room(struct frames *frames, uint64_t place, uint64_t size)
{
    return !frames->scarce || os_file_room(frames->file, place, size);
}

unsigned char *frames_at(const struct frames *frames, uint64_t place)
{
    return frames->window[place / FRAMES_WINDOW] + place % FRAMES_WINDOW;
}
