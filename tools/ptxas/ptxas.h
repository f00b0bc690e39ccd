/* SPDX-License-Identifier: Apache-2.0 */
/* ptxas.h - takes the place of NVIDIA's ptxas where a compiler starts one: Triton, for example.
 *
 *     ptxas -lineinfo -v --gpu-name=sm_90a add.ptx -o add.cubin
 *
 *     add.ptx   ->  the translator: mistakes with line and column, status 255
 *               ->  add.cubin: the same text, a remark about that, and a 0        cuModuleLoadData takes it as PTX
 *
 * There is no machine code in that file. The simulator runs it; a driver that is given it compiles it as any PTX.
 */
#ifndef CUVMM_TOOLS_PTXAS_H
#define CUVMM_TOOLS_PTXAS_H

#include <stdio.h>

/* The status of a text that is not PTX, as ptxas has it, and of arguments that are wrong. */
enum { PTXAS_FAILED = 255, PTXAS_WRONG = 2 };

/* argv[0] is the command's name. Returns the exit status. */
int ptxas_main(int argc, char *const *argv, FILE *out, FILE *err);

#endif
