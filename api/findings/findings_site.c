/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dladdr; before any header */
#include "findings_site.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#if __has_include(<execinfo.h>)
#include <execinfo.h>
#else
#include "stacks_unwind.h"
#endif

enum { SHOWN = 6, SITE_NAME = 120 }; /* the most frames in the text: the place and its callers */

/* The return addresses of the calling thread, innermost first. musl has no function for it. */
#if __has_include(<execinfo.h>)
#define return_addresses backtrace
#else
static int return_addresses(void **addresses, int most)
{
    struct unwind unwind;
    int count = 0;
    unwind_begin(&unwind);
    while (count < most && unwind_next(&unwind))
        addresses[count++] = (void *)(unwind.address + 1);
    return count;
}
#endif

int site_here(void *frames[SITE_DEPTH])
{
    static const char mark; /* an address in this library */
    void *all[SITE_DEPTH];
    Dl_info ours, info;
    int count = 0, depth = return_addresses(all, SITE_DEPTH);
    void *here = dladdr(&mark, &ours) ? ours.dli_fbase : NULL;
    for (int i = 0; i < depth; i++)
        if (!dladdr(all[i], &info) || info.dli_fbase != here)
            frames[count++] = all[i];
    return count;
}

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* Does the frame belong to code that starts threads or programs? Frames below it are not the program's. */
static bool starts(const Dl_info *info)
{
    return strncmp(base_name(info->dli_fname), "libc.so", 7) == 0;
}

/* The loader knows only exported names. musl's loader may return a function that ends before the address, so it is queried
 * second there. */
static void name_of(const Dl_info *info, size_t offset, char name[SITE_NAME])
{
    const char *exported = info->dli_sname ? info->dli_sname : "";
#ifdef __GLIBC__
    snprintf(name, SITE_NAME, "%s", exported);
    if (!name[0])
        site_symbol(info->dli_fname, offset, name, SITE_NAME);
#else
    name[0] = '\0';
    site_symbol(info->dli_fname, offset, name, SITE_NAME);
    if (!name[0])
        snprintf(name, SITE_NAME, "%s", exported);
#endif
}

size_t site_text(void *const *frames, int count, char *text, size_t length, size_t size)
{
    char name[SITE_NAME];
    Dl_info info;
    int reported = 0;
    for (int i = 0; i < count && reported < SHOWN && length < size; i++) {
        /* The return address follows the call. */
        uintptr_t at = (uintptr_t)frames[i] - 1;
        if (!dladdr((void *)at, &info))
            continue;
        if (starts(&info))
            break;
        size_t offset = at - (uintptr_t)info.dli_fbase;
        name_of(&info, offset, name);
        int wrote = snprintf(text + length, size - length, "  %-9s %s (%s+0x%zx)\n", reported++ ? "" : "called by",
                             name[0] ? name : "?", base_name(info.dli_fname), offset);
        length += wrote > 0 ? (size_t)wrote : 0;
    }
    return length < size ? length : size - 1;
}
