/* SPDX-License-Identifier: Apache-2.0 */
/* abi_query.h - what the driver-ABI face asks the engine beside the calls of the API.
 *
 *     program -> cuStreamGetCtx(S) -> abi_query_stream(sys, S)      no call, no number, not in a trace: nothing changes by it
 *                cuMemMap(...)     -> vmm_mem_map(sys, ...)   a call like any other
 *
 * One thing is changed and not asked: which devices cuCtxEnablePeerAccess opened to which.
 *
 * sys is one whose innermost backend is the simulator; each question takes the machine's lock.
 */
#ifndef SIM_ABI_QUERY_H
#define SIM_ABI_QUERY_H

#include <stdbool.h>

#include "call.h"
#include "profile.h"
#include "vmm.h"

/* The machine; it does not change. */
const struct sim_profile *abi_query_profile(const vmm_system *sys);

/* Which of the machine's devices a device of the process is, and what identifies it: the same for every process. The device is
 * one that there is. */
int abi_query_place(const vmm_system *sys, int device);
void abi_query_uuid(const vmm_system *sys, int device, unsigned char uuid[16]);

/* The calling thread's current context as it was set, 0 without one; it may have ended. */
uint64_t abi_query_current(const vmm_system *sys);

struct abi_query_context {
    int device;
    bool primary;
    bool alive; /* false: ended, or a primary one that nobody retains */
    uint64_t id; /* of its kind, as in C1, C2 */
};

/* A context that is or was; false for any other value. */
bool abi_query_context(const vmm_system *sys, uint64_t value, struct abi_query_context *context);

/* Is the device's primary context retained by anybody? */
bool abi_query_primary(const vmm_system *sys, int device);

/* Is the caller inside a host function? */
bool abi_query_inside(const vmm_system *sys);

/* Does a host function run on any thread of the process? */
bool abi_query_host_function(const vmm_system *sys);

struct abi_query_stream {
    uint64_t context;
    unsigned flags; /* VMM_STREAM_ */
    uint64_t id;
};

/* A live stream that was created; false for the default ones and any other value. */
bool abi_query_stream(const vmm_system *sys, uint64_t value, struct abi_query_stream *stream);

/* Does the event live? *reached: its work is done; *recorded: it was recorded at all. Nothing is done for it. */
bool abi_query_event(const vmm_system *sys, uint64_t value, bool *recorded, bool *reached);

/* Opens memory of vmm_mem_alloc on owner to work on device, or closes it; false where it was so already. Mappings have
 * rights of their own. */
bool abi_query_open_peer(vmm_system *sys, int device, int owner, bool open);

/* What there is at an address, as far as the machine knows: of addresses that are not its own, nothing. *left: bytes from there
 * to the end of an allocation. */
enum abi_query_there { ABI_QUERY_NOTHING, ABI_QUERY_RESERVED, ABI_QUERY_MAPPED, ABI_QUERY_ALLOCATED };
enum abi_query_there abi_query_there(const vmm_system *sys, uint64_t address, uint64_t *left);

/* Is the address one that the machine deals out: of a reservation, a mapping or an allocation? */
bool abi_query_device_address(const vmm_system *sys, uint64_t address);

/* What lives or lived at an address, or else lies closest to it. */
vmm_object abi_query_nearest(const vmm_system *sys, uint64_t address);

/* ---- rows of memory, for which the API has no call ---- */

enum abi_query_use { ABI_QUERY_TO_HOST, ABI_QUERY_READ, ABI_QUERY_WRITE, ABI_QUERY_FROM_HOST, ABI_QUERY_FILL };

/* May work in the stream do that with all of [address, address + size), as far as a driver looks? size > 0. As vmm_memcpy_dtod
 * and its kin check theirs; a refusal names argument of function. */
vmm_result abi_query_range(const vmm_system *sys, vmm_stream stream, const char *function, const char *argument, uint64_t address,
                     uint64_t size, enum abi_query_use use);

/* The first byte of the range that it may not reach so, whatever else is checked; false when there is none. */
bool abi_query_unreachable(const vmm_system *sys, vmm_stream stream, uint64_t address, uint64_t size, enum abi_query_use use,
                     uint64_t *first);

/* Puts an asynchronous copy into its stream without a look at what it touches: at its turn that is a fault. */
vmm_result abi_query_issue(vmm_system *sys, const union vmm_any_call *call, vmm_stream stream);

/* Are documented rules refused that the driver lets pass? */
bool abi_query_strict(const vmm_system *sys);

/* Sets CU_POINTER_ATTRIBUTE_SYNC_MEMOPS of an allocation. */
void abi_query_set_sync(vmm_system *sys, uint64_t address, bool sync);

/* Can the host be given anything to see at all of these addresses? */
bool abi_query_backed(const vmm_system *sys, uint64_t address, uint64_t size);

#endif
