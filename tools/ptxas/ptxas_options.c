/* SPDX-License-Identifier: Apache-2.0 */
#include "ptxas_options.h"

#include <stdlib.h>
#include <string.h>

enum kind { FLAG, VALUE, OUTPUT, GPU, VERBOSE, VERSION, OPT_LEVEL };

/* NVIDIA's documentation of the compiler driver lists them ("ptxas options"), and Triton's source those that it passes. */
static const struct {
    const char *name; /* without the dashes */
    enum kind kind;
} known[] = {
    {"o", OUTPUT}, {"output-file", OUTPUT},
    {"arch", GPU}, {"gpu-name", GPU},
    {"v", VERBOSE}, {"verbose", VERBOSE},
    {"V", VERSION}, {"version", VERSION},
    {"O", OPT_LEVEL}, {"opt-level", VALUE},
    {"fmad", VALUE}, {"maxrregcount", VALUE}, {"device-function-maxrregcount", VALUE}, {"register-usage-level", VALUE},
    {"regAllocOptLevel", VALUE}, {"def-load-cache", VALUE}, {"dlcm", VALUE}, {"def-store-cache", VALUE}, {"dscm", VALUE},
    {"force-load-cache", VALUE}, {"flcm", VALUE}, {"force-store-cache", VALUE}, {"fscm", VALUE}, {"entry", VALUE}, {"e", VALUE},
    {"machine", VALUE}, {"m", VALUE}, {"Ofast-compile", VALUE}, {"Ofc", VALUE}, {"split-compile", VALUE}, {"tool-name", VALUE},
    {"allow-expensive-optimizations", VALUE}, {"allow-exp", VALUE}, {"maxntid", VALUE}, {"minnctapersm", VALUE},
    {"c", FLAG}, {"compile-only", FLAG}, {"g", FLAG}, {"device-debug", FLAG}, {"lineinfo", FLAG}, {"generate-line-info", FLAG},
    {"suppress-debug-info", FLAG}, {"w", FLAG}, {"disable-warnings", FLAG}, {"Werror", FLAG}, {"warning-as-error", FLAG},
    {"warn-on-spills", FLAG}, {"warn-spills", FLAG}, {"warn-on-local-memory-usage", FLAG}, {"warn-lmem-usage", FLAG},
    {"warn-on-double-precision-use", FLAG}, {"warn-double-usage", FLAG}, {"preserve-relocs", FLAG}, {"sp-bounds-check", FLAG},
    {"compile-as-tools-patch", FLAG}, {"position-independent-code", FLAG}, {"pic", FLAG}, {"return-at-end", FLAG},
    {"disable-optimizer-constants", FLAG}, {"no-fastreg", FLAG}, {"jobserver", FLAG}, {"override-directive-values", FLAG},
    {"extensible-whole-program", FLAG}, {"ewp", FLAG}, {"suppress-stack-size-warning", FLAG},
};

static const size_t count = sizeof known / sizeof known[0];

static size_t find(const char *name, size_t length)
{
    size_t i = 0;
    while (i < count && (strncmp(known[i].name, name, length) != 0 || known[i].name[length]))
        i++;
    return i;
}

/* sm_90, sm_90a, compute_90. */
static bool take_gpu(const char *value, struct ptxas_options *options, FILE *err)
{
    const char *digits = strchr(value, '_');
    char *end = NULL;
    unsigned long number = digits ? strtoul(digits + 1, &end, 10) : 0;
    if (!number || number > 999 || (*end && (end[1] || (*end != 'a' && *end != 'f')))) {
        fprintf(err, "cuvmm ptxas: --gpu-name wants an architecture such as sm_90 or sm_90a, not \"%.60s\"\n", value);
        return false;
    }
    options->capability = (unsigned)number;
    return true;
}

static bool take(enum kind kind, const char *value, struct ptxas_options *options, FILE *err)
{
    switch (kind) {
    case OUTPUT: options->output = value; return true;
    case GPU: return take_gpu(value, options, err);
    case VERBOSE: options->verbose = true; return true;
    case VERSION: options->version = true; return true;
    case FLAG:
    case VALUE:
    case OPT_LEVEL: break;
    }
    return true;
}

/* An option and its value, which may be the next word: *at is the last word that was used. */
static bool take_option(int argc, char *const *argv, int *at, struct ptxas_options *options, FILE *err)
{
    const char *word = argv[*at], *name = word + strspn(word, "-"), *equals = strchr(name, '=');
    size_t length = equals ? (size_t)(equals - name) : strlen(name);
    if (name[0] == 'O' && length == 2 && name[1] >= '0' && name[1] <= '9')
        return true; /* -O3 */
    size_t i = find(name, length);
    if (i == count) {
        fprintf(err, "cuvmm ptxas: %.60s is not known, and changes nothing; a value of its own would be taken for the input\n", word);
        return true;
    }
    const enum kind kind = known[i].kind;
    const char *value = equals ? equals + 1 : NULL;
    if (!value && kind != FLAG && kind != VERBOSE && kind != VERSION) {
        if (*at + 1 == argc) {
            fprintf(err, "cuvmm ptxas: the value of %s is missing\n", word);
            return false;
        }
        value = argv[++*at];
    }
    return take(kind, value, options, err);
}

bool ptxas_options_read(int argc, char *const *argv, struct ptxas_options *options, FILE *err)
{
    *options = (struct ptxas_options){.output = "elf.o"};
    for (int i = 1; i < argc; i++) {
        if (argv[i][0] == '-' && argv[i][1]) {
            if (!take_option(argc, argv, &i, options, err))
                return false;
        } else if (options->input) {
            fprintf(err, "cuvmm ptxas: one file at a time, and not %.200s and %.200s\n", options->input, argv[i]);
            return false;
        } else {
            options->input = argv[i];
        }
    }
    if (!options->input && !options->version)
        fprintf(err, "cuvmm ptxas: which file of PTX?\n");
    return options->input || options->version;
}
