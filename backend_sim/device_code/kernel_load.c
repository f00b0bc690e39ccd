/* SPDX-License-Identifier: Apache-2.0 */
#include <stdio.h>
#include <string.h>

#include "code_module.h"
#include "code_run.h"
#include "detail.h"
#include "heap.h"
#include "kernels.h"
#include "lifecycle.h"
#include "ptx_program.h"
#include "ptx_variables.h"

static const char loads[] = "vmm_kernel_load";

enum { SHARED_MOST = 48 << 10 }; /* more of it needs cuFuncSetAttribute */

LIFE_LOCK(lock, LIFE_TABLE, NULL)
static struct code_module *modules; /* and everything that it refers to */

static vmm_result no_memory(void)
{
    return vmm_detail_fail(VMM_ERROR_OUT_OF_MEMORY, loads, "the host has no memory left for the kernel's code");
}

/* ---- variables ---- */

static struct code_copy *find_copy(const struct code_module *module, uint64_t process, uint64_t context)
{
    struct code_copy *copy = module->copies;
    while (copy && (copy->process != process || copy->context != context))
        copy = copy->next;
    return copy;
}

static void free_copy(struct code_copy *copy)
{
    heap.free(copy->addresses);
    heap.free(copy->memory);
    heap.free(copy);
}

static unsigned char *align_up(unsigned char *memory, uint64_t align)
{
    return memory + ((align - (uintptr_t)memory % align) % align);
}

/* The module's initial values; NULL if memory is exhausted. */
static struct code_copy *make_copy(const struct code_module *module, uint64_t process, uint64_t context)
{
    const struct ptx_program *program = module->program;
    uint64_t align = 16;
    for (uint32_t i = 0; i < program->global_count; i++)
        align = program->globals[i].align > align ? program->globals[i].align : align;
    struct code_copy *copy = heap.calloc(1, sizeof *copy);
    if (!copy)
        return NULL;
    *copy = (struct code_copy){.process = process, .context = context, .memory = heap.calloc(1, module->variables + align),
                               .addresses = heap.calloc(program->global_count, sizeof *copy->addresses)};
    if (!copy->memory || !copy->addresses) {
        free_copy(copy);
        return NULL;
    }
    copy->bytes = align_up(copy->memory, align);
    ptx_variables_place(program, copy->addresses);
    for (uint32_t i = 0; i < program->global_count; i++)
        copy->addresses[i] += (uintptr_t)copy->bytes;
    for (uint32_t i = 0; i < program->global_count; i++)
        if (program->globals[i].initial)
            ptx_variable_initial(&program->globals[i], copy->addresses,
                                 copy->bytes + (copy->addresses[i] - (uintptr_t)copy->bytes));
    return copy;
}

bool code_copy_of(struct code_module *module, uint64_t process, uint64_t context, const struct code_copy **found)
{
    *found = NULL;
    if (!module->program->global_count)
        return true;
    life_acquire(&lock);
    struct code_copy *copy = find_copy(module, process, context);
    if (!copy && (copy = make_copy(module, process, context))) {
        copy->next = module->copies;
        module->copies = copy;
    }
    life_release(&lock);
    *found = copy;
    return copy != NULL;
}

/* The machine of a process is closed: its contexts are gone. */
static void forget_process(uint64_t process)
{
    life_acquire(&lock);
    for (struct code_module *module = modules; module; module = module->next)
        for (struct code_copy **link = &module->copies; *link;) {
            struct code_copy *copy = *link;
            if (copy->process != process) {
                link = &copy->next;
                continue;
            }
            *link = copy->next;
            free_copy(copy);
        }
    life_release(&lock);
}

/* ---- modules; call these under the lock ---- */

static uint64_t hash_of(const char *text, uint64_t size)
{
    uint64_t hash = UINT64_C(0xcbf29ce484222325);
    for (uint64_t i = 0; i < size; i++)
        hash = (hash ^ (unsigned char)text[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static struct code_module *find_module(const char *text, uint64_t size, uint64_t hash)
{
    struct code_module *module = modules;
    while (module && (module->hash != hash || module->size != size || memcmp(module->text, text, size) != 0)) /* LCOV_EXCL_BR_LINE: no two texts of a test have one hash */
        module = module->next;
    return module;
}

static vmm_result refuse_text(const struct ptx_error *error)
{
    if (error->no_memory)
        return no_memory();
    return vmm_refuse_open(VMM_RULE_CODE_PTX, loads, "line %u, column %u of the PTX: %.200s", error->place.line, error->place.column,
                           error->text);
}

static vmm_result make_module(const char *text, uint64_t size, uint64_t hash, struct code_module **made)
{
    static const struct ptx_options options = {.let_unsupported_stay = true}; /* a launch that needs it is refused */
    struct ptx_error error = {.no_memory = false};
    struct code_module *module = heap.calloc(1, sizeof *module);
    char *copy = module ? heap.malloc(size + 1) : NULL;
    struct ptx_program *program = copy ? ptx_program_new(text, size, &options, &error) : NULL;
    uint64_t *offsets = program ? heap.calloc(program->global_count + 1u, sizeof *offsets) : NULL;
    if (!offsets) {
        vmm_result result = copy && !program ? refuse_text(&error) : no_memory();
        ptx_program_free(program);
        heap.free(copy);
        heap.free(module);
        return result;
    }
    memcpy(copy, text, size);
    copy[size] = '\0';
    *module = (struct code_module){.text = copy, .size = size, .hash = hash, .program = program,
                                   .variables = ptx_variables_place(program, offsets), .next = modules};
    heap.free(offsets);
    modules = module;
    kernels_on_end(forget_process);
    *made = module;
    return VMM_SUCCESS;
}

/* ---- kernels; the same ---- */

static unsigned one_at_least(unsigned dimension)
{
    return dimension ? dimension : 1;
}

static bool is_kernel(const struct code_kernel *kernel, const vmm_ptx_kernel *what)
{
    const struct kernels_ptx *ptx = &kernel->ptx;
    return strcmp(ptx->name, what->name) == 0 && ptx->grid_y == one_at_least(what->grid_y) && ptx->grid_z == one_at_least(what->grid_z) &&
           ptx->block_y == one_at_least(what->block_y) && ptx->block_z == one_at_least(what->block_z) &&
           ptx->shared_bytes == what->shared_bytes;
}

static vmm_result refuse_name(const struct ptx_program *program, const char *name)
{
    char have[160] = "";
    size_t length = 0;
    for (uint32_t i = 0; i < program->kernel_count && length + 1 < sizeof have; i++) {
        int put = snprintf(have + length, sizeof have - length, "%s%.60s", i ? ", " : "", program->kernels[i].name);
        length += put > 0 ? (size_t)put : 0;
    }
    return vmm_refuse_open(VMM_RULE_CODE_NAME, loads, "the PTX has no kernel \"%.60s\"; it has %s", name, have[0] ? have : "none");
}

static vmm_result refuse_size(const char *dimension, unsigned value, unsigned most)
{
    return vmm_refuse_open(VMM_RULE_LAUNCH_DIMENSIONS, loads, "%s is %u, and %u at most", dimension, value, most);
}

/* What a driver would refuse at the launch. */
static vmm_result check_shape(const vmm_ptx_kernel *what)
{
    enum { GRID = 65535, BLOCK_Z = 64 };
    if (what->grid_y > GRID || what->grid_z > GRID)
        return refuse_size(what->grid_y > GRID ? "grid_y" : "grid_z", what->grid_y > GRID ? what->grid_y : what->grid_z, GRID);
    if (what->block_y > KERNEL_MAX_BLOCK)
        return refuse_size("block_y", what->block_y, KERNEL_MAX_BLOCK);
    if (what->block_z > BLOCK_Z)
        return refuse_size("block_z", what->block_z, BLOCK_Z);
    return VMM_SUCCESS;
}

/* What is known about its code, for launches. */
static void describe(struct code_kernel *kernel, const vmm_ptx_kernel *what, unsigned *bytes)
{
    const struct ptx_kernel *code = kernel->kernel;
    struct kernels_ptx *ptx = &kernel->ptx;
    *ptx = (struct kernels_ptx){.text = kernel->module->text, .name = code->name, .grid_y = one_at_least(what->grid_y),
                                .grid_z = one_at_least(what->grid_z), .block_y = one_at_least(what->block_y),
                                .block_z = one_at_least(what->block_z), .shared_bytes = what->shared_bytes, .bytes = bytes,
                                .parameters = code->param_count, .capability = kernel->module->program->capability,
                                .most = code->max_threads, .unsupported = code->refused,
                                .multimem = code->multimem};
    memcpy(ptx->required, code->required, sizeof ptx->required);
    for (unsigned i = 0; i < code->param_count; i++) {
        bytes[i] = code->params[i].size;
        ptx->words += (bytes[i] + 7) / 8;
    }
}

/* NULL: *result says why. */
static struct code_kernel *make_kernel(struct code_module *module, const vmm_ptx_kernel *what, vmm_result *result)
{
    const long index = ptx_program_kernel(module->program, what->name);
    if (index < 0) {
        *result = refuse_name(module->program, what->name);
        return NULL;
    }
    const struct ptx_kernel *code = &module->program->kernels[index];
    const unsigned room = code->shared_bytes < SHARED_MOST ? SHARED_MOST - code->shared_bytes : 0;
    if (what->shared_bytes > room) {
        *result = refuse_size("shared_bytes", what->shared_bytes, room);
        return NULL;
    }
    struct code_kernel *kernel = heap.calloc(1, sizeof *kernel);
    unsigned *bytes = kernel ? heap.calloc(code->param_count + 1u, sizeof *bytes) : NULL;
    if (!bytes) {
        heap.free(kernel);
        *result = no_memory();
        return NULL;
    }
    *kernel = (struct code_kernel){.module = module, .kernel = code, .next = module->kernels};
    describe(kernel, what, bytes);
    if (kernel->ptx.words > KERNELS_PTX_WORDS)
        *result = vmm_refuse_open(VMM_RULE_LAUNCH_ARGUMENTS, loads, "%.60s takes %u arguments, but the maximum is %d", code->name,
                                  kernel->ptx.words, KERNELS_PTX_WORDS);
    else if ((kernel->number = kernels_register_ptx(&kernel->ptx, code_run, kernel)) < 0) /* LCOV_EXCL_BR_LINE: after 131072 of them */
        *result = no_memory(); /* LCOV_EXCL_LINE: the same */
    if (*result == VMM_SUCCESS)
        return module->kernels = kernel;
    heap.free(bytes);
    heap.free(kernel);
    return NULL;
}

static vmm_result load(const vmm_ptx_kernel *what, vmm_kernel *number)
{
    const uint64_t hash = hash_of(what->ptx, what->size);
    struct code_module *module = find_module(what->ptx, what->size, hash);
    vmm_result result = module ? VMM_SUCCESS : make_module(what->ptx, what->size, hash, &module);
    if (result != VMM_SUCCESS)
        return result;
    struct code_kernel *kernel = module->kernels;
    while (kernel && !is_kernel(kernel, what))
        kernel = kernel->next;
    if (!kernel)
        kernel = make_kernel(module, what, &result);
    if (kernel)
        *number = kernel->number;
    return result;
}

vmm_result vmm_kernel_load(const vmm_ptx_kernel *what, vmm_kernel *kernel)
{
    vmm_detail_clear();
    if (!what || !kernel || !what->ptx || !what->name)
        return vmm_refuse_open(VMM_RULE_CALL_NULL, loads, "%s is NULL", !what ? "what" : !kernel ? "kernel" : !what->ptx ? "ptx" : "name");
    vmm_result result = check_shape(what);
    if (result != VMM_SUCCESS)
        return result;
    life_acquire(&lock);
    result = load(what, kernel);
    life_release(&lock);
    return result;
}
