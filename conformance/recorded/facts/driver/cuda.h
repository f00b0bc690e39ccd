/* SPDX-License-Identifier: Apache-2.0 */
/* cuda.h - the driver API's names for the public calls, so that a recording program compiles against the simulator.
 *
 *   edges.c  + the toolkit's cuda.h  + libcuda    ->  a recording
 *   edges.c  + this cuda.h           + libcuvmm   ->  its replay, call by call
 *
 * Only what the recording programs use. What the public header cannot ask yet says so on standard output (see
 * facts_driver.c) and returns NOT_SUPPORTED. Types have the driver's widths, so that the programs' formats fit.
 */
#ifndef CUVMM_FACTS_DRIVER_CUDA_H
#define CUVMM_FACTS_DRIVER_CUDA_H

#include <stddef.h>

#include "vmm.h"

#define CUVMM_REPLAYS_DRIVER 1
#define CUDA_VERSION 13000

typedef vmm_result CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef unsigned long long CUmemGenericAllocationHandle;
typedef vmm_context CUcontext;
typedef vmm_stream CUstream;
typedef vmm_event CUevent;
typedef vmm_host_fn CUhostFn;
typedef int CUmemLocationType, CUmemAllocationType, CUmemAllocationHandleType, CUmemAccess_flags;
typedef int CUmemRangeHandleType;
typedef int CUmemAllocationGranularity_flags, CUdevice_attribute, CUpointer_attribute;
typedef struct CUctxCreateParams_st CUctxCreateParams;

#define CUDA_CB
#define CUDA_SUCCESS VMM_SUCCESS
#define CU_MEM_ALLOCATION_TYPE_PINNED VMM_MEM_ALLOCATION_TYPE_PINNED
#define CU_MEM_LOCATION_TYPE_DEVICE VMM_MEM_LOCATION_TYPE_DEVICE
#define CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR VMM_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR
#define CU_MEM_CREATE_USAGE_TILE_POOL VMM_MEM_CREATE_USAGE_TILE_POOL
#define CU_MEM_HANDLE_TYPE_WIN32 VMM_MEM_HANDLE_TYPE_WIN32
#define CU_MEM_HANDLE_TYPE_FABRIC VMM_MEM_HANDLE_TYPE_FABRIC
#define CU_MEM_HANDLE_TYPE_MAX 0x7FFFFFFF
#define CU_MEM_ALLOC_GRANULARITY_MINIMUM VMM_MEM_ALLOC_GRANULARITY_MINIMUM
#define CU_DEVICE_ATTRIBUTE_MAX 148 /* as in the toolkit 13.0 */
#define CU_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING VMM_DEVICE_ATTRIBUTE_UNIFIED_ADDRESSING
#define CU_POINTER_ATTRIBUTE_MEMORY_TYPE VMM_POINTER_ATTRIBUTE_MEMORY_TYPE
#define CU_POINTER_ATTRIBUTE_MAPPED VMM_POINTER_ATTRIBUTE_MAPPED
#define CU_POINTER_ATTRIBUTE_RANGE_START_ADDR VMM_POINTER_ATTRIBUTE_RANGE_START_ADDR
#define CU_POINTER_ATTRIBUTE_RANGE_SIZE VMM_POINTER_ATTRIBUTE_RANGE_SIZE
#define CU_POINTER_ATTRIBUTE_ACCESS_FLAGS VMM_POINTER_ATTRIBUTE_ACCESS_FLAGS
#define CU_POINTER_ATTRIBUTE_MAPPING_SIZE VMM_POINTER_ATTRIBUTE_MAPPING_SIZE
#define CU_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR VMM_POINTER_ATTRIBUTE_MAPPING_BASE_ADDR
#define CU_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID VMM_POINTER_ATTRIBUTE_MEMORY_BLOCK_ID
#define CU_POINTER_ATTRIBUTE_BUFFER_ID VMM_POINTER_ATTRIBUTE_BUFFER_ID
#define CU_EVENT_DISABLE_TIMING VMM_EVENT_DISABLE_TIMING
#define CU_STREAM_LEGACY ((CUstream)1)
#define CU_STREAM_NON_BLOCKING VMM_STREAM_NON_BLOCKING
#define CU_STREAM_PER_THREAD ((CUstream)2)

typedef struct {
    CUmemLocationType type;
    int id;
} CUmemLocation;

typedef struct {
    CUmemAllocationType type;
    CUmemAllocationHandleType requestedHandleTypes;
    CUmemLocation location;
    void *win32HandleMetaData;
    struct {
        unsigned char compressionType, gpuDirectRDMACapable;
        unsigned short usage;
        unsigned char reserved[4];
    } allocFlags;
} CUmemAllocationProp;

typedef struct {
    CUmemLocation location;
    CUmemAccess_flags flags;
} CUmemAccessDesc;

/* The names are macros, so that no symbol of the real driver's is defined. */
#define CU(name) cuvmm_replay_##name
#define cuInit CU(init)
#define cuDriverGetVersion CU(driver_get_version)
#define cuGetErrorName CU(get_error_name)
#define cuDeviceGetCount CU(device_get_count)
#define cuDeviceGet CU(device_get)
#define cuDeviceGetName CU(device_get_name)
#define cuDeviceGetAttribute CU(device_get_attribute)
#define cuDeviceTotalMem CU(device_total_mem)
#define cuDeviceCanAccessPeer CU(device_can_access_peer)
#define cuDevicePrimaryCtxRetain CU(device_primary_ctx_retain)
#define cuDevicePrimaryCtxRelease CU(device_primary_ctx_release)
#define cuDevicePrimaryCtxReset CU(device_primary_ctx_reset)
#define cuDevicePrimaryCtxGetState CU(device_primary_ctx_get_state)
#define cuCtxCreate CU(ctx_create)
#define cuCtxDestroy CU(ctx_destroy)
#define cuCtxSetCurrent CU(ctx_set_current)
#define cuCtxGetCurrent CU(ctx_get_current)
#define cuCtxPopCurrent CU(ctx_pop_current)
#define cuCtxGetDevice CU(ctx_get_device)
#define cuCtxSynchronize CU(ctx_synchronize)
#define cuStreamCreate CU(stream_create)
#define cuStreamDestroy CU(stream_destroy)
#define cuStreamSynchronize CU(stream_synchronize)
#define cuStreamQuery CU(stream_query)
#define cuStreamWaitEvent CU(stream_wait_event)
#define cuEventCreate CU(event_create)
#define cuEventDestroy CU(event_destroy)
#define cuEventRecord CU(event_record)
#define cuEventQuery CU(event_query)
#define cuEventSynchronize CU(event_synchronize)
#define cuLaunchHostFunc CU(launch_host_func)
#define cuMemGetInfo CU(mem_get_info)
#define cuMemAlloc CU(mem_alloc)
#define cuMemFree CU(mem_free)
#define cuMemGetAllocationGranularity CU(mem_get_allocation_granularity)
#define cuMemCreate CU(mem_create)
#define cuMemRelease CU(mem_release)
#define cuMemRetainAllocationHandle CU(mem_retain_allocation_handle)
#define cuMemGetAllocationPropertiesFromHandle CU(mem_get_allocation_properties_from_handle)
#define cuMemExportToShareableHandle CU(mem_export_to_shareable_handle)
#define cuMemImportFromShareableHandle CU(mem_import_from_shareable_handle)
#define cuMemAddressReserve CU(mem_address_reserve)
#define cuMemAddressFree CU(mem_address_free)
#define cuMemMap CU(mem_map)
#define cuMemUnmap CU(mem_unmap)
#define cuMemSetAccess CU(mem_set_access)
#define cuMemGetAccess CU(mem_get_access)
#define cuPointerGetAttribute CU(pointer_get_attribute)
#define cuPointerGetAttributes CU(pointer_get_attributes)
#define cuMemGetAddressRange CU(mem_get_address_range)
#define cuMemGetHandleForAddressRange CU(mem_get_handle_for_address_range)
#define cuMemcpyHtoD CU(memcpy_htod)
#define cuMemcpyDtoH CU(memcpy_dtoh)
#define cuMemcpyDtoD CU(memcpy_dtod)
#define cuMemcpyHtoDAsync CU(memcpy_htod_async)
#define cuMemcpyDtoHAsync CU(memcpy_dtoh_async)
#define cuMemcpyDtoDAsync CU(memcpy_dtod_async)
#define cuMemsetD8Async CU(memset_d8_async)
#define cuMemsetD8 CU(memset_d8)
#define cuMemsetD16 CU(memset_d16)
#define cuMemsetD32 CU(memset_d32)
#define cuMemsetD8Async CU(memset_d8_async)

CUresult cuInit(unsigned flags);
CUresult cuDriverGetVersion(int *version);
CUresult cuGetErrorName(CUresult result, const char **name);
CUresult cuDeviceGetCount(int *count);
CUresult cuDeviceGet(CUdevice *device, int ordinal);
CUresult cuDeviceGetName(char *name, int len, CUdevice dev);
CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice dev);
CUresult cuDeviceTotalMem(size_t *bytes, CUdevice dev);
CUresult cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer);
CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev);
CUresult cuDevicePrimaryCtxRelease(CUdevice dev);
CUresult cuDevicePrimaryCtxReset(CUdevice dev);
CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned *flags, int *active);
CUresult cuCtxCreate(CUcontext *ctx, CUctxCreateParams *params, unsigned flags, CUdevice dev);
CUresult cuCtxDestroy(CUcontext ctx);
CUresult cuCtxSetCurrent(CUcontext ctx);
CUresult cuCtxGetCurrent(CUcontext *ctx);
CUresult cuCtxPopCurrent(CUcontext *ctx);
CUresult cuCtxGetDevice(CUdevice *dev);
CUresult cuCtxSynchronize(void);
CUresult cuStreamCreate(CUstream *stream, unsigned flags);
CUresult cuStreamDestroy(CUstream stream);
CUresult cuStreamSynchronize(CUstream stream);
CUresult cuStreamQuery(CUstream stream);
CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags);
CUresult cuEventCreate(CUevent *event, unsigned flags);
CUresult cuEventDestroy(CUevent event);
CUresult cuEventRecord(CUevent event, CUstream stream);
CUresult cuEventQuery(CUevent event);
CUresult cuEventSynchronize(CUevent event);
CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *user_data);
CUresult cuMemGetInfo(size_t *free_bytes, size_t *total);
CUresult cuMemAlloc(CUdeviceptr *ptr, size_t size);
CUresult cuMemFree(CUdeviceptr ptr);
CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option);
CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                     unsigned long long flags);
CUresult cuMemRelease(CUmemGenericAllocationHandle handle);
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr);
CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle);
CUresult cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                                      unsigned long long flags);
CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *in,
                                        CUmemAllocationHandleType type);
CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                             unsigned long long flags);
CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size);
CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags);
CUresult cuMemUnmap(CUdeviceptr ptr, size_t size);
CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count);
CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr);
CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr);
CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data, CUdeviceptr ptr);
CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *size, CUdeviceptr ptr);
CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr ptr, size_t size, CUmemRangeHandleType type,
                                       unsigned long long flags);
CUresult cuMemcpyHtoD(CUdeviceptr dst, const void *src, size_t size);
CUresult cuMemcpyDtoH(void *dst, CUdeviceptr src, size_t size);
CUresult cuMemcpyDtoD(CUdeviceptr dst, CUdeviceptr src, size_t size);
CUresult cuMemcpyHtoDAsync(CUdeviceptr dst, const void *src, size_t size, CUstream stream);
CUresult cuMemcpyDtoHAsync(void *dst, CUdeviceptr src, size_t size, CUstream stream);
CUresult cuMemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream);
CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t n, CUstream stream);
CUresult cuMemsetD8(CUdeviceptr dst, unsigned char value, size_t n);
CUresult cuMemsetD16(CUdeviceptr dst, unsigned short value, size_t n);
CUresult cuMemsetD32(CUdeviceptr dst, unsigned value, size_t n);
CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t n, CUstream stream);

#endif
