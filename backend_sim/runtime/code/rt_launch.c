/* SPDX-License-Identifier: Apache-2.0 */
/* Launches, for both default streams. */
#include "rt_code.h"

/* ---- why a launch was refused: the driver returns INVALID_VALUE for every invalid argument, and CUDA 13's library passes it
 * on. CUDA 12's reports an invalid configuration, as documented ---- */

static bool within(int device, const unsigned value[3], enum CUdevice_attribute_enum first)
{
    for (int i = 0; i < 3; i++) {
        int most = 0;
        (void)DRIVER(cuDeviceGetAttribute, &most, (CUdevice_attribute)((int)first + i), device);
        if (!value[i] || value[i] > (unsigned)most)
            return false;
    }
    return true;
}

/* Do the grid and its blocks fit the device's limits? */
static bool fits(dim3 grid, dim3 block)
{
    int device = 0, threads = 0;
    const unsigned of_grid[3] = {grid.x, grid.y, grid.z}, of_block[3] = {block.x, block.y, block.z};
    (void)rt_device(&device);
    (void)DRIVER(cuDeviceGetAttribute, &threads, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, device);
    return within(device, of_grid, CU_DEVICE_ATTRIBUTE_MAX_GRID_DIM_X) &&
           within(device, of_block, CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X) &&
           (uint64_t)block.x * block.y * block.z <= (uint64_t)threads;
}

static cudaError_t explain(cudaError_t result, dim3 grid, dim3 block)
{
    return rt_major() < 13 && result == cudaErrorInvalidValue && !fits(grid, block) ? cudaErrorInvalidConfiguration : result;
}

/* ---- launches: like the toolkit's, they use the low 32 bits of the size of shared memory ---- */

static cudaError_t launch(const void *function, dim3 grid, dim3 block, void **args, size_t shared, cudaStream_t stream)
{
    CUkernel kernel = NULL;
    cudaError_t result = rt_kernel(function, &kernel);
    if (result == cudaSuccess)
        result = DRIVER(cuLaunchKernel, (CUfunction)(void *)kernel, grid.x, grid.y, grid.z, block.x, block.y, block.z,
                        (unsigned)shared, stream, args, NULL);
    return result == cudaSuccess ? result : explain(result, grid, block);
}

cudaError_t cudaLaunchKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem, cudaStream_t stream)
{
    RT(launch(func, gridDim, blockDim, args, sharedMem, stream));
}

/* kernel may also be the stub's address, which __cudaGetKernel returns if it finds nothing. */
cudaError_t __cudaLaunchKernel(cudaKernel_t kernel, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                               cudaStream_t stream)
{
    RT(launch(kernel, gridDim, blockDim, args, sharedMem, stream));
}

static cudaError_t launch_cooperative(const void *function, dim3 grid, dim3 block, void **args, size_t shared,
                                      cudaStream_t stream)
{
    CUkernel kernel = NULL;
    cudaError_t result = rt_kernel(function, &kernel);
    if (result == cudaSuccess)
        result = DRIVER(cuLaunchCooperativeKernel, (CUfunction)(void *)kernel, grid.x, grid.y, grid.z, block.x, block.y,
                        block.z, (unsigned)shared, stream, args);
    return result == cudaSuccess ? result : explain(result, grid, block);
}

cudaError_t cudaLaunchCooperativeKernel(const void *func, dim3 gridDim, dim3 blockDim, void **args, size_t sharedMem,
                                        cudaStream_t stream)
{
    RT(launch_cooperative(func, gridDim, blockDim, args, sharedMem, stream));
}

static cudaError_t launch_with(const cudaLaunchConfig_t *config, const void *function, void **args)
{
    CUlaunchConfig asked;
    CUkernel kernel = NULL;
    cudaError_t result = rt_launch_config(config, &asked);
    if (result == cudaSuccess)
        result = rt_kernel(function, &kernel);
    if (result == cudaSuccess)
        result = DRIVER(cuLaunchKernelEx, &asked, (CUfunction)(void *)kernel, args, NULL);
    return result == cudaSuccess || !config ? result : explain(result, config->gridDim, config->blockDim);
}

cudaError_t cudaLaunchKernelExC(const cudaLaunchConfig_t *config, const void *func, void **args)
{
    RT(launch_with(config, func, args));
}
