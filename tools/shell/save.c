/* SPDX-License-Identifier: Apache-2.0 */
#include "save.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "output.h"

/* Creates the file under its final name, unless another file has appeared there meanwhile. */
static bool take_name(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    return fd >= 0 && close(fd) == 0;
}

bool save_file(const char *path, bool force, void (*write)(FILE *out, void *user), void *user, FILE *err)
{
    struct output output;
    if (!output_open(&output, path, "  save", err))
        return false;
    write(output.file, user);
    bool taken = !force && take_name(path);
    if (!force && !taken) {
        int why = errno;
        output_abandon(&output);
        if (why == EEXIST)
            fprintf(err, "  %s already exists and was not changed; choose another name, or replace it with --force\n", path);
        else
            fprintf(err, "  save: %s: %s\n", path, strerror(why));
        return false;
    }
    if (output_close(&output, err))
        return true;
    if (taken)
        unlink(path);
    return false;
}
