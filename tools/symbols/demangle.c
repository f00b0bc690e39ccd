/* SPDX-License-Identifier: Apache-2.0 */
#include "demangle.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

typedef char *demangler(const char *name, char *buffer, size_t *size, int *status);

static demangler *find_demangler(void)
{
    static const char *const libraries[] = {"libstdc++.so.6", "libc++abi.so.1"};
    demangler *found = NULL;
    for (size_t i = 0; i < sizeof libraries / sizeof libraries[0] && !found; i++) {
        void *library = dlopen(libraries[i], RTLD_LAZY | RTLD_LOCAL);
        void *symbol = library ? dlsym(library, "__cxa_demangle") : NULL;
        memcpy(&found, &symbol, sizeof found);
    }
    return found;
}

static bool is_hash(const char *text)
{
    enum { DIGITS = 16 };
    return text[0] == 'h' && strlen(text) == DIGITS + 1 && strspn(text + 1, "0123456789abcdef") == DIGITS;
}

/* Rust's older scheme is that of C++ with a hash as the innermost name. */
static void drop_hash(char *name)
{
    char *last = NULL;
    for (char *at = name; (at = strstr(at, "::")); at += 2)
        last = at;
    if (last && is_hash(last + 2))
        *last = '\0';
}

char *demangle(const char *name)
{
    static demangler *found;
    static bool looked;
    int status = -1;
    if (strncmp(name, "_Z", 2) != 0)
        return strdup(name);
    if (!looked)
        found = find_demangler();
    looked = true;
    char *plain = found ? found(name, NULL, NULL, &status) : NULL;
    if (!plain)
        return strdup(name);
    drop_hash(plain);
    return plain;
}
