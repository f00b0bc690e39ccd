/* SPDX-License-Identifier: Apache-2.0 */
#include "usage.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool cuvmm_wants_colour(FILE *out)
{
    const char *no = getenv("NO_COLOR");
    int fd = fileno(out);
    return (!no || !no[0]) && fd >= 0 && isatty(fd);
}

int cuvmm_take_backend(int argc, char **argv, int at, const char **backend)
{
    if (strncmp(argv[at], "--backend=", 10) == 0) {
        *backend = argv[at] + 10;
        return 1;
    }
    if (strcmp(argv[at], "--backend") != 0)
        return 0;
    if (at + 1 == argc)
        return -1;
    *backend = argv[at + 1];
    return 2;
}

int cuvmm_usage(FILE *err, const char *name)
{
    fprintf(err, "Try `cuvmm help%s%s`.\n", name ? " " : "", name ? name : "");
    return 2;
}
