/* SPDX-License-Identifier: Apache-2.0 */
/* Memory in units of 64 KiB, the pages of WebAssembly: new pages are zero and take no memory of the machine before
 * they are touched, and freed pages are reused, so that a module does not grow forever. */
#include <string.h>

#include "free_ranges.h"
#include "memory_chunks_wasm.h"

static struct free_ranges unused;
static bool begun;
static uint64_t used_up_to; /* memory above was never handed out, and is zero */

/* New pages, a megabyte at a time, as unused ones. False when the module cannot grow further. */
static bool grow(size_t chunks)
{
    enum { AT_ONCE = 16 };
    size_t more = chunks > AT_ONCE ? chunks : AT_ONCE, at = __builtin_wasm_memory_grow(0, more);
    return at != SIZE_MAX && free_ranges_grant(&unused, (uint64_t)at * MEMORY_CHUNK, (uint64_t)more * MEMORY_CHUNK);
}

unsigned char *memory_pages_take(size_t chunks)
{
    uint64_t size = (uint64_t)chunks * MEMORY_CHUNK, at;
    if (!begun)
        free_ranges_init(&unused, 0);
    begun = true;
    bool reused = free_ranges_find(&unused, size, MEMORY_CHUNK, 0, &at);
    if (!reused && (!grow(chunks) || !free_ranges_find(&unused, size, MEMORY_CHUNK, 0, &at)))
        return NULL;
    if (!free_ranges_take(&unused, at, size))
        return NULL;
    unsigned char *memory = (unsigned char *)(uintptr_t)at;
    if (at < used_up_to)
        memset(memory, 0, (size_t)size);
    if (at + size > used_up_to)
        used_up_to = at + size;
    return memory;
}

void memory_pages_free(unsigned char *memory, size_t chunks)
{
    free_ranges_add(&unused, (uint64_t)(uintptr_t)memory, (uint64_t)chunks * MEMORY_CHUNK);
}
