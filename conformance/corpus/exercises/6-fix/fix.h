/* SPDX-License-Identifier: Apache-2.0 */
/* fix.h - a program with mistakes, to be mended. Exercise 6; task.md says what to do.
 *
 *     memory           [ n bytes, rounded up to granules )      made once
 *     addresses        [ written here   | read here      )      both show it
 *     in a stream of its own: fill      then: copy to the host
 */
#ifndef EXERCISE_FIX_H
#define EXERCISE_FIX_H

#include <cuvmm/vmm.h>

/* Fills n bytes (more than 0) of memory of device with value, in a stream of its own and through one address, and reads them
 * through another to out. Uses no more memory than n, rounded up to the minimum granularity, and gives all of it back.
 * On failure: the driver's result, and nothing is left behind. */
vmm_result fix_fill(vmm_system *sys, vmm_device device, unsigned char value, void *out, uint64_t n);

#endif
