/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of modules and kernels of libraries: their handles, and the attributes that a program sets. */
#include <stdlib.h>
#include <string.h>

#include "abi_code_parts.h"
#include "abi_image.h"
#include "abi_missing.h"
#include "abi_occupancy.h"
#include "abi_parts.h"
#include "heap.h"

enum { HANDLES = 4096 };

static struct CUfunc_st *handles[HANDLES]; /* functions by their addresses */

static struct CUfunc_st **handles_of(const void *handle)
{
    return &handles[((uintptr_t)handle >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 52];
}

void abi_function_free(struct CUfunc_st *f)
{
    while (f->settings) {
        struct abi_setting *next = f->settings->next;
        heap.free(f->settings);
        f->settings = next;
    }
    if (f->kernel->code)
        abi_missing_free((struct abi_kernel *)(uintptr_t)f->kernel);
    heap.free(f);
}

enum { DEFAULT_SHARED = 48 * 1024, DEFAULT_CARVEOUT = -1 }; /* the initial values */
enum { OF_FUNCTION = -1 };                                    /* in place of a device */

void abi_function_forget(struct CUfunc_st *f)
{
    struct CUfunc_st **link = handles_of(f);
    while (*link != f)
        link = &(*link)->same;
    *link = f->same;
}

static struct CUfunc_st *known(const void *handle)
{
    struct CUfunc_st *f = *handles_of(handle);
    while (f && f != handle)
        f = f->same;
    return f;
}

/* Call it under the lock. *kind: what the handle is. */
static struct CUfunc_st *function_in(const void *handle, enum abi_handle *kind)
{
    struct CUfunc_st *f = known(handle);
    bool itself = f != NULL;
    if (!f)
        f = known((const void *)((uintptr_t)handle - offsetof(struct CUfunc_st, function)));
    if (f)
        *kind = itself && f->image->library ? ABI_KERNEL : ABI_FUNCTION;
    return f;
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

static bool look(const void *handle, enum abi_handle kind, int device, struct CUfunc_st *found)
{
    enum abi_handle is = ABI_EITHER;
    abi_images_lock();
    const struct CUfunc_st *f = function_in(handle, &is);
    bool right = f && (kind == ABI_EITHER || kind == is);
    if (right) {
        *found = *f;
        apply(found, device);
        if (kind != ABI_KERNEL)
            apply(found, OF_FUNCTION);
    }
    abi_images_unlock();
    return right;
}

bool abi_handle_look(const void *handle, struct CUfunc_st *found)
{
    return look(handle, ABI_EITHER, 0, found);
}

CUresult abi_handle_find(const char *function, const void *handle, enum abi_handle kind, int device, struct CUfunc_st *found)
{
    return look(handle, kind, device, found) ? CUDA_SUCCESS : abi_code_refuse(function, handle);
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
    abi_images_lock();
    struct CUfunc_st *f = function_in(handle, &is);
    bool ok = !f || set(f, is == ABI_KERNEL ? device : OF_FUNCTION, (int)attribute, value);
    abi_images_unlock();
    return ok ? CUDA_SUCCESS : abi_no_memory(function);
}

static void set_defaults(struct CUfunc_st *f, const struct image_kernel *code)
{
    static const int cluster[3] = {CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT,
                                   CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH};
    f->attribute[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] = DEFAULT_SHARED;
    f->attribute[CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT] = DEFAULT_CARVEOUT;
    if (!code)
        return;
    f->attribute[CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES] =
        code->shared < DEFAULT_SHARED ? DEFAULT_SHARED - code->shared : 0;
    f->attribute[CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES] = code->shared;
    f->attribute[CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES] = code->constant;
    f->attribute[CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES] = code->local;
    f->attribute[CU_FUNC_ATTRIBUTE_NUM_REGS] = code->registers;
    f->attribute[CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK] = abi_occupancy_threads(code);
    f->attribute[CU_FUNC_ATTRIBUTE_PTX_VERSION] = code->ptx;
    f->attribute[CU_FUNC_ATTRIBUTE_BINARY_VERSION] = code->binary;
    for (int i = 0; i < 3; i++)
        f->attribute[cluster[i]] = code->cluster[i];
}

/* Call it under the lock. NULL: memory is out. */
static struct CUfunc_st *add_function(struct abi_image *image, const struct abi_kernel *kernel)
{
    struct CUfunc_st *f = heap.calloc(1, sizeof *f);
    if (!f)
        return NULL;
    f->kernel = kernel;
    set_defaults(f, kernel->code);
    f->image = image;
    f->next = image->functions;
    image->functions = f;
    struct CUfunc_st **bucket = handles_of(f);
    f->same = *bucket;
    *bucket = f;
    return f;
}

/* The image's function for a plugin's kernel: always the same one. The same. */
static struct CUfunc_st *of_plugin(struct abi_image *image, const struct abi_kernel *kernel)
{
    struct CUfunc_st *f = image->functions;
    while (f && f->kernel != kernel)
        f = f->next;
    return f ? f : add_function(image, kernel);
}

/* The kernel from the image's PTX, or the reason why that cannot run. */
static void find_ptx(const struct abi_image *image, struct abi_kernel *kernel, size_t index)
{
    if (image->ptx)
        kernel->ptx = abi_ptx_kernel(image->ptx, kernel->name, index);
    if (kernel->ptx)
        kernel->why = kernel->ptx->kernel->refused;
    else if (image->why[0])
        kernel->why = image->why;
}

/* The function for a kernel that the image holds itself. The same. */
static struct CUfunc_st *of_code(struct abi_image *image, size_t index)
{
    if (!image->of_code && !(image->of_code = heap.calloc(image->code->kernels, sizeof(struct CUfunc_st *))))
        return NULL;
    if (image->of_code[index])
        return image->of_code[index];
    struct abi_kernel *kernel = abi_missing_new(&image->code->kernel[index]);
    if (kernel)
        find_ptx(image, kernel, index);
    struct CUfunc_st *f = kernel ? add_function(image, kernel) : NULL;
    if (kernel && !f)
        abi_missing_free(kernel);
    image->of_code[index] = f;
    return f;
}

/* The image's function of that name: for the plugin's kernel, or its own kernel if there is no plugin's. why: the reason if it
 * has none. */
static CUresult function_for(const struct abi_image *wanted, const char *name, const struct abi_kernel *plugin,
                             struct CUfunc_st **found, char *why, size_t size)
{
    *found = NULL;
    abi_images_lock();
    struct abi_image *image = plugin ? *abi_images_place(wanted) : abi_images_read(wanted);
    long index = image && !plugin ? image_kernel_named(image->code, name) : -1; /* LCOV_EXCL_BR_LINE: only if another thread unloads it now */
    if (image && (plugin || index >= 0))                                        /* LCOV_EXCL_BR_LINE: the same */
        *found = plugin ? of_plugin(image, plugin) : of_code(image, (size_t)index);
    bool absent = image && !plugin && index < 0; /* LCOV_EXCL_BR_LINE: the same */
    if (absent)
        snprintf(why, size, "%s", image_why(image->code));
    abi_images_unlock();
    return *found ? CUDA_SUCCESS : absent ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_OUT_OF_MEMORY;
}

/* A function of a library's image has different handles as a kernel and as a function of its module. */
static const void *handle_of(const struct CUfunc_st *f, bool library)
{
    return f->image->library && !library ? abi_function_handle(f) : f;
}

/* Finds the kernel of a library, or the function of a module. */
CUresult abi_image_function(const char *function, void *out, const void *handle, bool library, const char *name)
{
    const struct abi_kernel *plugin;
    struct CUfunc_st *f;
    char why[160] = "";
    if (!out || !name)
        return abi_null(function, out ? "name" : "hfunc");
    const struct abi_image *image = abi_image_of(handle, library);
    if (!image)
        return abi_code_refuse(function, handle);
    CUresult result = abi_kernel_find(function, name, &plugin);
    if (result != CUDA_SUCCESS && result != CUDA_ERROR_NOT_FOUND)
        return result;
    result = function_for(image, name, plugin, &f, why, sizeof why);
    if (result != CUDA_SUCCESS)
        return result == CUDA_ERROR_NOT_FOUND ? abi_kernel_refuse(function, name, why) : abi_no_memory(function);
    const void *found = handle_of(f, library);
    memcpy(out, &found, sizeof found);
    return CUDA_SUCCESS;
}

CUresult abi_image_count(const char *function, const void *handle, bool library, unsigned *count)
{
    if (!count)
        return abi_null(function, "count");
    const struct abi_image *found = abi_image_of(handle, library);
    if (!found)
        return abi_code_refuse(function, handle);
    abi_images_lock();
    const struct abi_image *image = abi_images_read(found);
    *count = image ? image->code->kernels : 0;
    abi_images_unlock();
    return image ? CUDA_SUCCESS : abi_no_memory(function);
}

CUresult abi_image_all(const char *function, const void *handle, bool library, void *out, unsigned most)
{
    if (!out)
        return abi_null(function, library ? "kernels" : "functions");
    unsigned count = 0;
    const void **into = out;
    CUresult result = abi_image_count(function, handle, library, &count);
    const struct abi_image *image = abi_image_of(handle, library);
    for (unsigned i = 0; i < count && i < most && result == CUDA_SUCCESS; i++) /* its names stay as long as the image */
        result = abi_image_function(function, &into[i], handle, library, image->code->kernel[i].name);
    return result;
}

void abi_functions_close(void)
{
    memset(handles, 0, sizeof handles);
}
