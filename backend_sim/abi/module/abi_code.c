/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_code.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi_capture.h"
#include "abi_jit.h"
#include "abi_parts.h"
#include "abi_variables.h"
#include "heap.h"
#include "lifecycle.h"
#include "os_share.h"
#include "posix.h"

/* What a program has set: of a function, or of a kernel on a device. */
struct abi_setting {
    int device, attribute, value;
    struct abi_setting *next;
};

/* The variables of an image in a context: of a module one, from its load on; of a library one for each context that used it. */
struct copy {
    uint64_t context, *addresses;
    struct copy *next;
};

/* A module or a library; its address is the handle, and its module is another handle of a library. */
struct abi_image {
    bool library;
    char module; /* its address is the handle of a library's module */
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

/* The image that is, or has, the module: call it under the lock. NULL: none. */
static struct abi_image *of_module(const void *handle)
{
    struct abi_image *image = images;
    while (image && handle != (image->library ? (const void *)&image->module : image))
        image = image->next;
    return image;
}

static struct abi_image *of_library(const void *handle)
{
    struct abi_image *image = *place_of(handle);
    return image && image->library ? image : NULL;
}

/* The module's or library's image, which stays until it is unloaded. NULL: the handle is of neither kind. */
static struct abi_image *image_of(const void *handle, bool library)
{
    life_acquire(&lock);
    struct abi_image *image = library ? of_library(handle) : of_module(handle);
    life_release(&lock);
    return image;
}

const void *abi_image_module(const struct abi_image *image)
{
    return image->library ? (const void *)&image->module : image;
}

static CUresult refuse_handle(const char *function, const void *handle)
{
    return abi_refuse(VMM_RULE_CODE_HANDLE, function, "%p is not loaded, or was unloaded", handle);
}

/* ---- variables ---- */

/* A context's copy; a module has one copy for all. Call it under the lock. */
static bool copy_in(const struct abi_image *image, uint64_t context, uint64_t **addresses)
{
    const struct copy *copy = image->copies;
    while (copy && image->library && copy->context != context)
        copy = copy->next;
    *addresses = copy ? copy->addresses : NULL;
    return copy != NULL;
}

/* Makes the copy of the current context and adds it to the image. */
static CUresult add_copy(vmm_system *sys, const char *function, struct abi_image *image, uint64_t context, uint64_t **addresses)
{
    struct copy *copy = heap.malloc(sizeof *copy);
    if (!copy)
        return abi_no_memory(function);
    CUresult result = abi_variables_make(sys, function, addresses);
    if (result != CUDA_SUCCESS) {
        heap.free(copy);
        return result;
    }
    life_acquire(&lock);
    *copy = (struct copy){context, *addresses, image->copies};
    image->copies = copy;
    life_release(&lock);
    /* analysers: memleak is wrong: it is in the list */
    return CUDA_SUCCESS;
}

CUresult abi_image_variables(vmm_system *sys, const char *function, struct abi_image *image, uint64_t **addresses)
{
    uint64_t context = abi_query_current(sys);
    life_acquire(&lock);
    bool lives = *place_of(image) != NULL, there = lives && copy_in(image, context, addresses);
    life_release(&lock);
    if (!lives) /* LCOV_EXCL_BR_LINE: only if another thread unloads it now */
        return refuse_handle(function, image); /* LCOV_EXCL_LINE: the same */
    if (there && image->library && !abi_variables_live(*addresses))
        there = false; /* a primary context has ended and begun again: the new copy comes before the old one */
    return there ? CUDA_SUCCESS : add_copy(sys, function, image, context, addresses);
}

static void end_copies(vmm_system *sys, struct abi_image *image)
{
    while (image->copies) {
        struct copy *next = image->copies->next;
        abi_variables_end(sys, image->copies->addresses);
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
    uint64_t *addresses;
    struct abi_image *image = heap.calloc(1, sizeof *image);
    if (!image)
        return abi_no_memory(function);
    image->library = library;
    CUresult result = library ? CUDA_SUCCESS : add_copy(sys, function, image, abi_query_current(sys), &addresses);
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
        struct CUfunc_st *f = image->functions;
        image->functions = f->next;
        while (f->settings) {
            struct abi_setting *next = f->settings->next;
            heap.free(f->settings);
            f->settings = next;
        }
        heap.free(f);
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

/* ---- functions and kernels ---- */

enum { DEFAULT_SHARED = 48 * 1024, DEFAULT_CARVEOUT = -1 }; /* the initial values */
enum { OF_FUNCTION = -1 };                                    /* in place of a device */

/* Call it under the lock. *kind: what the handle is. */
static struct CUfunc_st *function_in(const void *handle, enum abi_handle *kind)
{
    for (struct abi_image *image = images; image; image = image->next)
        for (struct CUfunc_st *f = image->functions; f; f = f->next)
            if (handle == f || handle == &f->function) {
                *kind = handle == f && image->library ? ABI_KERNEL : ABI_FUNCTION;
                return f;
            }
    return NULL;
}

static struct abi_setting *setting_of(const struct CUfunc_st *f, int device, int attribute)
{
    struct abi_setting *setting = f->settings;
    while (setting && (setting->device != device || setting->attribute != attribute))
        setting = setting->next;
    return setting;
}

/* Applies the settings of a device or of the function to the attributes of a copy. */
static void apply(struct CUfunc_st *copy, int device)
{
    for (const struct abi_setting *setting = copy->settings; setting; setting = setting->next)
        if (setting->device == device)
            copy->attribute[setting->attribute] = setting->value;
}

CUresult abi_handle_find(const char *function, const void *handle, enum abi_handle kind, int device, struct CUfunc_st *found)
{
    enum abi_handle is = ABI_EITHER;
    life_acquire(&lock);
    const struct CUfunc_st *f = function_in(handle, &is);
    bool right = f && (kind == ABI_EITHER || kind == is);
    if (right) {
        *found = *f;
        apply(found, device);
        if (kind != ABI_KERNEL)
            apply(found, OF_FUNCTION);
    }
    life_release(&lock);
    return right ? CUDA_SUCCESS : refuse_handle(function, handle);
}

const void *abi_function_handle(const void *handle)
{
    return &((const struct CUfunc_st *)handle)->function;
}

/* Call it under the lock. */
static bool set(struct CUfunc_st *f, int device, int attribute, int value)
{
    struct abi_setting *setting = setting_of(f, device, attribute);
    if (!setting && (setting = heap.malloc(sizeof *setting))) {
        *setting = (struct abi_setting){device, attribute, value, f->settings};
        f->settings = setting;
    }
    if (setting)
        setting->value = value;
    /* analysers: memleak is wrong: it is in the list */
    return setting != NULL;
}

CUresult abi_function_set(const char *function, const void *handle, int device, CUfunction_attribute attribute, int value)
{
    enum abi_handle is = ABI_EITHER;
    life_acquire(&lock);
    struct CUfunc_st *f = function_in(handle, &is);
    bool ok = !f || set(f, is == ABI_KERNEL ? device : OF_FUNCTION, (int)attribute, value);
    life_release(&lock);
    return ok ? CUDA_SUCCESS : abi_no_memory(function);
}

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

/* The image's function for a kernel: always the same one. NULL: memory is out, or no such image. */
static struct CUfunc_st *function_for(const struct abi_image *wanted, const struct abi_kernel *kernel)
{
    life_acquire(&lock);
    struct abi_image *image = *place_of(wanted);
    struct CUfunc_st *f = image ? function_of(image, kernel) : NULL; /* LCOV_EXCL_BR_LINE: only if a thread unloads it now */
    life_release(&lock);
    return f;
}

/* Finds the kernel of a library, or the function of a module. */
static CUresult get_function(const char *function, void *out, const void *handle, bool library, const char *name)
{
    const struct abi_kernel *kernel;
    if (!out || !name)
        return abi_null(function, out ? "name" : "hfunc");
    const struct abi_image *image = image_of(handle, library);
    if (!image)
        return refuse_handle(function, handle);
    CUresult result = abi_kernel_find(function, name, &kernel);
    if (result != CUDA_SUCCESS)
        return result;
    const struct CUfunc_st *f = function_for(image, kernel);
    if (!f)
        return abi_no_memory(function);
    const void *found = image->library && !library ? abi_function_handle(f) : f;
    memcpy(out, &found, sizeof found);
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

static CUresult unload_module(vmm_system *sys, const void *module)
{
    static const char function[] = "cuModuleUnload";
    const struct abi_image *image = image_of(module, false);
    if (image && image->library)
        return abi_refuse(VMM_RULE_CODE_OWNER, function, "%p is the module of a library: unload that", module);
    return unload(sys, function, module, false);
}

CUresult cuModuleUnload(CUmodule hmod)
{
    ABI_NO_CAPTURE();
    ABI_INITIALISED(unload_module(sys, hmod));
}

/* As recorded: an invalid module is reported first, and a missing function is returned as 0. */
static CUresult module_function(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    static const char function[] = "cuModuleGetFunction";
    CUresult result = hmod ? get_function(function, hfunc, hmod, false, name) : refuse_handle(function, hmod);
    if (result == CUDA_ERROR_NOT_FOUND)
        *hfunc = NULL;
    return result;
}

CUresult cuModuleGetFunction(CUfunction *hfunc, CUmodule hmod, const char *name)
{
    ABI_INITIALISED(((void)sys, module_function(hfunc, hmod, name)));
}

/* ---- variables by name ---- */

/* A name that a plugin has for a kernel is of the wrong kind, as is the empty one. */
static CUresult refuse_variable(const char *function, const char *name)
{
    if (!*name || abi_kernel_there(name))
        return abi_refuse(VMM_RULE_CODE_KIND, function, "%s%.60s%s", *name ? "" : "the name is empty", name,
                          *name ? " is a kernel" : "");
    return abi_refuse(VMM_RULE_CODE_NAME, function, "no plugin of CUVMM_KERNELS has a variable %.60s: write "
                      "VMM_VARIABLE(type, %.60s, elements)", name, name);
}

static CUresult variable_in(vmm_system *sys, const char *function, struct abi_image *image, const char *name, CUdeviceptr *dptr,
                            size_t *bytes)
{
    uint64_t *addresses;
    CUresult result = abi_image_variables(sys, function, image, &addresses);
    const struct abi_variable *v = result == CUDA_SUCCESS ? abi_variable_find(name) : NULL;
    if (result == CUDA_SUCCESS && !v)
        result = refuse_variable(function, name);
    if (result != CUDA_SUCCESS)
        return result;
    if (dptr)
        *dptr = addresses[v->index];
    if (bytes)
        *bytes = v->entry->size;
    return CUDA_SUCCESS;
}

static CUresult module_variable(vmm_system *sys, CUdeviceptr *dptr, size_t *bytes, const void *module, const char *name)
{
    static const char function[] = "cuModuleGetGlobal";
    if (!module)
        return refuse_handle(function, module);
    if (!name || (!dptr && !bytes))
        return abi_null(function, name ? "dptr and bytes" : "name");
    struct abi_image *image = image_of(module, false);
    return image ? variable_in(sys, function, image, name, dptr, bytes) : refuse_handle(function, module);
}

/* The outputs become 0 first, as recorded. */
CUresult cuModuleGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUmodule hmod, const char *name)
{
    if (dptr)
        *dptr = 0;
    if (bytes)
        *bytes = 0;
    ABI_INITIALISED(module_variable(sys, dptr, bytes, hmod, name));
}

/* What a call refuses before it looks whether cuInit was called. */
static CUresult check_global(const char *function, const void *library, const char *name, bool outputs)
{
    if (!name || !outputs)
        return abi_null(function, name ? "dptr and bytes" : "name");
    return library ? CUDA_SUCCESS : refuse_handle(function, library);
}

static CUresult library_variable(vmm_system *sys, CUdeviceptr *dptr, size_t *bytes, const void *library, const char *name)
{
    static const char function[] = "cuLibraryGetGlobal";
    uint64_t current;
    struct abi_query_context context;
    struct abi_image *image = image_of(library, true);
    CUresult result = image ? abi_current(sys, function, &current, &context) : refuse_handle(function, library);
    return result == CUDA_SUCCESS ? variable_in(sys, function, image, name, dptr, bytes) : result;
}

CUresult cuLibraryGetGlobal(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
{
    CUresult result = check_global(__func__, library, name, dptr || bytes);
    if (result != CUDA_SUCCESS)
        return result;
    ABI_INITIALISED(library_variable(sys, dptr, bytes, library, name));
}

/* No plugin can declare managed variables. */
static CUresult managed_variable(const void *library, const char *name)
{
    static const char function[] = "cuLibraryGetManaged";
    if (!image_of(library, true))
        return refuse_handle(function, library);
    if (!*name)
        return abi_refuse(VMM_RULE_CODE_KIND, function, "the name is empty");
    return abi_refuse(VMM_RULE_CODE_NAME, function, "%.60s: plugins have no managed variables", name);
}

CUresult cuLibraryGetManaged(CUdeviceptr *dptr, size_t *bytes, CUlibrary library, const char *name)
{
    CUresult result = check_global(__func__, library, name, dptr || bytes);
    if (result != CUDA_SUCCESS)
        return result;
    ABI_INITIALISED(((void)sys, managed_variable(library, name)));
}

/* Whatever the name: plugins have no unified functions, and neither had the recorded program. */
static CUresult unified_function(const void *fptr, const void *library, const char *name)
{
    static const char function[] = "cuLibraryGetUnifiedFunction";
    if (!fptr || (library && !name))
        return abi_null(function, fptr ? "symbol" : "fptr");
    if (!library)
        return refuse_handle(function, library);
    return abi_refuse(VMM_RULE_CODE_KIND, function, "%.60s is not a unified function", name);
}

CUresult cuLibraryGetUnifiedFunction(void **fptr, CUlibrary library, const char *symbol)
{
    ABI_INITIALISED(((void)sys, unified_function(fptr, library, symbol)));
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
    ABI_NO_CAPTURE();
    ABI_INITIALISED(unload(sys, "cuLibraryUnload", library, true));
}

CUresult cuLibraryGetKernel(CUkernel *pKernel, CUlibrary library, const char *name)
{
    ABI_INITIALISED(((void)sys, get_function("cuLibraryGetKernel", pKernel, library, true, name)));
}

static CUresult module_of(CUmodule *module, const void *library)
{
    if (!module)
        return abi_null("cuLibraryGetModule", "pMod");
    const struct abi_image *image = image_of(library, true);
    if (!image)
        return refuse_handle("cuLibraryGetModule", library);
    const void *handle = abi_image_module(image);
    memcpy(module, &handle, sizeof handle);
    return CUDA_SUCCESS;
}

CUresult cuLibraryGetModule(CUmodule *pMod, CUlibrary library)
{
    ABI_INITIALISED(((void)sys, module_of(pMod, library)));
}
