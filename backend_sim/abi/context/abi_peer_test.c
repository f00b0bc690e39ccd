/* SPDX-License-Identifier: Apache-2.0 */
/* Peer access between contexts through libcuda.so.1. */
#include "testing/rig.h"

int main(void)
{
    CUcontext first, second;
    CUdeviceptr at = 0;
    CUmodule module;
    CUfunction fill;
    uint64_t n = 100;
    uint8_t value = 3;
    unsigned rights = 9;
    void *params[] = {&at, &n, &value};
    setenv("CUVMM_SIM", "sim:h200x2", 1);
    setenv("CUVMM_KERNELS", ABI_TEST_KERNELS, 1);
    OK(cuInit(0));
    OK(cuDevicePrimaryCtxRetain(&first, 0));
    OK(cuDevicePrimaryCtxRetain(&second, 1));
    IS(cuCtxEnablePeerAccess(second, 0), ERROR_INVALID_CONTEXT);
    OK(cuCtxSetCurrent(second));
    OK(cuMemAlloc(&at, 4096));
    OK(cuMemsetD8(at, 0, 4096));
    OK(cuCtxSetCurrent(first));
    IS(cuCtxDisablePeerAccess(second), ERROR_PEER_ACCESS_NOT_ENABLED);
    IS(cuCtxEnablePeerAccess(first, 0), ERROR_PEER_ACCESS_UNSUPPORTED);
    IS(cuCtxEnablePeerAccess(second, 1), ERROR_INVALID_VALUE);
    IS(cuCtxEnablePeerAccess((CUcontext)&n, 0), ERROR_INVALID_CONTEXT);
    IS(cuMemsetD8(at, 1, 1), ERROR_INVALID_VALUE);
    OK(cuCtxEnablePeerAccess(second, 0));
    IS(cuCtxEnablePeerAccess(second, 0), ERROR_PEER_ACCESS_ALREADY_ENABLED);
    OK(cuPointerGetAttribute(&rights, CU_POINTER_ATTRIBUTE_ACCESS_FLAGS, at));
    EQUAL(rights, 3);
    OK(cuMemsetD8(at, 1, 1));
    OK(cuModuleLoadData(&module, "image"));
    OK(cuModuleGetFunction(&fill, module, "fill_span"));
    OK(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    OK(cuCtxSynchronize());
    EQUAL(byte_at(at + 99), 3);
    OK(cuCtxDisablePeerAccess(second));
    OK(cuLaunchKernel(fill, 1, 1, 1, 1, 1, 1, 0, NULL, params, NULL));
    IS(cuCtxSynchronize(), ERROR_ILLEGAL_ADDRESS);
    return tap_done();
}
