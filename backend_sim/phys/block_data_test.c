/* SPDX-License-Identifier: Apache-2.0 */
/* block_data: zero and without space until written; mapped at other addresses; zero again once freed. */
#include "block_data.h"

#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "breaks.h"
#include "os_share.h"

static struct backing_file backing;

static bool zeros(const struct block_data *bytes, uint64_t offset, uint64_t length, uint64_t expected)
{
    uint64_t run = length;
    return !block_data_run(bytes, offset, &run) && run == expected;
}

static void sparse(void)
{
    struct block_data bytes;
    block_data_init(&bytes, &backing, UINT64_C(1) << 40);
    tap_ok(zeros(&bytes, 5, 100, 100), "untouched bytes are zeros without a place");
    tap_ok(block_data_touch(&bytes, 7, 0) && !bytes.written, "touching nothing takes nothing");
    tap_ok(block_data_touch(&bytes, (UINT64_C(1) << 40) - 1, 1), "a byte of a terabyte has room");
    tap_ok(zeros(&bytes, 0, 100, 100), "and the others still have none");
    block_data_clear(&bytes);
    tap_ok(!bytes.written && bytes.place == BACKING_FILE_NOWHERE, "cleared");
}

static void contents(void)
{
    struct block_data bytes;
    block_data_init(&bytes, &backing, 4 * BLOCK_DATA_CHUNK);
    tap_ok(block_data_touch(&bytes, BLOCK_DATA_CHUNK - 1, 2), "touched across two chunks");
    uint64_t run = 4 * BLOCK_DATA_CHUNK;
    unsigned char *at = block_data_run(&bytes, 0, &run);
    tap_u64(run, 2 * BLOCK_DATA_CHUNK, "both lie together, and only what was touched has room");
    tap_ok(at && !at[0] && !at[BLOCK_DATA_CHUNK], "new room reads as zero");
    tap_ok(zeros(&bytes, 2 * BLOCK_DATA_CHUNK + 3, BLOCK_DATA_CHUNK, BLOCK_DATA_CHUNK), "the others are known to be zero");
    at[BLOCK_DATA_CHUNK] = 42;
    tap_ok(block_data_touch(&bytes, BLOCK_DATA_CHUNK, 1) && at[BLOCK_DATA_CHUNK] == 42, "touching again keeps the contents");
    tap_ok(block_data_touch(&bytes, 4 * BLOCK_DATA_CHUNK - 1, 1), "the last byte");
    run = BACKING_FILE_WINDOW;
    tap_ok(block_data_run(&bytes, 3 * BLOCK_DATA_CHUNK, &run) == at + 3 * BLOCK_DATA_CHUNK, "lies where it should");
    uint64_t place = bytes.place;
    block_data_clear(&bytes);
    block_data_init(&bytes, &backing, 4 * BLOCK_DATA_CHUNK);
    run = 1;
    tap_ok(block_data_touch(&bytes, 0, 4 * BLOCK_DATA_CHUNK) && bytes.place == place, "another block gets the same place");
    at = block_data_run(&bytes, BLOCK_DATA_CHUNK, &run);
    tap_ok(at && !*at, "and finds zeros");
    block_data_clear(&bytes);
}

/* Blocks that are touched one after another lie together, up to the end of their window. */
static void neighbours(void)
{
    struct block_data block[3];
    unsigned char *at[3];
    const uint64_t sizes[3] = {4 * BLOCK_DATA_CHUNK, BACKING_FILE_WINDOW - 8 * BLOCK_DATA_CHUNK, 8 * BLOCK_DATA_CHUNK};
    for (int i = 0; i < 3; i++) {
        uint64_t run = sizes[i];
        block_data_init(&block[i], &backing, sizes[i]);
        tap_ok(block_data_touch(&block[i], 0, sizes[i]), "block %d", i);
        at[i] = block_data_run(&block[i], 0, &run);
        tap_u64(run, i < 2 ? sizes[i] : 4 * BLOCK_DATA_CHUNK, "block %d lies in one piece as far as its window goes", i);
    }
    tap_ok(at[1] == at[0] + sizes[0] && at[2] == at[1] + sizes[1], "one after another");
    uint64_t run = sizes[2];
    *block_data_run(&block[2], 4 * BLOCK_DATA_CHUNK, &run) = 9;
    tap_u64(run, 4 * BLOCK_DATA_CHUNK, "the rest lies in the next window");
    for (int i = 0; i < 3; i++)
        block_data_clear(&block[i]);
}

/* Two places of the host for the same bytes. */
static void shown(void)
{
    struct block_data bytes;
    uint64_t run = 1, at, size = 4 * BLOCK_DATA_CHUNK;
    block_data_init(&bytes, &backing, size);
    tap_ok(os_reserve_anywhere(size, BLOCK_DATA_CHUNK, &at) && at % BLOCK_DATA_CHUNK == 0, "addresses for it");
    tap_ok(block_data_open(&bytes) && block_data_open(&bytes), "opened, also twice");
    tap_ok(os_map_fixed(at, size, backing.file, bytes.place, true), "shown");
    volatile unsigned char *outside = (volatile unsigned char *)(uintptr_t)at;
    outside[2 * BLOCK_DATA_CHUNK] = 7;
    unsigned char *inside = block_data_run(&bytes, 2 * BLOCK_DATA_CHUNK, &run);
    tap_ok(inside && *inside == 7, "what others wrote is seen");
    if (inside)
        *inside = 8;
    tap_ok(outside[2 * BLOCK_DATA_CHUNK] == 8, "and the other way round");
    tap_ok(os_map_noaccess(at, size) && !mprotect((void *)(uintptr_t)at, size, PROT_READ) && outside[2 * BLOCK_DATA_CHUNK] == 0,
           "concealed, nothing of it is there");
    os_unreserve(at, size);
    block_data_clear(&bytes);
}

/* Where the system gives no file blocks have memory of their own, which can be shown once it does. */
static void without_a_file(void)
{
    struct backing_file none;
    struct block_data bytes;
    struct rlimit most, few;
    const uint64_t size = BACKING_FILE_WINDOW + 5000;
    backing_file_init(&none);
    getrlimit(RLIMIT_NOFILE, &most);
    few = most;
    few.rlim_cur = 0;
    setrlimit(RLIMIT_NOFILE, &few);
    block_data_init(&bytes, &none, size);
    uint64_t run = 1;
    tap_ok(block_data_touch(&bytes, size - 1, 1), "touched");
    unsigned char *at = block_data_run(&bytes, size - 1, &run);
    tap_ok(at && !*at, "reads as zero");
    if (at)
        *at = 3;
    tap_ok(!block_data_open(&bytes), "cannot be opened to others");
    setrlimit(RLIMIT_NOFILE, &most);
    tap_ok(block_data_open(&bytes) && bytes.place != BACKING_FILE_NOWHERE, "until the system has files again");
    at = block_data_run(&bytes, size - 1, &run);
    tap_ok(at && *at == 3, "and has kept what was written");
    run = size;
    at = block_data_run(&bytes, 0, &run);
    tap_ok(at && !*at && run == BACKING_FILE_WINDOW, "and what was not");
    block_data_clear(&bytes);
    backing_file_clear(&none);
}

static int file_of(void *user)
{
    (void)user;
    return os_file_new();
}

/* Where space can run out it is taken beforehand, from the first chunk on that has none. */
static void finite(void)
{
    struct backing_file lying;
    struct block_data bytes;
    struct stat file = {0};
    uint64_t run = 4 * BLOCK_DATA_CHUNK;
    backing_file_init(&lying);
    backing_file_open_with(&lying, file_of, NULL);
    block_data_init(&bytes, &lying, run);
    tap_ok(block_data_touch(&bytes, 0, BLOCK_DATA_CHUNK) && fstat(lying.file, &file) == 0 &&
               (uint64_t)file.st_blocks * 512 < 2 * BLOCK_DATA_CHUNK,
           "room for a chunk, and no more");
    tap_ok(block_data_touch(&bytes, 0, 2 * BLOCK_DATA_CHUNK) && block_data_touch(&bytes, BLOCK_DATA_CHUNK / 2, 3 * BLOCK_DATA_CHUNK),
           "room behind two chunks that have some");
    tap_ok(block_data_run(&bytes, 0, &run) && run == 4 * BLOCK_DATA_CHUNK, "is one piece with them");
    tap_ok(fstat(lying.file, &file) == 0 && (uint64_t)file.st_blocks * 512 >= run, "the file has it, though nothing is written");
    block_data_clear(&bytes);
    backing_file_clear(&lying);
}

static void check(void)
{
    struct block_data bytes, borrowed;
    struct backing_file_use used = {0, 0};
    unsigned char own[1];
    uint64_t size = 2 * BLOCK_DATA_CHUNK, mask = 1;
    block_data_init(&bytes, &backing, size);
    bytes.apart = true;
    check_holds(block_data_check(&bytes), "not written");
    BREAKS(bytes.open, true, block_data_check(&bytes), "its bytes are open without a place");
    BREAKS(bytes.own, own, block_data_check(&bytes), "its own bytes, not written, have no place and private memory");
    BREAKS(bytes.written, &mask, block_data_check(&bytes), "its own bytes, written, have no place and no private memory");
    block_data_use(&bytes, &backing, &used);
    tap_ok(!used.bytes && !used.places, "it has no place");
    tap_ok(block_data_touch(&bytes, 0, 1), "a write");
    check_holds(block_data_check(&bytes), "written");
    BREAKS(bytes.own, own, block_data_check(&bytes), "its own bytes, written, have a place and private memory");
    BREAKS(bytes.written, NULL, block_data_check(&bytes), "its own bytes, not written, have a place and no private memory");
    BREAKS(bytes.place, bytes.place + 1, block_data_check(&bytes), "bytes lie at 0x1 of the file");
    BREAKS(bytes.size, 2 * size, block_data_check(&bytes), "are free");
    BREAKS(bytes.open, true, (backing.windows = 0, block_data_check(&bytes)), "of the file are not mapped");
    backing.windows = 1;
    tap_ok(block_data_open(&bytes), "opened");
    check_holds(block_data_check(&bytes), "open");
    block_data_use(&bytes, &backing, &used);
    block_data_use(&bytes, NULL, &used); /* another file */
    tap_ok(used.places == 1 && used.bytes == size + os_page_size(), "what it has of the file includes the page behind it");
    check_holds(backing_file_check(&backing, &used), "nobody else has a place");
    block_data_borrow(&borrowed, &backing, bytes.place, size);
    check_holds(block_data_check(&borrowed), "borrowed");
    BREAKS(borrowed.own, own, block_data_check(&borrowed), "borrowed bytes, not written, have a place and private memory");
    BREAKS(borrowed.written, &mask, block_data_check(&borrowed), "borrowed bytes, written, have a place and no private memory");
    BREAKS(borrowed.place, BACKING_FILE_NOWHERE, block_data_check(&borrowed), "its bytes are open without a place");
    block_data_use(&borrowed, &backing, &used);
    tap_u64(used.places, 1, "a place that is borrowed is another's");
    block_data_clear(&bytes);
    check_holds(block_data_check(&bytes), "cleared");
    check_breaks(block_data_check(&borrowed), "are free");
}

int main(void)
{
    backing_file_init(&backing);
    check();
    sparse();
    contents();
    neighbours();
    shown();
    without_a_file();
    finite();
    backing_file_clear(&backing);
    return tap_done();
}
