/* SPDX-License-Identifier: Apache-2.0 */
/* backing_file: places in a file, and the windows that map their bytes. */
#include "backing_file.h"

#include <fcntl.h>
#include <unistd.h>

#include "os.h"
#include "tap.h"

/*  window 0          window 1          window 2
 *  [.............ab][bbbbbbbbbbbbbbbb][b...............]     b is larger than a window */
static void test_windows(void)
{
    struct backing_file frames;
    backing_file_init(&frames);
    uint64_t page = os_page_size(), a = backing_file_take(&frames, BACKING_FILE_WINDOW - page), size = BACKING_FILE_WINDOW + 2 * page;
    uint64_t b = backing_file_take(&frames, size);
    tap_ok(a == 0 && b == BACKING_FILE_WINDOW - page, "what is taken one after another lies one after another");
    if (!tap_ok(backing_file_see(&frames, b, size), "all windows of a place can be seen"))
        return;
    unsigned char *first = backing_file_at(&frames, b), *middle = backing_file_at(&frames, BACKING_FILE_WINDOW),
                  *last = backing_file_at(&frames, b + size - 1);
    *first = 1;
    *middle = 2;
    *last = 3;
    tap_ok(backing_file_see(&frames, b, size) && backing_file_at(&frames, b) == first && backing_file_at(&frames, b + size - 1) == last,
           "each is mapped once");
    tap_ok(*first == 1 && *middle == 2 && *last == 3 && *backing_file_at(&frames, b + size - 2) == 0, "each byte is its own");
    backing_file_free(&frames, b, size);
    tap_u64(backing_file_take(&frames, size), b, "a place that was given back is taken again");
    tap_ok(backing_file_see(&frames, b, size) && *backing_file_at(&frames, b) == 0 && *backing_file_at(&frames, BACKING_FILE_WINDOW) == 0 &&
               *backing_file_at(&frames, b + size - 1) == 0,
           "and reads as zero");
    tap_ok(backing_file_room(&frames, b, size), "there is room where space has no end");
    backing_file_clear(&frames);
    tap_ok(frames.file < 0 && !frames.windows && !frames.window, "cleared");
}

/* Sizes are pages; there is no place for more than a file can hold. */
static void test_sizes(void)
{
    struct backing_file frames;
    backing_file_init(&frames);
    uint64_t page = os_page_size();
    tap_u64(backing_file_take(&frames, (UINT64_C(1) << 52) + 1), BACKING_FILE_NOWHERE, "longer than the file may be");
    tap_ok(frames.file < 0, "for which no file is made");
    tap_u64(backing_file_take(&frames, 1), 0, "a byte");
    tap_u64(backing_file_take(&frames, UINT64_C(1) << 52), BACKING_FILE_NOWHERE, "as long as the file may be, where a page of it is taken");
    tap_u64(backing_file_take(&frames, page + 1), page, "has a page");
    tap_u64(backing_file_take(&frames, 1), 3 * page, "and a byte more than a page two");
    backing_file_free(&frames, page, page + 1);
    tap_u64(backing_file_take(&frames, 2 * page), page, "which come back whole");
    backing_file_clear(&frames);
    tap_u64(backing_file_take(&frames, UINT64_C(1) << 52), 0, "all of it");
    tap_u64(backing_file_take(&frames, 1), BACKING_FILE_NOWHERE, "which leaves nothing");
    backing_file_clear(&frames);
}

/* A program may have closed its standard input: then files get number 0. */
static void test_number_0(void)
{
    struct backing_file frames;
    int kept = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    backing_file_init(&frames);
    uint64_t page = os_page_size(), first = backing_file_take(&frames, page), second = backing_file_take(&frames, page);
    tap_ok(frames.file == 0 && first == 0 && second == page && backing_file_see(&frames, first, 2 * page), "a file of number 0 is one");
    backing_file_clear(&frames);
    tap_ok(fcntl(STDIN_FILENO, F_GETFD) < 0, "which is closed");
    if (kept >= 0 && (dup2(kept, STDIN_FILENO) != STDIN_FILENO || close(kept)))
        tap_bail("standard input is lost");
}

static void test_abandoned(void)
{
    struct backing_file frames;
    backing_file_init(&frames);
    uint64_t page = os_page_size(), place = backing_file_take(&frames, page);
    if (!backing_file_see(&frames, place, page))
        tap_bail("nothing can be seen");
    *backing_file_at(&frames, place) = 7;
    backing_file_abandon(&frames);
    backing_file_free(&frames, place, page);
    tap_u64(*backing_file_at(&frames, place), 7, "the bytes of another process stay");
    backing_file_clear(&frames);
}

int main(void)
{
    test_windows();
    test_sizes();
    test_number_0();
    test_abandoned();
    return tap_done();
}
