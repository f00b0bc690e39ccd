/* SPDX-License-Identifier: Apache-2.0 */
/* abi_any_copy.h - a copy between addresses of any kind, in a stream; copies between two host ranges and of registered memory
 * are complete when it returns. */
#ifndef SIM_ABI_ANY_COPY_H
#define SIM_ABI_ANY_COPY_H

#include "abi.h"

CUresult abi_copy_any(vmm_system *sys, CUdeviceptr dst, CUdeviceptr src, size_t size, vmm_stream stream);

#endif
