/* SPDX-License-Identifier: Apache-2.0 */
/* The steps of steps_memory.c for a processor with wider vectors. The Makefile compiles this file
 * for one if the compiler supports that. */
#ifdef __AVX2__
#define PTX_STEP_NAME(NAME) ptx_fast_##NAME
#include "steps_memory.c"
#else
typedef int ptx_no_fast_memory; /* a file has a declaration */
#endif
