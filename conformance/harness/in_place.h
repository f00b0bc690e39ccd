/* SPDX-License-Identifier: Apache-2.0 */
/* in_place.h - opens a system for callers that compare addresses and access none: a simulator then uses its profile's
 * addresses even where the host has them occupied (by another system of the program, or a sanitizer).
 *
 *   sim:h100             ->  sim:h100,arena=none
 *   trace=x | sim:h100   ->  trace=x | sim:h100,arena=none
 *   cuda, or a spec that names its arena                  as they are
 */
#ifndef CUVMM_IN_PLACE_H
#define CUVMM_IN_PLACE_H

#include <stdbool.h>

#include "vmm.h"

/* As vmm_open. */
vmm_result open_in_place(const char *spec, vmm_system **sys);

/* The same with arena=profile: the host window backs the free addresses. For tests of calls that get a device address
 * in place of a host address. */
vmm_result open_in_place_backed(const char *spec, vmm_system **sys);

/* Is there no host window at the addresses of a system opened this way with this spec? The host must not access them
 * then, because other code owns the memory there. */
bool opens_without_arena(const char *spec);

#endif
