/* sim.h - the simulator's entry points and what they share.
 *
 * sim_<name> is called with the machine's lock held and the process initialised; it checks in the order of the rule
 * table, changes state only after the last check, and writes outputs last.
 */
#ifndef SIM_SIM_H
#define SIM_SIM_H

#include "objects.h"
#include "process.h"
#include "visit.h"

#define VMM_CALL(name, driver) \
    vmm_result sim_##name(struct sim_process *process, const struct vmm_call_##name *call);
#include "calls.def"

/* Rights are kept as two bits a location: devices by ordinal, then the host. */
enum { SIM_HOST_SLOT = VMM_MAX_DEVICES };

static inline unsigned sim_access_of(uint64_t access, unsigned slot)
{
    return (unsigned)(access >> (2 * slot)) & 3;
}

static inline struct sim_origin sim_origin(const struct vmm_call *call)
{
    return (struct sim_origin){call->number, call->id};
}

/* A documented rule is broken that the recorded driver lets pass: true (and a warning) in observed mode, false (and
 * the detail of a refusal) in strict mode. */
bool sim_lets_pass(const struct sim_process *process, enum vmm_rule_id rule, uint64_t value, uint64_t expected,
                   const vmm_object *nearest);

/* No context is current, or the one that is has been destroyed. */
vmm_result sim_no_context(const struct sim_process *process);

/* The host's memory is exhausted. */
vmm_result sim_out_of_host_memory(void);

/* What the machine shares with other processes cannot be used: why. */
vmm_result sim_machine_unreachable(const char *why);

static inline bool sim_device_valid(const struct sim_process *process, int device)
{
    return device >= 0 && device < process->machine->profile.devices;
}

/* How far value lies past a multiple of unit, a power of two, as all granularities are (profile_check.c). */
static inline uint64_t sim_past(uint64_t value, uint64_t unit)
{
    return value & (unit - 1);
}

/* Granularity of memory at a location: DEVICE's, or the host's for every other type. */
uint64_t sim_granularity(const struct sim_process *process, vmm_mem_location_type type, int option);

/* Unit of what the handle names, where it is mapped: that of its memory or of multicast objects. */
uint64_t sim_handle_unit(const struct sim_process *process, const struct sim_handle *handle);

/* Is it memory of the host? A multicast object lies nowhere. */
static inline bool sim_on_host(vmm_mem_location location)
{
    return location.type != VMM_MEM_LOCATION_TYPE_DEVICE && location.type != VMM_MEM_LOCATION_TYPE_INVALID;
}

/* The last reference or mapping of a handle is about to go: warns where memory is bound. */
void sim_warn_of_binds(const struct sim_handle *handle);
static inline void sim_warn_bound(const struct sim_handle *handle)
{
    if (handle->block->team || handle->block->binds)
        sim_warn_of_binds(handle);
}

/* Is value a stream that work may be issued on; NULL is the default stream of the current context (*stream NULL). */
vmm_result sim_stream_check(const struct sim_process *process, vmm_stream value, struct sim_stream **stream);

/* The context that work on a stream runs in. */
vmm_result sim_stream_context(const struct sim_process *process, vmm_stream value, struct sim_context **context);

/* A live handle, or NULL with the detail set by one of the rules for stale and forged values. */
struct sim_handle *sim_handle_live(const struct sim_process *process, uint64_t value, enum vmm_rule_id stale,
                                   enum vmm_rule_id forged);

#endif
