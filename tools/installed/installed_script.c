/* SPDX-License-Identifier: Apache-2.0 */
#include "installed_script.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The folder above this command's own: of an installed tree, or of a build. Empty if that is unknown. */
static void find_prefix(char *prefix, size_t size)
{
    ssize_t length = readlink("/proc/self/exe", prefix, size - 1);
    prefix[length > 0 ? length : 0] = '\0';
    for (int up = 0; up < 2; up++) {
        char *slash = strrchr(prefix, '/');
        *(slash ? slash : prefix) = '\0';
    }
}

int installed_script_start(const struct installed_script *script, char **argv, FILE *out, FILE *err)
{
    char prefix[3800], path[4096];
    const char *folder = getenv(script->variable);
    find_prefix(prefix, sizeof prefix);
    if (prefix[0])
        setenv("CUVMM_PREFIX", prefix, 0);
    if (folder && folder[0])
        snprintf(path, sizeof path, "%.4000s/%s", folder, script->file);
    else
        snprintf(path, sizeof path, "%s/share/cuvmm/%s/%s", prefix, script->folder, script->file);
    fflush(out);
    execv(path, argv);
    fprintf(err, "cuvmm %s: %s: %s; name the folder of %s in %s\n", script->command, path, strerror(errno), script->file,
            script->variable);
    return 2;
}
