/* SPDX-License-Identifier: Apache-2.0 */
/* cuvmm exercise: programming exercises, with a grader. That grader is a script and reads its arguments itself. */
#include <string.h>

#include "arguments.h"
#include "installed_script.h"
#include "practice.h"

/* Exercises that need no compiler are part of the command. */
static int run_practice(const struct arguments *arguments, FILE *out, FILE *err)
{
    char **word = arguments->rest + 2; /* behind "exercise script" */
    const struct practice_request request = {.exercise = word[0], .file = word[0] ? word[1] : NULL, .colour = arguments_colour(out)};
    if (!request.file || !word[2])
        return practice_tell(&request, stdin, out, err);
    fprintf(err, "cuvmm exercise: unexpected argument \"%s\" after \"%s\"\n", word[2], word[1]);
    return command_usage(err, arguments->command);
}

static int run(const struct arguments *arguments, FILE *out, FILE *err)
{
    if (arguments->rest_count > 1 && strcmp(arguments->rest[1], "script") == 0)
        return run_practice(arguments, out, err);
    static const struct installed_script script = {"exercise", "CUVMM_EXERCISES", "exercises", "exercise"};
    return installed_script_start(&script, arguments->rest, out, err);
}

const struct command command_exercise = {
    .name = "exercise",
    .summary = "programming exercises, with a grader that names broken rules",
    .about = "Six programs to be written or repaired, each with a grader: it compiles FILE.c ($CC, or cc) and runs it on several "
             "simulated machines, or on those that you name, and explains each mistake, with its rule and the fix. The same "
             "six also exist as tasks for a few lines of a script (cuvmm run), which need no compiler.",
    .usage = (const char *const[]){"                             lists the exercises",
                                   "take N|NAME FOLDER           copies one into a new folder: task.md describes it",
                                   "grade N|NAME FILE.c [--all] [--part=NAME] [--save=PROGRAM] [SPEC ...]",
                                   "script                       lists them as tasks for scripts",
                                   "script N|NAME                prints the task as a script to begin with",
                                   "script N|NAME FILE.vmm       grades it; - reads standard input", NULL},
    .option = {{.name = "--all", .about = "prints every check (TAP), not only those that failed"},
               {.name = "--part", .value = "NAME", .joined = true, .about = "runs only one part of the grader"},
               {.name = "--save", .value = "PROGRAM", .joined = true, .about = "keeps the compiled program for a debugger"}},
    .examples = (const char *const[]){"cuvmm exercise take vector mine", "cuvmm exercise grade vector mine/vector.c",
                                      "cuvmm exercise grade vector mine/vector.c 'shadow | cuda'",
                                      "cuvmm exercise script vector > mine.vmm && cuvmm exercise script vector mine.vmm", NULL},
    .unread = true,
    .run = run,
};
