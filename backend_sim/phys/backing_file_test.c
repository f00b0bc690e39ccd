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
    struct backing_file backing;
    backing_file_init(&backing);
    uint64_t page = os_page_size(), a = backing_file_take(&backing, BACKING_FILE_WINDOW - page),
        size = BACKING_FILE_WINDOW + 2 * page;
    uint64_t b = backing_file_take(&backing, size);
    tap_ok(a == 0 && b == BACKING_FILE_WINDOW - page, "places taken one after another are adjacent in the file");
    if (!tap_ok(backing_file_map(&backing, b, size), "all windows of a place can be mapped"))
        return;
    unsigned char *first = backing_file_at(&backing, b), *middle = backing_file_at(&backing, BACKING_FILE_WINDOW),
                  *last = backing_file_at(&backing, b + size - 1);
    *first = 1;
    *middle = 2;
    *last = 3;
    tap_ok(backing_file_map(&backing, b, size) && backing_file_at(&backing, b) == first &&
           backing_file_at(&backing, b + size - 1) == last,
           "each window is mapped once");
    tap_ok(*first == 1 && *middle == 2 && *last == 3 && *backing_file_at(&backing, b + size - 2) == 0,
           "the bytes do not overlap");
    backing_file_free(&backing, b, size);
    tap_u64(backing_file_take(&backing, size), b, "a freed place is taken again");
    tap_ok(backing_file_map(&backing, b, size) && *backing_file_at(&backing, b) == 0 &&
           *backing_file_at(&backing, BACKING_FILE_WINDOW) == 0 &&
               *backing_file_at(&backing, b + size - 1) == 0,
           "a reused place reads as zero");
    tap_ok(backing_file_allocate(&backing, b, size), "an anonymous file always has room");
    backing_file_clear(&backing);
    tap_ok(backing.file < 0 && !backing.windows && !backing.window, "clearing closes the file and unmaps every window");
}

/* Sizes are rounded up to pages; no place is larger than the file can be. */
static void test_sizes(void)
{
    struct backing_file backing;
    backing_file_init(&backing);
    uint64_t page = os_page_size();
    tap_u64(backing_file_take(&backing, (UINT64_C(1) << 52) + 1), BACKING_FILE_NOWHERE,
            "no place for more bytes than the file can have");
    tap_ok(backing.file < 0, "that request opens no file");
    tap_u64(backing_file_take(&backing, 1), 0, "a place for one byte");
    tap_u64(backing_file_take(&backing, UINT64_C(1) << 52), BACKING_FILE_NOWHERE,
            "no place as large as the file, since one page is taken");
    tap_u64(backing_file_take(&backing, page + 1), page, "one byte takes one page");
    tap_u64(backing_file_take(&backing, 1), 3 * page, "one byte more than a page takes two pages");
    backing_file_free(&backing, page, page + 1);
    tap_u64(backing_file_take(&backing, 2 * page), page, "both pages are free again");
    backing_file_clear(&backing);
    tap_u64(backing_file_take(&backing, UINT64_C(1) << 52), 0, "one place can be as large as the file");
    tap_u64(backing_file_take(&backing, 1), BACKING_FILE_NOWHERE, "the file is full then");
    backing_file_clear(&backing);
}

/* A program may have closed its standard input; then the file gets descriptor 0. */
static void test_number_0(void)
{
    struct backing_file backing;
    int kept = dup(STDIN_FILENO);
    close(STDIN_FILENO);
    backing_file_init(&backing);
    uint64_t page = os_page_size(), first = backing_file_take(&backing, page), second = backing_file_take(&backing, page);
    tap_ok(backing.file == 0 && first == 0 && second == page && backing_file_map(&backing, first, 2 * page),
           "descriptor 0 is a valid file");
    backing_file_clear(&backing);
    tap_ok(fcntl(STDIN_FILENO, F_GETFD) < 0, "clearing closes descriptor 0");
    if (kept >= 0 && (dup2(kept, STDIN_FILENO) != STDIN_FILENO || close(kept)))
        tap_bail("standard input is lost");
}

static void test_abandoned(void)
{
    struct backing_file backing;
    backing_file_init(&backing);
    uint64_t page = os_page_size(), place = backing_file_take(&backing, page);
    if (!backing_file_map(&backing, place, page))
        tap_bail("cannot map the place");
    *backing_file_at(&backing, place) = 7;
    backing_file_abandon(&backing);
    backing_file_free(&backing, place, page);
    tap_u64(*backing_file_at(&backing, place), 7, "freeing a place of an abandoned file clears nothing");
    backing_file_clear(&backing);
}

int main(void)
{
    test_windows();
    test_sizes();
    test_number_0();
    test_abandoned();
    return tap_done();
}
