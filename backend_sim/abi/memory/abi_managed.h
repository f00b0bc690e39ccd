/* SPDX-License-Identifier: Apache-2.0 */
/* abi_managed.h - how the first versions of prefetch and advice name a location. */
#ifndef SIM_ABI_MANAGED_H
#define SIM_ABI_MANAGED_H

#include "abi.h"

/* A device, or -1 for the host. */
static inline vmm_mem_location abi_managed_location(int device)
{
    return device == VMM_DEVICE_CPU ? (vmm_mem_location){VMM_MEM_LOCATION_TYPE_HOST, 0}
                                    : (vmm_mem_location){VMM_MEM_LOCATION_TYPE_DEVICE, device};
}

/* The first version of cuMemAdvise. Measured: the context is checked first, and only by advice that concerns a device. */
CUresult abi_managed_advise(vmm_system *sys, CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUdevice device);

#endif
