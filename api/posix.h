/* SPDX-License-Identifier: Apache-2.0 */
/* posix.h - what the libraries here call the system for and what may fail: posix.open(path, flags), posix.mmap(...) and so on.
 *
 *   library   posix --> the C library's functions       posix.c, constant: nothing replaces them at run time
 *   test      posix --> fault injection --> the same    backend_sim/testing/inject_rig.h, which the linker takes in posix.c's place
 *
 * The functions mean what they mean in POSIX and on Linux. posix.def lists them, with the error that each usually fails by. What
 * only gives something back, as close does, is no part of it. A direct call of one would be a system call that no test can make fail:
 * ci/requests_test.sh finds it.
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
struct stat;
struct statvfs;

struct posix {
#define POSIX_CALL(type, name, params, args, failed, error) type(*name) params;
#define POSIX_OTHER(type, name, params)                     type(*name) params;
#include "posix.def"
#undef POSIX_CALL
#undef POSIX_OTHER
    int (*getrlimit)(int what, struct rlimit *limit); /* what: with _GNU_SOURCE the C library has an enum of its own for it */
};
extern const struct posix posix;

#endif
