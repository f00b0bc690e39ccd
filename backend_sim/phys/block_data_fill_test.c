/* SPDX-License-Identifier: Apache-2.0 */
/* block_data_fill: the value is written exactly to the requested range, and only its chunks count as written. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "block_data.h"
#include "os.h"

static struct backing_file backing;
static const unsigned char ones[4] = {0x11, 0x11, 0x11, 0x11}, zero[4], word[4] = {1, 2, 3, 4};

static const unsigned char *chunk_of(const struct block_data *bytes, uint64_t offset)
{
    uint64_t one = 1;
    return block_data_run(bytes, offset, &one);
}

/* Are all bytes of [from, to) those of a value that begins at offset 0? Bytes that were never written are zero. */
static bool all(const struct block_data *bytes, uint64_t from, uint64_t to, const unsigned char value[4])
{
    for (uint64_t at = from, run; at < to; at += run) {
        run = to - at;
        const unsigned char *there = block_data_run(bytes, at, &run);
        for (uint64_t i = 0; i < run; i++)
            if ((there ? there[i] : 0) != value[(at + i) % 4])
                return false;
    }
    return true;
}

static bool fill(struct block_data *bytes, uint64_t offset, uint64_t length, const unsigned char *value, unsigned width)
{
    if (!block_data_reserve(bytes, offset, length))
        return false;
    block_data_fill(bytes, offset, length, value, width);
    return true;
}

/*    chunks   0       1       2       3       4
 *             [...####|#######|#######|##.....|.......]   filled from the middle of the first into the fourth  */
static void fresh(const unsigned char value[4], unsigned width)
{
    struct block_data bytes;
    const uint64_t size = 5 * BLOCK_DATA_CHUNK, from = BLOCK_DATA_CHUNK / 2, to = 3 * BLOCK_DATA_CHUNK + 4096;
    block_data_init(&bytes, &backing, size);
    tap_ok(block_data_reserve(&bytes, from, to - from) && !chunk_of(&bytes, from), "reserved chunks still count as never "
        "written");
    block_data_fill(&bytes, from, to - from, value, width);
    tap_ok(all(&bytes, from, to, value), "a value of %u bytes fills chunks that were never written", width);
    tap_ok(all(&bytes, 0, from, zero) && all(&bytes, to, size, zero), "and no byte beside them");
    tap_ok(chunk_of(&bytes, 0) && chunk_of(&bytes, to - 1) && !chunk_of(&bytes, 4 * BLOCK_DATA_CHUNK),
           "the chunks that it touches count as written, the last does not");
    tap_ok(fill(&bytes, 0, size, ones, 1) && all(&bytes, 0, size, ones), "a fill goes over written chunks and fresh ones");
    block_data_clear(&bytes);
}

static void zeros(void)
{
    struct block_data bytes;
    const uint64_t size = 5 * BLOCK_DATA_CHUNK;
    block_data_init(&bytes, &backing, size);
    block_data_fill(&bytes, 0, size, zero, 4);
    tap_ok(!bytes.written, "zeros over bytes that were never written need no room and take none");
    tap_ok(fill(&bytes, BLOCK_DATA_CHUNK, BLOCK_DATA_CHUNK, ones, 1), "one chunk is filled");
    block_data_fill(&bytes, 0, size, zero, 2);
    tap_ok(all(&bytes, 0, size, zero) && !chunk_of(&bytes, 0), "zeros go over it, and leave those beside it unwritten");
    const unsigned char high[4] = {0, 0, 0, 9};
    tap_ok(fill(&bytes, 0, size, high, 4) && all(&bytes, 0, size, high), "a value that begins with zeros is not zero");
    block_data_clear(&bytes);
}

/* A chunk straddles the end of a window, and the fill continues in the next one. */
static void across_windows(void)
{
    struct block_data before, bytes;
    const uint64_t page = os_page_size(), size = 4 * BLOCK_DATA_CHUNK;
    block_data_init(&before, &backing, BACKING_FILE_WINDOW - BLOCK_DATA_CHUNK - page);
    block_data_init(&bytes, &backing, size);
    tap_ok(block_data_touch(&before, 0, 1) && fill(&bytes, 0, size, word, 4), "a fill from the end of one window into the next");
    tap_ok(bytes.place / BACKING_FILE_WINDOW < (bytes.place + size) / BACKING_FILE_WINDOW && bytes.place % BACKING_FILE_WINDOW,
           "the block is in both");
    tap_ok(all(&bytes, 0, size, word), "all of it has the value");
    tap_ok(fill(&bytes, 0, size, ones, 1) && all(&bytes, 0, size, ones), "so has what is filled again, up to the end of each window");
    tap_ok(all(&before, 0, before.size, zero), "and nothing beside a window is written");
    block_data_clear(&bytes);
    block_data_clear(&before);
}

static void written_another_way(void)
{
    struct block_data bytes;
    struct backing_file none;
    const uint64_t size = 4 * BLOCK_DATA_CHUNK;
    for (unsigned long nth = 1; nth <= 3; nth++) {
        block_data_init(&bytes, &backing, size);
        bool room = block_data_reserve(&bytes, 0, size);
        inject_arm_at("pwrite", nth);
        block_data_fill(&bytes, 0, size, word, 4);
        const char *what = inject_disarm();
        tap_ok(room && what && all(&bytes, 0, size, word), "all is filled where write %lu to the file fails", nth);
        block_data_clear(&bytes);
    }
    backing_file_init(&none);
    block_data_init(&bytes, &none, size);
    inject_arm_at("memfd_create", 1);
    bool filled = fill(&bytes, 0, size, word, 4);
    tap_ok(inject_disarm() && filled && bytes.own && all(&bytes, 0, size, word), "private memory is filled without a file");
    block_data_clear(&bytes);
    backing_file_clear(&none);
    block_data_init(&bytes, &backing, size);
    tap_ok(block_data_open(&bytes) && fill(&bytes, 0, size, word, 4) && all(&bytes, 0, size, word), "and so are bytes that are open");
    block_data_clear(&bytes);
}

int main(void)
{
    backing_file_init(&backing);
    fresh(ones, 1);
    fresh((const unsigned char[4]){5, 6, 5, 6}, 2);
    fresh(word, 4);
    zeros();
    across_windows();
    written_another_way();
    backing_file_clear(&backing);
    return tap_done();
}
