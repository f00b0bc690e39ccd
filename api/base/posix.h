/* SPDX-License-Identifier: Apache-2.0 */
/* posix.h - the system calls of the libraries here that can fail: posix.open(path, flags), posix.mmap(...) and so on.
 *
 *   library   posix --> the C library's functions       posix.c, constant: nothing replaces them at run time
 *   test      posix --> fault injection --> the same    backend_sim/testing/inject_rig.h, linked instead of posix.c
 *
 * The functions are those of POSIX and Linux. posix.def lists them, each with its usual error. Functions that only release a
 * resource, such as close, are not listed. A direct call would be a system call that no test can make fail; ci/requests_test.sh
 * finds such calls.
 */
#ifndef VMM_POSIX_H
#define VMM_POSIX_H

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <sys/types.h>
#include <time.h>

struct msghdr;
struct rlimit;
struct sockaddr;
struct stat;
struct statvfs;

#if defined(__linux__) && !defined(__GLIBC__)
#include <sys/syscall.h>
/* musl has no function for it. */
long syscall(long number, ...);
static inline int posix_renameat2(int in, const char *from, int out, const char *to, unsigned how)
{
    return (int)syscall(SYS_renameat2, in, from, out, to, how);
}
#define renameat2 posix_renameat2
#endif

/* With _GNU_SOURCE glibc declares an enum for the first parameter. */
#ifdef __GLIBC__
#define posix_getrlimit(what, limit) getrlimit((unsigned)(what), (limit))
#else
#define posix_getrlimit(what, limit) getrlimit((what), (limit))
#endif

struct posix {
#define POSIX_CALL(type, name, params, args, failed, error) type(*name) params;
#define POSIX_OTHER(type, name, params)                     type(*name) params;
#include "posix.def"
#undef POSIX_CALL
#undef POSIX_OTHER
    int (*getrlimit)(int what, struct rlimit *limit);
    int (*try_lock)(pthread_mutex_t *mutex); /* pthread_mutex_trylock of a mutex of this process alone, which fails while it is held */
};
extern const struct posix posix;

#endif
