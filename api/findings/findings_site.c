/* SPDX-License-Identifier: Apache-2.0 */
#define _GNU_SOURCE /* dladdr; before any header */
#include "findings_site.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { SHOWN = 6 }; /* the most frames in the text: the place, and how the program got there */

int site_here(void *frames[SITE_DEPTH])
{
    static const char mark; /* an address in this library */
    void *all[SITE_DEPTH];
    Dl_info ours, info;
    int count = 0, depth = backtrace(all, SITE_DEPTH);
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

size_t site_text(void *const *frames, int count, char *text, size_t length, size_t size)
{
    char name[120];
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
        if (info.dli_sname)
            snprintf(name, sizeof name, "%s", info.dli_sname);
        else
            site_symbol(info.dli_fname, offset, name, sizeof name);
        int wrote = snprintf(text + length, size - length, "  %-9s %s (%s+0x%zx)\n", reported++ ? "" : "called by",
                             name[0] ? name : "?", base_name(info.dli_fname), offset);
        length += wrote > 0 ? (size_t)wrote : 0;
    }
    return length < size ? length : size - 1;
}
