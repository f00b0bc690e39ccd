/* SPDX-License-Identifier: Apache-2.0 */
/* Our table of the driver's functions against the toolkit's prototypes, at compile time; skipped where there is none.
 *
 *   types.def     each of our types has the width of the toolkit's, and pointers point to things of one width
 *   entries.def   with the toolkit's types each row is exactly PFN_<driver>_v<version>
 */
#include "tap.h"

#if defined(CUVMM_HAVE_CUDA_H) && defined(__has_include)
#if __has_include(<cudaTypedefs.h>)
#define HAVE_TYPEDEFS
#endif
#endif

#ifdef HAVE_TYPEDEFS

#include <cuda.h>
#include <cudaTypedefs.h>

#include "vmm.h"

#define CUDA_TYPE(name, ours, theirs)                                      \
    typedef theirs driver_##name;                                          \
    _Static_assert(sizeof(ours) == sizeof(theirs), "width of " #name);
#define CUDA_POINTER(name, ours, theirs)                                   \
    typedef theirs *driver_##name;                                         \
    _Static_assert(sizeof(ours) == sizeof(theirs), "width of what " #name " points to");
#include "types.def"

#define T(name) driver_##name
#define CUDA_ENTRY(name, driver, version, suffix, types, arguments)                                         \
    typedef driver_RESULT(CUDAAPI *driver_##name##_fn) types;                                               \
    _Static_assert(_Generic((PFN_##driver##_v##version)0, driver_##name##_fn : 1, default : 0), #driver);
#include "entries.def"

/* What cuda_library.h and cuda_log.h write down by hand. */
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
    tap_ok(true, "the driver's functions are those of cuda.h %d (held by static assertions: this file compiled)",
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
