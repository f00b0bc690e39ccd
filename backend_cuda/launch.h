/* SPDX-License-Identifier: Apache-2.0 */
/* launch.h - kernels on the driver: the library's own device code, and modules of vmm_kernel_load, loaded at the first launch.
 *
 *     kernels_image, or PTX  ->  cuLibraryLoadData   once per system; the driver loads it into each context that uses it
 *                            ->  cuLibraryGetKernel  by name
 *                            ->  cuLaunchKernel
 */
#ifndef CUVMM_CUDA_LAUNCH_H
#define CUVMM_CUDA_LAUNCH_H

#include <stdbool.h>

#include "cuda_library.h"
#include "kernels.h"
#include "lifecycle.h"

#define CUDA_KERNELS 32

/* CUDA_KERNEL_NODE_PARAMS of version 2. */
struct cuda_kernel_node {
    void *function;
    unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
    void **parameters, **extra;
    void *kernel;
    vmm_context context;
};

/* A module of PTX, and a kernel of one. */
struct cuda_module {
    const char *text;
    void *library;
    struct cuda_module *next;
};

struct cuda_ptx_kernel {
    vmm_kernel number;
    void *kernel;
    struct cuda_ptx_kernel *next;
};

/* The driver's functions, NULL if it lacks them; handles are pointers. */
struct cuda_kernels {
    vmm_result (*add_node)(vmm_graph_node *node, vmm_graph graph, const vmm_graph_node *dependencies, size_t count,
                           const struct cuda_kernel_node *params);
    vmm_result (*set_node)(vmm_graph_node node, const struct cuda_kernel_node *params);
    vmm_result (*set_node_in)(vmm_graph_exec exec, vmm_graph_node node, const struct cuda_kernel_node *params);
    vmm_result (*library_load)(void **library, const void *code, void *jit_options, void **jit_values,
                               unsigned jit_count, void *options, void **values, unsigned count);
    vmm_result (*library_unload)(void *library);
    vmm_result (*library_kernel)(void **kernel, void *library, const char *name);
    vmm_result (*launch)(void *function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                         unsigned block_y, unsigned block_z, unsigned shared_bytes, vmm_stream stream,
                         void **parameters, void **extra);
    bool brings_kernels;   /* the driver is this project's libcuda.so.1, which needs no device code */
    struct life_lock lock; /* protects the members below */
    void *library;
    void *kernel[CUDA_KERNELS];
    struct cuda_module *modules;
    struct cuda_ptx_kernel *ptx_kernels;
};

void cuda_kernels_open(struct cuda_kernels *kernels, const struct cuda_library *library);
void cuda_kernels_close(struct cuda_kernels *kernels);

/* NOT_SUPPORTED by VMM-LAUNCH-UNAVAILABLE when there is no code for the kernel, or the driver is too old for it. */
vmm_result cuda_kernels_available(const struct cuda_kernels *kernels, vmm_kernel kernel);

/* Finds the kernel of a call that kernels_check has accepted, and stores it in *function, ready to launch; returns the driver's
 * error if the code cannot be loaded. Call it only if kernels are available. */
vmm_result cuda_kernels_find(struct cuda_kernels *kernels, vmm_kernel kernel, void **function);

/* Launches a function from cuda_kernels_find. */
vmm_result cuda_kernels_launch(const struct cuda_kernels *kernels, void *function, const struct vmm_call_launch *call);

/* Makes a node call with the kernel: one that adds it to a graph, or assigns it to a node of a graph or an instance. launch
 * holds the node's parameters as accepted by kernels_check. */
vmm_result cuda_kernels_node(const struct cuda_kernels *kernels, void *function, const struct vmm_call_launch *launch,
                             const struct vmm_call *call);

#endif
