/* SPDX-License-Identifier: Apache-2.0 */
/* abi_absent.h - entry points that exist for the linker and only return NOT_SUPPORTED. The first call of each is reported on
 * standard error, because a program might ignore the result.
 *
 *     cuGraphCreate(...)  ->  "cuvmm: libcuda.so.1: cuGraphCreate is not simulated ..." (once), NOT_SUPPORTED
 */
#ifndef SIM_ABI_ABSENT_H
#define SIM_ABI_ABSENT_H

#include <stdatomic.h>

/* Returns the code for the caller. *said: the entry point has been reported before. */
int abi_absent(const char *symbol, atomic_flag *said);

#endif
