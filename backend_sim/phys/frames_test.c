/* SPDX-License-Identifier: Apache-2.0 */
/* frames: places in a file, and the windows through which their bytes are seen. */
#include "frames.h"

#include <fcntl.h>
#include <unistd.h>

#include "os.h"
#include "tap.h"

/*  window 0          window 1          window 2
 *  [.............ab][bbbbbbbbbbbbbbbb][b...............]     b is larger than a window */
static void test_windows(void)
{
    struct frames frames;
    frames_init(&frames);
    uint64_t page = os_page_size(), a = frames_take(&frames, FRAMES_WINDOW - page), size = FRAMES_WINDOW + 2 * page;
    uint64_t b = frames_take(&frames, size);
    tap_ok(a == 0 && b == FRAMES_WINDOW - page, "what is taken one after another lies one after another");
    if (!tap_ok(frames_see(&frames, b, size), "all windows of a place can be seen"))
        return;
    unsigned char *first = frames_at(&frames, b), *middle = frames_at(&frames, FRAMES_WINDOW),
                  *last = frames_at(&frames, b + size - 1);
    *first = 1;
    *middle = 2;
    *last = 3;
    tap_ok(frames_see(&frames, b, size) && frames_at(&frames, b) == first && frames_at(&frames, b + size - 1) == last,
           "each is mapped once");
    tap_ok(*first == 1 && *middle == 2 && *last == 3 && *frames_at(&frames, b + size - 2) == 0, "each byte is its own");
    frames_give(&frames, b, size);
    tap_u64(frames_take(&frames, size), b, "a place that was given back is taken again");
    tap_ok(frames_see(&frames, b, size) && *frames_at(&frames, b) == 0 && *frames_at(&frames, FRAMES_WINDOW) == 0 &&
               *frames_at(&frames, b + size - 1) == 0,
           "and reads as zero");
    tap_ok(frames_room(&frames, b, size), "there is room where nothing is scarce");
    frames_clear(&frames);
    tap_ok(frames.file < 0 && !frames.windows && !frames.window, "cleared");
}

/* Sizes are pages; there is no place for more than a file can hold. */
static void test_sizes(void)
{
    struct frames frames;
    frames_init(&frames);
    uint64_t page = os_page_size();
    tap_u64(frames_take(&frames, (UINT64_C(1) << 52) + 1), FRAMES_NOWHERE, "longer than the file may be");
    tap_ok(frames.file < 0, "for which no file is made");
    tap_u64(frames_take(&frames, 1), 0, "a byte");
    tap_u64(frames_take(&frames, UINT64_C(1) << 52), FRAMES_NOWHERE, "as long as the file may be, where a page of it is taken");
    tap_u64(frames_take(&frames, page + 1), page, "has a page");
    tap_u64(frames_take(&frames, 1), 3 * page, "and a byte more than a page two");
    frames_give(&frames, page, page + 1);
    tap_u64(frames_take(&frames, 2 * page), page, "which come back whole");
    frames_clear(&frames);
    tap_u64(frames_take(&frames, UINT64_C(1) << 52), 0, "all of it");
    tap_u64(frames_take(&frames, 1), FRAMES_NOWHERE, "which leaves nothing");
    frames_clear(&frames);
}

/* A program may have closed its standard input: then files get number 0. */
static void test_number_0(void)
{
    struct frames frames;
    int kept = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    frames_init(&frames);
    uint64_t page = os_page_size(), first = frames_take(&frames, page), second = frames_take(&frames, page);
    tap_ok(frames.file == 0 && first == 0 && second == page && frames_see(&frames, first, 2 * page), "a file of number 0 is one");
    frames_clear(&frames);
    tap_ok(fcntl(STDIN_FILENO, F_GETFD) < 0, "which is closed");
    if (kept >= 0 && (dup2(kept, STDIN_FILENO) != STDIN_FILENO || close(kept)))
        tap_bail("standard input is lost");
}

static void test_abandoned(void)
{
    struct frames frames;
    frames_init(&frames);
    uint64_t page = os_page_size(), place = frames_take(&frames, page);
    if (!frames_see(&frames, place, page))
        tap_bail("nothing can be seen");
    *frames_at(&frames, place) = 7;
    frames_abandon(&frames);
    frames_give(&frames, place, page);
    tap_u64(*frames_at(&frames, place), 7, "the bytes of another process stay");
    frames_clear(&frames);
}

int main(void)
{
    test_windows();
    test_sizes();
    test_number_0();
    test_abandoned();
    return tap_done();
}
