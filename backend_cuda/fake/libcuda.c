/* SPDX-License-Identifier: Apache-2.0 */
/* See fake.h. This file makes four libraries:
 *   plain          like a driver of CUDA 13: cuGetProcAddress_v2, the log, several signatures of a name
 *   FAKE_OLD       like a driver before 12.0: names with suffixes only, no log
 *   FAKE_FIRST     like 11.0: FAKE_OLD with the first calls of virtual memory management, and none of the later ones
 *   FAKE_ANCIENT   like a driver before 10.2: FAKE_OLD without virtual memory management */
#include "fake.h"
#include "fake_entries.h"

#include <pthread.h>
#include <string.h>

static struct fake_driver driver;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* guards the recorded call */

struct fake_driver *fake_driver(void);
void fake_log(void);

struct fake_driver *fake_driver(void)
{
    return &driver;
}

void fake_log(void)
{
    for (unsigned line = 0; line < 4 && driver.log[line]; line++)
        for (unsigned i = 0; i < FAKE_LISTENERS; i++) {
            char text[600];
            size_t length = strlen(driver.log[line]);
            if (!driver.listener[i].hear || length >= sizeof text)
                continue;
            memcpy(text, driver.log[line], length);
            text[length] = '!'; /* unterminated: only its length bounds the text */
            driver.listener[i].hear(driver.listener[i].data, 0, text, length);
        }
}

static void *log_apart(void *unused)
{
    fake_log();
    return unused;
}

static int reached(const char *symbol, unsigned count, const uint64_t *argument)
{
    pthread_t thread;
    pthread_mutex_lock(&lock);
    driver.calls++;
    driver.symbol = symbol;
    driver.arguments = count;
    memcpy(driver.argument, argument, count * sizeof *argument);
    pthread_mutex_unlock(&lock);
    if (!driver.log_from_another_thread)
        fake_log();
    else if (pthread_create(&thread, NULL, log_apart, NULL) == 0)
        pthread_join(thread, NULL);
    return driver.refuse && strcmp(driver.refuse, symbol) == 0 ? 218 : driver.result;
}

typedef unsigned long long u64;
typedef unsigned u32;
typedef unsigned char u8;
typedef unsigned short u16;
typedef size_t size;
typedef void *any; /* stands for every pointer */

#define AS(x) (uint64_t)(uintptr_t)(x)
#define F0(role, symbol)                                        \
    int symbol(void);                                            \
    int symbol(void)                                             \
    {                                                            \
        return reached(role #symbol, 0, (uint64_t[]){0});               \
    }
#define F1(role, symbol, A)                                     \
    int symbol(A);                                               \
    int symbol(A a)                                              \
    {                                                            \
        return reached(role #symbol, 1, (uint64_t[]){AS(a)});           \
    }
#define F2(role, symbol, A, B)                                  \
    int symbol(A, B);                                            \
    int symbol(A a, B b)                                         \
    {                                                            \
        return reached(role #symbol, 2, (uint64_t[]){AS(a), AS(b)});    \
    }
#define F3(role, symbol, A, B, C)                                       \
    int symbol(A, B, C);                                                 \
    int symbol(A a, B b, C c)                                            \
    {                                                                    \
        return reached(role #symbol, 3, (uint64_t[]){AS(a), AS(b), AS(c)});     \
    }
#define F4(role, symbol, A, B, C, D)                                            \
    int symbol(A, B, C, D);                                                      \
    int symbol(A a, B b, C c, D d)                                               \
    {                                                                            \
        return reached(role #symbol, 4, (uint64_t[]){AS(a), AS(b), AS(c), AS(d)});      \
    }
#define F5(role, symbol, A, B, C, D, E)                                                 \
    int symbol(A, B, C, D, E);                                                           \
    int symbol(A a, B b, C c, D d, E e)                                                  \
    {                                                                                    \
        return reached(role #symbol, 5, (uint64_t[]){AS(a), AS(b), AS(c), AS(d), AS(e)});       \
    }
#define F6(role, symbol, A, B, C, D, E, F)                                                        \
    int symbol(A, B, C, D, E, F);                                                                  \
    int symbol(A a, B b, C c, D d, E e, F f)                                                       \
    {                                                                                              \
        return reached(role #symbol, 6, (uint64_t[]){AS(a), AS(b), AS(c), AS(d), AS(e), AS(f)});   \
    }

#define F7(role, symbol, A, B, C, D, E, F, G)                                                            \
    int symbol(A, B, C, D, E, F, G);                                                                     \
    int symbol(A a, B b, C c, D d, E e, F f, G g)                                                        \
    {                                                                                                    \
        return reached(role #symbol, 7, (uint64_t[]){AS(a), AS(b), AS(c), AS(d), AS(e), AS(f), AS(g)});  \
    }
#define F8(role, symbol, A, B, C, D, E, F, G, H)                                                                 \
    int symbol(A, B, C, D, E, F, G, H);                                                                           \
    int symbol(A a, B b, C c, D d, E e, F f, G g, H h)                                                            \
    {                                                                                                             \
        return reached(role #symbol, 8, (uint64_t[]){AS(a), AS(b), AS(c), AS(d), AS(e), AS(f), AS(g), AS(h)});    \
    }
#define F9(role, symbol, A, B, C, D, E, F, G, H, I)                                                                    \
    int symbol(A, B, C, D, E, F, G, H, I);                                                                             \
    int symbol(A a, B b, C c, D d, E e, F f, G g, H h, I i)                                                            \
    {                                                                                                                  \
        return reached(role #symbol, 9, (uint64_t[]){AS(a), AS(b), AS(c), AS(d), AS(e), AS(f), AS(g), AS(h), AS(i)});  \
    }

#define OURS ""
#define OTHER "other "

F1(OURS, cuInit, u32)
F1(OURS, cuDriverGetVersion, any)
F1(OURS, cuDeviceGetCount, any)
F2(OURS, cuDeviceGet, any, int)
F3(OURS, cuDeviceGetName, any, int, int)
F3(OURS, cuDeviceGetAttribute, any, int, int)
F2(OTHER, cuDeviceTotalMem, any, int)
F2(OURS, cuDeviceTotalMem_v2, any, int)
F3(OURS, cuDeviceCanAccessPeer, any, int, int)
F2(OURS, cuDevicePrimaryCtxRetain, any, int)
F1(OTHER, cuDevicePrimaryCtxRelease, int)
F1(OURS, cuDevicePrimaryCtxRelease_v2, int)
F1(OTHER, cuDevicePrimaryCtxReset, int)
F1(OURS, cuDevicePrimaryCtxReset_v2, int)
F3(OTHER, cuCtxCreate, any, u32, int)
F3(OURS, cuCtxCreate_v2, any, u32, int)
F5(OTHER, cuCtxCreate_v3, any, any, int, u32, int)
F4(OTHER, cuCtxCreate_v4, any, any, u32, int)
F1(OTHER, cuCtxDestroy, any)
F1(OURS, cuCtxDestroy_v2, any)
F1(OURS, cuCtxSetCurrent, any)
F1(OURS, cuCtxGetCurrent, any)
F1(OURS, cuCtxGetDevice, any)
F2(OTHER, cuCtxGetDevice_v2, any, any)
F0(OURS, cuCtxSynchronize)
F1(OTHER, cuCtxSynchronize_v2, any)
F2(OURS, cuStreamCreate, any, u32)
F1(OTHER, cuStreamDestroy, any)
F1(OURS, cuStreamDestroy_v2, any)
F1(OURS, cuStreamSynchronize, any)
F1(OURS, cuStreamQuery, any)
F2(OURS, cuEventCreate, any, u32)
F1(OTHER, cuEventDestroy, any)
F1(OURS, cuEventDestroy_v2, any)
F2(OURS, cuEventRecord, any, any)
F1(OURS, cuEventQuery, any)
F1(OURS, cuEventSynchronize, any)
F3(OURS, cuStreamWaitEvent, any, any, u32)
F2(OTHER, cuMemGetInfo, any, any)
F2(OURS, cuMemGetInfo_v2, any, any)
F2(OTHER, cuMemAlloc, any, u32)
F2(OURS, cuMemAlloc_v2, any, size)
F1(OTHER, cuMemFree, u32)
F1(OURS, cuMemFree_v2, u64)
#ifndef FAKE_ANCIENT
F3(OURS, cuMemGetAllocationGranularity, any, any, int)
F4(OURS, cuMemCreate, any, size, any, u64)
F1(OURS, cuMemRelease, u64)
F2(OURS, cuMemRetainAllocationHandle, any, any)
F2(OURS, cuMemGetAllocationPropertiesFromHandle, any, u64)
F5(OURS, cuMemAddressReserve, any, size, size, u64, u64)
F2(OURS, cuMemAddressFree, u64, size)
F5(OURS, cuMemMap, u64, size, size, u64, u64)
F2(OURS, cuMemUnmap, u64, size)
F4(OURS, cuMemSetAccess, u64, size, any, size)
F3(OURS, cuMemGetAccess, any, any, u64)
F4(OURS, cuMemExportToShareableHandle, any, u64, int, u64)
F3(OURS, cuMemImportFromShareableHandle, any, any, int)
#endif
F3(OURS, cuPointerGetAttribute, any, int, u64)
F4(OURS, cuPointerGetAttributes, u32, any, any, u64)
F3(OTHER, cuMemGetAddressRange, any, any, u32)
F3(OURS, cuMemGetAddressRange_v2, any, any, u64)
#ifndef FAKE_FIRST
F4(OURS, cuStreamWriteValue32_v2, any, u64, u32, u32)
F4(OURS, cuStreamWriteValue64_v2, any, u64, u64, u32)
F4(OURS, cuStreamWaitValue32_v2, any, u64, u32, u32)
F4(OURS, cuStreamWaitValue64_v2, any, u64, u64, u32)
F4(OURS, cuStreamBatchMemOp_v2, any, u32, any, u32)
F3(OURS, cuMulticastGetGranularity, any, any, int)
F2(OURS, cuMulticastCreate, any, any)
F2(OURS, cuMulticastAddDevice, u64, int)
F6(OURS, cuMulticastBindMem, u64, size, u64, size, size, u64)
F5(OURS, cuMulticastBindAddr, u64, size, u64, size, u64)
F4(OURS, cuMulticastUnbind, u64, int, size, size)
F5(OURS, cuMemGetHandleForAddressRange, any, u64, size, int, u64)
#endif
F3(OTHER, cuMemcpyHtoD, u32, any, u32)
F3(OURS, cuMemcpyHtoD_v2, u64, any, size)
F3(OTHER, cuMemcpyDtoH, any, u32, u32)
F3(OURS, cuMemcpyDtoH_v2, any, u64, size)
F3(OTHER, cuMemcpyDtoD, u32, u32, u32)
F3(OURS, cuMemcpyDtoD_v2, u64, u64, size)
F3(OTHER, cuMemsetD8, u32, u8, u32)
F3(OURS, cuMemsetD8_v2, u64, u8, size)
F3(OTHER, cuMemsetD16, u32, u16, u32)
F3(OURS, cuMemsetD16_v2, u64, u16, size)
F3(OTHER, cuMemsetD32, u32, u32, u32)
F3(OURS, cuMemsetD32_v2, u64, u32, size)
F4(OTHER, cuMemcpyHtoDAsync, u32, any, u32, any)
F4(OURS, cuMemcpyHtoDAsync_v2, u64, any, size, any)
F4(OTHER, cuMemcpyDtoHAsync, any, u32, u32, any)
F4(OURS, cuMemcpyDtoHAsync_v2, any, u64, size, any)
F4(OTHER, cuMemcpyDtoDAsync, u32, u32, u32, any)
F4(OURS, cuMemcpyDtoDAsync_v2, u64, u64, size, any)
F4(OURS, cuMemsetD8Async, u64, u8, size, any)
F4(OURS, cuMemsetD16Async, u64, u16, size, any)
F4(OURS, cuMemsetD32Async, u64, u32, size, any)
F1(OTHER, cuMemcpy3D, any)
F1(OURS, cuMemcpy3D_v2, any)
F2(OTHER, cuMemcpy3DAsync, any, any)
F2(OURS, cuMemcpy3DAsync_v2, any, any)
F1(OURS, cuMemcpy3DPeer, any)
F2(OURS, cuMemcpy3DPeerAsync, any, any)
F8(OURS, cuMemcpyBatchAsync_v2, any, any, any, size, any, any, size, any)
F9(OURS, cuMemcpyBatchAsync, any, any, any, size, any, any, size, any, any)
F4(OURS, cuMemcpy3DBatchAsync_v2, size, any, u64, any)
F5(OURS, cuMemcpy3DBatchAsync, size, any, any, u64, any)
F3(OURS, cuLaunchHostFunc, any, any, any)
F3(OURS, cuMemAllocAsync, any, size, any)
F4(OURS, cuMemAllocFromPoolAsync, any, size, any, any)
F2(OURS, cuMemFreeAsync, u64, any)
F2(OURS, cuMemPoolCreate, any, any)
F1(OURS, cuMemPoolDestroy, any)
F2(OURS, cuDeviceGetDefaultMemPool, any, int)
F2(OURS, cuDeviceGetMemPool, any, int)
F2(OURS, cuDeviceSetMemPool, int, any)
F3(OURS, cuMemGetDefaultMemPool, any, any, int)
F3(OURS, cuMemGetMemPool, any, any, int)
F3(OURS, cuMemSetMemPool, any, int, any)
F3(OURS, cuMemPoolSetAttribute, any, int, any)
F3(OURS, cuMemPoolGetAttribute, any, int, any)
F2(OURS, cuMemPoolTrimTo, any, size)
F3(OURS, cuMemPoolSetAccess, any, any, size)
F3(OURS, cuMemPoolGetAccess, any, any, any)
F4(OURS, cuMemPoolExportToShareableHandle, any, any, int, u64)
F4(OURS, cuMemPoolImportFromShareableHandle, any, any, int, u64)
F2(OURS, cuArray3DCreate_v2, any, any)
F2(OURS, cuArray3DGetDescriptor_v2, any, any)
F3(OURS, cuArrayGetPlane, any, any, u32)
F2(OURS, cuArrayGetSparseProperties, any, any)
F3(OURS, cuArrayGetMemoryRequirements, any, any, int)
F1(OURS, cuArrayDestroy, any)
F3(OURS, cuMipmappedArrayCreate, any, any, u32)
F3(OURS, cuMipmappedArrayGetLevel, any, any, u32)
F2(OURS, cuMipmappedArrayGetSparseProperties, any, any)
F3(OURS, cuMipmappedArrayGetMemoryRequirements, any, any, int)
F1(OURS, cuMipmappedArrayDestroy, any)
F3(OURS, cuMemMapArrayAsync, any, u32, any)
F3(OURS, cuMemAllocManaged, any, size, u32)
F4(OTHER, cuMemPrefetchAsync, u64, size, int, any)
F4(OTHER, cuMemAdvise, u64, size, int, int)
F5(OURS, cuMemRangeGetAttribute, any, size, int, u64, size)
F4(OURS, cuStreamAttachMemAsync, any, u64, size, u32)
F8(OURS, cuMemPrefetchBatchAsync, any, any, size, any, any, size, u64, any)
F5(OURS, cuMemDiscardBatchAsync, any, any, size, u64, any)
F8(OURS, cuMemDiscardAndPrefetchBatchAsync, any, any, size, any, any, size, u64, any)

/* Records a location, which is passed by value, as one number. */
struct location {
    int type, id;
};
int cuMemPrefetchAsync_v2(u64 at, size bytes, struct location to, u32 flags, any stream);
int cuMemAdvise_v2(u64 at, size bytes, int advice, struct location of);

static u64 number_of(struct location location)
{
    return (u32)location.type | (u64)(u32)location.id << 32;
}

int cuMemPrefetchAsync_v2(u64 at, size bytes, struct location to, u32 flags, any stream)
{
    return reached(OURS "cuMemPrefetchAsync_v2", 5, (uint64_t[]){at, bytes, number_of(to), flags, AS(stream)});
}

int cuMemAdvise_v2(u64 at, size bytes, int advice, struct location of)
{
    return reached(OURS "cuMemAdvise_v2", 4, (uint64_t[]){at, bytes, AS(advice), number_of(of)});
}

F2(OURS, cuIpcGetMemHandle, any, u64)
F1(OURS, cuIpcCloseMemHandle, u64)

/* Records the first bytes of the handle, which is passed by value. */
struct handle {
    u64 word[8];
};
int cuIpcOpenMemHandle(any to, struct handle from, u32 flags);
int cuIpcOpenMemHandle_v2(any to, struct handle from, u32 flags);
int cuIpcOpenEventHandle(any to, struct handle from);

int cuIpcOpenMemHandle(any to, struct handle from, u32 flags)
{
    return reached(OTHER "cuIpcOpenMemHandle", 3, (uint64_t[]){AS(to), from.word[0], flags});
}

int cuIpcOpenMemHandle_v2(any to, struct handle from, u32 flags)
{
    return reached(OURS "cuIpcOpenMemHandle_v2", 3, (uint64_t[]){AS(to), from.word[0], flags});
}

int cuIpcOpenEventHandle(any to, struct handle from)
{
    return reached(OURS "cuIpcOpenEventHandle", 2, (uint64_t[]){AS(to), from.word[0]});
}

F2(OURS, cuIpcGetEventHandle, any, any)
F2(OURS, cuMemPoolExportPointer, any, u64)
F3(OURS, cuMemPoolImportPointer, any, any, any)
F2(OURS, cuStreamBeginCapture_v2, any, int)
F6(OURS, cuStreamBeginCaptureToGraph, any, any, any, any, size, int)
F3(OURS, cuGraphNodeFindInClone, any, any, any)
F2(OURS, cuGraphChildGraphNodeGetGraph, any, any)
F2(OURS, cuGraphEventRecordNodeGetEvent, any, any)
F2(OURS, cuGraphEventWaitNodeGetEvent, any, any)
F2(OURS, cuGraphMemsetNodeSetParams, any, any)
F2(OURS, cuGraphHostNodeSetParams, any, any)
F2(OURS, cuGraphEventRecordNodeSetEvent, any, any)
F2(OURS, cuGraphEventWaitNodeSetEvent, any, any)
F4(OURS, cuGraphExecMemsetNodeSetParams, any, any, any, any)
F3(OURS, cuGraphExecHostNodeSetParams, any, any, any)
F2(OURS, cuGraphMemcpyNodeGetParams, any, any)
F7(OURS, cuStreamGetCaptureInfo_v3, any, any, any, any, any, any, any)
F1(OURS, cuThreadExchangeStreamCaptureMode, any)
F3(OURS, cuGraphGetNodes, any, any, any)
F3(OURS, cuGraphGetRootNodes, any, any, any)
F5(OURS, cuGraphGetEdges_v2, any, any, any, any, any)
F4(OURS, cuGraphNodeGetDependencies_v2, any, any, any, any)
F4(OURS, cuGraphNodeGetDependentNodes_v2, any, any, any, any)
F2(OURS, cuGraphMemsetNodeGetParams, any, any)
F2(OURS, cuGraphHostNodeGetParams, any, any)
F3(OURS, cuGraphExecUpdate_v2, any, any, any)
F3(OURS, cuDeviceGetGraphMemAttribute, int, int, any)
F3(OURS, cuDeviceSetGraphMemAttribute, int, int, any)
F1(OURS, cuDeviceGraphMemTrim, int)
F5(OURS, cuUserObjectCreate, any, any, any, u32, u32)
F2(OURS, cuUserObjectRetain, any, u32)
F2(OURS, cuUserObjectRelease, any, u32)
F4(OURS, cuGraphRetainUserObject, any, any, u32, u32)
F3(OURS, cuGraphReleaseUserObject, any, any, u32)
F2(OURS, cuGraphMemcpyNodeSetParams, any, any)
F4(OURS, cuGraphExecMemcpyNodeSetParams, any, any, any, any)
F3(OURS, cuGraphExecEventRecordNodeSetEvent, any, any, any)
F3(OURS, cuGraphExecEventWaitNodeSetEvent, any, any, any)
F3(OURS, cuGraphExecChildGraphNodeSetParams, any, any, any)
F5(OURS, cuStreamUpdateCaptureDependencies_v2, any, any, any, size, u32)
F3(OURS, cuGraphNodeSetEnabled, any, any, u32)
F3(OURS, cuGraphNodeGetEnabled, any, any, any)
F2(OURS, cuStreamEndCapture, any, any)
F2(OURS, cuStreamIsCapturing, any, any)
F2(OURS, cuGraphCreate, any, u32)
F1(OURS, cuGraphDestroy, any)
F2(OURS, cuGraphClone, any, any)
F4(OURS, cuGraphAddEmptyNode, any, any, any, size)
F6(OURS, cuGraphAddMemsetNode, any, any, any, size, any, any)
F6(OURS, cuGraphAddMemcpyNode, any, any, any, size, any, any)
F5(OURS, cuGraphAddHostNode, any, any, any, size, any)
F5(OURS, cuGraphAddChildGraphNode, any, any, any, size, any)
F5(OURS, cuGraphAddEventRecordNode, any, any, any, size, any)
F5(OURS, cuGraphAddEventWaitNode, any, any, any, size, any)
F1(OURS, cuGraphDestroyNode, any)
F5(OURS, cuGraphAddDependencies_v2, any, any, any, any, size)
F5(OURS, cuGraphRemoveDependencies_v2, any, any, any, any, size)
F2(OURS, cuGraphNodeGetType, any, any)
F3(OURS, cuGraphInstantiateWithFlags, any, any, u64)
F2(OURS, cuGraphExecGetFlags, any, any)
F1(OURS, cuGraphExecDestroy, any)
F2(OURS, cuGraphLaunch, any, any)
F2(OURS, cuGraphUpload, any, any)

/* CUDA_KERNEL_NODE_PARAMS. */
struct fake_kernel_node {
    any func;
    u32 grid[3], block[3], shared;
    any *params, *extra;
    any kern, ctx;
};

/* Records the graph, the node's kernel, its dimensions, and what the first two parameters point to. */
int cuGraphAddKernelNode_v2(any node, any graph, any dependencies, size count, const struct fake_kernel_node *p);

int cuGraphAddKernelNode_v2(any node, any graph, any dependencies, size count, const struct fake_kernel_node *p)
{
    const u64 *first = p->params[0], *second = p->params[1];
    return !node || dependencies || p->func || p->extra || p->ctx || p->shared
               ? 1
               : reached("cuGraphAddKernelNode_v2", 11,
                         (uint64_t[]){AS(graph), AS(p->kern), p->grid[0], p->grid[1], p->grid[2], p->block[0], p->block[1],
                                      p->block[2], *first, *second, count});
}

/* The same without a graph; the second form records an instance first. */
int cuGraphKernelNodeSetParams_v2(any node, const struct fake_kernel_node *p);
int cuGraphExecKernelNodeSetParams_v2(any exec, any node, const struct fake_kernel_node *p);

int cuGraphKernelNodeSetParams_v2(any node, const struct fake_kernel_node *p)
{
    const u64 *first = p->params[0];
    return reached("cuGraphKernelNodeSetParams_v2", 4, (uint64_t[]){AS(node), AS(p->kern), p->grid[0], *first});
}

int cuGraphExecKernelNodeSetParams_v2(any exec, any node, const struct fake_kernel_node *p)
{
    const u64 *first = p->params[0];
    return reached("cuGraphExecKernelNodeSetParams_v2", 5, (uint64_t[]){AS(exec), AS(node), AS(p->kern), p->grid[0], *first});
}

/* Records what the first two parameters point to, instead of params and extra. */
int cuLaunchKernel(any f, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 shared, any stream, any *params, any *extra);

int cuLaunchKernel(any f, u32 gx, u32 gy, u32 gz, u32 bx, u32 by, u32 bz, u32 shared, any stream, any *params, any *extra)
{
    const u64 *first = params[0], *second = params[1];
    return extra ? 1
                 : reached("cuLaunchKernel", 11,
                           (uint64_t[]){AS(f), gx, gy, gz, bx, by, bz, shared, AS(stream), *first, *second});
}

int cuGetErrorName(int result, const char **text);
int cuGetErrorString(int result, const char **text);

int cuGetErrorName(int result, const char **text)
{
    *text = result == 12345 ? "CUDA_ERROR_OF_THE_FAKE" : NULL;
    return *text ? 0 : 1;
}

int cuGetErrorString(int result, const char **text)
{
    *text = result == 12345 ? "only the fake has it" : NULL;
    return *text ? 0 : 1;
}

#ifndef FAKE_OLD

int cuLibraryLoadData(any *library, any code, any options, any values, u32 n, any more, any their_values, u32 m);
int cuLibraryGetKernel(any *kernel, any library, char *name);
F1(OURS, cuLibraryUnload, any)

/* A library is represented by its code, and a kernel by its name, so that a test can recognise them. */
int cuLibraryLoadData(any *library, any code, any options, any values, u32 n, any more, any their_values, u32 m)
{
    int result = reached("cuLibraryLoadData", 8,
                         (uint64_t[]){AS(library), AS(code), AS(options), AS(values), n, AS(more), AS(their_values), m});
    *library = result ? NULL : code;
    return result;
}

int cuLibraryGetKernel(any *kernel, any library, char *name)
{
    int result = reached("cuLibraryGetKernel", 3, (uint64_t[]){AS(kernel), AS(library), AS(name)});
    *kernel = result ? NULL : name;
    return result;
}

int cuLogsRegisterCallback(fake_listener hear, void *data, void **entry);
int cuLogsUnregisterCallback(void *entry);

int cuLogsRegisterCallback(fake_listener hear, void *data, void **entry)
{
    unsigned i = 0;
    if (driver.register_result)
        return driver.register_result;
    while (driver.listener[i].hear)
        if (++i == FAKE_LISTENERS)
            return 1;
    driver.listener[i].hear = hear;
    driver.listener[i].data = data;
    driver.registrations++;
    *entry = &driver.listener[i];
    return 0;
}

int cuLogsUnregisterCallback(void *entry)
{
    memset(entry, 0, sizeof driver.listener[0]);
    return 0;
}

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status);

int cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status)
{
    int newest = -1;
    *function = NULL;
    *status = 1; /* not found */
    if (flags != 0 || (driver.hidden && strcmp(driver.hidden, name) == 0))
        return flags != 0 ? 1 : 0;
    for (const struct fake_entry *entry = fake_entries; entry->name; entry++)
        if (entry->function && strcmp(entry->name, name) == 0 && entry->version <= version && entry->version > newest) {
            newest = entry->version;
            memcpy(function, &entry->function, sizeof *function);
            *status = 0;
        }
    return 0;
}

#endif
