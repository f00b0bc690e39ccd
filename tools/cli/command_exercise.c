/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm exercise: programs to be written, with a grader. The grader is a script and reads its arguments itself. */
#include "arguments.h"
#include "installed_script.h"

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    static const struct installed_script script = {"exercise", "CUVMM_EXERCISES", "exercises", "exercise"};
    return installed_script_start(&script, arguments->rest, out, err);
}

const struct command command_exercise = {
    .name = "exercise",
    .summary = "programs to be written, with a grader that names broken rules",
    .about = "Six programs to be written or repaired, each with a grader: it compiles FILE.c ($CC, or cc) and runs it on several "
             "simulated machines, or on those that are named, and explains each mistake, with its rule and the fix.",
    .usage = (const char *const[]){"                             lists the exercises",
                                   "take N|NAME FOLDER           copies one into a new folder: task.md describes it",
                                   "grade N|NAME FILE.c [--all] [--part=NAME] [--save=PROGRAM] [SPEC ...]", NULL},
    .option = {{.name = "--all", .about = "prints every point (TAP), and not only what failed"},
               {.name = "--part", .value = "NAME", .joined = true, .about = "runs one part of the grader alone"},
               {.name = "--save", .value = "PROGRAM", .joined = true, .about = "keeps the compiled program, for a debugger"}},
    .examples = (const char *const[]){"cuvmm exercise take vector mine", "cuvmm exercise grade vector mine/vector.c",
                                      "cuvmm exercise grade vector mine/vector.c 'shadow | cuda'", NULL},
    .unread = true,
    .run = run,
};
