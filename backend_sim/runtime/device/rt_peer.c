/* SPDX-License-Identifier: Apache-2.0 */
/* Peers: devices that reach each other's memory. The driver's calls take contexts, the runtime's their devices. */
#include "rt.h"

cudaError_t cudaDeviceCanAccessPeer(int *canAccessPeer, int device, int peerDevice)
{
    RT_ANYWHERE(DRIVER(cuDeviceCanAccessPeer, canAccessPeer, device, peerDevice));
}

cudaError_t cudaDeviceGetP2PAttribute(int *value, enum cudaDeviceP2PAttr attr, int srcDevice, int dstDevice)
{
    RT_ANYWHERE(DRIVER(cuDeviceGetP2PAttribute, value, (CUdevice_P2PAttribute)attr, srcDevice, dstDevice));
}

/* A device that cannot be a peer, such as the device itself. The toolkit's library returns the driver's result,
 * although the documentation names another code. */
static cudaError_t enable_peer(int peer, unsigned flags)
{
    CUcontext context = NULL;
    int device = 0, can = 0;
    cudaError_t result = flags ? cudaErrorInvalidValue : rt_device(&device);
    if (result == cudaSuccess)
        result = DRIVER(cuDeviceCanAccessPeer, &can, device, peer);
    if (result == cudaSuccess && !can)
        result = cudaErrorPeerAccessUnsupported;
    if (result == cudaSuccess)
        result = rt_primary_context(peer, &context);
    return result == cudaSuccess ? DRIVER(cuCtxEnablePeerAccess, context, flags) : result;
}

cudaError_t cudaDeviceEnablePeerAccess(int peerDevice, unsigned int flags)
{
    RT(enable_peer(peerDevice, flags));
}

/* If the peer has no primary context, none is created. */
static cudaError_t disable_peer(int peer)
{
    CUcontext context = NULL;
    CUdevice device;
    unsigned flags;
    int active = 0;
    cudaError_t result = DRIVER(cuDeviceGet, &device, peer);
    if (result == cudaSuccess)
        result = DRIVER_CORE(cuDevicePrimaryCtxGetState, device, &flags, &active);
    if (result == cudaSuccess && !active)
        result = cudaErrorPeerAccessNotEnabled;
    if (result == cudaSuccess)
        result = rt_primary_context(peer, &context);
    return result == cudaSuccess ? DRIVER(cuCtxDisablePeerAccess, context) : result;
}

cudaError_t cudaDeviceDisablePeerAccess(int peerDevice)
{
    RT(disable_peer(peerDevice));
}
