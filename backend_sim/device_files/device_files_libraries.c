/* SPDX-License-Identifier: Apache-2.0 */
/* Libraries of NVIDIA's that a program opens by their path: it gets this project's, as it does for bare names.
 *
 *     dlopen("/opt/torch/nvidia/cu13/lib/libcudart.so.13")  ->  FOLDER/libcudart.so.13
 *     dlopen("libcudart.so.13")                             ->  the C library finds the preloaded one
 *
 * PyTorch opens its wheels' libraries by path, and vLLM the first libcudart that /proc/self/maps lists. */
#define _GNU_SOURCE /* RTLD_NEXT */
#include "device_files.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>

#include "os_environment.h"
#include "tail_call.h"

bool device_library_instead(const char *path, const char *const folders[DEVICE_LIBRARY_KINDS], char instead[DEVICE_LIBRARY_PATH])
{
    static const struct {
        const char *name;
        enum device_library kind;
    } ours[] = {{"libcuda.so.1", DEVICE_LIBRARY_DRIVER},
                {"libnvidia-ml.so.1", DEVICE_LIBRARY_DRIVER},
                {"libcudart.so.12", DEVICE_LIBRARY_RUNTIME},
                {"libcudart.so.13", DEVICE_LIBRARY_RUNTIME}};
    const char *slash = path ? strrchr(path, '/') : NULL;
    for (size_t i = 0; slash && i < sizeof ours / sizeof ours[0]; i++) {
        const char *folder = folders[ours[i].kind];
        size_t length = strlen(ours[i].name);
        if (strncmp(slash + 1, ours[i].name, length) == 0 && (!slash[1 + length] || slash[1 + length] == '.'))
            return folder && folder[0] && snprintf(instead, DEVICE_LIBRARY_PATH, "%s/%s", folder, ours[i].name) < DEVICE_LIBRARY_PATH;
    }
    return false;
}

typedef void *(*open_function)(const char *, int);

static open_function find_real(void)
{
    static _Atomic(open_function) real;
    open_function function = atomic_load_explicit(&real, memory_order_relaxed);
    if (!function) {
        void *found = dlsym(RTLD_NEXT, "dlopen");
        memcpy(&function, &found, sizeof function);
        atomic_store_explicit(&real, function, memory_order_relaxed);
    }
    return function;
}

__attribute__((noinline)) static void *open_ours(const char *path, int flags, bool *is_ours)
{
    const char *const folders[DEVICE_LIBRARY_KINDS] = {[DEVICE_LIBRARY_DRIVER] = os_environment("CUVMM_DRIVER_FOLDER"),
                                                       [DEVICE_LIBRARY_RUNTIME] = os_environment("CUVMM_RUNTIME_FOLDER")};
    char instead[DEVICE_LIBRARY_PATH];
    *is_ours = device_library_instead(path, folders, instead);
    return *is_ours ? find_real()(instead, flags) : NULL;
}

/* A name without a slash is looked up by the caller's DT_RUNPATH. */
TAIL_CALLER __attribute__((visibility("default"))) void *dlopen(const char *path, int flags)
{
    open_function function = find_real();
    if (path && strchr(path, '/')) {
        bool is_ours;
        void *library = open_ours(path, flags, &is_ours);
        if (is_ours)
            return library;
    }
    TAIL_CALL return function(path, flags);
}
