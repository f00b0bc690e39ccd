/* SPDX-License-Identifier: Apache-2.0 */
/* call_managed.h - which calls of managed memory are answered before cuInit. */
#ifndef SIM_CALL_MANAGED_H
#define SIM_CALL_MANAGED_H

#include "call.h"

/* Is the call refused even before the process initialises, for what its arguments alone say? As recorded. */
bool managed_refused_early(const struct vmm_call *call);

#endif
