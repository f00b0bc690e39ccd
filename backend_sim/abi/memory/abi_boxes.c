/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of boxes, within a context and between two. Compiled for both default streams. */
#include <string.h>

#include "abi.h"
#include "abi_capture_copy.h"
#include "abi_peer_copy.h"
#include "abi_rows.h"
#include "abi_sync.h"

static struct abi_box box_of(const char *function, const CUDA_MEMCPY3D *c)
{
    return (struct abi_box){
        .function = function, .width = c->WidthInBytes, .height = c->Height, .depth = c->Depth,
        .from = {c->srcMemoryType, c->srcDevice, c->srcHost, c->srcXInBytes, c->srcY, c->srcZ, c->srcPitch, c->srcHeight},
        .to = {c->dstMemoryType, c->dstDevice, c->dstHost, c->dstXInBytes, c->dstY, c->dstZ, c->dstPitch, c->dstHeight}};
}

static CUresult copy_box(vmm_system *sys, const CUDA_MEMCPY3D *c, vmm_stream stream, bool waits)
{
    static const char name[] = "cuMemcpy3D";
    if (!c)
        return abi_null(name, "pCopy");
    const struct abi_box box = box_of(name, c);
    return abi_copy_box(sys, &box, stream, waits);
}

CUresult cuMemcpy3D(const CUDA_MEMCPY3D *pCopy)
{
    ABI_INITIALISED(copy_box(sys, pCopy, ABI_SYNC_STREAM, true));
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
    ABI_OR_CAPTURE(hStream, abi_capture_box(sys, __func__, captured_, pCopy));
    ABI_INITIALISED(copy_box(sys, pCopy, abi_stream(hStream), false));
}

/* ---- between contexts: the rights are those of each side's ---- */

static CUresult copy_between(vmm_system *sys, const CUDA_MEMCPY3D_PEER *c, vmm_stream stream, bool waits)
{
    static const char name[] = "cuMemcpy3DPeer";
    CUDA_MEMCPY3D box;
    uint64_t current;
    struct abi_query_context context;
    CUresult result = abi_current(sys, name, &current, &context);
    if (!c)
        return abi_null(name, "pCopy");
    if (result == CUDA_SUCCESS || stream)
        result = abi_peer_contexts(sys, name, c->dstContext, c->srcContext);
    if (result != CUDA_SUCCESS)
        return result;
    _Static_assert(sizeof box == sizeof *c, "the same fields, but contexts for reserved ones");
    memcpy(&box, c, sizeof box);
    const struct abi_box asked = box_of(name, &box);
    return abi_copy_box(sys, &asked, stream, waits);
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy)
{
    ABI_INITIALISED(copy_between(sys, pCopy, ABI_SYNC_STREAM, true));
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream);
    ABI_INITIALISED(copy_between(sys, pCopy, abi_stream(hStream), false));
}
