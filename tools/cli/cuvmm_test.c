/* SPDX-License-Identifier: Apache-2.0 */
/* The command line: every subcommand's help, every kind of wrong use, exit statuses. */
#include "cuvmm.h"

#include <stdlib.h>
#include <string.h>

#include "tap.h"

#define ARGS 6

struct run {
    int status;
    char *out, *err;
};

static struct run run(const char *const args[ARGS])
{
    struct run r = {0};
    char *argv[ARGS + 2] = {(char *)(uintptr_t) "cuvmm"};
    size_t out_size, err_size;
    int argc = 1;
    for (; argc <= ARGS && args[argc - 1]; argc++)
        argv[argc] = (char *)(uintptr_t)args[argc - 1];
    FILE *out = open_memstream(&r.out, &out_size), *err = open_memstream(&r.err, &err_size);
    if (!out || !err)
        tap_bail("no memory");
    r.status = cuvmm_main(argc, argv, out, err);
    fclose(out);
    fclose(err);
    return r;
}

static const struct {
    const char *args[ARGS];
    int status;
    const char *out, *err; /* the expected text; "" if there must be none */
} cases[] = {
    {{"--version"}, 0, "cuvmm 0.", ""},
    {{"--help"}, 0, "cuvmm run FILE", ""},
    {{"-h"}, 0, "Examples:", ""},
    {{"help"}, 0, "cuvmm replay TRACE", ""},
    {{"help", "run"}, 0, "--keep-going", ""},
    {{"help", "rules"}, 0, "--markdown", ""},
    {{"run", "--help"}, 0, "Commands of the language", ""},
    {{"run", "x", "-h"}, 0, "Commands of the language", ""},
    {{"explain", "--help"}, 0, "Examples:", ""},
    {{"rules", "--help"}, 0, "Examples:", ""},
    {{"profiles", "--help"}, 0, "Examples:", ""},
    {{"replay", "--help"}, 0, "Examples:", ""},
    {{"diff", "--help"}, 0, "--transcript FILE", ""},
    {{"machine", "--help"}, 0, "--json", ""},
    {{"help"}, 0, "cuvmm machine [NAME]", ""},
    {{"check", "--help"}, 0, "--error-exitcode=N", ""},
    {{"help", "check"}, 0, "docs/check.md", ""},
    {{"help", "--man"}, 0, ".TH CUVMM 1", ""},
    {{"completion", "bash"}, 0, "complete -o default", ""},
    {{"completion", "zsh"}, 0, "#compdef cuvmm", ""},
    {{"completion", "fish"}, 0, "complete -c cuvmm", ""},
    {{"exercise", "script"}, 0, "  1  vector: A vector that grows without moving", ""},
    {{"exercise", "script", "ring"}, 0, "# 4-ring: ", ""},
    {{"exercise", "script", "9"}, 2, "", "there is no exercise \"9\""},
    {{"exercise", "script", "1", "a.vmm", "b"}, 2, "", "unexpected argument \"b\" after \"a.vmm\""},
    {{"completion", "--help"}, 0, "cuvmm completion SHELL", ""},
    {{"completion", "--words", "run", "--help"}, 0, "--help\tmore", ""},
    {{"completion", "--words"}, 0, "run\t", ""},
    {{"completion"}, 2, "", "which SHELL: bash, zsh or fish?"},
    {{"completion", "bash", "zsh"}, 2, "", "one SHELL at a time; \"zsh\" is a second"},
    {{"completion", "tcsh"}, 2, "", "no completion for \"tcsh\"; choose bash zsh fish"},
    {{"completion", "--frob"}, 2, "", "unknown option \"--frob\""},
    {{"check"}, 2, "", "which program?"},
    {{"check", "--"}, 2, "", "which program?"},
    {{"check", "--leaks", "perhaps", "ls"}, 2, "", "--leaks wants yes, no or full, not \"perhaps\""},
    {{"check", "--error-exitcode=-1", "ls"}, 2, "", "a number from 0 to 255"},
    {{"check", "--backend=cuda", "ls"}, 2, "", "driver, sim or sim:MACHINE"},
    {{"check", "--frob", "ls"}, 2, "", "come after its name"},
    {{"check", "/no/such/program", "--help"}, 2, "", "No such file"},
    {{"exec", "--help"}, 0, "--machine=SPEC", ""},
    {{"help", "exec"}, 0, "docs/exec.md", ""},
    {{"exec"}, 2, "", "cuvmm exec: which program?"},
    {{"exec", "--"}, 2, "", "which program?"},
    {{"exec", "--machine=cuda", "ls"}, 2, "", "--machine wants sim or sim:MACHINE, for example sim:h200x2, not \"cuda\""},
    {{"exec", "--machine=trace=x|cuda", "ls"}, 2, "", "--machine wants"},
    {{"exec", "--trace=", "ls"}, 2, "", "--trace wants a file"},
    {{"exec", "--trace=a|b", "ls"}, 2, "", "without '|'"},
    {{"exec", "--trace=/no/such/folder/t", "ls"}, 2, "", "/no/such/folder/t: No such file"},
    {{"exec", "--jobs=2", "ls"}, 2, "", "--jobs is for many runs: --fault=each"},
    {{"exec", "--fault=each", "--explain", "ls"}, 2, "", "--explain is for a single run; --fault=each makes many"},
    {{"exec", "--fault=each", "--jobs=0", "ls"}, 2, "", "--jobs wants a number from 1 to 256, not \"0\""},
    {{"exec", "--fault=each", "--timeout=soon", "ls"}, 2, "", "--timeout wants a number from 0.01"},
    {{"exec", "--fault=each"}, 2, "", "which program?"},
    {{"exec", "--frob", "ls"}, 2, "", "come after its name"},
    {{"exec", "/no/such/program", "--help"}, 127, "", "No such file"},
    {{"exec", "/"}, 126, "", "is a folder"},
    {{"lesson"}, 0, "  1  Address and memory are two things\n", ""},
    {{"lesson", "--help"}, 0, "--page", ""},
    {{"help", "lesson"}, 0, "conformance/corpus/lessons/README.md", ""},
    {{"lesson", "1"}, 0, "\nQuestion 1 of ", ""},
    {{"lesson", "Address-and-Memory", "--all", "--backend", "sim:max"}, 0, "--backend sim:max is used instead", ""},
    {{"lesson", "01-address-and-memory", "--page"}, 0, "# 1. Address and memory are two things\n", ""},
    {{"lesson", "0"}, 2, "", "there is no lesson \"0\"; `cuvmm lesson` lists them"},
    {{"lesson", "no/such.vmm"}, 2, "", "no/such.vmm: No such file"},
    {{"lesson", "."}, 2, "", "there is no lesson \".\""},
    {{"lesson", "./"}, 2, "", "./: Is a directory"},
    {{"lesson", "such.vmm", "--page"}, 2, "", "there is no lesson \"such.vmm\""},
    {{"lesson", "1", "--backend"}, 2, "", "needs a SPEC"},
    {{"lesson", "1", "--backend=sim:nowhere"}, 2, "1. Address", "no built-in profile and no file \"nowhere\""},
    {{"lesson", "1", "2"}, 2, "", "\"2\" is a second"},
    {{"lesson", "1", "--ask", "--all"}, 2, "", "--ask and --all exclude each other; give one"},
    {{"lesson", "--page"}, 2, "", "which lesson's --page?"},
    {{"lesson", "--frobnicate"}, 2, "", "unknown option \"--frobnicate\""},
    {{"machin"}, 2, "", "is \"machine\" meant"},
    {{"diff", "--frobnicate"}, 2, "", "\"--frobnicate\" is not an option"},
    {{"diff", "--calls"}, 2, "", "\"--calls\" is not an option, is short for several, or lacks its value"},
    {{"diff", "--calls", "many"}, 2, "", "--calls needs a number from 0 to 18446744073709551615, not \"many\""},
    {{"diff", "--seed", "-1"}, 2, "", "not \"-1\""},
    {{"diff", "--episode", "0"}, 2, "", "--episode needs a number from 1 to"},
    {{"diff", "sim:h100"}, 2, "", "\"sim:h100\" belongs to no option"},
    {{"diff", "--backend", "sim:nowhere"}, 2, "", "no built-in profile and no file \"nowhere\""},
    {{NULL}, 2, "", "which command"},
    {{"rum"}, 2, "", "is \"run\" meant"},
    {{"frobnicate"}, 2, "", "unknown command \"frobnicate\""},
    {{"--frobnicate"}, 2, "", "unknown option \"--frobnicate\""},
    {{"help", "frobnicate"}, 2, "", "unknown command"},
    {{"help", "run", "run"}, 2, "", "one COMMAND at a time"},
    {{"run"}, 2, "", "which script"},
    {{"run", "no-such-file.vmm"}, 2, "", "no-such-file.vmm: "},
    {{"run", "a", "b"}, 2, "", "one FILE"},
    {{"run", "--frobnicate", "a"}, 2, "", "unknown option \"--frobnicate\""},
    {{"run", "a", "--backend"}, 2, "", "needs a SPEC"},
    {{"run", "."}, 2, "", "cannot be read"},
    {{"run", "/proc/self/exe"}, 2, "", "/proc/self/exe is a program, not a script; `cuvmm check /proc/self/exe` runs it"},
    {{"explain"}, 2, "", "which RULE, result or number?"},
    {{"explain", "a", "b"}, 2, "", "one RULE at a time; \"b\" is a second"},
    {{"explain", "VMM-MAP-OVERLAP", "--broken", "--machine"}, 2, "", "--broken and --machine exclude each other"},
    {{"explain", "--all"}, 2, "", "unknown option"},
    {{"explain", "VMM-MAP-OVERLAP"}, 0, "VMM-MAP-OVERLAP", ""},
    {{"explain", "VMM-MAP-OVERLAPS"}, 2, "", "near: VMM-MAP-OVERLAP"},
    {{"rules"}, 0, "VMM-CREATE-FLAGS", ""},
    {{"rules", "--tsv"}, 0, "id\tfunction\t", ""},
    {{"rules", "--markdown"}, 0, "# The rule book", ""},
    {{"rules", "--call", "cuMemUnmap"}, 0, "VMM-UNMAP-HOLE", ""},
    {{"rules", "--call", "cuMemFrob"}, 2, "", "no rule belongs to"},
    {{"rules", "--call"}, 2, "", "needs a CALL"},
    {{"rules", "--xml"}, 2, "", "unknown option \"--xml\""},
    {{"rules", "all"}, 2, "", "unknown argument \"all\""},
    {{"rules", "--htm"}, 2, "", "is \"--html\" meant?"},
    {{"rules", "--html", "--tsv"}, 2, "", "--html and --tsv exclude each other"},
    {{"profiles"}, 0, "h100", ""},
    {{"profiles", "odd"}, 0, "granularity.device.minimum", ""},
    {{"profiles", "even"}, 2, "", "no profile \"even\""},
    {{"profiles", "-x"}, 2, "", "unknown option"},
    {{"profiles", "--", "-x"}, 2, "", "no profile \"-x\""},
    {{"profiles", "a", "b"}, 2, "", "one NAME"},
    {{"shell", "--color"}, 2, "", "--color wants always, never or auto\n"},
    {{"shell", "--color=purple"}, 2, "", "--color wants always, never or auto, not \"purple\""},
    {{"shell", "x"}, 2, "", "unknown argument \"x\"; lines are read from standard input"},
    {{"replay"}, 2, "", "which trace"},
    {{"replay", "a", "b"}, 2, "", "one TRACE"},
    {{"replay", "--fast", "a"}, 2, "", "unknown option"},
    {{"replay", "a", "--backend"}, 2, "", "--backend needs a SPEC, for example sim:odd"},
    {{"replay", "no-such-trace"}, 2, "", "no-such-trace: "},
};

static bool stands(const char *text, const char *want)
{
    return want[0] ? strstr(text, want) != NULL : text[0] == 0;
}

int main(void)
{
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct run r = run(cases[i].args);
        char name[200] = "cuvmm";
        for (size_t j = 0; j < ARGS && cases[i].args[j]; j++)
            snprintf(name + strlen(name), sizeof name - strlen(name), " %s", cases[i].args[j]);
        bool good = r.status == cases[i].status && stands(r.out, cases[i].out) && stands(r.err, cases[i].err);
        if (!tap_ok(good, "%s", name))
            tap_note("status %d, out \"%.60s\", err \"%.200s\"", r.status, r.out, r.err);
        free(r.out);
        free(r.err);
    }
    return tap_done();
}
