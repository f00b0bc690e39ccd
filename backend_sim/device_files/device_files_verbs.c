/* SPDX-License-Identifier: Apache-2.0 */
/* ibv_reg_dmabuf_mr of libibverbs, in a program that is linked with it: the simulator's libcuda.so.1, if the program has loaded
 * it, checks which part of a dma-buf is registered. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include <dlfcn.h>
#include <errno.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "tail_call.h"

typedef void *(*registration_function)(void *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access);

static void *without(void *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
    (void)pd, (void)offset, (void)length, (void)iova, (void)fd, (void)access;
    errno = EOPNOTSUPP; /* like libibverbs if the card's library lacks it */
    return NULL;
}

static registration_function find(void)
{
    void *cuda = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), *ours = cuda ? dlsym(cuda, "cuvmmRegistration") : NULL;
    void *found = dlsym(RTLD_NEXT, "ibv_reg_dmabuf_mr");
    registration_function real, (*look)(registration_function);
    if (cuda)
        dlclose(cuda);
    memcpy(&real, &found, sizeof real);
    memcpy(&look, &ours, sizeof look);
    if (!real)
        return without;
    return look ? look(real) : real;
}

/* Uses a tail call, so that the program is the caller in stacks. */
TAIL_CALLER __attribute__((visibility("default"))) void *ibv_reg_dmabuf_mr(void *pd, uint64_t offset, size_t length, uint64_t iova, int fd,
                                                                          int access);
TAIL_CALLER void *ibv_reg_dmabuf_mr(void *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
    registration_function function = find();
    TAIL_CALL return function(pd, offset, length, iova, fd, access);
}
