/* SPDX-License-Identifier: Apache-2.0 */
/* libibverbs.so.1 of a machine without a network card: a registration is refused where the kernel would refuse it. */
#define _POSIX_C_SOURCE 200809L
#include "verbs.h"

#include <errno.h>
#include <unistd.h>

void *ibv_reg_dmabuf_mr(void *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
    static int registered;
    const off_t end = lseek(fd, 0, SEEK_END);
    (void)pd, (void)iova, (void)access;
    if (end >= 0 && offset <= (uint64_t)end && length <= (uint64_t)end - offset)
        return &registered;
    errno = EINVAL;
    return NULL;
}
