/* SPDX-License-Identifier: Apache-2.0 */
/* abi_query.h - queries of the driver ABI (libcuda.so.1) to the engine, beyond the calls of the API.
 *
 *     program -> cuStreamGetCtx(S) -> abi_query_stream(sys, S)      not a call: no number, not in a trace, changes nothing
 *                cuMemMap(...)     -> vmm_mem_map(sys, ...)   a call like any other
 *
 * Some functions below change state, such as abi_query_open_peer, which records the peer access of cuCtxEnablePeerAccess.
 *
 * The innermost backend of sys is the simulator; each function takes the machine's lock.
 */
#ifndef SIM_ABI_QUERY_H
#define SIM_ABI_QUERY_H

#include <stdbool.h>

#include "call.h"
#include "profile.h"
#include "vmm.h"

/* The machine's profile, which is constant. */
const struct sim_profile *abi_query_profile(const vmm_system *sys);

/* Are launches of kernels without a plugin skipped (kernels=skip)? */
bool abi_query_skips(const vmm_system *sys);

/* The ordinal of a process's device in the machine, and the device's UUID; both are the same for every process. The
 * device must exist. */
int abi_query_place(const vmm_system *sys, int device);
void abi_query_uuid(const vmm_system *sys, int device, unsigned char uuid[16]);

/* The calling thread's current context as it was set, or 0; the context may have ended. */
uint64_t abi_query_current(const vmm_system *sys);

struct abi_query_context {
    int device;
    bool primary;
    bool alive; /* false: ended, or a primary context without a retain */
    uint64_t id; /* number among contexts, as in C1, C2 */
};

/* A live or ended context; false for any other value. */
bool abi_query_context(const vmm_system *sys, uint64_t value, struct abi_query_context *context);

/* Does the device's primary context have a retain? */
bool abi_query_primary(const vmm_system *sys, int device);

/* Is the caller inside a host function? */
bool abi_query_inside(const vmm_system *sys);

/* Is a host function running on any thread of the process? */
bool abi_query_host_function(const vmm_system *sys);

struct abi_query_stream {
    uint64_t context;
    unsigned flags; /* VMM_STREAM_ */
    uint64_t id;
};

/* A live created stream; false for default streams and any other value. */
bool abi_query_stream(const vmm_system *sys, uint64_t value, struct abi_query_stream *stream);

/* Is the event alive? *reached: its work is done; *recorded: it has been recorded. The query does no work. */
bool abi_query_event(const vmm_system *sys, uint64_t value, bool *recorded, bool *reached);

/* The time when the live event was reached, in nanoseconds of a monotonic clock; 0: not reached, or no timing. */
uint64_t abi_query_event_time(const vmm_system *sys, uint64_t value);

/* Grants or revokes access of work on device to owner's vmm_mem_alloc memory; false if that was already the case. Mappings
 * have their own rights. */
bool abi_query_open_peer(vmm_system *sys, int device, int owner, bool open);

/* The kind of object at an address; ABI_QUERY_NOTHING for addresses outside the machine. *left: bytes from the address to the
 * end of an allocation. */
enum abi_query_there { ABI_QUERY_NOTHING, ABI_QUERY_RESERVED, ABI_QUERY_MAPPED, ABI_QUERY_ALLOCATED };
enum abi_query_there abi_query_there(const vmm_system *sys, uint64_t address, uint64_t *left);

/* Does the address belong to a reservation, a mapping or an allocation? */
bool abi_query_device_address(const vmm_system *sys, uint64_t address);

/* Is it an address of managed memory? */
bool abi_query_managed(const vmm_system *sys, uint64_t address);

/* The object that contains or contained an address, or else the one closest to it. */
vmm_object abi_query_nearest(const vmm_system *sys, uint64_t address);

/* ---- operations on rows of memory, which the API lacks ---- */

enum abi_query_use { ABI_QUERY_TO_HOST, ABI_QUERY_READ, ABI_QUERY_WRITE, ABI_QUERY_FROM_HOST, ABI_QUERY_FILL };

/* Does work of the device, regardless of the current context, have this access to all of [address, address + size),
 * as far as a driver checks it? size > 0. The check is that of vmm_memcpy_dtod and the other copies; a refusal names
 * argument of function. */
vmm_result abi_query_range(const vmm_system *sys, int device, const char *function, const char *argument, uint64_t address,
                           uint64_t size, enum abi_query_use use);

/* Does work in the stream have such access to all of the range? Independent of other checks; false is not a refusal. */
bool abi_query_reachable(const vmm_system *sys, vmm_stream stream, uint64_t address, uint64_t size, enum abi_query_use use);

/* Queues an asynchronous copy in its stream without checking its addresses: a bad address faults when the copy is done.
 * The fault's message names the call issued_by. */
vmm_result abi_query_issue(vmm_system *sys, const union vmm_any_call *call, enum vmm_call_id issued_by, vmm_stream stream);

/* Is the mode strict: does it enforce documented rules that the driver does not? */
bool abi_query_strict(const vmm_system *sys);

/* Sets CU_POINTER_ATTRIBUTE_SYNC_MEMOPS of an allocation. */
void abi_query_set_sync(vmm_system *sys, uint64_t address, bool sync);

/* The bytes in use on the machine's device with that ordinal, by all processes that share it. */
uint64_t abi_query_used(const vmm_system *sys, int place);

/* Does the host window back all of these addresses, so that the host could access them in place? */
bool abi_query_backed(const vmm_system *sys, uint64_t address, uint64_t size);

#endif
