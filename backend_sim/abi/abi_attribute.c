/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_attribute.h"

#include "abi.h"

#define A(name) CU_DEVICE_ATTRIBUTE_##name

static const struct {
    int attribute, value;
} values[] = {
    /* Limits that every device of compute capability 9.0 has, most of them those of 7.0 and later: CUDA C++ Programming
     * Guide, "Technical Specifications per Compute Capability"; pitch and alignments as deviceQuery prints them. */
    {A(MAX_BLOCK_DIM_X), 1024},
    {A(MAX_BLOCK_DIM_Y), 1024},
    {A(MAX_BLOCK_DIM_Z), 64},
    {A(MAX_GRID_DIM_X), 2147483647},
    {A(MAX_GRID_DIM_Y), 65535},
    {A(MAX_GRID_DIM_Z), 65535},
    {A(MAX_SHARED_MEMORY_PER_BLOCK), 49152},
    {A(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), 232448},
    {A(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR), 233472},
    {A(RESERVED_SHARED_MEMORY_PER_BLOCK), 1024},
    {A(TOTAL_CONSTANT_MEMORY), 65536},
    {A(WARP_SIZE), 32},
    {A(MAX_REGISTERS_PER_BLOCK), 65536},
    {A(MAX_REGISTERS_PER_MULTIPROCESSOR), 65536},
    {A(MAX_THREADS_PER_MULTIPROCESSOR), 2048},
    {A(MAX_BLOCKS_PER_MULTIPROCESSOR), 32},
    {A(MAX_PITCH), 2147483647},
    {A(TEXTURE_ALIGNMENT), 512},
    {A(TEXTURE_PITCH_ALIGNMENT), 32},
    {A(SURFACE_ALIGNMENT), 512},
    {A(MAXIMUM_TEXTURE1D_WIDTH), 131072},
    {A(MAXIMUM_TEXTURE1D_LAYERED_WIDTH), 32768},
    {A(MAXIMUM_TEXTURE1D_LAYERED_LAYERS), 2048},
    {A(MAXIMUM_TEXTURE2D_WIDTH), 131072},
    {A(MAXIMUM_TEXTURE2D_HEIGHT), 65536},
    {A(MAXIMUM_TEXTURE2D_LAYERED_WIDTH), 32768},
    {A(MAXIMUM_TEXTURE2D_LAYERED_HEIGHT), 32768},
    {A(MAXIMUM_TEXTURE2D_LAYERED_LAYERS), 2048},
    {A(MAXIMUM_TEXTURE3D_WIDTH), 16384},
    {A(MAXIMUM_TEXTURE3D_HEIGHT), 16384},
    {A(MAXIMUM_TEXTURE3D_DEPTH), 16384},
    /* what it can do, and does */
    {A(CAN_MAP_HOST_MEMORY), 1},
    {A(CONCURRENT_KERNELS), 1},
    {A(STREAM_PRIORITIES_SUPPORTED), 1},
    {A(COMPUTE_PREEMPTION_SUPPORTED), 1},
    {A(COOPERATIVE_LAUNCH), 1},
    {A(GPU_OVERLAP), 1},
    {A(ASYNC_ENGINE_COUNT), 1},
    {A(HOST_REGISTER_SUPPORTED), 1},
    /* Figures that programs print and divide by. No recording tells them: about those of an H100 SXM, for every machine. */
    {A(CLOCK_RATE), 1980000},
    {A(MEMORY_CLOCK_RATE), 2619000},
    {A(GLOBAL_MEMORY_BUS_WIDTH), 5120},
    {A(L2_CACHE_SIZE), 52428800},
    {A(SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO), 2},
    {A(ECC_ENABLED), 1},
};

int abi_bus(int device)
{
    return device + 1;
}

/* What is not in the table is a feature that the simulator has not, such as managed memory and pools: 0, and no error. */
bool abi_attribute(int attribute, int device, int *value)
{
    if (attribute < 1 || attribute >= A(MAX))
        return false;
    *value = attribute == A(PCI_BUS_ID) ? abi_bus(device) : 0;
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
        if (values[i].attribute == attribute)
            *value = values[i].value;
    return true;
}
