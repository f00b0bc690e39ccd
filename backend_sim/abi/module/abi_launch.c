/* SPDX-License-Identifier: Apache-2.0 */
/* Kernel launches. Compiled for both default streams. */
#include "abi.h"
#include "abi_pack.h"

CUresult cuLaunchKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                        unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                        unsigned int sharedMemBytes, CUstream hStream, void **kernelParams, void **extra)
{
    const struct abi_grid grid = {{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes, false};
    ABI_WORK(abi_launch(sys, "cuLaunchKernel", f, &grid, abi_stream(hStream), kernelParams, extra));
}

/* The threads of a plugin's kernel run one after the other, so they cannot wait for each other; those of PTX can. */
CUresult cuLaunchCooperativeKernel(CUfunction f, unsigned int gridDimX, unsigned int gridDimY, unsigned int gridDimZ,
                                   unsigned int blockDimX, unsigned int blockDimY, unsigned int blockDimZ,
                                   unsigned int sharedMemBytes, CUstream hStream, void **kernelParams)
{
    const struct abi_grid grid = {{gridDimX, gridDimY, gridDimZ}, {blockDimX, blockDimY, blockDimZ}, sharedMemBytes, true};
    ABI_WORK(abi_launch(sys, "cuLaunchCooperativeKernel", f, &grid, abi_stream(hStream), kernelParams, NULL));
}

/* Of an attribute that is set more than once the last one counts. */
static bool is_cooperative(const CUlaunchConfig *c)
{
    bool is = false;
    for (unsigned i = 0; i < c->numAttrs; i++)
        if (c->attrs[i].id == CU_LAUNCH_ATTRIBUTE_COOPERATIVE)
            is = c->attrs[i].value.cooperative != 0;
    return is;
}

static CUresult launch_with(vmm_system *sys, const CUlaunchConfig *c, CUfunction f, void **params, void **extra)
{
    if (!c || (c->numAttrs && !c->attrs))
        return abi_null("cuLaunchKernelEx", c ? "attrs" : "config");
    const struct abi_grid grid = {{c->gridDimX, c->gridDimY, c->gridDimZ},
                                  {c->blockDimX, c->blockDimY, c->blockDimZ}, c->sharedMemBytes, is_cooperative(c)};
    CUresult result = abi_launch_attributes(c, f);
    return result == CUDA_SUCCESS
               ? abi_launch(sys, "cuLaunchKernelEx", f, &grid, abi_stream(c->hStream), params, extra)
               : result;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction f, void **kernelParams, void **extra)
{
    ABI_WORK(launch_with(sys, config, f, kernelParams, extra));
}
