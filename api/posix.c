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
    return getrlimit((unsigned)what, limit);
}

const struct posix posix = {
#define POSIX_CALL(type, name, params, args, failed, error) .name = name,
#define POSIX_OTHER(type, name, params)                     .name = name,
#include "posix.def"
    .getrlimit = limit_of,
};
