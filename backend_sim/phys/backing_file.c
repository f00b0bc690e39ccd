/* SPDX-License-Identifier: Apache-2.0 */
#include "backing_file.h"

#include <inttypes.h>
#include <stdlib.h>

#include "checks.h"
#include "heap.h"
#include "os_share.h"

#define LONGEST (UINT64_C(1) << 52) /* size of the file: above any machine's memory, below any system's limit */

void backing_file_init(struct backing_file *backing)
{
    *backing = (struct backing_file){.file = -1};
    free_ranges_init(&backing->free, 0);
}

void backing_file_open_with(struct backing_file *backing, int (*make)(void *user), void *user)
{
    backing->make = make;
    backing->user = user;
    backing->limited = true;
}

void backing_file_clear(struct backing_file *backing)
{
    for (uint64_t i = 0; i < backing->windows; i++)
        if (backing->window[i])
            os_unmap(backing->window[i], BACKING_FILE_WINDOW);
    heap.free(backing->window);
    if (backing->file >= 0)
        os_file_close(backing->file);
    free_ranges_clear(&backing->free);
    backing_file_init(backing);
}

/* Opens the file on first use, so that a machine that receives only queries creates no file. */
static bool opened(struct backing_file *backing)
{
    if (backing->file >= 0)
        return true;
    backing->file = backing->make ? backing->make(backing->user) : os_file_new();
    if (backing->file >= 0 && !free_ranges_grant(&backing->free, 0, LONGEST)) {
        os_file_close(backing->file);
        backing->file = -1;
    }
    return backing->file >= 0;
}

static uint64_t whole_pages(uint64_t size)
{
    uint64_t page = os_page_size();
    return (size + page - 1) / page * page;
}

uint64_t backing_file_take(struct backing_file *backing, uint64_t size)
{
    uint64_t place, page = os_page_size();
    if (size > LONGEST || !opened(backing))
        return BACKING_FILE_NOWHERE;
    size = whole_pages(size);
    if (!free_ranges_find(&backing->free, size, page, 0, &place))
        return BACKING_FILE_NOWHERE;
    /* A whole number of windows, so that each can be mapped. */
    uint64_t whole = (place + size + BACKING_FILE_WINDOW - 1) / BACKING_FILE_WINDOW * BACKING_FILE_WINDOW;
    if (!os_file_grow(backing->file, whole) || !free_ranges_take(&backing->free, place, size))
        return BACKING_FILE_NOWHERE;
    return place;
}

void backing_file_abandon(struct backing_file *backing)
{
    backing->abandoned = true;
}

void backing_file_free(struct backing_file *backing, uint64_t place, uint64_t size)
{
    if (!backing->abandoned && !os_file_clear(backing->file, place, whole_pages(size)))
        /* its old bytes must not appear in another block, so the place is never reused */
        backing_file_add(&backing->lost, place, size);
    else
        free_ranges_add(&backing->free, place, whole_pages(size));
}

/* Makes room for the window's address in the table. */
static bool counted(struct backing_file *backing, uint64_t index)
{
    if (index < backing->windows)
        return true;
    uint64_t count = 2 * backing->windows > index ? 2 * backing->windows : index + 1;
    unsigned char **more = heap.realloc(backing->window, count * sizeof *more);
    if (!more)
        return false;
    for (uint64_t i = backing->windows; i < count; i++)
        more[i] = NULL;
    backing->window = more;
    backing->windows = count;
    return true;
}

bool backing_file_map(struct backing_file *backing, uint64_t place, uint64_t size)
{
    for (uint64_t i = place / BACKING_FILE_WINDOW; i <= (place + size - 1) / BACKING_FILE_WINDOW; i++) {
        if (!counted(backing, i))
            return false;
        if (backing->window[i])
            continue;
        backing->window[i] = os_map(backing->file, i * BACKING_FILE_WINDOW, BACKING_FILE_WINDOW);
        if (!backing->window[i])
            return false;
    }
    return true;
}

bool backing_file_allocate(struct backing_file *backing, uint64_t place, uint64_t size)
{
    return !backing->limited || os_file_room(backing->file, place, size);
}

unsigned char *backing_file_at(const struct backing_file *backing, uint64_t place)
{
    return backing->window[place / BACKING_FILE_WINDOW] + place % BACKING_FILE_WINDOW;
}

/* ---- the check ---- */

void backing_file_add(struct backing_file_use *used, uint64_t place, uint64_t size)
{
    used->bytes += whole_pages(size);
    used->ends += range_ends(place, place + whole_pages(size));
    used->places++;
}

const char *backing_file_check_place(const struct backing_file *backing, uint64_t place, uint64_t size)
{
    uint64_t page = os_page_size(), whole = size > LONGEST ? size : whole_pages(size);
    if (backing->file < 0 || place % page || place > LONGEST || whole > LONGEST - place || !whole)
        return check_say("0x%" PRIx64 " bytes lie at 0x%" PRIx64 " of %s", size, place,
                         backing->file < 0 ? "no file" : "the file");
    uint64_t unused = free_ranges_sum(&backing->free, place, place + whole);
    if (unused)
        return check_say("of the 0x%" PRIx64 " bytes at 0x%" PRIx64 " of the file 0x%" PRIx64 " are free", whole, place, unused);
    return NULL;
}

const char *backing_file_check_seen(const struct backing_file *backing, uint64_t place, uint64_t size)
{
    uint64_t first = place / BACKING_FILE_WINDOW, last = (place + size - 1) / BACKING_FILE_WINDOW;
    bool mapped = last < backing->windows && backing->window[first] && backing->window[last];
    return mapped ? NULL : check_say("the bytes at 0x%" PRIx64 " of the file are not mapped", place);
}

const char *backing_file_check(const struct backing_file *backing, const struct backing_file_use *used)
{
    const struct backing_file_use *lost = &backing->lost;
    bool there = backing->file >= 0;
    uint64_t whole = there ? LONGEST : 0;
    if (!backing->windows != !backing->window || (backing->windows && !there))
        return check_say("%" PRIu64 " windows are counted, %s, of %s", backing->windows,
                         backing->window ? "some are there" : "none is there", there ? "the file" : "no file");
    const char *said = check_in(free_ranges_check(&backing->free, there + used->places + lost->places), "free places");
    if (said)
        return said;
    uint64_t unused = free_ranges_sum(&backing->free, 0, UINT64_MAX);
    if (unused + used->bytes + lost->bytes != whole)
        return check_say("of 0x%" PRIx64 " bytes 0x%" PRIx64 " are free, blocks have 0x%" PRIx64 ", and 0x%" PRIx64 " are lost",
                         whole, unused, used->bytes, lost->bytes);
    if (free_ranges_ends(&backing->free) + used->ends + lost->ends != range_ends(0, whole))
        return check_say("two ranges overlap, next to bytes that are neither free nor taken");
    return NULL;
}
