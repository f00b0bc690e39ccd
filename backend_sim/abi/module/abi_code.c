/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_code_parts.h"

#include <stdlib.h>
#include <string.h>

#include "abi_missing.h"
#include "abi_occupancy.h"
#include "abi_parts.h"
#include "abi_ptx.h"
#include "abi_variable_memory.h"
#include "abi_variables.h"
#include "heap.h"
#include "lifecycle.h"

/* What a program has set: of a function, or of a kernel on a device. */
struct abi_setting {
    int device, attribute, value;
    struct abi_setting *next;
};

/* A variable that the image itself holds, from the first lookup on. */
struct held {
    const struct image_variable *variable;
    uint64_t address;
    struct held *next;
};

/* The variables of an image in a context: of a module one, from its load on; of a library one for each context that used it. */
struct copy {
    uint64_t context, *addresses;
    struct held *held;
    struct copy *next;
};

/* A module or a library; its address is the handle, and its module is another handle of a library. */
struct abi_image {
    bool library;
    char module; /* its address is the handle of a library's module */
    struct image *code;
    struct abi_ptx_device device;
    struct abi_ptx *ptx;  /* NULL: the image has no PTX, or why says what is wrong with it */
    bool compiled;
    bool too_new;         /* that is a version of PTX */
    char why[320];
    struct CUfunc_st **of_code; /* by the index of the image's kernel; NULL: none was looked up */
    struct CUfunc_st *functions;
    struct copy *copies;
    struct abi_image *next;
};

enum { HANDLES = 4096 };

LIFE_LOCK(lock, LIFE_TABLE, NULL)
static struct abi_image *images;
static struct CUfunc_st *handles[HANDLES]; /* functions by their addresses */

static struct CUfunc_st **handles_of(const void *handle)
{
    return &handles[((uintptr_t)handle >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 52];
}

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
struct abi_image *abi_image_of(const void *handle, bool library)
{
    life_acquire(&lock);
    struct abi_image *image = library ? of_library(handle) : of_module(handle);
    life_release(&lock);
    return image;
}

bool abi_image_is_library(const struct abi_image *image)
{
    return image->library;
}

const void *abi_image_module(const struct abi_image *image)
{
    return image->library ? (const void *)&image->module : image;
}

CUresult abi_code_refuse(const char *function, const void *handle)
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
    *copy = (struct copy){.context = context, .addresses = *addresses, .next = image->copies};
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
        return abi_code_refuse(function, image); /* LCOV_EXCL_LINE: the same */
    if (there && image->library && !abi_variables_live(*addresses))
        there = false; /* a primary context has ended and begun again: the new copy comes before the old one */
    return there ? CUDA_SUCCESS : add_copy(sys, function, image, context, addresses);
}

static void end_copies(vmm_system *sys, struct abi_image *image)
{
    abi_ptx_end(sys, image->ptx);
    while (image->copies) {
        struct copy *next = image->copies->next;
        abi_variables_end(sys, image->copies->addresses);
        while (image->copies->held) {
            struct held *held = image->copies->held;
            image->copies->held = held->next;
            abi_variable_end(sys, held->address);
            heap.free(held);
        }
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

static void forget(struct CUfunc_st *f);

static void free_function(struct CUfunc_st *f)
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

static void free_image(struct abi_image *image)
{
    while (image->functions) {
        struct CUfunc_st *f = image->functions;
        image->functions = f->next;
        free_function(f);
    }
    abi_ptx_drop(image->ptx);
    image_free(image->code);
    heap.free(image->of_code);
    heap.free(image);
}

/* Compiles the PTX of an image that was read, once. False: memory is out. */
static bool compile(struct abi_image *image)
{
    struct ptx_error error = {.no_memory = false};
    size_t size;
    if (image->compiled)
        return true;
    const char *text = image->device.skips ? NULL : image_ptx(image->code, &size);
    if (text)
        image->ptx = abi_ptx_new(&image->device, text, size, &error);
    if (error.no_memory)
        return false;
    if (image->ptx)
        abi_ptx_describe(image->ptx, image->code);
    else if (text && error.place.line)
        snprintf(image->why, sizeof image->why, "line %u, column %u of its PTX: %s", error.place.line, error.place.column, error.text);
    else if (text)
        snprintf(image->why, sizeof image->why, "%s", error.text);
    image->too_new = error.too_new;
    image_drop_ptx(image->code);
    image->compiled = true;
    return true;
}

/* Reads an image and compiles its PTX, once. False: memory is out. */
static bool prepare(struct abi_image *image)
{
    int cancel = life_no_cancel(); /* loading a library is a cancellation point */
    bool ready = image_read(image->code) && compile(image);
    life_may_cancel(cancel);
    return ready;
}

/* A driver compiles text when it is loaded, and answers with what is wrong. */
static CUresult compile_text(const char *function, struct abi_image *image, struct abi_code_bytes *code)
{
    if (!image_is_text(image->code) || image->device.skips)
        return CUDA_SUCCESS;
    if (!prepare(image))
        return abi_no_memory(function);
    if (image->ptx)
        return CUDA_SUCCESS;
    snprintf(code->log, sizeof code->log, "error: %s\n", image->why);
    return abi_refuse(image->too_new ? VMM_RULE_CODE_VERSION : VMM_RULE_CODE_PTX, function, "%.200s", image->why);
}

CUresult abi_image_load(vmm_system *sys, const char *function, void *image_out, bool library, struct abi_code_bytes *code)
{
    uint64_t *addresses;
    struct abi_image *image = heap.calloc(1, sizeof *image);
    if (!image || !(image->code = image_new(code->at, code->size, abi_capability(sys)))) {
        heap.free(image);
        return abi_no_memory(function);
    }
    image->library = library;
    image->device = abi_ptx_device(sys);
    CUresult result = compile_text(function, image, code);
    if (result == CUDA_SUCCESS && !library)
        result = add_copy(sys, function, image, abi_query_current(sys), &addresses);
    if (result != CUDA_SUCCESS) {
        free_image(image);
        return result;
    }
    life_acquire(&lock);
    image->next = images;
    images = image;
    life_release(&lock);
    memcpy(image_out, &image, sizeof image);
    return CUDA_SUCCESS;
}

CUresult abi_image_unload(vmm_system *sys, const char *function, const void *handle, bool library)
{
    life_acquire(&lock);
    struct abi_image **link = place_of(handle), *image = *link;
    bool found = image && image->library == library;
    if (found) {
        *link = image->next;
        for (struct CUfunc_st *f = image->functions; f; f = f->next)
            forget(f);
    }
    life_release(&lock);
    if (!found)
        return abi_code_refuse(function, handle);
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
    memset(handles, 0, sizeof handles);
}

/* ---- functions and kernels ---- */

enum { DEFAULT_SHARED = 48 * 1024, DEFAULT_CARVEOUT = -1 }; /* the initial values */
enum { OF_FUNCTION = -1 };                                    /* in place of a device */

static void forget(struct CUfunc_st *f)
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
    life_acquire(&lock);
    struct CUfunc_st *f = function_in(handle, &is);
    bool ok = !f || set(f, is == ABI_KERNEL ? device : OF_FUNCTION, (int)attribute, value);
    life_release(&lock);
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

/* The kernel as the image's PTX has it, or why that does not run. */
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

/* An image that is found, and read. NULL: there is none, or memory is out. Call it under the lock. */
static struct abi_image *read_image(const void *wanted)
{
    struct abi_image *image = *place_of(wanted);
    return image && prepare(image) ? image : NULL; /* LCOV_EXCL_BR_LINE: only if another thread unloads it now */
}

/* The image's function of that name: for the plugin's kernel, or without one for its own. why: why it has none. */
static CUresult function_for(const struct abi_image *wanted, const char *name, const struct abi_kernel *plugin,
                             struct CUfunc_st **found, char *why, size_t size)
{
    *found = NULL;
    life_acquire(&lock);
    struct abi_image *image = plugin ? *place_of(wanted) : read_image(wanted);
    long index = image && !plugin ? image_kernel_named(image->code, name) : -1; /* LCOV_EXCL_BR_LINE: the same */
    if (image && (plugin || index >= 0))                                        /* LCOV_EXCL_BR_LINE: the same */
        *found = plugin ? of_plugin(image, plugin) : of_code(image, (size_t)index);
    bool absent = image && !plugin && index < 0; /* LCOV_EXCL_BR_LINE: the same */
    if (absent)
        snprintf(why, size, "%s", image_why(image->code));
    life_release(&lock);
    return *found ? CUDA_SUCCESS : absent ? CUDA_ERROR_NOT_FOUND : CUDA_ERROR_OUT_OF_MEMORY;
}

/* A function of a library's image is another handle as a kernel and as a function of its module. */
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
    life_acquire(&lock);
    const struct abi_image *image = read_image(found);
    *count = image ? image->code->kernels : 0;
    life_release(&lock);
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

/* ---- variables by name ---- */

/* A name that a plugin or the image has for a kernel is of the wrong kind, as is the empty one. */
static CUresult refuse_variable(const char *function, const struct abi_image *image, const char *name)
{
    if (!*name || abi_kernel_there(name) || image_kernel_named(image->code, name) >= 0)
        return abi_refuse(VMM_RULE_CODE_KIND, function, "%s%.60s%s", *name ? "" : "the name is empty", name,
                          *name ? " is a kernel" : "");
    return abi_refuse(VMM_RULE_CODE_NAME, function, "no plugin of CUVMM_KERNELS has a variable %.60s, nor has the image: write "
                      "VMM_VARIABLE(type, %.60s, elements)", name, name);
}

/* The variable in the copy, if it was looked up before; call it under the lock. */
static struct held *held_in(const struct abi_image *image, uint64_t context, const struct image_variable *variable)
{
    const struct copy *copy = image->copies;
    while (copy->next && image->library && copy->context != context)
        copy = copy->next;
    struct held *held = copy->held;
    while (held && held->variable != variable)
        held = held->next;
    return held;
}

/* Adds it to the copy, or puts it in the place of one whose context has ended; false: another thread did meanwhile, and *address
 * is that one. */
static bool add_held(struct abi_image *image, uint64_t context, struct held *fresh, uint64_t *address)
{
    life_acquire(&lock);
    struct copy *copy = image->copies;
    while (copy->next && image->library && copy->context != context)
        copy = copy->next;
    struct held *held = held_in(image, context, fresh->variable);
    bool wins = !held || !abi_variable_memory(held->address);
    if (!held) {
        fresh->next = copy->held;
        copy->held = fresh;
    } else if (wins)
        held->address = fresh->address;
    *address = wins ? fresh->address : held->address;
    if (held)
        heap.free(fresh);
    life_release(&lock);
    /* analysers: memleak is wrong: it is in the list */
    return wins;
}

/* The address that the variable has in the context; 0: it was not looked up, or the context has ended. */
static uint64_t held_address(const struct abi_image *image, uint64_t context, const struct image_variable *variable)
{
    life_acquire(&lock);
    const struct held *held = held_in(image, context, variable);
    uint64_t address = held ? held->address : 0;
    life_release(&lock);
    return address && abi_variable_memory(address) ? address : 0;
}

/* A variable of the image itself, whose memory is allocated at the first lookup in a context. */
static CUresult own_variable(vmm_system *sys, const char *function, struct abi_image *image,
                             const struct image_variable *variable, uint64_t *address)
{
    uint64_t context = abi_query_current(sys), made;
    *address = held_address(image, context, variable);
    if (*address)
        return CUDA_SUCCESS;
    struct held *held = heap.malloc(sizeof *held);
    if (!held)
        return abi_no_memory(function);
    CUresult result = abi_variable_make(sys, function, variable->size, variable->initial, &made);
    if (result != CUDA_SUCCESS) {
        heap.free(held);
        return result;
    }
    *held = (struct held){variable, made, NULL};
    if (!add_held(image, context, held, address)) /* LCOV_EXCL_BR_LINE: only if another thread looks it up now */
        abi_variable_end(sys, made);              /* LCOV_EXCL_LINE: the same */
    return CUDA_SUCCESS;
}

CUresult abi_image_ptx_variables(vmm_system *sys, const char *function, struct abi_image *image, uint64_t **addresses)
{
    return abi_ptx_variables(sys, function, image->ptx, image->library ? abi_query_current(sys) : 0, addresses);
}

/* The image's variable of that name: of its PTX, or of its cubin. */
static CUresult own_named(const char *function, const struct abi_image *image, const char *name,
                          const struct image_variable **own, long *of_ptx, uint64_t *size)
{
    life_acquire(&lock);
    bool read = read_image(image) != NULL;
    *of_ptx = read && image->ptx ? abi_ptx_variable(image->ptx, name, size) : -1;
    *own = read && *of_ptx < 0 ? image_variable_named(image->code, name) : NULL;
    life_release(&lock);
    if (!read)
        return abi_no_memory(function);
    if (*own)
        *size = (*own)->size;
    return *own || *of_ptx >= 0 ? CUDA_SUCCESS : refuse_variable(function, image, name);
}

CUresult abi_image_managed(vmm_system *sys, const char *function, struct abi_image *image, const char *name, CUdeviceptr *dptr,
                           size_t *bytes)
{
    const struct image_variable *own;
    uint64_t *addresses, size = 0;
    long of_ptx;
    CUresult result = own_named(function, image, name, &own, &of_ptx, &size);
    if (result != CUDA_SUCCESS)
        return result;
    if (of_ptx < 0 || !abi_ptx_is_managed(image->ptx, of_ptx))
        return abi_refuse(VMM_RULE_CODE_NAME, function, "the image's variable %.60s is not managed", name);
    result = abi_ptx_managed(sys, function, image->ptx, &addresses);
    if (result == CUDA_SUCCESS && dptr)
        *dptr = addresses[of_ptx];
    if (result == CUDA_SUCCESS && bytes)
        *bytes = size;
    return result;
}

CUresult abi_image_variable(vmm_system *sys, const char *function, struct abi_image *image, const char *name, CUdeviceptr *dptr,
                            size_t *bytes)
{
    const struct image_variable *own;
    uint64_t *addresses, address = 0, size = 0;
    long of_ptx;
    CUresult result = abi_image_variables(sys, function, image, &addresses);
    if (result != CUDA_SUCCESS)
        return result;
    const struct abi_variable *v = abi_variable_find(name);
    if (v) {
        /* analysers: clang-analyzer-core.NullDereference is wrong: a plugin has variables, so there are addresses */
        address = addresses[v->index];
        size = v->entry->size;
    } else if ((result = own_named(function, image, name, &own, &of_ptx, &size)) == CUDA_SUCCESS) {
        result = of_ptx < 0 ? own_variable(sys, function, image, own, &address)
                            : abi_image_ptx_variables(sys, function, image, &addresses);
        if (of_ptx >= 0 && result == CUDA_SUCCESS)
            address = addresses[of_ptx];
    }
    if (result != CUDA_SUCCESS)
        return result;
    if (dptr)
        *dptr = address;
    if (bytes)
        *bytes = size;
    return CUDA_SUCCESS;
}
