/* SPDX-License-Identifier: Apache-2.0 */
/* ibv_reg_dmabuf_mr of libibverbs, in a program that is linked with it: the part of a dma-buf that it registers
 * (registration.h). A program that looks it up, as NCCL does, calls it directly. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <string.h>

#include "check.h"
#include "registration.h"

#pragma GCC visibility push(default)
void *ibv_reg_dmabuf_mr(void *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access);
#pragma GCC visibility pop

static void look(int fd, uint64_t offset, size_t length)
{
    vmm_system *sys;
    vmm_detail detail;
    if (!check_hold(&sys))
        return;
    if (sys && registration_past_end(fd, offset, length, &detail))
        check_report(NULL, &detail);
    check_unhold();
}

void *ibv_reg_dmabuf_mr(void *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
    void *found = check_real_dlsym(RTLD_NEXT, "ibv_reg_dmabuf_mr");
    registration_function real;
    memcpy(&real, &found, sizeof real);
    if (!real) {
        errno = EOPNOTSUPP; /* like libibverbs if the card's library lacks it */
        return NULL;
    }
    look(fd, offset, length);
    return real(pd, offset, length, iova, fd, access);
}
