/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* MAP_ANONYMOUS, MAP_NORESERVE */
#include "os.h"

#include <errno.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#if defined(__has_include)
#if __has_include(<valgrind/valgrind.h>)
#include <valgrind/valgrind.h>
#endif
#endif

#include "os_inspect.h"
#include "os_system.h"
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

static void *reserve_at(uint64_t wish, uint64_t size)
{
    return posix.mmap(host(wish), (size_t)size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* What reserving SAMPLE bytes adds to the memory that this process occupies: nothing on a system, and megabytes in an emulator or a
 * tool that keeps a record for each page. Other threads take memory as well, so the least of several counts. */
enum { SAMPLE_GIB = 1, SAMPLES = 3 };
#define SAMPLE ((uint64_t)SAMPLE_GIB << 30)

static uint64_t cost_of_sample(void)
{
    void *at[SAMPLES];
    uint64_t before, after, least = UINT64_MAX;
    for (int i = 0; i < SAMPLES; i++) {
        before = os_resident();
        at[i] = reserve_at(0, SAMPLE);
        after = os_resident();
        if (at[i] != MAP_FAILED && (after > before ? after - before : 0) < least)
            least = after > before ? after - before : 0;
    }
    for (int i = 0; i < SAMPLES; i++)
        if (at[i] != MAP_FAILED)
            os_unreserve((uint64_t)(uintptr_t)at[i], SAMPLE);
    return least == UINT64_MAX ? 0 : least;
}

/* The most that is reserved at once: as much as costs that much memory. */
static uint64_t most(void)
{
    static _Atomic uint64_t known;
    const uint64_t allowance = UINT64_C(64) << 20, noise = UINT64_C(1) << 20;
    uint64_t here = atomic_load_explicit(&known, memory_order_relaxed);
    if (here)
        return here;
    const uint64_t cost = cost_of_sample();
    here = cost < noise ? SIZE_MAX : cost < allowance ? allowance / cost * SAMPLE : SAMPLE; /* LCOV_EXCL_BR_LINE: under such a tool */
#ifdef RUNNING_ON_VALGRIND
    if (RUNNING_ON_VALGRIND)        /* LCOV_EXCL_BR_LINE: coverage does not run under valgrind */
        here = UINT64_C(8) << 30;   /* LCOV_EXCL_LINE: the same; its records of pages come later, when they are unmapped */
#endif
    atomic_store_explicit(&known, here, memory_order_relaxed);
    return here;
}

/* Without MAP_FIXED the address is a hint: the system never replaces an existing mapping. */
static uint64_t reserve_near(uint64_t wish, uint64_t size)
{
    if (wish > UINTPTR_MAX || (size > SAMPLE && size > most())) /* LCOV_EXCL_BR_LINE: under valgrind or on 32-bit machines */
        return 0;                                              /* LCOV_EXCL_LINE: the same */
    void *at = reserve_at(wish, size);
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

/* ---- processes ---- */

uint64_t os_pid(void)
{
    return (uint64_t)getpid();
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
