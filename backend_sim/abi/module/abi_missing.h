/* SPDX-License-Identifier: Apache-2.0 */
/* abi_missing.h - kernels without a plugin that cannot run: an image holds them without PTX, or with PTX that does not run here.
 *
 *     kernels=refuse   cuLaunchKernel(K)  ->  NOT_SUPPORTED [VMM-LAUNCH-MISSING], reported once on standard error
 *     kernels=skip     cuLaunchKernel(K)  ->  a kernel that does nothing, in its turn of the stream, but counts
 *                      end of the process ->  cuvmm: libcuda.so.1: 3 launches of 1 kernel were skipped ...
 */
#ifndef SIM_ABI_MISSING_H
#define SIM_ABI_MISSING_H

#include "abi_plugins.h"
#include "image.h"

/* The kernel; its code lives as long. NULL: memory is out. */
struct abi_kernel *abi_missing_new(const struct image_kernel *code);
void abi_missing_free(struct abi_kernel *kernel);

/* The number by which a launch skips the kernel; or a refusal of that launch. */
CUresult abi_missing_launch(const vmm_system *sys, const char *function, const struct abi_kernel *kernel, vmm_kernel *number);

#endif
