/* SPDX-License-Identifier: Apache-2.0 */
/* `launch`: a kernel of the library by name, or one of a file of PTX.
 *
 *     launch fill 1 32 {r0 64KiB 7}                     cuLaunchKernel(fill, 1, 32, ...)
 *     launch scale.ptx:scale 4x2 128 {r0 f32:0.5}       vmm_kernel_load(scale.ptx, "scale") -> a number, and the same call
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "script_state.h"

enum { FILE_MOST = 64 << 20, PATH_MOST = 4096 };

/* ---- dimensions: 4, 4x2, 4x2x3, or any number ---- */

/* Reads "4x2x3" as far as possible; false: it has another form. */
static bool read_dimensions(const char *text, uint64_t out[3])
{
    for (int i = 0; i < 3; i++) {
        char *end;
        if (*text < '1' || *text > '9')
            return false;
        errno = 0;
        out[i] = strtoull(text, &end, 10);
        if (errno)
            return false;
        if (!*end)
            return i > 0;
        if (*end != 'x')
            return false;
        text = end + 1;
    }
    return false;
}

static bool take_dimensions(struct script *script, const char *what, unsigned out[3])
{
    struct words_error error;
    struct value_env env = script_env(script);
    uint64_t value[3] = {1, 1, 1};
    const struct word *word = args_next(script, what);
    if (!word)
        return false;
    if (!read_dimensions(word->text, value) && !value_number(&env, word, &value[0], &error))
        return script_wrong(script, error.column, "%s is written as 4, 4x2 or 4x2x3: %s", what, error.text);
    for (int i = 0; i < 3; i++) {
        if (value[i] > UINT32_MAX)
            return script_wrong(script, word->column, "%llu of %s has more than 32 bits; a grid has at most 2147483647, 65535 and 65535 "
                                "blocks, a block 1024 threads", (unsigned long long)value[i], what);
        out[i] = (unsigned)value[i];
    }
    return true;
}

/* ---- arguments ---- */

/* A number, or -5 as 64 bits. */
static bool read_argument(const struct value_env *env, const struct word *word, uint64_t *out, struct words_error *error)
{
    struct word rest = *word;
    const bool negative = word->text[0] == '-';
    rest.text += negative;
    rest.column += negative;
    if (!value_number(env, &rest, out, error))
        return false;
    *out = negative ? 0 - *out : *out;
    return true;
}

static bool take_arguments(struct script *script, struct vmm_call_launch *call)
{
    struct words_error error;
    struct value_env env = script_env(script);
    struct words inside;
    const struct word *word = args_more(script) ? args_next(script, "{ARGUMENT ...}") : NULL;
    if (!word)
        return true;
    if (word->text[0] != '{')
        return script_wrong(script, word->column, "\"%.40s\" stands where arguments come, all in braces: {r0 64KiB 7}",
                            word->text);
    if (!value_inside(word, &inside, &error))
        return script_wrong_at(script, &error);
    for (size_t i = 0; i < inside.count; i++) /* a line has fewer words than a step has arguments */
        if (!read_argument(&env, &inside.word[i], &script->step.words[i], &error))
            return script_wrong_at(script, &error);
    call->count = inside.count;
    return true;
}

/* ---- files ---- */

/* The text of a regular file, which the caller frees; NULL, with errno, on failure. */
static char *read_file(const char *path, size_t *size)
{
    struct stat status;
    FILE *in = fopen(path, "rb");
    char *text = NULL;
    if (in && fstat(fileno(in), &status) == 0) {
        errno = S_ISDIR(status.st_mode) ? EISDIR : !S_ISREG(status.st_mode) ? EINVAL : status.st_size > FILE_MOST ? EFBIG : 0;
        if (!errno) {
            text = text_grow(NULL, (size_t)status.st_size + 1);
            *size = fread(text, 1, (size_t)status.st_size, in);
        }
    }
    const int kept = errno;
    if (in)
        fclose(in);
    errno = kept;
    return text;
}

/* Looks for FILE in the script's folder, then in the current one; path becomes the file that was read. */
static char *find_file(const struct script *script, const char *file, char path[PATH_MOST], size_t *size)
{
    const char *folder = file[0] == '/' ? NULL : script->options.folder;
    char *text = NULL;
    errno = ENAMETOOLONG;
    if (folder && snprintf(path, PATH_MOST, "%s/%s", folder, file) < PATH_MOST)
        text = read_file(path, size);
    if (!text && (!folder || errno == ENOENT) && snprintf(path, PATH_MOST, "%s", file) < PATH_MOST)
        text = read_file(path, size);
    return text;
}

/* ---- kernels ---- */

static bool find_ours(const char *name, vmm_kernel *kernel)
{
    for (*kernel = 0; *kernel < vmm_kernel_count(); ++*kernel)
        if (strcmp(name, vmm_kernel_name(*kernel)) == 0)
            return true;
    return false;
}

const struct script_kernel *script_kernel_find(const struct script *script, vmm_kernel number)
{
    for (size_t i = 0; i < script->kernel_count; i++)
        if (script->kernels[i].number == number)
            return &script->kernels[i];
    return NULL;
}

void script_kernels_free(struct script *script)
{
    for (size_t i = 0; i < script->kernel_count; i++) {
        free(script->kernels[i].path);
        free(script->kernels[i].name);
    }
    free(script->kernels);
}

static char *copy_of(const char *text)
{
    return strcpy(text_grow(NULL, strlen(text) + 1), text);
}

static void keep(struct script *script, vmm_kernel number, const char *path, const vmm_ptx_kernel *what)
{
    if (script_kernel_find(script, number))
        return;
    script->kernels = text_grow(script->kernels, (script->kernel_count + 1) * sizeof *script->kernels);
    struct script_kernel *kernel = &script->kernels[script->kernel_count++];
    *kernel = (struct script_kernel){number, copy_of(path), copy_of(what->name), *what};
    kernel->shape.ptx = kernel->shape.name = NULL;
}

static bool wrong_name(struct script *script, const struct word *word)
{
    struct text names = {0};
    for (vmm_kernel i = 0; i < vmm_kernel_count(); i++)
        text_add(&names, "%s%s", i ? ", " : "", vmm_kernel_name(i));
    script_wrong(script, word->column, "\"%.60s\" is neither FILE.ptx:KERNEL nor a kernel of the library (%s)",
                 word->text, names.data);
    text_free(&names);
    return false;
}

/* Loads the kernel of FILE:NAME; errors in the PTX become the line's outcome. */
static bool load(struct script *script, const struct word *word, vmm_ptx_kernel *what, vmm_kernel *kernel)
{
    char path[PATH_MOST];
    char *colon = strrchr(word->text, ':');
    if (!colon)
        return wrong_name(script, word);
    if (colon == word->text || !colon[1])
        return script_wrong(script, word->column, "\"%.60s\" lacks the %s; a kernel in a file is FILE.ptx:KERNEL", word->text,
                            colon[1] ? "file" : "kernel");
    *colon = '\0';
    size_t size = 0;
    char *text = find_file(script, word->text, path, &size);
    if (!text)
        return script_wrong(script, word->column, "%.200s cannot be read: %s%s", word->text, strerror(errno),
                            errno == ENOENT && script->options.folder ? "; it is neither in the script's folder nor in "
                                                                        "the current one" : "");
    what->ptx = text;
    what->size = size;
    what->name = colon + 1;
    vmm_result result = vmm_kernel_load(what, kernel);
    free(text);
    if (result == VMM_SUCCESS) {
        keep(script, *kernel, path, what);
        return true;
    }
    struct text call = {0};
    text_add(&call, "vmm_kernel_load(%s, %s)", word->text, colon + 1);
    script_refused(script, call.data);
    text_free(&call);
    return false;
}

static bool run_launch(struct script *script)
{
    unsigned grid[3], block[3];
    uint64_t shared = 0;
    bool given;
    const struct word *word = args_next(script, "KERNEL");
    struct vmm_call_launch *call = &script_step(script, VMM_CALL_launch)->call.launch;
    if (!word || !take_dimensions(script, "GRID", grid) || !take_dimensions(script, "BLOCK", block) || !take_arguments(script, call) ||
        !args_option_number(script, "shared", &shared) || !args_stream(script, &given, &call->stream) || !args_done(script))
        return false;
    if (shared > UINT32_MAX)
        return script_wrong(script, 1, "%llu bytes of shared memory; a block has at most 48KiB", (unsigned long long)shared);
    call->grid_dim = grid[0];
    call->block_dim = block[0];
    vmm_ptx_kernel what = {.grid_y = grid[1], .grid_z = grid[2], .block_y = block[1], .block_z = block[2],
                           .shared_bytes = (unsigned)shared};
    const bool ours = find_ours(word->text, &call->kernel);
    if (ours && (grid[1] > 1 || grid[2] > 1 || block[1] > 1 || block[2] > 1 || shared))
        return script_wrong(script, word->column, "%.40s is a kernel of the library: its grid and block have one "
                                                  "dimension, and it uses no shared memory", word->text);
    return (ours || load(script, word, &what, &call->kernel)) && script_make(script, NULL);
}

const struct script_command script_launch_commands[] = {
    {"launch", "FILE.ptx:KERNEL|KERNEL GRID BLOCK [{ARGUMENT ...}] [shared=SIZE] [stream=STREAM|none]",
     "runs a kernel of a PTX file or of the library; GRID and BLOCK are 4, 4x2 or 4x2x3", "cuLaunchKernel", run_launch, false},
    {0},
};
