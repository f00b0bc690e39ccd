/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_pack.h"

enum { WORDS = ABI_LAUNCH_HEAD + 1 + VMM_KERNEL_NO_PARAM / 8 / 16 }; /* 4 KiB of parameters */
enum { MOST_PARAMS = (WORDS - ABI_LAUNCH_HEAD) * 8 };

/* Finds a dimension that is 0 or too large; false when all are valid. */
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

/* The buffer of parameters in extra; NULL when extra has none. */
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

CUresult abi_launch(vmm_system *sys, const char *name, const void *function, const struct abi_grid *g,
                    vmm_stream stream, void **params, void **extra)
{
    uint64_t args[WORDS] = {0};
    struct CUfunc_st f;
    CUresult result = abi_function_find(name, function, &f);
    if (result != CUDA_SUCCESS)
        return result;
    if (wrong_grid(g))
        return refuse_grid(name, g);
    args[0] = g->grid.x | (uint64_t)g->grid.y << 32;
    args[1] = g->grid.z | (uint64_t)g->block.x << 32;
    args[2] = g->block.y | (uint64_t)g->block.z << 32;
    args[ABI_LAUNCH_SHARED] = g->shared;
    result = abi_image_variables(sys, name, f.image, &args[ABI_LAUNCH_BASE]);
    if (result == CUDA_SUCCESS)
        result = pack(name, f.kernel, params, extra, (unsigned char *)(args + ABI_LAUNCH_HEAD));
    if (result != CUDA_SUCCESS)
        return result;
    uint64_t words = (f.kernel->offset[f.kernel->params] + 7) / 8;
    unsigned threads = g->block.x * g->block.y * g->block.z;
    const uint64_t *first = f.kernel->ours ? args + ABI_LAUNCH_HEAD : args;
    return (CUresult)vmm_launch(sys, f.kernel->number, g->grid.x, threads, first,
                                f.kernel->ours ? words : words + ABI_LAUNCH_HEAD, stream);
}

CUresult abi_launch_attributes(const CUlaunchConfig *config)
{
    for (unsigned i = 0; i < config->numAttrs; i++)
        switch ((int)config->attrs[i].id) {
        case CU_LAUNCH_ATTRIBUTE_IGNORE:
        case CU_LAUNCH_ATTRIBUTE_COOPERATIVE:
        case CU_LAUNCH_ATTRIBUTE_PRIORITY:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN:
        case CU_LAUNCH_ATTRIBUTE_MEM_SYNC_DOMAIN_MAP: break;
        default:
            return abi_refuse(VMM_RULE_ENTRY_ABSENT, "cuLaunchKernelEx", "launch attribute %d is not simulated",
                              (int)config->attrs[i].id);
        }
    return CUDA_SUCCESS;
}
