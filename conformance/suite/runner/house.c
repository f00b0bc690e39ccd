/* SPDX-License-Identifier: Apache-2.0 */
#include "house.h"

#include <stddef.h>

#include "fixture.h"

#define WARM_BYTES (UINT64_C(2) << 20)
#define STACK_MAX 64

vmm_result house_open(struct fix_house *house, const char *spec)
{
    return vmm_open(spec, &house->sys);
}

/* A driver loads its copy and fill kernels on first use, which takes device memory. Loading them here keeps that out of
 * the tests' memory counts. */
static vmm_result warm_up(vmm_system *sys)
{
    uint64_t word = 0;
    vmm_deviceptr ptr = 0;
    vmm_stream stream = NULL;
    vmm_result result = vmm_mem_alloc(sys, &ptr, WARM_BYTES);
    if (result == VMM_SUCCESS)
        result = vmm_stream_create(sys, &stream, VMM_STREAM_NON_BLOCKING);
    if (result != VMM_SUCCESS)
        return result;
    const vmm_stream streams[] = {NULL, stream, VMM_STREAM_PER_THREAD};
    for (size_t i = 0; i < sizeof streams / sizeof streams[0]; i++) {
        vmm_memset_d8_async(sys, ptr, 1, WARM_BYTES, streams[i]);
        vmm_memset_d16_async(sys, ptr, 1, 64, streams[i]);
        vmm_memset_d32_async(sys, ptr, 1, 64, streams[i]);
        vmm_memcpy_htod_async(sys, ptr, &word, sizeof word, streams[i]);
        vmm_memcpy_dtod_async(sys, ptr + WARM_BYTES / 2, ptr, WARM_BYTES / 2, streams[i]);
        vmm_memcpy_dtoh_async(sys, &word, ptr, sizeof word, streams[i]);
    }
    vmm_memset_d8(sys, ptr + 1, 1, 5);
    vmm_memcpy_htod(sys, ptr, &word, sizeof word);
    vmm_memcpy_dtoh(sys, &word, ptr, sizeof word);
    result = vmm_ctx_synchronize(sys);
    vmm_stream_destroy(sys, stream);
    vmm_mem_free(sys, ptr);
    return result;
}

vmm_result house_context(struct fix_house *house, vmm_context *ctx)
{
    vmm_result result = VMM_SUCCESS;
    if (house->ctx &&
        (vmm_ctx_set_current(house->sys, house->ctx) != VMM_SUCCESS || vmm_ctx_synchronize(house->sys) != VMM_SUCCESS)) {
        vmm_ctx_destroy(house->sys, house->ctx);
        house->ctx = NULL;
    }
    if (!house->ctx) {
        result = vmm_ctx_create(house->sys, &house->ctx, 0, 0);
        if (result == VMM_SUCCESS)
            result = warm_up(house->sys);
    }
    if (result == VMM_SUCCESS)
        *ctx = house->ctx;
    return result;
}

void house_leave(struct fix_house *house)
{
    vmm_context current = NULL;
    for (int i = 0; i < STACK_MAX; i++) {
        if (vmm_ctx_get_current(house->sys, &current) != VMM_SUCCESS || !current)
            return;
        vmm_ctx_set_current(house->sys, NULL);
    }
}

void house_need_calls(struct fix *f, const char *reason)
{
    if (f->root->house && f->root->house->brief)
        fix_skip(f, reason);
}

uint64_t house_close(struct fix_house *house)
{
    if (house->ctx)
        vmm_ctx_destroy(house->sys, house->ctx);
    uint64_t left = vmm_leaks(house->sys, NULL, NULL);
    vmm_close(house->sys);
    house->sys = NULL;
    house->ctx = NULL;
    return left;
}
