/* SPDX-License-Identifier: Apache-2.0 */
/* ptxas_options.h - the command line of ptxas, as far as it says something about PTX.
 *
 *     -lineinfo -v --opt-level 0 --gpu-name=sm_90a add.ptx -o add.cubin   ->   input, output, capability 90, verbose
 *
 * Options that only machine code has a use for are read, so that their values are not taken for the input, and change nothing.
 */
#ifndef CUVMM_TOOLS_PTXAS_OPTIONS_H
#define CUVMM_TOOLS_PTXAS_OPTIONS_H

#include <stdbool.h>
#include <stdio.h>

struct ptxas_options {
    const char *input, *output; /* output: elf.o where none is given */
    unsigned capability;        /* 90 of sm_90 and sm_90a; 0: not given */
    bool verbose, version;
};

/* False: err has said what is wrong. */
bool ptxas_options_read(int argc, char *const *argv, struct ptxas_options *options, FILE *err);

#endif
