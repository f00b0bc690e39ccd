/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_code.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi_jit.h"
#include "abi_parts.h"
#include "abi_variables.h"
#include "heap.h"
#include "lifecycle.h"
#include "os_share.h"
#include "posix.h"

/* The variables of an image in a context: of a module one, from its load on; of a library one for each context that used it. */
struct copy {
    uint64_t context, base;
    struct copy *next;
};

/* A module or a library; its address is the handle. */
struct abi_image {
    bool library;
    struct CUfunc_st *functions;
    struct copy *copies;
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

/* ---- variables ---- */

/* The base of a context's copy; a module has one copy for all. Call it under the lock. */
static bool copy_in(const struct abi_image *image, uint64_t context, uint64_t *base)
{
    const struct copy *copy = image->copies;
    while (copy && image->library && copy->context != context)
        copy = copy->next;
    *base = copy ? copy->base : 0;
    return copy != NULL;
}

/* Makes the copy of the current context and adds it to the image. */
static CUresult add_copy(vmm_system *sys, const char *function, struct abi_image *image, uint64_t context, uint64_t *base)
{
    struct copy *copy = heap.malloc(sizeof *copy);
    if (!copy)
        return abi_no_memory(function);
    CUresult result = abi_variables_make(sys, function, base);
    if (result != CUDA_SUCCESS) {
        heap.free(copy);
        return result;
    }
    life_acquire(&lock);
    *copy = (struct copy){context, *base, image->copies};
    image->copies = copy;
    life_release(&lock);
    /* analysers: memleak is wrong: it is in the list */
    return CUDA_SUCCESS;
}

CUresult abi_image_variables(vmm_system *sys, const char *function, struct abi_image *image, uint64_t *base)
{
    uint64_t context = abi_query_current(sys);
    life_acquire(&lock);
    bool lives = *place_of(image) != NULL, there = lives && copy_in(image, context, base);
    life_release(&lock);
    if (!lives) /* LCOV_EXCL_BR_LINE: only if another thread unloads it now */
        return refuse_handle(function, image); /* LCOV_EXCL_LINE: the same */
    return there ? CUDA_SUCCESS : add_copy(sys, function, image, context, base);
}

static void end_copies(vmm_system *sys, struct abi_image *image)
{
    while (image->copies) {
        struct copy *next = image->copies->next;
        abi_variables_end(sys, image->copies->context, image->copies->base);
        heap.free(image->copies);
        image->copies = next;
    }
}

void abi_code_end(vmm_system *sys)
{
    for (struct abi_image *image = images; image; image = image->next)
        end_copies(sys, image);
}

/* ---- images ---- */

static CUresult load(vmm_system *sys, const char *function, void *image_out, bool library)
{
    uint64_t base;
    struct abi_image *image = heap.calloc(1, sizeof *image);
    if (!image)
        return abi_no_memory(function);
    image->library = library;
    CUresult result = library ? CUDA_SUCCESS : add_copy(sys, function, image, abi_query_current(sys), &base);
    if (result != CUDA_SUCCESS) {
        heap.free(image);
        return result;
    }
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

static CUresult unload(vmm_system *sys, const char *function, const void *handle, bool library)
{
    life_acquire(&lock);
    struct abi_image **link = place_of(handle), *image = *link;
    bool found = image && image->library == library;
    if (found)
        *link = image->next;
    life_release(&lock);
    if (!found)
        return refuse_handle(function, handle);
    end_copies(sys, image);
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
static CUresult load_module(vmm_system *sys, const char *function, CUmodule *module, const void *image)
{
    uint64_t current;
    struct abi_query_context context;
    if (!module || !image)
        return abi_null(function, module ? "image" : "module");
    CUresult result = abi_current(sys, function, &current, &context);
    return result == CUDA_SUCCESS ? load(sys, function, module, false) : result;
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

static CUresult load_module_file(vmm_system *sys, CUmodule *module, const char *path)
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
    ABI_INITIALISED(unload(sys, "cuModuleUnload", hmod, false));
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

/* ---- variables by name ---- */

static CUresult refuse_variable(const char *function, const char *name)
{
    return abi_refuse(VMM_RULE_CODE_NAME, function, "no plugin of CUVMM_KERNELS has a variable %.60s: write "
                      "VMM_VARIABLE(type, %.60s, elements)", name, name);
}

/* The outputs become 0 when there is no such variable, as recorded. */
static CUresult variable_in(vmm_system *sys, const char *function, struct abi_image *image, const char *name, CUdeviceptr *dptr,
                            size_t *bytes)
{
    uint64_t base;
    CUresult result = abi_image_variables(sys, function, image, &base);
    if (result != CUDA_SUCCESS)
        return result;
    const struct abi_variable *v = abi_variable_find(name);
    if (dptr)
        *dptr = v ? base + v->offset : 0;
    if (bytes)
        *bytes = v ? v->entry->size : 0;
    return v ? CUDA_SUCCESS : refuse_variable(function, name);
}

static CUresult module_variable(vmm_system *sys, CUdeviceptr *dptr, size_t *bytes, void *module, const char *name)
{
    static const char function[] = "cuModuleGetGlobal";
    if (!module)
        return refuse_handle(function, module);
    if (!name)
        return abi_null(function, "name");
    return is_image(module) ? variable_in(sys, function, module, name, dptr, bytes) : refuse_handle(function, module);
}

CUresult cuModuleGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
    ABI_INITIALISED(module_variable(sys, dptr, bytes, hmod, name));
}

static CUresult library_variable(vmm_system *sys, CUdeviceptr *dptr, size_t *bytes, void *library, const char *name)
{
    static const char function[] = "cuLibraryGetGlobal";
    if (!name || !dptr)
        return abi_null(function, name ? "dptr" : "name");
    return is_image(library) ? variable_in(sys, function, library, name, dptr, bytes) : refuse_handle(function, library);
}

CUresult cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
{
    ABI_INITIALISED(library_variable(sys, dptr, bytes, library, name));
}

/* No plugin can declare managed variables or unified functions. */
static CUresult find_none(const char *function, const void *library, const char *name, const char *kind)
{
    if (!name)
        return abi_null(function, "name");
    if (!is_image(library))
        return refuse_handle(function, library);
    return abi_refuse(VMM_RULE_CODE_NAME, function, "%.60s: plugins have no %s", name, kind);
}

CUresult cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
{
    (void)dptr, (void)bytes;
    ABI_INITIALISED(((void)sys, find_none(__func__, library, name, "managed variables")));
}

CUresult cuLibraryGetUnifiedFunction(void **fptr, CUlibrary library, const char *symbol)
{
    (void)fptr;
    ABI_INITIALISED(((void)sys, find_none(__func__, library, symbol, "unified functions")));
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

static CUresult load_library(vmm_system *sys, CUlibrary *library, const void *code)
{
    if (!library || !code)
        return abi_null("cuLibraryLoadData", library ? "code" : "library");
    return load(sys, "cuLibraryLoadData", library, true);
}

CUresult cuLibraryLoadData(CUlibrary *library, const void *code, CUjit_option *jitOptions, void **jitOptionsValues,
                           unsigned int numJitOptions, CUlibraryOption *libraryOptions, void **libraryOptionValues,
                           unsigned int numLibraryOptions)
{
    (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    ABI_INITIALISED((abi_jit_answered(load_library(sys, library, code), jitOptions, jitOptionsValues, numJitOptions)));
}

static CUresult load_library_file(vmm_system *sys, CUlibrary *library, const char *path)
{
    CUresult result = check_file("cuLibraryLoadFromFile", path);
    return result == CUDA_SUCCESS ? load_library(sys, library, path) : result;
}

CUresult cuLibraryLoadFromFile(CUlibrary *library, const char *fileName, CUjit_option *jitOptions,
                               void **jitOptionsValues, unsigned int numJitOptions, CUlibraryOption *libraryOptions,
                               void **libraryOptionValues, unsigned int numLibraryOptions)
{
    (void)libraryOptions, (void)libraryOptionValues, (void)numLibraryOptions;
    ABI_INITIALISED(
        (abi_jit_answered(load_library_file(sys, library, fileName), jitOptions, jitOptionsValues, numJitOptions)));
}

CUresult cuLibraryUnload(CUlibrary library)
{
    ABI_INITIALISED(unload(sys, "cuLibraryUnload", library, true));
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
