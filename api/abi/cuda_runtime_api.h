/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_runtime_api.h - the part of the CUDA runtime's ABI that cuvmm's libcudart implements, for machines without the toolkit.
 *
 *     cc -I<prefix>/include/cuvmm/abi program.c -lcudart      with this header instead of the toolkit's
 *
 * Written from the facts of the ABI: names, numbers, layouts. It declares exactly what the libraries implement; if the toolkit is
 * installed, use its header instead. Tests compare everything with the toolkit's header: numbers, sizes, offsets and prototypes.
 *
 * As in the toolkit's header, CUDA_API_PER_THREAD_DEFAULT_STREAM selects the forms whose stream 0 is the thread's own. Define
 * CUDART_VERSION as 12090 before including it for the signatures of CUDA 12.
 *
 * runtime/X_types.h has the types of a subject, runtime/X.h its functions and nothing else.
 */
#ifndef CUVMM_ABI_CUDA_RUNTIME_API_H
#define CUVMM_ABI_CUDA_RUNTIME_API_H
#define __CUDA_RUNTIME_API_H__ /* the toolkit's include guard: only one of the two headers may be used */

#ifndef CUDART_VERSION
#define CUDART_VERSION 13000
#endif
#if CUDART_VERSION < 13000 && !defined CUDA_VERSION
#define CUDA_VERSION CUDART_VERSION
#endif

#include "cuda.h"

/* Names whose form depends on the default stream; cuda.h defines CUVMM_PTSZ and CUVMM_PTDS. */
/* memory */
#define cudaMemcpy CUVMM_PTDS(cudaMemcpy)
#define cudaMemcpy2D CUVMM_PTDS(cudaMemcpy2D)
#define cudaMemcpy3D CUVMM_PTDS(cudaMemcpy3D)
#define cudaMemcpy3DPeer CUVMM_PTDS(cudaMemcpy3DPeer)
#define cudaMemset CUVMM_PTDS(cudaMemset)
#define cudaMemset2D CUVMM_PTDS(cudaMemset2D)
#define cudaMemset3D CUVMM_PTDS(cudaMemset3D)
#define cudaMemcpyAsync CUVMM_PTSZ(cudaMemcpyAsync)
#define cudaMemcpy2DAsync CUVMM_PTSZ(cudaMemcpy2DAsync)
#define cudaMemcpy3DAsync CUVMM_PTSZ(cudaMemcpy3DAsync)
#define cudaMemcpy3DPeerAsync CUVMM_PTSZ(cudaMemcpy3DPeerAsync)
#define cudaMemcpyBatchAsync CUVMM_PTSZ(cudaMemcpyBatchAsync)
#define cudaMemcpy3DBatchAsync CUVMM_PTSZ(cudaMemcpy3DBatchAsync)
#define cudaMemsetAsync CUVMM_PTSZ(cudaMemsetAsync)
#define cudaMemset2DAsync CUVMM_PTSZ(cudaMemset2DAsync)
#define cudaMemset3DAsync CUVMM_PTSZ(cudaMemset3DAsync)
#define cudaMallocAsync CUVMM_PTSZ(cudaMallocAsync)
#define cudaMallocFromPoolAsync CUVMM_PTSZ(cudaMallocFromPoolAsync)
#define cudaFreeAsync CUVMM_PTSZ(cudaFreeAsync)
#define cudaStreamAttachMemAsync CUVMM_PTSZ(cudaStreamAttachMemAsync)
#define cudaMemPrefetchAsync CUVMM_PTSZ(cudaMemPrefetchAsync)
#if CUDART_VERSION >= 13000
#define cudaMemPrefetchBatchAsync CUVMM_PTSZ(cudaMemPrefetchBatchAsync)
#define cudaMemDiscardBatchAsync CUVMM_PTSZ(cudaMemDiscardBatchAsync)
#define cudaMemDiscardAndPrefetchBatchAsync CUVMM_PTSZ(cudaMemDiscardAndPrefetchBatchAsync)
#else
#define cudaMemPrefetchAsync_v2 CUVMM_PTSZ(cudaMemPrefetchAsync_v2)
#endif

/* arrays */
#define cudaMemcpy2DToArray CUVMM_PTDS(cudaMemcpy2DToArray)
#define cudaMemcpy2DFromArray CUVMM_PTDS(cudaMemcpy2DFromArray)
#define cudaMemcpy2DArrayToArray CUVMM_PTDS(cudaMemcpy2DArrayToArray)
#define cudaMemcpyToArray CUVMM_PTDS(cudaMemcpyToArray)
#define cudaMemcpyFromArray CUVMM_PTDS(cudaMemcpyFromArray)
#define cudaMemcpyArrayToArray CUVMM_PTDS(cudaMemcpyArrayToArray)
#define cudaMemcpy2DToArrayAsync CUVMM_PTSZ(cudaMemcpy2DToArrayAsync)
#define cudaMemcpy2DFromArrayAsync CUVMM_PTSZ(cudaMemcpy2DFromArrayAsync)
#define cudaMemcpyToArrayAsync CUVMM_PTSZ(cudaMemcpyToArrayAsync)
#define cudaMemcpyFromArrayAsync CUVMM_PTSZ(cudaMemcpyFromArrayAsync)

/* streams */
#define cudaStreamGetPriority CUVMM_PTSZ(cudaStreamGetPriority)
#define cudaStreamGetFlags CUVMM_PTSZ(cudaStreamGetFlags)
#define cudaStreamGetId CUVMM_PTSZ(cudaStreamGetId)
#define cudaStreamGetDevice CUVMM_PTSZ(cudaStreamGetDevice)
#define cudaStreamQuery CUVMM_PTSZ(cudaStreamQuery)
#define cudaStreamSynchronize CUVMM_PTSZ(cudaStreamSynchronize)
#define cudaStreamWaitEvent CUVMM_PTSZ(cudaStreamWaitEvent)
#define cudaStreamAddCallback CUVMM_PTSZ(cudaStreamAddCallback)
#define cudaLaunchHostFunc CUVMM_PTSZ(cudaLaunchHostFunc)
#define cudaEventRecord CUVMM_PTSZ(cudaEventRecord)
#define cudaEventRecordWithFlags CUVMM_PTSZ(cudaEventRecordWithFlags)
#define cudaStreamBeginCapture CUVMM_PTSZ(cudaStreamBeginCapture)
#define cudaStreamBeginCaptureToGraph CUVMM_PTSZ(cudaStreamBeginCaptureToGraph)
#define cudaStreamEndCapture CUVMM_PTSZ(cudaStreamEndCapture)
#define cudaStreamIsCapturing CUVMM_PTSZ(cudaStreamIsCapturing)
#define cudaStreamUpdateCaptureDependencies CUVMM_PTSZ(cudaStreamUpdateCaptureDependencies)
#if CUDART_VERSION >= 13000
#define cudaStreamGetCaptureInfo CUVMM_PTSZ(cudaStreamGetCaptureInfo)
#else
#define cudaStreamGetCaptureInfo CUVMM_PTSZ(cudaStreamGetCaptureInfo_v2)
#define cudaStreamGetCaptureInfo_v3 CUVMM_PTSZ(cudaStreamGetCaptureInfo_v3)
#define cudaStreamUpdateCaptureDependencies_v2 CUVMM_PTSZ(cudaStreamUpdateCaptureDependencies_v2)
#endif

/* graphs */
#define cudaGraphInstantiateWithParams CUVMM_PTSZ(cudaGraphInstantiateWithParams)
#define cudaGraphLaunch CUVMM_PTSZ(cudaGraphLaunch)
#define cudaGraphUpload CUVMM_PTSZ(cudaGraphUpload)

/* code */
#define __cudaLaunchKernel CUVMM_PTSZ(__cudaLaunchKernel)
#define cudaLaunchKernel CUVMM_PTSZ(cudaLaunchKernel)
#define cudaLaunchKernelExC CUVMM_PTSZ(cudaLaunchKernelExC)
#define cudaLaunchCooperativeKernel CUVMM_PTSZ(cudaLaunchCooperativeKernel)
#define cudaMemcpyToSymbol CUVMM_PTDS(cudaMemcpyToSymbol)
#define cudaMemcpyFromSymbol CUVMM_PTDS(cudaMemcpyFromSymbol)
#define cudaMemcpyToSymbolAsync CUVMM_PTSZ(cudaMemcpyToSymbolAsync)
#define cudaMemcpyFromSymbolAsync CUVMM_PTSZ(cudaMemcpyFromSymbolAsync)

/* devices */
#define cudaGetDriverEntryPoint CUVMM_PTSZ(cudaGetDriverEntryPoint)
#define cudaGetDriverEntryPointByVersion CUVMM_PTSZ(cudaGetDriverEntryPointByVersion)
#if CUDART_VERSION < 13000
#define cudaGetDeviceProperties cudaGetDeviceProperties_v2 /* that without _v2 is of CUDA 11 */
#endif

#ifdef __cplusplus
extern "C" {
#endif

#define CU_ENUM(name) enum name {
#define CU_VALUE(name, value) name = value,
#define CU_ENUM_END(name) name##_force_int = 0x7fffffff };
#include "runtime/values.def"

typedef enum cudaError cudaError_t;
typedef CUstream cudaStream_t;
typedef CUevent cudaEvent_t;
typedef CUgraph cudaGraph_t;
typedef CUgraphNode cudaGraphNode_t;
typedef CUmemoryPool cudaMemPool_t;
typedef CUuuid cudaUUID_t;

#include "runtime/device_types.h"
#include "runtime/array_types.h"
#include "runtime/memory_types.h"
#include "runtime/stream_types.h"
#include "runtime/code_types.h"
#include "runtime/graph_types.h"

#include "runtime/device.h"
#include "runtime/memory.h"
#include "runtime/array.h"
#include "runtime/stream.h"
#include "runtime/code.h"
#include "runtime/graph.h"

#ifdef __cplusplus
}
#endif

#endif
