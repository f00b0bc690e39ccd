/* SPDX-License-Identifier: Apache-2.0 */
/* Occupancy by threads, blocks and shared memory of a multiprocessor; host code uses no registers. The limits are those of
 * compute capability 9.0 (CUDA C++ Programming Guide, technical specifications). */
#include "abi_occupancy.h"

#include "abi_attribute.h"
#include "image.h"

enum { THREADS = 2048, BLOCKS = 32, WARP = 32, BLOCK_THREADS = 1024, KIB = 1024, UNIT = 128 };
enum { REGISTERS = 65536, REGISTER_UNIT = 8, PARTS = 4 };

/* ---- shared memory ---- */

/* The sizes that a multiprocessor can set aside as shared memory. */
static const size_t carveouts[] = {8 * KIB, 16 * KIB, 32 * KIB, 64 * KIB, 100 * KIB, 132 * KIB, 164 * KIB, 196 * KIB, 228 * KIB};

enum { CARVEOUTS = sizeof carveouts / sizeof carveouts[0], WHOLE = 228 * KIB };

/* The smallest of them with at least that many bytes. */
static size_t carveout_of(size_t bytes)
{
    int i = 0;
    while (i < CARVEOUTS - 1 && carveouts[i] < bytes)
        i++;
    return carveouts[i];
}

/* The function's preference, in percent; unless it is set, a multiprocessor sets aside as much as it can. */
static size_t preferred(const struct CUfunc_st *f)
{
    int percent = f->attribute[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT];
    return percent < 0 ? WHOLE : carveout_of((size_t)percent * WHOLE / 100);
}

/* The dynamic shared memory that a block of the function may have. */
static size_t abi_occupancy_shared(const struct CUfunc_st *f)
{
    return (size_t)f->attribute[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES];
}

/* A block that needs more than the preference gets it. */
static int by_shared(const struct CUfunc_st *f, size_t shared)
{
    shared += (size_t)f->attribute[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES];
    size_t each = (shared + UNIT - 1) / UNIT * UNIT + KIB, whole = preferred(f);
    return (int)((each > whole ? carveout_of(each) : whole) / each);
}

/* ---- blocks ---- */

/* The number of warps for which a multiprocessor has registers: each takes at least 8 for each of its threads, and they come in
 * groups of four (cuda_occupancy.h of the toolkit, compute capability 9.0). */
static int warps_by(int registers)
{
    int each = (registers + REGISTER_UNIT - 1) / REGISTER_UNIT * REGISTER_UNIT * WARP;
    int warps = each ? REGISTERS / each / PARTS * PARTS : THREADS / WARP;
    return warps < THREADS / WARP ? warps : THREADS / WARP;
}

int abi_occupancy_threads(const struct image_kernel *code)
{
    int threads = warps_by(code->registers) * WARP;
    if (code->threads && code->threads <= BLOCK_THREADS)
        return code->threads;
    return threads < BLOCK_THREADS ? threads : BLOCK_THREADS;
}

static int by_threads(const struct CUfunc_st *f, int block_size)
{
    int warps = (block_size + WARP - 1) / WARP, blocks = warps_by(f->attribute[CU_FUNC_ATTRIBUTE_NUM_REGS]) / warps;
    return blocks > BLOCKS ? BLOCKS : blocks;
}

int abi_occupancy_blocks(const struct CUfunc_st *f, int block_size, size_t shared)
{
    if (block_size > BLOCK_THREADS || shared > abi_occupancy_shared(f))
        return 0;
    if (f->kernel->code && block_size > f->attribute[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK])
        return 0;
    int threads = by_threads(f, block_size), memory = by_shared(f, shared);
    return threads < memory ? threads : memory;
}

/* These calls need a context, and report that first. */
static CUresult need_context(const vmm_system *sys, const char *function)
{
    uint64_t value;
    struct abi_query_context context;
    return abi_current(sys, function, &value, &context);
}

static CUresult check_flags(const char *function, unsigned flags)
{
    return flags <= CU_OCCUPANCY_DISABLE_CACHING_OVERRIDE ? CUDA_SUCCESS
                                                          : abi_refuse(VMM_RULE_CALL_VALUE, function, "flags %u are not known", flags);
}

static CUresult max_active(const vmm_system *sys, int *blocks, const void *handle, int block_size, size_t shared, unsigned flags)
{
    static const char name[] = "cuOccupancyMaxActiveBlocksPerMultiprocessor";
    struct CUfunc_st f;
    CUresult result = need_context(sys, name);
    if (result == CUDA_SUCCESS && !blocks)
        result = abi_null(name, "numBlocks");
    if (result == CUDA_SUCCESS)
        result = check_flags(name, flags);
    if (result == CUDA_SUCCESS)
        result = abi_function_find(name, handle, &f);
    if (result == CUDA_SUCCESS && block_size < 1)
        result = abi_refuse(VMM_RULE_CALL_VALUE, name, "blockSize %d is not positive", block_size);
    if (result == CUDA_SUCCESS)
        *blocks = abi_occupancy_blocks(&f, block_size, shared);
    return result;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *numBlocks, CUfunction func, int blockSize,
                                                     size_t dynamicSMemSize)
{
    ABI_INITIALISED(max_active(sys, numBlocks, func, blockSize, dynamicSMemSize, 0));
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(int *numBlocks, CUfunction func, int blockSize,
                                                              size_t dynamicSMemSize, unsigned int flags)
{
    ABI_INITIALISED(max_active(sys, numBlocks, func, blockSize, dynamicSMemSize, flags));
}

static CUresult check_blocks(const char *name, const struct CUfunc_st *f, int blocks, int block_size)
{
    if (block_size < 1 || block_size > BLOCK_THREADS)
        return abi_refuse(VMM_RULE_CALL_VALUE, name, "blockSize %d is not in 1 to %d", block_size, BLOCK_THREADS);
    if (blocks > by_threads(f, block_size))
        return abi_refuse(VMM_RULE_CALL_VALUE, name, "%d blocks of %d threads do not fit, even without shared memory",
                          blocks, block_size);
    return CUDA_SUCCESS;
}

/* The inverse: the shared memory of each of that many blocks, without the 1 KiB of each. A single block gets all of it. */
static CUresult available_shared(const vmm_system *sys, size_t *shared, const void *handle, int blocks, int block_size)
{
    static const char name[] = "cuOccupancyAvailableDynamicSMemPerBlock";
    struct CUfunc_st f;
    CUresult result = need_context(sys, name);
    if (result == CUDA_SUCCESS && blocks < 1)
        result = abi_refuse(VMM_RULE_CALL_VALUE, name, "numBlocks %d is not positive", blocks);
    if (result == CUDA_SUCCESS)
        result = abi_function_find(name, handle, &f);
    if (result == CUDA_SUCCESS)
        result = check_blocks(name, &f, blocks, block_size);
    if (result == CUDA_SUCCESS && !shared)
        result = abi_null(name, "dynamicSmemSize");
    if (result != CUDA_SUCCESS)
        return result;
    size_t most = abi_occupancy_shared(&f), fits = preferred(&f) / (size_t)blocks / UNIT * UNIT;
    size_t fixed = (size_t)f.attribute[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES];
    fits = fits > fixed ? fits - fixed : 0;
    *shared = blocks > 1 && fits < most ? fits : most;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyAvailableDynamicSMemPerBlock(size_t *dynamicSmemSize, CUfunction func, int numBlocks, int blockSize)
{
    ABI_INITIALISED(available_shared(sys, dynamicSmemSize, func, numBlocks, blockSize));
}

struct potential {
    CUoccupancyB2DSize shared_of;
    size_t shared;
    int limit;
    unsigned flags;
};

/* The block size with the most threads per multiprocessor, the largest of several; 0 if no block fits. */
static void find_best(const struct CUfunc_st *f, const struct potential *p, int *block, int *blocks)
{
    int best = 0, most = p->limit > 0 && p->limit < BLOCK_THREADS ? p->limit : BLOCK_THREADS;
    *block = *blocks = 0;
    for (int size = most; size > 0; size -= size % WARP ? size % WARP : WARP) {
        int fit = abi_occupancy_blocks(f, size, p->shared_of ? p->shared_of(size) : p->shared);
        if (fit * size > best) {
            best = fit * size;
            *block = size;
            *blocks = fit;
        }
    }
}

static CUresult best_block(const vmm_system *sys, int *grid, int *block, const void *handle, const struct potential *p)
{
    static const char name[] = "cuOccupancyMaxPotentialBlockSize";
    struct CUfunc_st f;
    int processors = 1, blocks;
    CUresult result = need_context(sys, name);
    if (result == CUDA_SUCCESS && (!grid || !block))
        result = abi_null(name, grid ? "blockSize" : "minGridSize");
    if (result == CUDA_SUCCESS)
        result = check_flags(name, p->flags);
    if (result == CUDA_SUCCESS)
        result = abi_function_find(name, handle, &f);
    if (result == CUDA_SUCCESS && p->limit < 0)
        result = abi_refuse(VMM_RULE_CALL_VALUE, name, "blockSizeLimit %d is negative", p->limit);
    if (result != CUDA_SUCCESS)
        return result;
    abi_attribute(abi_query_profile(sys), CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 0, &processors);
    find_best(&f, p, block, &blocks);
    *grid = blocks * processors;
    return CUDA_SUCCESS;
}

CUresult cuOccupancyMaxPotentialBlockSize(int *minGridSize, int *blockSize, CUfunction func,
                                          CUoccupancyB2DSize blockSizeToDynamicSMemSize, size_t dynamicSMemSize,
                                          int blockSizeLimit)
{
    ABI_INITIALISED(best_block(sys, minGridSize, blockSize, func,
                               &(struct potential){blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit, 0}));
}

CUresult cuOccupancyMaxPotentialBlockSizeWithFlags(int *minGridSize, int *blockSize, CUfunction func,
                                                   CUoccupancyB2DSize blockSizeToDynamicSMemSize,
                                                   size_t dynamicSMemSize, int blockSizeLimit, unsigned int flags)
{
    ABI_INITIALISED(best_block(sys, minGridSize, blockSize, func,
                               &(struct potential){blockSizeToDynamicSMemSize, dynamicSMemSize, blockSizeLimit, flags}));
}
