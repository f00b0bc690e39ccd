/* SPDX-License-Identifier: Apache-2.0 */
/* multicast.h - multicast objects. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_MULTICAST_H
#define CUVMM_VMM_MULTICAST_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int vmm_multicast_granularity_flags;
#define VMM_MULTICAST_GRANULARITY_MINIMUM 0
#define VMM_MULTICAST_GRANULARITY_RECOMMENDED 1

/* What kind of multicast object to create; CUmulticastObjectProp. Zero the struct first. */
typedef struct vmm_multicast_object_prop {
    unsigned int num_devices; /* the number of devices in the complete team, 2 or more */
    uint64_t size;            /* bytes that each of them can bind */
    uint64_t handle_types;    /* VMM_MEM_HANDLE_TYPE_ bits: how the memory may be exported; fixed at creation */
    uint64_t flags;           /* 0 */
} vmm_multicast_object_prop;

/* ---------------------------------------------------------------------------------------------------------- multicast
 *
 * A multicast object is a range without memory; each device of a team binds memory of its own to it. What one device
 * stores through an address of the range reaches every replica, and a load returns their sum.
 *
 *   create, 2 devices    [........................]   size S; no device, no memory
 *   add_device 0, 1      now the team is complete; only then can memory be bound and the object mapped
 *   bind_mem             dev0 [M of H1 ..][.......]   each device binds pieces of its own memory
 *                        dev1 [M of H2 ..][.......]
 *   mem_map, set_access  [m = the object, for the devices of the team]
 *   multimem kernels     store at m -> both replicas     load at m <- replica 0 + replica 1
 *   unbind, unmap        independent of each other; mem_release releases the object
 *
 * Its handle is one of vmm_mem_generic_allocation_handle: vmm_mem_map, vmm_mem_release and
 * vmm_mem_retain_allocation_handle take it as they take memory's. Only the multimem kernels may use its addresses
 * (see "kernels"); copies and fills are refused [VMM-COPY-MULTICAST], and only devices of the team can get rights to them
 * [VMM-ACCESS-TEAM].
 *
 * Nothing here was measured on a driver. What the documentation leaves open is decided strictly, and each rule states
 * whether it is documented or ours (docs/multicast.md). Documents: binding and mapping wait until the team is
 * complete. The simulator waits if another process has the object or can get it, for at most team_wait= seconds;
 * within one process the wait would never end, so it refuses at once [VMM-BIND-INCOMPLETE, VMM-MAP-INCOMPLETE].
 *
 *   process A   create, export, add dev0 ..... bind, map, kernels     Each process adds and binds its own. What was
 *   process B   import, add dev1 ............. bind, map, kernels     bound stays until it is unbound or the object ends,
 *                                                                     even if the process that bound it has ended.
 * A machine needs VMM_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED. On the driver these calls are NOT_SUPPORTED unless the
 * environment has CUVMM_REAL_MULTICAST=1. cuda.h 13.0, multicast object management; guide 4.16.4. */

/* The granularity of sizes, offsets and mapped addresses of such an object, in bytes; it may differ from memory's.
 * prop.size is ignored: callers usually round it up to the answer. option: VMM_MULTICAST_GRANULARITY_MINIMUM or
 * _RECOMMENDED. INVALID_VALUE [VMM-MULTICAST-GRANULARITY-NULL, VMM-MULTICAST-NULL-PROP,
 * VMM-MULTICAST-GRANULARITY-OPTION]; NOT_SUPPORTED [VMM-MULTICAST-UNSUPPORTED]; then prop as for
 * vmm_multicast_create, except its size. cuMulticastGetGranularity; cuda.h 13.0; guide 4.16.4.1. */
VMM_API vmm_result vmm_multicast_get_granularity(vmm_system *sys, uint64_t *granularity,
                                                 const vmm_multicast_object_prop *prop,
                                                 vmm_multicast_granularity_flags option);

/* Creates a multicast object with no devices and no memory; it takes no device memory. prop.num_devices: 2 to the machine's
 * number of devices, or to 64 with FABRIC among the handle types. prop.size > 0, bytes, a multiple of the minimum
 * granularity. INVALID_VALUE [VMM-MULTICAST-NULL-HANDLE, VMM-MULTICAST-NULL-PROP]; NOT_SUPPORTED
 * [VMM-MULTICAST-UNSUPPORTED]; INVALID_VALUE [VMM-MULTICAST-NUM-DEVICES, VMM-MULTICAST-FLAGS, VMM-MULTICAST-HANDLE-TYPES];
 * NOT_SUPPORTED [VMM-MULTICAST-TYPES-UNSUPPORTED]; INVALID_VALUE [VMM-MULTICAST-SIZE-ZERO, VMM-MULTICAST-SIZE-GRANULARITY];
 * NOT_PERMITTED [VMM-MULTICAST-FABRIC-IMEX].
 * The handle is one reference. The object lives while it has references or mappings; binds do not keep it alive, and
 * end with it [VMM-RELEASE-TEAM-BOUND, a warning]. Given to vmm_mem_get_allocation_properties_from_handle:
 * INVALID_VALUE [VMM-PROPERTIES-MULTICAST].
 * cuMulticastCreate; cuda.h 13.0; guide 4.16.4.1. */
VMM_API vmm_result vmm_multicast_create(vmm_system *sys, vmm_mem_generic_allocation_handle *mc_handle,
                                        const vmm_multicast_object_prop *prop);

/* Adds dev to the team for as long as the object lives. INVALID_VALUE [VMM-MULTICAST-HANDLE,
 * VMM-MULTICAST-HANDLE-STALE, VMM-MULTICAST-HANDLE-MEMORY]; INVALID_DEVICE [VMM-MULTICAST-DEVICE-ID]; INVALID_VALUE
 * [VMM-MULTICAST-DEVICE-TWICE, VMM-MULTICAST-TEAM-FULL]. cuMulticastAddDevice; cuda.h 13.0; guide 4.16.4.2. */
VMM_API vmm_result vmm_multicast_add_device(vmm_system *sys, vmm_mem_generic_allocation_handle mc_handle,
                                            vmm_device dev);

/* Binds [mem_offset, mem_offset + size) of memory at [mc_offset, mc_offset + size) of the object, for the device that
 * holds the memory. Offsets and size: bytes, multiples of the minimum multicast granularity, size > 0; flags 0.
 *
 *   before: dev0 [B1][................]     after: dev0 [B1][.....|B2 of H1|..]     H1's memory stays while it is bound
 *
 * Ranges of one device must not overlap, but different devices' ranges need not match. No address and no rights are
 * needed. The bind holds the memory, not its handle: after the last reference and mapping the memory stays in use
 * [VMM-RELEASE-MEMORY-BOUND, a warning].
 * INVALID_VALUE [VMM-MULTICAST-HANDLE, VMM-MULTICAST-HANDLE-STALE, VMM-MULTICAST-HANDLE-MEMORY, VMM-BIND-MEMORY,
 *   VMM-BIND-MEMORY-STALE, VMM-BIND-MULTICAST, VMM-BIND-FLAGS, VMM-BIND-SIZE-ZERO, VMM-BIND-GRANULARITY,
 *   VMM-BIND-RANGE, VMM-BIND-MEMORY-RANGE]; ILLEGAL_STATE [VMM-BIND-INCOMPLETE]; INVALID_VALUE [VMM-BIND-HOST];
 * INVALID_DEVICE [VMM-BIND-DEVICE]; NOT_PERMITTED [VMM-BIND-SHARED]; INVALID_VALUE [VMM-BIND-OVERLAP];
 * OUT_OF_MEMORY [VMM-BIND-RESOURCES]. Documented: also SYSTEM_NOT_READY and ILLEGAL_STATE for the system's configuration,
 * which the simulator does not know. cuMulticastBindMem; cuda.h 13.0; guide 4.16.4.3. */
VMM_API vmm_result vmm_multicast_bind_mem(vmm_system *sys, vmm_mem_generic_allocation_handle mc_handle,
                                          uint64_t mc_offset, vmm_mem_generic_allocation_handle mem_handle,
                                          uint64_t mem_offset, uint64_t size, uint64_t flags);

/* The same for the memory that is mapped at [memptr, memptr + size), in one mapping; memptr is a multiple of the minimum
 * multicast granularity. The mapping may be removed afterwards. As for vmm_multicast_bind_mem, with VMM-BIND-ADDRESS
 * (no memory of vmm_mem_create is mapped there) in place of the memory handle's rules, and VMM-BIND-MEMORY-RANGE for
 * the end of the mapping. cuMulticastBindAddr; cuda.h 13.0. */
VMM_API vmm_result vmm_multicast_bind_addr(vmm_system *sys, vmm_mem_generic_allocation_handle mc_handle,
                                           uint64_t mc_offset, vmm_deviceptr memptr, uint64_t size, uint64_t flags);

/* Unbinds what dev bound at mc_offset; mc_offset and size as they were bound. Mappings of the object stay. The call
 * does not wait for in-flight work that uses the replica [VMM-UNBIND-IN-FLIGHT, a warning].
 * INVALID_VALUE [VMM-MULTICAST-HANDLE, VMM-MULTICAST-HANDLE-STALE, VMM-MULTICAST-HANDLE-MEMORY]; INVALID_DEVICE
 * [VMM-MULTICAST-DEVICE-ID, VMM-UNBIND-DEVICE]; INVALID_VALUE [VMM-BIND-SIZE-ZERO, VMM-BIND-GRANULARITY,
 * VMM-BIND-RANGE, VMM-UNBIND-NOTHING, VMM-UNBIND-MATCH]. cuMulticastUnbind; cuda.h 13.0. */
VMM_API vmm_result vmm_multicast_unbind(vmm_system *sys, vmm_mem_generic_allocation_handle mc_handle, vmm_device dev,
                                        uint64_t mc_offset, uint64_t size);

#ifdef __cplusplus
}
#endif

#endif
