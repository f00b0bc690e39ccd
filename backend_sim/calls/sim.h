/* SPDX-License-Identifier: Apache-2.0 */
/* sim.h - the simulator's entry points and their common helpers.
 *
 * sim_<name> is called under the machine's lock and with the process initialised. It checks in the order of the rule
 * table, changes state only after the last check, and writes outputs last.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "objects.h"
#include "process.h"
#include "rights.h"
#include "refusal.h"
#include "enumerate.h"

#define VMM_CALL(name, ...) \
    vmm_result sim_##name(struct sim_process *process, const struct vmm_call_##name *call);
#include "calls.def"

/* value modulo unit. unit is a power of two, as all granularities are (profile_check.c). */
static inline uint64_t sim_past(uint64_t value, uint64_t unit)
{
    return value & (unit - 1);
}

/* The granularity for mapping the handle: that of its memory, or of multicast objects. */
uint64_t sim_handle_unit(const struct sim_process *process, const struct sim_handle *handle);

/* Call before the last reference or mapping of a handle is released: warns if memory is bound. */
void sim_warn_of_binds(const struct sim_handle *handle);
static inline void sim_warn_bound(const struct sim_handle *handle)
{
    if (handle->block->team || handle->block->binds)
        sim_warn_of_binds(handle);
}

/* A live handle, or NULL with the detail set by the rule for stale or the rule for forged values. */
struct sim_handle *sim_handle_live(const struct sim_process *process, uint64_t value, enum vmm_rule_id stale,
                                   enum vmm_rule_id forged);

#endif
