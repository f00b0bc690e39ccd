/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_pack.h"

#include "abi_missing.h"
#include "abi_occupancy.h"
#include "abi_ptx.h"

enum { MOST_PARAMS = 32764, WORDS = ABI_LAUNCH_HEAD + MOST_PARAMS / 8 + 1 }; /* CUDA C++ Programming Guide: what a kernel takes */

/* Finds a dimension that is 0 or too large; returns false if all are valid. */
static bool wrong_grid(const struct abi_grid *g)
{
    uint64_t threads = (uint64_t)g->block.x * g->block.y * g->block.z;
    return !g->grid.x || !g->grid.y || !g->grid.z || !threads || g->grid.x > 0x7fffffff || g->grid.y > 65535 ||
           g->grid.z > 65535 || g->block.x > 1024 || g->block.y > 1024 || g->block.z > 64 || threads > 1024;
}

static CUresult refuse_grid(const char *name, const struct abi_grid *g)
{
    return abi_refuse(VMM_RULE_LAUNCH_DIMENSIONS, name, "grid (%u, %u, %u) of blocks (%u, %u, %u): a grid has at most "
                      "2^31-1, 65535 and 65535 blocks, a block 1024 threads", g->grid.x, g->grid.y, g->grid.z,
                      g->block.x, g->block.y, g->block.z);
}

/* The buffer of parameters in extra; NULL if extra has none. */
static const void *buffer_of(void **extra, size_t *size)
{
    const void *buffer = NULL;
    *size = 0;
    for (size_t i = 0; extra && extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
        if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
            buffer = extra[i + 1];
        else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
            *size = *(const size_t *)extra[i + 1];
        else
            return NULL;
    }
    return buffer;
}

static CUresult pack(const char *name, const struct abi_kernel *kernel, void **params, void **extra,
                     unsigned char bytes[MOST_PARAMS])
{
    size_t need = kernel->offset[kernel->params], size;
    const void *buffer = buffer_of(extra, &size);
    if (need > MOST_PARAMS)
        return abi_refuse(VMM_RULE_LAUNCH_ARGUMENTS, name, "%s takes %zu bytes of parameters", kernel->name, need);
    if (!kernel->params)
        return CUDA_SUCCESS;
    if ((params != NULL) == (buffer != NULL))
        return abi_refuse(VMM_RULE_LAUNCH_ARGUMENTS, name, "%s takes %u parameters: pass kernelParams, or a buffer in "
                          "extra", kernel->name, kernel->params);
    if (buffer && size < need)
        return abi_refuse(VMM_RULE_LAUNCH_ARGUMENTS, name, "%s takes %zu bytes of parameters, extra has %zu", kernel->name,
                          need, size);
    if (buffer)
        memcpy(bytes, buffer, need);
    for (unsigned i = 0; !buffer && i < kernel->params; i++) {
        if (!params[i])
            return abi_refuse(VMM_RULE_LAUNCH_ARGUMENTS, name, "kernelParams[%u] of %s is NULL", i, kernel->name);
        memcpy(bytes + kernel->offset[i], params[i], kernel->size[i]);
    }
    return CUDA_SUCCESS;
}

/* A launch with the memory for its arguments. */
struct packed {
    const struct abi_kernel *kernel;
    int most_shared; /* bytes that a launch of the function may use */
    struct vmm_call_launch call;
    uint64_t args[WORDS];
};

/* A mistake that only executed code can have; a driver refuses it, too. */
static CUresult check_ptx(const char *name, const struct CUfunc_st *f, const struct abi_grid *g)
{
    const uint32_t *required = f->kernel->ptx->kernel->required;
    const int most = f->attribute[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES];
    if (required[0] && (g->block.x != required[0] || g->block.y != required[1] || g->block.z != required[2]))
        return abi_refuse(VMM_RULE_LAUNCH_DIMENSIONS, name, "a block of (%u, %u, %u): %.60s runs in blocks of (%u, %u, %u), by its reqntid", g->block.x, g->block.y,
                          g->block.z, f->kernel->name, required[0], required[1], required[2]);
    if (g->shared > (unsigned)most)
        return abi_refuse(VMM_RULE_LAUNCH_ARGUMENTS, name, "%u bytes of shared memory: %.60s may have %d; cuFuncSetAttribute "
                          "(MAX_DYNAMIC_SHARED_SIZE_BYTES) allows more", g->shared, f->kernel->name, most);
    return CUDA_SUCCESS;
}

/* The number by which vmm_launch runs or skips the kernel, and the addresses of its variables; or a refusal. */
static CUresult find_code(vmm_system *sys, const char *name, const struct CUfunc_st *f, const struct abi_grid *g, vmm_kernel *number,
                          uint64_t **variables)
{
    const struct abi_kernel *kernel = f->kernel;
    *variables = NULL;
    *number = kernel->number;
    if (!kernel->code)
        return abi_image_variables(sys, name, f->image, variables);
    if (!kernel->ptx || kernel->why)
        return abi_missing_launch(sys, name, kernel, number);
    CUresult result = check_ptx(name, f, g);
    if (result == CUDA_SUCCESS)
        result = abi_image_ptx_variables(sys, name, f->image, variables);
    *number = result == CUDA_SUCCESS ? abi_ptx_number(kernel->ptx) : 0;
    return *number < 0 ? abi_no_memory(name) : result;
}

static CUresult pack_launch(vmm_system *sys, const char *name, const void *function, const struct abi_grid *g, void **params,
                            void **extra, struct packed *packed)
{
    struct CUfunc_st f;
    uint64_t *args = packed->args;
    CUresult result = abi_function_find(name, function, &f);
    if (result != CUDA_SUCCESS)
        return result;
    if (wrong_grid(g))
        return refuse_grid(name, g);
    unsigned threads = g->block.x * g->block.y * g->block.z;
    if (f.kernel->code && threads > (unsigned)f.attribute[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK])
        return abi_refuse(VMM_RULE_LAUNCH_DIMENSIONS, name, "a block of %u threads: the kernel may have %d", threads,
                          f.attribute[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK]);
    uint64_t words = (f.kernel->offset[f.kernel->params] + 7) / 8;
    memset(args, 0, (ABI_LAUNCH_HEAD + (words < WORDS - ABI_LAUNCH_HEAD ? words : 0)) * sizeof *args);
    result = abi_cluster_check(name, &f, g->grid);
    if (result != CUDA_SUCCESS)
        return result;
    args[0] = g->grid.x | (uint64_t)g->grid.y << 32;
    args[1] = g->grid.z | (uint64_t)g->block.x << 32;
    args[2] = g->block.y | (uint64_t)g->block.z << 32;
    args[ABI_LAUNCH_SHARED] = g->shared | (uint64_t)g->cooperative << 32;
    result = pack(name, f.kernel, params, extra, (unsigned char *)(args + ABI_LAUNCH_HEAD));
    uint64_t *variables;
    vmm_kernel number;
    if (result == CUDA_SUCCESS)
        result = find_code(sys, name, &f, g, &number, &variables);
    if (result != CUDA_SUCCESS)
        return result;
    args[ABI_LAUNCH_VARIABLES] = (uint64_t)(uintptr_t)variables;
    packed->kernel = f.kernel;
    packed->most_shared = f.attribute[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES];
    packed->call = (struct vmm_call_launch){{VMM_CALL_launch, 0}, number, g->grid.x, threads,
                                            f.kernel->ours ? args + ABI_LAUNCH_HEAD : args,
                                            f.kernel->ours ? words : words + ABI_LAUNCH_HEAD, NULL};
    return CUDA_SUCCESS;
}

CUresult abi_launch_work(vmm_system *sys, const char *name, const CUDA_KERNEL_NODE_PARAMS *asked, bool cooperative,
                         struct abi_work *work)
{
    struct packed packed;
    const struct abi_grid grid = {{asked->gridDimX, asked->gridDimY, asked->gridDimZ},
                                  {asked->blockDimX, asked->blockDimY, asked->blockDimZ}, asked->sharedMemBytes, cooperative};
    const void *function = asked->func ? (const void *)asked->func : (const void *)asked->kern;
    CUresult result = pack_launch(sys, name, function, &grid, asked->kernelParams, asked->extra, &packed);
    if (result != CUDA_SUCCESS)
        return result;
    if (asked->sharedMemBytes > (unsigned)packed.most_shared)
        return abi_refuse(VMM_RULE_GRAPH_PARAMS, name, "sharedMemBytes is %u: the kernel may have %d", asked->sharedMemBytes,
                          packed.most_shared);
    work->work.type = VMM_GRAPH_NODE_TYPE_KERNEL;
    work->work.context = abi_context(asked->ctx);
    work->shown.params.type = CU_GRAPH_NODE_TYPE_KERNEL;
    work->shown.params.kernel = *asked;
    work->shown.packed = asked->extra != NULL;
    bool made = abi_work_kernel(work, &packed.call, packed.kernel->ours ? 0 : ABI_LAUNCH_HEAD, packed.kernel->offset,
                                packed.kernel->params);
    return made ? CUDA_SUCCESS : abi_no_memory(name);
}

static CUresult capture(vmm_system *sys, const char *name, const void *function, const struct abi_grid *g, vmm_stream stream,
                        void **params, void **extra)
{
    const CUDA_KERNEL_NODE_PARAMS asked = {.func = (CUfunction)(uintptr_t)function, .gridDimX = g->grid.x, .gridDimY = g->grid.y,
                                           .gridDimZ = g->grid.z, .blockDimX = g->block.x, .blockDimY = g->block.y,
                                           .blockDimZ = g->block.z, .sharedMemBytes = g->shared, .kernelParams = params,
                                           .extra = extra, .ctx = (CUcontext)(uintptr_t)abi_query_current(sys)};
    struct abi_work work = {0};
    CUresult result = abi_capture_goes_on(name, stream);
    if (result != CUDA_SUCCESS)
        return result;
    result = abi_launch_work(sys, name, &asked, g->cooperative, &work);
    if (result == CUDA_ERROR_INVALID_VALUE)
        abi_capture_spoil(stream);
    if (result == CUDA_SUCCESS)
        result = abi_capture_add(name, stream, &work.work);
    abi_work_drop(&work);
    return result;
}

CUresult abi_launch(vmm_system *sys, const char *name, const void *function, const struct abi_grid *g,
                    vmm_stream stream, void **params, void **extra)
{
    struct packed packed;
    if (abi_capture_status(stream) != CU_STREAM_CAPTURE_STATUS_NONE)
        return capture(sys, name, function, g, stream, params, extra);
    CUresult result = abi_capture_implicit(stream, name);
    if (result == CUDA_SUCCESS)
        result = pack_launch(sys, name, function, g, params, extra, &packed);
    const struct vmm_call_launch *call = &packed.call;
    return result != CUDA_SUCCESS
               ? result
               : (CUresult)vmm_launch(sys, call->kernel, call->grid_dim, call->block_dim, call->args, call->count, stream);
}

/* Where and when a device runs the blocks, which does not matter for a skipped kernel. */
static bool of_schedule(int attribute)
{
    static const int all[] = {CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW, CU_LAUNCH_ATTRIBUTE_SYNCHRONIZATION_POLICY,
                              CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, CU_LAUNCH_ATTRIBUTE_CLUSTER_SCHEDULING_POLICY_PREFERENCE,
                              CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION,
                              CU_LAUNCH_ATTRIBUTE_PREFERRED_CLUSTER_DIMENSION,
                              CU_LAUNCH_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT};
    bool is = false;
    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++)
        is |= all[i] == attribute;
    return is;
}

CUresult abi_launch_attributes(const CUlaunchConfig *config, const void *function)
{
    static const char name[] = "cuLaunchKernelEx";
    struct CUfunc_st f = {.kernel = NULL};
    bool missing = config->numAttrs && abi_handle_look(function, &f) && f.kernel->code;
    for (unsigned i = 0; i < config->numAttrs; i++)
        switch ((int)config->attrs[i].id) {
        case CU_LAUNCH_ATTRIBUTE_IGNORE:
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: break;
        default:
            if (missing && of_schedule((int)config->attrs[i].id))
                break;
            return abi_refuse(VMM_RULE_ENTRY_ABSENT, name, "launch attribute %d is not simulated", (int)config->attrs[i].id);
        }
    return missing ? abi_cluster_config(name, &f, config) : CUDA_SUCCESS;
}
