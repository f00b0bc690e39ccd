/* SPDX-License-Identifier: Apache-2.0 */
/* The file of cuvmm check's findings. */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

/* Absolute, for programs that go to other folders; emptied, for one run is one report. */
bool check_log(struct check_options *options, const char *path, FILE *err)
{
    char here[4096];
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (fd < 0 || (path[0] != '/' && !getcwd(here, sizeof here))) {
        fprintf(err, "cuvmm check: --log %.200s: %s\n", path, strerror(errno));
        if (fd >= 0)
            close(fd);
        return false;
    }
    close(fd);
    size_t size = strlen(path) + sizeof here + 2;
    free(options->log);
    options->log = malloc(size);
    if (options->log)
        snprintf(options->log, size, "%s%s%s", path[0] == '/' ? "" : here, path[0] == '/' ? "" : "/", path);
    return options->log != NULL;
}
