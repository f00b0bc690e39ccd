/* SPDX-License-Identifier: Apache-2.0 */
/* base.h - what all calls share: results, values that name objects, locations of memory and rights. Part of vmm.h, which
 * states the conventions. */
#ifndef CUVMM_VMM_BASE_H
#define CUVMM_VMM_BASE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#define VMM_API __attribute__((visibility("default")))
#else
#define VMM_API
#endif

/* What a call returns; the driver's CUresult. */
typedef enum vmm_result {
#define VMM_RESULT(name, number, text) VMM_##name = number,
#include "../results.def"
    VMM_RESULT_MAX = 0x7FFFFFFF
} vmm_result;

typedef int vmm_device;                             /* CUdevice: an ordinal, 0 .. count - 1 */
typedef uint64_t vmm_deviceptr;                     /* CUdeviceptr: an address in the unified address space */
typedef uint64_t vmm_mem_generic_allocation_handle; /* CUmemGenericAllocationHandle: names physical memory */
typedef struct vmm_context_st *vmm_context;         /* CUcontext: opaque */
typedef struct vmm_stream_st *vmm_stream;           /* CUstream: opaque, NULL is the default stream */
typedef struct vmm_event_st *vmm_event;             /* CUevent: opaque */
typedef struct vmm_memory_pool_st *vmm_memory_pool; /* CUmemoryPool: opaque */
typedef struct vmm_array_st *vmm_array;             /* CUarray: opaque */
typedef struct vmm_mipmapped_array_st *vmm_mipmapped_array; /* CUmipmappedArray: opaque */
typedef struct vmm_graph_st *vmm_graph;             /* CUgraph: opaque */
typedef struct vmm_graph_node_st *vmm_graph_node;   /* CUgraphNode: opaque */
typedef struct vmm_graph_exec_st *vmm_graph_exec;   /* CUgraphExec: opaque */
typedef struct vmm_user_object_st *vmm_user_object; /* CUuserObject: opaque */
typedef int vmm_kernel;                             /* one of the kernels that come with this library */
typedef void (*vmm_host_fn)(void *user_data);       /* CUhostFn: host code that runs as work in a stream */

/* Enumerators are plain ints, as in the driver's structs: callers may pass values outside the lists and see them refused. */
typedef int vmm_mem_location_type;
#define VMM_MEM_LOCATION_TYPE_INVALID 0
#define VMM_MEM_LOCATION_TYPE_DEVICE 1            /* id is a device ordinal */
#define VMM_MEM_LOCATION_TYPE_HOST 2              /* id is ignored */
#define VMM_MEM_LOCATION_TYPE_HOST_NUMA 3         /* id is a NUMA node */
#define VMM_MEM_LOCATION_TYPE_HOST_NUMA_CURRENT 4 /* id is ignored; not accepted by the calls here */

typedef int vmm_mem_allocation_type;
#define VMM_MEM_ALLOCATION_TYPE_INVALID 0
#define VMM_MEM_ALLOCATION_TYPE_PINNED 1
#define VMM_MEM_ALLOCATION_TYPE_MANAGED 2 /* for memory pools; vmm_mem_create refuses it */

typedef int vmm_mem_allocation_handle_type; /* a set: values may be combined with | */
#define VMM_MEM_HANDLE_TYPE_NONE 0
#define VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR 1
#define VMM_MEM_HANDLE_TYPE_WIN32 2
#define VMM_MEM_HANDLE_TYPE_WIN32_KMT 4
#define VMM_MEM_HANDLE_TYPE_FABRIC 8
#define VMM_FABRIC_HANDLE_SIZE 64 /* bytes of a handle of that type; CUmemFabricHandle */

typedef int vmm_mem_access_flags;
#define VMM_MEM_ACCESS_FLAGS_PROT_NONE 0
#define VMM_MEM_ACCESS_FLAGS_PROT_READ 1
#define VMM_MEM_ACCESS_FLAGS_PROT_READWRITE 3

/* Other names of the default stream; CU_STREAM_LEGACY, CU_STREAM_PER_THREAD. */
#define VMM_STREAM_LEGACY ((vmm_stream)0x1)
#define VMM_STREAM_PER_THREAD ((vmm_stream)0x2)

/* A location that holds memory or accesses it; CUmemLocation. */
typedef struct vmm_mem_location {
    vmm_mem_location_type type;
    int id;
} vmm_mem_location;

/* One grant: a location and its access rights; CUmemAccessDesc. */
typedef struct vmm_mem_access_desc {
    vmm_mem_location location;
    vmm_mem_access_flags flags;
} vmm_mem_access_desc;

/* One process's view of a machine: address space, handles, contexts, streams. */
typedef struct vmm_system vmm_system;

#ifdef __cplusplus
}
#endif

#endif
