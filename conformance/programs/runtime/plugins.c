/* SPDX-License-Identifier: Apache-2.0 */
/* plugins LIBRARY TIMES: opens a library with device code, calls its sums(), and closes it; that many times. */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int main(int argc, char **argv)
{
    for (int i = 0; argc > 2 && i < atoi(argv[2]); i++) {
        int (*sums)(void) = NULL;
        void *library = dlopen(argv[1], RTLD_NOW), *found = library ? dlsym(library, "sums") : NULL;
        if (!found) {
            fprintf(stderr, "%s\n", dlerror());
            return 2;
        }
        memcpy(&sums, &found, sizeof found);
        if (sums() || dlclose(library) || dlopen(argv[1], RTLD_NOW | RTLD_NOLOAD))
            return 1;
    }
    return 0;
}
