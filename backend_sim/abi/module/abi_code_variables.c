/* SPDX-License-Identifier: Apache-2.0 */
/* Variables of modules and libraries: those of plugins, of cubins and of PTX. */
#include "abi_code_parts.h"
#include "abi_image.h"
#include "abi_parts.h"
#include "abi_variable_memory.h"
#include "abi_variables.h"
#include "heap.h"

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
CUresult abi_image_add_variables(vmm_system *sys, const char *function, struct abi_image *image, uint64_t context, uint64_t **addresses)
{
    struct copy *copy = heap.malloc(sizeof *copy);
    if (!copy)
        return abi_no_memory(function);
    CUresult result = abi_variables_make(sys, function, addresses);
    if (result != CUDA_SUCCESS) {
        heap.free(copy);
        return result;
    }
    abi_images_lock();
    *copy = (struct copy){.context = context, .addresses = *addresses, .next = image->copies};
    image->copies = copy;
    abi_images_unlock();
    /* analysers: memleak is wrong: it is in the list */
    return CUDA_SUCCESS;
}

CUresult abi_image_variables(vmm_system *sys, const char *function, struct abi_image *image, uint64_t **addresses)
{
    uint64_t context = abi_query_current(sys);
    abi_images_lock();
    bool lives = *abi_images_place(image) != NULL, there = lives && copy_in(image, context, addresses);
    abi_images_unlock();
    if (!lives) /* LCOV_EXCL_BR_LINE: only if another thread unloads it now */
        return abi_code_refuse(function, image); /* LCOV_EXCL_LINE: the same */
    if (there && image->library && !abi_variables_live(*addresses))
        there = false; /* a primary context has ended and begun again: the new copy comes before the old one */
    return there ? CUDA_SUCCESS : abi_image_add_variables(sys, function, image, context, addresses);
}

void abi_image_end_variables(vmm_system *sys, struct abi_image *image)
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

/* ---- variables by name ---- */

/* A name that belongs to a kernel of a plugin or the image is of the wrong kind, as is the empty name. */
static CUresult refuse_variable(const char *function, const struct abi_image *image, const char *name)
{
    if (!*name || abi_kernel_there(name) || image_kernel_named(image->code, name) >= 0)
        return abi_refuse(VMM_RULE_CODE_KIND, function, "%s%.60s%s", *name ? "" : "the name is empty", name,
                          *name ? " is a kernel" : "");
    return abi_refuse(VMM_RULE_CODE_NAME, function, "no plugin of CUVMM_KERNELS has a variable %.60s, nor has the image: write "
                      "VMM_VARIABLE(type, %.60s, elements)", name, name);
}

/* The variable in the copy, if it was looked up earlier; call it under the lock. */
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

/* Adds it to the copy, or replaces one whose context has ended; returns false if another thread did so meanwhile: *address is
 * then that one. */
static bool add_held(struct abi_image *image, uint64_t context, struct held *fresh, uint64_t *address)
{
    abi_images_lock();
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
    abi_images_unlock();
    /* analysers: memleak is wrong: it is in the list */
    return wins;
}

/* The variable's address in the context; 0 if it was not looked up, or the context has ended. */
static uint64_t held_address(const struct abi_image *image, uint64_t context, const struct image_variable *variable)
{
    abi_images_lock();
    const struct held *held = held_in(image, context, variable);
    uint64_t address = held ? held->address : 0;
    abi_images_unlock();
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
    abi_images_lock();
    bool read = abi_images_read(image) != NULL;
    *of_ptx = read && image->ptx ? abi_ptx_variable(image->ptx, name, size) : -1;
    *own = read && *of_ptx < 0 ? image_variable_named(image->code, name) : NULL;
    abi_images_unlock();
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
