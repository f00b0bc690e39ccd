/* SPDX-License-Identifier: Apache-2.0 */
/* Arrays in copy nodes: sizes and offsets are in elements, of four bytes here. */
#include <unistd.h>

#include "testing/rt_rig.h"

static unsigned char from[64], to[64];

static void test_copies(void)
{
    const struct cudaChannelFormatDesc desc = {32, 0, 0, 0, cudaChannelFormatKindUnsigned};
    cudaArray_t array = NULL, other = NULL;
    cudaGraph_t graph = NULL;
    cudaGraphExec_t exec = NULL;
    cudaGraphNode_t up = NULL, across = NULL, down = NULL;
    struct cudaMemcpy3DParms params = {.srcPtr = {.ptr = from, .pitch = 16}, .extent = {4, 2, 1}, .kind = cudaMemcpyHostToDevice}, read;
    OK(cudaGraphCreate(&graph, 0));
    OK(cudaMallocArray(&array, &desc, 8, 8, 0));
    OK(cudaMallocArray(&other, &desc, 8, 8, 0));
    memset(from, 5, sizeof from);
    memset(to, 0, sizeof to);
    params.dstArray = array;
    params.dstPos = (struct cudaPos){1, 2, 0};
    OK(cudaGraphAddMemcpyNode(&up, graph, NULL, 0, &params));
    OK(cudaGraphMemcpyNodeGetParams(up, &read));
    tap_ok(read.dstArray == array && !read.dstPtr.ptr && !read.srcArray && read.srcPtr.ptr == from && read.dstPos.x == 1 && read.dstPos.y == 2 &&
               read.extent.width == 4 && read.extent.height == 2 && read.kind == cudaMemcpyHostToDevice, "a copy to an array is read back");
    params = (struct cudaMemcpy3DParms){.srcArray = array, .srcPos = {1, 2, 0}, .dstArray = other, .extent = {4, 2, 1}, .kind = cudaMemcpyDefault};
    OK(cudaGraphAddMemcpyNode(&across, graph, &up, 1, &params));
    OK(cudaGraphMemcpyNodeGetParams(across, &read));
    tap_ok(read.srcArray == array && read.dstArray == other && read.srcPos.x == 1 && read.kind == cudaMemcpyDeviceToDevice,
           "a copy between arrays is read back");
    params = (struct cudaMemcpy3DParms){.srcArray = other, .dstPtr = {.ptr = to, .pitch = 16}, .dstPos = {1, 1, 0}, .extent = {3, 1, 1},
                                        .kind = cudaMemcpyDeviceToHost};
    OK(cudaGraphAddMemcpyNode(&down, graph, &across, 1, &params));
    OK(cudaGraphMemcpyNodeGetParams(down, &read));
    tap_ok(read.dstPos.x == 1 && read.dstPos.y == 1 && read.extent.width == 3, "a place in memory is in elements of the array beside it");
    params.dstPos = (struct cudaPos){0, 0, 0};
    params.extent = (struct cudaExtent){4, 2, 1};
    OK(cudaGraphMemcpyNodeSetParams(down, &params));
    OK(cudaGraphInstantiate(&exec, graph, 0));
    OK(cudaGraphLaunch(exec, NULL));
    OK(cudaDeviceSynchronize());
    tap_ok(to[0] == 5 && to[31] == 5 && to[32] == 0, "two rows of four elements there and back");
    OK(cudaFreeArray(other));
    REFUSED(cudaGraphMemcpyNodeGetParams(down, &read), ErrorContextIsDestroyed); /* the driver's result for destroyed arrays */
    REFUSED(cudaGraphMemcpyNodeGetParams(across, &read), ErrorContextIsDestroyed);
    OK(cudaGraphExecDestroy(exec));
    OK(cudaGraphDestroy(graph));
    OK(cudaFreeArray(array));
}

int main(void)
{
    alarm(60);
    setenv("CUVMM_SIM", "sim:h100", 1);
    OK(cudaFree(NULL));
    test_copies();
    return tap_done();
}
