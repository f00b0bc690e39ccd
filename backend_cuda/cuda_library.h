/* SPDX-License-Identifier: Apache-2.0 */
/* cuda_library.h - libcuda loaded at run time, and its functions by name and version.
 *
 *     dlopen "libcuda.so.1"  ->  cuGetProcAddress_v2(name, version)   the signature of that version else
 *                                dlsym(symbol)                   drivers before 12.0
 */
#ifndef CUVMM_CUDA_LIBRARY_H
#define CUVMM_CUDA_LIBRARY_H

#include "cuda_entries.h"

/* A pointer to a function; converted to its real type before the call. */
typedef void (*cuda_function)(void);

struct cuda_library {
    void *handle;
    const char *path; /* owned by the caller */
    vmm_result (*get_proc_address)(const char *symbol, void **function, int version, uint64_t flags, int *status);
};

/* Loads the library at path (the loader searches for a name without '/'). NOT_FOUND, with the thread's detail, if it cannot be
 * loaded. */
vmm_result cuda_library_open(struct cuda_library *library, const char *path);

/* Unloads the library; allowed only if none of its functions was called. */
void cuda_library_close(struct cuda_library *library);

/* Finds the function; NULL if the library lacks it. */
cuda_function cuda_library_find(const struct cuda_library *library, const char *name, int version, const char *symbol);
/* Finds a function of entries.def. */
#define CUDA_FIND(library, symbol) cuda_library_find((library), VMM_ENTRY_NAME(symbol), VMM_ENTRY_VERSION(symbol), #symbol)

/* The CUDA version of the newest call that every driver must have. */
enum { CUDA_NEEDED = 11000 };

/* Fills every pointer. A missing function is NULL if its call is newer than CUDA_NEEDED; otherwise NOT_SUPPORTED, with the
 * thread's detail. */
vmm_result cuda_library_entries(const struct cuda_library *library, struct cuda_entries *entries);

#endif
