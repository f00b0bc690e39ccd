/* SPDX-License-Identifier: Apache-2.0 */
/* unistd.h - the process is number 1 of user 0, and has no parent. */
#pragma clang system_header
#ifndef CUVMM_WASM_UNISTD_H
#define CUVMM_WASM_UNISTD_H

#include_next <unistd.h>

#define getpid cuvmm_getpid
static inline pid_t cuvmm_getpid(void)
{
    return 1;
}

static inline pid_t getppid(void)
{
    return 0;
}

static inline uid_t getuid(void)
{
    return 0;
}

static inline uid_t geteuid(void)
{
    return 0;
}

static inline gid_t getgid(void)
{
    return 0;
}

static inline gid_t getegid(void)
{
    return 0;
}

#endif
