/* SPDX-License-Identifier: Apache-2.0 */
/* vmm.h - CUDA Virtual Memory Management on the real driver or on a simulator: the public header of cuvmm
 * (and vmm_fd.h beside it, which sends file descriptors).
 *
 * Every cuX(args...) of the driver is vmm_x(sys, args...) here: the same parameters in the same order with the same
 * numbers, after the system that the call is made on. CU_X is VMM_X, CUX is vmm_x. What holds for one holds for the
 * other; where the driver differs from its documentation, both are stated ("Documents:" / "Observed:").
 *
 *   reserve        [........ reserved addresses ........]         vmm_mem_address_reserve
 *   create         (physical memory, no address)                  vmm_mem_create
 *   map            [== mapped ==|........ reserved .....]         vmm_mem_map
 *   set access     [RW mapped RW|........ reserved .....]         vmm_mem_set_access
 *   use it         vmm_memcpy_*, vmm_memset_*
 *   and back       vmm_mem_unmap, vmm_mem_release, vmm_mem_address_free
 *
 * Units and conventions, unless a function says otherwise:
 *   - Sizes, offsets, alignments and addresses are bytes in uint64_t; ranges are half-open [start, start + size).
 *   - G is the granularity of the profile (2 MiB on the recorded H100 and H200).
 *   - Outputs are written on success only. The exceptions were measured and are stated.
 *   - A refused call changes nothing. The one measured exception is documented at vmm_mem_set_access.
 *   - After a kernel's fault every call that needs a context is refused; see "kernels" below.
 *   - Every function may be called from any thread at any time; vmm_open and vmm_close of one system may not overlap
 *     other calls on it.
 *   - Before vmm_init, and in a forked child of a process that called it, every call returns
 *     VMM_ERROR_NOT_INITIALIZED [VMM-INIT-REQUIRED, VMM-INIT-FORKED]. In such a child vmm_init does as well. Only
 *     destroying a NULL context or stream, and destroying, querying or synchronising a NULL event, keeps its usual
 *     error. This is not repeated below.
 *   - On a machine that processes share (vmm_open, machine=NAME), vmm_init and the calls that read the free memory
 *     return VMM_ERROR_OPERATING_SYSTEM [VMM-SHARE-STATE] when the shared state is not accessible.
 *   - Errors are listed with the ids of the rules behind them. `cuvmm explain ID` explains a rule; vmm_last_detail()
 *     returns the rule, the object and the fix.
 *   - "cuda.h 13.0" cites the toolkit's header by function; "guide" the CUDA C++ Programming Guide's chapter on
 *     virtual memory management; "580" marks behaviour measured on driver 580.159.04.
 */
#ifndef CUVMM_VMM_H
#define CUVMM_VMM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define VMM_VERSION_MAJOR 0
#define VMM_VERSION_MINOR 1
#define VMM_VERSION_PATCH 0

#if defined(__GNUC__)
#define VMM_API __attribute__((visibility("default")))
#else
#define VMM_API
#endif

/* ------------------------------------------------------------------------------------------------ values and types */

/* What a call returns; the driver's CUresult. */
typedef enum vmm_result {
#define VMM_RESULT(name, number, text) VMM_##name = number,
#include "results.def"
    VMM_RESULT_MAX = 0x7FFFFFFF
} vmm_result;

typedef int vmm_device;                             /* CUdevice: an ordinal, 0 .. count - 1 */
typedef uint64_t vmm_deviceptr;                     /* CUdeviceptr: an address in the unified address space */
typedef uint64_t vmm_mem_generic_allocation_handle; /* CUmemGenericAllocationHandle: names physical memory */
typedef struct vmm_context_st *vmm_context;         /* CUcontext: opaque */
typedef struct vmm_stream_st *vmm_stream;           /* CUstream: opaque, NULL is the default stream */
typedef struct vmm_event_st *vmm_event;             /* CUevent: opaque */
typedef struct vmm_memory_pool_st *vmm_memory_pool; /* CUmemoryPool: opaque */
typedef struct vmm_graph_st *vmm_graph;             /* CUgraph: opaque */
typedef struct vmm_graph_node_st *vmm_graph_node;   /* CUgraphNode: opaque */
typedef struct vmm_graph_exec_st *vmm_graph_exec;   /* CUgraphExec: opaque */
typedef int vmm_kernel;                             /* one of the kernels that come with this library */
typedef void (*vmm_host_fn)(void *user_data);       /* CUhostFn: host code as work of a stream */

/* Enumerators are plain ints, as in the driver's structs: callers pass values outside the lists to see them refused. */
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

typedef int vmm_mem_range_handle_type; /* what kind of handle an address range gets */
#define VMM_MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD 1 /* an int: the file descriptor of a dma-buf */
#define VMM_MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE 1

typedef int vmm_mem_allocation_granularity_flags;
#define VMM_MEM_ALLOC_GRANULARITY_MINIMUM 0
#define VMM_MEM_ALLOC_GRANULARITY_RECOMMENDED 1

typedef int vmm_mem_pool_attribute; /* type read or written through value */
#define VMM_MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES 1   /* int: reuse memory whose free an event precedes */
#define VMM_MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC 2         /* int: reuse memory whose free is done already */
#define VMM_MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES 3 /* int: let an allocation wait for another stream's free */
#define VMM_MEMPOOL_ATTR_RELEASE_THRESHOLD 4                 /* uint64_t: bytes that a synchronisation leaves in the pool */
#define VMM_MEMPOOL_ATTR_RESERVED_MEM_CURRENT 5              /* uint64_t: physical memory of the pool */
#define VMM_MEMPOOL_ATTR_RESERVED_MEM_HIGH 6                 /* uint64_t: the most since it was set to 0 */
#define VMM_MEMPOOL_ATTR_USED_MEM_CURRENT 7                  /* uint64_t: of that, what allocations have */
#define VMM_MEMPOOL_ATTR_USED_MEM_HIGH 8                     /* uint64_t: the most since it was set to 0 */

typedef int vmm_multicast_granularity_flags;
#define VMM_MULTICAST_GRANULARITY_MINIMUM 0
#define VMM_MULTICAST_GRANULARITY_RECOMMENDED 1

#define VMM_MEM_ALLOCATION_COMP_NONE 0
#define VMM_MEM_ALLOCATION_COMP_GENERIC 1

#define VMM_MEM_CREATE_USAGE_TILE_POOL 1
#define VMM_MEM_CREATE_USAGE_HW_DECOMPRESS 2

#define VMM_MEM_POOL_CREATE_USAGE_HW_DECOMPRESS 2

#define VMM_MEMORYTYPE_HOST 1
#define VMM_MEMORYTYPE_DEVICE 2
#define VMM_MEMORYTYPE_ARRAY 3
#define VMM_MEMORYTYPE_UNIFIED 4
typedef int vmm_memorytype;

typedef int vmm_memcpy_src_access_order;
#define VMM_MEMCPY_SRC_ACCESS_ORDER_STREAM 1
#define VMM_MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL 2
#define VMM_MEMCPY_SRC_ACCESS_ORDER_ANY 3

#define VMM_MEMCPY_FLAG_DEFAULT 0
#define VMM_MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE 1

typedef int vmm_memcpy3d_operand_type;
#define VMM_MEMCPY_OPERAND_TYPE_POINTER 1
#define VMM_MEMCPY_OPERAND_TYPE_ARRAY 2

#define VMM_STREAM_DEFAULT 0
#define VMM_STREAM_NON_BLOCKING 1

#define VMM_EVENT_DEFAULT 0 /* a set: values may be combined with | */
#define VMM_EVENT_BLOCKING_SYNC 1
#define VMM_EVENT_DISABLE_TIMING 2
#define VMM_EVENT_INTERPROCESS 4 /* with DISABLE_TIMING only */

#define VMM_IPC_MEM_LAZY_ENABLE_PEER_ACCESS 1

#define VMM_EVENT_WAIT_DEFAULT 0
#define VMM_STREAM_ADD_CAPTURE_DEPENDENCIES 0
#define VMM_STREAM_SET_CAPTURE_DEPENDENCIES 1
#define VMM_EVENT_WAIT_EXTERNAL 1 /* the wait becomes a node, of a captured stream */

#define VMM_STREAM_WAIT_VALUE_GEQ 0 /* until (int32_t)(*addr - value) >= 0, of 64 bits in int64_t: past a wrap-around too */
#define VMM_STREAM_WAIT_VALUE_EQ 1  /* until *addr == value */
#define VMM_STREAM_WAIT_VALUE_AND 2 /* until (*addr & value) != 0 */
#define VMM_STREAM_WAIT_VALUE_NOR 3 /* until ~(*addr | value) != 0 */
#define VMM_STREAM_WAIT_VALUE_FLUSH (1 << 30) /* and then flush remote writes; not on the recorded machines */

#define VMM_STREAM_WRITE_VALUE_DEFAULT 0
#define VMM_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER 1 /* the write may pass the stream's earlier writes */

typedef int vmm_stream_batch_mem_op_type;
#define VMM_STREAM_MEM_OP_WAIT_VALUE_32 1
#define VMM_STREAM_MEM_OP_WRITE_VALUE_32 2
#define VMM_STREAM_MEM_OP_FLUSH_REMOTE_WRITES 3
#define VMM_STREAM_MEM_OP_WAIT_VALUE_64 4
#define VMM_STREAM_MEM_OP_WRITE_VALUE_64 5
#define VMM_STREAM_MEM_OP_BARRIER 6

#define VMM_STREAM_MEMORY_BARRIER_TYPE_SYS 0
#define VMM_STREAM_MEMORY_BARRIER_TYPE_GPU 1

typedef int vmm_stream_capture_mode;         /* which other calls a capture forbids while it lasts */
#define VMM_STREAM_CAPTURE_MODE_GLOBAL 0       /* unsafe calls of all threads */
#define VMM_STREAM_CAPTURE_MODE_THREAD_LOCAL 1 /* those of the thread that began it */
#define VMM_STREAM_CAPTURE_MODE_RELAXED 2      /* none; any thread may end it */

typedef int vmm_stream_capture_status;
#define VMM_STREAM_CAPTURE_STATUS_NONE 0
#define VMM_STREAM_CAPTURE_STATUS_ACTIVE 1
#define VMM_STREAM_CAPTURE_STATUS_INVALIDATED 2 /* a refused call has spoiled it: it can only be ended */

typedef int vmm_graph_node_type;
#define VMM_GRAPH_NODE_TYPE_KERNEL 0
#define VMM_GRAPH_NODE_TYPE_MEMCPY 1
#define VMM_GRAPH_NODE_TYPE_MEMSET 2
#define VMM_GRAPH_NODE_TYPE_HOST 3
#define VMM_GRAPH_NODE_TYPE_GRAPH 4
#define VMM_GRAPH_NODE_TYPE_EMPTY 5
#define VMM_GRAPH_NODE_TYPE_WAIT_EVENT 6
#define VMM_GRAPH_NODE_TYPE_EVENT_RECORD 7
#define VMM_GRAPH_NODE_TYPE_MEM_ALLOC 10
#define VMM_GRAPH_NODE_TYPE_MEM_FREE 11
#define VMM_GRAPH_NODE_TYPE_BATCH_MEM_OP 12

#define VMM_GRAPH_INSTANTIATE_FLAG_AUTO_FREE_ON_LAUNCH 1
#define VMM_GRAPH_INSTANTIATE_FLAG_UPLOAD 2
#define VMM_GRAPH_INSTANTIATE_FLAG_DEVICE_LAUNCH 4
#define VMM_GRAPH_INSTANTIATE_FLAG_USE_NODE_PRIORITY 8

/* The default stream by other names; CU_STREAM_LEGACY, CU_STREAM_PER_THREAD. */
#define VMM_STREAM_LEGACY ((vmm_stream)0x1)
#define VMM_STREAM_PER_THREAD ((vmm_stream)0x2)

typedef int vmm_device_attribute; /* the driver's numbers; any of them may be queried */
#define VMM_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK 1
#define VMM_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT 16
#define VMM_DEVICE_ATTRIBUTE_COMPUTE_MODE 20
#define VMM_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING 41
#define VMM_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR 75
#define VMM_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR 76
#define VMM_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS 88
#define VMM_DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS 89
#define VMM_DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES 100
#define VMM_DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED 102
#define VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED 103
#define VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED 104
#define VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED 105
#define VMM_DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED 107
#define VMM_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED 110
#define VMM_DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED 112
#define VMM_DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED 116
#define VMM_DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED 124
#define VMM_DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED 128
#define VMM_DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED 132
#define VMM_DEVICE_ATTRIBUTE_HOST_NUMA_ID 134
#define VMM_DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED 141
#define VMM_DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED 143
#define VMM_DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED 145

typedef int vmm_pointer_attribute;                              /* type written through data */
#define VMM_POINTER_ATTRIBUTE_CONTEXT 1                         /* vmm_context */
#define VMM_POINTER_ATTRIBUTE_MEMORY_TYPE 2                     /* unsigned int, VMM_MEMORYTYPE_ */
#define VMM_POINTER_ATTRIBUTE_DEVICE_POINTER 3                  /* vmm_deviceptr */
#define VMM_POINTER_ATTRIBUTE_HOST_POINTER 4                    /* void * */
#define VMM_POINTER_ATTRIBUTE_P2P_TOKENS 5                      /* 12 bytes; the simulator writes 0 */
#define VMM_POINTER_ATTRIBUTE_SYNC_MEMOPS 6                     /* int: 1 after P2P_TOKENS was queried there */
#define VMM_POINTER_ATTRIBUTE_BUFFER_ID 7                       /* unsigned long long */
#define VMM_POINTER_ATTRIBUTE_IS_MANAGED 8                      /* int (0 or 1) */
#define VMM_POINTER_ATTRIBUTE_DEVICE_ORDINAL 9                  /* int */
#define VMM_POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE 10     /* int (0 or 1) */
#define VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR 11               /* vmm_deviceptr: of the reservation */
#define VMM_POINTER_ATTRIBUTE_RANGE_SIZE 12                     /* uint64_t: of the reservation */
#define VMM_POINTER_ATTRIBUTE_MAPPED 13                         /* int (0 or 1) */
#define VMM_POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES 14           /* uint64_t */
#define VMM_POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE 15     /* int (0 or 1) */
#define VMM_POINTER_ATTRIBUTE_ACCESS_FLAGS 16                   /* unsigned int: of the current context's device */
#define VMM_POINTER_ATTRIBUTE_MEMPOOL_HANDLE 17                 /* vmm_memory_pool */
#define VMM_POINTER_ATTRIBUTE_MAPPING_SIZE 18                   /* uint64_t */
#define VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR 19              /* vmm_deviceptr */
#define VMM_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID 20                /* unsigned long long: of the physical memory */
#define VMM_POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE 21       /* int (0 or 1) */
#define VMM_POINTER_ATTRIBUTE_MAX_SIZE 16                       /* room for any of them; ours */

/* A place that holds memory or accesses it; CUmemLocation. */
typedef struct vmm_mem_location {
    vmm_mem_location_type type;
    int id;
} vmm_mem_location;

/* What kind of physical memory to create; CUmemAllocationProp. Zero the struct first: reserved fields are checked. */
typedef struct vmm_mem_allocation_prop {
    vmm_mem_allocation_type type;                          /* PINNED */
    vmm_mem_allocation_handle_type requested_handle_types; /* how the memory may be exported; fixed at creation */
    vmm_mem_location location;                             /* where the memory is */
    void *win32_handle_meta_data;                          /* NULL except on Windows */
    struct {
        unsigned char compression_type;        /* a hint; read the properties back to see what was obtained */
        unsigned char gpu_direct_rdma_capable; /* 0 or 1 */
        unsigned short usage;                  /* VMM_MEM_CREATE_USAGE_ bits */
        unsigned char reserved[4];             /* 0 */
    } alloc_flags;
} vmm_mem_allocation_prop;

/* What kind of multicast object to create; CUmulticastObjectProp. Zero the struct first. */
typedef struct vmm_multicast_object_prop {
    unsigned int num_devices; /* how many devices the team will have, 2 or more */
    uint64_t size;            /* bytes that each of them can bind */
    uint64_t handle_types;    /* VMM_MEM_HANDLE_TYPE_ bits: how the memory may be exported; fixed at creation */
    uint64_t flags;           /* 0 */
} vmm_multicast_object_prop;

/* What kind of memory pool to create; CUmemPoolProps. Zero the struct first. */
typedef struct vmm_mem_pool_props {
    vmm_mem_allocation_type alloc_type;          /* PINNED */
    vmm_mem_allocation_handle_type handle_types; /* how the pool may be exported; fixed at creation */
    vmm_mem_location location;                   /* where its memory is */
    void *win32_security_attributes;             /* NULL except on Windows */
    size_t max_size;                             /* bytes it may grow to; 0: the driver's choice */
    unsigned short usage;                        /* VMM_MEM_POOL_CREATE_USAGE_ bits */
    unsigned char reserved[54];                  /* 0 */
} vmm_mem_pool_props;

/* Names an allocation of a pool in another process; CUmemPoolPtrExportData. */
typedef struct vmm_mem_pool_ptr_export_data {
    unsigned char reserved[64];
} vmm_mem_pool_ptr_export_data;

/* Names memory of vmm_mem_alloc in another process; CUipcMemHandle. */
typedef struct vmm_ipc_mem_handle {
    char reserved[64];
} vmm_ipc_mem_handle;

/* Names an event in another process; CUipcEventHandle. */
typedef struct vmm_ipc_event_handle {
    char reserved[64];
} vmm_ipc_event_handle;

/* One grant: a location and its access rights; CUmemAccessDesc. */
typedef struct vmm_mem_access_desc {
    vmm_mem_location location;
    vmm_mem_access_flags flags;
} vmm_mem_access_desc;

/* One operation of a batch, of 48 bytes; operation says which member holds it. CUstreamBatchMemOpParams. */
typedef union vmm_stream_batch_mem_op_params {
    vmm_stream_batch_mem_op_type operation;
    struct vmm_stream_mem_op_value_params {
        vmm_stream_batch_mem_op_type operation; /* WAIT_VALUE_ or WRITE_VALUE_ */
        vmm_deviceptr address;
        union {
            uint32_t value;   /* of the operations of 32 bits */
            uint64_t value64; /* of those of 64 */
        };
        unsigned int flags;  /* VMM_STREAM_WAIT_VALUE_ or VMM_STREAM_WRITE_VALUE_ */
        vmm_deviceptr alias; /* the driver's; ignored */
    } wait_value, write_value;
    struct vmm_stream_mem_op_flag_params {
        vmm_stream_batch_mem_op_type operation; /* FLUSH_REMOTE_WRITES or BARRIER */
        unsigned int flags;                     /* 0, or VMM_STREAM_MEMORY_BARRIER_TYPE_ */
    } flush_remote_writes, memory_barrier;
    uint64_t pad[6];
} vmm_stream_batch_mem_op_params;

/* A copy of a box of memory; CUDA_MEMCPY3D. Zero the struct first. */
typedef struct vmm_memcpy3d {
    size_t src_x_in_bytes, src_y, src_z, src_lod; /* where the first row begins, in bytes, rows and layers; lod: of arrays, 0 */
    vmm_memorytype src_memory_type;            /* VMM_MEMORYTYPE_HOST, DEVICE, or UNIFIED for either */
    const void *src_host;                     /* of HOST */
    vmm_deviceptr src_device;                  /* of DEVICE and UNIFIED */
    void *src_array;                           /* NULL: arrays are not simulated */
    void *reserved0;                          /* NULL */
    size_t src_pitch, src_height;               /* bytes from row to row, rows from layer to layer; 0: adjacent */
    size_t dst_x_in_bytes, dst_y, dst_z, dst_lod; /* where the first row begins, in bytes, rows and layers; lod: of arrays, 0 */
    vmm_memorytype dst_memory_type;            /* VMM_MEMORYTYPE_HOST, DEVICE, or UNIFIED for either */
    void *dst_host;                     /* of HOST */
    vmm_deviceptr dst_device;                  /* of DEVICE and UNIFIED */
    void *dst_array;                           /* NULL: arrays are not simulated */
    void *reserved1;                          /* NULL */
    size_t dst_pitch, dst_height;               /* bytes from row to row, rows from layer to layer; 0: adjacent */
    size_t width_in_bytes, height, depth;     /* bytes of a row, rows of a layer, layers */
} vmm_memcpy3d;

/* The same between two contexts; CUDA_MEMCPY3D_PEER. Zero the struct first. */
typedef struct vmm_memcpy3d_peer {
    size_t src_x_in_bytes, src_y, src_z, src_lod; /* where the first row begins, in bytes, rows and layers; lod: of arrays, 0 */
    vmm_memorytype src_memory_type;            /* VMM_MEMORYTYPE_HOST, DEVICE, or UNIFIED for either */
    const void *src_host;                     /* of HOST */
    vmm_deviceptr src_device;                  /* of DEVICE and UNIFIED */
    void *src_array;                           /* NULL: arrays are not simulated */
    vmm_context src_context;                  /* NULL: the current one */
    size_t src_pitch, src_height;               /* bytes from row to row, rows from layer to layer; 0: adjacent */
    size_t dst_x_in_bytes, dst_y, dst_z, dst_lod; /* where the first row begins, in bytes, rows and layers; lod: of arrays, 0 */
    vmm_memorytype dst_memory_type;            /* VMM_MEMORYTYPE_HOST, DEVICE, or UNIFIED for either */
    void *dst_host;                     /* of HOST */
    vmm_deviceptr dst_device;                  /* of DEVICE and UNIFIED */
    void *dst_array;                           /* NULL: arrays are not simulated */
    vmm_context dst_context;                  /* NULL: the current one */
    size_t dst_pitch, dst_height;               /* bytes from row to row, rows from layer to layer; 0: adjacent */
    size_t width_in_bytes, height, depth;     /* bytes of a row, rows of a layer, layers */
} vmm_memcpy3d_peer;

/* What some copies of a batch have in common; CUmemcpyAttributes. */
typedef struct vmm_memcpy_attributes {
    vmm_memcpy_src_access_order src_access_order; /* VMM_MEMCPY_SRC_ACCESS_ORDER_; when the source is read: here, in the stream's turn */
    vmm_mem_location src_loc_hint, dst_loc_hint;  /* of managed memory; a location or type 0 */
    unsigned int flags;                           /* VMM_MEMCPY_FLAG_ */
} vmm_memcpy_attributes;

/* One side of a copy in a batch of boxes; CUmemcpy3DOperand. */
typedef struct vmm_memcpy3d_operand {
    vmm_memcpy3d_operand_type type; /* VMM_MEMCPY_OPERAND_TYPE_POINTER: arrays are not simulated */
    union {
        struct vmm_memcpy3d_operand_ptr {
            vmm_deviceptr ptr;                /* where the box begins, on a device or the host */
            size_t row_length, layer_height;  /* bytes from row to row, rows from layer to layer; 0: adjacent */
            vmm_mem_location loc_hint;        /* of managed memory; ignored */
        } ptr;
        struct vmm_memcpy3d_operand_array {
            void *array;
            size_t x, y, z;
        } array;
    } op;
} vmm_memcpy3d_operand;

/* A copy of a batch of boxes; CUDA_MEMCPY3D_BATCH_OP. Zero the struct first. */
typedef struct vmm_memcpy3d_batch_op {
    vmm_memcpy3d_operand src, dst;
    struct vmm_extent3d {
        size_t width, height, depth; /* bytes of a row, rows of a layer, layers */
    } extent;
    vmm_memcpy_src_access_order src_access_order;
    unsigned int flags; /* VMM_MEMCPY_FLAG_ */
} vmm_memcpy3d_batch_op;

/* A fill as a node of a graph; CUDA_MEMSET_NODE_PARAMS. */
typedef struct vmm_memset_node_params {
    vmm_deviceptr dst;         /* a multiple of element_size */
    size_t pitch;              /* bytes from one row to the next; ignored with one row */
    unsigned int value;        /* its lowest element_size bytes */
    unsigned int element_size; /* 1, 2 or 4 */
    size_t width;              /* elements in a row, 1 or more */
    size_t height;             /* rows, 1 or more */
} vmm_memset_node_params;

/* A host function as a node of a graph; CUDA_HOST_NODE_PARAMS. */
typedef struct vmm_host_node_params {
    vmm_host_fn fn;
    void *user_data;
} vmm_host_node_params;

/* A kernel as a node of a graph: the arguments of vmm_launch but the stream. Stands for CUDA_KERNEL_NODE_PARAMS, whose kernels
 * are functions of modules. */
typedef struct vmm_kernel_node_params {
    vmm_kernel kernel;
    unsigned int grid_dim;
    unsigned int block_dim;
    const uint64_t *args; /* the call has read them when it returns */
    uint64_t count;
} vmm_kernel_node_params;

/* What a dependency carries between two kernels, 0 for an ordinary one; CUgraphEdgeData. */
typedef struct vmm_graph_edge_data {
    unsigned char from_port;
    unsigned char to_port;
    unsigned char type;
    unsigned char reserved[5]; /* 0 */
} vmm_graph_edge_data;

/* ------------------------------------------------------------------------------------------- systems: open and close */

/* One process's view of a machine: address space, handles, contexts, streams. */
typedef struct vmm_system vmm_system;

/* Opens a system on the backend that spec names and stores it in *sys.
 *
 *   spec = [layer '|']... backend
 *   backend: sim                 the simulator with the profile h100
 *            sim:PROFILE         a built-in profile (cuvmm profiles lists them) or the path of a profile file
 *            sim:PROFILE,strict  documented rules that the recorded driver does not enforce are errors too
 *            sim:PROFILE,observed  the default: answer as the recorded driver, report such breaches as warnings
 *            sim:PROFILE,schedule=late|eager|random:SEED|device   when queued work runs: as late as the program's
 *                                synchronisation allows (the default), when it is issued, in an order chosen by SEED,
 *                                or on threads as on a device (docs/in-flight.md). Commas separate options
 *            sim:PROFILE,arena=auto|profile|none   whether device addresses are reserved in the host's address space:
 *                                at the profile's addresses, or elsewhere where those are taken (auto, the default);
 *                                at the profile's addresses only; not at all (docs/host-memory.md)
 *            sim:PROFILE,faults=explained|plain   whether cuvmm explains a forbidden host access to a device address
 *                                before the signal is delivered (the default), or does nothing about it
 *            sim:PROFILE,alias=fresh|stale:SEED   what a kernel reads through one address after it wrote the same
 *                                memory through another without a fence: the newest bytes (the default), or older
 *                                bytes at places that SEED chooses (docs/aliases.md)
 *            sim:PROFILE,machine=NAME   the machine of that name, shared by all processes of this user that open it: device
 *                                memory counts for all of them and can be exported and imported (docs/sharing.md). Letters,
 *                                digits, '-', '_' and '.', at most 40. Without it the environment's CUVMM_MACHINE, else
 *                                each system has a machine of its own
 *            sim:PROFILE,imex=DIR   IMEX channels for fabric handles: files channel0, channel1, ... in DIR; each call
 *                                takes the lowest that this process can read and write. Machines that name the same
 *                                folder are nodes of one NVLink domain (docs/fabric.md). No commas in DIR. Without it
 *                                the profile's fabric.imex decides
 *            sim:PROFILE,team_wait=SECONDS   how long a bind or a mapping of a multicast object waits for other processes to add
 *                                their devices: 0 to 3600, default 10 (docs/multicast.md)
 *            sim:PROFILE,kernels=refuse|skip   what a launch does through libcuda.so.1 whose kernel the loaded image holds and
 *                                no plugin has: it is refused (the default), or does nothing and is counted (docs/unmodified.md)
 *            sim:PROFILE,visible=LIST   the devices that the process sees, in this order, as 1:0; none; or env: those
 *                                that CUDA_VISIBLE_DEVICES names when vmm_init is called, as a driver reads it.
 *                                Without this option all: only libcuda.so.1 reads the variable by itself
 *            cuda                the machine's driver, libcuda.so.1 or the library that CUVMM_LIBCUDA names
 *            cuda:PATH           the same from the library at PATH (docs/cuda.md)
 *   layer:   trace=FILE          JSON lines, one per call, into FILE ("-" is standard error)
 *            fault=CALL:N[:RESULT][:forever]   the Nth CALL (by name; "any" counts every call) fails with RESULT
 *                                (default OUT_OF_MEMORY) without reaching the backend, once or from then on
 *            shadow[=nodes=N]    the simulator alongside the backend to its right, whose answers it returns, with the
 *                                rules' reasons
 *                                (backend_sim/shadow/shadow.h)
 *   The leftmost layer sees a call first.
 *
 * A NULL spec means the environment's CUVMM_BACKEND, or "sim:h100" where that is unset. A spec without layers gets
 * those of CUVMM_LAYERS (the same syntax, '|' between them), if set.
 * Returns VMM_ERROR_INVALID_VALUE [VMM-OPEN-ARGUMENT] for a malformed spec, VMM_ERROR_NOT_FOUND [VMM-OPEN-NOT-FOUND] for
 * an unknown backend, profile or layer, VMM_ERROR_NOT_SUPPORTED [VMM-OPEN-UNSUPPORTED] for a library that is not a driver,
 * VMM_ERROR_OPERATING_SYSTEM [VMM-OPEN-SYSTEM] for a file that cannot be opened, VMM_ERROR_OUT_OF_MEMORY
 * [VMM-SYSTEM-HOST-MEMORY]; *sys is then untouched and vmm_last_detail() holds the position and what was expected.
 * vmm_open makes no CUDA call: call vmm_init next. */
VMM_API vmm_result vmm_open(const char *spec, vmm_system **sys);

/* Opens a second process on the machine of sys: its own address space, handles and contexts, the same devices and
 * physical memory. Simulator only: VMM_ERROR_NOT_SUPPORTED [VMM-OPEN-UNSUPPORTED] elsewhere. Layers are not inherited. */
VMM_API vmm_result vmm_attach(vmm_system *sys, vmm_system **peer);

/* Ends the process: reports what it still holds (vmm_leaks) to the report function, then frees it.
 * NULL is ignored. Contexts, streams and handles of sys must not be used afterwards. */
VMM_API void vmm_close(vmm_system *sys);

/* --------------------------------------------------------------------------------------------- detail: why, what to do */

typedef enum vmm_severity {
    VMM_SEVERITY_NONE,    /* nothing to report */
    VMM_SEVERITY_WARNING, /* the call succeeded as on the recorded driver, but breaks a documented rule or is risky */
    VMM_SEVERITY_ERROR,   /* the call was refused */
    VMM_SEVERITY_LEAK,    /* at close: something is still held */
    VMM_SEVERITY_HINT     /* at close: not held by this process, but worth knowing */
} vmm_severity;

typedef enum vmm_object_kind {
    VMM_OBJECT_NONE,
    VMM_OBJECT_DEVICE,      /* start: total bytes, size: free bytes, value: ordinal */
    VMM_OBJECT_RESERVATION, /* R1, R2, ... */
    VMM_OBJECT_MAPPING,     /* M1, M2, ... */
    VMM_OBJECT_HANDLE,      /* H1, H2, ... physical memory as one handle names it, or a multicast object */
    VMM_OBJECT_ALLOCATION,  /* A1, A2, ... memory from vmm_mem_alloc */
    VMM_OBJECT_CONTEXT,     /* C1, C2, ... */
    VMM_OBJECT_STREAM,      /* S1, S2, ... */
    VMM_OBJECT_EVENT,       /* E1, E2, ... */
    VMM_OBJECT_BIND,        /* B1, B2, ... memory of one device bound to a multicast object */
    VMM_OBJECT_POOL         /* P1, P2, ... a memory pool: size is its physical memory */
} vmm_object_kind;

#define VMM_MAX_DEVICES 31 /* of one machine */

/* An object of the simulator as it is, or as it was when it ended. Each call is named by its ordinal in the system. */
typedef struct vmm_object {
    vmm_object_kind kind;
    uint32_t number;       /* 3 in R3; counted per kind from 1 in order of creation */
    uint64_t start, size;  /* address range of a reservation, mapping or allocation; size alone of a handle; of a bind
                              its range in the multicast object */
    uint64_t value;        /* the handle's, context's, stream's or event's value */
    uint64_t handle;       /* of a mapping: the value of the handle that was mapped; of a bind: the multicast object's */
    uint32_t handle_number;
    uint64_t offset;       /* of a mapping or bind: where in the physical memory it starts */
    vmm_mem_location location; /* of a handle, mapping, allocation or bind: where the memory is; INVALID for a
                                  multicast object and its mappings, which have none of their own */
    uint64_t access;       /* of a mapping: see vmm_object_access() */
    uint32_t references;   /* of a handle: creations and retains not yet released */
    uint32_t mappings;     /* of a handle: mappings that hold it */
    uint64_t block;        /* of a handle, mapping or bind: id of the physical memory, shared by handles that alias */
    uint32_t team;         /* of a multicast object: size of its complete team; 0: not a multicast object */
    uint32_t devices;      /* of a multicast object: those added so far, one bit each */
    uint32_t binds;        /* of a multicast object: what is bound to it; of memory: binds that hold it */
    uint64_t created, ended;                       /* ordinal of the call; ended is 0 while it lives */
    const char *created_by, *ended_by;             /* that call's driver name; NULL while it lives */
} vmm_object;

/* The rights of a location on a mapping object: VMM_MEM_ACCESS_FLAGS_PROT_. HOST and HOST_NUMA are one location. */
VMM_API vmm_mem_access_flags vmm_object_access(const vmm_object *mapping, vmm_mem_location location);

/* An access by device work or by the host that was not allowed, with the state at that moment. */
typedef struct vmm_fault {
    int device;            /* that made the access; -1: the host, without kernel, launch and argument */
    vmm_kernel kernel;     /* -1 for a copy or fill in flight */
    uint64_t launch;       /* ordinal of the call that launched or issued it */
    uint64_t address;      /* of the first byte of the access */
    uint32_t size;         /* bytes of the access; 1 for a copy or fill */
    uint32_t rights;       /* of the device at address: VMM_MEM_ACCESS_FLAGS_PROT_ */
    int mapped;            /* something is mapped at address */
    int writes;            /* the access writes, or adds */
    const char *argument;  /* the kernel's argument at or nearest below address, NULL if there is none */
    uint64_t offset;       /* bytes from that argument */
    vmm_object before;     /* the mapping or allocation that ends nearest before address, and the one that starts */
    vmm_object after;      /* nearest after it; kind NONE where there is none */
    vmm_object past;       /* the mapping that was at address earlier, if nothing is there now */
} vmm_fault;

/* Why the thread's last call was refused or drew a warning. Valid until the thread's next call. */
typedef struct vmm_detail {
    vmm_result result;
    vmm_severity severity;
    const char *rule;      /* "VMM-MAP-OVERLAP", or NULL */
    const char *function;  /* the driver's name, "cuMemMap" */
    uint64_t call;         /* ordinal of the call in its system */
    const char *argument;  /* the parameter at fault in the driver's spelling, or NULL */
    uint64_t value;        /* its value */
    uint64_t expected;     /* what the rule compares with (a granularity, a limit, a size), 0 if there is none */
    vmm_object nearest;    /* the object that explains it; kind NONE if there is none */
    char note[240];        /* text specific to this call, "" where the rule's text suffices */
    const vmm_fault *fault; /* for the rules VMM-FAULT-... and VMM-HOST-ACCESS: the access; otherwise, and where the
                               backend does not know it, NULL. Valid as long as the detail */
} vmm_detail;

/* Never NULL; severity is VMM_SEVERITY_NONE after a call with nothing to report. */
VMM_API const vmm_detail *vmm_last_detail(void);

/* Writes detail as text of several lines (what, argument, nearest object and its history, rule, fix) into buffer,
 * truncated to size with a final 0. Returns the length of the whole text, as snprintf does. */
VMM_API size_t vmm_detail_text(const vmm_detail *detail, char *buffer, size_t size);

/* Called for every detail of sys (refusals, warnings, leaks) on the thread of the call, after the call's effect and
 * outside the system's locks; the function may make calls on sys. NULL removes it. One per system. */
typedef void (*vmm_report_fn)(void *user, const vmm_detail *detail);
VMM_API void vmm_set_report(vmm_system *sys, vmm_report_fn report, void *user);

/* Reports what is still held: one detail of severity LEAK for each live reservation, mapping, handle, allocation,
 * context, stream and event, with the call that made it and what pins it. Returns how many. report may be NULL to
 * count. For shared memory the detail names the exporter, or the other holders. After the leaks comes a detail of
 * severity HINT [VMM-LEAK-ELSEWHERE] for each memory that this process exported and released and that others still
 * hold; hints are not counted. If this process itself has a descriptor of it open, that is a leak
 * [VMM-LEAK-DESCRIPTOR]. */
VMM_API uint64_t vmm_leaks(vmm_system *sys, vmm_report_fn report, void *user);

/* Calls visit for every live object of the simulator, in the order of kinds above and by address or number within a
 * kind. visit must not call the system. Returns VMM_ERROR_NOT_SUPPORTED on backends that cannot enumerate. */
typedef void (*vmm_visit_fn)(void *user, const vmm_object *object);
VMM_API vmm_result vmm_visit(vmm_system *sys, vmm_visit_fn visit, void *user);

/* "CUDA_ERROR_INVALID_VALUE"; "unrecognized error code" for a number that is not listed. Never NULL. */
VMM_API const char *vmm_result_name(vmm_result result);
/* A short description in our words. Never NULL. */
VMM_API const char *vmm_result_text(vmm_result result);

/* --------------------------------------------------------------------------------------------------------------- rules */

typedef enum vmm_rule_class {
    VMM_RULE_ARGUMENT, /* wrong in any state */
    VMM_RULE_STATE,    /* wrong in this state */
    VMM_RULE_LIFETIME, /* the object still exists, or no longer does */
    VMM_RULE_LIMIT,    /* memory, address space, capabilities */
    VMM_RULE_HAZARD    /* allowed, and likely a mistake */
} vmm_rule_class;

typedef enum vmm_rule_origin {
    VMM_ORIGIN_DOCUMENTED, /* the documentation says so */
    VMM_ORIGIN_OBSERVED,   /* a recorded driver does so; the documentation is silent or differs */
    VMM_ORIGIN_OURS        /* this project's choice */
} vmm_rule_origin;

typedef enum vmm_rule_behaviour {
    VMM_DRIVER_UNKNOWN, /* not measured */
    VMM_DRIVER_REJECTS,
    VMM_DRIVER_ACCEPTS, /* accepts it: a warning in observed mode, an error in strict mode */
    VMM_DRIVER_CRASHES, /* the process dies; the simulator returns VMM_ERROR_INVALID_VALUE and reports it */
    VMM_DRIVER_VARIES
} vmm_rule_behaviour;

typedef struct vmm_rule {
    const char *id;        /* permanent, never reused */
    const char *function;  /* the driver's name of the call it belongs to, or a family ("memcpy", "any") */
    const char *argument;
    vmm_result result;     /* what a refusal returns */
    vmm_rule_class rule_class;
    vmm_rule_origin origin;
    vmm_rule_behaviour driver_580; /* what driver 580.159.04 does */
    const char *needs;     /* capability a machine needs for the rule to matter, "" for none */
    const char *documents; /* what the documentation says, in our words, and where: "" when it is silent */
    const char *observed;  /* what was measured, and on what: "" when nothing was */
    const char *message;   /* one line: what is wrong */
    const char *explanation;
    const char *way_out;
} vmm_rule;

/* All rules in the order in which each call checks them. */
VMM_API const vmm_rule *vmm_rules(size_t *count);
/* NULL when there is no such id. */
VMM_API const vmm_rule *vmm_rule_find(const char *id);

/* --------------------------------------------------------------------------------------- initialisation and devices */

/* Initialises the driver in this process; calling it again does nothing. flags must be 0.
 * INVALID_VALUE [VMM-INIT-FLAGS]. cuInit; cuda.h 13.0, cuInit. */
VMM_API vmm_result vmm_init(vmm_system *sys, unsigned int flags);

/* The newest version of CUDA that the driver knows: 1000 times its major number plus 10 times its minor one. Works
 * before vmm_init, in forked children and inside host functions, too (580). INVALID_VALUE [VMM-DEVICE-NULL].
 * cuDriverGetVersion; cuda.h 13.0. */
VMM_API vmm_result vmm_driver_get_version(vmm_system *sys, int *driver_version);

/* How many devices the machine has. INVALID_VALUE [VMM-DEVICE-NULL]. cuDeviceGetCount. */
VMM_API vmm_result vmm_device_get_count(vmm_system *sys, int *count);

/* The device with an ordinal in 0 .. count - 1. INVALID_VALUE [VMM-DEVICE-NULL], INVALID_DEVICE [VMM-DEVICE-ID].
 * cuDeviceGet. */
VMM_API vmm_result vmm_device_get(vmm_system *sys, vmm_device *device, int ordinal);

/* The device's name, cut to len bytes with a final 0; a negative len means no limit (580). INVALID_VALUE
 * [VMM-DEVICE-NULL], INVALID_DEVICE [VMM-DEVICE-ID], INVALID_VALUE [VMM-DEVICE-NAME-LENGTH] for 0. cuDeviceGetName. */
VMM_API vmm_result vmm_device_get_name(vmm_system *sys, char *name, int len, vmm_device dev);

/* An attribute of the device; see VMM_DEVICE_ATTRIBUTE_. Checked in this order: INVALID_VALUE [VMM-DEVICE-NULL],
 * INVALID_DEVICE [VMM-DEVICE-ID], INVALID_VALUE [VMM-DEVICE-ATTRIBUTE]. cuDeviceGetAttribute. */
VMM_API vmm_result vmm_device_get_attribute(vmm_system *sys, int *pi, vmm_device_attribute attrib, vmm_device dev);

/* Bytes of physical memory of the device. INVALID_VALUE [VMM-DEVICE-NULL], INVALID_DEVICE [VMM-DEVICE-ID] (0 written).
 * cuDeviceTotalMem. */
VMM_API vmm_result vmm_device_total_mem(vmm_system *sys, uint64_t *bytes, vmm_device dev);

/* 1 when work on dev can be given access to memory of peer_dev, else 0; 0 for a device and itself.
 * INVALID_VALUE [VMM-DEVICE-NULL], INVALID_DEVICE [VMM-DEVICE-ID]. cuDeviceCanAccessPeer. */
VMM_API vmm_result vmm_device_can_access_peer(vmm_system *sys, int *can_access_peer, vmm_device dev,
                                              vmm_device peer_dev);

/* ---------------------------------------------------------------------------------------------- contexts and streams
 * Only copies, fills, streams, vmm_mem_get_info, vmm_mem_alloc and some queries need a current context. The calls
 * that manage physical memory, addresses, mappings and rights need none, and their objects outlive every context.
 *
 * In-flight work: launches, and copies and fills with _async, are issued on a stream and run at some time before a
 * call has waited for them. Work on one stream runs in order. The default stream of a context is ordered with the
 * context's other streams except those that are VMM_STREAM_NON_BLOCKING: its work waits for what was issued on them
 * before, and theirs waits for its. VMM_STREAM_PER_THREAD is a non-blocking stream for each thread and context.
 *
 *   default stream   ......... C .........        A and B may run together, C after both, D and E after C
 *   blocking         A .............. D ..
 *   blocking         ..... B ........... E        F at any time
 *   non-blocking     ...... F ............
 *
 *   call                                            waits for
 *   vmm_ctx_synchronize                             all work of the current context
 *   vmm_stream_synchronize                          that stream's; for the default stream all that it is ordered with
 *   copies and fills without _async                 as the default stream, and they are done when they return
 *   vmm_memcpy_dtoh_async                           what is ordered before it, and it is done when it returns
 *   vmm_mem_free                                    all work on the device of the memory
 *   vmm_ctx_destroy, the last                       all work of that context (580; of the others: ours)
 *   vmm_device_primary_ctx_release, ..._reset
 *   everything else                                 nothing; vmm_stream_query lets work proceed
 *
 * On the simulator the spec's schedule decides when work runs. By default that is as late as possible, so a missing
 * wait shows every time (docs/in-flight.md). Observed (580): fills without _async return before they are done, so
 * unmapping after one without synchronising is a mistake there that the simulator does not show. */

/* The device's primary context, made on first use and counted. INVALID_VALUE [VMM-CTX-NULL], INVALID_DEVICE
 * [VMM-DEVICE-ID]. cuDevicePrimaryCtxRetain. */
VMM_API vmm_result vmm_device_primary_ctx_retain(vmm_system *sys, vmm_context *pctx, vmm_device dev);

/* Undoes one retain; the last one ends the primary context (retaining again revives it). INVALID_DEVICE
 * [VMM-DEVICE-ID], INVALID_CONTEXT [VMM-CTX-PRIMARY-UNUSED]. cuDevicePrimaryCtxRelease. */
VMM_API vmm_result vmm_device_primary_ctx_release(vmm_system *sys, vmm_device dev);

/* Waits for the primary context's work, then destroys what it holds (streams, events, vmm_mem_alloc memory) and ends it
 * until the next retain, which gives the same value; retains made before still count. Mappings, rights and data of
 * virtual memory management stay. INVALID_DEVICE [VMM-DEVICE-ID]. cuDevicePrimaryCtxReset. */
VMM_API vmm_result vmm_device_primary_ctx_reset(vmm_system *sys, vmm_device dev);

/* A new context on dev, current on the calling thread. flags: scheduling bits, 0 .. 0x1ff as in cuda.h, no effect on
 * the simulator. INVALID_VALUE [VMM-CTX-NULL, VMM-CTX-FLAGS], INVALID_DEVICE [VMM-DEVICE-ID]. cuCtxCreate. */
VMM_API vmm_result vmm_ctx_create(vmm_system *sys, vmm_context *pctx, unsigned int flags, vmm_device dev);

/* Waits for a context's work, then ends it with its streams, events and vmm_mem_alloc memory; virtual memory management
 * objects stay. If it is the calling thread's current context, the one before its creation becomes current again.
 * INVALID_VALUE [VMM-CTX-NULL], INVALID_CONTEXT [VMM-CTX-FORGED, VMM-CTX-UNKNOWN]. cuCtxDestroy. */
VMM_API vmm_result vmm_ctx_destroy(vmm_system *sys, vmm_context ctx);

/* Makes ctx the calling thread's current context in place of the previous one. NULL removes that one, and the one
 * before it (of nested vmm_ctx_create) is current again. A destroyed context is accepted (580); calls that need it
 * then return CONTEXT_IS_DESTROYED [VMM-CTX-DESTROYED], where without a context they return INVALID_CONTEXT
 * [VMM-CTX-CURRENT]. INVALID_CONTEXT [VMM-CTX-FORGED]. cuCtxSetCurrent. */
VMM_API vmm_result vmm_ctx_set_current(vmm_system *sys, vmm_context ctx);

/* The calling thread's current context, NULL when it has none. INVALID_VALUE [VMM-CTX-NULL]. cuCtxGetCurrent. */
VMM_API vmm_result vmm_ctx_get_current(vmm_system *sys, vmm_context *pctx);

/* The device of the current context. INVALID_VALUE [VMM-CTX-NULL], INVALID_CONTEXT [VMM-CTX-CURRENT].
 * cuCtxGetDevice. */
VMM_API vmm_result vmm_ctx_get_device(vmm_system *sys, vmm_device *device);

/* Waits for all work of the current context. INVALID_CONTEXT [VMM-CTX-CURRENT]; ILLEGAL_ADDRESS, LAUNCH_FAILED for
 * work that faulted, see "kernels". cuCtxSynchronize. */
VMM_API vmm_result vmm_ctx_synchronize(vmm_system *sys);

/* A new stream of the current context. flags: VMM_STREAM_DEFAULT or VMM_STREAM_NON_BLOCKING. INVALID_VALUE
 * [VMM-STREAM-NULL, VMM-STREAM-FLAGS], INVALID_CONTEXT [VMM-CTX-CURRENT] (all bits 1 written). cuStreamCreate. */
VMM_API vmm_result vmm_stream_create(vmm_system *sys, vmm_stream *stream, unsigned int flags);

/* Destroys a stream at once; work already issued still runs. INVALID_HANDLE [VMM-STREAM-DEFAULT, VMM-STREAM-UNKNOWN].
 * cuStreamDestroy. */
VMM_API vmm_result vmm_stream_destroy(vmm_system *sys, vmm_stream stream);

/* Waits for the stream's work. NULL and VMM_STREAM_LEGACY are the current context's default stream,
 * VMM_STREAM_PER_THREAD the thread's own. INVALID_HANDLE [VMM-STREAM-UNKNOWN], INVALID_CONTEXT [VMM-CTX-CURRENT].
 * cuStreamSynchronize. */
VMM_API vmm_result vmm_stream_synchronize(vmm_system *sys, vmm_stream stream);

/* SUCCESS when the work that vmm_stream_synchronize would wait for is done, else NOT_READY. The simulator then does
 * some of it, so that polling ends. Errors as for vmm_stream_synchronize. cuStreamQuery. */
VMM_API vmm_result vmm_stream_query(vmm_system *sys, vmm_stream stream);

/* ------------------------------------------------------------------------------------------------------------- events
 *
 * An event stands for the work of a stream at the moment when it was recorded there.
 *
 *   stream A   fill F   record E   launch K              E stands for F; waiting for E does not wait for K
 *   stream B            wait E     launch L              L runs after F, and at any time relative to K
 *   host                           event_synchronize E   F is done, and the host knows: it may unmap what F used
 *
 * Recording again moves the event; a wait issued before still waits for the earlier work. An event that was never
 * recorded stands for no work, so it is always complete. On the default stream a record stands for all that the
 * default stream waits for. Elapsed times (cuEventElapsedTime) are not available here: a trace could not repeat them.
 *
 * After a fault (see "kernels") a wait for work that it stopped reports it. The other calls succeed until the fault
 * was reported (580), and then return its error. cuda.h 13.0, event management; docs/in-flight.md. */

/* A new event of the current context, without work. flags: any of VMM_EVENT_BLOCKING_SYNC, DISABLE_TIMING and, with
 * DISABLE_TIMING only, INTERPROCESS; on the simulator they change nothing. INVALID_CONTEXT [VMM-CTX-CURRENT], then
 * INVALID_VALUE [VMM-EVENT-NULL, VMM-EVENT-FLAGS, VMM-EVENT-INTERPROCESS]. cuEventCreate. */
VMM_API vmm_result vmm_event_create(vmm_system *sys, vmm_event *event, unsigned int flags);

/* Destroys an event at once, even if its work is not done: the work continues, and so do the streams that wait for
 * it. INVALID_HANDLE [VMM-EVENT-NONE, VMM-EVENT-UNKNOWN], CONTEXT_IS_DESTROYED [VMM-EVENT-ENDED]: events end with
 * their context. cuEventDestroy. */
VMM_API vmm_result vmm_event_destroy(vmm_system *sys, vmm_event event);

/* From now on the event stands for the stream's work up to here, whatever it stood for before. Event and stream
 * belong to the same context; NULL and VMM_STREAM_LEGACY are the current context's default stream. Checked in this
 * order: INVALID_CONTEXT [VMM-CTX-CURRENT], INVALID_HANDLE [VMM-STREAM-UNKNOWN, VMM-EVENT-NONE, VMM-EVENT-UNKNOWN] or
 * CONTEXT_IS_DESTROYED [VMM-EVENT-ENDED], INVALID_HANDLE [VMM-EVENT-CONTEXT]. cuEventRecord. */
VMM_API vmm_result vmm_event_record(vmm_system *sys, vmm_event event, vmm_stream stream);

/* SUCCESS when the event's work is done, which then counts as waited for, as after vmm_event_synchronize; else
 * NOT_READY. The simulator then does some of it, so that polling ends. Errors as for vmm_event_synchronize.
 * cuEventQuery. */
VMM_API vmm_result vmm_event_query(vmm_system *sys, vmm_event event);

/* Waits for the event's work on any stream, context and device, but not for what came after the record. Needs no
 * current context. INVALID_HANDLE [VMM-EVENT-NONE, VMM-EVENT-UNKNOWN], CONTEXT_IS_DESTROYED [VMM-EVENT-ENDED].
 * cuEventSynchronize. */
VMM_API vmm_result vmm_event_synchronize(vmm_system *sys, vmm_event event);

/* Work issued on the stream from now on runs after the work that the event stands for now. The host does not wait,
 * and no work counts as waited for. The event may belong to another context or device, or to the same stream. flags 0
 * (VMM_EVENT_WAIT_DEFAULT). Checked in this order: INVALID_CONTEXT [VMM-CTX-CURRENT], INVALID_HANDLE
 * [VMM-STREAM-UNKNOWN], ILLEGAL_STATE [VMM-EVENT-WAIT-EXTERNAL], INVALID_VALUE [VMM-EVENT-WAIT-FLAGS], INVALID_HANDLE
 * [VMM-EVENT-NONE, VMM-EVENT-UNKNOWN], CONTEXT_IS_DESTROYED [VMM-EVENT-ENDED]. cuStreamWaitEvent. */
VMM_API vmm_result vmm_stream_wait_event(vmm_system *sys, vmm_stream stream, vmm_event event, unsigned int flags);

/* ------------------------------------------------------------------------------------------- stream memory operations
 * Values that a stream writes to memory in its turn, or waits for, without a kernel.
 *
 *   stream A   wait until *p == 1 . . . . . . . . . . . . |   fill F         F after the write of B
 *   stream B   copy C      write 1 to *p                  ^
 *
 * A wait holds up the later work of its stream, until anything has made the memory hold the value: an operation, copy, fill or
 * kernel of another stream, or a store of the host where the host can write the memory. The order that this gives is not known to
 * calls and events: work that comes after a wait is in flight like any other.
 *
 * The memory may be of vmm_mem_alloc or mapped, of the device or the host. It is looked up at the call: INVALID_VALUE
 * [VMM-MEMOP-ADDRESS, VMM-MEMOP-NO-ACCESS]; and again in the stream's turn, with the rights of that time: memory without them is a
 * fault, LAUNCH_FAILED [VMM-FAULT-MEMOP]. A wait whose turn has come faults as soon as its memory is unmapped. A write to memory
 * that the device may only read is accepted at the call [VMM-MEMOP-READ-ONLY] and faults (580).
 *
 * Nothing on a device announces that a wait never ends. Here a call that waits for such a stream returns NOT_READY
 * [VMM-MEMOP-NEVER] and keeps the work, once no work that could write the value is left and no other thread or process is there to
 * do it; with schedule=device it waits for ever, as on a driver.
 *
 * Checked in this order: INVALID_CONTEXT [VMM-CTX-CURRENT], INVALID_HANDLE [VMM-STREAM-UNKNOWN], the fault of the device,
 * INVALID_VALUE [VMM-MEMOP-FLAGS], NOT_SUPPORTED [VMM-MEMOP-UNSUPPORTED], INVALID_VALUE [VMM-MEMOP-ALIGNMENT] and then the memory.
 * Inside a host function NOT_PERMITTED on a default stream [VMM-HOSTFUNC-CALL], and a warning on others [VMM-HOSTFUNC-WORK]. */

/* Writes value to addr, of 4 or 8 bytes, of which addr is a multiple. flags is 0; VMM_STREAM_WRITE_VALUE_NO_MEMORY_BARRIER is
 * documented, and refused (580). cuStreamWriteValue32, cuStreamWriteValue64. */
VMM_API vmm_result vmm_stream_write_value32(vmm_system *sys, vmm_stream stream, vmm_deviceptr addr, uint32_t value,
                                            unsigned int flags);
VMM_API vmm_result vmm_stream_write_value64(vmm_system *sys, vmm_stream stream, vmm_deviceptr addr, uint64_t value,
                                            unsigned int flags);

/* Holds up the stream's later work until the value at addr compares with value as flags say: one of VMM_STREAM_WAIT_VALUE_GEQ, _EQ,
 * _AND, _NOR. cuStreamWaitValue32, cuStreamWaitValue64. */
VMM_API vmm_result vmm_stream_wait_value32(vmm_system *sys, vmm_stream stream, vmm_deviceptr addr, uint32_t value,
                                           unsigned int flags);
VMM_API vmm_result vmm_stream_wait_value64(vmm_system *sys, vmm_stream stream, vmm_deviceptr addr, uint64_t value,
                                           unsigned int flags);

/* Does count operations, 255 at most, in the order of the list. All are checked before any is queued; a list that is refused
 * has no effect. flags is 0. The call has read the list when it returns. INVALID_VALUE [VMM-MEMOP-COUNT, VMM-MEMOP-BATCH-FLAGS,
 * VMM-MEMOP-NULL], and of each entry [VMM-MEMOP-OPERATION] and what a single operation is refused by. cuStreamBatchMemOp. */
VMM_API vmm_result vmm_stream_batch_mem_op(vmm_system *sys, vmm_stream stream, unsigned int count,
                                           const vmm_stream_batch_mem_op_params *param_array, unsigned int flags);

/* --------------------------------------------------------------------------------------------------- captured streams
 * Between its begin and its end, a captured stream does no work: each asynchronous call becomes a node of a graph.
 *
 *   stream A   begin   fill F    record E    kernel K            wait G   end -> graph   F > K     F > H    K > end
 *   stream B                     wait E      host function H     record G
 *
 * A stream that waits for an event of a captured one joins the capture. The capture ends with the stream that began it, which
 * must have waited for the work of all others. A call that is refused because of a capture invalidates it: the calls that follow
 * are refused [VMM-CAPTURE-INVALIDATED], and its end gives no graph.
 *
 * Refused with STREAM_CAPTURE_UNSUPPORTED [VMM-CAPTURE-FORBIDS]: waiting for or querying a captured stream, waiting for the
 * context, and, but for the mode RELAXED, calls that might wait: vmm_mem_alloc, vmm_mem_free, queries, instantiations. With
 * STREAM_CAPTURE_IMPLICIT [VMM-CAPTURE-IMPLICIT]: the default stream, while a stream that is ordered with it is captured. Calls of
 * virtual memory management are made as usual (580). Allocations and frees in the order of a stream become
 * nodes as well: the graph keeps their addresses, and a launch allocates and frees [VMM-GRAPH-MEMORY-FREE, VMM-GRAPH-MEMORY-LIVE,
 * VMM-GRAPH-MEMORY-FULL, VMM-GRAPH-MEMORY-KIND]; what may be done with such a graph is limited [VMM-GRAPH-MEMORY-FIXED]. Copies of
 * boxes become nodes, but no batches, nor copies between contexts, which are refused as a query of the stream is. */

/* Begins to capture the stream. mode is VMM_STREAM_CAPTURE_MODE_. STREAM_CAPTURE_UNSUPPORTED for the default stream
 * [VMM-CAPTURE-DEFAULT], INVALID_HANDLE [VMM-STREAM-UNKNOWN], INVALID_VALUE [VMM-CAPTURE-MODE], ILLEGAL_STATE
 * [VMM-CAPTURE-STATE], the fault of the device. cuStreamBeginCapture. */
VMM_API vmm_result vmm_stream_begin_capture(vmm_system *sys, vmm_stream stream, vmm_stream_capture_mode mode);

/* The same into a graph that is there, behind these nodes of it. The graph ends with a capture that does not succeed (580).
 * INVALID_VALUE also for what is no graph, or a node's [VMM-GRAPH-UNKNOWN], or no node of it [VMM-GRAPH-NODE], [VMM-GRAPH-NULL],
 * ILLEGAL_STATE for a graph that another stream is captured into [VMM-CAPTURE-STATE]. dependency_data is not looked at.
 * cuStreamBeginCaptureToGraph. */
VMM_API vmm_result vmm_stream_begin_capture_to_graph(vmm_system *sys, vmm_stream stream, vmm_graph graph,
                                                     const vmm_graph_node *dependencies,
                                                     const vmm_graph_edge_data *dependency_data, uint64_t num_dependencies,
                                                     vmm_stream_capture_mode mode);

/* Ends the capture, whatever it answers but for [VMM-CAPTURE-UNMATCHED], and stores its graph, which is the program's to destroy;
 * NULL where it refuses. With graph NULL the graph is dropped. INVALID_HANDLE [VMM-STREAM-UNKNOWN], ILLEGAL_STATE
 * [VMM-CAPTURE-STATE], STREAM_CAPTURE_WRONG_THREAD [VMM-CAPTURE-THREAD], STREAM_CAPTURE_UNMATCHED [VMM-CAPTURE-UNMATCHED],
 * STREAM_CAPTURE_INVALIDATED [VMM-CAPTURE-INVALIDATED], STREAM_CAPTURE_UNJOINED [VMM-CAPTURE-UNJOINED]. cuStreamEndCapture. */
VMM_API vmm_result vmm_stream_end_capture(vmm_system *sys, vmm_stream stream, vmm_graph *graph);

/* Stores VMM_STREAM_CAPTURE_STATUS_. INVALID_VALUE [VMM-GRAPH-NULL], INVALID_CONTEXT [VMM-CTX-CURRENT], INVALID_HANDLE
 * [VMM-STREAM-UNKNOWN]. cuStreamIsCapturing. */
VMM_API vmm_result vmm_stream_is_capturing(vmm_system *sys, vmm_stream stream, vmm_stream_capture_status *capture_status);

/* What the next work of a captured stream comes after: these nodes of its graph besides what it has reached (flags 0), or instead of
 * it (VMM_STREAM_SET_CAPTURE_DEPENDENCIES). INVALID_VALUE [VMM-GRAPH-FLAGS, VMM-GRAPH-NULL, VMM-GRAPH-EDGE, VMM-GRAPH-NODE], INVALID_HANDLE
 * [VMM-STREAM-UNKNOWN], ILLEGAL_STATE [VMM-CAPTURE-STATE], [VMM-CAPTURE-INVALIDATED]. dependency_data is not looked at.
 * cuStreamUpdateCaptureDependencies. */
VMM_API vmm_result vmm_stream_update_capture_dependencies(vmm_system *sys, vmm_stream stream, const vmm_graph_node *dependencies,
                                                          const vmm_graph_edge_data *dependency_data, uint64_t num_dependencies,
                                                          unsigned int flags);

/* ------------------------------------------------------------------------------------------- graphs and their nodes
 * A graph holds work that was not issued yet, and in which order. Each node depends on nodes of the same graph.
 *
 *   vmm_graph_add_memset_node(&f, g, NULL, 0, &fill, ctx)      f          its memory is looked at now ...
 *   vmm_graph_add_host_node(&h, g, &f, 1, &host)               f > h
 *   vmm_graph_instantiate(&x, g, 0)                            x: a copy  ... and again
 *   vmm_graph_launch(x, stream)                                           ... and when the stream comes to the fill
 *
 * What counts is the last of these: a launch uses the mappings and rights of its time. Memory that was unmapped and mapped anew
 * after the instantiation is used without complaint, and memory that is not there then is a fault (580).
 *
 * A list of num_dependencies nodes, which may be NULL when that is 0, says what a new node depends on. Refused alike, with
 * INVALID_VALUE: a NULL that the call needs [VMM-GRAPH-NULL], a value that is not a graph [VMM-GRAPH-UNKNOWN] or not a node of it
 * [VMM-GRAPH-NODE], a node twice in the list or more than the graph has [VMM-GRAPH-EDGE]. Nothing has changed then. */

/* An empty graph. flags is 0. INVALID_VALUE [VMM-GRAPH-FLAGS]. cuGraphCreate. */
VMM_API vmm_result vmm_graph_create(vmm_system *sys, vmm_graph *graph, unsigned int flags);
/* Ends the graph with its nodes; instances of it stay. INVALID_VALUE [VMM-GRAPH-UNKNOWN], ILLEGAL_STATE [VMM-CAPTURE-STATE] while
 * a stream is being captured into it. cuGraphDestroy. */
VMM_API vmm_result vmm_graph_destroy(vmm_system *sys, vmm_graph graph);
/* A copy with nodes and dependencies of its own. cuGraphClone. */
VMM_API vmm_result vmm_graph_clone(vmm_system *sys, vmm_graph *graph_clone, vmm_graph original_graph);

/* A node that does nothing, and that other nodes may depend on. cuGraphAddEmptyNode. */
VMM_API vmm_result vmm_graph_add_empty_node(vmm_system *sys, vmm_graph_node *graph_node, vmm_graph graph,
                                            const vmm_graph_node *dependencies, uint64_t num_dependencies);
/* A fill in context ctx or, for NULL, the current one; but mapped memory of a device belongs to no context, so a fill of it names
 * one: INVALID_VALUE [VMM-GRAPH-PARAMS], whatever context is current (580). CONTEXT_IS_DESTROYED [VMM-CTX-ENDED]; where the context
 * ends later a launch is done all the same, but an H100 once did not come back from that. The fault of the current context's
 * device. INVALID_VALUE [VMM-GRAPH-PARAMS, VMM-SET-ALIGNMENT], and like vmm_memset_d8 for the memory. cuGraphAddMemsetNode. */
VMM_API vmm_result vmm_graph_add_memset_node(vmm_system *sys, vmm_graph_node *graph_node, vmm_graph graph,
                                             const vmm_graph_node *dependencies, uint64_t num_dependencies,
                                             const vmm_memset_node_params *memset_params, vmm_context ctx);
/* A copy of a box in context ctx or, for NULL, the current one. INVALID_VALUE [VMM-GRAPH-NULL, VMM-GRAPH-PARAMS]: something is to be
 * copied; CONTEXT_IS_DESTROYED [VMM-CTX-ENDED], the fault of the current context's device, and like vmm_memcpy_3d for the memory, of
 * which the host's is read and written when a launch comes to it. cuGraphAddMemcpyNode. */
VMM_API vmm_result vmm_graph_add_memcpy_node(vmm_system *sys, vmm_graph_node *graph_node, vmm_graph graph,
                                             const vmm_graph_node *dependencies, uint64_t num_dependencies,
                                             const vmm_memcpy3d *copy_params, vmm_context ctx);
/* A host function, which is called as by vmm_launch_host_func. INVALID_VALUE [VMM-HOSTFUNC-NULL]. cuGraphAddHostNode. */
VMM_API vmm_result vmm_graph_add_host_node(vmm_system *sys, vmm_graph_node *graph_node, vmm_graph graph,
                                           const vmm_graph_node *dependencies, uint64_t num_dependencies,
                                           const vmm_host_node_params *node_params);
/* A kernel of this library; refused like vmm_launch. cuGraphAddKernelNode. */
VMM_API vmm_result vmm_graph_add_kernel_node(vmm_system *sys, vmm_graph_node *graph_node, vmm_graph graph,
                                             const vmm_graph_node *dependencies, uint64_t num_dependencies,
                                             const vmm_kernel_node_params *node_params);
/* A copy of child_graph as one node. INVALID_VALUE [VMM-GRAPH-PARAMS] for the graph itself, and one that it lies in.
 * cuGraphAddChildGraphNode. */
VMM_API vmm_result vmm_graph_add_child_graph_node(vmm_system *sys, vmm_graph_node *graph_node, vmm_graph graph,
                                                  const vmm_graph_node *dependencies, uint64_t num_dependencies,
                                                  vmm_graph child_graph);
/* Records the event, or waits for what it stands for, when a launch comes to the node; an event that was destroyed since is left
 * out (580). INVALID_HANDLE [VMM-EVENT-UNKNOWN]. cuGraphAddEventRecordNode, cuGraphAddEventWaitNode. */
VMM_API vmm_result vmm_graph_add_event_record_node(vmm_system *sys, vmm_graph_node *graph_node, vmm_graph graph,
                                                   const vmm_graph_node *dependencies, uint64_t num_dependencies,
                                                   vmm_event event);
VMM_API vmm_result vmm_graph_add_event_wait_node(vmm_system *sys, vmm_graph_node *graph_node, vmm_graph graph,
                                                 const vmm_graph_node *dependencies, uint64_t num_dependencies,
                                                 vmm_event event);
/* Removes the node and its dependencies. INVALID_VALUE [VMM-GRAPH-NODE]. cuGraphDestroyNode. */
VMM_API vmm_result vmm_graph_destroy_node(vmm_system *sys, vmm_graph_node node);

/* Makes to[i] depend on from[i]. edge_data may be NULL: all 0. INVALID_VALUE [VMM-GRAPH-EDGE] for a node and itself, for what is
 * there already, for data that is none; those before one that is there already are added (580). A cycle is accepted, and found by
 * the instantiation. cuGraphAddDependencies. */
VMM_API vmm_result vmm_graph_add_dependencies(vmm_system *sys, vmm_graph graph, const vmm_graph_node *from,
                                              const vmm_graph_node *to, const vmm_graph_edge_data *edge_data,
                                              uint64_t num_dependencies);
/* Undoes that. At a dependency that is not there: INVALID_VALUE [VMM-GRAPH-EDGE], and those before it are removed (580).
 * cuGraphRemoveDependencies. */
VMM_API vmm_result vmm_graph_remove_dependencies(vmm_system *sys, vmm_graph graph, const vmm_graph_node *from,
                                                 const vmm_graph_node *to, const vmm_graph_edge_data *edge_data,
                                                 uint64_t num_dependencies);

/* Stores VMM_GRAPH_NODE_TYPE_. INVALID_VALUE [VMM-GRAPH-NODE]. cuGraphNodeGetType. */
VMM_API vmm_result vmm_graph_node_get_type(vmm_system *sys, vmm_graph_node node, vmm_graph_node_type *type);

/* The copy, in a clone of its graph, of original_node. INVALID_VALUE [VMM-GRAPH-NULL, VMM-GRAPH-UNKNOWN, VMM-GRAPH-NODE].
 * cuGraphNodeFindInClone. */
VMM_API vmm_result vmm_graph_node_find_in_clone(vmm_system *sys, vmm_graph_node *node, vmm_graph_node original_node,
                                                vmm_graph cloned_graph);

/* What a node holds; and other parameters for it, which are checked as when it was added, and concern no instance that is there
 * already. The graph of a child graph node is the node's: it may be changed, and ends with the node. The context of a fill or copy stays.
 * INVALID_VALUE [VMM-GRAPH-NODE], for a node of another type [VMM-GRAPH-NODE-TYPE]. cuGraphChildGraphNodeGetGraph,
 * cuGraphEventRecordNodeGetEvent, cuGraphEventWaitNodeGetEvent, cuGraphMemcpyNodeGetParams, cuGraphMemsetNodeSetParams,
 * cuGraphMemcpyNodeSetParams, cuGraphKernelNodeSetParams, cuGraphHostNodeSetParams, cuGraphEventRecordNodeSetEvent, cuGraphEventWaitNodeSetEvent. */
VMM_API vmm_result vmm_graph_child_graph_node_get_graph(vmm_system *sys, vmm_graph_node node, vmm_graph *graph);
VMM_API vmm_result vmm_graph_event_record_node_get_event(vmm_system *sys, vmm_graph_node node, vmm_event *event_out);
VMM_API vmm_result vmm_graph_event_wait_node_get_event(vmm_system *sys, vmm_graph_node node, vmm_event *event_out);
VMM_API vmm_result vmm_graph_memset_node_set_params(vmm_system *sys, vmm_graph_node node, const vmm_memset_node_params *node_params);
VMM_API vmm_result vmm_graph_memcpy_node_get_params(vmm_system *sys, vmm_graph_node node, vmm_memcpy3d *node_params);
VMM_API vmm_result vmm_graph_memcpy_node_set_params(vmm_system *sys, vmm_graph_node node, const vmm_memcpy3d *node_params);
VMM_API vmm_result vmm_graph_kernel_node_set_params(vmm_system *sys, vmm_graph_node node, const vmm_kernel_node_params *node_params);
VMM_API vmm_result vmm_graph_host_node_set_params(vmm_system *sys, vmm_graph_node node, const vmm_host_node_params *node_params);
VMM_API vmm_result vmm_graph_event_record_node_set_event(vmm_system *sys, vmm_graph_node node, vmm_event event);
VMM_API vmm_result vmm_graph_event_wait_node_set_event(vmm_system *sys, vmm_graph_node node, vmm_event event);

/* --------------------------------------------------------------------------------------------- instances of graphs */

/* An instance: a copy of the graph that can be launched, and that changes of the graph no longer concern. flags are
 * VMM_GRAPH_INSTANTIATE_FLAG_, but for UPLOAD. Looks at the memory of fills and at events again. INVALID_VALUE [VMM-GRAPH-FLAGS,
 * VMM-GRAPH-NULL], INVALID_CONTEXT [VMM-CTX-CURRENT], the fault of the device, INVALID_VALUE [VMM-GRAPH-UNKNOWN,
 * VMM-GRAPH-CYCLE]. cuGraphInstantiate. */
VMM_API vmm_result vmm_graph_instantiate(vmm_system *sys, vmm_graph_exec *graph_exec, vmm_graph graph, uint64_t flags);
/* The flags that it was made with, but for USE_NODE_PRIORITY (580). INVALID_VALUE [VMM-GRAPH-EXEC]. cuGraphExecGetFlags. */
VMM_API vmm_result vmm_graph_exec_get_flags(vmm_system *sys, vmm_graph_exec graph_exec, uint64_t *flags);
/* Ends the instance; its launches go on. INVALID_VALUE [VMM-GRAPH-EXEC]. cuGraphExecDestroy. */
VMM_API vmm_result vmm_graph_exec_destroy(vmm_system *sys, vmm_graph_exec graph_exec);

/* Other parameters for the instance's copy of a node of its graph, for launches from now on. A fill keeps its context, a copy the
 * types of its memory, and one of several rows its shape. INVALID_VALUE [VMM-GRAPH-EXEC], for a node of another graph
 * [VMM-GRAPH-NODE] or type [VMM-GRAPH-NODE-TYPE], [VMM-GRAPH-PARAMS]. cuGraphExecMemsetNodeSetParams, cuGraphExecMemcpyNodeSetParams,
 * cuGraphExecKernelNodeSetParams, cuGraphExecHostNodeSetParams, cuGraphExecEventRecordNodeSetEvent, cuGraphExecEventWaitNodeSetEvent. */
VMM_API vmm_result vmm_graph_exec_memset_node_set_params(vmm_system *sys, vmm_graph_exec graph_exec, vmm_graph_node node,
                                                         const vmm_memset_node_params *memset_params, vmm_context ctx);
VMM_API vmm_result vmm_graph_exec_memcpy_node_set_params(vmm_system *sys, vmm_graph_exec graph_exec, vmm_graph_node node,
                                                         const vmm_memcpy3d *copy_params, vmm_context ctx);
VMM_API vmm_result vmm_graph_exec_kernel_node_set_params(vmm_system *sys, vmm_graph_exec graph_exec, vmm_graph_node node,
                                                         const vmm_kernel_node_params *node_params);
VMM_API vmm_result vmm_graph_exec_host_node_set_params(vmm_system *sys, vmm_graph_exec graph_exec, vmm_graph_node node,
                                                       const vmm_host_node_params *node_params);
VMM_API vmm_result vmm_graph_exec_event_record_node_set_event(vmm_system *sys, vmm_graph_exec graph_exec, vmm_graph_node node,
                                                              vmm_event event);
VMM_API vmm_result vmm_graph_exec_event_wait_node_set_event(vmm_system *sys, vmm_graph_exec graph_exec, vmm_graph_node node,
                                                            vmm_event event);
/* Gives the nodes of the instance's child graph the work of those of another graph, which has the same nodes and dependencies; all
 * or none. INVALID_VALUE [VMM-GRAPH-UNKNOWN, VMM-GRAPH-EXEC, VMM-GRAPH-NODE, VMM-GRAPH-NODE-TYPE], GRAPH_EXEC_UPDATE_FAILURE
 * [VMM-GRAPH-UPDATE]. cuGraphExecChildGraphNodeSetParams. */
VMM_API vmm_result vmm_graph_exec_child_graph_node_set_params(vmm_system *sys, vmm_graph_exec graph_exec, vmm_graph_node node,
                                                              vmm_graph child_graph);
/* Whether launches do the work of a kernel, copy or fill, or leave it out: 1 or 0. INVALID_VALUE [VMM-GRAPH-EXEC, VMM-GRAPH-NODE],
 * for other nodes [VMM-GRAPH-NODE-TYPE]. cuGraphNodeSetEnabled, cuGraphNodeGetEnabled. */
VMM_API vmm_result vmm_graph_node_set_enabled(vmm_system *sys, vmm_graph_exec graph_exec, vmm_graph_node node,
                                              unsigned int is_enabled);
VMM_API vmm_result vmm_graph_node_get_enabled(vmm_system *sys, vmm_graph_exec graph_exec, vmm_graph_node node,
                                              unsigned int *is_enabled);

/* Issues the work of the instance's nodes to the stream, each after what it depends on, with the mappings and rights of the time
 * at which the stream comes to it; the fault of such work is that of a kernel, copy or fill. INVALID_VALUE [VMM-GRAPH-EXEC],
 * INVALID_CONTEXT [VMM-CTX-CURRENT], INVALID_HANDLE [VMM-STREAM-UNKNOWN], the fault of the device. Launches of graphs become no
 * nodes of a captured stream. cuGraphLaunch. */
VMM_API vmm_result vmm_graph_launch(vmm_system *sys, vmm_graph_exec graph_exec, vmm_stream stream);
/* Prepares the next launch, and is refused like one. cuGraphUpload. */
VMM_API vmm_result vmm_graph_upload(vmm_system *sys, vmm_graph_exec graph_exec, vmm_stream stream);

/* --------------------------------------------------------------------------------------------------- ordinary memory */

/* Free and total bytes of the current context's device. free falls at vmm_mem_create by exactly the size, not at
 * reserve or map. Either pointer may be NULL. INVALID_CONTEXT [VMM-CTX-CURRENT] (0 written). cuMemGetInfo. */
VMM_API vmm_result vmm_mem_get_info(vmm_system *sys, uint64_t *free, uint64_t *total);

/* Ordinary memory on the current context's device, mapped and accessible at once; provided so that programs that mix
 * both kinds run. bytesize > 0. INVALID_CONTEXT [VMM-CTX-CURRENT], INVALID_VALUE [VMM-ALLOC-NULL,
 * VMM-ALLOC-SIZE-ZERO], OUT_OF_MEMORY [VMM-ALLOC-MEMORY]; 0 is then written to *dptr. cuMemAlloc. */
VMM_API vmm_result vmm_mem_alloc(vmm_system *sys, vmm_deviceptr *dptr, uint64_t bytesize);

/* Waits for all work on the memory's device, then frees memory of vmm_mem_alloc; 0 is accepted and ignored.
 * INVALID_VALUE [VMM-ALLOC-FREE-VMM] for an address of virtual memory management, [VMM-ALLOC-FREE-UNKNOWN] for any
 * other that vmm_mem_alloc did not return. cuMemFree. */
VMM_API vmm_result vmm_mem_free(vmm_system *sys, vmm_deviceptr dptr);

/* -------------------------------------------------------------------------------- memory in the order of a stream
 *
 *   stream S    alloc P    kernel that uses P    free P    alloc Q         Q may have P's memory: S orders the two
 *   stream T                                               alloc R         R may not, unless T waits for the free
 *
 * An allocation may be used by work that the stream orders after it, and by the host's other calls once the stream has
 * come to it. Memory comes from a pool, which takes it from its device in chunks and keeps it when an allocation is
 * freed: until cuMemPoolTrimTo, or until a call that waits finds more than the release threshold. */

/* Memory of the current pool of the stream's device, and memory of that pool. INVALID_VALUE [VMM-POOL-ALLOC-NULL]; *dptr
 * is 0 from here on where the call is refused. INVALID_CONTEXT [VMM-CTX-CURRENT], INVALID_HANDLE [VMM-STREAM-UNKNOWN];
 * INVALID_VALUE [VMM-POOL-NULL, VMM-POOL-UNKNOWN]; OUT_OF_MEMORY [VMM-POOL-ALLOC-MAX-SIZE, VMM-POOL-ALLOC-MEMORY]. Warned
 * of: [VMM-POOL-ALLOC-SIZE-ZERO], which allocates nothing, at address 0. */
VMM_API vmm_result vmm_mem_alloc_async(vmm_system *sys, vmm_deviceptr *dptr, uint64_t bytesize, vmm_stream stream);
VMM_API vmm_result vmm_mem_alloc_from_pool_async(vmm_system *sys, vmm_deviceptr *dptr, uint64_t bytesize,
                                                 vmm_memory_pool pool, vmm_stream stream);
/* Frees the memory when the stream comes to this call; address 0 is nothing. INVALID_CONTEXT [VMM-CTX-CURRENT],
 * INVALID_HANDLE [VMM-STREAM-UNKNOWN]; INVALID_VALUE [VMM-POOL-FREE-ORDINARY, VMM-POOL-FREE-UNKNOWN]. Warned of:
 * [VMM-POOL-FREE-IN-FLIGHT]; work that uses the memory: [VMM-POOL-USE-FREED, VMM-POOL-USE-UNORDERED]. */
VMM_API vmm_result vmm_mem_free_async(vmm_system *sys, vmm_deviceptr dptr, vmm_stream stream);

/* INVALID_VALUE [VMM-POOL-NULL, VMM-POOL-CREATE-TYPE, VMM-POOL-CREATE-LOCATION, VMM-POOL-CREATE-DEVICE,
 * VMM-POOL-CREATE-HANDLE-TYPES, VMM-POOL-CREATE-RESERVED]; NOT_SUPPORTED [VMM-POOL-CREATE-MANAGED]:
 * the simulator has pools on devices only; OUT_OF_MEMORY [VMM-POOL-CREATE-MAX-SIZE]. */
VMM_API vmm_result vmm_mem_pool_create(vmm_system *sys, vmm_memory_pool *pool, const vmm_mem_pool_props *pool_props);
/* Ends the pool once its last allocation is freed. Where it is the current pool of its device, the default pool becomes
 * that again. INVALID_VALUE [VMM-POOL-NULL, VMM-POOL-UNKNOWN, VMM-POOL-DESTROY-DEFAULT]. */
VMM_API vmm_result vmm_mem_pool_destroy(vmm_system *sys, vmm_memory_pool pool);

/* A device's own pool, and the one that vmm_mem_alloc_async takes memory from; the three calls of CUDA 13.0 name the
 * device by a location. INVALID_DEVICE [VMM-POOL-DEVICE]; INVALID_VALUE [VMM-POOL-NULL, VMM-POOL-CURRENT-DEVICE,
 * VMM-POOL-UNKNOWN, VMM-POOL-SET-ELSEWHERE], and what creation refuses; NOT_SUPPORTED [VMM-POOL-LOCATION-TYPE]. Warned of:
 * [VMM-POOL-ENDED]. */
VMM_API vmm_result vmm_device_get_default_mem_pool(vmm_system *sys, vmm_memory_pool *pool_out, vmm_device dev);
VMM_API vmm_result vmm_device_get_mem_pool(vmm_system *sys, vmm_memory_pool *pool, vmm_device dev);
VMM_API vmm_result vmm_device_set_mem_pool(vmm_system *sys, vmm_device dev, vmm_memory_pool pool);
VMM_API vmm_result vmm_mem_get_default_mem_pool(vmm_system *sys, vmm_memory_pool *pool_out,
                                                const vmm_mem_location *location, vmm_mem_allocation_type type);
VMM_API vmm_result vmm_mem_get_mem_pool(vmm_system *sys, vmm_memory_pool *pool, const vmm_mem_location *location,
                                        vmm_mem_allocation_type type);
VMM_API vmm_result vmm_mem_set_mem_pool(vmm_system *sys, const vmm_mem_location *location, vmm_mem_allocation_type type,
                                        vmm_memory_pool pool);

/* INVALID_VALUE [VMM-POOL-NULL, VMM-POOL-UNKNOWN, VMM-POOL-ATTRIBUTE, VMM-POOL-ATTRIBUTE-READ-ONLY,
 * VMM-POOL-ATTRIBUTE-HIGH]. */
VMM_API vmm_result vmm_mem_pool_set_attribute(vmm_system *sys, vmm_memory_pool pool, vmm_mem_pool_attribute attr,
                                              void *value);
VMM_API vmm_result vmm_mem_pool_get_attribute(vmm_system *sys, vmm_memory_pool pool, vmm_mem_pool_attribute attr,
                                              void *value);
VMM_API vmm_result vmm_mem_pool_trim_to(vmm_system *sys, vmm_memory_pool pool, uint64_t min_bytes_to_keep);
/* Rights of devices to all memory of a pool. INVALID_VALUE [VMM-POOL-NULL, VMM-POOL-UNKNOWN, VMM-POOL-ACCESS-FLAGS,
 * VMM-POOL-GET-ACCESS-LOCATION, VMM-POOL-ACCESS-NOWHERE]; NOT_SUPPORTED [VMM-POOL-ACCESS-LOCATION, VMM-POOL-ACCESS-READ, VMM-POOL-ACCESS-HOST]; INVALID_DEVICE
 * [VMM-POOL-ACCESS-DEVICE, VMM-POOL-ACCESS-OWN, VMM-POOL-ACCESS-PEER]. Warned of: [VMM-POOL-ENDED]. */
VMM_API vmm_result vmm_mem_pool_set_access(vmm_system *sys, vmm_memory_pool pool, const vmm_mem_access_desc *map,
                                           uint64_t count);
VMM_API vmm_result vmm_mem_pool_get_access(vmm_system *sys, vmm_mem_access_flags *flags, vmm_memory_pool mem_pool,
                                           const vmm_mem_location *location);

/* Between processes: first a pool, as a descriptor or fabric handle, then each of its allocations, as 64 bytes. INVALID_VALUE
 * [VMM-POOL-NULL, VMM-POOL-UNKNOWN, VMM-EXPORT-FLAGS, VMM-EXPORT-TYPE, VMM-EXPORT-NOT-REQUESTED, VMM-POOL-EXPORT-KIND,
 * VMM-POOL-IMPORT-FLAGS, VMM-IMPORT-TYPE, VMM-POOL-POINTER-UNKNOWN, VMM-POOL-POINTER-POOL, VMM-POOL-IMPORT-POOL, VMM-POOL-IMPORT-DATA,
 * VMM-POOL-IMPORT-TAKEN]; NOT_SUPPORTED [VMM-IMPORT-KIND, VMM-IMPORT-WINDOWS]; NOT_PERMITTED [VMM-EXPORT-FABRIC-IMEX]; UNKNOWN
 * [VMM-IMPORT-CLOSED, VMM-IMPORT-FOREIGN, VMM-IMPORT-MACHINE]. An imported pool allocates nothing [VMM-POOL-IMPORTED], and is
 * destroyed after its allocations [VMM-POOL-DESTROY-IMPORTED]; imported several times, it is destroyed as often. */
VMM_API vmm_result vmm_mem_pool_export_to_shareable_handle(vmm_system *sys, void *handle_out, vmm_memory_pool pool,
                                                           vmm_mem_allocation_handle_type handle_type, uint64_t flags);
VMM_API vmm_result vmm_mem_pool_import_from_shareable_handle(vmm_system *sys, vmm_memory_pool *pool_out, void *handle,
                                                             vmm_mem_allocation_handle_type handle_type, uint64_t flags);
VMM_API vmm_result vmm_mem_pool_export_pointer(vmm_system *sys, vmm_mem_pool_ptr_export_data *share_data_out,
                                               vmm_deviceptr ptr);
VMM_API vmm_result vmm_mem_pool_import_pointer(vmm_system *sys, vmm_deviceptr *ptr_out, vmm_memory_pool pool,
                                               const vmm_mem_pool_ptr_export_data *share_data);

/* ---------------------------------------------------------------------------------------- physical memory and handles */

/* The granularity of memory with these properties: sizes and addresses of create, reserve and map are multiples of
 * it. option: VMM_MEM_ALLOC_GRANULARITY_MINIMUM or _RECOMMENDED. INVALID_VALUE [VMM-GRANULARITY-NULL,
 * VMM-GRANULARITY-NULL-PROP, VMM-GRANULARITY-OPTION]. Observed (580): prop is not validated at all; a property that
 * create refuses on every machine of this kind (not because a capability or memory is missing) draws a warning
 * [VMM-GRANULARITY-PROP-UNCHECKED]. cuMemGetAllocationGranularity; cuda.h 13.0; guide 4.16.3.1. */
VMM_API vmm_result vmm_mem_get_allocation_granularity(vmm_system *sys, uint64_t *granularity,
                                                      const vmm_mem_allocation_prop *prop,
                                                      vmm_mem_allocation_granularity_flags option);

/* Physical memory without an address. size > 0, a multiple of the minimum granularity of prop; flags 0.
 *
 *   before: device [free ..............]          after: device [H1 size][free .......]   no address anywhere
 *
 * The memory reads as zero when it is first mapped. The handle is one reference; vmm_mem_release releases it.
 * Checked in this order (580, every pair of mistakes measured):
 * INVALID_VALUE [VMM-CREATE-NULL-HANDLE, VMM-CREATE-NULL-PROP, VMM-CREATE-FLAGS, VMM-CREATE-SIZE-ZERO,
 *   VMM-CREATE-LOCATION-TYPE, VMM-CREATE-NUMA-CURRENT, VMM-CREATE-HOST-SHARED, VMM-CREATE-NUMA-ID,
 *   VMM-CREATE-SIZE-GRANULARITY];
 * INVALID_DEVICE [VMM-CREATE-DEVICE-ID];
 * INVALID_VALUE [VMM-CREATE-TYPE, VMM-CREATE-HANDLE-TYPE-WINDOWS, VMM-CREATE-COMPRESSION-TYPE, VMM-CREATE-RESERVED
 *   (bytes 0 to 2), VMM-CREATE-WIN32-META, VMM-CREATE-HOST-COMPRESSION, VMM-CREATE-HOST-RDMA];
 * NOT_SUPPORTED [VMM-CREATE-UNSUPPORTED, VMM-CREATE-HOST-UNSUPPORTED, VMM-CREATE-NUMA-UNSUPPORTED,
 *   VMM-CREATE-FD-UNSUPPORTED, VMM-CREATE-FABRIC-UNSUPPORTED] where the machine lacks the capability;
 * INVALID_VALUE [VMM-CREATE-TILE-POOL, VMM-CREATE-USAGE-COMPRESSION];
 * OUT_OF_MEMORY [VMM-CREATE-MEMORY]; INVALID_VALUE [VMM-CREATE-HOST-ID] instead, where a driver would crash:
 *   location.id of HOST memory is not a device (0 always is one);
 * NOT_PERMITTED [VMM-CREATE-FABRIC-IMEX]: FABRIC without a usable IMEX channel, although the attribute says 1;
 * ours: OPERATING_SYSTEM [VMM-SHARE-STATE] where shared memory cannot be stored.
 * Warned of, in this order: [VMM-CREATE-HANDLE-TYPE-UNKNOWN, VMM-CREATE-RDMA-VALUE, VMM-CREATE-USAGE-UNKNOWN,
 *   VMM-CREATE-RESERVED-LAST, VMM-CREATE-USAGE-DROPPED, VMM-CREATE-RDMA-NOT-OBTAINED,
 *   VMM-CREATE-COMPRESSION-NOT-OBTAINED]: the memory is created without the requested property.
 * cuMemCreate; cuda.h 13.0; guide 4.16.3.1. */
VMM_API vmm_result vmm_mem_create(vmm_system *sys, vmm_mem_generic_allocation_handle *handle, uint64_t size,
                                  const vmm_mem_allocation_prop *prop, uint64_t flags);

/* Releases one reference. Memory returns to the device when no reference and no mapping is left:
 *
 *   create    refs 1 maps 0    map  refs 1 maps 1    release  refs 0 maps 1 (still usable)    unmap  -> freed
 *
 * INVALID_VALUE [VMM-RELEASE-HANDLE-ZERO, VMM-RELEASE-HANDLE-STALE, VMM-RELEASE-HANDLE-FORGED]. Warned of, as at
 * vmm_mem_unmap: [VMM-RELEASE-MEMORY-BOUND, VMM-RELEASE-TEAM-BOUND], see "multicast".
 * Observed (580): a value that never was a handle crashes the process. cuMemRelease; cuda.h 13.0; guide 4.16.3.5. */
VMM_API vmm_result vmm_mem_release(vmm_system *sys, vmm_mem_generic_allocation_handle handle);

/* One more reference to the memory mapped at addr (any byte of the mapping); *handle is the very value that was
 * mapped, even after all its references were released. INVALID_VALUE [VMM-RETAIN-NULL-HANDLE, VMM-RETAIN-ADDRESS-ZERO,
 * VMM-RETAIN-NOT-MAPPED]: also for the part of a mapping that no reservation covers (580).
 * cuMemRetainAllocationHandle (whose addr is a void *); cuda.h 13.0. */
VMM_API vmm_result vmm_mem_retain_allocation_handle(vmm_system *sys, vmm_mem_generic_allocation_handle *handle,
                                                    vmm_deviceptr addr);

/* The properties that the memory has, which may differ from the requested ones: HOST reads back as HOST_NUMA node 0,
 * unknown handle-type bits as 0, compression as obtained. INVALID_VALUE [VMM-PROPERTIES-NULL-PROP,
 * VMM-PROPERTIES-HANDLE-ZERO, VMM-PROPERTIES-HANDLE-FORGED, VMM-PROPERTIES-MULTICAST]; [VMM-PROPERTIES-HANDLE-STALE] is
 * a warning for one of the last 256 handles that ended (driver 580 answers as long as nothing else is in their place)
 * and a refusal for older ones. cuMemGetAllocationPropertiesFromHandle. */
VMM_API vmm_result vmm_mem_get_allocation_properties_from_handle(vmm_system *sys, vmm_mem_allocation_prop *prop,
                                                                 vmm_mem_generic_allocation_handle handle);

/* ------------------------------------------------------------------------------------------ reservations and mappings */

/* Reserves a range of addresses that nothing else will get. No physical memory, no access.
 *
 *   before: [............ free ............]        after: [.. free ..|R1 size|.. free ..]
 *
 * size > 0, a multiple of 2 MiB (Documents: of the host page). alignment: 0 or a power of two below 1<<63; the result
 * is a multiple of it and of 2 MiB. addr: 0, or a hint, a multiple of 2 MiB and of alignment. flags 0.
 *
 * Placement, as measured (580); a profile gives the size of a chunk (va.chunk: 32 MiB on the recorded machines, the
 * granularity elsewhere, which makes every reservation a large one):
 *   - A size below a chunk is packed, first fit by address, into the chunks that hold other such ranges; when none
 *     has room, a new chunk, aligned to its size, opens at the lowest free place; it closes with its last range.
 *   - Larger sizes get chunks of their own at the lowest free place.
 *   - With a hint only places at or above it count, first in open chunks (exactly there when it is free), then new
 *     space from the hint rounded up to a chunk. The search does not wrap to lower addresses. Memory of the program
 *     itself (its heap, mappings, libraries) is in use.
 *   - The part of a mapping beyond its reservation is not protected: a later reservation can get it
 *     [VMM-RESERVE-OVER-MAPPING].
 *   - The first context of the process opens two chunks at the profile's va.context (unless it is 0): the lower one
 *     has only its last 2 MiB free, the upper one all but its first 8 MiB. They stay open. No reservation gets the
 *     addresses of va.taken.
 * INVALID_VALUE [VMM-RESERVE-NULL-PTR, VMM-RESERVE-FLAGS, VMM-RESERVE-SIZE-ZERO, VMM-RESERVE-SIZE-GRANULARITY,
 *   VMM-RESERVE-ALIGNMENT-POWER, VMM-RESERVE-ALIGNMENT-LIMIT, VMM-RESERVE-HINT-GRANULARITY,
 *   VMM-RESERVE-HINT-ALIGNMENT]; then OUT_OF_MEMORY [VMM-RESERVE-HINT-LIMIT, VMM-RESERVE-SPACE];
 * warned of: [VMM-RESERVE-HINT-NOT-TAKEN, VMM-RESERVE-OVER-MAPPING]. cuMemAddressReserve; cuda.h 13.0; guide
 * 4.16.3.3. */
VMM_API vmm_result vmm_mem_address_reserve(vmm_system *sys, vmm_deviceptr *ptr, uint64_t size, uint64_t alignment,
                                           vmm_deviceptr addr, uint64_t flags);

/* Frees a whole reservation: ptr and size as reserved, and nothing mapped in it.
 *
 *   before: [.. free ..|R1 .......|.. free ..]      after: [............ free ............]
 *
 * INVALID_VALUE [VMM-FREE-PTR-ZERO, VMM-FREE-SIZE-ZERO, VMM-FREE-NOT-RESERVED, VMM-FREE-NOT-START,
 * VMM-FREE-SIZE-MATCH, VMM-FREE-MAPPED]. cuMemAddressFree; cuda.h 13.0; guide 4.16.3.5. */
VMM_API vmm_result vmm_mem_address_free(vmm_system *sys, vmm_deviceptr ptr, uint64_t size);

/* Maps physical memory at reserved addresses. No location has access yet.
 *
 *   before: [R1 ............................]       H1 refs r maps m
 *   after:  [R1 .....|M1 of H1, no access|..]       H1 refs r maps m+1
 *
 * ptr: a multiple of G (of its own granularity for a multicast object) inside a reservation. size: the whole memory,
 * offset 0 (Documents: parts are possible; the recorded driver answers NOT_SUPPORTED; profiles with partial_map = yes
 * allow them). flags 0. Checked in this order:
 * INVALID_VALUE [VMM-MAP-SIZE-ZERO, VMM-MAP-FLAGS, VMM-MAP-PTR-ZERO, VMM-MAP-HANDLE-ZERO, VMM-MAP-HANDLE-FORGED,
 *   VMM-MAP-HANDLE-STALE]; ILLEGAL_STATE [VMM-MAP-INCOMPLETE] for a multicast object;
 * INVALID_VALUE [VMM-MAP-TILE-POOL];
 * NOT_SUPPORTED [VMM-MAP-OFFSET, VMM-MAP-SIZE-WHOLE], or with partial_map INVALID_VALUE
 *   [VMM-MAP-OFFSET-GRANULARITY, VMM-MAP-SIZE-GRANULARITY, VMM-MAP-OFFSET-RANGE];
 * INVALID_VALUE [VMM-MAP-PTR-GRANULARITY, VMM-MAP-NOT-RESERVED, VMM-MAP-OVERLAP];
 * warned of: [VMM-MAP-PAST-RESERVATION, VMM-MAP-CROSSES-RESERVATIONS]: only the start must be reserved on driver 580.
 * No reservation that a mapping reaches into can be freed before it is unmapped.
 * cuMemMap; cuda.h 13.0; guide 4.16.3.3. */
VMM_API vmm_result vmm_mem_map(vmm_system *sys, vmm_deviceptr ptr, uint64_t size, uint64_t offset,
                               vmm_mem_generic_allocation_handle handle, uint64_t flags);

/* Removes every mapping in [ptr, ptr + size); each must lie wholly inside. The addresses stay reserved.
 *
 *   before: [R1 ..|M1|M2|....|M3|..]    unmap [M1 .. M3]    after: [R1 .......................]
 *
 * The call does not wait for in-flight work (580): what accesses the range afterwards faults. The call warns of it
 * [VMM-UNMAP-IN-FLIGHT].
 * INVALID_VALUE [VMM-UNMAP-PTR-ZERO, VMM-UNMAP-SIZE-ZERO, VMM-UNMAP-NOT-RESERVED, VMM-UNMAP-PARTIAL];
 * warned of, because the documentation requires exactly what was mapped: [VMM-UNMAP-WRAPS, VMM-UNMAP-UNALIGNED,
 * VMM-UNMAP-NOTHING, VMM-UNMAP-HOLE]. Observed (580): a range whose end passes 2^64 succeeds and unmaps nothing,
 * unless its
 * start or its wrapped end lies inside a mapping [VMM-UNMAP-PARTIAL]; a range that runs past its reservation unmaps
 * all it covers. cuMemUnmap; cuda.h 13.0; guide 4.16.3.5. */
VMM_API vmm_result vmm_mem_unmap(vmm_system *sys, vmm_deviceptr ptr, uint64_t size);

/* Sets the access rights of the named locations to the mappings in [ptr, ptr + size); other locations keep theirs.
 *
 *   before: [M1 dev0 --|M2 dev0 --]    RW for dev0 on both    after: [M1 dev0 RW|M2 dev0 RW]
 *
 * The range starts and ends where mappings do. Of two descriptors for one location the last wins. By default no
 * location has access, not even the device that owns the memory. size is a multiple of 2 MiB, count > 0.
 * INVALID_VALUE [VMM-ACCESS-PTR-ZERO, VMM-ACCESS-SIZE-ZERO, VMM-ACCESS-COUNT-ZERO, VMM-ACCESS-NULL-DESC,
 * VMM-ACCESS-SIZE-GRANULARITY (2 MiB is the profile's va.granularity here, as in vmm_mem_unmap), then for each
 * descriptor VMM-ACCESS-FLAGS, VMM-ACCESS-LOCATION-TYPE, VMM-ACCESS-DEVICE-ID, then VMM-ACCESS-NOT-MAPPED,
 * VMM-ACCESS-PARTIAL for the start and then for the end]: nothing is changed. Then, mapping by mapping in order of
 * address and for each of them descriptor by descriptor: NOT_SUPPORTED [VMM-ACCESS-HOST-ON-DEVICE] for HOST or
 * HOST_NUMA on device memory (NONE is accepted, and does nothing), PEER_ACCESS_UNSUPPORTED [VMM-ACCESS-PEER],
 * INVALID_DEVICE [VMM-ACCESS-TEAM] on a multicast object. Observed (580): what was set before that stays set. Warned
 * of: [VMM-ACCESS-HOLE, VMM-ACCESS-DUPLICATE, VMM-ACCESS-IN-FLIGHT]: rights revoked while in-flight work needs them,
 * for which the call does not wait (580). Observed (580): in a range with a hole only the mappings before the first
 * hole are changed, and the call succeeds. Documents: INVALID_DEVICE for a bad device id. cuMemSetAccess; cuda.h
 * 13.0; guide 4.16.3.4. */
VMM_API vmm_result vmm_mem_set_access(vmm_system *sys, vmm_deviceptr ptr, uint64_t size,
                                      const vmm_mem_access_desc *desc, uint64_t count);

/* The access rights of location to the mapping at ptr (any byte of it): VMM_MEM_ACCESS_FLAGS_PROT_ in *flags.
 * Checked in this order: INVALID_VALUE [VMM-GETACCESS-NULL-FLAGS, VMM-GETACCESS-NULL-LOCATION, VMM-GETACCESS-PTR-ZERO];
 * INVALID_DEVICE [VMM-GETACCESS-LOCATION]; INVALID_VALUE [VMM-GETACCESS-NOT-MAPPED], which writes 0 to *flags.
 * Observed (580): the id of HOST and HOST_NUMA is ignored; memory of vmm_mem_alloc yields 0. HOST_NUMA yields the
 * host's rights, none on device memory. HOST yields the rights of device 0 or of the host: those that were changed
 * last (to something other than NONE) and still exist. cuMemGetAccess. */
VMM_API vmm_result vmm_mem_get_access(vmm_system *sys, uint64_t *flags, const vmm_mem_location *location,
                                      vmm_deviceptr ptr);

/* ------------------------------------------------------------------------------------------ queries about an address */

/* One attribute of a mapped address, through data (types beside VMM_POINTER_ATTRIBUTE_). RANGE_ is the reservation at
 * ptr (left untouched where a mapping runs past its reservation), MAPPING_ the mapping. Needs no context, except
 * DEVICE_POINTER (INVALID_CONTEXT [VMM-CTX-CURRENT]).
 * INVALID_VALUE [VMM-POINTER-NULL-DATA, VMM-POINTER-ATTRIBUTE, VMM-POINTER-NOT-MAPPED], and for an attribute that this
 * memory does not have [VMM-POINTER-HOST]: HOST_POINTER of device memory or of host memory that the host has no
 * access to, P2P_TOKENS of host memory; [VMM-POINTER-DEVICE]: DEVICE_POINTER where the current device has no access.
 * 0 is written then. Documents: reserved addresses have a range too; observed (580):
 * INVALID_VALUE. cuPointerGetAttribute; cuda.h 13.0. */
VMM_API vmm_result vmm_pointer_get_attribute(vmm_system *sys, void *data, vmm_pointer_attribute attribute,
                                             vmm_deviceptr ptr);

/* Several attributes at once: data[i] points to room for attributes[i]; they are processed in order. An address that
 * is not mapped is not an error: HOST_POINTER is then ptr, DEVICE_ORDINAL -2, RANGE_ the reservation or left
 * untouched where there is none, all others 0; attributes that mapped memory lacks are 0 too. INVALID_VALUE
 * [VMM-POINTER-NULL-DATA] (for the arrays and a count of 0 before anything is written, for an element when its turn
 * comes), [VMM-POINTER-ATTRIBUTE] for unknown ones and P2P_TOKENS, when its turn comes. cuPointerGetAttributes. */
VMM_API vmm_result vmm_pointer_get_attributes(vmm_system *sys, unsigned int num_attributes,
                                              const vmm_pointer_attribute *attributes, void **data, vmm_deviceptr ptr);

/* Base and size of the mapping, or of the vmm_mem_alloc memory, that dptr lies in. Either output may be NULL, and both
 * NULL is a SUCCESS whatever dptr is. NOT_FOUND [VMM-RANGE-NOT-FOUND], 0 written to the outputs, also for a mapping
 * that the current context's device has no access to. Observed (580): host-located memory reports base 0.
 * INVALID_CONTEXT [VMM-CTX-CURRENT] (0 written), unless both are NULL. cuMemGetAddressRange. */
VMM_API vmm_result vmm_mem_get_address_range(vmm_system *sys, vmm_deviceptr *pbase, uint64_t *psize,
                                             vmm_deviceptr dptr);

/* ------------------------------------------------------------------------------------------ memory for other processes
 *
 *   process A   create -> H1 == export ==> fd          process B    fd == import ==> H1' -> map, set access, use
 *                                          '-- SCM_RIGHTS, inherited, pidfd_getfd --^
 *
 * The memory is freed when no handle, mapping or descriptor is left in any process; a process that dies releases what
 * it held. On the simulator the processes open the same machine=NAME (vmm_open; docs/sharing.md). */

/* A shareable handle for memory: for POSIX_FILE_DESCRIPTOR an int is stored in *(int *)shareable_handle, a new
 * close-on-exec descriptor at every call, which the caller closes. Needs no context. The memory must have been
 * created with this type among its requested_handle_types. Checked in this order (ours; all these mistakes have the
 * same code, and nothing is written): INVALID_VALUE [VMM-EXPORT-NULL-HANDLE, VMM-EXPORT-FLAGS, VMM-EXPORT-TYPE (one
 * type, not several), VMM-EXPORT-HANDLE-ZERO, VMM-EXPORT-HANDLE-STALE, VMM-EXPORT-HANDLE-FORGED (580: both crash),
 * VMM-EXPORT-IMPORTED, VMM-EXPORT-NOT-REQUESTED]; ours: NOT_PERMITTED [VMM-EXPORT-FABRIC-IMEX], OPERATING_SYSTEM
 * [VMM-EXPORT-SYSTEM, VMM-SHARE-STATE]. A multicast object is exported and imported in the same way, with the
 * handle_types of its properties.
 * Observed (580): the descriptor is a device's, which can neither be read nor mapped; the simulator's is a small
 * read-only file.
 * For FABRIC 64 bytes are stored (VMM_FABRIC_HANDLE_SIZE), which may be sent by any means and imported any number of
 * times. They hold no reference: the exporter keeps the memory until the importers have it. docs/fabric.md.
 * cuMemExportToShareableHandle; cuda.h 13.0; guide 4.16.3.2. */
VMM_API vmm_result vmm_mem_export_to_shareable_handle(vmm_system *sys, void *shareable_handle,
                                                      vmm_mem_generic_allocation_handle handle,
                                                      vmm_mem_allocation_handle_type handle_type, uint64_t flags);

/* A handle of this process for memory that was exported, by this process or another. For POSIX_FILE_DESCRIPTOR os_handle is
 * the descriptor by value, (void *)(uintptr_t)fd (the guide passes its address; 580: by value, the low 32 bits
 * count). The caller keeps it and may close it at once. Every import is a new handle with one reference. Needs no
 * context. No call returns the size of the memory, so the exporter must send it. The memory is mapped as a whole,
 * like other memory.
 * Observed (580): its properties are those of the memory, except requested_handle_types and gpu_direct_rdma_capable,
 * which are 0. It cannot be exported again [VMM-EXPORT-IMPORTED].
 * Checked in this order: INVALID_VALUE [VMM-IMPORT-NULL-HANDLE, VMM-IMPORT-TYPE, VMM-IMPORT-FABRIC-NULL,
 * VMM-IMPORT-ZERO (also when descriptor 0 is open)]; NOT_SUPPORTED [VMM-IMPORT-WINDOWS]; for a descriptor UNKNOWN
 * [VMM-IMPORT-CLOSED, VMM-IMPORT-FOREIGN, VMM-IMPORT-MACHINE]; for FABRIC NOT_SUPPORTED
 * [VMM-IMPORT-FABRIC], NOT_PERMITTED [VMM-IMPORT-FABRIC-DOMAIN (ours), VMM-IMPORT-FABRIC-IMEX (documented)],
 * INVALID_VALUE [VMM-IMPORT-FABRIC-GONE (ours)]; ours: OPERATING_SYSTEM [VMM-IMPORT-SYSTEM, VMM-SHARE-STATE].
 * Nothing is written then.
 * For FABRIC os_handle is the address of the 64 bytes; the imported memory may be another node's (docs/fabric.md),
 * and is used like memory of the device with that number here (ours; properties as for a descriptor's import). The
 * value that the detail shows of os_handle is then the last eight of the bytes. cuMemImportFromShareableHandle;
 * cuda.h 13.0; guide 4.16.3.2. */
VMM_API vmm_result vmm_mem_import_from_shareable_handle(vmm_system *sys, vmm_mem_generic_allocation_handle *handle,
                                                        void *os_handle, vmm_mem_allocation_handle_type sh_handle_type);

/* Memory of vmm_mem_alloc in other processes, in the way that is older than virtual memory management:
 *
 *   process A   alloc -> A1 == get ==> 64 bytes            process B    64 bytes == open ==> A1' -> use, close
 *
 * The 64 bytes may be sent by any means. They hold nothing: A keeps the memory until B has opened it, and what B has open stays
 * open when A frees it. */

/* The 64 bytes of the allocation that holds dptr, the same for each of its bytes. Before vmm_init: INVALID_VALUE for NULL
 * [VMM-IPC-NULL] and for dptr 0 [VMM-IPC-ADDRESS]. INVALID_CONTEXT [VMM-CTX-CURRENT]; INVALID_VALUE [VMM-IPC-ADDRESS,
 * VMM-IPC-OPENED]; ours: OPERATING_SYSTEM [VMM-IPC-SYSTEM]. Nothing is written then. cuIpcGetMemHandle. */
VMM_API vmm_result vmm_ipc_get_mem_handle(vmm_system *sys, vmm_ipc_mem_handle *p_handle, vmm_deviceptr dptr);
/* Addresses in this process for the memory that handle names, with access for the device of the current context. A process that
 * opens it again gets the same addresses. flags: VMM_IPC_MEM_LAZY_ENABLE_PEER_ACCESS; other bits do not matter (580). Before
 * vmm_init: INVALID_VALUE [VMM-IPC-NULL, VMM-IPC-FLAGS]. INVALID_CONTEXT [VMM-CTX-CURRENT]; INVALID_VALUE [VMM-IPC-HANDLE]; ours
 * [VMM-IPC-MACHINE]; INVALID_CONTEXT [VMM-IPC-OWN], INVALID_HANDLE [VMM-IPC-CONTEXT, VMM-IPC-ENDED], INVALID_VALUE
 * [VMM-IPC-GONE]; ours: OPERATING_SYSTEM [VMM-IPC-SYSTEM]. Nothing is written then. cuIpcOpenMemHandle. */
VMM_API vmm_result vmm_ipc_open_mem_handle(vmm_system *sys, vmm_deviceptr *pdptr, vmm_ipc_mem_handle handle, unsigned int flags);
/* Undoes one open of the address dptr. The last one waits for the work of the device, and ends the addresses; the fault of that
 * work is reported, and the memory stays open. INVALID_CONTEXT [VMM-CTX-CURRENT]; INVALID_VALUE [VMM-IPC-CLOSE].
 * cuIpcCloseMemHandle. */
VMM_API vmm_result vmm_ipc_close_mem_handle(vmm_system *sys, vmm_deviceptr dptr);

/* The 64 bytes of an event of the current context, which was created with VMM_EVENT_INTERPROCESS | VMM_EVENT_DISABLE_TIMING. From then
 * on the processes that open it share its records: a query, a wait and the wait of a stream are about the last record, whoever made
 * it, and a record waits for the one before it (580). The handle leads to the event until the event's context ends, also after
 * vmm_event_destroy and after the end of the process (580); a record whose process ended before its work is never complete (580).
 * Before vmm_init: INVALID_VALUE for a NULL [VMM-IPC-NULL]. INVALID_CONTEXT [VMM-CTX-CURRENT]; INVALID_HANDLE [VMM-EVENT-UNKNOWN],
 * [VMM-IPC-EVENT], with zeros in *p_handle (580), and [VMM-EVENT-CONTEXT]; ours: OPERATING_SYSTEM [VMM-IPC-SYSTEM].
 * cuIpcGetEventHandle. */
VMM_API vmm_result vmm_ipc_get_event_handle(vmm_system *sys, vmm_ipc_event_handle *p_handle, vmm_event event);
/* An event of this process for the event that handle names. INVALID_VALUE [VMM-IPC-NULL], INVALID_CONTEXT [VMM-CTX-CURRENT]; MAP_FAILED
 * [VMM-IPC-EVENT-HANDLE]; ours [VMM-IPC-MACHINE]; INVALID_CONTEXT [VMM-IPC-OWN]; ours: OPERATING_SYSTEM [VMM-IPC-SYSTEM]. Nothing is
 * written then. cuIpcOpenEventHandle. */
VMM_API vmm_result vmm_ipc_open_event_handle(vmm_system *sys, vmm_event *event, vmm_ipc_event_handle handle);

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
 * (see "kernels"); copies and fills are refused [VMM-COPY-MULTICAST], and only devices of the team get rights there
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

/* Creates a multicast object without devices and memory; it takes no device memory. prop.num_devices: 2 to the machine's
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
 * Ranges of one device must not overlap, and may differ from those of the others. No address and no rights are
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

/* ----------------------------------------------------------------------------- memory for other devices of the machine
 * A dma-buf is how the kernel passes memory of one device to the driver of another (a network card, say). */

/* A file descriptor for [dptr, dptr + size), stored in *(int *)handle: new at every call, close-on-exec, and closed
 * by the caller. Seeking to its end returns the size.
 *
 *   [=== M1 ===|=== M2 ===|....]        dptr and size are multiples of the host's page size (4096 bytes on most),
 *        [--- range ---)                and every byte is mapped; the ends need not be those of mappings
 *
 * Needs a current context, but no access rights (580: mapped is enough). Memory of vmm_mem_alloc may be exported as
 * well, in whole pages even where fewer bytes were allocated. Checked in this order: INVALID_VALUE
 * [VMM-DMABUF-NULL-HANDLE, VMM-DMABUF-SIZE-ZERO, VMM-DMABUF-PTR-ZERO, VMM-DMABUF-TYPE, VMM-DMABUF-FLAGS,
 * VMM-DMABUF-ALIGNMENT, VMM-DMABUF-OVERFLOW]; INVALID_CONTEXT [VMM-CTX-CURRENT]; INVALID_VALUE
 * [VMM-DMABUF-NOT-MAPPED, VMM-DMABUF-HOLE]; NOT_SUPPORTED [VMM-DMABUF-UNSUPPORTED, VMM-DMABUF-PCIE]; INVALID_VALUE
 * for a multicast object [VMM-DMABUF-MULTICAST] or memory of the host [VMM-DMABUF-HOST] anywhere in the range;
 * UNKNOWN for compressible memory [VMM-DMABUF-COMPRESSED]; INVALID_VALUE [VMM-DMABUF-DEVICES]; OPERATING_SYSTEM
 * [VMM-DMABUF-FILE].
 * Observed (580), contrary to the rule that refused calls leave outputs alone, a call that is refused after the
 * context was checked has written -1; before, nothing. Memory with different properties in one range is accepted,
 * contrary to the documentation [VMM-DMABUF-MIXED], and flags other than the PCIe one are ignored. Documents: that
 * flag gives a mapping over PCIe where the platform can do that; observed: NOT_SUPPORTED on the recorded machines, as
 * on the simulator. Not measured: arguments before the context or after it, a context whose device was lost
 * [VMM-FAULT-STICKY], memory of two devices, devices without dma-bufs. On a driver before CUDA 11.7: NOT_SUPPORTED.
 * Ours: without a device to share them, the simulator's file is a copy of the bytes at the time of the call (it does
 * not wait for in-flight work): neither side sees what the other writes later. A dma-buf (580) cannot be read or
 * mapped by the host and holds the memory: what was unmapped and released is freed only when it is closed. The copy
 * can be read and holds nothing. The documentation requires a new one whenever the memory behind the addresses
 * changes (docs/dmabuf.md). If there is no memory for the copy: OUT_OF_MEMORY [VMM-SYSTEM-HOST-MEMORY].
 * cuMemGetHandleForAddressRange; cuda.h 13.0. */
VMM_API vmm_result vmm_mem_get_handle_for_address_range(vmm_system *sys, void *handle, vmm_deviceptr dptr, uint64_t size,
                                                        vmm_mem_range_handle_type handle_type, uint64_t flags);

/* --------------------------------------------------------------------------------------------------- copies and fills
 * The current context's device does them with its rights: reading needs READ, writing READWRITE, on every byte; a
 * range may span mappings. If one byte is refused, nothing is copied. Size 0 does nothing and checks no address.
 * A fill checks alignment and count before its range; a copy between device addresses checks the destination, then
 * the source; within a range the first inaccessible byte decides.
 * Host-located memory, as measured on 580: the first byte decides whether the device or the host copies. The host
 * copies, with its own rights, where the device has none, and where a copy with the host, or a short one (below 32
 * KiB) between device addresses, begins in memory that the host has rights to. If the host then lacks a right or
 * reaches device memory, the process dies; here the answer is [VMM-COPY-HOST-RIGHTS]. It also dies where such a copy
 * begins elsewhere and reaches memory that the host has rights to [VMM-COPY-MIXED]. The device does all fills; they
 * are refused where a further mapping is such memory and the host's rights changed after the device's
 * [VMM-SET-INTO-HOST].
 * A device address in place of the host's makes it a copy between device addresses, as measured on 580; but memory of a pool
 * of the host is the host's side of a copy and never the device's [VMM-POOL-COPY-HOST]. A copy whose
 * size passes the end of the address space starts if its start is accessible, and the process then loses the device
 * (580) [VMM-COPY-OVERFLOW, a warning; copies with the host: LAUNCH_FAILED, VMM-FAULT-HOST-COPY].
 * INVALID_CONTEXT [VMM-CTX-CURRENT]; INVALID_VALUE [VMM-COPY-NULL, VMM-COPY-NOT-MAPPED, VMM-COPY-MULTICAST,
 * VMM-COPY-RUNS-PAST, VMM-COPY-NO-READ, VMM-COPY-NO-WRITE, VMM-COPY-HOST-RIGHTS, VMM-COPY-MIXED, VMM-SET-ALIGNMENT,
 * VMM-SET-INTO-HOST, VMM-POOL-COPY-HOST]; the _async forms also INVALID_HANDLE [VMM-STREAM-UNKNOWN]. All of this is checked at the call,
 * and again when queued work runs: memory that is inaccessible by then makes it a fault [VMM-FAULT-COPY; for a copy
 * from the host VMM-FAULT-HOST-COPY]. A copy from the host reads the host's bytes at the call. cuMemcpy* and
 * cuMemset* of the same names; cuda.h 13.0. */
VMM_API vmm_result vmm_memcpy_htod(vmm_system *sys, vmm_deviceptr dst, const void *src, uint64_t byte_count);
VMM_API vmm_result vmm_memcpy_dtoh(vmm_system *sys, void *dst, vmm_deviceptr src, uint64_t byte_count);
/* Overlapping ranges are undefined in the documentation. The simulator copies as memmove does where the addresses
 * overlap; where only aliases overlap, the order is unspecified. */
VMM_API vmm_result vmm_memcpy_dtod(vmm_system *sys, vmm_deviceptr dst, vmm_deviceptr src, uint64_t byte_count);
/* n elements of 1, 2 or 4 bytes; dst is a multiple of the element's size. Observed (580): n times the size wraps at 64
 * bits, and the remainder is filled [VMM-SET-COUNT-WRAPS]. */
VMM_API vmm_result vmm_memset_d8(vmm_system *sys, vmm_deviceptr dst, unsigned char value, uint64_t n);
VMM_API vmm_result vmm_memset_d16(vmm_system *sys, vmm_deviceptr dst, unsigned short value, uint64_t n);
VMM_API vmm_result vmm_memset_d32(vmm_system *sys, vmm_deviceptr dst, unsigned int value, uint64_t n);
/* The same, ordered on a stream of the current context; NULL is its default stream. */
VMM_API vmm_result vmm_memcpy_htod_async(vmm_system *sys, vmm_deviceptr dst, const void *src, uint64_t byte_count,
                                         vmm_stream stream);
VMM_API vmm_result vmm_memcpy_dtoh_async(vmm_system *sys, void *dst, vmm_deviceptr src, uint64_t byte_count,
                                         vmm_stream stream);
VMM_API vmm_result vmm_memcpy_dtod_async(vmm_system *sys, vmm_deviceptr dst, vmm_deviceptr src, uint64_t byte_count,
                                         vmm_stream stream);
VMM_API vmm_result vmm_memset_d8_async(vmm_system *sys, vmm_deviceptr dst, unsigned char value, uint64_t n,
                                       vmm_stream stream);
VMM_API vmm_result vmm_memset_d16_async(vmm_system *sys, vmm_deviceptr dst, unsigned short value, uint64_t n,
                                        vmm_stream stream);
VMM_API vmm_result vmm_memset_d32_async(vmm_system *sys, vmm_deviceptr dst, unsigned int value, uint64_t n,
                                        vmm_stream stream);

/* ---------------------------------------------------------------------------------------------------- copies of boxes
 *
 *   row      width_in_bytes from base + (z * rows + y) * pitch + x on          base: src_host or src_device, as its type says
 *   layer    height rows, src_pitch bytes apart                                src_height rows from one layer to the next
 *   box      depth layers
 *
 * Mapped memory is taken for what it is, whatever its type says. An extent of 0 copies nothing. Checked are the context and the
 * stream, then of each side, src first: INVALID_VALUE [VMM-ROWS-MEMORY, VMM-ROWS-PITCH, VMM-BOX-HEIGHT, VMM-ROWS-END]; and then the
 * range from the first row to the last, with its gaps, as of any other copy, without x, y and z (580). A row that leaves its memory
 * all the same is accepted, and the copy ends in a fault (580); strict mode refuses it. A copy to the host is done when the call
 * returns. */

/* Copies a box at once, or in the stream's turn. INVALID_VALUE [VMM-BOX-NULL]; INVALID_CONTEXT [VMM-CTX-CURRENT], INVALID_HANDLE
 * [VMM-STREAM-UNKNOWN], and what is said above. cuMemcpy3D, cuMemcpy3DAsync. */
VMM_API vmm_result vmm_memcpy_3d(vmm_system *sys, const vmm_memcpy3d *p_copy);
VMM_API vmm_result vmm_memcpy_3d_async(vmm_system *sys, const vmm_memcpy3d *p_copy, vmm_stream stream);
/* The same between two contexts. INVALID_CONTEXT [VMM-PEER-CONTEXT]: a driver uses a value that is no context without checking it.
 * cuMemcpy3DPeer, cuMemcpy3DPeerAsync. */
VMM_API vmm_result vmm_memcpy_3d_peer(vmm_system *sys, const vmm_memcpy3d_peer *p_copy);
VMM_API vmm_result vmm_memcpy_3d_peer_async(vmm_system *sys, const vmm_memcpy3d_peer *p_copy, vmm_stream stream);

/* ------------------------------------------------------------------------------------------------- batches of copies
 *
 *   copies      0    1    2    3    4          attrs_idxs {0, 3}: the first attributes are those of copies 0 to 2, the second those
 *   attributes  0    0    0    1    1          of 3 and 4
 *
 * Batches of ranges, on devices and the host, and of boxes. The whole batch is checked first: its stream, which has a context and is
 * not the legacy one, and that a context is current: INVALID_VALUE [VMM-BATCH-STREAM], of NULL even before vmm_init (580); its arrays
 * and numbers: INVALID_VALUE [VMM-BATCH-ARGUMENTS]; its attributes: INVALID_VALUE [VMM-BATCH-ATTRIBUTES]; of boxes also each extent and
 * operand: INVALID_VALUE [VMM-BATCH-SIZE, VMM-BATCH-OPERAND]. NOT_SUPPORTED [VMM-CAPTURE-FORBIDS] of a stream that is captured, which
 * stays valid (580). Then the copies are issued one after the other, each as if called alone, in the order of the stream; where one is
 * refused, those before it are made (580). A range of 0 bytes is such a refusal [VMM-BATCH-SIZE].
 *
 * The forms _v1 are those of CUDA 12.8, the others those of 13.0; fail_idx, which may be NULL, is the index of the copy that was
 * refused, or UINT64_MAX for the batch or where none was. Every source is read in the stream's turn, whatever its access order allows. */

/* cuMemcpyBatchAsync_v2, cuMemcpyBatchAsync. */
VMM_API vmm_result vmm_memcpy_batch_async(vmm_system *sys, const vmm_deviceptr *dsts, const vmm_deviceptr *srcs, const uint64_t *sizes,
                                          uint64_t count, const vmm_memcpy_attributes *attrs, const uint64_t *attrs_idxs,
                                          uint64_t num_attrs, vmm_stream stream);
VMM_API vmm_result vmm_memcpy_batch_async_v1(vmm_system *sys, const vmm_deviceptr *dsts, const vmm_deviceptr *srcs,
                                             const uint64_t *sizes, uint64_t count, const vmm_memcpy_attributes *attrs,
                                             const uint64_t *attrs_idxs, uint64_t num_attrs, uint64_t *fail_idx, vmm_stream stream);
/* flags is 0. cuMemcpy3DBatchAsync_v2, cuMemcpy3DBatchAsync. */
VMM_API vmm_result vmm_memcpy_3d_batch_async(vmm_system *sys, uint64_t num_ops, const vmm_memcpy3d_batch_op *op_list, uint64_t flags,
                                             vmm_stream stream);
VMM_API vmm_result vmm_memcpy_3d_batch_async_v1(vmm_system *sys, uint64_t num_ops, const vmm_memcpy3d_batch_op *op_list,
                                                uint64_t *fail_idx, uint64_t flags, vmm_stream stream);

/* ------------------------------------------------------------------------------------------------------------ kernels
 * A fixed set of small kernels, the same for every backend, through which a program (or a test) uses memory as
 * kernels do: with the device's translation and rights, and no check beforehand. On a driver they are device code;
 * the simulator runs the same loops itself. All arguments are 64 bits wide. "adds to out" means an atomic addition,
 * so that several launches may share one out: set it to 0 first.
 *
 *   kernel            arguments
 *   FILL              dst n value                   n bytes at dst become value (0 to 255)
 *   PATTERN_WRITE     dst n seed                    n bytes at dst: 64-bit words, all different, computed from seed and place
 *   PATTERN_VERIFY    src n seed out                is the pattern still there? out[0]: adds how many words differ; out[1] and
 *                                                   out[2]: the first such place, in words from src, and what is there.
 *                                                   Nothing is written when all match: out[0] stays 0
 *   SUM               src n out                     adds the sum of n bytes to out
 *   COPY              dst src n                     n bytes; ranges that overlap are undefined
 *   STRIDE_READ       src n stride out              adds the bytes at src, src + stride, ... below src + n to out
 *   RANDOM_READ       src n count seed out          adds count words of [src, src + n) to out, at places given by seed
 *   TOUCH             address mode width out        one access of width bytes (1, 4 or 8): mode 0 reads it into out,
 *                                                   mode 1 writes the low bytes of VMM_KERNEL_TOUCH_VALUE
 *   ATOMIC_ADD        address times                 adds 1 to the word at address, times times
 *   ALIAS_WRITE_READ  write_addr read_addr n fence out   both addresses map the same memory: reads each word through the
 *                                                   second, writes it plus 1 through the first, reads it again through
 *                                                   the second, and adds to out how often the old value came back. fence
 *                                                   1 puts fence.proxy.alias between write and read; without it the
 *                                                   outcome is undefined in the documents [VMM-LAUNCH-ALIAS]. Observed
 *                                                   (580): 0, as here unless the spec says alias=stale:SEED
 *   MULTIMEM_STORE    mc src n                      the words at src go to every replica of the multicast address mc
 *   MULTIMEM_REDUCE   mc src n                      adds them to every replica, atomically
 *   MULTIMEM_LOAD_REDUCE   dst mc n                 each word at dst becomes the sum of its replicas
 *   NORM_ARRIVE       part counter_mc src n         the sum of the squares of n bytes of words at src goes to part, then
 *                                                   1 is added to every replica of counter_mc
 *   NORM_FINISH       out part_mc counter expected tries   reads counter, up to tries times, until it has reached
 *                                                   expected; then out[0] is the sum of the replicas of part_mc and out[1] its
 *                                                   square root, rounded down. out[2]: 1 if it was reached, else 0
 *
 * n is a number of bytes; for kernels that work on words, n and addresses are multiples of 8. out is in device memory
 * and a multiple of 8.
 *
 * mc, counter_mc and part_mc are addresses of a multicast object's mapping ("multicast") and are used by multimem
 * instructions, for which a device needs compute capability 9.0; all others are ordinary addresses. Using one kind in
 * place of the other is undefined in the documentation (PTX ISA, multimem). The simulator reports a fault
 * [VMM-FAULT-MULTICAST, VMM-FAULT-MULTIMEM], as it does for a place where some device of the team has bound nothing
 * [VMM-FAULT-UNBOUND].
 *
 * A kernel has its device's rights: READ to read, READWRITE to write and to add. They are checked at each access, not
 * at the launch. A kernel stops where it accesses an address that its device has no access to (what it and its
 * neighbours wrote before stays), and from then on the device is lost to the process:
 *
 *   vmm_launch -> SUCCESS ... vmm_ctx_synchronize -> ILLEGAL_ADDRESS [VMM-FAULT-ACCESS]      the kernel's fault
 *                             everything after it -> ILLEGAL_ADDRESS [VMM-FAULT-STICKY]      the device is lost
 *                             vmm_mem_unmap, vmm_mem_release, vmm_mem_address_free, ...      work as before
 *
 * VMM-FAULT-ACCESS is reported once, by the first call that waits for the work ("contexts and streams"), or by a
 * vmm_stream_query after it is done. Every other call that needs a context on that device (copies and
 * fills of 0 bytes, vmm_mem_free of 0 and vmm_mem_get_address_range too) is refused with VMM-FAULT-STICKY at once; a
 * driver may accept calls that only issue work until it has noticed. Observed (580): the same holds for all other
 * contexts of the process on the device, and for vmm_ctx_create and vmm_device_primary_ctx_retain. Ending contexts
 * does not clear it; only ending the process does. Physical memory, reservations, mappings, rights, pointer
 * attributes and vmm_ctx_destroy work as before. Not measured: contexts on other devices, which the simulator leaves
 * usable. An in-flight copy or fill whose memory was unmapped has the same effect [VMM-FAULT-COPY,
 * VMM-FAULT-COPY-STICKY]; copies from the host and fills of up to 512 bytes with LAUNCH_FAILED [VMM-FAULT-HOST-COPY,
 * VMM-FAULT-HOST-COPY-STICKY] (580). Work queued behind a fault never runs. For kernels, memory of vmm_mem_alloc ends
 * at its requested size; a device notices only after the last page. */
#define VMM_KERNEL_FILL 0
#define VMM_KERNEL_PATTERN_WRITE 1
#define VMM_KERNEL_PATTERN_VERIFY 2
#define VMM_KERNEL_SUM 3
#define VMM_KERNEL_COPY 4
#define VMM_KERNEL_STRIDE_READ 5
#define VMM_KERNEL_RANDOM_READ 6
#define VMM_KERNEL_TOUCH 7
#define VMM_KERNEL_ATOMIC_ADD 8
#define VMM_KERNEL_ALIAS_WRITE_READ 9
#define VMM_KERNEL_MULTIMEM_STORE 10
#define VMM_KERNEL_MULTIMEM_REDUCE 11
#define VMM_KERNEL_MULTIMEM_LOAD_REDUCE 12
#define VMM_KERNEL_NORM_ARRIVE 13
#define VMM_KERNEL_NORM_FINISH 14

#define VMM_KERNEL_TOUCH_VALUE UINT64_C(0xc3a5c3a5c3a5c3a5)

/* How many kernels there are; a kernel's name in small letters, NULL for none; how many arguments it takes, 0 for
 * none. */
VMM_API int vmm_kernel_count(void);
VMM_API const char *vmm_kernel_name(vmm_kernel kernel);
VMM_API uint64_t vmm_kernel_arguments(vmm_kernel kernel);

/* Runs kernel with grid_dim blocks (1 to 2^31 - 1) of block_dim threads (1 to 1024), ordered on a stream; the result
 * is the same for every grid. args holds count values. Checked in this order: INVALID_VALUE [VMM-LAUNCH-KERNEL,
 * VMM-LAUNCH-DIMENSIONS, VMM-LAUNCH-ARGUMENTS]; NOT_SUPPORTED [VMM-LAUNCH-UNAVAILABLE] on a driver where the library
 * was built without a compiler for device code, and for the multimem kernels without CUVMM_REAL_MULTICAST=1;
 * INVALID_CONTEXT [VMM-CTX-CURRENT], INVALID_HANDLE [VMM-STREAM-UNKNOWN]; ILLEGAL_ADDRESS [VMM-FAULT-STICKY]. Warned
 * of: [VMM-LAUNCH-ALIAS], a kernel that writes memory through one address and uses the same bytes through another,
 * judged by the mappings at the launch. cuLaunchKernel, with cuLibraryGetKernel before it. */
VMM_API vmm_result vmm_launch(vmm_system *sys, vmm_kernel kernel, unsigned int grid_dim, unsigned int block_dim,
                              const uint64_t *args, uint64_t count, vmm_stream stream);

/* Calls fn(user_data) on the host, ordered on a stream like other work. Work issued before it is done by then; later
 * work waits for its return. After a fault it is not called.
 *
 *   stream   fill F   fn(user_data)   launch K        F is done, fn runs, then K
 *
 * fn should make no calls. Documents: calls in it may be refused. Observed (580): all are refused with NOT_PERMITTED
 * [VMM-HOSTFUNC-CALL], including pure queries, except vmm_init, vmm_stream_query, vmm_event_query, work issued on a
 * stream (kernels, host functions, _async copies and fills) and calls on existing events; the last two draw a warning
 * [VMM-HOSTFUNC-WORK]. Refused calls have no effect. Waiting for the stream in which fn runs never ends on a driver,
 * and is refused here; so is waiting for an event that was not reached. A driver calls fn on a thread of its own; the
 * simulator on the thread of the call that lets it run (one that waits, a query, or with schedule=eager this call),
 * with schedule=device on a thread of its own as well. No lock of the system is held meanwhile. INVALID_CONTEXT
 * [VMM-CTX-CURRENT], INVALID_HANDLE [VMM-STREAM-UNKNOWN], ILLEGAL_ADDRESS [VMM-FAULT-STICKY], INVALID_VALUE
 * [VMM-HOSTFUNC-NULL]. cuLaunchHostFunc; cuda.h 13.0. */
VMM_API vmm_result vmm_launch_host_func(vmm_system *sys, vmm_stream stream, vmm_host_fn fn, void *user_data);

#ifdef __cplusplus
}
#endif

#endif
