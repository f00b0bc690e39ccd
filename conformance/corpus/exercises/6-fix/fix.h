/* SPDX-License-Identifier: Apache-2.0 */
/* fix.h - a program with mistakes to fix. Exercise 6; task.md says what to do.
 *
 *     memory           [ n bytes, rounded up to granules )      made once
 *     addresses        [ written here   | read here      )      both show it
 *     in a stream of its own: fill      then: copy to the host
 */
#ifndef EXERCISE_FIX_H
#define EXERCISE_FIX_H

#include <cuvmm/vmm.h>

/* Fills n bytes (more than 0) of device memory with value, in a separate stream and through one address, and reads
 * them through another into out. Uses only n bytes of memory, rounded up to the minimum granularity, and frees all of
 * it. On failure: the driver's result, and nothing is left behind. */
vmm_result fix_fill(vmm_system *sys, vmm_device device, unsigned char value, void *out, uint64_t n);

#endif
