/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of boxes, within a context and between two: these entry points call the functions of the same name in this project's API.
 * Compiled for both default streams. */
#include "abi.h"
#include "abi_capture_copy.h"
#include "abi_sync.h"

static const vmm_memcpy3d *box_of(const CUDA_MEMCPY3D *copy)
{
    return (const vmm_memcpy3d *)(const void *)copy;
}

static const vmm_memcpy3d_peer *peer_box_of(const CUDA_MEMCPY3D_PEER *copy)
{
    return (const vmm_memcpy3d_peer *)(const void *)copy;
}

CUresult cuMemcpy3D(const CUDA_MEMCPY3D *pCopy)
{
    ABI(ABI_SYNC(memcpy_3d, box_of(pCopy)));
}

CUresult cuMemcpy3DAsync(const CUDA_MEMCPY3D *pCopy, CUstream hStream)
{
    ABI_OR_CAPTURE(hStream, abi_capture_box(__func__, captured_, pCopy));
    ABI(vmm_memcpy_3d_async(sys, box_of(pCopy), abi_stream(hStream)));
}

CUresult cuMemcpy3DPeer(const CUDA_MEMCPY3D_PEER *pCopy)
{
    ABI(ABI_SYNC(memcpy_3d_peer, peer_box_of(pCopy)));
}

CUresult cuMemcpy3DPeerAsync(const CUDA_MEMCPY3D_PEER *pCopy, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream);
    ABI(vmm_memcpy_3d_peer_async(sys, peer_box_of(pCopy), abi_stream(hStream)));
}
