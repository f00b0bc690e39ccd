/* SPDX-License-Identifier: Apache-2.0 */
/* other_team.h - requests to another process (other.h) that is a member of a team: it has one device, with its own
 * memory bound to the whole object.
 *
 *   TEAM_DEVICE d       works on device d from now on
 *   IMPORT fd -> h      the object, as any memory
 *   TEAM_ADD h          adds its device
 *   TEAM_BIND h, types  memory [.......] bound, mapped; the object mapped as well
 *   TEAM_SET, TEAM_WORD, TEAM_ARRIVE, TEAM_FINISH, TEAM_ADD_WORD    on words of that memory, named by their offset
 */
#ifndef CUVMM_SUITE_OTHER_TEAM_H
#define CUVMM_SUITE_OTHER_TEAM_H

#include <stdbool.h>
#include <stdint.h>

#include "vmm.h"

/* The layout of each device's memory, for the norm: [part | counter | sum root complete | values]. */
enum { NORM_PART = 0, NORM_COUNTER = 8, NORM_OUT = 16, NORM_VALUES = 64, NORM_WORDS = 5 };

/* Carries the request out if it is one of these, in the other process. */
bool other_team_act(vmm_system *sys, int op, uint64_t first, uint64_t second, uint64_t *value, vmm_result *result);

#endif
