/* SPDX-License-Identifier: Apache-2.0 */
/* abi_occupancy.h - how many blocks of a kernel a multiprocessor holds at once, as recorded (conformance/recorded/facts, small).
 *
 *     threads   2048, in warps of 32          shared memory   each block takes what it asks for, in units of 128 bytes, and 1 KiB
 *     blocks    32                            of what the preferred carveout leaves to the L1 cache's counterpart
 */
#ifndef SIM_ABI_OCCUPANCY_H
#define SIM_ABI_OCCUPANCY_H

#include "abi_code.h"

/* 0 when not even one fits. block_size is positive. */
int abi_occupancy_blocks(const struct CUfunc_st *f, int block_size, size_t shared);

/* The maximum number of threads per block for a kernel of an image: what its code declares, or what its registers allow. */
struct image_kernel;
int abi_occupancy_threads(const struct image_kernel *code);

/* Does the cluster that the function requires divide the grid? */
CUresult abi_cluster_check(const char *name, const struct CUfunc_st *f, vmm_dim grid);

/* The same for a configuration whose attributes may name a cluster; also checks its other cluster attributes. */
CUresult abi_cluster_config(const char *name, const struct CUfunc_st *f, const CUlaunchConfig *config);

#endif
