/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a binary trace when the system interrupts a call, writes nothing, cannot map or rename the file, or runs out of
 * space. */
#define _XOPEN_SOURCE 700
#include "trace_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lifecycle.h"
#include "os_write.h"
#include "posix.h"
#include "tap.h"
#include "trace_record.h"

static struct {
    bool often;              /* every second write is interrupted */
    bool nothing;            /* a full file takes no byte and reports no error */
    size_t room;             /* bytes until the file is full */
    bool map, name, place, stuck; /* mmap, rename, realpath, ftruncate fail */
    unsigned calls;
} bad;

static ssize_t bad_write(int fd, const void *bytes, size_t length)
{
    if (bad.often && bad.calls++ % 2 == 0) {
        errno = EINTR;
        return -1;
    }
    length = length < bad.room ? length : bad.room;
    if (!length && bad.nothing)
        return 0;
    if (!length) {
        errno = ENOSPC;
        return -1;
    }
    bad.room -= length;
    return write(fd, bytes, length);
}

static int refuse(bool fails, int error)
{
    errno = error;
    return fails ? -1 : 0;
}

static void *bad_mmap(void *at, size_t size, int rights, int flags, int file, off_t offset)
{
    return refuse(bad.map, ENODEV) ? MAP_FAILED : mmap(at, size, rights, flags, file, offset);
}

static int bad_rename(const char *from, const char *to)
{
    return refuse(bad.name, EXDEV) ? -1 : rename(from, to);
}

static char *bad_realpath(const char *path, char *to)
{
    return refuse(bad.place, ELOOP) ? NULL : realpath(path, to);
}

static int bad_ftruncate(int fd, off_t size)
{
    return refuse(bad.stuck, EIO) ? -1 : ftruncate(fd, size);
}

static struct posix faulty;
#define posix faulty
#define os_write_quietly bad_write
#define rename bad_rename
#define realpath bad_realpath
#include "trace_file.c"
#undef posix
#undef rename
#undef realpath

enum { PLENTY = 1 << 24 };
static char folder[] = "/tmp/cuvmm-trace-XXXXXX", path[64];

static int begin(struct trace_file *file)
{
    bad.room = bad.room ? bad.room : PLENTY;
    return trace_file_begin(file, path, "{}", 2, false);
}

/* Returns how many files are in the folder. */
static bool is_empty(void)
{
    return rmdir(folder) == 0 && mkdir(folder, 0700) == 0;
}

static off_t size_of(void)
{
    struct stat status;
    return stat(path, &status) == 0 ? status.st_size : -1;
}

static void test_refused(void)
{
    struct trace_file file;
    bad = (__typeof__(bad)){.map = true};
    tap_ok(begin(&file) == ENODEV && file.fd == -1 && !file.head && is_empty(), "a file that cannot be mapped is refused, and removed");
    bad = (__typeof__(bad)){.name = true};
    tap_ok(begin(&file) == EXDEV && file.fd == -1 && !file.head && is_empty(), "so is one that cannot get its name");
    bad = (__typeof__(bad)){.room = 5000};
    tap_ok(begin(&file) == ENOSPC && is_empty(), "and one for whose head there is no room");
    bad = (__typeof__(bad)){.room = 5000, .nothing = true};
    tap_ok(begin(&file) == ENOSPC && is_empty(), "even if the system writes no byte and reports no error");
    bad = (__typeof__(bad)){.place = true};
    fclose(fopen(path, "w"));
    tap_ok(begin(&file) == ELOOP && size_of() == 0, "a file whose place cannot be found stays");
    unlink(path);
    char longer[PATH_MAX + 10];
    memset(longer, 'x', sizeof longer);
    longer[sizeof longer - 1] = '\0';
    tap_ok(trace_file_begin(&file, longer, "{}", 2, false) == ENAMETOOLONG, "a name that is too long is refused");
    trace_file_end(&file, true);
    tap_ok(file.fd == -1 && is_empty(), "what was not begun is ended by nothing");
}

/* Writes a record of that many words, with a number. */
static int put(struct trace_file *file, size_t words, uint64_t number)
{
    int error = 0;
    uint64_t *at = trace_file_room_for(file, words, number, &error);
    if (at) {
        memset(at, 0x11, words * sizeof *at);
        trace_file_commit(file, words, true, number);
    }
    return error;
}

static void test_full(bool stuck, bool far)
{
    struct trace_file file;
    enum { WORDS = 4000 };
    bad = (__typeof__(bad)){.often = true, .stuck = stuck};
    if (!tap_ok(begin(&file) == 0, "interrupted writes are made again"))
        tap_bail("no file");
    tap_ok(put(&file, WORDS, 1) == 0 && put(&file, far ? 10 : WORDS, far ? 2 : 2) == 0, "records fill the window");
    bad.room = 1000;
    tap_ok(put(&file, far ? 10 : WORDS, far ? UINT64_C(1) << 40 : 3) == ENOSPC, "the next %s, for which the window is not appended",
           far ? "one has a far number" : "one has no room");
    tap_ok(file.calls == 2 && !file.chunks && !(size_of() % TRACE_BINARY_PAGE) == !stuck, "two records stay, and %s", stuck ? "what cannot be cut off" : "no part of a chunk");
    bad.often = false;
    bad.room = PLENTY;
    trace_file_end(&file, false);
    tap_ok(file.fd == -1 && size_of() > WORDS * 8, "the file ends with them");
    unlink(path);
}

/* A chunk holds numbers that are near each other; an empty chunk takes any number. */
static void test_far(void)
{
    struct trace_file file;
    bad = (__typeof__(bad)){0};
    tap_ok(begin(&file) == 0 && put(&file, 10, UINT64_C(1) << 40) == 0 && !file.chunks, "the first record of a chunk has any number");
    tap_ok(put(&file, 10, 7) == 0 && file.chunks == 1, "a far one begins the next chunk");
    trace_file_end(&file, true);
    unlink(path);
}

int main(void)
{
    faulty = posix;
    faulty.mmap = bad_mmap;
    faulty.ftruncate = bad_ftruncate;
    if (!mkdtemp(folder))
        tap_bail("no folder");
    snprintf(path, sizeof path, "%s/t.vtrace", folder);
    test_refused();
    test_full(false, false);
    test_full(true, false);
    test_full(false, true);
    test_far();
    tap_ok(rmdir(folder) == 0, "no file is left");
    return tap_done();
}
