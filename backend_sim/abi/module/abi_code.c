/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_code_parts.h"

#include <stdlib.h>
#include <string.h>

#include "abi_image.h"
#include "abi_parts.h"
#include "heap.h"
#include "lifecycle.h"

LIFE_LOCK(lock, LIFE_TABLE, NULL)
static struct abi_image *images;

void abi_images_lock(void)
{
    life_acquire(&lock);
}

void abi_images_unlock(void)
{
    life_release(&lock);
}

struct abi_image **abi_images_place(const void *handle)
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
    struct abi_image *image = *abi_images_place(handle);
    return image && image->library ? image : NULL;
}

/* The module's or library's image, which stays until it is unloaded. NULL if the handle is of neither kind. */
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

/* ---- images ---- */

static void free_image(struct abi_image *image)
{
    while (image->functions) {
        struct CUfunc_st *f = image->functions;
        image->functions = f->next;
        abi_function_free(f);
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

/* A driver compiles text when it is loaded, and reports what is wrong. */
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
        result = abi_image_add_variables(sys, function, image, abi_query_current(sys), &addresses);
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
    struct abi_image **link = abi_images_place(handle), *image = *link;
    bool found = image && image->library == library;
    if (found) {
        *link = image->next;
        for (struct CUfunc_st *f = image->functions; f; f = f->next)
            abi_function_forget(f);
    }
    life_release(&lock);
    if (!found)
        return abi_code_refuse(function, handle);
    abi_image_end_variables(sys, image);
    free_image(image);
    return CUDA_SUCCESS;
}

/* An image that is found, and read. NULL if there is none, or memory is exhausted. Call it under the lock. */
struct abi_image *abi_images_read(const void *wanted)
{
    struct abi_image *image = *abi_images_place(wanted);
    return image && prepare(image) ? image : NULL; /* LCOV_EXCL_BR_LINE: only if another thread unloads it now */
}

void abi_code_end(vmm_system *sys)
{
    for (struct abi_image *image = images; image; image = image->next)
        abi_image_end_variables(sys, image);
}

void abi_code_close(void)
{
    while (images) {
        struct abi_image *next = images->next;
        free_image(images);
        images = next;
    }
    abi_functions_close();
}
