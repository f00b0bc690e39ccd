/* SPDX-License-Identifier: Apache-2.0 */
/* The part of a dma-buf that a program registers with a network card (registration.h), under `cuvmm check`:
 * libcuvmm-device-files.so interposes on libibverbs and passes the calls here. */
#include <stdatomic.h>
#include <string.h>

#include "abi.h"
#include "registration.h"

static _Atomic(registration_function) real;

static void *look_and_register(void *pd, uint64_t offset, size_t length, uint64_t iova, int fd, int access)
{
    vmm_system *sys;
    vmm_detail detail;
    if (abi_hold_checked(&sys)) {
        if (sys && registration_past_end(fd, offset, length, &detail))
            abi_report(NULL, &detail);
        abi_unhold();
    }
    return atomic_load(&real)(pd, offset, length, iova, fd, access);
}

/* The function to call instead of libibverbs' own. */
__attribute__((visibility("default"))) registration_function cuvmmRegistration(registration_function libibverbs);
registration_function cuvmmRegistration(registration_function libibverbs)
{
    atomic_store(&real, libibverbs);
    return look_and_register;
}
