/* SPDX-License-Identifier: Apache-2.0 */
/* The state of a capture, in three versions. Compiled for both default streams. */
#include "abi.h"
#include "abi_capture.h"

#undef cuStreamGetCaptureInfo

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

/* These are checked before cuInit is. */
static CUresult refuse_early(CUstream stream, const CUstreamCaptureStatus *status)
{
    if (!status)
        return abi_graph_null("cuStreamGetCaptureInfo", "captureStatus_out");
    vmm_stream known = abi_stream(stream);
    if (!known || known == VMM_STREAM_LEGACY || known == VMM_STREAM_PER_THREAD)
        return CUDA_SUCCESS;
    ABI(check_captured_stream(sys, known));
}

static CUresult tell(const vmm_system *sys, const struct vmm_call_stream_get_capture_info *to)
{
    CUresult result = check_captured_stream(sys, to->stream);
    if (result == CUDA_SUCCESS)
        result = abi_capture_implicit_query(to->stream, "cuStreamGetCaptureInfo");
    if (result != CUDA_SUCCESS)
        return result;
    const struct capture_info info = abi_capture_info(to->stream);
    const vmm_result told = capture_info_tell(&info, to);
    return told == VMM_SUCCESS ? CUDA_SUCCESS : abi_refused(told, "cuStreamGetCaptureInfo");
}

static CUresult answer(CUstream stream, CUstreamCaptureStatus *status, cuuint64_t *id, CUgraph *graph, const CUgraphNode **nodes,
                       const CUgraphEdgeData **edges, size_t *count)
{
    CUresult result = refuse_early(stream, status);
    const struct vmm_call_stream_get_capture_info to = {
        .stream = abi_stream(stream), .capture_status_out = (vmm_stream_capture_status *)(void *)status, .id_out = (uint64_t *)(void *)id,
        .graph_out = (vmm_graph *)(void *)graph, .dependencies_out = (const vmm_graph_node **)(void *)nodes,
        .edge_data_out = (const vmm_graph_edge_data **)(void *)edges, .num_dependencies_out = (uint64_t *)(void *)count};
    if (result != CUDA_SUCCESS)
        return result;
    ABI_INITIALISED(tell(sys, &to));
}

#pragma GCC visibility push(default)
CUresult CUVMM_PTSZ(cuStreamGetCaptureInfo)(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out);
CUresult CUVMM_PTSZ(cuStreamGetCaptureInfo_v2)(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                               CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                               size_t *numDependencies_out);
#pragma GCC visibility pop

CUresult CUVMM_PTSZ(cuStreamGetCaptureInfo)(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out)
{
    return answer(hStream, captureStatus_out, id_out, NULL, NULL, NULL, NULL);
}

CUresult CUVMM_PTSZ(cuStreamGetCaptureInfo_v2)(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                               CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                               size_t *numDependencies_out)
{
    return answer(hStream, captureStatus_out, id_out, graph_out, dependencies_out, NULL, numDependencies_out);
}

CUresult CUVMM_PTSZ(cuStreamGetCaptureInfo_v3)(CUstream hStream, CUstreamCaptureStatus *captureStatus_out, cuuint64_t *id_out,
                                               CUgraph *graph_out, const CUgraphNode **dependencies_out,
                                               const CUgraphEdgeData **edgeData_out, size_t *numDependencies_out)
{
    return answer(hStream, captureStatus_out, id_out, graph_out, dependencies_out, edgeData_out, numDependencies_out);
}
