/* SPDX-License-Identifier: Apache-2.0 */
#include "launch.h"

#include <dlfcn.h>
#include <string.h>

#include "detail.h"
#include "heap.h"
#include "registered.h"

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
    while (kernels->modules) {
        struct cuda_module *module = kernels->modules;
        kernels->modules = module->next;
        kernels->library_unload(module->library);
        heap.free(module);
    }
    while (kernels->ptx_kernels) {
        struct cuda_ptx_kernel *kernel = kernels->ptx_kernels;
        kernels->ptx_kernels = kernel->next;
        heap.free(kernel);
    }
    life_lock_end(&kernels->lock);
}

static vmm_result find_ours(struct cuda_kernels *kernels, vmm_kernel kernel, void **function)
{
    vmm_result result = VMM_SUCCESS;
    if (!kernels->library)
        result = kernels->library_load(&kernels->library, kernels_image, NULL, NULL, 0, NULL, NULL, 0);
    if (result == VMM_SUCCESS && !kernels->kernel[kernel])
        result = kernels->library_kernel(&kernels->kernel[kernel], kernels->library, vmm_kernel_name(kernel));
    *function = kernels->kernel[kernel];
    return result;
}

/* The library of a module; if the driver refuses it, the next launch tries again. */
static vmm_result find_module(struct cuda_kernels *kernels, const char *text, void **library)
{
    struct cuda_module *module = kernels->modules;
    while (module && module->text != text)
        module = module->next;
    vmm_result result = VMM_SUCCESS;
    if (!module) {
        module = heap.calloc(1, sizeof *module);
        result = module ? kernels->library_load(&module->library, text, NULL, NULL, 0, NULL, NULL, 0) : VMM_ERROR_OUT_OF_MEMORY;
        if (result != VMM_SUCCESS) {
            heap.free(module);
            return result;
        }
        module->text = text;
        module->next = kernels->modules;
        kernels->modules = module;
    }
    *library = module->library;
    return result;
}

static vmm_result find_ptx(struct cuda_kernels *kernels, vmm_kernel number, const struct kernels_ptx *ptx, void **function)
{
    void *library = NULL;
    struct cuda_ptx_kernel *kernel = kernels->ptx_kernels;
    while (kernel && kernel->number != number)
        kernel = kernel->next;
    if (kernel) {
        *function = kernel->kernel;
        return VMM_SUCCESS;
    }
    vmm_result result = find_module(kernels, ptx->text, &library);
    if (result == VMM_SUCCESS)
        result = kernels->library_kernel(function, library, ptx->name);
    if (result == VMM_SUCCESS && !(kernel = heap.calloc(1, sizeof *kernel)))
        result = VMM_ERROR_OUT_OF_MEMORY;
    if (result == VMM_SUCCESS) {
        *kernel = (struct cuda_ptx_kernel){number, *function, kernels->ptx_kernels};
        kernels->ptx_kernels = kernel;
    }
    return result;
}

vmm_result cuda_kernels_available(const struct cuda_kernels *kernels, vmm_kernel kernel)
{
    bool driver = kernels->library_load && kernels->library_unload && kernels->library_kernel && kernels->launch;
    bool code = kernels_image_size || kernels->brings_kernels || kernels_ptx_of(kernel);
    if (code && driver)
        return VMM_SUCCESS;
    vmm_result result = vmm_detail_refuse(VMM_RULE_LAUNCH_UNAVAILABLE, 0, 0, NULL);
    if (code)
        vmm_detail_note("the driver is older than 12.0 and cannot load it");
    return result;
}

vmm_result cuda_kernels_find(struct cuda_kernels *kernels, vmm_kernel kernel, void **function)
{
    const struct kernels_ptx *ptx = kernels_ptx_of(kernel);
    life_acquire(&kernels->lock);
    vmm_result result = ptx ? find_ptx(kernels, kernel, ptx, function) : find_ours(kernels, kernel, function);
    life_release(&kernels->lock);
    return result;
}

/* Where each begins. Read only, although the driver's parameter is not const. */
static void list_parameters(const struct vmm_call_launch *call, void *parameters[KERNELS_PTX_WORDS])
{
    const struct kernels_ptx *ptx = kernels_ptx_of(call->kernel);
    for (uint64_t word = 0, i = 0; word < call->count; i++) {
        parameters[i] = (void *)(uintptr_t)&call->args[word];
        word += ptx ? (ptx->bytes[i] + 7) / 8 : 1;
    }
}

/* The dimensions that a launch does not specify. */
static struct kernels_ptx shape_of(vmm_kernel kernel)
{
    const struct kernels_ptx *ptx = kernels_ptx_of(kernel);
    return ptx ? *ptx : (struct kernels_ptx){.grid_y = 1, .grid_z = 1, .block_y = 1, .block_z = 1};
}

vmm_result cuda_kernels_node(const struct cuda_kernels *kernels, void *function, const struct vmm_call_launch *launch,
                             const struct vmm_call *call)
{
    const union vmm_any_call *any = (const union vmm_any_call *)(const void *)call;
    const struct vmm_call_graph_add_kernel_node *add = &any->graph_add_kernel_node;
    const struct vmm_call_graph_exec_kernel_node_set_params *in = &any->graph_exec_kernel_node_set_params;
    void *parameters[KERNELS_PTX_WORDS];
    const struct kernels_ptx shape = shape_of(launch->kernel);
    const struct cuda_kernel_node node = {.grid_x = launch->grid_dim, .grid_y = shape.grid_y, .grid_z = shape.grid_z,
                                          .block_x = launch->block_dim, .block_y = shape.block_y, .block_z = shape.block_z,
                                          .shared_bytes = shape.shared_bytes, .parameters = parameters, .kernel = function};
    list_parameters(launch, parameters);
    switch ((enum vmm_call_id)call->id) {
    case VMM_CALL_graph_kernel_node_set_params: return kernels->set_node(any->graph_kernel_node_set_params.node, &node);
    case VMM_CALL_graph_exec_kernel_node_set_params: return kernels->set_node_in(in->graph_exec, in->node, &node);
    default: return kernels->add_node(add->graph_node, add->graph, add->dependencies, add->num_dependencies, &node);
    }
}

vmm_result cuda_kernels_launch(const struct cuda_kernels *kernels, void *function, const struct vmm_call_launch *call)
{
    void *parameters[KERNELS_PTX_WORDS];
    const struct kernels_ptx shape = shape_of(call->kernel);
    list_parameters(call, parameters);
    return kernels->launch(function, call->grid_dim, shape.grid_y, shape.grid_z, call->block_dim, shape.block_y, shape.block_z,
                           shape.shared_bytes, call->stream, parameters, NULL);
}
