/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h - the part of the driver's ABI that cuvmm's libcuda.so.1 implements, for machines without the toolkit.
 *
 *     cc -I<prefix>/include/cuvmm/abi program.c -lcuda      with this header instead of the toolkit's
 *
 * Written from the facts of the ABI: names, numbers, layouts. It declares exactly what the library implements, so a program that
 * compiles with it finds every function; if the toolkit is installed, use its header instead. Tests compare everything with the
 * toolkit's header: numbers, sizes, offsets and prototypes.
 *
 * As in the toolkit's header, names stand for the newest form of an entry point, and with CUDA_API_PER_THREAD_DEFAULT_STREAM
 * for the form whose stream 0 is the thread's own. Define CUDA_VERSION as 12000 before including it for the signatures of CUDA
 * 12.
 */
#ifndef CUVMM_ABI_CUDA_H
#define CUVMM_ABI_CUDA_H
#define __cuda_cuda_h__ /* the toolkit's include guard: only one of the two headers may be used */

#include <stddef.h>
#include <stdint.h>

#ifndef CUDA_VERSION
#define CUDA_VERSION 13000
#endif

#ifdef _WIN32
#define CUDAAPI __stdcall
#else
#define CUDAAPI
#endif
#define CUDA_CB CUDAAPI

#ifdef __cplusplus
extern "C" {
#endif

/* ------------------------------------------------------------------------------------------------------------- names */

#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define CUVMM_PTSZ(name) name##_ptsz
#define CUVMM_PTDS(name) name##_ptds
#else
#define CUVMM_PTSZ(name) name
#define CUVMM_PTDS(name) name
#endif

#define cuDeviceTotalMem cuDeviceTotalMem_v2
#define cuDeviceGetUuid cuDeviceGetUuid_v2
#define cuDevicePrimaryCtxRelease cuDevicePrimaryCtxRelease_v2
#define cuDevicePrimaryCtxReset cuDevicePrimaryCtxReset_v2
#define cuDevicePrimaryCtxSetFlags cuDevicePrimaryCtxSetFlags_v2
#if CUDA_VERSION >= 13000
#define cuCtxCreate cuCtxCreate_v4
#define cuEventElapsedTime cuEventElapsedTime_v2
#else
#define cuCtxCreate cuCtxCreate_v2
#endif
#define cuCtxDestroy cuCtxDestroy_v2
#define cuCtxPopCurrent cuCtxPopCurrent_v2
#define cuCtxPushCurrent cuCtxPushCurrent_v2
#define cuStreamDestroy cuStreamDestroy_v2
#define cuEventDestroy cuEventDestroy_v2
#define cuModuleGetGlobal cuModuleGetGlobal_v2
#define cuLinkCreate cuLinkCreate_v2
#define cuLinkAddData cuLinkAddData_v2
#define cuLinkAddFile cuLinkAddFile_v2
#define cuIpcOpenMemHandle cuIpcOpenMemHandle_v2
#define cuMemGetInfo cuMemGetInfo_v2
#define cuMemAlloc cuMemAlloc_v2
#define cuMemAllocPitch cuMemAllocPitch_v2
#define cuMemFree cuMemFree_v2
#define cuMemGetAddressRange cuMemGetAddressRange_v2
#define cuMemAllocHost cuMemAllocHost_v2
#define cuMemHostGetDevicePointer cuMemHostGetDevicePointer_v2
#define cuMemHostRegister cuMemHostRegister_v2
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define cuGetProcAddress cuGetProcAddress_v2_ptsz
#else
#define cuGetProcAddress cuGetProcAddress_v2
#endif

#define cuMemcpyHtoD CUVMM_PTDS(cuMemcpyHtoD_v2)
#define cuMemcpyDtoH CUVMM_PTDS(cuMemcpyDtoH_v2)
#define cuMemcpyDtoD CUVMM_PTDS(cuMemcpyDtoD_v2)
#define cuMemcpy2D CUVMM_PTDS(cuMemcpy2D_v2)
#define cuMemcpy2DUnaligned CUVMM_PTDS(cuMemcpy2DUnaligned_v2)
#define cuMemcpy3D CUVMM_PTDS(cuMemcpy3D_v2)
#define cuMemsetD8 CUVMM_PTDS(cuMemsetD8_v2)
#define cuMemsetD16 CUVMM_PTDS(cuMemsetD16_v2)
#define cuMemsetD32 CUVMM_PTDS(cuMemsetD32_v2)
#define cuMemsetD2D8 CUVMM_PTDS(cuMemsetD2D8_v2)
#define cuMemsetD2D16 CUVMM_PTDS(cuMemsetD2D16_v2)
#define cuMemsetD2D32 CUVMM_PTDS(cuMemsetD2D32_v2)
#define cuMemcpyHtoDAsync CUVMM_PTSZ(cuMemcpyHtoDAsync_v2)
#define cuMemcpyDtoHAsync CUVMM_PTSZ(cuMemcpyDtoHAsync_v2)
#define cuMemcpyDtoDAsync CUVMM_PTSZ(cuMemcpyDtoDAsync_v2)
#define cuMemcpy2DAsync CUVMM_PTSZ(cuMemcpy2DAsync_v2)
#define cuMemcpy3DAsync CUVMM_PTSZ(cuMemcpy3DAsync_v2)
#if CUDA_VERSION >= 13000
#define cuMemcpyBatchAsync CUVMM_PTSZ(cuMemcpyBatchAsync_v2)
#define cuMemcpy3DBatchAsync CUVMM_PTSZ(cuMemcpy3DBatchAsync_v2)
#elif defined CUDA_API_PER_THREAD_DEFAULT_STREAM
#define cuMemcpyBatchAsync CUVMM_PTSZ(cuMemcpyBatchAsync)
#define cuMemcpy3DBatchAsync CUVMM_PTSZ(cuMemcpy3DBatchAsync)
#endif
#define cuArrayCreate cuArrayCreate_v2
#define cuArrayGetDescriptor cuArrayGetDescriptor_v2
#define cuArray3DCreate cuArray3DCreate_v2
#define cuArray3DGetDescriptor cuArray3DGetDescriptor_v2
#define cuMemcpyDtoA CUVMM_PTDS(cuMemcpyDtoA_v2)
#define cuMemcpyAtoD CUVMM_PTDS(cuMemcpyAtoD_v2)
#define cuMemcpyHtoA CUVMM_PTDS(cuMemcpyHtoA_v2)
#define cuMemcpyAtoH CUVMM_PTDS(cuMemcpyAtoH_v2)
#define cuMemcpyAtoA CUVMM_PTDS(cuMemcpyAtoA_v2)
#define cuMemcpyHtoAAsync CUVMM_PTSZ(cuMemcpyHtoAAsync_v2)
#define cuMemcpyAtoHAsync CUVMM_PTSZ(cuMemcpyAtoHAsync_v2)
#if CUDA_VERSION >= 13000
#define cuMemAdvise cuMemAdvise_v2
#define cuMemPrefetchAsync CUVMM_PTSZ(cuMemPrefetchAsync_v2)
#elif defined CUDA_API_PER_THREAD_DEFAULT_STREAM
#define cuMemPrefetchAsync CUVMM_PTSZ(cuMemPrefetchAsync)
#endif
#define cuStreamBeginCapture CUVMM_PTSZ(cuStreamBeginCapture_v2)
#define cuStreamGetCaptureInfo CUVMM_PTSZ(cuStreamGetCaptureInfo_v3)
#define cuStreamUpdateCaptureDependencies CUVMM_PTSZ(cuStreamUpdateCaptureDependencies_v2)
#define cuGraphInstantiate cuGraphInstantiateWithFlags
#define cuGraphAddKernelNode cuGraphAddKernelNode_v2
#define cuGraphKernelNodeGetParams cuGraphKernelNodeGetParams_v2
#define cuGraphKernelNodeSetParams cuGraphKernelNodeSetParams_v2
#define cuGraphGetEdges cuGraphGetEdges_v2
#define cuGraphNodeGetDependencies cuGraphNodeGetDependencies_v2
#define cuGraphNodeGetDependentNodes cuGraphNodeGetDependentNodes_v2
#define cuGraphAddDependencies cuGraphAddDependencies_v2
#define cuGraphRemoveDependencies cuGraphRemoveDependencies_v2
#define cuGraphExecKernelNodeSetParams cuGraphExecKernelNodeSetParams_v2
#define cuGraphExecUpdate cuGraphExecUpdate_v2
#define cuGraphAddNode cuGraphAddNode_v2
#define cuStreamWriteValue32 CUVMM_PTSZ(cuStreamWriteValue32_v2)
#define cuStreamWriteValue64 CUVMM_PTSZ(cuStreamWriteValue64_v2)
#define cuStreamWaitValue32 CUVMM_PTSZ(cuStreamWaitValue32_v2)
#define cuStreamWaitValue64 CUVMM_PTSZ(cuStreamWaitValue64_v2)
#define cuStreamBatchMemOp CUVMM_PTSZ(cuStreamBatchMemOp_v2)
#ifdef CUDA_API_PER_THREAD_DEFAULT_STREAM
#define cuMemcpy CUVMM_PTDS(cuMemcpy)
#define cuMemcpyPeer CUVMM_PTDS(cuMemcpyPeer)
#define cuMemcpy3DPeer CUVMM_PTDS(cuMemcpy3DPeer)
#define cuMemcpyAsync CUVMM_PTSZ(cuMemcpyAsync)
#define cuMemcpyPeerAsync CUVMM_PTSZ(cuMemcpyPeerAsync)
#define cuMemcpy3DPeerAsync CUVMM_PTSZ(cuMemcpy3DPeerAsync)
#define cuMemMapArrayAsync CUVMM_PTSZ(cuMemMapArrayAsync)
#define cuStreamAttachMemAsync CUVMM_PTSZ(cuStreamAttachMemAsync)
#define cuMemPrefetchBatchAsync CUVMM_PTSZ(cuMemPrefetchBatchAsync)
#define cuMemDiscardBatchAsync CUVMM_PTSZ(cuMemDiscardBatchAsync)
#define cuMemDiscardAndPrefetchBatchAsync CUVMM_PTSZ(cuMemDiscardAndPrefetchBatchAsync)
#define cuMemAllocAsync CUVMM_PTSZ(cuMemAllocAsync)
#define cuMemAllocFromPoolAsync CUVMM_PTSZ(cuMemAllocFromPoolAsync)
#define cuMemFreeAsync CUVMM_PTSZ(cuMemFreeAsync)
#define cuMemsetD8Async CUVMM_PTSZ(cuMemsetD8Async)
#define cuMemsetD16Async CUVMM_PTSZ(cuMemsetD16Async)
#define cuMemsetD32Async CUVMM_PTSZ(cuMemsetD32Async)
#define cuMemsetD2D8Async CUVMM_PTSZ(cuMemsetD2D8Async)
#define cuMemsetD2D16Async CUVMM_PTSZ(cuMemsetD2D16Async)
#define cuMemsetD2D32Async CUVMM_PTSZ(cuMemsetD2D32Async)
#define cuStreamGetPriority CUVMM_PTSZ(cuStreamGetPriority)
#define cuStreamGetId CUVMM_PTSZ(cuStreamGetId)
#define cuStreamGetFlags CUVMM_PTSZ(cuStreamGetFlags)
#define cuStreamGetDevice CUVMM_PTSZ(cuStreamGetDevice)
#define cuStreamGetCtx CUVMM_PTSZ(cuStreamGetCtx)
#define cuStreamWaitEvent CUVMM_PTSZ(cuStreamWaitEvent)
#define cuStreamAddCallback CUVMM_PTSZ(cuStreamAddCallback)
#define cuStreamIsCapturing CUVMM_PTSZ(cuStreamIsCapturing)
#define cuStreamEndCapture CUVMM_PTSZ(cuStreamEndCapture)
#define cuStreamBeginCaptureToGraph CUVMM_PTSZ(cuStreamBeginCaptureToGraph)
#define cuGraphInstantiateWithParams CUVMM_PTSZ(cuGraphInstantiateWithParams)
#define cuGraphUpload CUVMM_PTSZ(cuGraphUpload)
#define cuGraphLaunch CUVMM_PTSZ(cuGraphLaunch)
#define cuStreamQuery CUVMM_PTSZ(cuStreamQuery)
#define cuStreamSynchronize CUVMM_PTSZ(cuStreamSynchronize)
#define cuEventRecord CUVMM_PTSZ(cuEventRecord)
#define cuEventRecordWithFlags CUVMM_PTSZ(cuEventRecordWithFlags)
#define cuLaunchKernel CUVMM_PTSZ(cuLaunchKernel)
#define cuLaunchKernelEx CUVMM_PTSZ(cuLaunchKernelEx)
#define cuLaunchCooperativeKernel CUVMM_PTSZ(cuLaunchCooperativeKernel)
#define cuLaunchHostFunc CUVMM_PTSZ(cuLaunchHostFunc)
#endif

/* ------------------------------------------------------------------------------------------------------------- types */

typedef uint32_t cuuint32_t;
typedef uint64_t cuuint64_t;
typedef unsigned long long CUdeviceptr_v2;
typedef CUdeviceptr_v2 CUdeviceptr;
typedef int CUdevice_v1;
typedef CUdevice_v1 CUdevice;
typedef struct CUctx_st *CUcontext;
typedef struct CUmod_st *CUmodule;
typedef struct CUfunc_st *CUfunction;
typedef struct CUlib_st *CUlibrary;
typedef struct CUlinkState_st *CUlinkState;
typedef struct CUkern_st *CUkernel;
typedef struct CUevent_st *CUevent;
typedef struct CUgraph_st *CUgraph;
typedef struct CUgraphNode_st *CUgraphNode;
typedef struct CUgraphEdgeData_st CUgraphEdgeData; /* edges of graphs: ignored */
typedef struct CUmemPoolHandle_st *CUmemoryPool;
typedef struct CUstream_st *CUstream;
typedef struct CUlogsCallbackEntry_st *CUlogsCallbackHandle;
typedef unsigned int CUlogIterator;
typedef unsigned long long CUmemGenericAllocationHandle_v1;
typedef CUmemGenericAllocationHandle_v1 CUmemGenericAllocationHandle;

#define CU_ENUM(name) typedef enum name##_enum {
#define CU_VALUE(name, value) name = value,
#define CU_ENUM_END(name) name##_FORCE_INT = 0x7fffffff } name;
#include "cuda_values.def"

#include "cuda_array.h"

#define CU_STREAM_LEGACY ((CUstream)0x1)
#define CU_STREAM_PER_THREAD ((CUstream)0x2)
#define CU_DEVICE_CPU ((CUdevice)-1)
#define CU_DEVICE_INVALID ((CUdevice)-2)
#define CU_IPC_HANDLE_SIZE 64

#define CU_MEMHOSTALLOC_PORTABLE 1
#define CU_MEMHOSTALLOC_DEVICEMAP 2
#define CU_MEMHOSTALLOC_WRITECOMBINED 4
#define CU_MEMHOSTREGISTER_PORTABLE 1
#define CU_MEMHOSTREGISTER_DEVICEMAP 2
#define CU_MEMHOSTREGISTER_IOMEMORY 4
#define CU_MEMHOSTREGISTER_READ_ONLY 8

#define CU_MEM_CREATE_USAGE_TILE_POOL 1
#define CU_MEM_CREATE_USAGE_HW_DECOMPRESS 2

#define CU_MEM_POOL_CREATE_USAGE_HW_DECOMPRESS 2

#define CU_LAUNCH_PARAM_END ((void *)0)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define CU_LAUNCH_PARAM_BUFFER_SIZE ((void *)2)

#define CU_COMPUTE_ACCELERATED_TARGET_BASE 0x10000

typedef struct CUuuid_st {
    char bytes[16];
} CUuuid;

typedef struct CUmemLocation_st {
    CUmemLocationType type;
    int id;
} CUmemLocation_v1;
typedef CUmemLocation_v1 CUmemLocation;

typedef struct CUmemAllocationProp_st {
    CUmemAllocationType type;
    CUmemAllocationHandleType requestedHandleTypes;
    CUmemLocation location;
    void *win32HandleMetaData;
    struct {
        unsigned char compressionType;
        unsigned char gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
} CUmemAllocationProp_v1;
typedef CUmemAllocationProp_v1 CUmemAllocationProp;

typedef struct CUmulticastObjectProp_st {
    unsigned int numDevices;
    size_t size;
    unsigned long long handleTypes;
    unsigned long long flags;
} CUmulticastObjectProp_v1;
typedef CUmulticastObjectProp_v1 CUmulticastObjectProp;

typedef struct CUmemAccessDesc_st {
    CUmemLocation location;
    CUmemAccess_flags flags;
} CUmemAccessDesc_v1;
typedef CUmemAccessDesc_v1 CUmemAccessDesc;

typedef struct CUmemFabricHandle_st {
    unsigned char data[CU_IPC_HANDLE_SIZE];
} CUmemFabricHandle_v1;
typedef CUmemFabricHandle_v1 CUmemFabricHandle;

typedef union CUstreamBatchMemOpParams_union {
    CUstreamBatchMemOpType operation;
    struct CUstreamMemOpWaitValueParams_st {
        CUstreamBatchMemOpType operation;
        CUdeviceptr address;
        union {
            cuuint32_t value;
            cuuint64_t value64;
        };
        unsigned int flags;
        CUdeviceptr alias;
    } waitValue;
    struct CUstreamMemOpWriteValueParams_st {
        CUstreamBatchMemOpType operation;
        CUdeviceptr address;
        union {
            cuuint32_t value;
            cuuint64_t value64;
        };
        unsigned int flags;
        CUdeviceptr alias;
    } writeValue;
    struct CUstreamMemOpFlushRemoteWritesParams_st {
        CUstreamBatchMemOpType operation;
        unsigned int flags;
    } flushRemoteWrites;
    struct CUstreamMemOpMemoryBarrierParams_st {
        CUstreamBatchMemOpType operation;
        unsigned int flags;
    } memoryBarrier;
    cuuint64_t pad[6];
} CUstreamBatchMemOpParams_v1;
typedef CUstreamBatchMemOpParams_v1 CUstreamBatchMemOpParams;
typedef struct CUmemPoolProps_st {
    CUmemAllocationType allocType;
    CUmemAllocationHandleType handleTypes;
    CUmemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
} CUmemPoolProps_v1;
typedef CUmemPoolProps_v1 CUmemPoolProps;

typedef struct CUmemPoolPtrExportData_st {
    unsigned char reserved[64];
} CUmemPoolPtrExportData_v1;
typedef CUmemPoolPtrExportData_v1 CUmemPoolPtrExportData;

typedef struct CUDA_MEMCPY2D_st {
    size_t srcXInBytes, srcY;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    size_t dstPitch;
    size_t WidthInBytes, Height;
} CUDA_MEMCPY2D_v2;
typedef CUDA_MEMCPY2D_v2 CUDA_MEMCPY2D;

typedef struct CUDA_MEMCPY3D_st {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    void *reserved0;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    void *reserved1;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D_v2;
typedef CUDA_MEMCPY3D_v2 CUDA_MEMCPY3D;

typedef struct CUDA_MEMCPY3D_PEER_st {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    CUmemorytype srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    CUarray srcArray;
    CUcontext srcContext;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    CUmemorytype dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    CUarray dstArray;
    CUcontext dstContext;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
} CUDA_MEMCPY3D_PEER_v1;
typedef CUDA_MEMCPY3D_PEER_v1 CUDA_MEMCPY3D_PEER;

typedef struct CUmemcpyAttributes_st {
    CUmemcpySrcAccessOrder srcAccessOrder;
    CUmemLocation srcLocHint, dstLocHint;
    unsigned int flags;
} CUmemcpyAttributes_v1;
typedef CUmemcpyAttributes_v1 CUmemcpyAttributes;

typedef struct CUoffset3D_st {
    size_t x, y, z;
} CUoffset3D_v1;
typedef CUoffset3D_v1 CUoffset3D;

typedef struct CUextent3D_st {
    size_t width, height, depth;
} CUextent3D_v1;
typedef CUextent3D_v1 CUextent3D;

typedef struct CUmemcpy3DOperand_st {
    CUmemcpy3DOperandType type;
    union {
        struct {
            CUdeviceptr ptr;
            size_t rowLength, layerHeight;
            CUmemLocation locHint;
        } ptr;
        struct {
            CUarray array;
            CUoffset3D offset;
        } array;
    } op;
} CUmemcpy3DOperand_v1;
typedef CUmemcpy3DOperand_v1 CUmemcpy3DOperand;

typedef struct CUDA_MEMCPY3D_BATCH_OP_st {
    CUmemcpy3DOperand src, dst;
    CUextent3D extent;
    CUmemcpySrcAccessOrder srcAccessOrder;
    unsigned int flags;
} CUDA_MEMCPY3D_BATCH_OP_v1;
typedef CUDA_MEMCPY3D_BATCH_OP_v1 CUDA_MEMCPY3D_BATCH_OP;

typedef struct CUipcEventHandle_st {
    char reserved[CU_IPC_HANDLE_SIZE];
} CUipcEventHandle_v1;
typedef CUipcEventHandle_v1 CUipcEventHandle;

typedef struct CUipcMemHandle_st {
    char reserved[CU_IPC_HANDLE_SIZE];
} CUipcMemHandle_v1;
typedef CUipcMemHandle_v1 CUipcMemHandle;

typedef struct CUexecAffinitySmCount_st {
    unsigned int val;
} CUexecAffinitySmCount_v1;
typedef CUexecAffinitySmCount_v1 CUexecAffinitySmCount;

typedef struct CUexecAffinityParam_st {
    CUexecAffinityType type;
    union {
        CUexecAffinitySmCount smCount;
    } param;
} CUexecAffinityParam_v1;
typedef CUexecAffinityParam_v1 CUexecAffinityParam;

typedef struct CUctxCigParam_st CUctxCigParam; /* graphics: not simulated */

typedef struct CUctxCreateParams_st {
    CUexecAffinityParam *execAffinityParams;
    int numExecAffinityParams;
    CUctxCigParam *cigParams;
} CUctxCreateParams;

/* The attributes that launches here use. */
typedef union CUlaunchAttributeValue_union {
    char pad[64];
    int cooperative;
    int priority;
    struct {
        unsigned int x, y, z;
    } clusterDim;
} CUlaunchAttributeValue;

typedef struct CUlaunchAttribute_st {
    CUlaunchAttributeID id;
    char pad[8 - sizeof(CUlaunchAttributeID)];
    CUlaunchAttributeValue value;
} CUlaunchAttribute;

typedef struct CUlaunchConfig_st {
    unsigned int gridDimX, gridDimY, gridDimZ;
    unsigned int blockDimX, blockDimY, blockDimZ;
    unsigned int sharedMemBytes;
    CUstream hStream;
    CUlaunchAttribute *attrs;
    unsigned int numAttrs;
} CUlaunchConfig;

typedef void(CUDA_CB *CUhostFn)(void *userData);
typedef void(CUDA_CB *CUstreamCallback)(CUstream hStream, CUresult status, void *userData);
typedef size_t(CUDA_CB *CUoccupancyB2DSize)(int blockSize);
typedef void(CUDA_CB *CUlogsCallback)(void *data, CUlogLevel logLevel, char *message, size_t length);

#include "cuda_graph.h"

#include "cuda_functions.h"

#ifdef __cplusplus
}
#endif

#endif
