/* SPDX-License-Identifier: Apache-2.0 */
/* inject_rig.h - for tests: fault injection. The Nth allocation or system call fails:
 *
 *   inject_arm(3);                         the third request of this thread from now on fails
 *   result = vmm_mem_create(...);          OUT_OF_MEMORY
 *   inject_disarm()                        "calloc": the function that failed; NULL if there were fewer requests
 *
 *   inject_meanwhile("stat", 1, remove_it);  nothing fails, but remove_it() is called just before the first stat
 *
 *   inject_try(&(struct inject_case){.name = "an export", .begin = open_it, .call = export_it, .end = close_it});
 *                                          the first request of export_it() fails, then the second, until none is left to fail
 *
 * It defines the tables of heap.h and posix.h, which the linker prefers to the library's own, so exactly one file of a
 * program includes it. No symbol of the C library is replaced: it works with every sanitizer and under valgrind, and a
 * test's own calls neither count nor fail. inject_live counts the libraries' allocations: it is the same before and
 * after whatever frees everything. A mutex that is unlocked while it is not locked ends the program.
 */
#ifndef SIM_INJECT_RIG_H
#define SIM_INJECT_RIG_H

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

static _Thread_local unsigned long inject_left; /* requests up to and including the failing one; 0: none fails */
static _Thread_local const char *inject_only, *inject_then, *inject_last, *inject_what;
static _Thread_local int inject_error; /* instead of the function's usual error; 0: the usual one */
static _Thread_local void (*inject_instead)(void);
static _Thread_local bool inject_each; /* and all later ones to that function */
static _Thread_local long inject_late;  /* seconds that clocks are ahead */
static bool inject_for_good; /* only allocations, and all of them from the nth on fail */
static _Atomic long inject_live;

__attribute__((unused)) static void inject_arm(unsigned long nth)
{
    inject_left = nth;
    inject_only = inject_then = inject_last = inject_what = NULL;
    inject_instead = NULL;
    inject_error = 0;
    inject_each = false;
}

/* Only the nth request to that function. */
__attribute__((unused)) static void inject_arm_at(const char *function, unsigned long nth)
{
    inject_arm(nth);
    inject_only = function;
}

/* The same, and after that the next request to the other one. */
__attribute__((unused)) static void inject_arm_both(const char *function, unsigned long nth, const char *other)
{
    inject_arm_at(function, nth);
    inject_then = other;
}

/* The same, and after that the next request to a third. */
__attribute__((unused)) static void inject_arm_three(const char *function, unsigned long nth, const char *other, const char *last)
{
    inject_arm_both(function, nth, other);
    inject_last = last;
}

/* None fails, but the function is called just before the nth request, to simulate another process. */
__attribute__((unused)) static void inject_meanwhile(const char *function, unsigned long nth, void (*what)(void))
{
    inject_arm_at(function, nth);
    inject_instead = what;
}

__attribute__((unused)) static const char *inject_disarm(void)
{
    inject_left = 0;
    inject_late = 0;
    return inject_what;
}

/* Equivalent functions, of which tests name one. */
static const char *inject_known_as(const char *function)
{
    static const char *const alike[][2] = {{"openat", "open"}, {"mkdirat", "mkdir"}, {"renameat2", "rename"},
                                           {"fstatat", "lstat"}, {"fdopendir", "opendir"}};
    for (size_t i = 0; i < sizeof alike / sizeof alike[0]; i++)
        if (!strcmp(function, alike[i][0]))
            return alike[i][1];
    return function;
}

static bool inject_fails(const char *function, int error)
{
    if (!inject_left)
        return false;
    const char *what = inject_known_as(function);
    bool memory = !strcmp(what, "malloc") || !strcmp(what, "calloc") || !strcmp(what, "realloc");
    if ((inject_only && strcmp(inject_only, what) != 0) || (inject_for_good && !memory))
        return false;
    if (inject_left > 1) {
        inject_left--;
        return false;
    }
    void (*instead)(void) = inject_instead;
    inject_left = inject_for_good || inject_each || inject_then;
    inject_only = inject_then ? inject_then : inject_only;
    inject_then = inject_last;
    inject_last = NULL;
    inject_what = what;
    if (instead)
        instead();
    else
        errno = inject_error ? inject_error : error;
    return !instead;
}

/* ---- memory ---- */

static void *inject_counted(void *memory)
{
    if (memory)
        atomic_fetch_add(&inject_live, 1);
    return memory;
}

static void *inject_malloc(size_t size)
{
    return inject_fails("malloc", ENOMEM) ? NULL : inject_counted(malloc(size));
}

static void *inject_calloc(size_t count, size_t size)
{
    return inject_fails("calloc", ENOMEM) ? NULL : inject_counted(calloc(count, size));
}

static void *inject_realloc(void *memory, size_t size)
{
    if (!memory)
        return inject_malloc(size);
    return inject_fails("realloc", ENOMEM) ? NULL : realloc(memory, size);
}

static void inject_free(void *memory)
{
    if (memory)
        atomic_fetch_sub(&inject_live, 1);
    free(memory);
}

static char *inject_strdup(const char *text)
{
    return inject_fails("malloc", ENOMEM) ? NULL : inject_counted(strdup(text));
}

static char *inject_strndup(const char *text, size_t length)
{
    return inject_fails("malloc", ENOMEM) ? NULL : inject_counted(strndup(text, length));
}

const struct heap heap = {.malloc = inject_malloc,
                          .calloc = inject_calloc,
                          .realloc = inject_realloc,
                          .free = inject_free,
                          .strdup = inject_strdup,
                          .strndup = inject_strndup};

/* ---- the system ---- */

/* Objects that the C library allocates: open files and folders. */
static bool inject_within(const char *function)
{
    return (!strcmp(function, "fopen") || !strcmp(function, "opendir") || !strcmp(function, "fdopendir")) &&
           inject_fails("malloc", ENOMEM);
}

#define POSIX_CALL(type, name, params, args, failed, error)                   \
    static type inject_##name params                                          \
    {                                                                         \
        return inject_fails(#name, error) || inject_within(#name) ? failed : name args; \
    }
#define POSIX_OTHER(type, name, params)
#include "posix.def"
#undef POSIX_CALL
#undef POSIX_OTHER

/* ---- mappings, as a list of ranges ---- */

static struct {
    pthread_mutex_t lock;
    struct inject_range {
        uintptr_t start, end;
    } *range;
    size_t count, room;
} inject_maps = {.lock = PTHREAD_MUTEX_INITIALIZER};

static void inject_maps_add(uintptr_t start, uintptr_t end)
{
    if (inject_maps.count == inject_maps.room) {
        inject_maps.room = 2 * inject_maps.room + 64;
        inject_maps.range = realloc(inject_maps.range, inject_maps.room * sizeof *inject_maps.range);
        if (!inject_maps.range)
            tap_bail("no memory for the list of mappings");
    }
    inject_maps.range[inject_maps.count++] = (struct inject_range){start, end};
}

static void inject_maps_drop(uintptr_t start, uintptr_t end)
{
    for (size_t i = inject_maps.count; i-- > 0;) {
        struct inject_range was = inject_maps.range[i];
        if (was.end <= start || end <= was.start)
            continue;
        inject_maps.range[i] = inject_maps.range[--inject_maps.count];
        if (was.start < start)
            inject_maps_add(was.start, start);
        if (end < was.end)
            inject_maps_add(end, was.end);
    }
}

/* The number of bytes that the libraries have mapped. */
__attribute__((unused)) static uint64_t inject_mapped(void)
{
    uint64_t bytes = 0;
    pthread_mutex_lock(&inject_maps.lock);
    for (size_t i = 0; i < inject_maps.count; i++)
        bytes += inject_maps.range[i].end - inject_maps.range[i].start;
    pthread_mutex_unlock(&inject_maps.lock);
    return bytes;
}

static void *inject_mmap(void *at, size_t size, int rights, int flags, int file, off_t offset)
{
    void *made = inject_fails("mmap", ENOMEM) ? MAP_FAILED : mmap(at, size, rights, flags, file, offset);
    pthread_mutex_lock(&inject_maps.lock);
    if (made != MAP_FAILED) {
        inject_maps_drop((uintptr_t)made, (uintptr_t)made + size);
        inject_maps_add((uintptr_t)made, (uintptr_t)made + size);
    }
    pthread_mutex_unlock(&inject_maps.lock);
    return made;
}

static int inject_munmap(void *at, size_t size)
{
    pthread_mutex_lock(&inject_maps.lock);
    inject_maps_drop((uintptr_t)at, (uintptr_t)at + size);
    pthread_mutex_unlock(&inject_maps.lock);
    return munmap(at, size);
}

/* ---- functions with further arguments ---- */

static int inject_open(const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    unsigned mode = flags & O_CREAT ? va_arg(list, unsigned) : 0;
    va_end(list);
    return inject_fails("open", EMFILE) ? -1 : open(path, flags, mode);
}

static int inject_openat(int folder, const char *path, int flags, ...)
{
    va_list list;
    va_start(list, flags);
    unsigned mode = flags & O_CREAT ? va_arg(list, unsigned) : 0;
    va_end(list);
    return inject_fails("openat", EMFILE) ? -1 : openat(folder, path, flags, mode);
}

/* Its optional third argument is a number or a pointer. */
static int inject_fcntl(int file, int what, ...)
{
    va_list list;
    va_start(list, what);
    void *with = va_arg(list, void *);
    va_end(list);
    return inject_fails("fcntl", ENOLCK) ? -1 : fcntl(file, what, with);
}

/* It never fails, and counts as a request only if a test names it. */
static int inject_clock_gettime(clockid_t which, struct timespec *now)
{
    if (inject_only && !strcmp(inject_only, "clock_gettime"))
        inject_fails("clock_gettime", 0);
    int result = clock_gettime(which, now);
    now->tv_sec += inject_late;
    return result;
}

/* Only the holder may unlock a lock: if the lock can be taken, this thread does not hold it. */
static int inject_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (!pthread_mutex_trylock(mutex)) {
        fprintf(stderr, "# a lock is unlocked that is not held\n");
        abort();
    }
    return pthread_mutex_unlock(mutex);
}

static int inject_getrlimit(int what, struct rlimit *limit)
{
    return inject_fails("getrlimit", EINVAL) ? -1 : posix_getrlimit(what, limit);
}

const struct posix posix = {
#define POSIX_CALL(type, name, params, args, failed, error) .name = inject_##name,
#define POSIX_OTHER(type, name, params)                     .name = inject_##name,
#include "posix.def"
#undef POSIX_CALL
#undef POSIX_OTHER
    .getrlimit = inject_getrlimit,
    .try_lock = pthread_mutex_trylock,
};

/* ---- the loop ---- */

/* A scenario: its first request fails, then the second, the third, until none is left to fail. */
struct inject_case {
    const char *name;
    const char *function;   /* only requests to this function; NULL: all */
    unsigned least;         /* at least this many requests are refused */
    unsigned long most;     /* stop after this many, because the rest is alike; 0: try all */
    void (*begin)(void);    /* before each try; NULL: nothing */
    bool (*call)(void);     /* the call in which the request fails; false: refused */
    bool (*reported)(void); /* after a refusal: checks the report and that nothing has changed; NULL: no check */
    bool (*end)(void);      /* after each try: checks the final state and frees everything; NULL: nothing */
    int error;              /* instead of the function's usual error; 0: the usual one */
    bool each;              /* and all later requests to the function */
    const char *then;       /* and the next one to this function */
    void (*meanwhile)(void); /* no failure, but this is called just before the request */
};

struct inject_count {
    unsigned refused, unsaid, broken;
    bool left; /* of the request to fail */
};

enum { INJECT_TRIES = 300 };

static unsigned long inject_nth; /* the request that fails in this try; inject_what is that function, for end() */

/* Reported, for a call that is never refused. */
__attribute__((unused)) static bool inject_never(void)
{
    return false;
}

static void inject_arm_case(const struct inject_case *of)
{
    inject_arm_both(of->function, inject_nth, of->then);
    inject_error = of->error;
    inject_each = of->each;
    inject_instead = of->meanwhile;
}

/* Without a point of the test's, as for a child. */
static struct inject_count inject_each_request(const struct inject_case *of)
{
    struct inject_count count = {.left = true};
    unsigned long most = of->most ? of->most : INJECT_TRIES;
    for (inject_nth = 1; count.left && inject_nth < most; inject_nth++) {
        if (of->begin)
            of->begin();
        inject_arm_case(of);
        bool done = of->call();
        const char *failed = inject_disarm();
        bool said = done || (failed && (!of->reported || of->reported()));
        bool whole = !of->end || of->end();
        if (!said || !whole)
            tap_note("%s, request %lu (%s): %s", of->name, inject_nth, failed ? failed : "none",
                     said ? "not whole" : "not reported");
        count.refused += !done;
        count.unsaid += !said;
        count.broken += !whole;
        count.left = failed != NULL;
    }
    count.left &= !of->most;
    return count;
}

__attribute__((unused)) static void inject_try(const struct inject_case *of)
{
    struct inject_count is = inject_each_request(of);
    tap_ok(!is.unsaid && is.refused >= of->least, "%s: each of %u refusals is reported, at least %u", of->name, is.refused,
           of->least);
    tap_ok(!is.broken && !is.left, "%s: after any failure the state is correct, and nothing leaks", of->name);
}

/* ---- a call that is repeated in place ---- */

/* For programs that see one failure at a time: the next request fails, until AGAIN, which sees the result, ends the
 * repetition. */
#define INJECT_AGAIN(type, nth, call, again) \
    do {                                     \
        type result_;                        \
        do {                                 \
            inject_arm(nth);                 \
            result_ = (call);                \
        } while (again);                     \
    } while (0)

enum { INJECT_KEPT = 128 };

/* A variable that such a call writes, and that a refused call does not change. */
struct inject_out {
    const void *at; /* NULL: none */
    size_t size;
    unsigned char kept[INJECT_KEPT];
};

__attribute__((unused)) static struct inject_out inject_keep(const void *at, size_t size)
{
    struct inject_out out = {.at = at, .size = size};
    if (size > sizeof out.kept)
        tap_bail("too much to keep");
    if (at)
        memcpy(out.kept, at, size);
    return out;
}

__attribute__((unused)) static bool inject_untouched(const struct inject_out *out)
{
    return !out->at || !memcmp(out->kept, out->at, out->size);
}

#endif
