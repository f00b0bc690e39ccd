/* SPDX-License-Identifier: Apache-2.0 */
#include "backing_file.h"

#include <inttypes.h>
#include <stdlib.h>

#include "checks.h"
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
    frames->finite = true;
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

/* At the first use: a machine that gets only queries creates no file. */
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

static uint64_t whole_pages(uint64_t size)
{
    uint64_t page = os_page_size();
    return (size + page - 1) / page * page;
}

uint64_t backing_file_take(struct backing_file *frames, uint64_t size)
{
    uint64_t place, page = os_page_size();
    if (size > LONGEST || !opened(frames))
        return BACKING_FILE_NOWHERE;
    size = whole_pages(size);
    if (!free_ranges_find(&frames->free, size, page, 0, &place))
        return BACKING_FILE_NOWHERE;
    uint64_t whole = (place + size + BACKING_FILE_WINDOW - 1) / BACKING_FILE_WINDOW * BACKING_FILE_WINDOW; /* windows end in the file */
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
    if (!frames->abandoned && !os_file_clear(frames->file, place, whole_pages(size)))
        backing_file_add(&frames->lost, size); /* one block's old bytes must not appear in another: the place stays taken */
    else
        free_ranges_add(&frames->free, place, whole_pages(size));
}

/* Room for the window's address. */
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
    return !frames->finite || os_file_room(frames->file, place, size);
}

unsigned char *backing_file_at(const struct backing_file *frames, uint64_t place)
{
    return frames->window[place / BACKING_FILE_WINDOW] + place % BACKING_FILE_WINDOW;
}

/* ---- the check ---- */

void backing_file_add(struct backing_file_use *used, uint64_t size)
{
    used->bytes += whole_pages(size);
    used->places++;
}

const char *backing_file_check_place(const struct backing_file *frames, uint64_t place, uint64_t size)
{
    uint64_t page = os_page_size(), whole = size > LONGEST ? size : whole_pages(size);
    if (frames->file < 0 || place % page || place > LONGEST || whole > LONGEST - place || !whole)
        return check_say("0x%" PRIx64 " bytes lie at 0x%" PRIx64 " of %s", size, place,
                         frames->file < 0 ? "no file" : "the file");
    uint64_t unused = free_ranges_sum(&frames->free, place, place + whole);
    if (unused)
        return check_say("of the 0x%" PRIx64 " bytes at 0x%" PRIx64 " of the file 0x%" PRIx64 " are free", whole, place, unused);
    return NULL;
}

const char *backing_file_check_seen(const struct backing_file *frames, uint64_t place, uint64_t size)
{
    uint64_t first = place / BACKING_FILE_WINDOW, last = (place + size - 1) / BACKING_FILE_WINDOW;
    bool mapped = last < frames->windows && frames->window[first] && frames->window[last];
    return mapped ? NULL : check_say("the bytes at 0x%" PRIx64 " of the file are not mapped", place);
}

const char *backing_file_check(const struct backing_file *frames, const struct backing_file_use *used)
{
    const struct backing_file_use *lost = &frames->lost;
    bool there = frames->file >= 0;
    uint64_t whole = there ? LONGEST : 0;
    if (!frames->windows != !frames->window || (frames->windows && !there))
        return check_say("%" PRIu64 " windows are counted, %s, of %s", frames->windows,
                         frames->window ? "some are there" : "none is there", there ? "the file" : "no file");
    const char *said = check_in(free_ranges_check(&frames->free, there + used->places + lost->places), "free places");
    if (said)
        return said;
    uint64_t unused = free_ranges_sum(&frames->free, 0, UINT64_MAX);
    if (unused + used->bytes + lost->bytes != whole)
        return check_say("of 0x%" PRIx64 " bytes 0x%" PRIx64 " are free, blocks have 0x%" PRIx64 ", and 0x%" PRIx64 " are lost",
                         whole, unused, used->bytes, lost->bytes);
    return NULL;
}
