/* SPDX-License-Identifier: Apache-2.0 */
/* in_place.h - opening a system for those who look at addresses and touch none: a simulator's are then its profile's,
 * whether or not the host has them free (another system of the program, or a sanitizer, may be there).
 *
 *   sim:h100             ->  sim:h100,arena=none
 *   trace=x | sim:h100   ->  trace=x | sim:h100,arena=none
 *   cuda, or a spec that says which arena it wants        as they are
 */
#ifndef CUVMM_IN_PLACE_H
#define CUVMM_IN_PLACE_H

#include <stdbool.h>

#include "vmm.h"

/* As vmm_open. */
vmm_result open_in_place(const char *spec, vmm_system **sys);

/* The same with arena=profile: the host's addresses are backed as far as they are free, for calls that take a device address
 * for the host's. */
vmm_result open_in_place_backed(const char *spec, vmm_system **sys);

/* Does the host find nothing at the addresses of a system that was opened so with this spec? It must not touch them then: what
 * lies there is somebody else's. */
bool opens_without_arena(const char *spec);

#endif
