/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "os.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

#include "posix.h"

#ifndef MAP_NORESERVE
#define MAP_NORESERVE 0
#endif

uint64_t os_page_size(void)
{
    return (uint64_t)sysconf(_SC_PAGESIZE);
}

/* ---- addresses of the host ---- */

static void *host(uint64_t address)
{
    return (void *)(uintptr_t)address;
}

/* Valgrind tracks every mapped page, whatever its protection, and would run out of memory. */
static uint64_t most(void)
{
#ifdef RUNNING_ON_VALGRIND
    if (RUNNING_ON_VALGRIND)         /* LCOV_EXCL_BR_LINE: coverage does not run under valgrind */
        return UINT64_C(8) << 30;    /* LCOV_EXCL_LINE: the same */
#endif
    return SIZE_MAX;
}

/* Without MAP_FIXED the address is a hint: the system never replaces an existing mapping. */
static uint64_t reserve_near(uint64_t wish, uint64_t size)
{
    if (size > most() || wish > UINTPTR_MAX) /* LCOV_EXCL_BR_LINE: reached only under valgrind or on 32-bit machines */
        return 0;                            /* LCOV_EXCL_LINE: the same */
    void *at = posix.mmap(host(wish), (size_t)size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return at == MAP_FAILED ? 0 : (uint64_t)(uintptr_t)at;
}

bool os_reserve(uint64_t start, uint64_t size)
{
    uint64_t at = reserve_near(start, size);
    if (at && at != start)
        os_unreserve(at, size);
    return at && at == start;
}

bool os_is_taken(uint64_t start, uint64_t size)
{
    uint64_t at = reserve_near(start, size);
    if (at)
        os_unreserve(at, size);
    return at && at != start;
}

bool os_reserve_anywhere(uint64_t size, uint64_t alignment, uint64_t *start)
{
    uint64_t room = size > UINT64_MAX - alignment ? 0 : size + alignment;
    uint64_t at = room ? reserve_near(0, room) : 0;
    if (!at)
        return false;
    *start = (at + alignment - 1) / alignment * alignment;
    if (*start > at)
        os_unreserve(at, *start - at);
    os_unreserve(*start + size, at + room - (*start + size)); /* at least a page of the alignment is left over */
    return true;
}

void os_unreserve(uint64_t start, uint64_t size)
{
    posix.munmap(host(start), (size_t)size);
}

/* ---- memory that can be mapped at several addresses ---- */

#ifdef __linux__
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

/* Where the file cannot have a hole, writes zeros instead. */
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
#else
int os_file_new(void)
{
    char name[64];
    for (int i = 0; i < 100; i++) {
        snprintf(name, sizeof name, "/cuvmm.%ld.%d", (long)getpid(), i);
        int file = shm_open(name, O_RDWR | O_CREAT | O_EXCL, 0600);
        if (file < 0)
            continue;
        shm_unlink(name);
        posix.fcntl(file, F_SETFD, FD_CLOEXEC);
        return file;
    }
    return -1;
}

bool os_file_has_data(int file, uint64_t offset, uint64_t *length)
{
    (void)file, (void)offset, (void)length;
    return true;
}

bool os_file_clear(int file, uint64_t offset, uint64_t size)
{
    void *at = posix.mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, MAP_SHARED, file, (off_t)offset);
    if (at == MAP_FAILED)
        return false;
    for (uint64_t i = 0; i < size; i++)
        ((volatile char *)at)[i] = 0;
    posix.munmap(at, (size_t)size);
    return true;
}
#endif

void os_file_close(int file)
{
    int cancel = life_no_cancel();
    close(file);
    life_may_cancel(cancel);
}

bool os_file_grow(int file, uint64_t size)
{
    struct stat is;
    struct rlimit longest; /* writing beyond it would raise SIGXFSZ */
    if (posix.fstat(file, &is))
        return false;
    if ((uint64_t)is.st_size >= size)
        return true;
    if (size > INT64_MAX || posix.getrlimit(RLIMIT_FSIZE, &longest) ||
        (longest.rlim_cur != RLIM_INFINITY && size > longest.rlim_cur))
        return false;
    return !posix.ftruncate(file, (off_t)size);
}

static bool write_all(int file, uint64_t offset, const void *bytes, uint64_t length)
{
    for (uint64_t done = 0; done < length;) {
        ssize_t n = posix.pwrite(file, (const char *)bytes + done, (size_t)(length - done), (off_t)(offset + done));
        if (n > 0)
            done += (uint64_t)n;
        else if (n == 0 || errno != EINTR) /* LCOV_EXCL_BR_LINE: no file system reports success after writing nothing */
            return false;
    }
    return true;
}

bool os_file_write(int file, uint64_t offset, const void *bytes, uint64_t length)
{
    int cancel = life_no_cancel();
    bool written = write_all(file, offset, bytes, length);
    life_may_cancel(cancel);
    return written;
}

void *os_map(int file, uint64_t offset, uint64_t size)
{
    int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED | MAP_NORESERVE;
    if (size > SIZE_MAX)
        return NULL;
    void *at = posix.mmap(NULL, (size_t)size, PROT_READ | PROT_WRITE, flags, file, file < 0 ? 0 : (off_t)offset);
    return at == MAP_FAILED ? NULL : at;
}

void os_unmap(void *memory, uint64_t size)
{
    posix.munmap(memory, (size_t)size);
}

/* A spare mapping. os_map_noaccess frees it when the process is at its limit of mappings and the call briefly needs one more.
 * Shared, so that the system never merges it with a neighbour. */
static void *_Atomic spare;

static void keep_spare(void)
{
    void *none = NULL;
    if (atomic_load_explicit(&spare, memory_order_relaxed))
        return;
    void *fresh = posix.mmap(NULL, (size_t)os_page_size(), PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (fresh != MAP_FAILED && !atomic_compare_exchange_strong(&spare, &none, fresh)) /* LCOV_EXCL_BR_LINE: a race of threads */
        posix.munmap(fresh, (size_t)os_page_size()); /* LCOV_EXCL_LINE: another thread has just stored one */
}

static bool give_spare(void)
{
    void *given = atomic_exchange(&spare, NULL);
    if (given)
        posix.munmap(given, (size_t)os_page_size());
    return given;
}

bool os_map_fixed(uint64_t start, uint64_t size, int file, uint64_t offset, bool writable)
{
    int rights = writable ? PROT_READ | PROT_WRITE : PROT_READ;
    keep_spare();
    return posix.mmap(host(start), (size_t)size, rights, MAP_SHARED | MAP_FIXED | MAP_NORESERVE, file, (off_t)offset) !=
           MAP_FAILED;
}

bool os_protect(uint64_t start, uint64_t size, bool writable)
{
    return !posix.mprotect(host(start), (size_t)size, writable ? PROT_READ | PROT_WRITE : PROT_READ);
}

static bool reserve_again(uint64_t start, uint64_t size)
{
    int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
    return posix.mmap(host(start), (size_t)size, PROT_NONE, flags, -1, 0) != MAP_FAILED;
}

bool os_map_noaccess(uint64_t start, uint64_t size)
{
    bool reserved = reserve_again(start, size) || (give_spare() && reserve_again(start, size));
    if (reserved)
        keep_spare(); /* the reserved range has merged with its reserved neighbours, if any */
    return reserved || !posix.mprotect(host(start), (size_t)size, PROT_NONE); /* the file's pages stay mapped, without access */
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

/* Linux: a folder for each thread, and each adds a link to the folder around it, which has two of its own. */
bool os_is_single_thread(void)
{
    struct stat folder;
    return posix.stat("/proc/self/task", &folder) == 0 && folder.st_nlink == 2 + 1 + TOOL_THREADS;
}

/* ---- text ---- */

void os_print(const char *text, size_t length)
{
    int cancel = life_no_cancel();
    for (ssize_t n = 1; length && n > 0;) {
        n = posix.write(STDERR_FILENO, text, length);
        if (n > 0) {
            text += n;
            length -= (size_t)n;
        }
    }
    life_may_cancel(cancel);
}
