/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_attribute.h"

#include <pthread.h>

#include "abi.h"

#define A(name) CU_DEVICE_ATTRIBUTE_##name

/* Device features that this library lacks, so that programs do without them: each needs entry points that are ABSENT in
 * entries.def. */
static const int absent[] = {
    A(CONCURRENT_MANAGED_ACCESS),           /* programs that see it create pools of managed memory */
    A(COOPERATIVE_MULTI_DEVICE_LAUNCH),     /* cuLaunchCooperativeKernelMultiDevice */
    A(TIMELINE_SEMAPHORE_INTEROP_SUPPORTED), /* cuImportExternalSemaphore */
    A(DEFERRED_MAPPING_CUDA_ARRAY_SUPPORTED), /* cuArrayCreate */
    A(TENSOR_MAP_ACCESS_SUPPORTED),         /* cuTensorMapEncodeTiled */
};

/* Limits: if the profile has no line for one, the device has the limit of an H100, because programs divide by it. */
static const int limits[] = {
    A(MAX_BLOCK_DIM_X), A(MAX_BLOCK_DIM_Y), A(MAX_BLOCK_DIM_Z), A(MAX_GRID_DIM_X), A(MAX_GRID_DIM_Y), A(MAX_GRID_DIM_Z),
    A(MAX_SHARED_MEMORY_PER_BLOCK), A(MAX_SHARED_MEMORY_PER_BLOCK_OPTIN), A(MAX_SHARED_MEMORY_PER_MULTIPROCESSOR),
    A(RESERVED_SHARED_MEMORY_PER_BLOCK), A(TOTAL_CONSTANT_MEMORY), A(WARP_SIZE), A(MAX_REGISTERS_PER_BLOCK),
    A(MAX_REGISTERS_PER_MULTIPROCESSOR), A(MAX_THREADS_PER_MULTIPROCESSOR), A(MAX_BLOCKS_PER_MULTIPROCESSOR), A(MAX_PITCH),
    A(TEXTURE_ALIGNMENT), A(TEXTURE_PITCH_ALIGNMENT), A(SURFACE_ALIGNMENT), A(MAXIMUM_TEXTURE1D_WIDTH),
    A(MAXIMUM_TEXTURE1D_LAYERED_WIDTH), A(MAXIMUM_TEXTURE1D_LAYERED_LAYERS), A(MAXIMUM_TEXTURE2D_WIDTH),
    A(MAXIMUM_TEXTURE2D_HEIGHT), A(MAXIMUM_TEXTURE2D_LAYERED_WIDTH), A(MAXIMUM_TEXTURE2D_LAYERED_HEIGHT),
    A(MAXIMUM_TEXTURE2D_LAYERED_LAYERS), A(MAXIMUM_TEXTURE3D_WIDTH), A(MAXIMUM_TEXTURE3D_HEIGHT), A(MAXIMUM_TEXTURE3D_DEPTH),
    A(CAN_MAP_HOST_MEMORY), A(CONCURRENT_KERNELS), A(STREAM_PRIORITIES_SUPPORTED), A(COMPUTE_PREEMPTION_SUPPORTED),
    A(COOPERATIVE_LAUNCH), A(GPU_OVERLAP), A(ASYNC_ENGINE_COUNT), A(HOST_REGISTER_SUPPORTED), A(CLOCK_RATE),
    A(MEMORY_CLOCK_RATE), A(GLOBAL_MEMORY_BUS_WIDTH), A(L2_CACHE_SIZE), A(SINGLE_TO_DOUBLE_PRECISION_PERF_RATIO),
    A(ECC_ENABLED),
};

int abi_bus(int device)
{
    return device + 1;
}

static bool among(const int *list, size_t count, int attribute)
{
    for (size_t i = 0; i < count; i++)
        if (list[i] == attribute)
            return true;
    return false;
}

#define AMONG(list, attribute) among(list, sizeof(list) / sizeof(list)[0], attribute)

static struct sim_profile h100;

static void read_h100(void)
{
    sim_profile_builtin("h100", &h100);
}

static int limit(int attribute)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    int value = 0;
    pthread_once(&once, read_h100);
    sim_profile_attribute(&h100, attribute, &value);
    return value;
}

bool abi_attribute(const struct sim_profile *profile, int attribute, int device, int *value)
{
    if (attribute < 1 || attribute >= A(MAX))
        return false;
    *value = 0;
    if (attribute == A(PCI_BUS_ID))
        *value = abi_bus(device);
    else if (attribute == A(MULTI_GPU_BOARD_GROUP_ID))
        *value = device;
    else if (!AMONG(absent, attribute) && !sim_profile_attribute(profile, attribute, value) && AMONG(limits, attribute))
        *value = limit(attribute);
    return true;
}
