/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a capture, and the dependencies of its next work. CUDA 12 has forms without edge data, CUDA 13 does not.
 * Compiled for both default streams. */
#include "rt.h"

/* The output arguments of a call. */
struct wanted {
    enum cudaStreamCaptureStatus *status;
    unsigned long long *id;
    cudaGraph_t *graph;
    const cudaGraphNode_t **nodes;
    const cudaGraphEdgeData **edges;
    size_t *count;
};

static cudaError_t capture_info(cudaStream_t stream, const struct wanted *to)
{
    CUstreamCaptureStatus found = CU_STREAM_CAPTURE_STATUS_NONE;
    cuuint64_t id = 0;
    if (!to->status)
        return cudaErrorInvalidValue;
    cudaError_t result = DRIVER(cuStreamGetCaptureInfo, stream, &found, &id, to->graph, to->nodes, to->edges, to->count);
    if (result != cudaSuccess)
        return result;
    *to->status = (enum cudaStreamCaptureStatus)found;
    if (to->id && found == CU_STREAM_CAPTURE_STATUS_ACTIVE)
        *to->id = id;
    return cudaSuccess;
}

#if CUDART_VERSION >= 13000

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
                                     unsigned long long *id_out, cudaGraph_t *graph_out,
                                     const cudaGraphNode_t **dependencies_out, const cudaGraphEdgeData **edgeData_out,
                                     size_t *numDependencies_out)
{
    RT(capture_info(stream, &(struct wanted){captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
                                             numDependencies_out}));
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                                                unsigned int flags)
{
    RT(DRIVER(cuStreamUpdateCaptureDependencies, stream, dependencies, dependencyData, numDependencies, flags));
}

#else

cudaError_t cudaStreamGetCaptureInfo(cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
                                     unsigned long long *id_out, cudaGraph_t *graph_out,
                                     const cudaGraphNode_t **dependencies_out, size_t *numDependencies_out)
{
    RT(capture_info(stream, &(struct wanted){captureStatus_out, id_out, graph_out, dependencies_out, NULL,
                                             numDependencies_out}));
}

cudaError_t cudaStreamGetCaptureInfo_v3(cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
                                        unsigned long long *id_out, cudaGraph_t *graph_out,
                                        const cudaGraphNode_t **dependencies_out, const cudaGraphEdgeData **edgeData_out,
                                        size_t *numDependencies_out)
{
    RT(capture_info(stream, &(struct wanted){captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out,
                                             numDependencies_out}));
}

cudaError_t cudaStreamUpdateCaptureDependencies(cudaStream_t stream, cudaGraphNode_t *dependencies, size_t numDependencies,
                                                unsigned int flags)
{
    RT(DRIVER(cuStreamUpdateCaptureDependencies, stream, dependencies, NULL, numDependencies, flags));
}

cudaError_t cudaStreamUpdateCaptureDependencies_v2(cudaStream_t stream, cudaGraphNode_t *dependencies,
                                                   const cudaGraphEdgeData *dependencyData, size_t numDependencies,
                                                   unsigned int flags)
{
    RT(DRIVER(cuStreamUpdateCaptureDependencies, stream, dependencies, dependencyData, numDependencies, flags));
}

/* For programs compiled with CUDA 10 and 11.2; today the header maps the name to the second form. */
#undef cudaStreamGetCaptureInfo
#pragma GCC visibility push(default)
cudaError_t CUVMM_PTSZ(cudaStreamGetCaptureInfo)(cudaStream_t, enum cudaStreamCaptureStatus *, unsigned long long *);
#pragma GCC visibility pop

cudaError_t CUVMM_PTSZ(cudaStreamGetCaptureInfo)(cudaStream_t stream, enum cudaStreamCaptureStatus *captureStatus_out,
                                                 unsigned long long *id_out)
{
    RT(capture_info(stream, &(struct wanted){.status = captureStatus_out, .id = id_out}));
}

#endif
