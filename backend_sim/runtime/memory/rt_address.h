/* SPDX-License-Identifier: Apache-2.0 */
/* rt_address.h - addresses are pointers for a program of the runtime, and numbers for the driver. */
#ifndef SIM_RUNTIME_RT_ADDRESS_H
#define SIM_RUNTIME_RT_ADDRESS_H

#include "rt.h"

static inline CUdeviceptr rt_address(const void *pointer)
{
    return (CUdeviceptr)(uintptr_t)pointer;
}

static inline void *rt_pointer(CUdeviceptr address)
{
    return (void *)(uintptr_t)address;
}

/* Where a call of the driver writes an address for the program. */
static inline CUdeviceptr *rt_address_out(void **pointer)
{
    return (CUdeviceptr *)(void *)pointer;
}

#endif
