/* SPDX-License-Identifier: Apache-2.0 */
/* Functions beyond POSIX, for Linux. */
#define _GNU_SOURCE /* memfd_create, fallocate, syscall, the registers in a signal's context */
#include "os_system.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "os_memory.h"
#include "os_share.h"
#include "posix.h"

#ifndef RENAME_NOREPLACE
#define RENAME_NOREPLACE 1u
#endif

/* ---- files in memory ---- */

int os_file_new(void)
{
    return posix.memfd_create("cuvmm-memory", MFD_CLOEXEC);
}

/* Frees the range. False for lack of kernel memory, which may be temporary. */
static bool punch(int file, uint64_t offset, uint64_t size)
{
    int cancel = life_no_cancel();
    bool punched = !posix.fallocate(file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)offset, (off_t)size);
    life_may_cancel(cancel);
    return punched;
}

bool os_file_has_data(int file, uint64_t offset, uint64_t *length)
{
    const off_t at = (off_t)offset, data = lseek(file, at, SEEK_DATA);
    if (data < 0)
        return errno != ENXIO; /* that is the answer where nothing follows */
    const off_t end = data == at ? lseek(file, at, SEEK_HOLE) : data;
    if (end > at && (uint64_t)(end - at) < *length)
        *length = (uint64_t)(end - at);
    return data == at;
}

/* Writes zeros if the file cannot have a hole. */
bool os_file_clear(int file, uint64_t offset, uint64_t size)
{
    if (punch(file, offset, size))
        return true;
    static const char zeros[65536];
    for (uint64_t done = 0, n; done < size; done += n) {
        n = size - done < sizeof zeros ? size - done : sizeof zeros;
        if (!os_file_write(file, offset + done, zeros, n))
            return false;
    }
    return true;
}
/* The bytes of the range that have no space yet. */
static uint64_t absent(int file, uint64_t offset, uint64_t size)
{
    uint64_t sum = 0;
    for (off_t at = (off_t)offset, end = (off_t)(offset + size); at < end;) {
        off_t data = lseek(file, at, SEEK_DATA), stop = data < 0 || data > end ? end : data;
        sum += (uint64_t)(stop - at);
        at = stop < end ? lseek(file, stop, SEEK_HOLE) : end;
        if (at < stop)
            break;
    }
    return sum;
}

/* Files in memory count as their process's memory, and the system reports no error when they exceed its limit. */
static bool memory_allows(int file, uint64_t offset, uint64_t size)
{
    static const uint64_t tmpfs = 0x01021994;
    static _Atomic uint64_t allowed; /* the rest of the amount that the last query allowed */
    uint64_t before = atomic_load(&allowed), more;
    struct statfs is;
    while (before >= size)
        if (atomic_compare_exchange_strong(&allowed, &before, before - size)) /* LCOV_EXCL_BR_LINE: false in a race of threads */
            return true;
    if (fstatfs(file, &is) || (uint64_t)is.f_type != tmpfs)
        return true;
    bool allows = os_memory_room(absent(file, offset, size), &more);
    atomic_store(&allowed, more);
    return allows;
}

bool os_file_room(int file, uint64_t offset, uint64_t size)
{
    int result;
    if (!memory_allows(file, offset, size))
        return false;
    do
        result = posix.fallocate(file, 0, (off_t)offset, (off_t)size);
    while (result && errno == EINTR);
    return !result;
}

/* ---- names and openings ---- */

int os_rename_exclusive(int folder, const char *from, const char *to)
{
    return posix.renameat2(folder, from, folder, to, RENAME_NOREPLACE);
}

/* The signal that would be sent for input is a number of the opening. Nothing is sent unless O_ASYNC is set, which no program sets on
 * descriptors of memory. */
bool os_file_tag(int file, int tag)
{
    return posix.fcntl(file, F_SETSIG, (long)tag) == 0;
}

bool os_file_has_tag(int file, int tag)
{
    return posix.fcntl(file, F_GETSIG) == tag;
}

/* ---- threads ---- */

/* ThreadSanitizer's runtime has a thread of its own from the start of the program on. */
#ifdef __SANITIZE_THREAD__
#define TOOL_THREADS 1
#elif defined(__has_feature)
#if __has_feature(thread_sanitizer)
#define TOOL_THREADS 1
#endif
#endif
#ifndef TOOL_THREADS
#define TOOL_THREADS 0
#endif

/* A folder for each thread, and each adds a link to the folder around it, which has two of its own. */
bool os_is_single_thread(void)
{
    struct stat folder;
    return posix.stat("/proc/self/task", &folder) == 0 && folder.st_nlink == 2 + 1 + TOOL_THREADS;
}

/* ---- memory ---- */

/* "size resident ..." in pages. Read without stdio, whose buffer would count. */
uint64_t os_resident(void)
{
    char text[64] = "";
    unsigned long long size, resident;
    int file = posix.open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    ssize_t length = file >= 0 ? posix.read(file, text, sizeof text - 1) : -1;
    if (file >= 0)
        close(file);
    return length > 0 && sscanf(text, "%llu %llu", &size, &resident) == 2 ? resident * os_page_size() : 0;
}

/* ---- waiting for a word ---- */

void os_wait_for_change(const void *word, uint32_t value, unsigned milliseconds)
{
    struct timespec time = {.tv_nsec = 1000000 * (long)milliseconds};
    syscall(SYS_futex, word, FUTEX_WAIT, value, &time, NULL, 0);
}

void os_wake_waiter(const void *word)
{
    syscall(SYS_futex, word, FUTEX_WAKE, 1, NULL, NULL, 0);
}

/* ---- accesses without the right to them ---- */

#if defined(__x86_64__)
enum os_touch os_touch_of(const void *context)
{
    enum { WRITES = 2 }; /* a bit of the page fault's error code */
    const ucontext_t *registers = context;
    return registers->uc_mcontext.gregs[REG_ERR] & WRITES ? OS_TOUCH_WRITE : OS_TOUCH_READ;
}
#elif defined(__aarch64__)
/* The syndrome register is one of the records after the registers, each of which begins with its kind and size. */
enum os_touch os_touch_of(const void *context)
{
    enum { SYNDROME = 0x45535201, CLASS = 26, DATA_ABORT_LOWER = 0x24, DATA_ABORT_SAME = 0x25, WRITES = 1 << 6 };
    const unsigned char *record = ((const ucontext_t *)context)->uc_mcontext.__reserved;
    const unsigned char *end = record + sizeof ((const ucontext_t *)context)->uc_mcontext.__reserved;
    uint32_t head[2];
    uint64_t syndrome;
    while (end - record >= (long)(sizeof head + sizeof syndrome)) {
        memcpy(head, record, sizeof head);
        if (!head[0] || head[1] < sizeof head)
            return OS_TOUCHED;
        if (head[0] == SYNDROME) {
            memcpy(&syndrome, record + sizeof head, sizeof syndrome);
            const uint64_t kind = syndrome >> CLASS & 0x3F;
            if (kind != DATA_ABORT_LOWER && kind != DATA_ABORT_SAME)
                return OS_TOUCHED;
            return syndrome & WRITES ? OS_TOUCH_WRITE : OS_TOUCH_READ;
        }
        record += head[1];
    }
    return OS_TOUCHED;
}
#else
enum os_touch os_touch_of(const void *context)
{
    (void)context;
    return OS_TOUCHED;
}
#endif
