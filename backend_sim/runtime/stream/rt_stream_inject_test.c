/* SPDX-License-Identifier: Apache-2.0 */
/* A callback when memory is exhausted is refused, and no record is kept. */
#define _GNU_SOURCE /* memfd_create, fallocate */
#include "inject_rig.h"

#include "rt.h"
#include "testing/rt_rig.h"

static int called;

static void call_back(cudaStream_t stream, cudaError_t status, void *user)
{
    (void)stream;
    (void)user;
    called += status == cudaSuccess;
}

int main(void)
{
    setenv("CUVMM_SIM", "sim:h100", 1);
    OK(cudaStreamAddCallback(NULL, call_back, NULL, 0));
    OK(cudaStreamSynchronize(NULL));
    long before = inject_live;
    inject_arm_at("malloc", 1);
    cudaError_t result = cudaStreamAddCallback(NULL, call_back, NULL, 0);
    tap_text(inject_disarm(), "malloc", "the request for the callback failed");
    IS(result, ErrorMemoryAllocation);
    IS(cudaGetLastError(), ErrorMemoryAllocation);
    EQUAL(inject_live, before);
    OK(cudaStreamSynchronize(NULL));
    EQUAL(called, 1);
    return tap_done();
}
