/* SPDX-License-Identifier: Apache-2.0 */
/* abi_managed.h - what calls of other memory do with managed memory (abi_host_managed). */
#ifndef SIM_ABI_MANAGED_H
#define SIM_ABI_MANAGED_H

#include "abi.h"
#include "call.h"

/* cuMemFree of such an address. */
CUresult abi_managed_free(vmm_system *sys, CUdeviceptr dptr);

/* The same in the order of a stream, which a driver refuses. */
CUresult abi_managed_free_async(const char *function, CUdeviceptr dptr);

/* Is a memory operation of a stream at such an address, or one of a batch? Then abi_managed_refuse_mem_op answers it. */
bool abi_managed_mem_op(const struct vmm_call *call);
CUresult abi_managed_refuse_mem_op(vmm_system *sys, const char *function, vmm_stream stream);

#endif
