/* SPDX-License-Identifier: Apache-2.0 */
/* The numbers of blocks and clusters of a function that fit at the same time. Here the driver accepts a kernel as a function. */
#include "rt_code.h"

/* rt_kernel as a function. */
static cudaError_t find(const void *function, CUfunction *out)
{
    CUkernel kernel = NULL;
    cudaError_t result = rt_kernel(function, &kernel);
    *out = (CUfunction)(void *)kernel;
    return result;
}

/* Queries the driver about the function f. */
#define OCCUPANCY(function, name, ...)                          \
    do {                                                        \
        CUfunction f = NULL;                                    \
        cudaError_t result_ = find(function, &f);               \
        if (result_ == cudaSuccess)                             \
            result_ = DRIVER(name, __VA_ARGS__);                \
        return result_;                                         \
    } while (0)

static cudaError_t blocks(int *count, const void *function, int size, size_t shared)
{
    OCCUPANCY(function, cuOccupancyMaxActiveBlocksPerMultiprocessor, count, f, size, shared);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, const void *func, int blockSize, size_t dynamicSMemSize)
{
    RT(blocks(numBlocks, func, blockSize, dynamicSMemSize));
}

static cudaError_t blocks_with(int *count, const void *function, int size, size_t shared, unsigned flags)
{
    OCCUPANCY(function, cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags, count, f, size, shared, flags);
}

cudaError_t cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, const void *func, int blockSize,
                                                                   size_t dynamicSMemSize, unsigned int flags)
{
    RT(blocks_with(numBlocks, func, blockSize, dynamicSMemSize, flags));
}

static cudaError_t shared_memory(size_t *size, const void *function, int count, int block)
{
    OCCUPANCY(function, cuOccupancyAvailableDynamicSMemPerBlock, size, f, count, block);
}

cudaError_t cudaOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, const void *func, int numBlocks, int blockSize)
{
    RT(shared_memory(dynamicSmemSize, func, numBlocks, blockSize));
}

/* ---- clusters ---- */

/* Both use the same attributes, including those that this header does not name. */
_Static_assert(sizeof(cudaLaunchAttribute) == sizeof(CUlaunchAttribute), "one layout");
_Static_assert(offsetof(cudaLaunchAttribute, val) == offsetof(CUlaunchAttribute, value), "one layout");

/* Like the toolkit's library, this uses the low 32 bits of the size of shared memory, as in every launch. */
cudaError_t rt_launch_config(const cudaLaunchConfig_t *config, CUlaunchConfig *out)
{
    if (!config)
        return cudaErrorInvalidValue;
    *out = (CUlaunchConfig){config->gridDim.x, config->gridDim.y, config->gridDim.z,
                            config->blockDim.x, config->blockDim.y, config->blockDim.z,
                            (unsigned)config->dynamicSmemBytes, config->stream,
                            (CUlaunchAttribute *)(void *)config->attrs, config->numAttrs};
    return cudaSuccess;
}

static cudaError_t largest_cluster(int *size, const void *function, const CUlaunchConfig *config)
{
    OCCUPANCY(function, cuOccupancyMaxPotentialClusterSize, size, f, config);
}

static cudaError_t clusters(int *count, const void *function, const CUlaunchConfig *config)
{
    OCCUPANCY(function, cuOccupancyMaxActiveClusters, count, f, config);
}

static cudaError_t ask(cudaError_t (*question)(int *, const void *, const CUlaunchConfig *), int *answer, const void *function,
                       const cudaLaunchConfig_t *config)
{
    CUlaunchConfig asked;
    cudaError_t result = rt_launch_config(config, &asked);
    return result == cudaSuccess ? question(answer, function, &asked) : result;
}

cudaError_t cudaOccupancyMaxPotentialClusterSize(int *clusterSize, const void *func, const cudaLaunchConfig_t *launchConfig)
{
    RT(ask(largest_cluster, clusterSize, func, launchConfig));
}

cudaError_t cudaOccupancyMaxActiveClusters(int *numClusters, const void *func, const cudaLaunchConfig_t *launchConfig)
{
    RT(ask(clusters, numClusters, func, launchConfig));
}
