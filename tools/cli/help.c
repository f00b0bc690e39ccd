/* SPDX-License-Identifier: Apache-2.0 */
/* What `cuvmm help` and --help print. */
#include <string.h>

#include "cuvmm.h"
#include "help_parts.h"
#include "manual.h"
#include "script.h"
#include "usage.h"

static const char general[] =
    "cuvmm - CUDA Virtual Memory Management without or with a GPU\n"
    "\n"
    "  cuvmm run FILE|-            runs a script of calls, explained and drawn step by step\n"
    "  cuvmm shell                 asks for the same lines one by one; undo, and save as a script or a C program\n"
    "  cuvmm explain RULE|RESULT   tells what a rule or a result code means and what to do\n"
    "  cuvmm rules                 lists every rule; documents, measurements and our choices apart\n"
    "  cuvmm profiles [NAME]       lists the simulated machines, or shows one\n"
    "  cuvmm replay TRACE          makes the calls of a trace again and compares\n"
    "  cuvmm diff                  makes random calls on a driver or simulator and compares with what is expected\n"
    "  cuvmm machine [NAME]        shows who shares a simulated machine, and who holds its exported memory\n"
    "  cuvmm check PROGRAM ...     runs a CUDA program and reports misuse, hazards and leaks of its memory calls\n"
    "  cuvmm lesson [LESSON]       teaches, step by step with questions; without LESSON lists what there is\n"
    "  cuvmm view TRACE -o PAGE    makes a page for a browser of a trace: what there was after each call, drawn\n"
    "  cuvmm export TRACE          writes a trace for Perfetto, PyTorch's memory_viz or Graphviz\n"
    "  cuvmm exercise              programs to be written, with a grader that says by rule what is wrong\n"
    "  cuvmm completion SHELL      prints what a shell needs to complete this command's words\n"
    "  cuvmm help [COMMAND]        this text, or more about a command\n"
    "  cuvmm --version\n"
    "\n"
    "Examples:\n"
    "  printf 'init\\nr = reserve 4gran\\ndraw\\nfree r\\n' | cuvmm run -\n"
    "  cuvmm explain VMM-MAP-OVERLAP\n"
    "  cuvmm rules --call cuMemMap\n"
    "\n"
    "Exit status: 0 fine; 1 a call, a check or a comparison did not go as the input says; 2 the command line or the\n"
    "input is wrong.\n";

static const struct {
    const char *name, *text;
} helps[] = {
    {"run",
     "cuvmm run FILE|- [--backend SPEC] [--draw] [--keep-going] [--quiet] [--brief] [--addresses]\n"
     "          [--trust]\n"
     "\n"
     "Runs a script, one command a line; '-' is standard input. Every step prints the driver's call that it stands\n"
     "for and what came of it. docs/scripts.md is the language's reference.\n"
     "\n"
     "  --backend SPEC   the machine: sim:h100 (default), sim:h200x2, sim:odd,strict, ..., or cuda for the driver's own;\n"
     "                   wins over the script's own `backend` line\n"
     "  --draw           draws addresses, memory and handles after every step that changes them\n"
     "  --keep-going     goes on after a failure; the exit status still tells\n"
     "  --quiet          prints only what the script says aloud: echo, note, title, draw, leaks, explain\n"
     "  --brief          tells a refusal or warning in one line\n"
     "  --addresses      shows raw addresses and handles too; they differ from machine to machine\n"
     "  --trust          lets the script's own `backend` line write a file (trace=FILE) and load a library (cuda:FILE)\n"
     "\n"
     "Examples:\n"
     "  cuvmm run conformance/corpus/demo/01-create.vmm --draw\n"
     "  cuvmm run my.vmm --backend sim:odd,strict\n"
     "\n"
     "Commands of the language:\n"},
    {"shell",
     "cuvmm shell [--backend SPEC] [--color=always|never|auto] [--addresses] [--brief]\n"
     "\n"
     "Asks for the lines of a script one by one and answers each: the driver's call, what came of it, what to type instead\n"
     "where it was refused, and the picture where it changed. `undo` takes steps back, `save FILE.vmm` and `save FILE.c` keep\n"
     "them. On a terminal lines are edited, remembered and completed; other input is read as it is. docs/shell.md\n"
     "\n"
     "  --backend SPEC   the machine: sim:h100 (default), sim:h200x2, ..., or cuda for the driver's own\n"
     "  --color=WHEN     colours always, never, or on terminals (auto, and not where NO_COLOR is set)\n"
     "  --addresses      shows raw addresses and handles too\n"
     "  --brief          tells a refusal or warning in one line\n"
     "\n"
     "The exit status of other input is 1 when a line was a mistake or could not be done; a refused call is neither.\n"
     "\n"
     "Examples:\n"
     "  cuvmm shell\n"
     "  cuvmm shell --backend sim:odd,strict\n"
     "  printf 'init\\nr = reserve 4gran\\nsave mine.c\\n' | cuvmm shell\n"},
    {"explain",
     "cuvmm explain RULE-ID|RESULT|NUMBER\n"
     "cuvmm explain RULE-ID --broken|--corrected|--machine\n"
     "\n"
     "Tells what a rule wants, why, what the documents say, what each recorded machine answered, and the way out, with a\n"
     "script that breaks it and its correction; or what a result code means and which rules give it.\n"
     "\n"
     "  --broken      only the script that breaks the rule\n"
     "  --corrected   only its correction\n"
     "  --machine     only the machine that both need, to be put into my.profile; most need none\n"
     "\n"
     "Examples:\n"
     "  cuvmm explain VMM-FREE-MAPPED\n"
     "  cuvmm explain VMM-FREE-MAPPED --broken | cuvmm run -\n"
     "  cuvmm explain CUDA_ERROR_INVALID_VALUE\n"
     "  cuvmm explain 801\n"},
    {"rules",
     "cuvmm rules [--html|--markdown|--tsv] [--call CALL]\n"
     "\n"
     "Lists the rules in the order in which each call checks them.\n"
     "\n"
     "  --html        as one page with a search box, for a browser; it needs no network\n"
     "  --markdown    as a book (docs/rulebook.md is this)\n"
     "  --tsv         one rule a line, columns separated by tabs\n"
     "  --call CALL   only the rules of one call, by the driver's name\n"
     "\n"
     "Examples:\n"
     "  cuvmm rules --call cuMemMap\n"
     "  cuvmm rules --tsv | cut -f 1,4\n"},
    {"profiles",
     "cuvmm profiles [NAME]\n"
     "\n"
     "Lists the machines that the simulator knows by name, or shows the text of one. A file with such a text is a\n"
     "machine of your own.\n"
     "\n"
     "Examples:\n"
     "  cuvmm profiles\n"
     "  cuvmm profiles odd > mine.profile && cuvmm run my.vmm --backend sim:./mine.profile\n"},
    {"replay",
     "cuvmm replay TRACE|- [--backend SPEC]\n"
     "\n"
     "Reads a trace that the trace layer wrote, makes its calls again and compares results, rules and outputs. The\n"
     "first difference is shown with the trace's line.\n"
     "\n"
     "Examples:\n"
     "  CUVMM_LAYERS=trace=run.jsonl ./program && cuvmm replay run.jsonl\n"
     "  cuvmm replay run.jsonl --backend sim:odd\n"},
    {"diff",
     "cuvmm diff [--backend SPEC] [--seed N] [--calls N] [--budget SECONDS] [options]\n"
     "cuvmm diff --replay FILE | --replay-recording FILE [--backend SPEC]\n"
     "\n"
     "Makes random calls, valid and invalid, and compares result, outputs, rights, free memory and bytes with what the\n"
     "reference model of the driver expects; with a shadow layer, with what the simulator answers as well. A difference\n"
     "is shrunk to the shortest script of calls that shows it. Calls that are known to end the process on a driver are\n"
     "not made there. Prints TAP; the exit status is 1 where something differs.\n"
     "\n"
     "  --backend SPEC      what is compared: shadow|cuda (default), cuda, sim:h100, ...; several are taken in turn\n"
     "  --seed N            the first episode's seed (1); every episode has one of its own and can be run alone\n"
     "  --calls N           how many random calls (800000)\n"
     "  --episode N         calls per episode, each on a fresh system (2000)\n"
     "  --budget SECONDS    on a driver: no episode begins after that\n"
     "  --check-every N     calls between complete looks at the state (250)\n"
     "  --script FILE       on a simulator: writes the shortest script there\n"
     "  --replay FILE       runs such a script\n"
     "  --explained FILE    on a driver: kinds of differences that are known, \"signature<tab>reason\" a line\n"
     "  --transcript FILE   on a driver: writes every call with its answer\n"
     "  --record FILE       on a driver: writes a line per episode, for\n"
     "  --replay-recording FILE\n"
     "                      makes the recorded episodes again (sim:h100) and compares\n"
     "  --strict            on a simulator: in strict mode\n"
     "  --as-driver         treats a simulator as a driver is treated\n"
     "  --rules             on a simulator: tells how often each rule was the answer\n"
     "  --flip N            turns the Nth expectation of every episode round, which must be noticed\n"
     "\n"
     "Examples:\n"
     "  cuvmm diff --calls 20000 --budget 30\n"
     "  cuvmm diff --backend sim:h100 --seed 7\n"},
    {"machine",
     "cuvmm machine [NAME] [--json]\n"
     "\n"
     "Lists the simulated machines that this user's processes share (sim:h100,machine=NAME), or shows one: which processes\n"
     "take part and what each uses by itself; each exported piece of memory, the process and call that exported it, and\n"
     "who keeps it: handles with the call they came by, open descriptors; and what is in use of each device. Looking\n"
     "changes nothing. docs/sharing.md shows a session.\n"
     "\n"
     "  --json   the same for programs; needs a cuvmm that was built with jansson\n"
     "\n"
     "Examples:\n"
     "  cuvmm machine\n"
     "  cuvmm machine mine --json\n"},
    {"view",
     "cuvmm view TRACE|- -o PAGE|-\n"
     "\n"
     "Writes one HTML file, which needs no network and no server: the calls of a trace as a timeline, and addresses,\n"
     "mappings, rights and physical memory as they were after any call, with what was refused or warned of explained.\n"
     "Nothing is played again, so the trace of a driver is shown as well as one of the simulator. docs/view.md tells more.\n"
     "\n"
     "  -o PAGE   where the page goes; - is standard output\n"
     "\n"
     "Examples:\n"
     "  CUVMM_LAYERS=trace=run.jsonl ./program; cuvmm view run.jsonl -o run.html\n"
     "  CUVMM_LAYERS=trace=demo.jsonl cuvmm run conformance/corpus/demo/07-mistake-access.vmm && cuvmm view demo.jsonl -o demo.html\n"},
    {"check",
     "cuvmm check [options] [--] PROGRAM [ARGUMENTS]\n"
     "\n"
     "Runs a program of the CUDA driver API, unchanged. Where there is a driver, the program runs on it, a simulator makes\n"
     "every memory call beside it, and what breaks a rule is told; all answers are the driver's. Where there is none, the\n"
     "program runs on the simulator. Each finding names its rule, the object in the way, the call's place and the way\n"
     "out, and the last line counts them. docs/check.md shows a session and says what is not seen.\n"
     "\n"
     "  --error-exitcode=N   exit status where anything was found; without it the status is the program's own\n"
     "  --log=FILE           findings go there and not to standard error; the file is emptied first\n"
     "  --leaks=no|yes       tell what is held when a process ends (yes)\n"
     "  --backend=WHAT       driver, sim, or sim:MACHINE as CUVMM_SIM takes it; found out without it\n"
     "  --quiet, -q          findings alone: no notes and no count\n"
     "\n"
     "Exit status: the program's own, or N where anything was found; 125 where nothing was checked, with one line that says\n"
     "why; 2 where the program cannot be started like this.\n"
     "\n"
     "Examples:\n"
     "  cuvmm check ./my_allocator_test\n"
     "  cuvmm check --error-exitcode=9 --log=check.txt ./my_allocator_test --rounds 100\n"},
    {"export",
     "cuvmm export TRACE|- --format=chrome|memory-viz|dot [-o FILE] [--at=CALL|error]\n"
     "\n"
     "Writes what a trace tells in a format that others have viewers for, into FILE or to standard output. FILE stays as it\n"
     "was until the new one is whole. docs/export.md shows what is to be seen where.\n"
     "\n"
     "  --format=chrome       lives of reservations, memory and mappings on tracks, calls, and bytes per device; JSON for\n"
     "                        ui.perfetto.dev or chrome://tracing\n"
     "  --format=memory-viz   mapped memory over time as PyTorch tells it; a pickle for pytorch.org/memory_viz\n"
     "  --format=dot          the objects at one call and what holds what; for Graphviz\n"
     "  --at=CALL             with dot: behind the call of this number, not behind the last one; --at=error: behind the\n"
     "                        first call that was refused\n"
     "\n"
     "Examples:\n"
     "  CUVMM_LAYERS=trace=run.jsonl ./program && cuvmm export run.jsonl --format=chrome -o run.json\n"
     "  cuvmm export run.jsonl --format=dot --at=error | dot -Tsvg > run.svg\n"},
    {"lesson",
     "cuvmm lesson [LESSON|FILE] [--backend SPEC] [--page] [--ask|--all]\n"
     "\n"
     "Tells a lesson: text, calls that the machine answers, pictures, questions. LESSON is a number or a name, FILE a\n"
     "lesson of your own (conformance/corpus/lessons/README.md says how one is written). On a terminal it waits for Enter\n"
     "between steps and for your answers to questions; q leaves. Otherwise everything is printed.\n"
     "\n"
     "  --backend SPEC   the machine, in the place of the lesson's own\n"
     "  --page           prints the page that goes with the lesson: the same told more fully, with the calls in C\n"
     "  --ask            waits and asks where input or output is no terminal, too\n"
     "  --all            prints everything on a terminal, too\n"
     "\n"
     "Examples:\n"
     "  cuvmm lesson\n"
     "  cuvmm lesson 5\n"
     "  cuvmm lesson release-order --all\n"},
    {"exercise",
     "cuvmm exercise                              lists the exercises\n"
     "cuvmm exercise take N|NAME FOLDER           copies one into a new folder: task.md says what to do\n"
     "cuvmm exercise grade N|NAME FILE.c [--all] [--part=NAME] [--save=PROGRAM] [SPEC ...]\n"
     "\n"
     "Six programs to be written or mended, each with a grader: it compiles FILE.c ($CC, or cc) and runs it on several\n"
     "simulated machines, or on those that are named, and tells each mistake in words, with its rule and the way out.\n"
     "\n"
     "  --all            prints every point (TAP), and not only what failed\n"
     "  --part=NAME      runs one part of the grader alone\n"
     "  --save=PROGRAM   keeps the compiled program, for a debugger\n"
     "\n"
     "Examples:\n"
     "  cuvmm exercise take vector mine\n"
     "  cuvmm exercise grade vector mine/vector.c\n"
     "  cuvmm exercise grade vector mine/vector.c 'shadow | cuda'\n"},
    {"completion",
     "cuvmm completion SHELL\n"
     "cuvmm completion --words [WORD ...]\n"
     "\n"
     "Prints the completion of the command line for SHELL: bash, zsh or fish. `make install` puts it where shells look.\n"
     "\n"
     "  --words   what the last WORD of a command line behind `cuvmm` may be, one a line, with a remark behind a tab\n"
     "\n"
     "Examples:\n"
     "  source <(cuvmm completion bash)\n"
     "  cuvmm completion fish > ~/.config/fish/completions/cuvmm.fish\n"
     "  cuvmm completion --words explain VMM-MAP\n"},
    {"help",
     "cuvmm help [COMMAND]\n"
     "cuvmm help --man\n"
     "\n"
     "  --man   all of it as a manual page, to be read with man -l\n"
     "\n"
     "Examples:\n"
     "  cuvmm help run\n"
     "  cuvmm help --man | man -l -\n"},
};

const char *help_text(const char *command)
{
    for (size_t i = 0; command && i < sizeof helps / sizeof helps[0]; i++)
        if (strcmp(helps[i].name, command) == 0)
            return helps[i].text;
    return command ? NULL : general;
}

void cuvmm_print_help(FILE *out, const char *name)
{
    const struct script_command *command;
    const char *text = help_text(name);
    if (text)
        fputs(text, out);
    for (size_t i = 0; name && strcmp(name, "run") == 0 && (command = script_command(i)); i++)
        fprintf(out, "  %-16s %s\n", command->name, command->about);
}

int cuvmm_help(int argc, char **argv, FILE *out, FILE *err)
{
    if (argc > 2) {
        fprintf(err, "cuvmm help: one command at most\n");
        return cuvmm_usage(err, "help");
    }
    if (argc == 1) {
        cuvmm_print_help(out, NULL);
        return 0;
    }
    if (strcmp(argv[1], "--man") == 0) {
        manual(out);
        return 0;
    }
    if (help_text(argv[1])) {
        cuvmm_print_help(out, argv[1]);
        return 0;
    }
    fprintf(err, "cuvmm: unknown command \"%.60s\"\n", argv[1]);
    return cuvmm_usage(err, NULL);
}
