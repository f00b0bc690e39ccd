/* SPDX-License-Identifier: Apache-2.0 */
/* Copies of bytes: kinds and matching addresses, sizes, memory that the driver's API mapped, and two devices. */
#include <unistd.h>

#include "testing/memory_rig.h"

static char *device, *pinned;
static char from[64] = "from here to there", back[64];
static cudaStream_t stream;

static void test_kinds(void)
{
    OK(cudaMemcpy(device, from, 64, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(device + 64, device, 64, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpy(back, device + 64, 64, cudaMemcpyDeviceToHost));
    tap_text(back, from, "to the device, within it, and back");
    memset(back, 0, sizeof back);
    OK(cudaMemcpy(back, from, 64, cudaMemcpyHostToHost));
    tap_text(back, from, "within the host");
    OK(cudaMemset(device, 0, 128));
    OK(cudaMemcpy(device, from, 64, cudaMemcpyDefault));
    OK(cudaMemcpy(device + 64, device, 64, cudaMemcpyDefault));
    memset(back, 0, sizeof back);
    OK(cudaMemcpy(back, device + 64, 64, cudaMemcpyDefault));
    tap_text(back, from, "the kind that follows from the addresses");
}

static void test_async(void)
{
    OK(cudaMemset(device, 0, 128));
    OK(cudaMemcpyAsync(device, from, 64, cudaMemcpyHostToDevice, stream));
    OK(cudaMemcpyAsync(device + 64, device, 64, cudaMemcpyDeviceToDevice, stream));
    OK(cudaMemcpyAsync(pinned, device + 64, 64, cudaMemcpyDeviceToHost, stream));
    OK(cudaMemcpyAsync(pinned + 64, pinned, 64, cudaMemcpyHostToHost, stream));
    OK(cudaDeviceSynchronize());
    tap_text(pinned + 64, from, "the same in a stream");
    OK(cudaMemcpyAsync(device + 128, pinned, 64, cudaMemcpyDefault, NULL));
    OK(cudaDeviceSynchronize());
    EQUAL(byte_of(device + 128), 'f');
    REFUSED(cudaMemcpyAsync(device, from, 64, (enum cudaMemcpyKind)5, stream), ErrorInvalidMemcpyDirection);
    REFUSED(cudaMemcpyAsync(device, from, 64, (enum cudaMemcpyKind)-1, stream), ErrorInvalidMemcpyDirection);
}

/* A pageable source is read before the call returns, a pageable destination written. */
static void test_pageable(void)
{
    char source[64] = "gone at once";
    OK(cudaMemcpyAsync(device, source, 64, cudaMemcpyHostToDevice, stream));
    memset(source, 'x', sizeof source);
    memset(back, 0, sizeof back);
    OK(cudaMemcpyAsync(back, device, 64, cudaMemcpyDeviceToHost, stream));
    tap_text(back, "gone at once", "pageable memory is not accessed after the call has returned");
}

/* The driver decides: it refuses a wrong kind if it can tell; it accepts device addresses as host addresses. */
static void test_wrong_kinds(void)
{
    OK(cudaMemset(device, 0, 128));
    REFUSED(cudaMemcpy(device, from, 64, (enum cudaMemcpyKind)5), ErrorInvalidMemcpyDirection);
    REFUSED(cudaMemcpy(device, from, 64, (enum cudaMemcpyKind)-1), ErrorInvalidMemcpyDirection);
    REFUSED(cudaMemcpy(device, from, 64, cudaMemcpyDeviceToHost), ErrorInvalidValue);
    REFUSED(cudaMemcpy(device, from, 64, cudaMemcpyDeviceToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpy(back, from, 64, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpy(back, device, 64, cudaMemcpyHostToDevice), ErrorInvalidValue);
    EQUAL(byte_of(device), 0);
    OK(cudaMemset(device, 0x41, 64));
    OK(cudaMemcpy(device + 64, device, 64, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(pinned, device + 64, 64, cudaMemcpyDeviceToDevice));
    EQUAL(pinned[63], 0x41);
}

static void test_addresses(void)
{
    REFUSED(cudaMemcpy(NULL, from, 64, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpy(NULL, device, 64, cudaMemcpyDeviceToHost), ErrorInvalidValue);
    REFUSED(cudaMemcpy(device, NULL, 64, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpy(device, NULL, 64, cudaMemcpyDefault), ErrorInvalidValue);
    OK(cudaMemcpy(NULL, NULL, 0, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(device, from, 0, cudaMemcpyDefault));
    OK(cudaMemcpy(device, from, 0, (enum cudaMemcpyKind)9));
    OK(cudaMemcpyAsync(device, from, 0, cudaMemcpyDefault, (cudaStream_t)(uintptr_t)0x77));
    REFUSED(cudaMemcpy(device, from, 1, (enum cudaMemcpyKind)9), ErrorInvalidMemcpyDirection);
}

static void test_mapped(void)
{
    CUmemGenericAllocationHandle handle = 0;
    char *at = mapped(0, RT_G, &handle);
    OK(cudaMemcpy(at + RT_G - 64, from, 64, cudaMemcpyHostToDevice));
    OK(cudaMemcpy(device, at + RT_G - 64, 64, cudaMemcpyDeviceToDevice));
    OK(cudaMemcpyAsync(at, device, 64, cudaMemcpyDefault, stream));
    memset(back, 0, sizeof back);
    OK(cudaMemcpy(back, at, 64, cudaMemcpyDeviceToHost));
    OK(cudaDeviceSynchronize());
    OK(cudaMemcpy(back, at, 64, cudaMemcpyDeviceToHost));
    tap_text(back, from, "memory of cuMemMap is memory of the device");
    REFUSED(cudaMemcpy(at + RT_G - 63, from, 64, cudaMemcpyHostToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpy(device, at, RT_G + 1, cudaMemcpyDeviceToDevice), ErrorInvalidValue);
    REFUSED(cudaMemcpy(at + RT_G, from, 1, cudaMemcpyHostToDevice), ErrorInvalidValue);
    unmapped(at, RT_G, handle);
    REFUSED(cudaMemcpy(at, from, 64, cudaMemcpyHostToDevice), ErrorInvalidValue);
}

static void test_peers(void)
{
    char *there = NULL;
    CUmemGenericAllocationHandle handle = 0;
    OK(cudaSetDevice(1));
    OK(cudaMalloc((void **)&there, 128));
    OK(cudaSetDevice(0));
    OK(cudaMemcpy(device, from, 64, cudaMemcpyHostToDevice));
    OK(cudaMemcpyPeer(there, 1, device, 0, 64));
    OK(cudaDeviceSynchronize());
    memset(back, 0, sizeof back);
    OK(cudaMemcpy(back, there, 64, cudaMemcpyDeviceToHost));
    tap_text(back, from, "to the other device");
    OK(cudaMemcpyPeerAsync(device + 64, 0, there, 1, 64, stream));
    OK(cudaDeviceSynchronize());
    EQUAL(byte_of(device + 64), 'f');
    char *at = mapped(1, RT_G, &handle);
    OK(cudaMemcpyPeer(at, 1, device, 0, 64));
    OK(cudaMemcpyPeer(device + 128, 0, at, 1, 64));
    OK(cudaDeviceSynchronize());
    EQUAL(byte_of(device + 128), 'f');
    unmapped(at, RT_G, handle);
    REFUSED(cudaMemcpyPeer(there, 2, device, 0, 64), ErrorInvalidDevice);
    REFUSED(cudaMemcpyPeer(there, 1, device, -1, 64), ErrorInvalidDevice);
    REFUSED(cudaMemcpyPeerAsync(there, -1, device, 0, 64, stream), ErrorInvalidDevice);
    REFUSED(cudaMemcpyPeerAsync(there, 1, device, 64, 64, stream), ErrorInvalidDevice);
    REFUSED(cudaMemcpyPeer(NULL, 1, device, 0, 64), ErrorInvalidValue);
    REFUSED(cudaMemcpyPeer(there, 1, NULL, 0, 64), ErrorInvalidValue);
    REFUSED(cudaMemcpyPeer(there, 1, device, 0, RT_G + 1), ErrorInvalidValue);
    OK(cudaFree(there));
}

int main(void)
{
    alarm(60);
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    OK(cudaMalloc((void **)&device, 2 * RT_G));
    OK(cudaMallocHost((void **)&pinned, 128));
    EQUAL(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING), CUDA_SUCCESS);
    test_kinds();
    test_async();
    test_pageable();
    test_wrong_kinds();
    test_addresses();
    test_mapped();
    test_peers();
    EQUAL(cuStreamDestroy(stream), CUDA_SUCCESS);
    OK(cudaFreeHost(pinned));
    OK(cudaFree(device));
    return tap_done();
}
