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

static CUresult check_captured_stream(const vmm_system *sys, vmm_stream stream)
{
    static const char name[] = "cuStreamGetCaptureInfo";
    uint64_t current;
    struct abi_query_context context;
    struct abi_query_stream found;
    if (!stream || stream == VMM_STREAM_LEGACY || stream == VMM_STREAM_PER_THREAD)
        return abi_current(sys, name, &current, &context);
    return abi_query_stream(sys, (uint64_t)(uintptr_t)stream, &found)
               ? CUDA_SUCCESS
               : abi_refuse(VMM_RULE_STREAM_UNKNOWN, name, "%p is not a stream", (void *)stream);
}

/* Whether cuInit was called comes after these. */
static CUresult refuse_early(CUstream stream, const struct wanted *to)
{
    if (!to->status)
        return abi_graph_null("cuStreamGetCaptureInfo", "captureStatus_out");
    vmm_stream known = abi_stream(stream);
    if (!known || known == VMM_STREAM_LEGACY || known == VMM_STREAM_PER_THREAD)
        return CUDA_SUCCESS;
    ABI(check_captured_stream(sys, known));
}

static CUresult tell(const vmm_system *sys, vmm_stream stream, const struct wanted *to)
{
    CUresult result = check_captured_stream(sys, stream);
    if (result == CUDA_SUCCESS)
        result = abi_capture_implicit_query(stream, "cuStreamGetCaptureInfo");
    if (result != CUDA_SUCCESS)
        return result;
    const struct abi_capture_info info = abi_capture_info(stream);
    *to->status = info.status;
    if (info.status != CU_STREAM_CAPTURE_STATUS_ACTIVE)
        return CUDA_SUCCESS;
    if (to->id)
        *to->id = info.id;
    if (to->graph)
        *to->graph = info.graph;
    if (to->edges && !to->nodes)
        return abi_graph_null("cuStreamGetCaptureInfo", "dependencies_out, and edgeData_out is not,");
    if (to->nodes)
        *to->nodes = info.nodes;
    if (to->edges)
        *to->edges = info.edges;
    if (to->count)
        *to->count = info.count;
    return CUDA_SUCCESS;
}

static CUresult answer(CUstream stream, const struct wanted *to)
{
    CUresult result = refuse_early(stream, to);
    if (result != CUDA_SUCCESS)
        return result;
    ABI_INITIALISED(tell(sys, abi_stream(stream), to));
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
    return answer(hStream, &to);
}

CUresult CUVMM_PTSZ(cuStreamGetCaptureInfo_v2)(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                               CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                               size_t *numDependencies_out)
{
    const struct wanted to = {captureStatus_out, id_out, graph_out, dependencies_out, NULL, numDependencies_out};
    return answer(hStream, &to);
}

CUresult CUVMM_PTSZ(cuStreamGetCaptureInfo_v3)(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                               CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                               const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out)
{
    const struct wanted to = {captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out, numDependencies_out};
    return answer(hStream, &to);
}
