/* SPDX-License-Identifier: Apache-2.0 */
/* recorder_ticks.h - the processor's own clock, which costs less than the system's: a call reads it twice.
 *
 *     file begun    ticks 1000, clock 5 s
 *     entry         ticks 1600                     5 s + 600 * (7 s - 5 s) / (3000 - 1000) = 5.6 s
 *     reader        ticks 3000, clock 7 s
 *
 * Its rate need not be known. It runs at one rate on all cores of current machines; elsewhere the system's clock is used.
 */
#ifndef CUVMM_RECORDER_TICKS_H
#define CUVMM_RECORDER_TICKS_H

#include <stdint.h>
#include <time.h>

#include "posix.h"

static inline uint64_t recorder_clock(void)
{
    struct timespec now = {0, 0};
    posix.clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * UINT64_C(1000000000) + (uint64_t)now.tv_nsec;
}

static inline uint64_t recorder_ticks(void)
{
#if defined __x86_64__ && defined __GNUC__
    return __builtin_ia32_rdtsc();
#elif defined __aarch64__ && defined __GNUC__
    uint64_t ticks;
    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return recorder_clock();
#endif
}

#endif
