/* SPDX-License-Identifier: Apache-2.0 */
/* scarce_rig.h - for tests: what a call asks the C library and the system for can be made to fail, the Nth request of it.
 *
 *   scarce_arm(3);                         the third request of this thread from here on fails
 *   result = vmm_mem_create(...);          OUT_OF_MEMORY
 *   scarce_disarm()                        "calloc": that is what failed; NULL where fewer were made
 *
 *   scarce_meanwhile("stat", 1, remove_it);  nothing fails, but remove_it() is called just before the first stat
 *
 * It replaces functions of the C library in the whole program, so it is included by one file of it. Allocations are counted,
 * whoever makes them: scarce_live is the same before and after whatever gives everything back. And a mutex that is unlocked
 * while it is not locked ends the program.
 */
#ifndef SIM_SCARCE_RIG_H
#define SIM_SCARCE_RIG_H

#undef _FORTIFY_SOURCE /* which puts inline functions of its own in the place of those that are replaced here */
#if defined(__linux__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <features.h>
#endif
#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define CAN_FAIL 1
#else
#define CAN_FAIL 0
#endif

#include <stdlib.h>

#include "tap.h"

/* Can requests be made to fail, where this test runs? Otherwise it leaves what it is about out, and says so. */
static inline bool rig_can_fail(const char *what)
{
    bool can = CAN_FAIL && !getenv("CUVMM_RUN");
    if (!can)
        tap_skip("requests cannot be made to fail under this tool", "%s", what);
    return can;
}

#if CAN_FAIL
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <time.h>
#include <unistd.h>

static _Thread_local unsigned long scarce_left; /* requests up to and with the one that fails; 0: none does */
static _Thread_local const char *scarce_only, *scarce_then, *scarce_last, *scarce_what;
static _Thread_local int scarce_error; /* in the place of the function's usual one; 0: that */
static _Thread_local void (*scarce_instead)(void);
static _Thread_local bool scarce_each; /* and all later ones to that function */
static _Thread_local long scarce_late;  /* seconds that clocks are ahead */
static bool scarce_for_good; /* of memory alone, and then all requests from the nth on fail */
static _Atomic long scarce_live;

static void scarce_arm(unsigned long nth)
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

static const char *scarce_disarm(void)
{
    scarce_left = 0;
    scarce_late = 0;
    return scarce_what;
}

static bool scarce_fails(const char *what, int error)
{
    bool memory = !strcmp(what, "malloc") || !strcmp(what, "calloc") || !strcmp(what, "realloc");
    if (!scarce_left || (scarce_only && strcmp(scarce_only, what) != 0) || (scarce_for_good && !memory))
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

/* Also for the libraries that the program loads. */
#define SCARCE __attribute__((visibility("default")))

/* ---- memory ---- */

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t count, size_t size);
void *__libc_realloc(void *memory, size_t size);
void __libc_free(void *memory);

static void *scarce_counted(void *memory)
{
    if (memory)
        atomic_fetch_add(&scarce_live, 1);
    return memory;
}

SCARCE void *malloc(size_t size)
{
    return scarce_fails("malloc", ENOMEM) ? NULL : scarce_counted(__libc_malloc(size));
}

SCARCE void *calloc(size_t count, size_t size)
{
    return scarce_fails("calloc", ENOMEM) ? NULL : scarce_counted(__libc_calloc(count, size));
}

SCARCE void *realloc(void *memory, size_t size)
{
    if (!memory)
        return malloc(size);
    return scarce_fails("realloc", ENOMEM) ? NULL : __libc_realloc(memory, size);
}

SCARCE void free(void *memory)
{
    if (memory)
        atomic_fetch_sub(&scarce_live, 1);
    __libc_free(memory);
}

/* ---- the system ---- */

/* The C library's own function of that name, in a pointer to one. */
static void scarce_find(const char *name, void *function, size_t size)
{
    void *real = dlsym(RTLD_NEXT, name);
    if (!real)
        abort();
    memcpy(function, &real, size);
}

#define SCARCE_CALL_AS(type, name, known_as, error, bad, params, args) \
    SCARCE type name params                                            \
    {                                                                  \
        static type(*real) params;                                     \
        if (scarce_fails(known_as, error))                             \
            return bad;                                                \
        if (!real)                                                     \
            scarce_find(#name, (void *)&real, sizeof real);            \
        return real args;                                              \
    }
#define SCARCE_CALL(type, name, error, bad, params, args) SCARCE_CALL_AS(type, name, #name, error, bad, params, args)

SCARCE_CALL(void *, mmap, ENOMEM, MAP_FAILED, (void *at, size_t size, int rights, int flags, int file, off_t offset),
            (at, size, rights, flags, file, offset))
SCARCE_CALL(int, mprotect, ENOMEM, -1, (void *at, size_t size, int rights), (at, size, rights))
SCARCE_CALL(int, memfd_create, EMFILE, -1, (const char *name, unsigned flags), (name, flags))
SCARCE_CALL(int, ftruncate, ENOSPC, -1, (int file, off_t size), (file, size))
SCARCE_CALL(int, fallocate, ENOSPC, -1, (int file, int mode, off_t offset, off_t size), (file, mode, offset, size))
SCARCE_CALL(ssize_t, pwrite, ENOSPC, -1, (int file, const void *bytes, size_t size, off_t offset), (file, bytes, size, offset))
SCARCE_CALL(ssize_t, pread, EIO, -1, (int file, void *bytes, size_t size, off_t offset), (file, bytes, size, offset))
SCARCE_CALL(ssize_t, write, ENOSPC, -1, (int file, const void *bytes, size_t size), (file, bytes, size))
SCARCE_CALL(ssize_t, read, EIO, -1, (int file, void *bytes, size_t size), (file, bytes, size))
SCARCE_CALL(int, flock, ENOLCK, -1, (int file, int operation), (file, operation))
SCARCE_CALL(int, mkdir, ENOSPC, -1, (const char *path, mode_t mode), (path, mode))
SCARCE_CALL_AS(int, mkdirat, "mkdir", ENOSPC, -1, (int folder, const char *path, mode_t mode), (folder, path, mode))
SCARCE_CALL_AS(int, renameat2, "rename", ENOSPC, -1, (int in, const char *from, int out, const char *to, unsigned how),
               (in, from, out, to, how))
SCARCE_CALL_AS(int, fstatat, "lstat", EIO, -1, (int folder, const char *path, struct stat *is, int how), (folder, path, is, how))
SCARCE_CALL(int, fstat, EIO, -1, (int file, struct stat *is), (file, is))
SCARCE_CALL(int, stat, EIO, -1, (const char *path, struct stat *is), (path, is))
SCARCE_CALL(int, lstat, EIO, -1, (const char *path, struct stat *is), (path, is))
SCARCE_CALL(int, statvfs, EIO, -1, (const char *path, struct statvfs *is), (path, is))
SCARCE_CALL(int, faccessat, EIO, -1, (int folder, const char *path, int how, int flags), (folder, path, how, flags))
SCARCE_CALL(DIR *, opendir, EMFILE, NULL, (const char *path), (path))
SCARCE_CALL_AS(DIR *, fdopendir, "opendir", EMFILE, NULL, (int folder), (folder))
SCARCE_CALL(FILE *, fopen, EMFILE, NULL, (const char *path, const char *how), (path, how))
SCARCE_CALL(int, pthread_key_create, EAGAIN, EAGAIN, (pthread_key_t *key, void (*end)(void *)), (key, end))
SCARCE_CALL(int, pthread_create, EAGAIN, EAGAIN,
            (pthread_t *thread, const pthread_attr_t *kind, void *(*code)(void *), void *user), (thread, kind, code, user))
SCARCE_CALL(int, pthread_setspecific, ENOMEM, ENOMEM, (pthread_key_t key, const void *value), (key, value))
SCARCE_CALL(int, pthread_mutexattr_init, ENOMEM, ENOMEM, (pthread_mutexattr_t *kind), (kind))
SCARCE_CALL(int, pthread_mutexattr_setpshared, ENOTSUP, ENOTSUP, (pthread_mutexattr_t *kind, int shared), (kind, shared))
SCARCE_CALL(int, pthread_mutexattr_setrobust, ENOTSUP, ENOTSUP, (pthread_mutexattr_t *kind, int robust), (kind, robust))
SCARCE_CALL(int, pthread_mutex_trylock, ENOTRECOVERABLE, ENOTRECOVERABLE, (pthread_mutex_t *mutex), (mutex))
SCARCE_CALL(int, access, EACCES, -1, (const char *path, int how), (path, how))
SCARCE_CALL(ssize_t, readlink, EACCES, -1, (const char *path, char *target, size_t size), (path, target, size))
SCARCE_CALL(int, getrlimit, EINVAL, -1, (__rlimit_resource_t what, struct rlimit *limit), (what, limit))
SCARCE_CALL(int, sigaction, EINVAL, -1, (int number, const struct sigaction *action, struct sigaction *old),
            (number, action, old))

SCARCE int clock_gettime(clockid_t which, struct timespec *now)
{
    static int (*real)(clockid_t which, struct timespec *now);
    if (!real)
        scarce_find("clock_gettime", (void *)&real, sizeof real);
    int result = real(which, now);
    now->tv_sec += scarce_late;
    return result;
}

/* One of the process's own cannot fail. */
SCARCE int pthread_mutex_init(pthread_mutex_t *mutex, const pthread_mutexattr_t *kind)
{
    static int (*real)(pthread_mutex_t *mutex, const pthread_mutexattr_t *kind);
    if (kind && scarce_fails("pthread_mutex_init", EAGAIN))
        return EAGAIN;
    if (!real)
        scarce_find("pthread_mutex_init", (void *)&real, sizeof real);
    return real(mutex, kind);
}

/* Whoever gives a lock back has it: where it can be taken, somebody forgot to. */
SCARCE int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    static int (*real)(pthread_mutex_t *mutex), (*try)(pthread_mutex_t *mutex);
    if (!real) {
        scarce_find("pthread_mutex_trylock", (void *)&try, sizeof try);
        scarce_find("pthread_mutex_unlock", (void *)&real, sizeof real);
    }
    if (!try(mutex)) {
        fprintf(stderr, "# a lock is given back that nobody has\n");
        abort();
    }
    return real(mutex);
}

SCARCE int open(const char *path, int flags, ...)
{
    static int (*real)(const char *path, int flags, ...);
    va_list list;
    va_start(list, flags);
    unsigned mode = flags & O_CREAT ? va_arg(list, unsigned) : 0;
    va_end(list);
    if (scarce_fails("open", EMFILE))
        return -1;
    if (!real)
        scarce_find("open", (void *)&real, sizeof real);
    return real(path, flags, mode);
}

SCARCE int openat(int folder, const char *path, int flags, ...)
{
    static int (*real)(int folder, const char *path, int flags, ...);
    va_list list;
    va_start(list, flags);
    unsigned mode = flags & O_CREAT ? va_arg(list, unsigned) : 0;
    va_end(list);
    if (scarce_fails("open", EMFILE))
        return -1;
    if (!real)
        scarce_find("openat", (void *)&real, sizeof real);
    return real(folder, path, flags, mode);
}

/* Its third argument, where it has one, is a number or a pointer. */
SCARCE int fcntl(int file, int what, ...)
{
    static int (*real)(int file, int what, ...);
    va_list list;
    va_start(list, what);
    void *with = va_arg(list, void *);
    va_end(list);
    if (scarce_fails("fcntl", ENOLCK))
        return -1;
    if (!real)
        scarce_find("fcntl", (void *)&real, sizeof real);
    return real(file, what, with);
}
#endif

#endif
