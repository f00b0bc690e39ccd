/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm ptxas as compilers call it: what is written, what is refused and with which status, and the options of ptxas. */
#define _GNU_SOURCE /* mkdtemp */
#include "ptxas.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuvmm.h"
#include "ptxas_options.h"
#include "tap.h"

#define HEAD ".version 8.0\n.target sm_80\n.address_size 64\n"
#define GOOD HEAD ".visible .entry add(.param .u64 p, .param .u32 n) { .reg .b32 %r1; .shared .b8 s[64]; ld.shared.u32 %r1, [s]; ret; }\n"
#define FAR HEAD ".visible .entry far() { .reg .b64 %d1; mbarrier.inval.shared.b64 [%d1]; ret; }\n"

static char folder[64], in[80], out[80];
static char *said, *printed;

static void put(const char *path, const char *text)
{
    FILE *file = fopen(path, "wb");
    if (!file || fputs(text, file) < 0 || fclose(file) != 0)
        tap_bail("%s cannot be written", path);
}

/* What the file holds, to be freed; NULL: it is not there. */
static char *contents(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    char *text = file ? calloc(1, 1 << 16) : NULL;
    *size = text ? fread(text, 1, (1 << 16) - 1, file) : 0;
    if (file)
        fclose(file);
    return text;
}

static int start(int (*entry)(int, char *const *, FILE *, FILE *), int argc, char *const *argv)
{
    size_t size;
    free(said), free(printed);
    FILE *err = open_memstream(&said, &size), *output = open_memstream(&printed, &size);
    int status = entry(argc, argv, output, err);
    fclose(err), fclose(output);
    return status;
}

#define CALL(...) start(ptxas_main, (int)(sizeof((char *[]){__VA_ARGS__}) / sizeof(char *)), (char *[]){__VA_ARGS__})

static int command(int argc, char *const *argv, FILE *o, FILE *e)
{
    char *words[16] = {NULL};
    memcpy(words, argv, (size_t)argc * sizeof *argv);
    return cuvmm_main(argc, words, o, e);
}

/* As Triton calls it. */
static void test_written(void)
{
    size_t size;
    put(in, GOOD);
    tap_u64((uint64_t)CALL("ptxas", "-lineinfo", "-v", "--opt-level", "0", "--regAllocOptLevel=2", "--fmad=false", "--gpu-name=sm_90a", in, "-o", out),
            0, "a text that runs");
    tap_ok(strstr(said, "ptxas info: add: 12 bytes of parameters, 64 of shared and 0 of local memory"), "-v says what it takes");
    char *written = contents(out, &size);
    tap_ok(written && strncmp(written, GOOD, strlen(GOOD)) == 0 && !written[size - 1] && strlen(written) == size - 1,
           "the output is the text, ended by a 0");
    tap_ok(written && strstr(written, "// This is PTX, and no machine code"), "and says what it is");
    free(written);
    tap_u64((uint64_t)CALL("ptxas", "-O3", "-arch", "sm_80", "-o", in, out), 0, "it accepts its own output");
    tap_text(said, "", "without a word");
    put(in, FAR);
    tap_u64((uint64_t)CALL("ptxas", in, "-o", out), 0, "a kernel that the simulator does not run");
    tap_ok(strstr(said, "warning: far cannot be launched on the simulator: mbarrier.inval"), "is a warning: %s", said);
}

static void test_refused(void)
{
    size_t size;
    unlink(out);
    put(in, HEAD ".entry k { ret }\n");
    tap_u64((uint64_t)CALL("ptxas", in, "-o", out), PTXAS_FAILED, "a text with a mistake");
    tap_ok(strstr(said, ", line 4, column ") && strstr(said, "; error: "), "is refused with its place: %s", said);
    put(in, GOOD);
    tap_u64((uint64_t)CALL("ptxas", in, "-o", out, "--gpu-name", "sm_75"), PTXAS_FAILED, "a text for a newer device");
    tap_ok(strstr(said, "the PTX is for sm_80, and --gpu-name is sm_75"), "is refused");
    tap_ok(!contents(out, &size), "nothing was written");
    tap_u64((uint64_t)CALL("ptxas", "none.ptx", "-o", out), PTXAS_WRONG, "a missing file");
    tap_ok(strstr(said, "none.ptx: No such file"), "is named");
    tap_u64((uint64_t)CALL("ptxas", folder, "-o", out), PTXAS_WRONG, "a folder cannot be read");
    tap_u64((uint64_t)CALL("ptxas", in, "-o", folder), PTXAS_WRONG, "or written");
    put(in, "");
    tap_u64((uint64_t)CALL("ptxas", in, "-o", out), PTXAS_FAILED, "an empty file is not PTX");
}

static void test_options(void)
{
    static const struct {
        char *argv[4];
        const char *said;
    } wrong[] = {
        {{"ptxas", NULL}, "which file of PTX?"},
        {{"ptxas", "a", "b", NULL}, "one file at a time, and not a and b"},
        {{"ptxas", "a", "-o", NULL}, "the value of -o is missing"},
        {{"ptxas", "a", "--gpu-name=ninety", NULL}, "wants an architecture such as sm_90 or sm_90a, not \"ninety\""},
        {{"ptxas", "a", "-arch=sm_x", NULL}, "not \"sm_x\""},
        {{"ptxas", "a", "-arch=sm_90b", NULL}, "not \"sm_90b\""},
        {{"ptxas", "a", "-arch=sm_90aa", NULL}, "not \"sm_90aa\""},
        {{"ptxas", "a", "-arch=sm_9000", NULL}, "not \"sm_9000\""},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        int argc = 0;
        while (wrong[i].argv[argc])
            argc++;
        tap_u64((uint64_t)start(ptxas_main, argc, wrong[i].argv), PTXAS_WRONG, "wrong options %zu", i);
        tap_ok(strstr(said, wrong[i].said), "%s", wrong[i].said);
    }
    struct ptxas_options options;
    char *const words[] = {"ptxas", "-arch=compute_100f", "--maxrregcount", "64", "--new-one", "a", "-O", "2"};
    size_t size;
    char *text = NULL;
    FILE *err = open_memstream(&text, &size);
    tap_ok(ptxas_options_read(8, words, &options, err), "an option that is not known is passed over");
    fclose(err);
    tap_ok(strstr(text, "--new-one is not known"), "and named");
    tap_ok(options.capability == 100 && strcmp(options.input, "a") == 0 && strcmp(options.output, "elf.o") == 0, "the others hold");
    free(text);
}

/* By its own name, and by that of a link to cuvmm. */
static void test_names(void)
{
    char *const as_command[] = {"cuvmm", "ptxas", "--version"}, *const as_link[] = {"/usr/lib/cuvmm/ptxas", "--version"};
    tap_u64((uint64_t)start(command, 3, as_command), 0, "cuvmm ptxas");
    tap_ok(strstr(printed, "release 13.0") && strstr(printed, "cuvmm 0."), "says which release's PTX it takes, and who it is");
    char *first = strdup(printed);
    tap_u64((uint64_t)start(command, 2, as_link), 0, "a link of the name");
    tap_text(printed, first, "is the same");
    free(first);
}

int main(void)
{
    snprintf(folder, sizeof folder, "%s/ptxas_test.XXXXXX", access("build/tmp", W_OK) == 0 ? "build/tmp" : "/tmp");
    if (!mkdtemp(folder))
        tap_bail("no folder");
    snprintf(in, sizeof in, "%s/a.ptx", folder);
    snprintf(out, sizeof out, "%s/a.cubin", folder);
    test_written();
    test_refused();
    test_options();
    test_names();
    unlink(in), unlink(out), rmdir(folder);
    free(said), free(printed);
    return tap_done();
}
