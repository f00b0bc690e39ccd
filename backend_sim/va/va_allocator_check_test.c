/* SPDX-License-Identifier: Apache-2.0 */
/* va_allocator_check: a test breaks each invariant by hand and expects its message. */
#include "breaks.h"
#include "free_ranges_parts.h"
#include "va_allocator_parts.h"

#define U UINT64_C(0x200000)
#define CHUNK (16 * U)
#define START (UINT64_C(1) << 40)
#define SIZE (64 * CHUNK)

static struct va_allocator va;

/*  [open chunk: 4 taken, 12 free][16 taken][free ...)  */
static const char *check(void)
{
    struct va_allocator_taken taken = {0};
    const char *said = va_allocator_check_taken(&va, START, 4 * U, &taken);
    said = said ? said : va_allocator_check_taken(&va, START + CHUNK, CHUNK, &taken);
    return said ? said : va_allocator_check(&va, SIZE, &taken);
}

static uint64_t take(uint64_t size)
{
    uint64_t at = 0;
    if (va_allocator_take(&va, size, U, 0, &at) != VA_ALLOCATOR_TAKEN)
        tap_bail("no addresses");
    return at;
}

int main(void)
{
    struct va_allocator_taken none = {0};
    if (!va_allocator_init(&va, START, START + SIZE, CHUNK))
        tap_bail("no memory");
    tap_ok(take(4 * U) == START && take(CHUNK) == START + CHUNK, "a small range and a large one");
    check_holds(check(), "two ranges");
    struct chunk *chunk = addrmap_floor(&va.chunks, START);
    BREAKS(chunk->used, 0, check(), "of the open chunk at 0x10000000000 0x0 bytes are used and 0x1800000 free, of 0x2000000");
    BREAKS(chunk->used, 5 * U, check(), "0xa00000 bytes are used");
    BREAKS(chunk->start, START + U, check(), "the range of 0x800000 bytes at 0x10000000000 is taken in no open chunk");
    BREAKS(va.small.root->start, START + 3 * U, check(), "0x200000 bytes of the range at 0x10000000000, which is taken, are free");
    BREAKS_TO(va.large.root->start, START + CHUNK - U, va_allocator_check_at(&va, START), "0x200000 bytes of the open chunk at 0x10000000000 are free outside of it");
    BREAKS(va.chunks.count, 2, check(), "free ranges");
    const struct va_allocator_taken both = {.small = 1, .large = 1, .small_bytes = 4 * U, .large_bytes = CHUNK};
    BREAKS(chunk->start, START + U, va_allocator_check(&va, SIZE, &both), "open chunks: the thing stored at 0x10000000000");
    BREAKS(chunk->start, START + U, va_allocator_check_at(&va, START), "open chunks: ");
    BREAKS(va.large.barrier, CHUNK, va_allocator_check_at(&va, START + 5 * CHUNK), "free ranges: ");
    BREAKS_TO(va.small.barrier, 4 * U, va_allocator_check_at(&va, START + 5 * U), "free parts of chunks: ");
    check_breaks(va_allocator_check(&va, SIZE, &none), "there are 1 free ranges");
    struct va_allocator_taken taken = {.small = 1, .large = 1, .small_bytes = 5 * U, .large_bytes = CHUNK};
    check_breaks(va_allocator_check(&va, SIZE, &taken), "the open chunks have 0x2000000 bytes, of which 0xa00000 are taken");
    taken.small_bytes = 4 * U;
    check_breaks(va_allocator_check(&va, SIZE + CHUNK, &taken), "of 0x82000000 bytes of addresses");
    check_holds(va_allocator_check_at(&va, START), "around an address");
    BREAKS(chunk->used, 5 * U, va_allocator_check_at(&va, START), "0xa00000 bytes are used");
    const uint64_t at = take(2 * U);
    va_allocator_free(&va, at, 2 * U);
    check_holds(check(), "a range that was freed last");
    BREAKS(va.last.size, 3 * U, check(), "");
    BREAKS(va.last.address, START + 2 * CHUNK, check(), "freed last: ");
    BREAKS_TO(va.last.newest, false, check(), "was freed last, and another one taken since");
    check_holds(check(), "all is mended");
    struct va_allocator_taken two = {.small = 2, .large = 1, .small_bytes = 17 * U, .large_bytes = CHUNK};
    tap_u64(take(13 * U), START + 2 * CHUNK, "a second open chunk");
    check_holds(va_allocator_check(&va, SIZE, &two), "two open chunks");
    BREAKS(chunk->used, 5 * U, va_allocator_check(&va, SIZE, &two), "of the open chunk at 0x10000000000 0xa00000 bytes are used");
    va_allocator_clear(&va);
    return tap_done();
}
