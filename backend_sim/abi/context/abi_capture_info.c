/* SPDX-License-Identifier: Apache-2.0 */
/* What a capture tells about itself, in three versions. Compiled for both default streams. */
#include "abi.h"
#include "abi_capture.h"

#undef cuStreamGetCaptureInfo

/* Where a call wants the answers; all but the status may be NULL. */
struct wanted {
    CUstreamCaptureStatus *status;
    cuuint64_t *id;
    CUgraph *graph;
    const CUgraphNode **nodes;
    const CUgraphEdgeData **edges;
    size_t *count;
};

static CUresult tell(const vmm_system *sys, vmm_stream stream, const struct wanted *to)
{
    (void)sys;
    if (!to->status)
        return abi_null("cuStreamGetCaptureInfo", "captureStatus_out");
    const struct abi_capture_info info = abi_capture_info(stream);
    *to->status = info.status;
    if (info.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_SUCCESS;
    if (to->id)
        *to->id = info.id;
    if (to->graph)
        *to->graph = info.graph;
    if (to->edges && !to->nodes)
        return abi_null("cuStreamGetCaptureInfo", "dependencies_out");
    if (to->nodes)
        *to->nodes = info.nodes;
    if (to->edges)
        *to->edges = info.edges;
    if (to->count)
        *to->count = info.count;
    return CUDA_SUCCESS;
}

#pragma GCC visibility push(default)
CUresult CUVMM_PTSZ(cuStreamGetCaptureInfo)(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out);
CUresult CUVMM_PTSZ(cuStreamGetCaptureInfo_v2)(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                               CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                               size_t *numDependencies_out);
#pragma GCC visibility pop

CUresult CUVMM_PTSZ(cuStreamGetCaptureInfo)(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out)
{
    const struct wanted to = {.status = captureStatus_out, .id = id_out};
    ABI_INITIALISED(tell(sys, abi_stream(hStream), &to));
}

CUresult CUVMM_PTSZ(cuStreamGetCaptureInfo_v2)(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                               CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                               size_t *numDependencies_out)
{
    const struct wanted to = {captureStatus_out, id_out, graph_out, dependencies_out, NULL, numDependencies_out};
    ABI_INITIALISED(tell(sys, abi_stream(hStream), &to));
}

CUresult CUVMM_PTSZ(cuStreamGetCaptureInfo_v3)(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                               CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                               const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out)
{
    const struct wanted to = {captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out, numDependencies_out};
    ABI_INITIALISED(tell(sys, abi_stream(hStream), &to));
}
