/* SPDX-License-Identifier: Apache-2.0 */
/* The table of the steps in fast_*.c. */
#include <stddef.h>

#ifdef __AVX2__
#include <cpuid.h>
#include <stdatomic.h>
#include <stdbool.h>

#define PTX_STEP_NAME(NAME) ptx_fast_##NAME
#include "ptx_steps.h"

/* Does the system save the wide registers, too? */
static bool saves_wide(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return (low & 6) == 6;
}

/* Not __builtin_cpu_supports: it queries the processor whenever a program with this library is
 * loaded. On virtual machines, where the hypervisor answers each query, eight of them take 0.2 ms. */
static bool processor_is_wide(void)
{
    unsigned a, b, c, d;
    const unsigned needed = bit_OSXSAVE | bit_AVX | bit_FMA;
    /* LCOV_EXCL_BR_START: the processor's */
    if (!__get_cpuid(1, &a, &b, &c, &d) || (c & needed) != needed || !saves_wide())
        return false;
    return __get_cpuid_count(7, 0, &a, &b, &c, &d) && (b & bit_AVX2);
    /* LCOV_EXCL_BR_STOP */
}

const ptx_step_function *ptx_step_functions_wide(void)
{
    enum { UNKNOWN, NARROW, WIDE };
    static atomic_int known;
    static const ptx_step_function table[PTX_STEPS] = {
#define PTX_STEP(NAME, fields) [STEP_##NAME] = STEP_##NAME < STEP_SHFL ? ptx_fast_##NAME : NULL,
#include "ptx_steps.def"
    };
    if (atomic_load_explicit(&known, memory_order_relaxed) == UNKNOWN)
        atomic_store_explicit(&known, processor_is_wide() ? WIDE : NARROW, memory_order_relaxed); /* LCOV_EXCL_BR_LINE: the processor's */
    return atomic_load_explicit(&known, memory_order_relaxed) == WIDE ? table : NULL; /* LCOV_EXCL_BR_LINE: the processor's */
}
#else
#include "ptx_steps.h"

const ptx_step_function *ptx_step_functions_wide(void)
{
    return NULL;
}
#endif
