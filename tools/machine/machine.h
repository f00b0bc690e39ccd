/* SPDX-License-Identifier: Apache-2.0 */
/* machine.h - `cuvmm machine`: the machines that processes share. */
#ifndef CUVMM_TOOLS_MACHINE_H
#define CUVMM_TOOLS_MACHINE_H

#include <stdio.h>

/* The subcommand. */
int cuvmm_machine(int argc, char **argv, FILE *out, FILE *err);

#endif
