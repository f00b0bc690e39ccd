/* SPDX-License-Identifier: Apache-2.0 */
/* The commands that run CUDA programs, on a system without CUDA: they say so, and what to do instead. */
#include "arguments.h"
#include "command.h"

enum { CANNOT = 125 };

static int explain(const struct arguments *arguments, FILE *out, FILE *err)
{
    (void)out;
    fprintf(err, "cuvmm %s: not on macOS, for which there is no CUDA driver and so no program to run: use cuvmm in a Linux container\n"
                 "or virtual machine (packaging/docker/Dockerfile). cuvmm run, shell, lesson, replay and view work here.\n",
            arguments->command->name);
    return CANNOT;
}

#define ABSENT                                                                                                          \
    .about = "Not on macOS, for which there is no CUDA driver: in a Linux container it is the command that it is there.", \
    .argument = {.name = "PROGRAM", .rest = true}, .unread = true, .run = explain

const struct command command_exec = {.name = "exec", .summary = "runs a CUDA program on the simulator (Linux)", ABSENT};
const struct command command_check = {.name = "check", .summary = "checks what a CUDA program does with memory (Linux)", ABSENT};
