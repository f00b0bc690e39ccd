/* SPDX-License-Identifier: Apache-2.0 */
#include "launch.h"

#include <dlfcn.h>
#include <string.h>

#include "detail.h"

/* Functions are looked up with a general function type, and stored with their real one. */
#define FIND(member, symbol)                                \
    do {                                                    \
        cuda_function found = CUDA_FIND(library, symbol);   \
        memcpy(&kernels->member, &found, sizeof found);     \
    } while (0)

void cuda_kernels_open(struct cuda_kernels *kernels, const struct cuda_library *library)
{
    memset(kernels, 0, sizeof *kernels);
    life_lock_init(&kernels->lock, LIFE_LAYER, NULL);
    FIND(library_load, cuLibraryLoadData);
    FIND(library_unload, cuLibraryUnload);
    FIND(library_kernel, cuLibraryGetKernel);
    FIND(launch, cuLaunchKernel);
    FIND(add_node, cuGraphAddKernelNode_v2);
    FIND(set_node, cuGraphKernelNodeSetParams_v2);
    FIND(set_node_in, cuGraphExecKernelNodeSetParams_v2);
    kernels->brings_kernels = dlsym(library->handle, "cuvmmBringsKernels") != NULL;
}

/* A context with a faulted kernel may refuse to unload the code, which then stays until the process ends. */
void cuda_kernels_close(struct cuda_kernels *kernels)
{
    if (kernels->library)
        kernels->library_unload(kernels->library);
    life_lock_end(&kernels->lock);
}

static vmm_result find(struct cuda_kernels *kernels, vmm_kernel kernel)
{
    vmm_result result = VMM_SUCCESS;
    if (!kernels->library)
        result = kernels->library_load(&kernels->library, kernels_image, NULL, NULL, 0, NULL, NULL, 0);
    if (result == VMM_SUCCESS && !kernels->kernel[kernel])
        result = kernels->library_kernel(&kernels->kernel[kernel], kernels->library, vmm_kernel_name(kernel));
    return result;
}

vmm_result cuda_kernels_available(const struct cuda_kernels *kernels)
{
    bool driver = kernels->library_load && kernels->library_unload && kernels->library_kernel && kernels->launch;
    if ((kernels_image_size || kernels->brings_kernels) && driver)
        return VMM_SUCCESS;
    vmm_result result = vmm_detail_refuse(VMM_RULE_LAUNCH_UNAVAILABLE, 0, 0, NULL);
    if (kernels_image_size)
        vmm_detail_note("the driver is older than 12.0 and cannot load it");
    return result;
}

vmm_result cuda_kernels_find(struct cuda_kernels *kernels, vmm_kernel kernel, void **function)
{
    life_acquire(&kernels->lock);
    vmm_result result = find(kernels, kernel);
    *function = kernels->kernel[kernel];
    life_release(&kernels->lock);
    return result;
}

/* Read only, although the driver's parameter is not const. */
static void list_parameters(const struct vmm_call_launch *call, void *parameters[KERNEL_MAX_ARGS])
{
    for (uint64_t i = 0; i < call->count; i++)
        parameters[i] = (void *)(uintptr_t)&call->args[i];
}

vmm_result cuda_kernels_node(const struct cuda_kernels *kernels, void *function, const struct vmm_call_launch *launch,
                             const struct vmm_call *call)
{
    const union vmm_any_call *any = (const union vmm_any_call *)(const void *)call;
    const struct vmm_call_graph_add_kernel_node *add = &any->graph_add_kernel_node;
    const struct vmm_call_graph_exec_kernel_node_set_params *in = &any->graph_exec_kernel_node_set_params;
    void *parameters[KERNEL_MAX_ARGS];
    const struct cuda_kernel_node node = {.grid_x = launch->grid_dim, .grid_y = 1, .grid_z = 1, .block_x = launch->block_dim,
                                          .block_y = 1, .block_z = 1, .parameters = parameters, .kernel = function};
    list_parameters(launch, parameters);
    switch ((enum vmm_call_id)call->id) {
    case VMM_CALL_graph_kernel_node_set_params: return kernels->set_node(any->graph_kernel_node_set_params.node, &node);
    case VMM_CALL_graph_exec_kernel_node_set_params: return kernels->set_node_in(in->graph_exec, in->node, &node);
    default: return kernels->add_node(add->graph_node, add->graph, add->dependencies, add->num_dependencies, &node);
    }
}

vmm_result cuda_kernels_launch(const struct cuda_kernels *kernels, void *function, const struct vmm_call_launch *call)
{
    void *parameters[KERNEL_MAX_ARGS];
    list_parameters(call, parameters);
    return kernels->launch(function, call->grid_dim, 1, 1, call->block_dim, 1, 1, 0, call->stream, parameters, NULL);
}
