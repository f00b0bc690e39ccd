/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the declarations in launch.h with the toolkit's prototypes, at compile time; skipped without a toolkit. Handles are
 * pointers to structs of the driver, which launch.h replaces by void pointers. */
#include "launch.h"
#include "tap.h"

#if defined(CUVMM_HAVE_CUDA_H) && defined(__has_include)
#if __has_include(<cudaTypedefs.h>)
#define HAVE_TYPEDEFS
#endif
#endif

#ifdef HAVE_TYPEDEFS

#include <cuda.h>
#include <cudaTypedefs.h>

#define IS(pfn, ...) \
    _Static_assert(_Generic((pfn)0, CUresult(CUDAAPI *)(__VA_ARGS__) : 1, default : 0), #pfn)

IS(PFN_cuLibraryLoadData_v12000, CUlibrary *, const void *, CUjit_option *, void **, unsigned, CUlibraryOption *,
   void **, unsigned);
IS(PFN_cuLibraryUnload_v12000, CUlibrary);
IS(PFN_cuLibraryGetKernel_v12000, CUkernel *, CUlibrary, const char *);
IS(PFN_cuLaunchKernel_v4000, CUfunction, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, CUstream,
   void **, void **);

IS(PFN_cuGraphAddKernelNode_v12000, CUgraphNode *, CUgraph, const CUgraphNode *, size_t, const CUDA_KERNEL_NODE_PARAMS *);
IS(PFN_cuGraphKernelNodeSetParams_v12000, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *);
IS(PFN_cuGraphExecKernelNodeSetParams_v12000, CUgraphExec, CUgraphNode, const CUDA_KERNEL_NODE_PARAMS *);
_Static_assert(sizeof(struct cuda_kernel_node) == sizeof(CUDA_KERNEL_NODE_PARAMS) &&
                   offsetof(struct cuda_kernel_node, parameters) == offsetof(CUDA_KERNEL_NODE_PARAMS, kernelParams) &&
                   offsetof(struct cuda_kernel_node, kernel) == offsetof(CUDA_KERNEL_NODE_PARAMS, kern) &&
                   offsetof(struct cuda_kernel_node, context) == offsetof(CUDA_KERNEL_NODE_PARAMS, ctx),
               "the parameters of a kernel's node");

_Static_assert(sizeof(CUlibrary) == sizeof(void *) && sizeof(CUkernel) == sizeof(void *) &&
                   sizeof(CUfunction) == sizeof(void *) && sizeof(CUstream) == sizeof(vmm_stream),
               "handles are pointers");

int main(void)
{
    tap_ok(true, "launching matches cuda.h %d (checked by static assertions when this file was compiled)", CUDA_VERSION);
    return tap_done();
}

#else

int main(void)
{
    tap_skip("no cuda.h with cudaTypedefs.h here (CUDA_PATH)", "launching matches cuda.h");
    return tap_done();
}

#endif
