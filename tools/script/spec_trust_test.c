/* SPDX-License-Identifier: Apache-2.0 */
/* A script's backend line may select machines, faults and a trace to the terminal; without --trust
 * it writes no file and runs no code. */
#include "spec_trust.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "script.h"
#include "tap.h"

static void specs(void)
{
    static const struct {
        const char *spec, *does;
    } cases[] = {{"sim:h100", ""},
                 {"sim:my.profile,strict", ""},
                 {"cuda", ""},
                 {"trace=-|sim:h100", ""},
                 {"fault=mem_create:3 | shadow=nodes=1 | sim:h100", ""},
                 {"trace=|sim:h100", "writes the file \"\""},
                 {"trace=a|sim:h100", "writes the file \"a\""},
                 {"fault=mem_create:3|trace=/etc/passwd|sim:h100", "writes the file \"/etc/passwd\""},
                 {"recorder=/tmp|sim:h100", "writes files into the folder \"/tmp\""},
                 {"cuda:evil.so", "runs the code of the library \"evil.so\""},
                 {"trace=a|trace=b | cuda:./evil.so", "writes the file \"a\" and writes the file \"b\" and runs the code of the library \"./evil.so\""},
                 {"trace=\x1b[2J|sim:h100", "writes the file \"?[2J\""},
                 {"trace=a|", ""},
                 {"", ""}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct text does = {0};
        bool needs = spec_needs_trust(cases[i].spec, &does);
        tap_text(does.data ? does.data : "", cases[i].does, "\"%s\" %s", strchr(cases[i].spec, '\x1b') ? "trace=ESC" : cases[i].spec,
                 cases[i].does[0] ? "is looked at twice" : "is harmless");
        tap_ok(needs == (cases[i].does[0] != 0), "which is said");
        text_free(&does);
    }
}

static char file[64];

/* Runs a script of one line, and checks the exit status and whether the file is unchanged. */
static void run(const char *layer, bool trusted, const char *backend, enum script_status want, bool stays)
{
    char *said = NULL, line[160];
    size_t size = 0;
    struct stat is;
    FILE *out = open_memstream(&said, &size), *kept = fopen(file, "w");
    if (!out || !kept || fputs("a thesis", kept) < 0 || fclose(kept))
        tap_bail("no file");
    struct script_options options = {.out = out, .err = out, .trusted = trusted, .backend = backend};
    struct script *script = script_new(&options, "letter.vmm");
    snprintf(line, sizeof line, "backend \"%s%s\"", layer, file);
    if (strncmp(layer, "cuda", 4) != 0)
        strcpy(line + strlen(line) - 1, "|sim:h100\"");
    tap_u64(script_line(script, line, strlen(line)), want, "%s %s", trusted ? "trusted" : "not trusted", line);
    script_finish(script);
    fclose(out);
    bool same = !stat(file, &is) && is.st_size == 8;
    tap_ok(same == stays, "the file is %s", stays ? "as it was" : "written");
    if (want == SCRIPT_WRONG && !trusted)
        tap_ok(strstr(said, "letter.vmm:1:9: ") && strstr(said, file) && strstr(said, "--trust") && strstr(said, "--backend"),
               "and what is refused, and what can be done, is said: %s", said);
    free(said);
}

int main(void)
{
    unsetenv("CUVMM_BACKEND");
    unsetenv("CUVMM_LAYERS");
    specs();
    snprintf(file, sizeof file, "/tmp/cuvmm-trust-XXXXXX");
    int made = mkstemp(file);
    if (made < 0 || close(made))
        tap_bail("no file");
    run("trace=", false, NULL, SCRIPT_WRONG, true);
    run("cuda:", false, NULL, SCRIPT_WRONG, true);
    run("trace=", true, NULL, SCRIPT_OK, false);
    run("trace=", false, "sim:h100", SCRIPT_OK, true); /* the user's own spec takes precedence */
    unlink(file);
    return tap_done();
}
