/* SPDX-License-Identifier: Apache-2.0 */
/* rt_address.h - conversions between the runtime's pointers and the driver's integer addresses. */
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

/* The output argument of a driver call that returns an address to the program. */
static inline CUdeviceptr *rt_address_out(void **pointer)
{
    return (CUdeviceptr *)(void *)pointer;
}

#endif
