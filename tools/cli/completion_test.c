/* SPDX-License-Identifier: Apache-2.0 */
/* What can come next on a command line. */
#include "completion.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "tap.h"
#include "vmm.h"

#define WORDS 6

/* Every candidate for words, without the descriptions: "a b ". To be freed. */
static char *candidates(const char *const words[WORDS])
{
    char *argv[WORDS], *out = NULL, *line;
    size_t size, length = 0;
    int count = 0;
    for (; count < WORDS && words[count]; count++)
        argv[count] = (char *)(uintptr_t)words[count];
    FILE *file = open_memstream(&out, &size);
    if (!file)
        tap_bail("no memory");
    completion_words(file, count, argv);
    fclose(file);
    for (line = out; *line;) {
        size_t word = strcspn(line, "\t"), whole = strcspn(line, "\n");
        memmove(out + length, line, word);
        out[length + word] = ' ';
        length += word + 1;
        line += whole + (line[whole] == '\n');
    }
    out[length] = 0;
    return out;
}

static const struct {
    const char *words[WORDS], *want;
} cases[] = {
    {{"expl"}, "explain "},
    {{"--v"}, "--version "},
    {{"frob", ""}, ""},
    {{"run", ""}, ""},
    {{"run", "--d"}, "--draw "},
    {{"run", "--b"}, "--backend --brief "},
    {{"run", "--backend", "sim:h"}, "sim:h100 sim:h200 sim:h200x2 sim:h200x4 "},
    {{"run", "--backend", "c"}, "cuda "},
    {{"run", "--backend=sim:od"}, "--backend=sim:odd "},
    {{"run", "--draw=", ""}, ""},
    {{"run", "--nothing=s"}, ""},
    {{"run", "--he"}, "--help "},
    {{"run", "x.vmm", "--q"}, "--quiet "},
    {{"explain", "VMM-MAP-OVER"}, "VMM-MAP-OVERLAP "},
    {{"explain", "CUDA_ERROR_INVALID_D"}, "CUDA_ERROR_INVALID_DEVICE "},
    {{"explain", "VMM-MAP-OVERLAP", ""}, ""},
    {{"rules", "--call", "cuMemUn"}, "cuMemUnmap "},
    {{"rules", "--call", "cuMemUnmap", "--t"}, "--tsv "},
    {{"profiles", "od"}, "odd "},
    {{"machine", "od"}, ""},
    {{"help", "prof"}, "profiles "},
    {{"lesson", "release-o"}, "release-order "},
    {{"lesson", "--pa"}, "--page "},
    {{"lesson", "--backend", "sim:odd", "release-o"}, "release-order "},
    {{"lesson", "rights", "release-o"}, ""},
    {{"completion", ""}, "bash zsh fish "},
    {{"check", "--leaks="}, "--leaks=yes --leaks=no --leaks=full "},
    {{"check", "--leaks=y"}, "--leaks=yes "},
    {{"check", "--lea"}, "--leaks= "},
    {{"check", "ls", "--lea"}, ""},
    {{"check", "--quiet", "--lea"}, "--leaks= "},
    {{"check", "--leaks", "y"}, "yes "},
    {{"check", "--", "--lea"}, ""},
    {{"export", "x", "--format="}, "--format=chrome --format=memory-viz --format=dot --format=lines --format=binary "},
    {{"export", "--at="}, "--at=error "},
    {{"shell", "--color", ""}, "always never auto "},
    {{"rules", "--", "--t"}, ""},
    {{"completion", "--words", "run", "--d"}, ""},
    {{"diff", "--seed", ""}, ""},
    {{"diff", "--replay"}, "--replay --replay-recording "},
};

static void test_all_rules(void)
{
    size_t count, lines = 0;
    const vmm_rule *rules = vmm_rules(&count);
    char *all = candidates((const char *const[WORDS]){"explain", "VMM-"});
    for (const char *c = all; *c; c++)
        lines += *c == ' ';
    tap_u64(lines, count, "every rule is one, once");
    tap_ok(strncmp(all, rules[0].id, strlen(rules[0].id)) == 0, "in the table's order");
    free(all);
}

static void test_all_commands(void)
{
    char *all = candidates((const char *const[WORDS]){""}), want[64];
    const char *at = all;
    const struct command *command;
    for (size_t i = 0; (command = command_at(i)); i++) {
        snprintf(want, sizeof want, "%s ", command->name);
        tap_ok(strncmp(at, want, strlen(want)) == 0, "%s is offered", command->name);
        at += strlen(want);
    }
    free(all);
}

static void test_remark(void)
{
    char *out = NULL, *argv[] = {(char *)(uintptr_t) "profil"};
    size_t size;
    FILE *file = open_memstream(&out, &size);
    if (!file)
        tap_bail("no memory");
    completion_words(file, 1, argv);
    fclose(file);
    tap_text(out, "profiles\tlists the simulated machines, or shows one\n", "a candidate and what it is");
    free(out);
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char *got = candidates(cases[i].words);
        tap_text(got, cases[i].want, "%s %s %s", cases[i].words[0], cases[i].words[1] ? cases[i].words[1] : "",
                 cases[i].words[1] && cases[i].words[2] ? cases[i].words[2] : "");
        free(got);
    }
    test_all_rules();
    test_all_commands();
    test_remark();
    return tap_done();
}
