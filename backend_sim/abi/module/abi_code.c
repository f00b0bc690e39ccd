/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_code.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi_jit.h"
#include "abi_parts.h"
#include "heap.h"
#include "lifecycle.h"
#include "os_share.h"
#include "posix.h"

/* A module or a library; its address is the handle. */
struct abi_image {
    bool library;
    struct CUfunc_st *functions;
    struct abi_image *next;
};

LIFE_LOCK(lock, LIFE_TABLE, NULL)
static struct abi_image *images;

static struct abi_image **place_of(const void *handle)
{
    struct abi_image **link = &images;
    while (*link && *link != handle)
        link = &(*link)->next;
    return link;
}

static CUresult refuse_handle(const char *function, const void *handle)
{
    return abi_refuse(VMM_RULE_CODE_HANDLE, function, "%p is not loaded, or was unloaded", handle);
}

static CUresult load(const char *function, void *image_out, bool library)
{
    struct abi_image *image = heap.calloc(1, sizeof *image);
    if (!image)
        return abi_no_memory(function);
    image->library = library;
    life_acquire(&lock);
    image->next = images;
    images = image;
    life_release(&lock);
    memcpy(image_out, &image, sizeof image);
    return CUDA_SUCCESS;
}

static void free_image(struct abi_image *image)
{
    while (image->functions) {
        struct CUfunc_st *next = image->functions->next;
        heap.free(image->functions);
        image->functions = next;
    }
    heap.free(image);
}

static CUresult unload(const char *function, const void *handle, bool library)
{
    life_acquire(&lock);
    struct abi_image **link = place_of(handle), *image = *link;
    bool found = image && image->library == library;
    if (found)
        *link = image->next;
    life_release(&lock);
    if (!found)
        return refuse_handle(function, handle);
    free_image(image);
    return CUDA_SUCCESS;
}

void abi_code_close(void)
{
    while (images) {
        struct abi_image *next = images->next;
        free_image(images);
        images = next;
    }
}

/* Call it under the lock. */
static struct CUfunc_st *function_in(const void *handle)
{
    for (struct abi_image *image = images; image; image = image->next)
        for (struct CUfunc_st *f = image->functions; f; f = f->next)
            if (f == handle)
                return f;
    return NULL;
}

CUresult abi_function_find(const char *function, const void *handle, struct CUfunc_st *found)
{
    life_acquire(&lock);
    const struct CUfunc_st *f = function_in(handle);
    if (f)
        *found = *f;
    life_release(&lock);
    return f ? CUDA_SUCCESS : refuse_handle(function, handle);
}

void abi_function_set(const void *handle, CUfunction_attribute attribute, int value)
{
    life_acquire(&lock);
    struct CUfunc_st *f = function_in(handle);
    if (f) /* LCOV_EXCL_BR_LINE: false only if another thread unloads it now */
        f->attribute[attribute] = value;
    life_release(&lock);
}

enum { DEFAULT_SHARED = 48 * 1024, DEFAULT_CARVEOUT = -1 }; /* the initial values */

/* Call it under the lock. NULL: memory is out. */
static struct CUfunc_st *function_of(struct abi_image *image, const struct abi_kernel *kernel)
{
    struct CUfunc_st *f = image->functions;
    while (f && f->kernel != kernel)
        f = f->next;
    if (!f && (f = heap.calloc(1, sizeof *f))) {
        f->kernel = kernel;
        f->attribute[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = DEFAULT_SHARED;
        f->attribute[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = DEFAULT_CARVEOUT;
        f->image = image;
        f->next = image->functions;
        image->functions = f;
    }
    return f;
}

/* The image's function for a kernel: always the same one. NULL: no such image, or memory is out. */
static struct CUfunc_st *function_for(const void *handle, const struct abi_kernel *kernel, bool *image_lives)
{
    struct CUfunc_st *f = NULL;
    life_acquire(&lock);
    struct abi_image *image = *place_of(handle);
    *image_lives = image != NULL;
    if (image) /* LCOV_EXCL_BR_LINE: false only if another thread unloads it now */
        f = function_of(image, kernel);
    life_release(&lock);
    return f;
}

static bool is_image(const void *handle)
{
    life_acquire(&lock);
    bool found = *place_of(handle) != NULL;
    life_release(&lock);
    return found;
}

static CUresult get_function(const char *function, void *out, const void *handle, const char *name)
{
    bool lives;
    const struct abi_kernel *kernel;
    if (!out || !name)
        return abi_null(function, out ? "name" : "hfunc");
    if (!is_image(handle))
        return refuse_handle(function, handle);
    CUresult result = abi_kernel_find(function, name, &kernel);
    if (result != CUDA_SUCCESS)
        return result;
    struct CUfunc_st *f = function_for(handle, kernel, &lives);
    if (!f) /* NULL without memory, or if another thread unloads the image now */
        return lives ? abi_no_memory(function) : refuse_handle(function, handle); /* LCOV_EXCL_BR_LINE: no test reaches it */
    memcpy(out, &f, sizeof f);
    return CUDA_SUCCESS;
}

/* ---- modules ---- */

/* A module belongs to the current context. */
static CUresult load_module(const vmm_system *sys, const char *function, CUmodule *module, const void *image)
{
    uint64_t current;
    struct abi_query_context context;
    if (!module || !image)
        return abi_null(function, module ? "image" : "module");
    CUresult result = abi_current(sys, function, &current, &context);
    return result == CUDA_SUCCESS ? load(function, module, false) : result;
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
    ABI_INITIALISED(load_module(sys, "cuModuleLoadData", module, image));
}

CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int numOptions, CUjit_option *options,
                            void **optionValues)
{
    ABI_INITIALISED(abi_jit_answered(load_module(sys, "cuModuleLoadDataEx", module, image), options, optionValues, numOptions));
}

CUresult cuModuleLoadFatBinary(CUmodule *module, const void *fatCubin)
{
    ABI_INITIALISED(load_module(sys, "cuModuleLoadFatBinary", module, fatCubin));
}

static CUresult refuse_file(const char *function, const char *path)
{
    bool system = errno == EMFILE || errno == ENFILE || errno == ENOMEM || errno == EIO;
    return abi_refuse(system ? VMM_RULE_CODE_SYSTEM : VMM_RULE_CODE_FILE, function, "%.100s cannot be opened: %s", path,
                      strerror(errno));
}

/* The file must exist, but its contents do not matter. Opening a pipe would block the caller. */
static CUresult look_at_file(const char *function, const char *path)
{
    struct os_file_is is;
    if (!path)
        return abi_null(function, "fname");
    if (!os_path_look(path, &is))
        return refuse_file(function, path);
    if (is.folder || is.pipe)
        return abi_refuse(VMM_RULE_CODE_FILE, function, "%.100s is not a regular file, but a %s", path,
                          is.folder ? "folder" : "pipe");
    FILE *file = posix.fopen(path, "rb");
    if (!file)
        return refuse_file(function, path);
    fclose(file);
    return CUDA_SUCCESS;
}

static CUresult check_file(const char *function, const char *path)
{
    int cancel = life_no_cancel();
    CUresult result = look_at_file(function, path);
    life_may_cancel(cancel);
    return result;
}

static CUresult load_module_file(const vmm_system *sys, CUmodule *module, const char *path)
{
    uint64_t current;
    struct abi_query_context context;
    CUresult result = abi_current(sys, "cuModuleLoad", &current, &context);
    if (result == CUDA_SUCCESS)
        result = check_file("cuModuleLoad", path);
    return result == CUDA_SUCCESS ? load_module(sys, "cuModuleLoad", module, path) : result;
}

CUresult cuModuleLoad(CUmodule *module, const char *fname)
{
    ABI_INITIALISED(load_module_file(sys, module, fname));
}

CUresult cuModuleUnload(CUmodule hmod)
{
    ABI_INITIALISED(((void)sys, unload("cuModuleUnload", hmod, false)));
}

/* As recorded: an invalid module is reported first, and a missing function is returned as 0. */
static CUresult module_function(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    static const char function[] = "cuModuleGetFunction";
    CUresult result = hmod ? get_function(function, hfunc, hmod, name) : refuse_handle(function, hmod);
    if (result == CUDA_ERROR_NOT_FOUND)
        *hfunc = NULL;
    return result;
}

CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    ABI_INITIALISED(((void)sys, module_function(hfunc, hmod, name)));
}

static CUresult get_global(CUdeviceptr *dptr, size_t *bytes, const void *handle, const char *name)
{
    if (!handle)
        return refuse_handle("cuModuleGetGlobal", handle);
    if (!name)
        return abi_null("cuModuleGetGlobal", "name");
    if (!is_image(handle))
        return refuse_handle("cuModuleGetGlobal", handle);
    if (dptr)
        *dptr = 0; /* as recorded */
    if (bytes)
        *bytes = 0;
    return abi_refuse(VMM_RULE_CODE_NAME, "cuModuleGetGlobal", "%.60s: plugins have kernels only, and no variables", name);
}

CUresult cuModuleGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
    ABI_INITIALISED(((void)sys, get_global(dptr, bytes, hmod, name)));
}

/* Names are looked up lazily. */
static CUresult loading_mode(CUmoduleLoadingMode *mode)
{
    if (!mode)
        return abi_null("cuModuleGetLoadingMode", "mode");
    *mode = CU_MODULE_LAZY_LOADING;
    return CUDA_SUCCESS;
}

CUresult cuModuleGetLoadingMode(CUmoduleLoadingMode *mode)
{
    ABI_INITIALISED(((void)sys, loading_mode(mode)));
}

/* ---- libraries ---- */

static CUresult load_library(CUlibrary *library, const void *code)
{
    if (!library || !code)
        return abi_null("cuLibraryLoadData", library ? "code" : "library");
    return load("cuLibraryLoadData", library, true);
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions, void **jitOptionsValues,
                           unsigned int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues,
                           unsigned int numLibraryOptions)
{
    (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    ABI_INITIALISED(((void)sys, abi_jit_answered(load_library(library, code), jitOptions, jitOptionsValues, numJitOptions)));
}

static CUresult load_library_file(CUlibrary *library, const char *path)
{
    CUresult result = check_file("cuLibraryLoadFromFile", path);
    return result == CUDA_SUCCESS ? load_library(library, path) : result;
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *fileName, CUjit_option *jitOptions,
                               void **jitOptionsValues, unsigned int numJitOptions, CUlibraryOption *libraryOptions,
                               void **libraryOptionValues, unsigned int numLibraryOptions)
{
    (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    ABI_INITIALISED(
        ((void)sys, abi_jit_answered(load_library_file(library, fileName), jitOptions, jitOptionsValues, numJitOptions)));
}

CUresult cuLibraryUnload(CUlibrary library)
{
    ABI_INITIALISED(((void)sys, unload("cuLibraryUnload", library, true)));
}

CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
    ABI_INITIALISED(((void)sys, get_function("cuLibraryGetKernel", pKernel, library, name)));
}

/* Returns the same image as a module. */
static CUresult module_of(CUmodule *module, const void *library)
{
    if (!module)
        return abi_null("cuLibraryGetModule", "pMod");
    if (!is_image(library))
        return refuse_handle("cuLibraryGetModule", library);
    memcpy(module, &library, sizeof library);
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    ABI_INITIALISED(((void)sys, module_of(pMod, library)));
}
