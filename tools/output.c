#include "output.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "text.h"

static bool failed(struct output *output, const char *path, int error, FILE *err)
{
    fprintf(err, "%s: %s: %s\n", output->command, path, strerror(error));
    free(output->path);
    free(output->aside);
    return false;
}

bool output_open(struct output *output, const char *path, const char *command, FILE *err)
{
    struct text own = {0}, aside = {0};
    text_add(&own, "%s", path);
    text_add(&aside, "%s.new", path);
    *output = (struct output){NULL, own.data, aside.data, command};
    output->file = fopen(output->aside, "wb");
    return output->file || failed(output, output->aside, errno, err);
}

bool output_close(struct output *output, FILE *err)
{
    bool whole = !ferror(output->file);
    int error = errno;
    if (fclose(output->file) != 0 && whole) {
        whole = false;
        error = errno;
    }
    if (whole && rename(output->aside, output->path) != 0) {
        whole = false;
        error = errno;
    }
    if (!whole) {
        remove(output->aside);
        return failed(output, output->path, error, err);
    }
    free(output->path);
    free(output->aside);
    return true;
}
