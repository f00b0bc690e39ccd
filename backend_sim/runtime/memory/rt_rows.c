/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of rows and boxes, on one device and between two. Compiled for both default streams.
 *
 *     kind         HostToDevice           Default
 *     the driver   HOST -> DEVICE         UNIFIED -> UNIFIED: it tells host from device by the address
 *
 * A pitch shorter than a row, where there is a second row, and layers of fewer rows than are copied are reported by
 * the runtime itself; the driver checks everything else. Copies nothing, regardless of the other arguments.
 *
 * Source: CUDA Runtime API, version 13.0: 6.9 Memory Management. */
#include "rt_address.h"
#include "rt_layers.h"

static cudaError_t rows_of(CUDA_MEMCPY2D *copy, void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                           enum cudaMemcpyKind kind)
{
    *copy = (CUDA_MEMCPY2D){.srcHost = src, .srcDevice = rt_address(src), .srcPitch = spitch, .dstHost = dst,
                            .dstDevice = rt_address(dst), .dstPitch = dpitch, .WidthInBytes = width, .Height = height};
    if (height > 1 && (width > dpitch || width > spitch))
        return cudaErrorInvalidPitchValue;
    return rt_sides(kind, &copy->srcMemoryType, &copy->dstMemoryType) ? cudaSuccess : cudaErrorInvalidMemcpyDirection;
}

static cudaError_t copy_rows(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                             enum cudaMemcpyKind kind)
{
    CUDA_MEMCPY2D copy;
    if (!width || !height)
        return cudaSuccess;
    cudaError_t result = rows_of(&copy, dst, dpitch, src, spitch, width, height, kind);
    return result == cudaSuccess ? DRIVER(cuMemcpy2DUnaligned, &copy) : result;
}

static cudaError_t copy_rows_async(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                                   enum cudaMemcpyKind kind, cudaStream_t stream)
{
    CUDA_MEMCPY2D copy;
    if (!width || !height)
        return cudaSuccess;
    cudaError_t result = rows_of(&copy, dst, dpitch, src, spitch, width, height, kind);
    return result == cudaSuccess ? DRIVER(cuMemcpy2DAsync, &copy, stream) : result;
}

cudaError_t cudaMemcpy2D(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                         enum cudaMemcpyKind kind)
{
    RT(copy_rows(dst, dpitch, src, spitch, width, height, kind));
}

cudaError_t cudaMemcpy2DAsync(void *dst, size_t dpitch, const void *src, size_t spitch, size_t width, size_t height,
                              enum cudaMemcpyKind kind, cudaStream_t stream)
{
    RT(copy_rows_async(dst, dpitch, src, spitch, width, height, kind, stream));
}

static bool is_nothing(const struct cudaMemcpy3DParms *p)
{
    return p && (!p->extent.width || !p->extent.height || !p->extent.depth);
}

static cudaError_t copy_layers(const struct cudaMemcpy3DParms *p)
{
    CUDA_MEMCPY3D copy;
    if (is_nothing(p))
        return cudaSuccess;
    cudaError_t result = p ? rt_layers(p, &copy) : cudaErrorInvalidValue;
    return result == cudaSuccess ? DRIVER(cuMemcpy3D, &copy) : result;
}

static cudaError_t copy_layers_async(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    CUDA_MEMCPY3D copy;
    if (is_nothing(p))
        return cudaSuccess;
    cudaError_t result = p ? rt_layers(p, &copy) : cudaErrorInvalidValue;
    return result == cudaSuccess ? DRIVER(cuMemcpy3DAsync, &copy, stream) : result;
}

cudaError_t cudaMemcpy3D(const struct cudaMemcpy3DParms *p)
{
    RT(copy_layers(p));
}

cudaError_t cudaMemcpy3DAsync(const struct cudaMemcpy3DParms *p, cudaStream_t stream)
{
    RT(copy_layers_async(p, stream));
}

/* The same between two devices: the addresses identify the devices, and the contexts are the runtime's. */
static cudaError_t peers_of(CUDA_MEMCPY3D_PEER *copy, const struct cudaMemcpy3DPeerParms *p)
{
    CUcontext from = NULL, to = NULL;
    CUDA_MEMCPY3D one;
    if (!p)
        return cudaErrorInvalidValue;
    const struct cudaMemcpy3DParms params = {p->srcArray, p->srcPos, p->srcPtr, p->dstArray, p->dstPos, p->dstPtr, p->extent, cudaMemcpyDefault};
    cudaError_t result = rt_primary_context(p->srcDevice, &from);
    if (result == cudaSuccess)
        result = rt_primary_context(p->dstDevice, &to);
    if (result == cudaSuccess)
        result = rt_layers(&params, &one);
    if (result == cudaSuccess)
        *copy = (CUDA_MEMCPY3D_PEER){
            .srcXInBytes = one.srcXInBytes, .srcY = one.srcY, .srcZ = one.srcZ, .srcMemoryType = one.srcMemoryType,
            .srcDevice = one.srcDevice, .srcArray = one.srcArray, .srcContext = from, .srcPitch = one.srcPitch,
            .srcHeight = one.srcHeight, .dstXInBytes = one.dstXInBytes, .dstY = one.dstY, .dstZ = one.dstZ,
            .dstMemoryType = one.dstMemoryType, .dstDevice = one.dstDevice, .dstArray = one.dstArray, .dstContext = to,
            .dstPitch = one.dstPitch, .dstHeight = one.dstHeight, .WidthInBytes = one.WidthInBytes, .Height = one.Height,
            .Depth = one.Depth};
    return result;
}

static cudaError_t copy_peer_layers(const struct cudaMemcpy3DPeerParms *p)
{
    CUDA_MEMCPY3D_PEER copy;
    cudaError_t result = peers_of(&copy, p);
    return result == cudaSuccess ? DRIVER(cuMemcpy3DPeer, &copy) : result;
}

static cudaError_t copy_peer_layers_async(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    CUDA_MEMCPY3D_PEER copy;
    cudaError_t result = peers_of(&copy, p);
    return result == cudaSuccess ? DRIVER(cuMemcpy3DPeerAsync, &copy, stream) : result;
}

cudaError_t cudaMemcpy3DPeer(const struct cudaMemcpy3DPeerParms *p)
{
    RT(copy_peer_layers(p));
}

cudaError_t cudaMemcpy3DPeerAsync(const struct cudaMemcpy3DPeerParms *p, cudaStream_t stream)
{
    RT(copy_peer_layers_async(p, stream));
}
