/* bytes: zero until written, no room taken until then; shown elsewhere; given back as zeros. */
#include "bytes.h"

#include <string.h>

#include "os.h"
#include "tap.h"

static struct frames frames;

static bool zeros(const struct bytes *bytes, uint64_t offset, uint64_t length, uint64_t expected)
{
    uint64_t run = length;
    return !bytes_run(bytes, offset, &run) && run == expected;
}

static void sparse(void)
{
    struct bytes bytes;
    bytes_init(&bytes, &frames, UINT64_C(1) << 40);
    tap_ok(zeros(&bytes, 5, 100, 100), "untouched bytes are zeros without a place");
    tap_ok(zeros(&bytes, BYTES_WINDOW - 10, 100, 10), "a run ends where its window ends");
    tap_ok(bytes_touch(&bytes, 7, 0) && !bytes.window, "touching nothing takes nothing");
    tap_ok(bytes_touch(&bytes, (UINT64_C(1) << 40) - 1, 1), "a byte of a terabyte has room");
    tap_ok(zeros(&bytes, 0, 100, 100), "and the others still have none");
    bytes_clear(&bytes);
    tap_ok(!bytes.window && bytes.place == FRAMES_NOWHERE, "cleared");
}

static void contents(void)
{
    struct bytes bytes;
    bytes_init(&bytes, &frames, 4 * BYTES_CHUNK);
    tap_ok(bytes_touch(&bytes, BYTES_CHUNK - 1, 2), "touched across two chunks");
    uint64_t run = 4 * BYTES_CHUNK;
    unsigned char *at = bytes_run(&bytes, 0, &run);
    tap_u64(run, 2 * BYTES_CHUNK, "both lie together, and only what was touched has room");
    tap_ok(at && !at[0] && !at[BYTES_CHUNK], "new room reads as zero");
    tap_ok(zeros(&bytes, 2 * BYTES_CHUNK + 3, BYTES_CHUNK, BYTES_CHUNK), "the others are known to be zero");
    at[BYTES_CHUNK] = 42;
    tap_ok(bytes_touch(&bytes, BYTES_CHUNK, 1) && at[BYTES_CHUNK] == 42, "touching again keeps the contents");
    tap_ok(bytes_touch(&bytes, 4 * BYTES_CHUNK - 1, 1), "the last byte");
    run = BYTES_WINDOW;
    tap_ok(bytes_run(&bytes, 3 * BYTES_CHUNK, &run) == at + 3 * BYTES_CHUNK, "lies where it should");
    uint64_t place = bytes.place;
    bytes_clear(&bytes);
    bytes_init(&bytes, &frames, 4 * BYTES_CHUNK);
    run = 1;
    tap_ok(bytes_touch(&bytes, 0, 4 * BYTES_CHUNK) && bytes.place == place, "another block gets the same place");
    at = bytes_run(&bytes, BYTES_CHUNK, &run);
    tap_ok(at && !*at, "and finds zeros");
    bytes_clear(&bytes);
}

/* Two places of the host for the same bytes. */
static void shown(void)
{
    struct bytes bytes;
    uint64_t run = 1, at, size = 4 * BYTES_CHUNK;
    bytes_init(&bytes, &frames, size);
    tap_ok(os_reserve_anywhere(size, BYTES_CHUNK, &at) && at % BYTES_CHUNK == 0, "addresses for it");
    tap_ok(bytes_open(&bytes) && bytes_open(&bytes), "opened, also twice");
    tap_ok(os_show(at, size, frames.file, bytes.place, true), "shown");
    volatile unsigned char *outside = (volatile unsigned char *)(uintptr_t)at;
    outside[2 * BYTES_CHUNK] = 7;
    unsigned char *inside = bytes_run(&bytes, 2 * BYTES_CHUNK, &run);
    tap_ok(inside && *inside == 7, "what others wrote is seen");
    if (inside)
        *inside = 8;
    tap_ok(outside[2 * BYTES_CHUNK] == 8, "and the other way round");
    tap_ok(os_conceal(at, size), "concealed");
    os_unreserve(at, size);
    bytes_clear(&bytes);
}

/* Where the system has no such file blocks have memory of their own, which cannot be shown. */
static void without_a_file(void)
{
    struct frames none;
    struct bytes bytes;
    frames_init(&none);
    none.tried = true;
    bytes_init(&bytes, &none, BYTES_WINDOW + 5000);
    uint64_t run = 1;
    tap_ok(bytes_touch(&bytes, BYTES_WINDOW + 4999, 1), "touched");
    unsigned char *at = bytes_run(&bytes, BYTES_WINDOW + 4999, &run);
    tap_ok(at && !*at, "reads as zero");
    tap_ok(!bytes_open(&bytes), "cannot be opened to others");
    bytes_clear(&bytes);
    frames_clear(&none);
}

int main(void)
{
    frames_init(&frames);
    sparse();
    contents();
    shown();
    without_a_file();
    frames_clear(&frames);
    return tap_done();
}
