/* SPDX-License-Identifier: Apache-2.0 */
/* sim.h - the simulator's entry points and what they share.
 *
 * sim_<name> is called with the machine's lock held and the process initialised; it checks in the order of the rule
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

/* How far value lies past a multiple of unit, a power of two, as all granularities are (profile_check.c). */
static inline uint64_t sim_past(uint64_t value, uint64_t unit)
{
    return value & (unit - 1);
}

/* Unit of what the handle names, where it is mapped: that of its memory or of multicast objects. */
uint64_t sim_handle_unit(const struct sim_process *process, const struct sim_handle *handle);

/* The last reference or mapping of a handle is about to go: warns where memory is bound. */
void sim_warn_of_binds(const struct sim_handle *handle);
static inline void sim_warn_bound(const struct sim_handle *handle)
{
    if (handle->block->team || handle->block->binds)
        sim_warn_of_binds(handle);
}

/* A live handle, or NULL with the detail set by one of the rules for stale and forged values. */
struct sim_handle *sim_handle_live(const struct sim_process *process, uint64_t value, enum vmm_rule_id stale,
                                   enum vmm_rule_id forged);

#endif
