/* SPDX-License-Identifier: Apache-2.0 */
#include "optional.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* A look-up through it finds what it needs, too. */
static void *load_beside(void)
{
    static const char *const places[] = {"../lib/cuvmm", "../lib"};
    char self[3800], path[4096];
    ssize_t length = readlink("/proc/self/exe", self, sizeof self - 1);
    self[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(self, '/');
    void *library = NULL;
    for (size_t i = 0; slash && !library && i < sizeof places / sizeof places[0]; i++) {
        snprintf(path, sizeof path, "%.*s/%s/libcuvmm-optional.so", (int)(slash - self), self, places[i]);
        library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    }
    return library;
}

static bool find(void *library, const char *const *names, size_t count, void **found)
{
    bool all = library != NULL;
    for (size_t i = 0; all && i < count; i++)
        all = (found[i] = dlsym(library, names[i])) != NULL;
    return all;
}

bool optional_load(const char *file, const char *const *names, size_t count, void *functions)
{
    void **found = calloc(count, sizeof *found);
    bool all = found && (find(load_beside(), names, count, found) || find(dlopen(file, RTLD_NOW | RTLD_LOCAL), names, count, found));
    if (all)
        memcpy(functions, found, count * sizeof *found); /* POSIX: pointers to functions have the form of pointers to data */
    free(found);
    return all;
}
