/* SPDX-License-Identifier: Apache-2.0 */
/* rt_driver.h - the driver's functions that the runtime calls, found by name and version in libcuda.so.1.
 *
 *     rt_driver.to_cuMemcpyAsync[0]     cuMemcpyAsync        stream 0 is the legacy default stream
 *     rt_driver.to_cuMemcpyAsync[1]     cuMemcpyAsync_ptsz   stream 0 is the thread's own; one form: the same twice
 *
 * They are looked up through cuGetProcAddress, like NVIDIA's runtime does, so that tools between a program and its
 * driver see these calls, too.
 */
#ifndef SIM_RUNTIME_RT_DRIVER_H
#define SIM_RUNTIME_RT_DRIVER_H

#include <stdbool.h>

#pragma GCC visibility push(default)
#include "abi/cuda.h"
#pragma GCC visibility pop

typedef CUresult (*rt_cuMemcpyBatchAsync_v1)(CUdeviceptr *, CUdeviceptr *, size_t *, size_t, CUmemcpyAttributes *, size_t *, size_t,
                                             size_t *, CUstream);
typedef CUresult (*rt_cuMemcpy3DBatchAsync_v1)(size_t, CUDA_MEMCPY3D_BATCH_OP *, size_t *, unsigned long long, CUstream);
typedef CUresult (*rt_cuMemPrefetchAsync_v1)(CUdeviceptr, size_t, CUdevice, CUstream);
typedef CUresult (*rt_cuMemPrefetchAsync_v2)(CUdeviceptr, size_t, CUmemLocation, unsigned, CUstream);
typedef CUresult (*rt_cuMemAdvise_v1)(CUdeviceptr, size_t, CUmem_advise, CUdevice);
typedef CUresult (*rt_cuMemAdvise_v2)(CUdeviceptr, size_t, CUmem_advise, CUmemLocation);

struct rt_driver {
#define RT_DRIVER(name) __typeof__(&name) to_##name[2];
#define RT_DRIVER_AS(member, name, version, symbol) rt_##member to_##member[2];
#include "rt_driver.def"
};
extern struct rt_driver rt_driver;

/* Loads libcuda.so.1 (CUVMM_LIBCUDA names another) and fills the table, once in a process. False if it cannot be
 * loaded, or is not a driver: it lacks a function that every driver has. */
bool rt_driver_load(void);

#endif
