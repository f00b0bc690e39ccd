/* SPDX-License-Identifier: Apache-2.0 */
#include "cuda_library.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <string.h>

#include "detail.h"

/* POSIX lets dlsym return functions as void *, which C cannot convert. */
static cuda_function as_function(void *symbol)
{
    cuda_function function;
    _Static_assert(sizeof function == sizeof symbol, "pointers to functions and to data have the same size");
    memcpy(&function, &symbol, sizeof function);
    return function;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The loader's reason, without the parts that the message already has. */
static const char *loader_reason(const char *path)
{
    static const char usual[] = "cannot open shared object file: ", of_musl[] = "Error loading shared library ";
    const char *text = dlerror();
    size_t length = strlen(path);
    if (!text)
        return "no reason given";
    if (strncmp(text, of_musl, sizeof of_musl - 1) == 0)
        text += sizeof of_musl - 1;
    if (strncmp(text, path, length) == 0 && strncmp(text + length, ": ", 2) == 0)
        text += length + 2;
    return strncmp(text, usual, sizeof usual - 1) == 0 ? text + sizeof usual - 1 : text;
}

vmm_result cuda_library_open(struct cuda_library *library, const char *path)
{
    *library = (struct cuda_library){.path = path};
    library->handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!library->handle)
        return vmm_refuse_open(VMM_RULE_OPEN_NOT_FOUND, "vmm_open",
                               "%.30s cannot be loaded (%.40s): install the driver, or set CUVMM_LIBCUDA",
                               base_name(path), loader_reason(path));
    cuda_function function = as_function(dlsym(library->handle, "cuGetProcAddress_v2"));
    memcpy(&library->get_proc_address, &function, sizeof function);
    return VMM_SUCCESS;
}

void cuda_library_close(struct cuda_library *library)
{
    dlclose(library->handle);
    library->handle = NULL;
}

cuda_function cuda_library_find(const struct cuda_library *library, const char *name, int version, const char *symbol)
{
    void *found = NULL;
    int status = 0;
    if (library->get_proc_address && library->get_proc_address(name, &found, version, 0, &status) == VMM_SUCCESS &&
        found)
        return as_function(found);
    return as_function(dlsym(library->handle, symbol));
}

static vmm_result missing(const struct cuda_library *library, const char *symbol, int version)
{
    const char *base = base_name(library->path);
    if (version <= 2000)
        return vmm_refuse_open(VMM_RULE_OPEN_UNSUPPORTED, "vmm_open",
                               "%.30s has no %s: not a CUDA driver; name one in CUVMM_LIBCUDA", base, symbol);
    return vmm_refuse_open(VMM_RULE_OPEN_UNSUPPORTED, "vmm_open",
                           "%.30s has no %s: before CUDA %d.%d; update the driver", base, symbol,
                           version / 1000, version % 1000 / 10);
}

static bool store(cuda_function function, void *pointer)
{
    memcpy(pointer, &function, sizeof function);
    return function != NULL;
}

#define NEEDED_OWN(name, symbol, version)
#define NEEDED_SAME(name, symbol, version)                                              \
    if (!store(CUDA_FIND(library, symbol), &entries->name) && (version) <= CUDA_NEEDED) \
        return missing(library, #symbol, version);

vmm_result cuda_library_entries(const struct cuda_library *library, struct cuda_entries *entries)
{
#define VMM_CALL(name, symbol, form, traits) NEEDED_##form(name, symbol, VMM_ENTRY_VERSION(symbol))
#include "calls.def"
    return VMM_SUCCESS;
}
