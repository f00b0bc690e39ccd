/* SPDX-License-Identifier: Apache-2.0 */
#include "exercise.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder above this command's own: of an installed tree, or of a build. False where the system does not tell. */
static bool find_prefix(char *prefix, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", prefix, size - 1);
    prefix[length > 0 ? length : 0] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(prefix, '/');
        if (!slash)
            return false;
        *slash = '\0';
    }
    return true;
}

int exercise_start(char **argv, FILE *out, FILE *err)
{
    char prefix[3800], path[4096];
    const char *folder = getenv("CUVMM_EXERCISES");
    bool found = find_prefix(prefix, sizeof prefix);
    if (found)
        setenv("CUVMM_PREFIX", prefix, 0);
    if (folder && folder[0])
        snprintf(path, sizeof path, "%.4000s/exercise", folder);
    else
        snprintf(path, sizeof path, "%s/share/cuvmm/exercises/exercise", prefix);
    fflush(out);
    execv(path, argv);
    fprintf(err, "cuvmm exercise: %s: %s; name the folder of the exercises in CUVMM_EXERCISES\n", path, strerror(errno));
    return 2;
}
