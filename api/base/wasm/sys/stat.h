/* SPDX-License-Identifier: Apache-2.0 */
/* sys/stat.h - files have no modes: functions that set one succeed and change nothing. */
#pragma clang system_header
#ifndef CUVMM_WASM_STAT_H
#define CUVMM_WASM_STAT_H

#include_next <sys/stat.h>

static inline mode_t umask(mode_t mask)
{
    return mask;
}

static inline int fchmod(int file, mode_t mode)
{
    (void)file, (void)mode;
    return 0;
}

#endif
