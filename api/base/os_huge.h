/* SPDX-License-Identifier: Apache-2.0 */
/* os_huge.h - memory that is accessed at random, mapped so that each entry of the processor's TLB covers more.
 *
 *   before   [4 KiB][4 KiB][4 KiB] ...        after   [2 MiB, where the system has them] ...
 */
#ifndef CUVMM_OS_HUGE_H
#define CUVMM_OS_HUGE_H

#include <stddef.h>

/* A hint, given before the memory is used: nothing depends on it, and a system that has no huge pages ignores it. */
void os_huge_pages(void *memory, size_t size);

#endif
