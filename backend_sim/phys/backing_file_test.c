/* SPDX-License-Identifier: Apache-2.0 */
/* backing_file: places in a file, and the windows that map their bytes. */
#include "backing_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "breaks.h"
#include "os.h"

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
    tap_ok(backing.file < 0 && !backing.windows && !backing.window, "clearing closes the file and forgets every window");
    if (getenv("CUVMM_EMULATED"))
        tap_skip("an emulator accepts advice about any address", "nothing is mapped there any more");
    else
        tap_ok(posix_madvise(first, page, POSIX_MADV_NORMAL) == ENOMEM && posix_madvise(middle, page, POSIX_MADV_NORMAL) == ENOMEM &&
                   posix_madvise(last - page + 1, page, POSIX_MADV_NORMAL) == ENOMEM,
               "nothing is mapped there any more");
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
    struct backing_file_use used = {0};
    backing_file_add(&used, first, page);
    backing_file_add(&used, second, page);
    check_holds(backing_file_check(&backing, &used), "to its checks as well");
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

/*  [ a, a page ][ b, two pages ][ a lost page ]....    and the window of them */
static void test_check(void)
{
    struct backing_file backing;
    struct backing_file_use used = {0};
    uint64_t page = os_page_size();
    backing_file_init(&backing);
    check_holds(backing_file_check(&backing, &used), "no file");
    check_breaks(backing_file_check_place(&backing, 0, page), " bytes lie at 0x0 of no file");
    uint64_t a = backing_file_take(&backing, 1), b = backing_file_take(&backing, page + 1),
             lost = backing_file_take(&backing, page);
    backing_file_add(&used, a, 1);
    backing_file_add(&used, b, page + 1);
    tap_ok(used.bytes == 3 * page && used.places == 2, "two blocks have three pages");
    int file = backing.file;
    backing.file = open("/dev/null", O_RDONLY); /* which cannot be cleared */
    backing_file_free(&backing, lost, page);
    close(backing.file);
    backing.file = file;
    tap_ok(backing.lost.bytes == page && backing.lost.places == 1, "a page that could not be cleared is lost");
    check_holds(backing_file_check(&backing, &used), "two places, and one that is lost");
    tap_ok(backing_file_map(&backing, b, page), "a window");
    check_holds(backing_file_check(&backing, &used), "and a window");
    check_holds(backing_file_check_place(&backing, a, 1), "the first place");
    check_holds(backing_file_check_seen(&backing, a, 3 * page), "and what is seen of both");
    BREAKS(used.places, 3, backing_file_check(&backing, &used), "free places: there are ");
    BREAKS(used.bytes, 4 * page, backing_file_check(&backing, &used), " are lost");
    struct backing_file_use overlapping = {0};
    backing_file_add(&overlapping, a, page);
    backing_file_add(&overlapping, a, 2 * page); /* the second page twice, and the third not at all */
    check_breaks(backing_file_check(&backing, &overlapping), "two ranges overlap");
    BREAKS(backing.lost.ends, 0, backing_file_check(&backing, &used), "two ranges overlap");
    BREAKS(backing.lost.bytes, 0, backing_file_check(&backing, &used), ", and 0x0 are lost");
    BREAKS(backing.lost.places, 0, backing_file_check(&backing, &used), "free places: there are ");
    BREAKS_TO(backing.windows, 0, backing_file_check(&backing, &used), "0 windows are counted, some are there, of the file");
    BREAKS(backing.window, NULL, backing_file_check(&backing, &used), "1 windows are counted, none is there, of the file");
    BREAKS_TO(backing.file, -1, backing_file_check(&backing, &used), "1 windows are counted, some are there, of no file");
    BREAKS_TO(backing.windows, 0, backing_file_check_seen(&backing, b, page), " of the file are not mapped");
    BREAKS(backing.window[0], NULL, backing_file_check_seen(&backing, b, page), " of the file are not mapped");
    unsigned char *two[2] = {backing.window[0], NULL};
    backing.windows = 2;
    BREAKS(backing.window, (void *)two, backing_file_check_seen(&backing, b, BACKING_FILE_WINDOW), " of the file are not mapped");
    backing.windows = 1;
    check_breaks(backing_file_check_seen(&backing, b, BACKING_FILE_WINDOW), " of the file are not mapped");
    check_breaks(backing_file_check_place(&backing, 1, page), " bytes lie at 0x1 of the file");
    check_breaks(backing_file_check_place(&backing, 0, 0), "0x0 bytes lie at 0x0 of the file");
    check_breaks(backing_file_check_place(&backing, page, UINT64_C(1) << 52), "0x10000000000000 bytes lie at 0x");
    check_breaks(backing_file_check_place(&backing, page, UINT64_MAX), "0xffffffffffffffff bytes lie at 0x");
    check_breaks(backing_file_check_place(&backing, UINT64_C(1) << 53, page), "bytes lie at 0x20000000000000 of the file");
    check_breaks(backing_file_check_place(&backing, 0, 5 * page), " bytes at 0x0 of the file 0x");
    free_ranges_add(&backing.free, a, page);
    check_breaks(backing_file_check_place(&backing, a, 1), " bytes at 0x0 of the file 0x");
    check_breaks(backing_file_check(&backing, &used), "for 4 ranges granted and taken");
    backing_file_clear(&backing);
    check_holds(backing_file_check(&backing, &(struct backing_file_use){0}), "a file that is closed");
}

int main(void)
{
    test_check();
    test_windows();
    test_sizes();
    test_number_0();
    test_abandoned();
    return tap_done();
}
