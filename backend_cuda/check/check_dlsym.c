/* SPDX-License-Identifier: Apache-2.0 */
/* dlsym for programs that look up the driver's functions themselves: it returns our functions for those in checked.def.
 *
 *     dlsym(handle of libcuda, "cuMemMap")   records the driver's cuMemMap, returns ours
 *     dlsym(any, "sin")                      passed on, so that the C library sees the program as the caller
 */
#define _GNU_SOURCE /* RTLD_NEXT, dladdr; before any header */
#include <dlfcn.h>
#include <stdatomic.h>
#include <string.h>

#include "check.h"
#ifndef __GLIBC__
#include "stacks_export.h"
#endif
#include "tail_call.h"

typedef void *(*dlsym_function)(void *handle, const char *symbol);

static _Atomic(dlsym_function) real;

#ifdef __GLIBC__
/* Looked up by version: without a version the lookup would find this file's dlsym. */
static void *look_up(void)
{
    static const char *const versions[] = {"GLIBC_2.34", "GLIBC_2.2.5", "GLIBC_2.17", "GLIBC_2.27", "GLIBC_2.0"};
    void *found = NULL;
    for (size_t i = 0; !found && i < sizeof versions / sizeof versions[0]; i++)
        found = dlvsym(RTLD_NEXT, "dlsym", versions[i]);
    return found;
}
#else
/* musl's functions have no versions: looked up in the file that contains another of them. */
static void *look_up(void)
{
    const struct module *libc = module_of((uintptr_t)dlclose);
    return libc ? (void *)export_of(libc, "dlsym") : NULL;
}
#endif

static dlsym_function find_real(void)
{
    dlsym_function function = atomic_load_explicit(&real, memory_order_relaxed);
    if (function)
        return function;
    void *found = look_up();
    memcpy(&function, &found, sizeof function);
    atomic_store_explicit(&real, function, memory_order_relaxed);
    return function;
}

void *check_real_dlsym(void *handle, const char *symbol)
{
    dlsym_function function = find_real();
    return function ? function(handle, symbol) : NULL;
}

/* Does the function belong to the driver, and not to another library with the same symbol? */
static bool is_drivers(void *function)
{
    Dl_info info;
    if (!function || !dladdr(function, &info) || !info.dli_fname)
        return false;
    const char *slash = strrchr(info.dli_fname, '/');
    return strncmp(slash ? slash + 1 : info.dli_fname, "libcuda.so", 10) == 0;
}

/* The function to return to the program in place of found. */
static void *instead(enum check_row row, void *found)
{
    check_function function, wrapper = check_wrapper(row);
    memcpy(&function, &found, sizeof function);
    if (function == wrapper) /* found in this library, which comes first: is there a driver after it? */
        return check_driver(row) ? found : NULL;
    if (!is_drivers(found))
        return found;
    check_found(row, function);
    memcpy(&found, &wrapper, sizeof found);
    return found;
}

/* A program may look in the driver's library for a name that only the simulator's library has (api/cuvmm_mark.h); marks go
 * to the checker in any case. */
static void *mark_instead(void)
{
    void *mark;
    check_function function = check_mark();
    memcpy(&mark, &function, sizeof mark);
    return mark;
}

#pragma GCC visibility push(default)
void *dlsym(void *restrict handle, const char *restrict symbol);
#pragma GCC visibility pop

/* The meaning of RTLD_NEXT depends on the caller. */
TAIL_CALLER void *dlsym(void *restrict handle, const char *restrict symbol)
{
    dlsym_function function = find_real();
    enum check_row row = symbol[0] == 'c' && symbol[1] == 'u' ? check_symbol(symbol) : CHECK_ROWS;
    if (row != CHECK_ROWS)
        return instead(row, function(handle, symbol));
    if (strcmp(symbol, "cuvmm_mark") == 0)
        return mark_instead();
    TAIL_CALL return function(handle, symbol);
}
