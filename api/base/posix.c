/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* memfd_create, fallocate, renameat2 */
#include "posix.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

static int limit_of(int what, struct rlimit *limit)
{
    return posix_getrlimit(what, limit);
}

/* Under _GNU_SOURCE the C library declares its address as a union. */
static int connect_to(int socket, const struct sockaddr *to, unsigned size)
{
    return connect(socket, to, size);
}
#define connect connect_to

const struct posix posix = { /* in the order of the declaration, which is that of posix.def */
#define POSIX_CALL(type, name, params, args, failed, error) name,
#define POSIX_OTHER(type, name, params)                     name,
#include "posix.def"
    limit_of,
    pthread_mutex_trylock,
};
