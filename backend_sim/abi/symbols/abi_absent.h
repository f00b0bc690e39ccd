/* SPDX-License-Identifier: Apache-2.0 */
/* abi_absent.h - entry points that are there for the linker and do nothing: NOT_SUPPORTED, and the first call of each is
 * named on standard error, for a program may not look at what it is answered.
 *
 *     cuGraphCreate(...)  ->  "cuvmm: libcuda.so.1: cuGraphCreate is not there ..." (once), NOT_SUPPORTED
 */
#ifndef SIM_ABI_ABSENT_H
#define SIM_ABI_ABSENT_H

#include <stdatomic.h>

/* The code to return. *said: whether it was named before. */
int abi_absent(const char *symbol, atomic_flag *said);

#endif
