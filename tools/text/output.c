/* SPDX-License-Identifier: Apache-2.0 */
#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "text.h"

static bool failed(struct output *output, const char *why, FILE *err)
{
    fprintf(err, "%s: %s: %s\n", output->command, output->path, why);
    free(output->path);
    free(output->aside);
    return false;
}

/* A device, a pipe or a folder would be gone after the rename. */
static bool is_no_file(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && !S_ISREG(status.st_mode);
}

bool output_open(struct output *output, const char *path, const char *command, FILE *err)
{
    struct text own = {0}, aside = {0};
    text_add(&own, "%s", path);
    text_add(&aside, "%s.XXXXXX", path);
    *output = (struct output){NULL, own.data, aside.data, command};
    if (is_no_file(path))
        return failed(output, "a folder, a device or a pipe is there, which is not replaced", err);
    int fd = mkstemp(output->aside);
    output->file = fd < 0 ? NULL : fdopen(fd, "wb");
    if (output->file)
        return true;
    int error = errno;
    if (fd >= 0) {
        close(fd);
        unlink(output->aside);
    }
    return failed(output, strerror(error), err);
}

/* mkstemp's files are for their owner alone; others are as the mask says. */
static bool share(FILE *file)
{
    mode_t mask = umask(0);
    umask(mask);
    return fchmod(fileno(file), 0666 & ~mask) == 0;
}

/* Why something could not be written a while ago: the system is asked again. What it takes now is not kept. */
static int why_not(FILE *file)
{
    static const char more[8192];
    ssize_t n = write(fileno(file), more, sizeof more); /* some of it may find room */
    if (n > 0)
        n = write(fileno(file), more, sizeof more);
    return n < 0 ? errno : EIO;
}

bool output_close(struct output *output, FILE *err)
{
    errno = 0;
    bool whole = fflush(output->file) == 0 && !ferror(output->file) && share(output->file);
    int error = errno;
    if (!whole && !error)
        error = why_not(output->file);
    if (fclose(output->file) != 0 && whole) {
        whole = false;
        error = errno;
    }
    if (whole && rename(output->aside, output->path) == 0) {
        free(output->path);
        free(output->aside);
        return true;
    }
    error = whole ? errno : error;
    unlink(output->aside);
    return failed(output, strerror(error ? error : EIO), err);
}

void output_abandon(struct output *output)
{
    fclose(output->file);
    unlink(output->aside);
    free(output->path);
    free(output->aside);
}
