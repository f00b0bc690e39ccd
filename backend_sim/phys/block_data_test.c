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
    tap_ok(zeros(&bytes, 5, 100, 100), "bytes that were never written read as zero and have no place");
    tap_ok(block_data_touch(&bytes, 7, 0) && !bytes.written, "touching an empty range allocates nothing");
    tap_ok(block_data_touch(&bytes, (UINT64_C(1) << 40) - 1, 1), "one byte of a terabyte can be written");
    tap_ok(zeros(&bytes, 0, 100, 100), "the other bytes still have no storage");
    block_data_clear(&bytes);
    tap_ok(!bytes.written && bytes.place == BACKING_FILE_NOWHERE, "clearing frees the place");
}

static void contents(void)
{
    struct block_data bytes;
    block_data_init(&bytes, &backing, 4 * BLOCK_DATA_CHUNK);
    tap_ok(block_data_touch(&bytes, BLOCK_DATA_CHUNK - 1, 2), "a range across two chunks can be written");
    uint64_t run = 4 * BLOCK_DATA_CHUNK;
    unsigned char *at = block_data_run(&bytes, 0, &run);
    tap_u64(run, 2 * BLOCK_DATA_CHUNK, "both chunks are contiguous, and only they have storage");
    tap_ok(at && !at[0] && !at[BLOCK_DATA_CHUNK], "new storage reads as zero");
    tap_ok(zeros(&bytes, 2 * BLOCK_DATA_CHUNK + 3, BLOCK_DATA_CHUNK, BLOCK_DATA_CHUNK), "the other chunks are known to be zero");
    at[BLOCK_DATA_CHUNK] = 42;
    tap_ok(block_data_touch(&bytes, BLOCK_DATA_CHUNK, 1) && at[BLOCK_DATA_CHUNK] == 42, "touching again keeps the contents");
    tap_ok(block_data_touch(&bytes, 4 * BLOCK_DATA_CHUNK - 1, 1), "the last byte can be written");
    run = BACKING_FILE_WINDOW;
    tap_ok(block_data_run(&bytes, 3 * BLOCK_DATA_CHUNK, &run) == at + 3 * BLOCK_DATA_CHUNK, "the last chunk is at its offset");
    uint64_t place = bytes.place;
    block_data_clear(&bytes);
    block_data_init(&bytes, &backing, 4 * BLOCK_DATA_CHUNK);
    run = 1;
    tap_ok(block_data_touch(&bytes, 0, 4 * BLOCK_DATA_CHUNK) && bytes.place == place, "another block gets the same place");
    at = block_data_run(&bytes, BLOCK_DATA_CHUNK, &run);
    tap_ok(at && !*at, "the place reads as zero again");
    block_data_clear(&bytes);
}

/* Blocks that are first written one after another are adjacent, up to the end of their window. */
static void neighbours(void)
{
    struct block_data block[3];
    unsigned char *at[3];
    const uint64_t sizes[3] = {4 * BLOCK_DATA_CHUNK, BACKING_FILE_WINDOW - 8 * BLOCK_DATA_CHUNK, 8 * BLOCK_DATA_CHUNK};
    for (int i = 0; i < 3; i++) {
        uint64_t run = sizes[i];
        block_data_init(&block[i], &backing, sizes[i]);
        tap_ok(block_data_touch(&block[i], 0, sizes[i]), "block %d can be written", i);
        at[i] = block_data_run(&block[i], 0, &run);
        tap_u64(run, i < 2 ? sizes[i] : 4 * BLOCK_DATA_CHUNK, "block %d is contiguous up to the end of its window", i);
    }
    tap_ok(at[1] == at[0] + sizes[0] && at[2] == at[1] + sizes[1], "the blocks are adjacent");
    uint64_t run = sizes[2];
    *block_data_run(&block[2], 4 * BLOCK_DATA_CHUNK, &run) = 9;
    tap_u64(run, 4 * BLOCK_DATA_CHUNK, "the rest of the block is in the next window");
    for (int i = 0; i < 3; i++)
        block_data_clear(&block[i]);
}

/* The same bytes at two host addresses. */
static void shown(void)
{
    struct block_data bytes;
    uint64_t run = 1, at, size = 4 * BLOCK_DATA_CHUNK;
    block_data_init(&bytes, &backing, size);
    tap_ok(os_reserve_anywhere(size, BLOCK_DATA_CHUNK, &at) && at % BLOCK_DATA_CHUNK == 0, "host addresses are reserved");
    tap_ok(block_data_open(&bytes) && block_data_open(&bytes), "the block can be opened, also twice");
    tap_ok(os_map_fixed(at, size, backing.file, bytes.place, true), "the block is mapped at the host addresses");
    volatile unsigned char *outside = (volatile unsigned char *)(uintptr_t)at;
    outside[2 * BLOCK_DATA_CHUNK] = 7;
    unsigned char *inside = block_data_run(&bytes, 2 * BLOCK_DATA_CHUNK, &run);
    tap_ok(inside && *inside == 7, "a write at the host addresses is visible in the block");
    if (inside)
        *inside = 8;
    tap_ok(outside[2 * BLOCK_DATA_CHUNK] == 8, "a write in the block is visible at the host addresses");
    tap_ok(os_map_noaccess(at, size) && !mprotect((void *)(uintptr_t)at, size, PROT_READ) && outside[2 * BLOCK_DATA_CHUNK] == 0,
           "after os_map_noaccess none of its bytes are at the host addresses");
    os_unreserve(at, size);
    block_data_clear(&bytes);
}

/* Without a file a block uses private memory; it moves to the file once the system has one. */
/* A reader of open bytes skips those that take no space; writing through another mapping of the file is seen. */
static void to_read(void)
{
    struct block_data bytes;
    const uint64_t size = UINT64_C(1) << 30, at = (UINT64_C(1) << 29) + 5;
    uint64_t run = size;
    block_data_init(&bytes, &backing, size);
    tap_ok(!block_data_run_to_read(&bytes, 0, &run) && run == size, "there is nothing to read before the first write");
    tap_ok(block_data_touch(&bytes, at, 1), "one byte is written");
    run = 1;
    *block_data_run(&bytes, at, &run) = 9;
    tap_ok(block_data_open(&bytes), "the bytes are opened");
    uint64_t read = 0, zero = 0;
    for (uint64_t done = 0; done < size; done += run) {
        run = size - done;
        const unsigned char *there = block_data_run_to_read(&bytes, done, &run);
        read += there ? run : 0;
        zero += there ? 0 : run;
        if (there && at - done < run)
            tap_ok(there[at - done] == 9, "the byte is among those that are read");
    }
    tap_u64(read + zero, size, "each byte is read or known to be zero");
    tap_ok(read && read <= 2 * BLOCK_DATA_CHUNK, "few of the open bytes are read: %llu", (unsigned long long)read);
    block_data_clear(&bytes);
}

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
    tap_ok(block_data_touch(&bytes, size - 1, 1), "the last byte can be written");
    unsigned char *at = block_data_run(&bytes, size - 1, &run);
    tap_ok(at && !*at, "private memory reads as zero");
    if (at)
        *at = 3;
    tap_ok(!block_data_open(&bytes), "without a file the block cannot be opened");
    setrlimit(RLIMIT_NOFILE, &most);
    tap_ok(block_data_open(&bytes) && bytes.place != BACKING_FILE_NOWHERE, "with a file the block can be opened");
    at = block_data_run(&bytes, size - 1, &run);
    tap_ok(at && *at == 3, "the written byte moved to the file");
    run = size;
    at = block_data_run(&bytes, 0, &run);
    tap_ok(at && !*at && run == BACKING_FILE_WINDOW, "the other bytes are still zero");
    block_data_clear(&bytes);
    backing_file_clear(&none);
}

static int file_of(void *user)
{
    (void)user;
    return os_file_new();
}

/* In a file that can run out of space, space is allocated before a write, starting at the first chunk without storage. */
static void limited(void)
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
           "writing a chunk allocates space for it and no more");
    tap_ok(block_data_touch(&bytes, 0, 2 * BLOCK_DATA_CHUNK) &&
           block_data_touch(&bytes, BLOCK_DATA_CHUNK / 2, 3 * BLOCK_DATA_CHUNK),
           "space after two chunks that already have it");
    tap_ok(block_data_run(&bytes, 0, &run) && run == 4 * BLOCK_DATA_CHUNK, "all four chunks are contiguous");
    tap_ok(fstat(lying.file, &file) == 0 && (uint64_t)file.st_blocks * 512 >= run,
           "the file has the space although nothing is written");
    block_data_clear(&bytes);
    backing_file_clear(&lying);
}

/* Bytes move to another file: only the written ones. */
static void moved(void)
{
    struct backing_file other;
    struct block_data bytes;
    const uint64_t size = 4 * BLOCK_DATA_CHUNK;
    uint64_t run = 1;
    backing_file_init(&other);
    block_data_init(&bytes, &backing, size);
    tap_ok(block_data_move(&bytes, &other) && bytes.place == BACKING_FILE_NOWHERE && bytes.backing == &other,
           "bytes that were never written move without taking a place");
    tap_ok(block_data_touch(&bytes, 2 * BLOCK_DATA_CHUNK, 1), "a write in the third chunk");
    unsigned char *at = block_data_run(&bytes, 2 * BLOCK_DATA_CHUNK, &run);
    if (at)
        *at = 77;
    tap_ok(block_data_move(&bytes, &backing) && bytes.backing == &backing, "written bytes move");
    at = block_data_run(&bytes, 2 * BLOCK_DATA_CHUNK, &run);
    tap_ok(at && *at == 77, "the written bytes are there");
    tap_ok(zeros(&bytes, 0, 2 * BLOCK_DATA_CHUNK, 2 * BLOCK_DATA_CHUNK), "never-written bytes have no storage there either");
    struct backing_file_use used = {0};
    check_holds(block_data_check(&bytes), "moved");
    check_holds(backing_file_check(&other, &used), "the file that they left has all its places");
    block_data_clear(&bytes);
    backing_file_clear(&other);
}

static void check(void)
{
    struct block_data bytes, borrowed;
    struct backing_file_use used = {0};
    unsigned char own[1];
    uint64_t size = 2 * BLOCK_DATA_CHUNK, mask = 1;
    block_data_init(&bytes, &backing, size);
    bytes.apart = true;
    check_holds(block_data_check(&bytes), "not written");
    BREAKS(bytes.open, true, block_data_check(&bytes), "its bytes are open without a location");
    BREAKS(bytes.own, own, block_data_check(&bytes), "its own bytes, not written, have no place and private memory");
    BREAKS(bytes.written, &mask, block_data_check(&bytes), "its own bytes, written, have no place and no private memory");
    block_data_use(&bytes, &backing, &used);
    tap_ok(!used.bytes && !used.places, "it has no place");
    tap_ok(block_data_touch(&bytes, 0, 1), "a write");
    check_holds(block_data_check(&bytes), "written");
    BREAKS(bytes.own, own, block_data_check(&bytes), "its own bytes, written, have a place and private memory");
    BREAKS(bytes.written, NULL, block_data_check(&bytes), "its own bytes, not written, have a place and no private memory");
    BREAKS(bytes.place, bytes.place + 1, block_data_check(&bytes), "bytes lie at 0x1 of the file");
    BREAKS_TO(bytes.size, 2 * size, block_data_check(&bytes), "are free");
    BREAKS(bytes.open, true, (backing.windows = 0, block_data_check(&bytes)), "of the file are not mapped");
    backing.windows = 1;
    tap_ok(block_data_open(&bytes), "opened");
    check_holds(block_data_check(&bytes), "open");
    block_data_use(&bytes, &backing, &used);
    block_data_use(&bytes, NULL, &used); /* another file */
    tap_ok(used.places == 1 && used.bytes == size + os_page_size(), "its share of the file includes the page after it");
    check_holds(backing_file_check(&backing, &used), "no other block has a place");
    block_data_borrow(&borrowed, &backing, bytes.place, size);
    check_holds(block_data_check(&borrowed), "borrowed");
    BREAKS(borrowed.own, own, block_data_check(&borrowed), "borrowed bytes, not written, have a place and private memory");
    BREAKS(borrowed.written, &mask, block_data_check(&borrowed), "borrowed bytes, written, have a place and no private memory");
    BREAKS(borrowed.place, BACKING_FILE_NOWHERE, block_data_check(&borrowed), "its bytes are open without a location");
    block_data_use(&borrowed, &backing, &used);
    tap_u64(used.places, 1, "a place that is borrowed is another's");
    block_data_clear(&bytes);
    check_holds(block_data_check(&bytes), "cleared");
    check_breaks(block_data_check(&borrowed), "are free");
}

/* A partially written chunk can be read completely, even if it straddles two windows. */
static void across_windows(void)
{
    struct block_data first, second;
    const uint64_t page = os_page_size();
    uint64_t run = BLOCK_DATA_CHUNK, rest;
    block_data_init(&first, &backing, BACKING_FILE_WINDOW - BLOCK_DATA_CHUNK / 2 + page);
    block_data_init(&second, &backing, BLOCK_DATA_CHUNK);
    tap_ok(block_data_touch(&first, 0, 1) && block_data_touch(&second, 0, 1), "the first byte of two blocks can be written");
    const uint64_t room = BACKING_FILE_WINDOW - second.place % BACKING_FILE_WINDOW;
    const unsigned char *at = block_data_run(&second, 0, &run);
    tap_ok(at && run == room && room < BLOCK_DATA_CHUNK, "the second one's chunk ends in another window");
    rest = BLOCK_DATA_CHUNK - room;
    tap_ok(backing.windows > (second.place + room) / BACKING_FILE_WINDOW && backing.window[(second.place + room) / BACKING_FILE_WINDOW],
           "which is mapped, too");
    at = block_data_run(&second, room, &rest);
    tap_ok(at && !at[0] && !at[rest - 1], "and reads as zero");
    block_data_clear(&second);
    block_data_clear(&first);
}

int main(void)
{
    backing_file_init(&backing);
    check();
    across_windows();
    sparse();
    contents();
    neighbours();
    shown();
    to_read();
    without_a_file();
    limited();
    moved();
    backing_file_clear(&backing);
    return tap_done();
}
