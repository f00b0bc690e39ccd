/* SPDX-License-Identifier: Apache-2.0 */
/* A script from a file. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "script.h"
#include "text.h"

/* Is it a compiled program? Leaves the file's position unchanged; a file that can be read only once is not tested. */
static bool is_program(FILE *in)
{
    static const char mark[] = {0x7f, 'E', 'L', 'F'};
    char head[sizeof mark];
    bool is = fseek(in, 0, SEEK_SET) == 0 && fread(head, 1, sizeof head, in) == sizeof head &&
              memcmp(head, mark, sizeof mark) == 0;
    fseek(in, 0, SEEK_SET);
    return is;
}

/* The folder of a file, which the caller frees; NULL: the current one. */
static char *folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    size_t length = slash == path ? 1 : slash ? (size_t)(slash - path) : 0;
    if (!slash)
        return NULL;
    char *folder = text_grow(NULL, length + 1);
    memcpy(folder, path, length);
    folder[length] = '\0';
    return folder;
}

int script_run_file(const char *path, const struct script_options *options)
{
    bool standard = strcmp(path, "-") == 0;
    FILE *in = standard ? stdin : fopen(path, "rb");
    if (!in) {
        fprintf(options->err, "cuvmm run: %s: %s\n", path, strerror(errno));
        return 2;
    }
    if (!standard && is_program(in)) {
        fprintf(options->err, "cuvmm run: %s is a program, not a script; `cuvmm check %s` runs it\n", path, path);
        fclose(in);
        return 2;
    }
    char *folder = standard ? NULL : folder_of(path);
    struct script_options own = *options;
    own.folder = folder;
    struct script *script = script_new(&own, standard ? "standard input" : text_base_name(path));
    script_read(script, in);
    if (!standard)
        fclose(in);
    int status = (int)script_finish(script);
    free(folder);
    fflush(options->out);
    return status;
}
