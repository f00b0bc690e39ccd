/* SPDX-License-Identifier: Apache-2.0 */
/* os.h in a WebAssembly module: files are in memory, and the host's addresses are a table, because the module cannot
 * access them. A script's command uses os_host_byte to simulate a program's access to such an address. */
#include "os.h"

#include <stdlib.h>
#include <string.h>

#include "heap.h"
#include "os_wasm.h"

enum { PAGE = 4096 };

struct memory_files *os_files(void)
{
    static struct memory_files files;
    if (!files.root && memory_files_init(&files))
        abort(); /* the module begins with more memory than that takes */
    return &files;
}

uint64_t os_page_size(void)
{
    return PAGE;
}

/* ---- addresses of the host ---- */

/* A reserved range, without access or with a file's bytes behind it. Ordered by address, without overlaps. */
struct range {
    uint64_t start, end, offset;
    int file; /* -1: no access */
    bool writable;
};

static struct range *ranges;
static size_t count, room;

/* The first range that ends above address. */
static size_t at_or_above(uint64_t address)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (ranges[middle].end <= address)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static bool has_room(size_t more)
{
    if (count + more <= room)
        return true;
    size_t wanted = room ? 2 * room : 16;
    struct range *list = heap.realloc(ranges, wanted * sizeof *list);
    if (!list)
        return false;
    ranges = list;
    room = wanted;
    return true;
}

static void insert(size_t at, struct range range)
{
    memmove(&ranges[at + 1], &ranges[at], (count - at) * sizeof *ranges);
    ranges[at] = range;
    count++;
}

static void take_out(size_t at)
{
    count--;
    memmove(&ranges[at], &ranges[at + 1], (count - at) * sizeof *ranges);
}

bool os_is_taken(uint64_t start, uint64_t size)
{
    size_t at = at_or_above(start);
    return at < count && ranges[at].start < start + size;
}

bool os_reserve(uint64_t start, uint64_t size)
{
    if (os_is_taken(start, size) || !has_room(1))
        return false;
    insert(at_or_above(start), (struct range){start, start + size, 0, -1, false});
    return true;
}

bool os_reserve_anywhere(uint64_t size, uint64_t alignment, uint64_t *start)
{
    const uint64_t first = UINT64_C(1) << 44, last = UINT64_C(1) << 47;
    for (uint64_t at = first; at < last && size <= last - at;) {
        size_t next = at_or_above(at);
        if (next == count || ranges[next].start >= at + size) {
            *start = at;
            return os_reserve(at, size);
        }
        at = (ranges[next].end + alignment - 1) / alignment * alignment;
    }
    return false;
}

/* Splits ranges at start and end; adds at most two. */
static bool split(uint64_t start, uint64_t end)
{
    const uint64_t bound[2] = {start, end};
    if (!has_room(2))
        return false;
    for (int i = 0; i < 2; i++) {
        size_t at = at_or_above(bound[i]);
        if (at == count || ranges[at].start >= bound[i])
            continue;
        struct range rest = ranges[at];
        rest.offset += bound[i] - rest.start;
        rest.start = ranges[at].end = bound[i];
        insert(at + 1, rest);
    }
    return true;
}

/* Replaces reserved addresses by a range. */
static bool replace(struct range range)
{
    if (!split(range.start, range.end))
        return false;
    size_t at = at_or_above(range.start);
    while (at < count && ranges[at].start < range.end)
        take_out(at);
    insert(at, range);
    return true;
}

void os_unreserve(uint64_t start, uint64_t size)
{
    if (!size || !split(start, start + size))
        return;
    for (size_t at = at_or_above(start); at < count && ranges[at].start < start + size;)
        take_out(at);
}

bool os_map_fixed(uint64_t start, uint64_t size, int file, uint64_t offset, bool writable)
{
    return replace((struct range){start, start + size, offset, file, writable});
}

bool os_protect(uint64_t start, uint64_t size, bool writable)
{
    if (!split(start, start + size))
        return false;
    for (size_t at = at_or_above(start); at < count && ranges[at].start < start + size; at++)
        ranges[at].writable = writable;
    return true;
}

bool os_map_noaccess(uint64_t start, uint64_t size)
{
    return replace((struct range){start, start + size, 0, -1, false});
}

unsigned char *os_host_byte(uint64_t address, bool write)
{
    size_t at = at_or_above(address);
    const struct range *range = at < count && ranges[at].start <= address ? &ranges[at] : NULL;
    struct memory_opening *opening = range && range->file >= 0 ? memory_files_at(os_files(), range->file) : NULL;
    if (!opening || (write && !range->writable))
        return NULL;
    return memory_files_byte(opening, range->offset + (address - range->start));
}

/* ---- memory that can be mapped at several addresses ---- */

int os_file_new(void)
{
    int file;
    return memory_files_unnamed(os_files(), &file) ? -1 : file;
}

void os_file_close(int file)
{
    memory_files_close(os_files(), file);
}

bool os_file_grow(int file, uint64_t size)
{
    struct memory_opening *opening = memory_files_at(os_files(), file);
    struct memory_info info;
    if (!opening)
        return false;
    memory_files_info(opening, &info);
    return info.size >= size || (size <= INT64_MAX && !memory_files_resize(opening, size));
}

bool os_file_write(int file, uint64_t offset, const void *bytes, uint64_t length)
{
    struct memory_opening *opening = memory_files_at(os_files(), file);
    return opening && length <= SIZE_MAX && !memory_files_write(opening, offset, bytes, (size_t)length);
}

bool os_file_has_data(int file, uint64_t offset, uint64_t *length)
{
    const struct memory_opening *opening = memory_files_at(os_files(), file);
    return !opening || memory_files_has_data(opening, offset, length);
}

bool os_file_clear(int file, uint64_t offset, uint64_t size)
{
    struct memory_opening *opening = memory_files_at(os_files(), file);
    if (opening)
        memory_files_clear_range(opening, offset, size);
    return opening != NULL;
}

static size_t chunks_of(uint64_t size)
{
    return (size_t)((size + MEMORY_CHUNK - 1) / MEMORY_CHUNK);
}

void *os_map(int file, uint64_t offset, uint64_t size)
{
    if (size > SIZE_MAX - MEMORY_CHUNK)
        return NULL;
    return file < 0 ? memory_pages_take(chunks_of(size)) : memory_files_map(os_files(), file, offset, size);
}

void os_unmap(void *memory, uint64_t size)
{
    if (!memory_files_unmap(os_files(), memory))
        memory_pages_free(memory, chunks_of(size));
}

/* ---- threads and faults ---- */

bool os_is_single_thread(void)
{
    return true;
}

/* Accesses by this module never fault like a program's would. */
bool os_watch_faults(os_fault_fn explain)
{
    (void)explain;
    return false;
}

void os_unwatch_faults(void)
{
}

void os_print(const char *text, size_t length)
{
    os_import_print(2, text, length);
}
