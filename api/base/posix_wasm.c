/* SPDX-License-Identifier: Apache-2.0 */
/* The functions of posix.h in a WebAssembly module: those that wasi-libc has, which work on files in memory, and stubs that
 * fail for the rest. */
#include "posix.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- what is not there ---- */

#define POSIX_OTHER(type, name, params)
#define POSIX_CALL(type, name, params, args, failed, error) \
    __attribute__((unused)) static type no_##name params    \
    {                                                       \
        (void)args;                                         \
        errno = ENOSYS;                                     \
        return failed;                                      \
    }
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-value"
#include "posix.def"
#pragma clang diagnostic pop
#undef POSIX_CALL
#undef POSIX_OTHER

static void *no_mmap(void *at, size_t size, int rights, int flags, int file, off_t offset)
{
    (void)at, (void)size, (void)rights, (void)flags, (void)file, (void)offset;
    errno = ENOSYS;
    return (void *)-1;
}

static int no_munmap(void *at, size_t size)
{
    (void)at, (void)size;
    errno = ENOSYS;
    return -1;
}

static int no_fcntl(int file, int what, ...)
{
    (void)file, (void)what;
    errno = ENOSYS;
    return -1;
}

static int no_getrlimit(int what, struct rlimit *limit)
{
    (void)what, (void)limit;
    errno = ENOSYS;
    return -1;
}

/* Threads cannot be created; the function returns the error number instead of setting errno. */
int pthread_create(pthread_t *thread, const pthread_attr_t *kind, void *(*code)(void *), void *user)
{
    (void)thread, (void)kind, (void)code, (void)user;
    return EAGAIN;
}

/* ---- what there is ---- */

static struct {
    bool taken;
    const void *value;
} keys[PTHREAD_KEYS_MAX];

/* `end` would be called when a thread ends, and the only thread never does. */
int pthread_key_create(pthread_key_t *key, void (*end)(void *value))
{
    (void)end;
    for (unsigned i = 0; i < PTHREAD_KEYS_MAX; i++)
        if (!keys[i].taken) {
            keys[i].taken = true;
            keys[i].value = NULL;
            *key = i;
            return 0;
        }
    return EAGAIN;
}

int pthread_key_delete(pthread_key_t key)
{
    keys[key].taken = false;
    return 0;
}

int pthread_setspecific(pthread_key_t key, const void *value)
{
    keys[key].value = value;
    return 0;
}

void *pthread_getspecific(pthread_key_t key)
{
    return (void *)(uintptr_t)keys[key].value;
}

int pthread_once(pthread_once_t *once, void (*code)(void))
{
    if (!*once) {
        *once = 1;
        code();
    }
    return 0;
}

/* Within one module no two names are alike. */
int mkstemp(char *pattern)
{
    static unsigned made;
    size_t length = strlen(pattern);
    unsigned number = made++;
    for (size_t i = 0; i < 6; i++, number /= 26)
        pattern[length - 1 - i] = (char)('a' + number % 26);
    return open(pattern, O_RDWR | O_CREAT | O_EXCL, 0600);
}

const struct posix posix = {
    .mmap = no_mmap,
    .munmap = no_munmap,
    .mprotect = no_mprotect,
    .open = open,
    .openat = openat,
    .fcntl = no_fcntl,
    .read = read,
    .write = write,
    .pread = pread,
    .pwrite = pwrite,
    .ftruncate = ftruncate,
    .fopen = fopen,
    .fstat = fstat,
    .stat = stat,
    .lstat = lstat,
    .fstatat = fstatat,
    .statvfs = no_statvfs,
    .access = access,
    .faccessat = faccessat,
    .readlink = no_readlink,
    .mkdir = mkdir,
    .mkdirat = mkdirat,
    .opendir = no_opendir,
    .fdopendir = no_fdopendir,
    .flock = no_flock,
    .socket = no_socket,
    .connect = no_connect,
    .sendmsg = no_sendmsg,
    .recvmsg = no_recvmsg,
    .poll = no_poll,
    .socketpair = no_socketpair,
    .pthread_create = pthread_create,
    .pthread_key_create = pthread_key_create,
    .pthread_setspecific = pthread_setspecific,
    .pthread_mutex_trylock = pthread_mutex_trylock,
    .pthread_mutex_unlock = pthread_mutex_unlock,
    .clock_gettime = clock_gettime,
    .sigaction = no_sigaction,
    .getrlimit = no_getrlimit,
    .try_lock = pthread_mutex_trylock,
};
