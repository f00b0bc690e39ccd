/* SPDX-License-Identifier: Apache-2.0 */
/* device.h - initialisation and devices. Part of vmm.h, which states the conventions. */
#ifndef CUVMM_VMM_DEVICE_H
#define CUVMM_VMM_DEVICE_H

#include "base.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/* Initialises the driver in this process; calling it again does nothing. flags must be 0.
 * INVALID_VALUE [VMM-INIT-FLAGS]. cuInit; cuda.h 13.0, cuInit. */
VMM_API vmm_result vmm_init(vmm_system *sys, unsigned int flags);

/* The newest version of CUDA that the driver supports: 1000 times its major number plus 10 times its minor one. Works
 * before vmm_init, in forked children and inside host functions, too (580). INVALID_VALUE [VMM-DEVICE-NULL].
 * cuDriverGetVersion; cuda.h 13.0. */
VMM_API vmm_result vmm_driver_get_version(vmm_system *sys, int *driver_version);

/* The number of devices in the machine. INVALID_VALUE [VMM-DEVICE-NULL]. cuDeviceGetCount. */
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

#ifdef __cplusplus
}
#endif

#endif
