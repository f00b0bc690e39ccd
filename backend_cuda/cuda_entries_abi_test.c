/* SPDX-License-Identifier: Apache-2.0 */
/* Compares our table of the driver's functions with the toolkit's prototypes, at compile time; skipped without a toolkit.
 *
 *   call_types.def  each of our types has the toolkit's width, and so has the target of each pointer
 *   entries.def     the toolkit has a prototype PFN_<name>_v<version> of each entry point
 *   calls.def       with the toolkit's types, each call has exactly the parameters of its entry point
 */
#include "tap.h"

#if defined(CUVMM_HAVE_CUDA_H) && defined(__has_include)
#if __has_include(<cudaTypedefs.h>)
#define HAVE_TYPEDEFS
#endif
#endif

#ifdef HAVE_TYPEDEFS

#define __CUDA_API_VERSION_INTERNAL /* also declares prototypes of older forms */
#include <cuda.h>
#include <cudaProfilerTypedefs.h>
#include <cudaTypedefs.h>

#include "call_params.h"
#include "vmm.h"

#define CALL_TYPE(name, kind, ours, theirs)                                \
    typedef theirs driver_##name;                                          \
    _Static_assert(sizeof(ours) == sizeof(theirs), "width of " #name);
#define CALL_POINTER(name, kind, ours, theirs)                             \
    typedef theirs *driver_##name;                                         \
    _Static_assert(sizeof(ours) == sizeof(theirs), "width of what " #name " points to");
#include "call_types.def"

/* Per-thread forms have their own prototypes, and none of our calls uses them. */
#define PROTOTYPE_LEGACY(symbol, prototype) typedef prototype symbol;
#define PROTOTYPE_PER_THREAD(symbol, prototype)
#define VMM_ENTRY(symbol, name, version, streams, here, checked, call) \
    PROTOTYPE_##streams(prototype_##symbol, PFN_##name##_v##version)
#include "entries.def"

#define DRIVERS(type, name) driver_##type
#define DRIVERS_NONE void
#define SAME_AS_OWN(name, prototype)
#define SAME_AS_SAME(name, prototype)                                                                                   \
    _Static_assert(_Generic((prototype)0, CUresult(CUDAAPI *)(VMM_LIST(DRIVERS, VMM_PARAMS_##name)) : 1, default : 0),  \
                   #prototype);
#define VMM_CALL(name, symbol, form, traits) SAME_AS_##form(name, prototype_##symbol)
#include "calls.def"

/* The declarations in cuda_library.h and cuda_log.h. */
_Static_assert(_Generic((PFN_cuGetProcAddress_v12000)0,
                        CUresult(CUDAAPI *)(const char *, void **, int, cuuint64_t,
                                            CUdriverProcAddressQueryResult *) : 1,
                        default : 0), "cuGetProcAddress");
_Static_assert(sizeof(cuuint64_t) == sizeof(uint64_t) && sizeof(CUdriverProcAddressQueryResult) == sizeof(int),
               "its flags and status");
_Static_assert(_Generic((PFN_cuGetErrorName_v6000)0, CUresult(CUDAAPI *)(CUresult, const char **) : 1, default : 0),
               "cuGetErrorName");
_Static_assert(_Generic((PFN_cuGetErrorString_v6000)0, CUresult(CUDAAPI *)(CUresult, const char **) : 1, default : 0),
               "cuGetErrorString");
#if CUDA_VERSION >= 12090
_Static_assert(_Generic((PFN_cuLogsRegisterCallback_v12090)0,
                        CUresult(CUDAAPI *)(CUlogsCallback, void *, CUlogsCallbackHandle *) : 1, default : 0),
               "cuLogsRegisterCallback");
_Static_assert(_Generic((PFN_cuLogsUnregisterCallback_v12090)0, CUresult(CUDAAPI *)(CUlogsCallbackHandle) : 1,
                        default : 0),
               "cuLogsUnregisterCallback");
_Static_assert(_Generic((CUlogsCallback)0, void(CUDA_CB *)(void *, CUlogLevel, char *, size_t) : 1, default : 0),
               "the log's callback");
_Static_assert(sizeof(CUlogLevel) == sizeof(int) && sizeof(CUlogsCallbackHandle) == sizeof(void *), "its parts");
#endif

int main(void)
{
    tap_ok(true, "the driver's functions match cuda.h %d (checked by static assertions when this file was compiled)",
           CUDA_VERSION);
    return tap_done();
}

#else

int main(void)
{
    tap_skip("no cuda.h with cudaTypedefs.h here (CUDA_PATH)", "the driver's functions are those of cuda.h");
    return tap_done();
}

#endif
