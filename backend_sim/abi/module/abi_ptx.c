/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_ptx.h"

#include <stdio.h>
#include <string.h>

#include "abi_attribute.h"
#include "abi_code.h"
#include "abi_parts.h"
#include "abi_ptx_run.h"
#include "abi_variable_memory.h"
#include "abi_variables.h"
#include "heap.h"
#include "lifecycle.h"
#include "ptx_variables.h"

/* The variables of a program in a context: a single allocation, because each takes at least 2 MiB of device memory. Managed
 * ones have an allocation each, in one copy for all contexts. */
#define MANAGED UINT64_MAX /* its key */
struct copy {
    uint64_t key, *addresses;
    uint64_t base, id; /* id: distinguishes it from memory that lies there later. Of managed ones the first */
    bool ended;
    struct copy *next;
};

struct abi_ptx {
    struct ptx_program *program;
    struct abi_ptx_kernel *kernels; /* one for each kernel of the program */
    struct copy *copies;
    bool launched;
    struct abi_ptx *next; /* of programs whose image is gone */
};

LIFE_LOCK(lock, LIFE_TABLE, NULL)
static struct abi_ptx *kept;

/* The version of PTX of a CUDA release (PTX ISA, release notes); for a later release than this file knows, any. */
static unsigned newest_version(int cuda)
{
    static const struct {
        int cuda;
        unsigned ptx;
    } releases[] = {{12000, 78}, {12010, 80}, {12020, 81}, {12030, 82}, {12040, 83}, {12050, 84}, {12070, 85}, {12080, 86},
                    {12090, 87}, {13000, 88}, {13010, 90}};
    for (size_t i = 0; i < sizeof releases / sizeof releases[0]; i++)
        if (cuda < releases[i].cuda) /* before the release that brought the next one */
            return releases[i].ptx;
    return 0;
}

struct abi_ptx_device abi_ptx_device(const vmm_system *sys)
{
    int multiprocessors = 1;
    sim_profile_attribute(abi_query_profile(sys), VMM_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, &multiprocessors);
    return (struct abi_ptx_device){.skips = abi_query_skips(sys), .capability = abi_capability(sys),
                                   .multiprocessors = (uint32_t)multiprocessors, .strict = abi_query_strict(sys),
                                   .version = newest_version(abi_query_profile(sys)->driver_version)};
}

static void free_program(struct abi_ptx *program)
{
    while (program->copies) {
        struct copy *next = program->copies->next;
        heap.free(program->copies->addresses);
        heap.free(program->copies);
        program->copies = next;
    }
    ptx_program_free(program->program);
    heap.free(program->kernels);
    heap.free(program);
}

/* The translated text; NULL if translation failed: the error says why. */
static struct ptx_program *compile(const struct abi_ptx_device *device, const char *text, size_t size, struct ptx_error *error)
{
    const struct ptx_options options = {.let_unsupported_stay = true, .newest = device->version}; /* a launch that needs it is refused */
    struct ptx_program *code = ptx_program_new(text, size, &options, error);
    if (!code || (int)code->capability <= device->capability)
        return code;
    memset(error, 0, sizeof *error);
    snprintf(error->text, sizeof error->text, "the PTX is for sm_%u, and the device is sm_%d", code->capability, device->capability);
    ptx_program_free(code);
    return NULL;
}

struct abi_ptx *abi_ptx_new(const struct abi_ptx_device *device, const char *text, size_t size, struct ptx_error *error)
{
    struct ptx_program *code = compile(device, text, size, error);
    struct abi_ptx *program = code ? heap.calloc(1, sizeof *program) : NULL;
    struct abi_ptx_kernel *kernels = program ? heap.calloc(code->kernel_count + 1u, sizeof *kernels) : NULL;
    if (!kernels) {
        error->no_memory |= code != NULL;
        heap.free(program);
        ptx_program_free(code);
        return NULL;
    }
    program->program = code;
    program->kernels = kernels;
    for (uint32_t i = 0; i < code->kernel_count; i++)
        kernels[i] = (struct abi_ptx_kernel){program, code, &code->kernels[i], *device, 0};
    return program;
}

void abi_ptx_drop(struct abi_ptx *program)
{
    if (!program)
        return;
    life_acquire(&lock);
    bool keeps = program->launched;
    if (keeps) {
        program->next = kept;
        kept = program;
    }
    life_release(&lock);
    if (!keeps)
        free_program(program);
}

void abi_ptx_close(void)
{
    while (kept) {
        struct abi_ptx *next = kept->next;
        free_program(kept);
        kept = next;
    }
}

/* ---- kernels ---- */

struct abi_ptx_kernel *abi_ptx_kernel(struct abi_ptx *program, const char *name, size_t index)
{
    const struct ptx_program *code = program->program;
    if (index < code->kernel_count && strcmp(code->kernels[index].name, name) == 0)
        return &program->kernels[index];
    long found = ptx_program_kernel(code, name);
    return found < 0 ? NULL : &program->kernels[found];
}

vmm_kernel abi_ptx_number(struct abi_ptx_kernel *kernel)
{
    life_acquire(&lock);
    if (!kernel->number) {
        vmm_kernel number = kernels_register_interpreted(kernel->kernel->name, abi_ptx_run, kernel, kernel->kernel->multimem);
        kernel->number = number > 0 ? number : 0;
        kernel->program->launched |= number > 0;
    }
    vmm_kernel number = kernel->number ? kernel->number : -1;
    life_release(&lock);
    return number;
}

/* The 32-bit registers that a thread needs at once: a slot of 2 bytes per lane counts as one unit. An empty kernel has four. */
static int registers_of(const struct ptx_program *code, const struct ptx_kernel *kernel)
{
    enum { LEAST = 4, MOST = 255 };
    const struct ptx_routine *r = &code->routines[kernel->routine];
    uint32_t count = (r->units - r->constant_units + 1) / 2;
    count = count < LEAST ? LEAST : count > MOST ? MOST : count;
    return kernel->max_registers && kernel->max_registers < count ? (int)kernel->max_registers : (int)count;
}

void abi_ptx_describe(struct abi_ptx *program, struct image *image)
{
    const struct ptx_program *code = program->program;
    uint64_t constant = 0;
    for (uint32_t i = 0; i < code->global_count; i++)
        constant += code->globals[i].constant ? code->globals[i].size : 0;
    for (unsigned i = 0; i < image->kernels; i++) {
        struct image_kernel *kernel = &image->kernel[i];
        const struct abi_ptx_kernel *found = kernel->binary ? NULL : abi_ptx_kernel(program, kernel->name, i);
        if (!found)
            continue; /* a cubin says it itself */
        kernel->constant = constant > INT32_MAX ? INT32_MAX : (int)constant;
        kernel->registers = registers_of(code, found->kernel);
        kernel->shared = (int)found->kernel->shared_bytes; /* also what is declared outside of the kernel */
    }
}

/* ---- variables ---- */

long abi_ptx_variable(const struct abi_ptx *program, const char *name, uint64_t *size)
{
    const struct ptx_program *code = program->program;
    for (uint32_t i = 0; i < code->global_count; i++)
        if (strcmp(code->globals[i].name, name) == 0) {
            *size = code->globals[i].size;
            return (long)i;
        }
    return -1;
}

bool abi_ptx_is_managed(const struct abi_ptx *program, long variable)
{
    return program->program->globals[variable].managed;
}

static CUresult initialise(vmm_system *sys, const char *function, const struct ptx_global *global, const uint64_t *addresses,
                           uint64_t address)
{
    if (!global->initial)
        return CUDA_SUCCESS;
    unsigned char *bytes = heap.malloc(global->size);
    if (!bytes)
        return abi_no_memory(function);
    ptx_variable_initial(global, addresses, bytes);
    CUresult result = abi_variable_fill(sys, address, bytes, global->size);
    heap.free(bytes);
    return result;
}

/* How many bytes malloc has in the current context. */
static uint64_t heap_limit(const vmm_system *sys)
{
    const uint64_t set = abi_note_get(abi_query_current(sys)).limit[CU_LIMIT_MALLOC_HEAP_SIZE];
    return set > 1 && set >> 60 == 0 ? set - 1 : PTX_HEAP_BYTES;
}

/* The heap is the last of them. */
static CUresult place(vmm_system *sys, const char *function, const struct ptx_program *code, struct copy *copy)
{
    const uint64_t size = ptx_variables_place(code, copy->addresses), heap_bytes = heap_limit(sys);
    CUresult result = abi_variable_make(sys, function, code->heap ? size - PTX_HEAP_BYTES + heap_bytes : size, NULL, &copy->base);
    if (result == CUDA_SUCCESS && code->heap)
        result = abi_variable_fill(sys, copy->base + copy->addresses[code->heap - 1], &heap_bytes, sizeof heap_bytes);
    for (uint32_t i = 0; i < code->global_count; i++)
        if (!code->globals[i].managed)
            copy->addresses[i] += copy->base;
    return result;
}

static CUresult place_managed(vmm_system *sys, const char *function, const struct ptx_program *code, struct copy *copy)
{
    CUresult result = CUDA_SUCCESS;
    for (uint32_t i = 0; i < code->global_count && result == CUDA_SUCCESS; i++)
        if (code->globals[i].managed) {
            result = abi_variable_make_managed(sys, function, code->globals[i].size, &copy->addresses[i]);
            copy->base = copy->base ? copy->base : copy->addresses[i];
        }
    return result;
}

static void end(vmm_system *sys, const struct ptx_program *code, const struct copy *copy)
{
    if (copy->key != MANAGED)
        abi_variable_end(sys, copy->base);
    for (uint32_t i = 0; i < code->global_count && copy->key == MANAGED; i++)
        if (code->globals[i].managed)
            abi_variable_end(sys, copy->addresses[i]);
}

/* Assigns places first, because values may refer to each other. Nothing is left after a refusal. */
static CUresult make(vmm_system *sys, const char *function, const struct ptx_program *code, struct copy *copy)
{
    const bool managed = copy->key == MANAGED;
    CUresult result = managed ? place_managed(sys, function, code, copy) : place(sys, function, code, copy);
    for (uint32_t i = 0; i < code->global_count && result == CUDA_SUCCESS; i++)
        if (code->globals[i].managed == managed)
            result = initialise(sys, function, &code->globals[i], copy->addresses, copy->addresses[i]);
    if (result != CUDA_SUCCESS)
        end(sys, code, copy);
    return result;
}

static uint64_t id_of(uint64_t address)
{
    uint64_t id = 0;
    abi_variable_attribute(address, CU_POINTER_ATTRIBUTE_BUFFER_ID, &id);
    return id;
}

/* The newest copy with the key; NULL if there is none. Call it under the lock. */
static struct copy *newest(const struct abi_ptx *program, uint64_t key)
{
    struct copy *copy = program->copies;
    while (copy && (copy->ended || copy->key != key))
        copy = copy->next;
    return copy;
}

/* Adds a fresh copy in place of one that has ended with its context, or of none. The copy to use: another thread may have added
 * one. */
static struct copy *add(struct abi_ptx *program, struct copy *fresh, struct copy *dead)
{
    life_acquire(&lock);
    struct copy *there = newest(program, fresh->key);
    if (dead)
        dead->ended = true;
    bool first = there == dead;
    fresh->ended = !first;
    fresh->next = program->copies;
    program->copies = fresh;
    life_release(&lock);
    return first ? fresh : there;
}

/* managed: the copy of the managed variables; NULL if there are none, or if this is the copy to create. */
static CUresult make_copy(vmm_system *sys, const char *function, struct abi_ptx *program, uint64_t key, const struct copy *managed,
                          struct copy **made)
{
    const struct ptx_program *code = program->program;
    struct copy *copy = heap.calloc(1, sizeof *copy);
    if (copy)
        copy->addresses = heap.calloc(code->global_count, sizeof *copy->addresses);
    if (copy && copy->addresses && managed)
        memcpy(copy->addresses, managed->addresses, code->global_count * sizeof *copy->addresses);
    if (copy)
        copy->key = key;
    CUresult result = copy && copy->addresses ? make(sys, function, code, copy) : abi_no_memory(function);
    if (result != CUDA_SUCCESS) {
        heap.free(copy ? copy->addresses : NULL);
        heap.free(copy);
        return result;
    }
    copy->id = id_of(copy->base);
    *made = copy;
    return CUDA_SUCCESS;
}

/* The copy with that key, created on first use. */
static CUresult copy_of(vmm_system *sys, const char *function, struct abi_ptx *program, uint64_t key, const struct copy *managed,
                        struct copy **found)
{
    struct copy *fresh;
    life_acquire(&lock);
    struct copy *copy = newest(program, key);
    life_release(&lock);
    if (!copy || id_of(copy->base) != copy->id) {
        CUresult result = make_copy(sys, function, program, key, managed, &fresh);
        if (result != CUDA_SUCCESS)
            return result;
        copy = add(program, fresh, copy);
        if (copy != fresh)                        /* LCOV_EXCL_BR_LINE: only if two threads need them at once */
            end(sys, program->program, fresh); /* LCOV_EXCL_LINE: the same */
    }
    *found = copy;
    return CUDA_SUCCESS;
}

static bool has_managed(const struct ptx_program *code)
{
    uint32_t i = 0;
    while (i < code->global_count && !code->globals[i].managed)
        i++;
    return i < code->global_count;
}

CUresult abi_ptx_managed(vmm_system *sys, const char *function, struct abi_ptx *program, uint64_t **addresses)
{
    struct copy *managed;
    CUresult result = copy_of(sys, function, program, MANAGED, NULL, &managed);
    if (result == CUDA_SUCCESS)
        *addresses = managed->addresses;
    return result;
}

CUresult abi_ptx_variables(vmm_system *sys, const char *function, struct abi_ptx *program, uint64_t key, uint64_t **addresses)
{
    struct copy *copy = NULL, *managed = NULL;
    CUresult result = CUDA_SUCCESS;
    *addresses = NULL;
    if (has_managed(program->program))
        result = copy_of(sys, function, program, MANAGED, NULL, &managed);
    if (result == CUDA_SUCCESS && program->program->global_count)
        result = copy_of(sys, function, program, key, managed, &copy);
    if (copy)
        *addresses = copy->addresses;
    return result;
}

void abi_ptx_end(vmm_system *sys, struct abi_ptx *program)
{
    for (struct copy *copy = program ? program->copies : NULL; copy; copy = copy->next) {
        if (!copy->ended)
            end(sys, program->program, copy);
        copy->ended = true;
    }
}
