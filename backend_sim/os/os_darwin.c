/* SPDX-License-Identifier: Apache-2.0 */
/* What POSIX has no words for, on macOS. What that system does not report is said by the functions' answers: no limit of memory,
 * no tags of openings, no list of the files that other processes have open. */
#define _XOPEN_SOURCE 700 /* ucontext.h */
#include "os_system.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <limits.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>

#include "os_environment.h"
#include "os_inspect.h"
#include "os_memory.h"
#include "os_share.h"
#include "posix.h"

/* ---- files without a name ---- */

/* A file that is removed at once. One in shared memory (shm_open) can have its size set only once here, and cannot be written. */
int os_file_new(void)
{
    enum { TRIES = 100 };
    const char *folder = os_environment("TMPDIR");
    char path[PATH_MAX];
    uint64_t random;
    if (!folder || folder[0] != '/')
        folder = "/tmp";
    for (int i = 0; i < TRIES && os_random(&random, sizeof random); i++) {
        if (snprintf(path, sizeof path, "%s/cuvmm-memory.%016" PRIx64, folder, random) >= (int)sizeof path)
            return -1;
        int file = posix.open(path, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
        if (file >= 0)
            unlink(path);
        if (file >= 0 || errno != EEXIST)
            return file;
    }
    return -1;
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

/* Frees what lies in whole blocks, where the file system can do that, and writes zeros to the rest. */
bool os_file_clear(int file, uint64_t offset, uint64_t size)
{
    static const char zeros[65536];
    fpunchhole_t range = {.fp_offset = (off_t)offset, .fp_length = (off_t)size};
    if (!posix.fcntl(file, F_PUNCHHOLE, &range))
        return true;
    for (uint64_t done = 0, n; done < size; done += n) {
        n = size - done < sizeof zeros ? size - done : sizeof zeros;
        if (!os_file_write(file, offset + done, zeros, n))
            return false;
    }
    return true;
}

/* The system allocates at the end of a file alone, so a range inside it is written as it is. */
bool os_file_room(int file, uint64_t offset, uint64_t size)
{
    char bytes[4096];
    for (uint64_t done = 0, n; done < size; done += n) {
        n = size - done < sizeof bytes ? size - done : sizeof bytes;
        if (!os_file_read(file, offset + done, bytes, n))
            memset(bytes, 0, sizeof bytes);
        if (!os_file_write(file, offset + done, bytes, n))
            return false;
    }
    return true;
}

/* ---- names and openings ---- */

int os_rename_exclusive(int folder, const char *from, const char *to)
{
    return posix.renameatx_np(folder, from, folder, to, RENAME_EXCL);
}

bool os_file_tag(int file, int tag)
{
    (void)file, (void)tag;
    return false;
}

bool os_file_has_tag(int file, int tag)
{
    (void)file, (void)tag;
    return false;
}

/* ---- threads, and waiting for a word ---- */

bool os_is_single_thread(void)
{
    return false;
}

/* The system's wait for a word that processes share is new and has no place in older versions, so this one looks again and again. */
void os_wait_for_change(const void *word, uint32_t value, unsigned milliseconds)
{
    (void)milliseconds;
    if (atomic_load((const _Atomic uint32_t *)word) == value)
        nanosleep(&(struct timespec){.tv_nsec = 1000000}, NULL);
}

void os_wake_waiter(const void *word)
{
    (void)word;
}

/* ---- accesses without the right to them ---- */

enum os_touch os_touch_of(const void *context)
{
    const ucontext_t *registers = context;
#if defined(__aarch64__)
    enum { WRITES = 1 << 6 }; /* of the syndrome register */
    return registers->uc_mcontext->__es.__esr & WRITES ? OS_TOUCH_WRITE : OS_TOUCH_READ;
#else
    enum { WRITES = 2 }; /* of the page fault's error code */
    return registers->uc_mcontext->__es.__err & WRITES ? OS_TOUCH_WRITE : OS_TOUCH_READ;
#endif
}

/* ---- memory and processes ---- */

uint64_t os_resident(void)
{
    return 0;
}

uint64_t os_memory_left(uint64_t *limit)
{
    *limit = UINT64_MAX;
    return UINT64_MAX;
}

void os_program(uint64_t pid, char name[OS_PROGRAM])
{
    (void)pid;
    name[0] = '\0';
}

void os_command(uint64_t pid, char command[OS_COMMAND])
{
    os_program(pid, command);
}

bool os_is_stopped(uint64_t pid)
{
    (void)pid;
    return false;
}

bool os_openings_each(const char *name, void (*visit)(void *user, const struct os_opening *opening), void *user)
{
    (void)name, (void)visit, (void)user;
    return false;
}

bool os_own_openings_each(const char *name, void (*visit)(void *user, const struct os_opening *opening), void *user)
{
    return os_openings_each(name, visit, user);
}
