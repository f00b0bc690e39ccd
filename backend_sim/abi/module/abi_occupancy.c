/* SPDX-License-Identifier: Apache-2.0 */
/* Occupancy by threads, blocks and shared memory of a multiprocessor; host code uses no registers. The limits are those of
 * compute capability 8.0 and 9.0 (CUDA C++ Programming Guide, technical specifications). */
#include "abi_code.h"

enum { THREADS = 2048, BLOCKS = 32, WARP = 32, SHARED = 227 * 1024 };

static int blocks_for(int block_size, size_t shared)
{
    int threads = (block_size + WARP - 1) / WARP * WARP, blocks = THREADS / threads;
    blocks = blocks > BLOCKS ? BLOCKS : blocks;
    return shared && (size_t)blocks > SHARED / shared ? (int)(SHARED / shared) : blocks;
}

/* The dynamic shared memory that a block of the function may have. */
static size_t most_shared(const struct CUfunc_st *f)
{
    return (size_t)f->attribute[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES];
}

static CUresult max_active(int *blocks, const void *handle, int block_size, size_t shared, unsigned flags)
{
    static const char name[] = "cuOccupancyMaxActiveBlocksPerMultiprocessor";
    struct CUfunc_st f;
    if (!blocks || block_size < 1 || flags > CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE)
        return abi_refuse(VMM_RULE_CALL_VALUE, name, "%s", !blocks ? "numBlocks is NULL" : block_size < 1
                          ? "blockSize is not positive" : "flags are not known");
    CUresult result = abi_function_find(name, handle, &f);
    if (result == CUDA_SUCCESS)
        *blocks = block_size > 1024 || shared > most_shared(&f) ? 0 : blocks_for(block_size, shared);
    return result;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize,
                                                     size_t dynamicSMemSize)
{
    ABI_INITIALISED(((void)sys, max_active(numBlocks, func, blockSize, dynamicSMemSize, 0)));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func, int blockSize,
                                                              size_t dynamicSMemSize, unsigned int flags)
{
    ABI_INITIALISED(((void)sys, max_active(numBlocks, func, blockSize, dynamicSMemSize, flags)));
}

/* The inverse: the shared memory available to each of that many blocks. */
static CUresult available_shared(size_t *shared, const void *handle, int blocks, int block_size)
{
    static const char name[] = "cuOccupancyAvailableDynamicSMemPerBlock";
    struct CUfunc_st f;
    if (!shared || blocks < 1 || block_size < 1 || block_size > 1024)
        return abi_refuse(VMM_RULE_CALL_VALUE, name, "%s", !shared ? "dynamicSmemSize is NULL" : blocks < 1
                          ? "numBlocks is not positive" : "blockSize is not in 1 to 1024");
    CUresult result = abi_function_find(name, handle, &f);
    if (result != CUDA_SUCCESS)
        return result;
    if (blocks > blocks_for(block_size, 0))
        return abi_refuse(VMM_RULE_CALL_VALUE, name, "%d blocks of %d threads do not fit, even without shared memory",
                          blocks, block_size);
    size_t fits = SHARED / (size_t)blocks;
    *shared = fits < most_shared(&f) ? fits : most_shared(&f);
    return CUDA_SUCCESS;
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func, int numBlocks, int blockSize)
{
    ABI_INITIALISED(((void)sys, available_shared(dynamicSmemSize, func, numBlocks, blockSize)));
}

struct potential {
    CUoccupancyB2DSize shared_of;
    size_t shared;
    int limit;
};

/* The block size with the most threads per multiprocessor; the largest of several. */
static CUresult best_block(const vmm_system *sys, int *grid, int *block, const void *handle, struct potential p)
{
    static const char name[] = "cuOccupancyMaxPotentialBlockSize";
    struct CUfunc_st f;
    int processors = 1, best = 0, most = p.limit > 0 && p.limit < 1024 ? p.limit : 1024;
    if (!grid || !block)
        return abi_null(name, grid ? "blockSize" : "minGridSize");
    CUresult result = abi_function_find(name, handle, &f);
    if (result != CUDA_SUCCESS)
        return result;
    sim_profile_attribute(abi_query_profile(sys), VMM_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &processors);
    for (int size = most; size > 0; size -= size % WARP ? size % WARP : WARP) {
        int blocks = blocks_for(size, p.shared_of ? p.shared_of(size) : p.shared);
        if (blocks * size > best) {
            best = blocks * size;
            *block = size;
            *grid = blocks * processors;
        }
    }
    return best ? CUDA_SUCCESS
                : abi_refuse(VMM_RULE_CALL_VALUE, name, "no block fits with that much shared memory");
}

CUresult cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                          CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
                                          int blockSizeLimit)
{
    ABI_INITIALISED(best_block(sys, minGridSize, blockSize, func,
                               (struct potential){blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit}));
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit, unsigned int flags)
{
    (void)flags;
    ABI_INITIALISED(best_block(sys, minGridSize, blockSize, func,
                               (struct potential){blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit}));
}

/* ---- clusters ---- */

static CUresult active_clusters(const vmm_system *sys, int *clusters, const void *handle, const CUlaunchConfig *config)
{
    (void)sys, (void)clusters, (void)handle, (void)config;
    return CUDA_ERROR_NOT_SUPPORTED;
}

CUresult cuOccupancyMaxActiveClusters(int *numClusters, CUfunction func, const CUlaunchConfig *config)
{
    ABI_INITIALISED(active_clusters(sys, numClusters, func, config));
}

CUresult cuOccupancyMaxPotentialClusterSize(int *clusterSize, CUfunction func, const CUlaunchConfig *config)
{
    ABI_INITIALISED(active_clusters(sys, clusterSize, func, config));
}
