/* SPDX-License-Identifier: Apache-2.0 */
/* A driver that lacks needed functions, and one without contexts: each memory call is refused for that reason and
 * writes nothing. */
#include "rt.h"
#include "testing/core_driver.h"
#include "testing/rt_rig.h"

#define LACKS(call) IS(call, ErrorCallRequiresNewerDriver)

static char bytes[8];
static void *const NOWHERE = (void *)0x77;
static void *p;

static void allocations(void)
{
    struct cudaPitchedPtr pitched = {.ptr = NOWHERE};
    struct cudaPointerAttributes is = {.device = 77};
    unsigned flags = 77;
    size_t size = 77;
    LACKS(cudaMalloc(&p, 1));
    LACKS(cudaMallocPitch(&p, &size, 1, 1));
    LACKS(cudaMalloc3D(&pitched, (struct cudaExtent){.width = 1, .height = 1, .depth = 1}));
    LACKS(cudaMallocManaged(&p, 1, cudaMemAttachGlobal));
    LACKS(cudaFree(NOWHERE));
    LACKS(cudaMemGetInfo(&size, &size));
    LACKS(cudaPointerGetAttributes(&is, bytes));
    LACKS(cudaMallocHost(&p, 1));
    LACKS(cudaHostAlloc(&p, 1, 0));
    LACKS(cudaFreeHost(NOWHERE));
    LACKS(cudaHostRegister(bytes, 1, 0));
    LACKS(cudaHostUnregister(bytes));
    LACKS(cudaHostGetDevicePointer(&p, bytes, 0));
    LACKS(cudaHostGetFlags(&flags, bytes));
    tap_ok(p == NOWHERE && pitched.ptr == NOWHERE && is.device == 77 && flags == 77 && size == 77, "nothing is written");
}

static void pools(void)
{
    struct cudaMemPoolProps props = {.maxSize = 0};
    struct cudaMemLocation place = {.id = 0};
    struct cudaMemAccessDesc desc = {.location = {.id = 0}};
    struct cudaMemPoolPtrExportData data;
    enum cudaMemAccessFlags rights = cudaMemAccessFlagsProtRead;
    cudaIpcMemHandle_t handle = {{0}};
    cudaMemPool_t pool = NULL;
    uint64_t value = 77;
    LACKS(cudaMallocAsync(&p, 1, NULL));
    LACKS(cudaMallocFromPoolAsync(&p, 1, pool, NULL));
    LACKS(cudaFreeAsync(NOWHERE, NULL));
    LACKS(cudaMemPoolCreate(&pool, &props));
    LACKS(cudaMemPoolDestroy(pool));
    LACKS(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
    LACKS(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &value));
    LACKS(cudaMemPoolGetAccess(&rights, pool, &place));
    LACKS(cudaMemPoolSetAccess(pool, &desc, 1));
    LACKS(cudaMemPoolTrimTo(pool, 0));
    LACKS(cudaMemPoolExportToShareableHandle(bytes, pool, cudaMemHandleTypePosixFileDescriptor, 0));
    LACKS(cudaMemPoolImportFromShareableHandle(&pool, bytes, cudaMemHandleTypePosixFileDescriptor, 0));
    LACKS(cudaMemPoolExportPointer(&data, NOWHERE));
    LACKS(cudaMemPoolImportPointer(&p, pool, &data));
    LACKS(cudaDeviceGetDefaultMemPool(&pool, 0));
    LACKS(cudaDeviceGetMemPool(&pool, 0));
    LACKS(cudaDeviceSetMemPool(0, pool));
    LACKS(cudaMemGetDefaultMemPool(&pool, &place, cudaMemAllocationTypePinned));
    LACKS(cudaMemGetMemPool(&pool, &place, cudaMemAllocationTypePinned));
    LACKS(cudaMemSetMemPool(&place, cudaMemAllocationTypePinned, pool));
    LACKS(cudaIpcGetMemHandle(&handle, NOWHERE));
    LACKS(cudaIpcOpenMemHandle(&p, handle, cudaIpcMemLazyEnablePeerAccess));
    LACKS(cudaIpcCloseMemHandle(NOWHERE));
    tap_ok(p == NOWHERE && !pool && value == 77 && rights == cudaMemAccessFlagsProtRead, "nothing is written");
}

static void copies(void)
{
    static const enum cudaMemcpyKind kinds[] = {cudaMemcpyHostToHost, cudaMemcpyHostToDevice, cudaMemcpyDeviceToHost,
                                                cudaMemcpyDeviceToDevice, cudaMemcpyDefault};
    struct cudaMemcpy3DParms layers = {.srcPtr = {.ptr = bytes, .pitch = 1, .ysize = 1}, .dstPtr = {.ptr = bytes, .pitch = 1, .ysize = 1},
                                       .extent = {.width = 1, .height = 1, .depth = 1}, .kind = cudaMemcpyDefault};
    struct cudaMemcpy3DPeerParms peers = {.srcPtr = layers.srcPtr, .dstPtr = layers.dstPtr, .extent = layers.extent};
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        LACKS(cudaMemcpy(bytes, bytes + 4, 1, kinds[i]));
        LACKS(cudaMemcpyAsync(bytes, bytes + 4, 1, kinds[i], NULL));
    }
    LACKS(cudaMemcpy2D(bytes, 1, bytes + 4, 1, 1, 1, cudaMemcpyDefault));
    LACKS(cudaMemcpy2DAsync(bytes, 1, bytes + 4, 1, 1, 1, cudaMemcpyDefault, NULL));
    LACKS(cudaMemcpy3D(&layers));
    LACKS(cudaMemcpy3DAsync(&layers, NULL));
    LACKS(cudaMemcpyPeer(bytes, 0, bytes + 4, 0, 1));
    LACKS(cudaMemcpyPeerAsync(bytes, 0, bytes + 4, 0, 1, NULL));
    LACKS(cudaMemcpy3DPeer(&peers));
    LACKS(cudaMemcpy3DPeerAsync(&peers, NULL));
    LACKS(cudaMemcpyBatchAsync(NULL, NULL, NULL, 0, NULL, NULL, 0, NULL));
    LACKS(cudaMemcpy3DBatchAsync(0, NULL, 0, NULL));
}

static void fills(void)
{
    struct cudaPitchedPtr to = {.ptr = bytes, .pitch = 1, .xsize = 1, .ysize = 2};
    LACKS(cudaMemset(bytes, 1, 1));
    LACKS(cudaMemsetAsync(bytes, 1, 1, NULL));
    LACKS(cudaMemset2D(bytes, 1, 1, 1, 1));
    LACKS(cudaMemset2DAsync(bytes, 1, 1, 1, 1, NULL));
    LACKS(cudaMemset3D(to, 1, (struct cudaExtent){.width = 1, .height = 1, .depth = 2}));
    LACKS(cudaMemset3DAsync(to, 1, (struct cudaExtent){.width = 1, .height = 1, .depth = 2}, NULL));
}

static void managed(void)
{
    const struct cudaMemLocation place = {cudaMemLocationTypeDevice, 0};
    LACKS(cudaStreamAttachMemAsync(NULL, bytes, 1, cudaMemAttachGlobal));
    LACKS(cudaMemPrefetchAsync(bytes, 1, place, 0, NULL));
    LACKS(cudaMemPrefetchBatchAsync(NULL, NULL, 0, NULL, NULL, 0, 0, NULL));
    LACKS(cudaMemDiscardBatchAsync(NULL, NULL, 0, 0, NULL));
    LACKS(cudaMemDiscardAndPrefetchBatchAsync(NULL, NULL, 0, NULL, NULL, 0, 0, NULL));
    LACKS(cudaMemAdvise(bytes, 1, cudaMemAdviseSetReadMostly, place));
    LACKS(cudaMemRangeGetAttribute(bytes, 4, cudaMemRangeAttributeReadMostly, bytes, 1));
    LACKS(cudaMemRangeGetAttributes(NULL, NULL, NULL, 0, bytes, 1));
}

static void arrays(void)
{
    const struct cudaChannelFormatDesc desc = {8, 0, 0, 0, cudaChannelFormatKindUnsigned};
    struct cudaArrayMemoryRequirements needs;
    struct cudaArraySparseProperties tiles;
    struct cudaChannelFormatDesc read;
    struct cudaMemcpy3DParms layers = {.srcArray = NOWHERE, .dstPtr = {.ptr = bytes, .pitch = 1}, .extent = {1, 1, 1}, .kind = cudaMemcpyDefault};
    const cudaArray_t array = NOWHERE;
    cudaArray_t made = NULL;
    cudaMipmappedArray_t levels = NULL;
    LACKS(cudaMallocArray(&made, &desc, 1, 1, 0));
    LACKS(cudaMalloc3DArray(&made, &desc, (struct cudaExtent){1, 1, 0}, 0));
    LACKS(cudaFreeArray(array));
    LACKS(cudaArrayGetInfo(&read, NULL, NULL, array));
    LACKS(cudaGetChannelDesc(&read, array));
    LACKS(cudaArrayGetPlane(&made, array, 0));
    LACKS(cudaArrayGetSparseProperties(&tiles, array));
    LACKS(cudaArrayGetMemoryRequirements(&needs, array, 0));
    LACKS(cudaMallocMipmappedArray(&levels, &desc, (struct cudaExtent){1, 1, 0}, 1, 0));
    LACKS(cudaGetMipmappedArrayLevel(&made, NOWHERE, 0));
    LACKS(cudaFreeMipmappedArray(NOWHERE));
    LACKS(cudaMipmappedArrayGetSparseProperties(&tiles, NOWHERE));
    LACKS(cudaMipmappedArrayGetMemoryRequirements(&needs, NOWHERE, 0));
    LACKS(cudaMemcpy2DToArray(array, 0, 0, bytes, 1, 1, 1, cudaMemcpyHostToDevice));
    LACKS(cudaMemcpy2DToArrayAsync(array, 0, 0, bytes, 1, 1, 1, cudaMemcpyHostToDevice, NULL));
    LACKS(cudaMemcpy2DFromArray(bytes, 1, array, 0, 0, 1, 1, cudaMemcpyDeviceToHost));
    LACKS(cudaMemcpy2DFromArrayAsync(bytes, 1, array, 0, 0, 1, 1, cudaMemcpyDeviceToHost, NULL));
    LACKS(cudaMemcpy2DArrayToArray(array, 0, 0, array, 0, 0, 1, 1, cudaMemcpyDeviceToDevice));
    LACKS(cudaMemcpyToArray(array, 0, 0, bytes, 1, cudaMemcpyHostToDevice));
    LACKS(cudaMemcpyToArrayAsync(array, 0, 0, bytes, 1, cudaMemcpyHostToDevice, NULL));
    LACKS(cudaMemcpyFromArray(bytes, array, 0, 0, 1, cudaMemcpyDeviceToHost));
    LACKS(cudaMemcpyFromArrayAsync(bytes, array, 0, 0, 1, cudaMemcpyDeviceToHost, NULL));
    LACKS(cudaMemcpyArrayToArray(array, 0, 0, array, 0, 0, 1, cudaMemcpyDeviceToDevice));
    LACKS(cudaMemcpy3D(&layers));
    tap_ok(!made && !levels, "nothing is written");
}

/* An array in a format without a name in the runtime, such as one of a newer driver. */
static CUresult CUDAAPI newer_format(CUDA_ARRAY3D_DESCRIPTOR *is, CUarray array)
{
    (void)array;
    *is = (CUDA_ARRAY3D_DESCRIPTOR){.Width = 8, .Height = 8, .Format = CU_AD_FORMAT_P010, .NumChannels = 3};
    return CUDA_SUCCESS;
}

static void test_newer_format(void)
{
    struct cudaChannelFormatDesc desc = {77, 77, 77, 77, cudaChannelFormatKindFloat};
    struct cudaMemcpy3DParms layers = {.srcArray = NOWHERE, .dstPtr = {.ptr = bytes, .pitch = 1}, .extent = {1, 1, 1}, .kind = cudaMemcpyDefault};
    const struct rt_driver has = rt_driver;
    rt_driver.to_cuArray3DGetDescriptor[0] = rt_driver.to_cuArray3DGetDescriptor[1] = newer_format;
    OK(cudaGetChannelDesc(&desc, NOWHERE));
    tap_ok(desc.f == cudaChannelFormatKindNone && !desc.x && !desc.y && !desc.z && !desc.w, "it has no descriptor");
    IS(cudaMemcpy3D(&layers), ErrorInvalidChannelDescriptor);
    IS(cudaMemcpyToArray(NOWHERE, 0, 0, bytes, 1, cudaMemcpyHostToDevice), ErrorInvalidValue);
    rt_driver = has;
}

static void every_call(void)
{
    p = NOWHERE;
    allocations();
    arrays();
    managed();
    pools();
    copies();
    fills();
    EQUAL(bytes[0], 0);
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h100", 1);
    OK(cudaFree(NULL)); /* there is a context */
    struct rt_driver has = rt_driver;
    test_newer_format();
    keep_core(&has);
    every_call();
    rt_driver = has;
    lose_contexts();
#define NO(name) memset(rt_driver.to_##name, 0, sizeof has.to_##name) /* which need no context */
    NO(cuPointerGetAttributes);
    NO(cuMemPoolCreate);
    NO(cuDeviceGetDefaultMemPool);
    NO(cuDeviceGetMemPool);
    NO(cuDeviceSetMemPool);
    every_call();
    rt_driver = has;
    OK(cudaDeviceSynchronize());
    return tap_done();
}
