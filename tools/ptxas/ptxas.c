/* SPDX-License-Identifier: Apache-2.0 */
#include "ptxas.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "output.h"
#include "ptx_program.h"
#include "ptxas_options.h"
#include "text.h"
#include "vmm.h"

/* The release whose PTX, 9.0, is the newest that the translator was written for. */
#define RELEASE "13.0"

static void print_version(FILE *out)
{
    fprintf(out, "cuvmm %d.%d.%d in the place of ptxas: checks PTX for the simulator, and makes no machine code\n"
                 "PTX of the CUDA compilation tools, release " RELEASE "\n", VMM_VERSION_MAJOR, VMM_VERSION_MINOR, VMM_VERSION_PATCH);
}

/* The whole file, to be freed; NULL: err has said why. */
static char *read_all(const char *path, size_t *size, FILE *err)
{
    struct text text = {0};
    char buffer[1 << 14];
    FILE *in = fopen(path, "rb");
    size_t length;
    while (in && (length = fread(buffer, 1, sizeof buffer, in)) > 0)
        text_add_bytes(&text, buffer, length);
    bool read = in && !ferror(in);
    if (!read) {
        fprintf(err, "cuvmm ptxas: %.200s: %s\n", path, strerror(errno));
        text_free(&text);
    }
    if (in)
        fclose(in);
    if (read && !text.data)
        text_add_bytes(&text, "", 1);
    while (text.length && !text.data[text.length - 1]) /* a file that this command wrote */
        text.length--;
    *size = text.length;
    return text.data;
}

static void print_kernels(const struct ptx_program *program, const struct ptxas_options *options, FILE *err)
{
    for (uint32_t i = 0; i < program->kernel_count; i++) {
        const struct ptx_kernel *k = &program->kernels[i];
        if (options->verbose)
            fprintf(err, "ptxas info: %s: %u bytes of parameters, %u of shared and %u of local memory\n", k->name, k->param_bytes,
                    k->shared_bytes, k->local_bytes);
        if (k->refused)
            fprintf(err, "ptxas %s; warning: %s cannot be launched on the simulator: %s\n", options->input, k->name, k->refused);
    }
}

/* NULL: err has said what is wrong with the text. */
static struct ptx_program *check(const struct ptxas_options *options, const char *text, size_t size, FILE *err)
{
    static const struct ptx_options translate = {.let_unsupported_stay = true};
    struct ptx_error error = {.no_memory = false};
    struct ptx_program *program = ptx_program_new(text, size, &translate, &error);
    if (!program) {
        fprintf(err, "ptxas %s, line %u, column %u; error: %s\n", options->input, error.place.line, error.place.column, error.text);
        return NULL;
    }
    if (options->capability && program->capability > options->capability) {
        fprintf(err, "ptxas %s; error: the PTX is for sm_%u, and --gpu-name is sm_%u\n", options->input, program->capability,
                options->capability);
        ptx_program_free(program);
        return NULL;
    }
    return program;
}

static bool write_all(const struct ptxas_options *options, const char *text, size_t size, FILE *err)
{
    struct output output;
    if (!output_open(&output, options->output, "cuvmm ptxas", err))
        return false;
    fwrite(text, 1, size, output.file);
    fprintf(output.file, "\n// This is PTX, and no machine code: cuvmm ptxas put it here. The simulator's cuModuleLoadData takes it, and a "
                         "driver's compiles it.\n");
    fputc('\0', output.file);
    return output_close(&output, err);
}

int ptxas_main(int argc, char *const *argv, FILE *out, FILE *err)
{
    struct ptxas_options options;
    size_t size;
    if (!ptxas_options_read(argc, argv, &options, err))
        return PTXAS_WRONG;
    if (options.version) {
        print_version(out);
        return 0;
    }
    char *text = read_all(options.input, &size, err);
    if (!text)
        return PTXAS_WRONG;
    struct ptx_program *program = check(&options, text, size, err);
    if (program)
        print_kernels(program, &options, err);
    bool written = program && write_all(&options, text, size, err);
    const int status = written ? 0 : program ? PTXAS_WRONG : PTXAS_FAILED;
    ptx_program_free(program);
    free(text);
    return status;
}
