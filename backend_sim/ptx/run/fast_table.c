/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the steps that fast_*.c has. */
#include <stddef.h>

#ifdef __AVX2__
#define PTX_STEP_NAME(NAME) ptx_fast_##NAME
#include "ptx_steps.h"

const ptx_step_function *ptx_step_functions_wide(void)
{
    static const ptx_step_function table[PTX_STEPS] = {
#define PTX_STEP(NAME, fields) [STEP_##NAME] = STEP_##NAME < STEP_SHFL ? ptx_fast_##NAME : NULL,
#include "ptx_steps.def"
    };
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") ? table : NULL; /* LCOV_EXCL_BR_LINE: the processor's */
}
#else
#include "ptx_steps.h"

const ptx_step_function *ptx_step_functions_wide(void)
{
    return NULL;
}
#endif
