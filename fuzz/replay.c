/* SPDX-License-Identifier: Apache-2.0 */
/* replay.c - runs every input of the named folders and files once, without libFuzzer. TAP.
 *
 *     fuzz/script fuzz/corpus/script       ok 1 - aliases.vmm ...
 *
 * An input that ends the program ends the test; the last line before names it. All are read before the first runs,
 * because targets change the working directory.
 */
#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fuzz.h"
#include "tap.h"

enum { PATIENCE = 120, MOST_BYTES = 1 << 20 }; /* seconds for an input, under slow tools too */

struct input {
    char *name;
    uint8_t *bytes;
    size_t size;
};

struct inputs {
    struct input *list;
    size_t count;
};

static void read_file(struct inputs *inputs, const char *path, const char *name)
{
    struct input *list = realloc(inputs->list, (inputs->count + 1) * sizeof *list);
    /* analysers: malloc-leak is wrong: the list keeps what was read before */
    FILE *file = fopen(path, "rb");
    uint8_t *bytes = malloc(MOST_BYTES);
    char *copy = malloc(strlen(name) + 1);
    if (!list || !file || !bytes || !copy)
        tap_bail("%s: %s", path, strerror(errno));
    size_t size = fread(bytes, 1, MOST_BYTES, file);
    if (ferror(file) || !feof(file))
        tap_bail("%s: cannot be read, or has more than %d bytes", path, MOST_BYTES - 1);
    fclose(file);
    /* Its exact size, so that a read past the end is caught. */
    uint8_t *exact = size ? realloc(bytes, size) : bytes;
    inputs->list = list;
    /* analysers: memleak is wrong: the list has it, shrunk or not */
    list[inputs->count++] = (struct input){strcpy(copy, name), exact ? exact : bytes, size};
}

static void read_folder(struct inputs *inputs, const char *path)
{
    struct stat is;
    DIR *folder = stat(path, &is) == 0 && S_ISDIR(is.st_mode) ? opendir(path) : NULL;
    const struct dirent *entry;
    if (!folder) {
        read_file(inputs, path, strrchr(path, '/') ? strrchr(path, '/') + 1 : path);
        return;
    }
    while ((entry = readdir(folder)) != NULL) {
        char below[1000];
        if (entry->d_name[0] == '.')
            continue;
        if ((size_t)snprintf(below, sizeof below, "%s/%s", path, entry->d_name) >= sizeof below)
            tap_bail("%s: the path is too long", path);
        read_file(inputs, below, entry->d_name);
    }
    closedir(folder);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct input *)a)->name, ((const struct input *)b)->name);
}

int main(int argc, char **argv)
{
    struct inputs inputs = {0};
    for (int i = 1; i < argc; i++)
        read_folder(&inputs, argv[i]);
    if (!inputs.count)
        tap_bail("no input: name files, or folders of them");
    qsort(inputs.list, inputs.count, sizeof *inputs.list, by_name);
    for (size_t i = 0; i < inputs.count; i++) {
        const struct input *input = &inputs.list[i];
        tap_note("%s, %zu bytes", input->name, input->size);
        fflush(stdout);
        alarm(PATIENCE);
        tap_ok(LLVMFuzzerTestOneInput(input->size ? input->bytes : NULL, input->size) == 0, "%s", input->name);
    }
    for (size_t i = 0; i < inputs.count; i++) {
        free(inputs.list[i].name);
        free(inputs.list[i].bytes);
    }
    free(inputs.list);
    return tap_done();
}
