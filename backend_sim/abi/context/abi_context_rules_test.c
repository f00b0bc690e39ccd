/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of devices, contexts and peers (rule_tests.h). */
#include "testing/rule_tests.h"

TEST_BREAKS(DEVICE_BUS, device_bus_broken)
{
    CUdevice device = 7;
    REFUSED(cuDeviceGetByPCIBusId(&device, "ffff:ff:1f.0"), ERROR_INVALID_DEVICE);
    EQUAL(device, 7);
}

TEST_NEAR_MISS(DEVICE_BUS, device_bus_kept)
{
    CUdevice device = 7;
    char id[20];
    OK(cuDeviceGetPCIBusId(id, sizeof id, 1));
    ACCEPTED(cuDeviceGetByPCIBusId(&device, id));
    EQUAL(device, 1);
}

TEST_BREAKS(CTX_ENDED, ctx_ended_broken)
{
    CUcontext ended;
    unsigned long long id = 0;
    OK(cuCtxCreate(&ended, NULL, 0, 0));
    OK(cuCtxDestroy(ended));
    REFUSED(cuCtxGetId(ended, &id), ERROR_CONTEXT_IS_DESTROYED);
    REFUSED(cuCtxSynchronize_v2(ended), ERROR_CONTEXT_IS_DESTROYED);
}

TEST_NEAR_MISS(CTX_ENDED, ctx_ended_kept)
{
    unsigned long long id = 0;
    ACCEPTED(cuCtxGetId(second, &id));
    ACCEPTED(cuCtxSynchronize_v2(second));
}

TEST_BREAKS(CTX_STACK, ctx_stack_broken)
{
    unsigned depth = 0;
    while (depth < 1000 && cuCtxPushCurrent(second) == CUDA_SUCCESS)
        depth++;
    REFUSED(cuCtxPushCurrent(second), ERROR_OUT_OF_MEMORY);
    while (depth--)
        cuCtxPopCurrent(NULL);
}

TEST_NEAR_MISS(CTX_STACK, ctx_stack_kept)
{
    ACCEPTED(cuCtxPushCurrent(second));
    ACCEPTED(cuCtxPopCurrent(NULL));
}

TEST_BREAKS(CTX_AFFINITY, ctx_affinity_broken)
{
    CUexecAffinityParam part = {.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT, .param.smCount.val = 8};
    CUcontext context = NULL;
    REFUSED(cuCtxCreate_v3(&context, &part, 1, 0, 0), ERROR_UNSUPPORTED_EXEC_AFFINITY);
    tap_ok(!context, "and no context is made");
}

TEST_NEAR_MISS(CTX_AFFINITY, ctx_affinity_kept)
{
    CUexecAffinityParam part = {.type = CU_EXEC_AFFINITY_TYPE_SM_COUNT, .param.smCount.val = 8};
    CUcontext context = NULL;
    ACCEPTED(cuCtxCreate_v3(&context, &part, 0, 0, 0));
    OK(cuCtxDestroy(context));
}

TEST_BREAKS(CTX_LIMIT_UNSUPPORTED, ctx_limit_unsupported_broken)
{
    size_t value = 0;
    REFUSED(cuCtxGetLimit(&value, CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED), ERROR_UNSUPPORTED_LIMIT);
    REFUSED(cuCtxSetLimit(CU_LIMIT_CIG_SHMEM_FALLBACK_ENABLED, 0), ERROR_UNSUPPORTED_LIMIT);
}

TEST_NEAR_MISS(CTX_LIMIT_UNSUPPORTED, ctx_limit_unsupported_kept)
{
    size_t value = 0;
    ACCEPTED(cuCtxGetLimit(&value, CU_LIMIT_CIG_ENABLED));
}

TEST_BREAKS(CTX_LIMIT_READ_ONLY, ctx_limit_read_only_broken)
{
    REFUSED(cuCtxSetLimit(CU_LIMIT_SHMEM_SIZE, 1), ERROR_NOT_PERMITTED);
}

TEST_NEAR_MISS(CTX_LIMIT_READ_ONLY, ctx_limit_read_only_kept)
{
    size_t value = 0;
    ACCEPTED(cuCtxGetLimit(&value, CU_LIMIT_SHMEM_SIZE));
    ACCEPTED(cuCtxSetLimit(CU_LIMIT_STACK_SIZE, 4096));
}

TEST_BREAKS(PEER_CONTEXT, peer_context_broken)
{
    CUcontext none = (CUcontext)(uintptr_t)0x1230;
    REFUSED(cuCtxEnablePeerAccess(none, 0), ERROR_INVALID_CONTEXT);
    REFUSED(cuMemcpyPeer(memory, first, memory + 64, none, 4), ERROR_INVALID_CONTEXT);
}

TEST_NEAR_MISS(PEER_CONTEXT, peer_context_kept)
{
    ACCEPTED(cuMemcpyPeer(memory, first, memory + 64, first, 4));
}

TEST_BREAKS(PEER_SAME, peer_same_broken)
{
    int value = 0;
    REFUSED(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 0), ERROR_INVALID_DEVICE);
}

TEST_NEAR_MISS(PEER_SAME, peer_same_kept)
{
    int value = 0;
    ACCEPTED(cuDeviceGetP2PAttribute(&value, CU_DEVICE_P2P_ATTRIBUTE_ACCESS_SUPPORTED, 0, 1));
    EQUAL(value, 1);
}

TEST_BREAKS(PEER_UNSUPPORTED, peer_unsupported_broken)
{
    REFUSED(cuCtxEnablePeerAccess(first, 0), ERROR_PEER_ACCESS_UNSUPPORTED);
}

TEST_NEAR_MISS(PEER_UNSUPPORTED, peer_unsupported_kept)
{
    ACCEPTED(cuCtxEnablePeerAccess(second, 0));
    OK(cuCtxDisablePeerAccess(second));
}

TEST_BREAKS(PEER_ENABLED, peer_enabled_broken)
{
    OK(cuCtxEnablePeerAccess(second, 0));
    REFUSED(cuCtxEnablePeerAccess(second, 0), ERROR_PEER_ACCESS_ALREADY_ENABLED);
    OK(cuCtxDisablePeerAccess(second));
}

TEST_NEAR_MISS(PEER_ENABLED, peer_enabled_kept)
{
    OK(cuCtxEnablePeerAccess(second, 0));
    OK(cuCtxDisablePeerAccess(second));
    ACCEPTED(cuCtxEnablePeerAccess(second, 0));
    OK(cuCtxDisablePeerAccess(second));
}

TEST_BREAKS(PEER_NOT_ENABLED, peer_not_enabled_broken)
{
    REFUSED(cuCtxDisablePeerAccess(second), ERROR_PEER_ACCESS_NOT_ENABLED);
}

TEST_NEAR_MISS(PEER_NOT_ENABLED, peer_not_enabled_kept)
{
    OK(cuCtxEnablePeerAccess(second, 0));
    ACCEPTED(cuCtxDisablePeerAccess(second));
}

int main(void)
{
    return rule_tests();
}
