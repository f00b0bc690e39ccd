/* SPDX-License-Identifier: Apache-2.0 */
/* Compares the values, sizes and offsets of vmm.h with the toolkit's cuda.h, at compile time; skipped without a toolkit. */
#include "tap.h"

#ifdef CUVMM_HAVE_CUDA_H

#include <cuda.h>
#include <stddef.h>

#define SAME(ours, theirs) _Static_assert((int)(ours) == (int)(theirs), #ours)

#define VMM_RESULT(name, number, text) SAME(VMM_##name, CUDA_##name);
#include "results.def"

#define ENUMERATOR(name) SAME(VMM_##name, CU_##name);
ENUMERATOR(MEM_LOCATION_TYPE_INVALID)
ENUMERATOR(MEM_LOCATION_TYPE_DEVICE)
ENUMERATOR(MEM_LOCATION_TYPE_HOST)
ENUMERATOR(MEM_LOCATION_TYPE_HOST_NUMA)
ENUMERATOR(MEM_LOCATION_TYPE_HOST_NUMA_CURRENT)
ENUMERATOR(MEM_ALLOCATION_TYPE_INVALID)
ENUMERATOR(MEM_ALLOCATION_TYPE_PINNED)
ENUMERATOR(MEM_ALLOCATION_TYPE_MANAGED)
ENUMERATOR(MEM_HANDLE_TYPE_NONE)
ENUMERATOR(MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR)
ENUMERATOR(MEM_HANDLE_TYPE_WIN32)
ENUMERATOR(MEM_HANDLE_TYPE_WIN32_KMT)
ENUMERATOR(MEM_HANDLE_TYPE_FABRIC)
ENUMERATOR(MEM_ACCESS_FLAGS_PROT_NONE)
ENUMERATOR(MEM_ACCESS_FLAGS_PROT_READ)
ENUMERATOR(MEM_ACCESS_FLAGS_PROT_READWRITE)
ENUMERATOR(MEM_RANGE_HANDLE_TYPE_DMA_BUF_FD)
#if CUDA_VERSION >= 12080
ENUMERATOR(MEM_RANGE_FLAG_DMA_BUF_MAPPING_TYPE_PCIE)
#endif
ENUMERATOR(MEM_ALLOC_GRANULARITY_MINIMUM)
ENUMERATOR(MEM_ALLOC_GRANULARITY_RECOMMENDED)
#if CUDA_VERSION >= 12010
ENUMERATOR(MULTICAST_GRANULARITY_MINIMUM)
ENUMERATOR(MULTICAST_GRANULARITY_RECOMMENDED)
#endif
ENUMERATOR(MEM_ALLOCATION_COMP_NONE)
ENUMERATOR(MEM_ALLOCATION_COMP_GENERIC)
ENUMERATOR(MEM_CREATE_USAGE_TILE_POOL)
ENUMERATOR(MEM_CREATE_USAGE_HW_DECOMPRESS)
#if CUDA_VERSION >= 12080
ENUMERATOR(MEM_POOL_CREATE_USAGE_HW_DECOMPRESS)
#endif
ENUMERATOR(MEMPOOL_ATTR_REUSE_FOLLOW_EVENT_DEPENDENCIES)
ENUMERATOR(MEMPOOL_ATTR_REUSE_ALLOW_OPPORTUNISTIC)
ENUMERATOR(MEMPOOL_ATTR_REUSE_ALLOW_INTERNAL_DEPENDENCIES)
ENUMERATOR(MEMPOOL_ATTR_RELEASE_THRESHOLD)
ENUMERATOR(MEMPOOL_ATTR_RESERVED_MEM_CURRENT)
ENUMERATOR(MEMPOOL_ATTR_RESERVED_MEM_HIGH)
ENUMERATOR(MEMPOOL_ATTR_USED_MEM_CURRENT)
ENUMERATOR(MEMPOOL_ATTR_USED_MEM_HIGH)
ENUMERATOR(MEMORYTYPE_HOST)
ENUMERATOR(MEMORYTYPE_DEVICE)
ENUMERATOR(MEMORYTYPE_ARRAY)
ENUMERATOR(MEMORYTYPE_UNIFIED)
#if CUDA_VERSION >= 12080
ENUMERATOR(MEMCPY_SRC_ACCESS_ORDER_STREAM)
ENUMERATOR(MEMCPY_SRC_ACCESS_ORDER_DURING_API_CALL)
ENUMERATOR(MEMCPY_SRC_ACCESS_ORDER_ANY)
ENUMERATOR(MEMCPY_FLAG_DEFAULT)
ENUMERATOR(MEMCPY_FLAG_PREFER_OVERLAP_WITH_COMPUTE)
ENUMERATOR(MEMCPY_OPERAND_TYPE_POINTER)
ENUMERATOR(MEMCPY_OPERAND_TYPE_ARRAY)
#endif
ENUMERATOR(IPC_MEM_LAZY_ENABLE_PEER_ACCESS)
ENUMERATOR(STREAM_DEFAULT)
ENUMERATOR(STREAM_NON_BLOCKING)
ENUMERATOR(EVENT_DEFAULT)
ENUMERATOR(EVENT_BLOCKING_SYNC)
ENUMERATOR(EVENT_DISABLE_TIMING)
ENUMERATOR(EVENT_INTERPROCESS)
ENUMERATOR(EVENT_WAIT_DEFAULT)
ENUMERATOR(EVENT_WAIT_EXTERNAL)
ENUMERATOR(STREAM_WAIT_VALUE_GEQ)
ENUMERATOR(STREAM_WAIT_VALUE_EQ)
ENUMERATOR(STREAM_WAIT_VALUE_AND)
ENUMERATOR(STREAM_WAIT_VALUE_NOR)
ENUMERATOR(STREAM_WAIT_VALUE_FLUSH)
ENUMERATOR(STREAM_WRITE_VALUE_DEFAULT)
ENUMERATOR(STREAM_WRITE_VALUE_NO_MEMORY_BARRIER)
ENUMERATOR(STREAM_MEM_OP_WAIT_VALUE_32)
ENUMERATOR(STREAM_MEM_OP_WRITE_VALUE_32)
ENUMERATOR(STREAM_MEM_OP_FLUSH_REMOTE_WRITES)
ENUMERATOR(STREAM_MEM_OP_WAIT_VALUE_64)
ENUMERATOR(STREAM_MEM_OP_WRITE_VALUE_64)
#if CUDA_VERSION >= 11070
ENUMERATOR(STREAM_MEM_OP_BARRIER)
ENUMERATOR(STREAM_MEMORY_BARRIER_TYPE_SYS)
ENUMERATOR(STREAM_MEMORY_BARRIER_TYPE_GPU)
#endif
ENUMERATOR(DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK)
ENUMERATOR(DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT)
ENUMERATOR(DEVICE_ATTRIBUTE_COMPUTE_MODE)
ENUMERATOR(DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING)
ENUMERATOR(DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR)
ENUMERATOR(DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR)
ENUMERATOR(DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS)
ENUMERATOR(DEVICE_ATTRIBUTE_CONCURRENT_MANAGED_ACCESS)
ENUMERATOR(DEVICE_ATTRIBUTE_PAGEABLE_MEMORY_ACCESS_USES_HOST_PAGE_TABLES)
ENUMERATOR(DEVICE_ATTRIBUTE_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)
ENUMERATOR(DEVICE_ATTRIBUTE_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR_SUPPORTED)
ENUMERATOR(DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_HANDLE_SUPPORTED)
ENUMERATOR(DEVICE_ATTRIBUTE_HANDLE_TYPE_WIN32_KMT_HANDLE_SUPPORTED)
ENUMERATOR(DEVICE_ATTRIBUTE_GENERIC_COMPRESSION_SUPPORTED)
ENUMERATOR(DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_WITH_CUDA_VMM_SUPPORTED)
ENUMERATOR(DEVICE_ATTRIBUTE_SPARSE_CUDA_ARRAY_SUPPORTED)
ENUMERATOR(DEVICE_ATTRIBUTE_GPU_DIRECT_RDMA_SUPPORTED)
ENUMERATOR(DEVICE_ATTRIBUTE_DMA_BUF_SUPPORTED)
ENUMERATOR(DEVICE_ATTRIBUTE_HANDLE_TYPE_FABRIC_SUPPORTED)
ENUMERATOR(DEVICE_ATTRIBUTE_MULTICAST_SUPPORTED)
ENUMERATOR(DEVICE_ATTRIBUTE_HOST_NUMA_ID)
ENUMERATOR(DEVICE_ATTRIBUTE_HOST_NUMA_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)
ENUMERATOR(DEVICE_ATTRIBUTE_HOST_NUMA_MULTINODE_IPC_SUPPORTED)
ENUMERATOR(DEVICE_ATTRIBUTE_HOST_VIRTUAL_MEMORY_MANAGEMENT_SUPPORTED)
ENUMERATOR(AD_FORMAT_UNSIGNED_INT8)
ENUMERATOR(AD_FORMAT_UNSIGNED_INT16)
ENUMERATOR(AD_FORMAT_UNSIGNED_INT32)
ENUMERATOR(AD_FORMAT_SIGNED_INT8)
ENUMERATOR(AD_FORMAT_SIGNED_INT16)
ENUMERATOR(AD_FORMAT_SIGNED_INT32)
ENUMERATOR(AD_FORMAT_HALF)
ENUMERATOR(AD_FORMAT_FLOAT)
ENUMERATOR(AD_FORMAT_NV12)
SAME(VMM_ARRAY3D_LAYERED, CUDA_ARRAY3D_LAYERED);
SAME(VMM_ARRAY3D_SURFACE_LDST, CUDA_ARRAY3D_SURFACE_LDST);
SAME(VMM_ARRAY3D_CUBEMAP, CUDA_ARRAY3D_CUBEMAP);
SAME(VMM_ARRAY3D_TEXTURE_GATHER, CUDA_ARRAY3D_TEXTURE_GATHER);
SAME(VMM_ARRAY3D_DEPTH_TEXTURE, CUDA_ARRAY3D_DEPTH_TEXTURE);
#if CUDA_VERSION >= 11070
SAME(VMM_ARRAY3D_COLOR_ATTACHMENT, CUDA_ARRAY3D_COLOR_ATTACHMENT);
SAME(VMM_ARRAY3D_SPARSE, CUDA_ARRAY3D_SPARSE);
SAME(VMM_ARRAY3D_DEFERRED_MAPPING, CUDA_ARRAY3D_DEFERRED_MAPPING);
SAME(VMM_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL, CU_ARRAY_SPARSE_PROPERTIES_SINGLE_MIPTAIL);
ENUMERATOR(RESOURCE_TYPE_ARRAY)
ENUMERATOR(RESOURCE_TYPE_MIPMAPPED_ARRAY)
ENUMERATOR(RESOURCE_TYPE_LINEAR)
ENUMERATOR(RESOURCE_TYPE_PITCH2D)
ENUMERATOR(ARRAY_SPARSE_SUBRESOURCE_TYPE_SPARSE_LEVEL)
ENUMERATOR(ARRAY_SPARSE_SUBRESOURCE_TYPE_MIPTAIL)
ENUMERATOR(MEM_OPERATION_TYPE_MAP)
ENUMERATOR(MEM_OPERATION_TYPE_UNMAP)
ENUMERATOR(MEM_HANDLE_TYPE_GENERIC)
#endif
ENUMERATOR(MEM_ATTACH_GLOBAL)
ENUMERATOR(MEM_ATTACH_HOST)
ENUMERATOR(MEM_ATTACH_SINGLE)
ENUMERATOR(DEVICE_CPU)
ENUMERATOR(DEVICE_INVALID)
ENUMERATOR(MEM_ADVISE_SET_READ_MOSTLY)
ENUMERATOR(MEM_ADVISE_UNSET_READ_MOSTLY)
ENUMERATOR(MEM_ADVISE_SET_PREFERRED_LOCATION)
ENUMERATOR(MEM_ADVISE_UNSET_PREFERRED_LOCATION)
ENUMERATOR(MEM_ADVISE_SET_ACCESSED_BY)
ENUMERATOR(MEM_ADVISE_UNSET_ACCESSED_BY)
ENUMERATOR(MEM_RANGE_ATTRIBUTE_READ_MOSTLY)
ENUMERATOR(MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION)
ENUMERATOR(MEM_RANGE_ATTRIBUTE_ACCESSED_BY)
ENUMERATOR(MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION)
#if CUDA_VERSION >= 12020
ENUMERATOR(MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_TYPE)
ENUMERATOR(MEM_RANGE_ATTRIBUTE_PREFERRED_LOCATION_ID)
ENUMERATOR(MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_TYPE)
ENUMERATOR(MEM_RANGE_ATTRIBUTE_LAST_PREFETCH_LOCATION_ID)
#endif
ENUMERATOR(POINTER_ATTRIBUTE_CONTEXT)
ENUMERATOR(POINTER_ATTRIBUTE_MEMORY_TYPE)
ENUMERATOR(POINTER_ATTRIBUTE_DEVICE_POINTER)
ENUMERATOR(POINTER_ATTRIBUTE_HOST_POINTER)
ENUMERATOR(POINTER_ATTRIBUTE_P2P_TOKENS)
ENUMERATOR(POINTER_ATTRIBUTE_SYNC_MEMOPS)
ENUMERATOR(POINTER_ATTRIBUTE_BUFFER_ID)
ENUMERATOR(POINTER_ATTRIBUTE_IS_MANAGED)
ENUMERATOR(POINTER_ATTRIBUTE_DEVICE_ORDINAL)
ENUMERATOR(POINTER_ATTRIBUTE_IS_LEGACY_CUDA_IPC_CAPABLE)
ENUMERATOR(POINTER_ATTRIBUTE_RANGE_START_ADDR)
ENUMERATOR(POINTER_ATTRIBUTE_RANGE_SIZE)
ENUMERATOR(POINTER_ATTRIBUTE_MAPPED)
ENUMERATOR(POINTER_ATTRIBUTE_ALLOWED_HANDLE_TYPES)
ENUMERATOR(POINTER_ATTRIBUTE_IS_GPU_DIRECT_RDMA_CAPABLE)
ENUMERATOR(POINTER_ATTRIBUTE_ACCESS_FLAGS)
ENUMERATOR(POINTER_ATTRIBUTE_MEMPOOL_HANDLE)
ENUMERATOR(POINTER_ATTRIBUTE_MAPPING_SIZE)
ENUMERATOR(POINTER_ATTRIBUTE_MAPPING_BASE_ADDR)
ENUMERATOR(POINTER_ATTRIBUTE_MEMORY_BLOCK_ID)
#if CUDA_VERSION >= 12080
ENUMERATOR(POINTER_ATTRIBUTE_IS_HW_DECOMPRESS_CAPABLE)
#endif

#define SIZE(ours, theirs) _Static_assert(sizeof(ours) == sizeof(theirs), "size of " #ours)
#define OFFSET(ours, field, theirs, their_field) \
    _Static_assert(offsetof(ours, field) == offsetof(theirs, their_field), "offset of " #field)
#define FIELD(ours, field, theirs, their_field)                                                         \
    OFFSET(ours, field, theirs, their_field);                                                           \
    _Static_assert(sizeof(((ours *)0)->field) == sizeof(((theirs *)0)->their_field), "size of " #field)

SIZE(vmm_deviceptr, CUdeviceptr);
SIZE(vmm_mem_generic_allocation_handle, CUmemGenericAllocationHandle);
SIZE(vmm_device, CUdevice);
SIZE(vmm_mem_location, CUmemLocation);
FIELD(vmm_mem_location, type, CUmemLocation, type);
FIELD(vmm_mem_location, id, CUmemLocation, id);
SIZE(vmm_stream_batch_mem_op_params, CUstreamBatchMemOpParams);
FIELD(vmm_stream_batch_mem_op_params, wait_value.address, CUstreamBatchMemOpParams, waitValue.address);
FIELD(vmm_stream_batch_mem_op_params, wait_value.value64, CUstreamBatchMemOpParams, waitValue.value64);
FIELD(vmm_stream_batch_mem_op_params, wait_value.flags, CUstreamBatchMemOpParams, waitValue.flags);
FIELD(vmm_stream_batch_mem_op_params, wait_value.alias, CUstreamBatchMemOpParams, waitValue.alias);
FIELD(vmm_stream_batch_mem_op_params, write_value.value, CUstreamBatchMemOpParams, writeValue.value);
FIELD(vmm_stream_batch_mem_op_params, write_value.flags, CUstreamBatchMemOpParams, writeValue.flags);
FIELD(vmm_stream_batch_mem_op_params, flush_remote_writes.flags, CUstreamBatchMemOpParams, flushRemoteWrites.flags);
SIZE(vmm_memory_pool, CUmemoryPool);
SIZE(vmm_mem_pool_props, CUmemPoolProps);
FIELD(vmm_mem_pool_props, alloc_type, CUmemPoolProps, allocType);
FIELD(vmm_mem_pool_props, handle_types, CUmemPoolProps, handleTypes);
FIELD(vmm_mem_pool_props, location, CUmemPoolProps, location);
FIELD(vmm_mem_pool_props, win32_security_attributes, CUmemPoolProps, win32SecurityAttributes);
#if CUDA_VERSION >= 12080
FIELD(vmm_mem_pool_props, max_size, CUmemPoolProps, maxSize);
FIELD(vmm_mem_pool_props, usage, CUmemPoolProps, usage);
FIELD(vmm_mem_pool_props, reserved, CUmemPoolProps, reserved);
#endif
SIZE(vmm_memcpy3d, CUDA_MEMCPY3D);
FIELD(vmm_memcpy3d, src_x_in_bytes, CUDA_MEMCPY3D, srcXInBytes);
FIELD(vmm_memcpy3d, src_y, CUDA_MEMCPY3D, srcY);
FIELD(vmm_memcpy3d, src_z, CUDA_MEMCPY3D, srcZ);
FIELD(vmm_memcpy3d, src_lod, CUDA_MEMCPY3D, srcLOD);
FIELD(vmm_memcpy3d, src_memory_type, CUDA_MEMCPY3D, srcMemoryType);
FIELD(vmm_memcpy3d, src_host, CUDA_MEMCPY3D, srcHost);
FIELD(vmm_memcpy3d, src_device, CUDA_MEMCPY3D, srcDevice);
FIELD(vmm_memcpy3d, src_array, CUDA_MEMCPY3D, srcArray);
FIELD(vmm_memcpy3d, src_pitch, CUDA_MEMCPY3D, srcPitch);
FIELD(vmm_memcpy3d, src_height, CUDA_MEMCPY3D, srcHeight);
FIELD(vmm_memcpy3d, dst_x_in_bytes, CUDA_MEMCPY3D, dstXInBytes);
FIELD(vmm_memcpy3d, dst_y, CUDA_MEMCPY3D, dstY);
FIELD(vmm_memcpy3d, dst_z, CUDA_MEMCPY3D, dstZ);
FIELD(vmm_memcpy3d, dst_lod, CUDA_MEMCPY3D, dstLOD);
FIELD(vmm_memcpy3d, dst_memory_type, CUDA_MEMCPY3D, dstMemoryType);
FIELD(vmm_memcpy3d, dst_host, CUDA_MEMCPY3D, dstHost);
FIELD(vmm_memcpy3d, dst_device, CUDA_MEMCPY3D, dstDevice);
FIELD(vmm_memcpy3d, dst_array, CUDA_MEMCPY3D, dstArray);
FIELD(vmm_memcpy3d, dst_pitch, CUDA_MEMCPY3D, dstPitch);
FIELD(vmm_memcpy3d, dst_height, CUDA_MEMCPY3D, dstHeight);
FIELD(vmm_memcpy3d, width_in_bytes, CUDA_MEMCPY3D, WidthInBytes);
FIELD(vmm_memcpy3d, height, CUDA_MEMCPY3D, Height);
FIELD(vmm_memcpy3d, depth, CUDA_MEMCPY3D, Depth);
FIELD(vmm_memcpy3d, reserved0, CUDA_MEMCPY3D, reserved0);
FIELD(vmm_memcpy3d, reserved1, CUDA_MEMCPY3D, reserved1);
SIZE(vmm_memcpy3d_peer, CUDA_MEMCPY3D_PEER);
FIELD(vmm_memcpy3d_peer, src_x_in_bytes, CUDA_MEMCPY3D_PEER, srcXInBytes);
FIELD(vmm_memcpy3d_peer, src_y, CUDA_MEMCPY3D_PEER, srcY);
FIELD(vmm_memcpy3d_peer, src_z, CUDA_MEMCPY3D_PEER, srcZ);
FIELD(vmm_memcpy3d_peer, src_lod, CUDA_MEMCPY3D_PEER, srcLOD);
FIELD(vmm_memcpy3d_peer, src_memory_type, CUDA_MEMCPY3D_PEER, srcMemoryType);
FIELD(vmm_memcpy3d_peer, src_host, CUDA_MEMCPY3D_PEER, srcHost);
FIELD(vmm_memcpy3d_peer, src_device, CUDA_MEMCPY3D_PEER, srcDevice);
FIELD(vmm_memcpy3d_peer, src_array, CUDA_MEMCPY3D_PEER, srcArray);
FIELD(vmm_memcpy3d_peer, src_pitch, CUDA_MEMCPY3D_PEER, srcPitch);
FIELD(vmm_memcpy3d_peer, src_height, CUDA_MEMCPY3D_PEER, srcHeight);
FIELD(vmm_memcpy3d_peer, dst_x_in_bytes, CUDA_MEMCPY3D_PEER, dstXInBytes);
FIELD(vmm_memcpy3d_peer, dst_y, CUDA_MEMCPY3D_PEER, dstY);
FIELD(vmm_memcpy3d_peer, dst_z, CUDA_MEMCPY3D_PEER, dstZ);
FIELD(vmm_memcpy3d_peer, dst_lod, CUDA_MEMCPY3D_PEER, dstLOD);
FIELD(vmm_memcpy3d_peer, dst_memory_type, CUDA_MEMCPY3D_PEER, dstMemoryType);
FIELD(vmm_memcpy3d_peer, dst_host, CUDA_MEMCPY3D_PEER, dstHost);
FIELD(vmm_memcpy3d_peer, dst_device, CUDA_MEMCPY3D_PEER, dstDevice);
FIELD(vmm_memcpy3d_peer, dst_array, CUDA_MEMCPY3D_PEER, dstArray);
FIELD(vmm_memcpy3d_peer, dst_pitch, CUDA_MEMCPY3D_PEER, dstPitch);
FIELD(vmm_memcpy3d_peer, dst_height, CUDA_MEMCPY3D_PEER, dstHeight);
FIELD(vmm_memcpy3d_peer, width_in_bytes, CUDA_MEMCPY3D_PEER, WidthInBytes);
FIELD(vmm_memcpy3d_peer, height, CUDA_MEMCPY3D_PEER, Height);
FIELD(vmm_memcpy3d_peer, depth, CUDA_MEMCPY3D_PEER, Depth);
FIELD(vmm_memcpy3d_peer, src_context, CUDA_MEMCPY3D_PEER, srcContext);
FIELD(vmm_memcpy3d_peer, dst_context, CUDA_MEMCPY3D_PEER, dstContext);
#if CUDA_VERSION >= 12080
SIZE(vmm_memcpy_attributes, CUmemcpyAttributes);
FIELD(vmm_memcpy_attributes, src_access_order, CUmemcpyAttributes, srcAccessOrder);
FIELD(vmm_memcpy_attributes, src_loc_hint, CUmemcpyAttributes, srcLocHint);
FIELD(vmm_memcpy_attributes, dst_loc_hint, CUmemcpyAttributes, dstLocHint);
FIELD(vmm_memcpy_attributes, flags, CUmemcpyAttributes, flags);
SIZE(vmm_memcpy3d_operand, CUmemcpy3DOperand);
FIELD(vmm_memcpy3d_operand, type, CUmemcpy3DOperand, type);
FIELD(vmm_memcpy3d_operand, op.ptr.ptr, CUmemcpy3DOperand, op.ptr.ptr);
FIELD(vmm_memcpy3d_operand, op.ptr.row_length, CUmemcpy3DOperand, op.ptr.rowLength);
FIELD(vmm_memcpy3d_operand, op.ptr.layer_height, CUmemcpy3DOperand, op.ptr.layerHeight);
FIELD(vmm_memcpy3d_operand, op.ptr.loc_hint, CUmemcpy3DOperand, op.ptr.locHint);
FIELD(vmm_memcpy3d_operand, op.array.array, CUmemcpy3DOperand, op.array.array);
FIELD(vmm_memcpy3d_operand, op.array.x, CUmemcpy3DOperand, op.array.offset.x);
FIELD(vmm_memcpy3d_operand, op.array.z, CUmemcpy3DOperand, op.array.offset.z);
SIZE(vmm_memcpy3d_batch_op, CUDA_MEMCPY3D_BATCH_OP);
FIELD(vmm_memcpy3d_batch_op, src, CUDA_MEMCPY3D_BATCH_OP, src);
FIELD(vmm_memcpy3d_batch_op, dst, CUDA_MEMCPY3D_BATCH_OP, dst);
FIELD(vmm_memcpy3d_batch_op, extent, CUDA_MEMCPY3D_BATCH_OP, extent);
FIELD(vmm_memcpy3d_batch_op, extent.height, CUDA_MEMCPY3D_BATCH_OP, extent.height);
FIELD(vmm_memcpy3d_batch_op, extent.depth, CUDA_MEMCPY3D_BATCH_OP, extent.depth);
FIELD(vmm_memcpy3d_batch_op, src_access_order, CUDA_MEMCPY3D_BATCH_OP, srcAccessOrder);
FIELD(vmm_memcpy3d_batch_op, flags, CUDA_MEMCPY3D_BATCH_OP, flags);
#endif
SIZE(vmm_ipc_mem_handle, CUipcMemHandle);
SIZE(vmm_ipc_event_handle, CUipcEventHandle);
SIZE(vmm_mem_pool_ptr_export_data, CUmemPoolPtrExportData);
SIZE(vmm_mem_access_desc, CUmemAccessDesc);
FIELD(vmm_mem_access_desc, location, CUmemAccessDesc, location);
FIELD(vmm_mem_access_desc, flags, CUmemAccessDesc, flags);
SIZE(vmm_mem_allocation_prop, CUmemAllocationProp);
FIELD(vmm_mem_allocation_prop, type, CUmemAllocationProp, type);
FIELD(vmm_mem_allocation_prop, requested_handle_types, CUmemAllocationProp, requestedHandleTypes);
FIELD(vmm_mem_allocation_prop, location, CUmemAllocationProp, location);
FIELD(vmm_mem_allocation_prop, win32_handle_meta_data, CUmemAllocationProp, win32HandleMetaData);
FIELD(vmm_mem_allocation_prop, alloc_flags.compression_type, CUmemAllocationProp, allocFlags.compressionType);
FIELD(vmm_mem_allocation_prop, alloc_flags.gpu_direct_rdma_capable, CUmemAllocationProp,
      allocFlags.gpuDirectRDMACapable);
FIELD(vmm_mem_allocation_prop, alloc_flags.usage, CUmemAllocationProp, allocFlags.usage);
FIELD(vmm_mem_allocation_prop, alloc_flags.reserved, CUmemAllocationProp, allocFlags.reserved);
#if CUDA_VERSION >= 12010
SIZE(vmm_multicast_object_prop, CUmulticastObjectProp);
FIELD(vmm_multicast_object_prop, num_devices, CUmulticastObjectProp, numDevices);
FIELD(vmm_multicast_object_prop, size, CUmulticastObjectProp, size);
FIELD(vmm_multicast_object_prop, handle_types, CUmulticastObjectProp, handleTypes);
FIELD(vmm_multicast_object_prop, flags, CUmulticastObjectProp, flags);
#endif
SIZE(vmm_array, CUarray);
SIZE(vmm_mipmapped_array, CUmipmappedArray);
#if CUDA_VERSION >= 11070
#define CALL_SHAPE(shape, theirs) \
    typedef theirs theirs_##shape;  \
    SIZE(vmm_##shape, theirs);
#define CALL_SHAPE_FIELD(shape, kind, key, ours, theirs) FIELD(vmm_##shape, ours, theirs_##shape, theirs);
#include "call_structs.def"
#endif

int main(void)
{
    tap_ok(true, "vmm.h agrees with cuda.h %d (checked by static assertions when this file was compiled)", CUDA_VERSION);
    return tap_done();
}

#else

int main(void)
{
    tap_skip("no cuda.h here (CUDA_PATH)", "vmm.h agrees with cuda.h");
    return tap_done();
}

#endif
