/* SPDX-License-Identifier: Apache-2.0 */
/* abi_pack.h - the arguments of a launch as vmm_launch takes them.
 *
 *     kernelParams [&p, &n, &v]  ->  [ grid, block, shared | bytes of p, n, v as the kernel lays them out ]
 */
#ifndef SIM_ABI_PACK_H
#define SIM_ABI_PACK_H

#include "abi_capture.h"
#include "abi_code.h"

struct abi_grid {
    vmm_dim grid, block;
    unsigned shared;
    bool cooperative;
};

/* Launches function on stream, or adds it to the graph of a captured one. */
CUresult abi_launch(vmm_system *sys, const char *name, const void *function, const struct abi_grid *grid,
                    vmm_stream stream, void **params, void **extra);

/* The launch as a node's work; abi_work_drop frees it. */
CUresult abi_launch_work(vmm_system *sys, const char *name, const CUDA_KERNEL_NODE_PARAMS *asked, bool cooperative,
                         struct abi_work *work);

/* Accepts launch attributes that have no effect here, or refuses. */
CUresult abi_launch_attributes(const CUlaunchConfig *config, const void *function);

#endif
