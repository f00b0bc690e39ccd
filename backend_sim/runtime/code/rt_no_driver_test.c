/* SPDX-License-Identifier: Apache-2.0 */
/* A program with device code on a machine without a driver: registration needs none, and its users return what was
 * measured with the toolkit's libraries. */
#include "testing/emitted.h"

static char stub, variable, *managed;

int main(void)
{
    cudaKernel_t kernel = NULL;
    struct cudaFuncAttributes attributes;
    const char *name = NULL;
    void *at = NULL;
    size_t size = 0;
    int count = 0;
    setenv("CUVMM_LIBCUDA", "/no/such/libcuda.so.1", 1);
    void **image = __cudaRegisterFatBinary(&fat_binary);
    register_function(image, &stub, "nothing");
    register_variable(image, &variable, "counter", 4);
    __cudaRegisterManagedVar(image, (void **)(void *)&managed, NULL, "managed", 0, 4, 0, 0);
    __cudaRegisterFatBinaryEnd(image);
    IS(__cudaGetKernel(&kernel, &stub), ErrorInsufficientDriver);
    tap_ok(kernel == (cudaKernel_t)(void *)&stub, "a stub gets its function back, for the launch to answer");
    IS(__cudaLaunchKernel(kernel, dim(1), dim(1), NULL, 0, NULL), ErrorInsufficientDriver);
    IS(cudaLaunchKernel(&stub, dim(1), dim(1), NULL, 0, NULL), ErrorInsufficientDriver);
    IS(cudaLaunchKernelExC(NULL, &stub, NULL), ErrorInsufficientDriver);
    IS(cudaFuncGetAttributes(&attributes, &stub), ErrorInsufficientDriver);
    IS(cudaFuncGetName(&name, &stub), ErrorInsufficientDriver);
    IS(cudaGetSymbolAddress(&at, &variable), ErrorInsufficientDriver);
    IS(cudaGetSymbolSize(&size, &count), ErrorInsufficientDriver);
    IS(cudaMemcpyToSymbol(&variable, &count, 4, 0, cudaMemcpyHostToDevice), ErrorInsufficientDriver);
    IS(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&count, &stub, 32, 0), ErrorInsufficientDriver);
    IS(cudaLibraryUnload(NULL), ErrorInsufficientDriver);
    EQUAL(__cudaInitModule(image), 0);
    tap_ok(!managed, "a managed variable stays where it was");
    dim3 grid, block;
    cudaStream_t stream;
    IS(__cudaPopCallConfiguration(&grid, &block, &size, &stream), ErrorMissingConfiguration);
    EQUAL(__cudaPushCallConfiguration(dim(3), dim(4), 5, NULL), 0);
    OK(__cudaPopCallConfiguration(&grid, &block, &size, &stream));
    tap_ok(grid.x == 3 && block.x == 4 && size == 5, "configurations need no driver");
    __cudaUnregisterFatBinary(image);
    IS(cudaFuncGetName(&name, &stub), ErrorInsufficientDriver);
    return tap_done();
}
