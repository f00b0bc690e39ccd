/* SPDX-License-Identifier: Apache-2.0 */
#include "abi_plugins.h"

#include <ctype.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi_kernel_run.h"
#include "abi_parts.h"
#include "heap.h"
#include "kernels.h"
#include "lifecycle.h"
#include "os_environment.h"
#include "registered.h"

enum { LIBRARIES = 64, NAME = 512 };

LIFE_LOCK(lock, LIFE_TABLE, NULL)
static bool opened, ours;
static void *libraries[LIBRARIES];
static int count;
static struct abi_kernel *known;   /* kernels found so far */
static struct abi_kernel *unknown; /* names that were not found, so that each is reported once */
static struct abi_variable *variables; /* the variables of all plugins, from their opening on */
static unsigned variable_count;
static bool listed; /* whether they are all in the list */

static void open_library(const char *path)
{
    if (strcmp(path, "cuvmm") == 0) {
        ours = true;
        return;
    }
    void *library = count < LIBRARIES ? dlopen(path, RTLD_NOW | RTLD_LOCAL) : NULL;
    if (library)
        libraries[count++] = library;
    else
        abi_say("CUVMM_KERNELS: %s cannot be loaded: %s", path, count < LIBRARIES ? dlerror() : "there are too many");
}

/* Opens the libraries. Returns false when memory is exhausted: the next lookup tries again. */
static bool open_libraries(void)
{
    const char *list = os_environment("CUVMM_KERNELS");
    char *copy = list && !opened ? heap.strdup(list) : NULL, *rest;
    if (list && !opened && !copy)
        return false;
    opened = true;
    for (char *path = copy ? strtok_r(copy, ":", &rest) : NULL; path; path = strtok_r(NULL, ":", &rest))
        open_library(path);
    heap.free(copy);
    return true;
}

/* The last plain name in a mangled one: "vectorAdd" in "_Z9vectorAddPKfS0_Pfi", "two" in "_ZN3one3twoEv". */
static bool plain_name(const char *mangled, char plain[NAME])
{
    const char *at = mangled + 2;
    bool nested = false, found = false;
    if (strncmp(mangled, "_Z", 2) != 0)
        return false;
    nested = *at == 'N';
    at += nested || *at == 'L'; /* L: static */
    while (isdigit((unsigned char)*at)) {
        char *text;
        unsigned long length = strtoul(at, &text, 10);
        if (!length || length >= NAME || strlen(text) < length)
            return false;
        memcpy(plain, text, length);
        plain[length] = '\0';
        found = true;
        at = text + length;
        if (!nested)
            break;
    }
    return found;
}

/* ---- variables ---- */

static const struct abi_variable *variable_named(const char *name)
{
    const struct abi_variable *v = variables;
    while (v && strcmp(v->entry->name, name) != 0)
        v = v->next;
    return v;
}

/* Adds the variables of one list; of equal names the one that is added last is found. */
static bool add_variables(const vmm_variable_entry *entry)
{
    for (; entry; entry = entry->next) {
        struct abi_variable *v = heap.malloc(sizeof *v);
        if (!v)
            return false;
        *v = (struct abi_variable){entry, variable_count++, variables};
        variables = v;
    }
    return true;
}

static void free_variables(void)
{
    while (variables) {
        struct abi_variable *next = variables->next;
        heap.free(variables);
        variables = next;
    }
    variable_count = 0;
    listed = false;
}

/* Call it under the lock. */
static bool list_variables(void)
{
    bool all = open_libraries();
    for (int i = count - 1; i >= 0 && all && !listed; i--) { /* the list is built from its end */
        const vmm_variable_entry *(*list)(void) = NULL;
        void *found = dlsym(libraries[i], "vmm_plugin_variables");
        memcpy(&list, &found, sizeof list);
        all = !list || add_variables(list());
    }
    if (!all)
        free_variables();
    listed = all;
    return all;
}

CUresult abi_variables(const char *function, const struct abi_variable **first, unsigned *number)
{
    int cancel = life_no_cancel();
    life_acquire(&lock);
    bool all = list_variables();
    *first = variables;
    *number = variable_count;
    life_release(&lock);
    life_may_cancel(cancel);
    return all ? CUDA_SUCCESS : abi_no_memory(function);
}

const struct abi_variable *abi_variable_find(const char *name)
{
    char plain[NAME];
    life_acquire(&lock);
    const struct abi_variable *v = variable_named(name);
    if (!v && plain_name(name, plain))
        v = variable_named(plain);
    life_release(&lock);
    return v;
}

unsigned abi_variable_index(const vmm_variable_entry *entry)
{
    const struct abi_variable *v = variables; /* complete before the launch, and belonging to the plugin that asks */
    while (v->entry != entry)
        v = v->next;
    return v->index;
}

/* ---- kernels ---- */

static const vmm_kernel_entry *entry_of(const char *name)
{
    char symbol[NAME + 16];
    const vmm_kernel_entry *entry = NULL;
    snprintf(symbol, sizeof symbol, "vmm_kernel_%s", name);
    for (int i = 0; i < count && !entry; i++)
        entry = dlsym(libraries[i], symbol);
    if (entry && entry->version != VMM_KERNEL_VERSION) {
        abi_say("kernel %s was built with another version of vmm_kernel.h: rebuild it", name);
        return NULL;
    }
    return entry;
}

static int number_of_ours(const char *name)
{
    for (int i = 0; ours && i < vmm_kernel_count(); i++)
        if (strcmp(vmm_kernel_name(i), name) == 0)
            return i;
    return -1;
}

/* Lays out the parameters in order, each at a multiple of its alignment. */
static void lay_out(struct abi_kernel *kernel)
{
    size_t at = 0;
    for (unsigned i = 0; i < kernel->params; i++) {
        size_t size = kernel->entry->param[i].size, align = kernel->entry->param[i].align;
        at = (at + align - 1) / align * align;
        kernel->offset[i] = at;
        kernel->size[i] = size;
        at += size;
    }
    kernel->offset[kernel->params] = at;
}

static unsigned params_of(const vmm_kernel_entry *entry)
{
    unsigned params = 0;
    while (params < VMM_KERNEL_PARAMS && entry->param[params].size < VMM_KERNEL_NO_PARAM)
        params++;
    return params;
}

static void lay_out_ours(struct abi_kernel *kernel)
{
    for (unsigned i = 0; i < kernel->params; i++) {
        kernel->offset[i] = i * sizeof(uint64_t);
        kernel->size[i] = sizeof(uint64_t);
    }
    kernel->offset[kernel->params] = kernel->params * sizeof(uint64_t);
}

/* Looks up the name itself, or the plain name in it; false if no library has either. */
static bool look_up(const char *name, struct abi_kernel *kernel)
{
    char plain[NAME];
    kernel->entry = entry_of(name);
    if (!kernel->entry && plain_name(name, plain))
        kernel->entry = entry_of(plain);
    if (kernel->entry)
        return true;
    kernel->number = number_of_ours(name);
    kernel->ours = kernel->number >= 0;
    return kernel->ours;
}

bool abi_kernel_there(const char *name)
{
    struct abi_kernel found = {.name = NULL};
    int cancel = life_no_cancel();
    life_acquire(&lock);
    bool there = open_libraries() && look_up(name, &found);
    life_release(&lock);
    life_may_cancel(cancel);
    return there;
}

static struct abi_kernel *in_list(struct abi_kernel *list, const char *name)
{
    while (list && strcmp(list->name, name) != 0)
        list = list->next;
    return list;
}

struct abi_kernel *abi_kernel_new(const char *name, unsigned params)
{
    size_t length = strlen(name) + 1, sizes = (2 * (size_t)params + 1) * sizeof(size_t);
    struct abi_kernel *kernel = heap.calloc(1, sizeof *kernel + sizes + length);
    if (!kernel)
        return NULL;
    kernel->params = params;
    kernel->size = (size_t *)(kernel + 1);
    kernel->offset = kernel->size + params;
    kernel->name = (char *)(kernel->offset + params + 1);
    memcpy(kernel->name, name, length);
    return kernel;
}

/* Call it under the lock. */
static CUresult find(const char *name, struct abi_kernel **kernel)
{
    struct abi_kernel found = {.name = NULL};
    *kernel = NULL;
    if (!open_libraries())
        return CUDA_ERROR_OUT_OF_MEMORY;
    *kernel = in_list(known, name);
    if (*kernel)
        return CUDA_SUCCESS;
    if (!look_up(name, &found))
        return CUDA_ERROR_NOT_FOUND;
    unsigned params = found.ours ? (unsigned)vmm_kernel_arguments(found.number) : params_of(found.entry);
    struct abi_kernel *fresh = abi_kernel_new(name, params);
    if (!fresh)
        return CUDA_ERROR_OUT_OF_MEMORY;
    fresh->entry = found.entry;
    fresh->ours = found.ours;
    if (fresh->ours) {
        fresh->number = found.number;
        lay_out_ours(fresh);
    } else {
        lay_out(fresh);
        fresh->number = kernels_register(fresh->name, abi_kernel_run, fresh);
    }
    fresh->next = known;
    known = fresh;
    *kernel = fresh;
    return CUDA_SUCCESS;
}

CUresult abi_kernel_find(const char *function, const char *name, const struct abi_kernel **kernel)
{
    struct abi_kernel *found;
    int cancel = life_no_cancel(); /* reading the libraries is a cancellation point */
    life_acquire(&lock);
    CUresult result = find(name, &found);
    life_release(&lock);
    life_may_cancel(cancel);
    *kernel = found;
    return result == CUDA_ERROR_OUT_OF_MEMORY ? abi_no_memory(function) : result;
}

/* Remembers the name of a kernel that was not found; *again: it was already remembered. False: memory is out. */
static bool remember(const char *name, bool *again)
{
    life_acquire(&lock);
    struct abi_kernel *kernel = in_list(unknown, name);
    *again = kernel != NULL;
    if (!kernel && (kernel = abi_kernel_new(name, 0))) {
        kernel->next = unknown;
        unknown = kernel;
    }
    life_release(&lock);
    /* analysers: memleak is wrong: it is in the list */
    return kernel != NULL;
}

CUresult abi_kernel_refuse(const char *function, const char *name, const char *why)
{
    char plain[NAME];
    bool again;
    if (!remember(name, &again))
        return abi_no_memory(function);
    const char *write = plain_name(name, plain) ? plain : name;
    if (!again)
        abi_say("no kernel %.200s: the loaded image does not contain it%s%s, and no plugin has it. Load PTX that has it "
                "(docs/ptx.md), or "
                "write VMM_KERNEL(%.200s, ...) in C (vmm_kernel.h, docs/unmodified.md), build it as a shared library, and name that in "
                "CUVMM_KERNELS", name, *why ? ": " : "", why, write);
    return abi_refuse(VMM_RULE_CODE_NAME, function, "no plugin of CUVMM_KERNELS has a kernel %.60s, nor has the image%s%s", name,
                      *why ? ": " : "", why);
}

/* For backend_cuda, which may be built without device code: its kernels can still be launched. */
__attribute__((visibility("default"))) extern const int cuvmmBringsKernels;
const int cuvmmBringsKernels = 1;

static void free_list(struct abi_kernel **list)
{
    while (*list) {
        struct abi_kernel *next = (*list)->next;
        heap.free(*list);
        *list = next;
    }
}

void abi_plugins_close(void)
{
    free_list(&known);
    free_list(&unknown);
    free_variables();
    while (count)
        dlclose(libraries[--count]);
    opened = ours = false;
}
