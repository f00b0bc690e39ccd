/* SPDX-License-Identifier: Apache-2.0 */
/* held.h - what a part of the program left behind: the leaks of the calls between two call numbers.
 *
 *     before = held_calls(sys)      41
 *     a test: cuMemCreate (42) H7, cuMemCreate (43) H8, cuMemRelease (44) of H7
 *     after = held_calls(sys)       44
 *     held_report(sys, before, after, report, user)      reports H8; what calls 1 to 41 made, or later ones, is not looked at
 */
#ifndef CUVMM_HELD_H
#define CUVMM_HELD_H

#include <stdint.h>

#include "vmm.h"

/* The number of the latest call; every object made from now on has a greater one. 0: none was made, or sys is NULL. */
uint64_t held_calls(const vmm_system *sys);

/* Reports, as vmm_leaks does, each object that still lives and was made by a call with a number in (after, upto]. Returns how
 * many. Any thread; the caller holds no lock of the system. */
uint64_t held_report(vmm_system *sys, uint64_t after, uint64_t upto, vmm_report_fn report, void *user);

#endif
