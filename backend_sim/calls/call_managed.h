/* SPDX-License-Identifier: Apache-2.0 */
/* call_managed.h - which managed-memory calls are answered before cuInit. */
#ifndef SIM_CALL_MANAGED_H
#define SIM_CALL_MANAGED_H

#include "call.h"

/* Is the call refused because of its arguments alone, even before the process initialises? As recorded. */
bool managed_refused_early(const struct vmm_call *call);

#endif
