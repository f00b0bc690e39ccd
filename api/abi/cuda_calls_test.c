/* SPDX-License-Identifier: Apache-2.0 */
/* Compares our declarations of the driver's ABI with the tables of calls and entry points, at compile time:
 *
 *   call_types.def  each of our types has the driver's width, and so has the target of each pointer
 *   calls.def       the parameters of each call are exactly those of the entry point that cuda.h declares
 */
#define CUDA_VERSION 12000 /* selects the signatures that the backend calls */
#include "cuda.h"

/* Those of CUDA 13.0, as cuda.h declares them from that version on under the names of the older forms. */
CUresult CUDAAPI cuMemcpyBatchAsync_v2(CUdeviceptr *dsts, CUdeviceptr *srcs, size_t *sizes, size_t count, CUmemcpyAttributes *attrs,
                                       size_t *attrsIdxs, size_t numAttrs, CUstream hStream);
CUresult CUDAAPI cuMemcpy3DBatchAsync_v2(size_t numOps, CUDA_MEMCPY3D_BATCH_OP *opList, unsigned long long flags, CUstream hStream);
CUresult CUDAAPI cuMemPrefetchAsync_v2(CUdeviceptr devPtr, size_t count, CUmemLocation location, unsigned int flags, CUstream hStream);
CUresult CUDAAPI cuMemAdvise_v2(CUdeviceptr devPtr, size_t count, CUmem_advise advice, CUmemLocation location);

#include "call_params.h"
#include "tap.h"
#include "vmm.h"

#define CALL_TYPE(name, kind, ours, theirs) \
    typedef theirs driver_##name;           \
    _Static_assert(sizeof(ours) == sizeof(theirs), "width of " #name);
#define CALL_POINTER(name, kind, ours, theirs) \
    typedef theirs *driver_##name;             \
    _Static_assert(sizeof(ours) == sizeof(theirs), "width of what " #name " points to");
#include "call_types.def"

#define DRIVERS(type, name) driver_##type
#define DRIVERS_NONE void
#define DECLARED_OWN(name, symbol)
#define DECLARED_SAME(name, symbol) \
    _Static_assert(_Generic(&symbol, CUresult(CUDAAPI *)(VMM_LIST(DRIVERS, VMM_PARAMS_##name)) : 1, default : 0), #symbol);
#define VMM_CALL(name, symbol, form, traits) DECLARED_##form(name, symbol)
#include "calls.def"

int main(void)
{
    tap_ok(true, "each call has the parameters of the entry point that cuda.h declares");
    return tap_done();
}
