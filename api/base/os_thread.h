/* SPDX-License-Identifier: Apache-2.0 */
/* os_thread.h - the number by which the system and its tools know the calling thread (gettid, ps -L, a debugger). */
#ifndef CUVMM_OS_THREAD_H
#define CUVMM_OS_THREAD_H

#include <stdint.h>

/* A system call. Safe in a signal handler; a forked child's thread has another number. */
uint64_t os_thread_number(void);

#endif
