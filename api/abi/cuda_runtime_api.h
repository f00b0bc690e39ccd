/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_runtime_api.h - the part of the CUDA runtime's ABI that cuvmm's libcudart implements, for machines without the toolkit.
 *
 *     cc -I<prefix>/include/cuvmm/abi program.c -lcudart      with this header instead of the toolkit's
 *
 * Written from the facts of the ABI: names, numbers, layouts. It declares exactly what the libraries implement; if the toolkit is
 * installed, use its header instead. Tests compare everything with the toolkit's header: numbers, sizes, offsets and prototypes.
 *
 * As with the toolkit's, CUDA_API_PER_THREAD_DEFAULT_STREAM selects the forms whose stream 0 is the thread's own. Define
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
#define cudaMemcpyAsync CUVMM_PTSZ(cudaMemcpyAsync)

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
#include "runtime/memory_types.h"
#include "runtime/stream_types.h"
#include "runtime/graph_types.h"
#include "runtime/code_types.h"

#include "runtime/device.h"
#include "runtime/memory.h"
#include "runtime/stream.h"
#include "runtime/graph.h"
#include "runtime/code.h"

#ifdef __cplusplus
}
#endif

#endif
