/* SPDX-License-Identifier: Apache-2.0 */
/* abi_managed.h - how the first versions of prefetch and advice name a place. */
#ifndef SIM_ABI_MANAGED_H
#define SIM_ABI_MANAGED_H

#include "abi.h"

/* A device, or the host by -1. */
static inline vmm_mem_location abi_managed_location(int device)
{
    return device == VMM_DEVICE_CPU ? (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST, 0}
                                    : (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, device};
}

/* The first version of cuMemAdvise. Measured: it looks at the context first, and only advice that is about a device looks at it. */
CUresult abi_managed_advise(vmm_system *sys, CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device);

#endif
