/* SPDX-License-Identifier: Apache-2.0 */
/* scarce_rig.h - for tests: fault injection. The Nth allocation or system call fails:
 *
 *   scarce_arm(3);                         the third request of this thread from here on fails
 *   result = vmm_mem_create(...);          OUT_OF_MEMORY
 *   scarce_disarm()                        "calloc": that is what failed; NULL where fewer were made
 *
 *   scarce_meanwhile("stat", 1, remove_it);  nothing fails, but remove_it() is called just before the first stat
 *
 * It defines the tables of heap.h and posix.h, which the linker takes in the place of the library's own, so one file of a
 * program includes it. No symbol of the C library is replaced: it works beside every sanitizer and under valgrind, and a
 * test's own calls neither count nor fail. scarce_live counts the libraries' allocations: it is the same before and after
 * whatever frees everything. A mutex that is unlocked while it is not locked ends the program.
 */
#ifndef SIM_SCARCE_RIG_H
#define SIM_SCARCE_RIG_H

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

#include "heap.h"
#include "posix.h"
#include "tap.h"

static _Thread_local unsigned long scarce_left; /* requests up to and with the one that fails; 0: none does */
static _Thread_local const char *scarce_only, *scarce_then, *scarce_last, *scarce_what;
static _Thread_local int scarce_error; /* in the place of the function's usual one; 0: that */
static _Thread_local void (*scarce_instead)(void);
static _Thread_local bool scarce_each; /* and all later ones to that function */
static _Thread_local long scarce_late;  /* seconds that clocks are ahead */
static bool scarce_for_good; /* of memory alone, and then all requests from the nth on fail */
static _Atomic long scarce_live;

__attribute__((unused)) static void scarce_arm(unsigned long nth)
{
    scarce_left = nth;
    scarce_only = scarce_then = scarce_last = scarce_what = NULL;
    scarce_instead = NULL;
    scarce_error = 0;
    scarce_each = false;
}

/* Of the requests to that function alone the nth. */
__attribute__((unused)) static void scarce_arm_at(const char *function, unsigned long nth)
{
    scarce_arm(nth);
    scarce_only = function;
}

/* The same, and after that the next request to the other one. */
__attribute__((unused)) static void scarce_arm_both(const char *function, unsigned long nth, const char *other)
{
    scarce_arm_at(function, nth);
    scarce_then = other;
}

/* The same, and after that the next request to a third. */
__attribute__((unused)) static void scarce_arm_three(const char *function, unsigned long nth, const char *other, const char *last)
{
    scarce_arm_both(function, nth, other);
    scarce_last = last;
}

/* None fails: just before the nth request that happens, which is what another process might do then. */
__attribute__((unused)) static void scarce_meanwhile(const char *function, unsigned long nth, void (*what)(void))
{
    scarce_arm_at(function, nth);
    scarce_instead = what;
}

__attribute__((unused)) static const char *scarce_disarm(void)
{
    scarce_left = 0;
    scarce_late = 0;
    return scarce_what;
}

/* Functions that do the same, of which tests know one. */
static const char *scarce_known_as(const char *function)
{
    static const char *const alike[][2] = {{"openat", "open"}, {"mkdirat", "mkdir"}, {"renameat2", "rename"}, {"fstatat", "lstat"},
                                           {"fdopendir", "opendir"}};
    for (size_t i = 0; i < sizeof alike / sizeof alike[0]; i++)
        if (!strcmp(function, alike[i][0]))
            return alike[i][1];
    return function;
}

static bool scarce_fails(const char *function, int error)
{
    if (!scarce_left)
        return false;
    const char *what = scarce_known_as(function);
    bool memory = !strcmp(what, "malloc") || !strcmp(what, "calloc") || !strcmp(what, "realloc");
    if ((scarce_only && strcmp(scarce_only, what) != 0) || (scarce_for_good && !memory))
        return false;
    if (scarce_left > 1) {
        scarce_left--;
        return false;
    }
    void (*instead)(void) = scarce_instead;
    scarce_left = scarce_for_good || scarce_each || scarce_then;
    scarce_only = scarce_then ? scarce_then : scarce_only;
    scarce_then = scarce_last;
    scarce_last = NULL;
    scarce_what = what;
    if (instead)
        instead();
    else
        errno = scarce_error ? scarce_error : error;
    return !instead;
}

/* ---- memory ---- */

static void *scarce_counted(void *memory)
{
    if (memory)
        atomic_fetch_add(&scarce_live, 1);
    return memory;
}

static void *scarce_malloc(size_t size)
{
    return scarce_fails("malloc", ENOMEM) ? NULL : scarce_counted(malloc(size));
}

static void *scarce_calloc(size_t count, size_t size)
{
    return scarce_fails("calloc", ENOMEM) ? NULL : scarce_counted(calloc(count, size));
}

static void *scarce_realloc(void *memory, size_t size)
{
    if (!memory)
        return scarce_malloc(size);
    return scarce_fails("realloc", ENOMEM) ? NULL : realloc(memory, size);
}

static void scarce_free(void *memory)
{
    if (memory)
        atomic_fetch_sub(&scarce_live, 1);
    free(memory);
}

static char *scarce_strdup(const char *text)
{
    return scarce_fails("malloc", ENOMEM) ? NULL : scarce_counted(strdup(text));
}

static char *scarce_strndup(const char *text, size_t length)
{
    return scarce_fails("malloc", ENOMEM) ? NULL : scarce_counted(strndup(text, length));
}

const struct heap heap = {.malloc = scarce_malloc,
                          .calloc = scarce_calloc,
                          .realloc = scarce_realloc,
                          .free = scarce_free,
                          .strdup = scarce_strdup,
                          .strndup = scarce_strndup};

/* ---- the system ---- */

/* What the C library allocates for its caller: an open file or folder. */
static bool scarce_within(const char *function)
{
    return (!strcmp(function, "fopen") || !strcmp(function, "opendir") || !strcmp(function, "fdopendir")) &&
           scarce_fails("malloc", ENOMEM);
}

#define POSIX_CALL(type, name, params, args, failed, error)                   \
    static type scarce_##name params                                          \
    {                                                                         \
        return scarce_fails(#name, error) || scarce_within(#name) ? failed : name args; \
    }
#define POSIX_OTHER(type, name, params)
#include "posix.def"
#undef POSIX_CALL
#undef POSIX_OTHER

/* ---- what is mapped, as a list of ranges ---- */

static struct {
    pthread_mutex_t lock;
    struct scarce_range {
        uintptr_t start, end;
    } *range;
    size_t count, room;
} scarce_maps = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void scarce_maps_add(uintptr_t start, uintptr_t end)
{
    if (scarce_maps.count == scarce_maps.room) {
        scarce_maps.room = 2 * scarce_maps.room + 64;
        scarce_maps.range = realloc(scarce_maps.range, scarce_maps.room * sizeof *scarce_maps.range);
        if (!scarce_maps.range)
            tap_bail("no memory for the list of mappings");
    }
    scarce_maps.range[scarce_maps.count++] = (struct scarce_range){start, end};
}

static void scarce_maps_drop(uintptr_t start, uintptr_t end)
{
    for (size_t i = scarce_maps.count; i-- > 0;) {
        struct scarce_range was = scarce_maps.range[i];
        if (was.end <= start || end <= was.start)
            continue;
        scarce_maps.range[i] = scarce_maps.range[--scarce_maps.count];
        if (was.start < start)
            scarce_maps_add(was.start, start);
        if (end < was.end)
            scarce_maps_add(end, was.end);
    }
}

/* Bytes that the libraries have mapped. */
__attribute__((unused)) static uint64_t scarce_mapped(void)
{
    uint64_t bytes = 0;
    pthread_mutex_lock(&scarce_maps.lock);
    for (size_t i = 0; i < scarce_maps.count; i++)
        bytes += scarce_maps.range[i].end - scarce_maps.range[i].start;
    pthread_mutex_unlock(&scarce_maps.lock);
    return bytes;
}

static void *scarce_mmap(void *at, size_t size, int rights, int flags, int file, off_t offset)
{
    void *made = scarce_fails("mmap", ENOMEM) ? MAP_FAILED : mmap(at, size, rights, flags, file, offset);
    pthread_mutex_lock(&scarce_maps.lock);
    if (made != MAP_FAILED) {
        scarce_maps_drop((uintptr_t)made, (uintptr_t)made + size);
        scarce_maps_add((uintptr_t)made, (uintptr_t)made + size);
    }
    pthread_mutex_unlock(&scarce_maps.lock);
    return made;
}

static int scarce_munmap(void *at, size_t size)
{
    pthread_mutex_lock(&scarce_maps.lock);
    scarce_maps_drop((uintptr_t)at, (uintptr_t)at + size);
    pthread_mutex_unlock(&scarce_maps.lock);
    return munmap(at, size);
}

/* ---- what has further arguments ---- */

static int scarce_open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    unsigned mode = flags & O_CREAT ? va_arg(list, unsigned) : 0;
    va_end(list);
    return scarce_fails("open", EMFILE) ? -1 : open(path, flags, mode);
}

static int scarce_openat(int folder, const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    unsigned mode = flags & O_CREAT ? va_arg(list, unsigned) : 0;
    va_end(list);
    return scarce_fails("openat", EMFILE) ? -1 : openat(folder, path, flags, mode);
}

/* Its third argument, where it has one, is a number or a pointer. */
static int scarce_fcntl(int file, int what, ...)
{
    va_list list;
    va_start(list, what);
    void *with = va_arg(list, void *);
    va_end(list);
    return scarce_fails("fcntl", ENOLCK) ? -1 : fcntl(file, what, with);
}

static int scarce_clock_gettime(clockid_t which, struct timespec *now)
{
    int result = clock_gettime(which, now);
    now->tv_sec += scarce_late;
    return result;
}

/* Only the holder of a lock unlocks it: where it can be taken, this one does not hold it. */
static int scarce_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (!pthread_mutex_trylock(mutex)) {
        fprintf(stderr, "# a lock is unlocked that is not held\n");
        abort();
    }
    return pthread_mutex_unlock(mutex);
}

static int scarce_getrlimit(int what, struct rlimit *limit)
{
    return scarce_fails("getrlimit", EINVAL) ? -1 : getrlimit((unsigned)what, limit);
}

const struct posix posix = {
#define POSIX_CALL(type, name, params, args, failed, error) .name = scarce_##name,
#define POSIX_OTHER(type, name, params)                     .name = scarce_##name,
#include "posix.def"
#undef POSIX_CALL
#undef POSIX_OTHER
    .getrlimit = scarce_getrlimit,
};


/* ---- the loop ---- */

/* A scenario, of which the first request fails, then the second, the third, until none is left to fail. */
struct scarce_case {
    const char *name;
    const char *function;   /* requests to it alone; NULL: all */
    unsigned least;         /* so many requests at least are refused */
    unsigned long most;     /* no more are tried, what follows being alike; 0: all are */
    void (*begin)(void);    /* before each try */
    bool (*call)(void);     /* what the request fails in; false: refused */
    bool (*reported)(void); /* after a refusal: as it should be, and nothing has changed; NULL: whatever is said */
    bool (*end)(void);      /* after each try: what there should be is there, and all of it is given back */
};

enum { SCARCE_TRIES = 300 };

__attribute__((unused)) static void scarce_try(const struct scarce_case *of)
{
    const char *failed = "";
    unsigned refused = 0, unsaid = 0, broken = 0;
    for (unsigned long nth = 1; failed && nth < (of->most ? of->most : SCARCE_TRIES); nth++) {
        if (of->begin)
            of->begin();
        scarce_arm_at(of->function, nth);
        bool done = of->call();
        failed = scarce_disarm();
        bool said = done || (failed && (!of->reported || of->reported()));
        bool whole = of->end();
        if (!said || !whole)
            tap_note("%s, request %lu (%s): %s", of->name, nth, failed ? failed : "none", said ? "not whole" : "not reported");
        refused += !done;
        unsaid += !said;
        broken += !whole;
    }
    tap_ok(!unsaid && refused >= of->least, "%s: each of %u refusals is reported, at least %u", of->name, refused, of->least);
    tap_ok(!broken && (!failed || of->most), "%s: whatever fails, what should be there is, and nothing stays behind", of->name);
}

#endif
