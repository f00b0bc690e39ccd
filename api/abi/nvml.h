/* SPDX-License-Identifier: Apache-2.0 */
/* nvml.h - the part of NVML's ABI that cuvmm's libnvidia-ml.so.1 implements, for machines without the toolkit.
 *
 *     cc -I<prefix>/include/cuvmm/abi program.c -lnvidia-ml      with this header instead of the toolkit's
 *
 * Written from the facts of the ABI: names, numbers, layouts. It declares exactly what the library implements; if the toolkit is
 * installed, use its header instead. Tests compare everything with the toolkit's header: numbers, sizes, offsets and prototypes.
 *
 * As in the toolkit's header, names stand for the newest form of a function, unless NVML_NO_UNVERSIONED_FUNC_DEFS is defined.
 */
#ifndef CUVMM_ABI_NVML_H
#define CUVMM_ABI_NVML_H
#define __nvml_nvml_h__ /* the toolkit's include guard: only one of the two headers may be used */

#ifdef __cplusplus
extern "C" {
#endif

#define NVML_API_VERSION 13

#ifndef NVML_NO_UNVERSIONED_FUNC_DEFS
#define nvmlInit nvmlInit_v2
#define nvmlDeviceGetPciInfo nvmlDeviceGetPciInfo_v3
#define nvmlDeviceGetCount nvmlDeviceGetCount_v2
#define nvmlDeviceGetHandleByIndex nvmlDeviceGetHandleByIndex_v2
#define nvmlDeviceGetHandleByPciBusId nvmlDeviceGetHandleByPciBusId_v2
#define nvmlDeviceGetNvLinkRemotePciInfo nvmlDeviceGetNvLinkRemotePciInfo_v2
#define nvmlDeviceGetComputeRunningProcesses nvmlDeviceGetComputeRunningProcesses_v3
#define nvmlDeviceGetGraphicsRunningProcesses nvmlDeviceGetGraphicsRunningProcesses_v3
#define nvmlDeviceGetMPSComputeRunningProcesses nvmlDeviceGetMPSComputeRunningProcesses_v3
#endif

/* The version field of a struct: its size, and its version in the last byte. */
#define NVML_STRUCT_VERSION(data, version) (unsigned int)(sizeof(nvml##data##_v##version##_t) | ((version) << 24U))

#define NVML_ENUM(tag) typedef enum tag {
#define NVML_VALUE(name, value) name = value,
#define NVML_ENUM_END(type) type##_FORCE_INT = 0x7fffffff } type;
#include "nvml_values.def"

#define NVML_DEVICE_ARCH_UNKNOWN 0xffffffffu
#define NVML_NVLINK_MAX_LINKS 18 /* as of 13.0 */
#define NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE 32
#define NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE 16
#define NVML_DEVICE_UUID_ASCII_LEN 41
#define NVML_DEVICE_UUID_BINARY_LEN 16
#define NVML_DEVICE_UUID_V2_BUFFER_SIZE 96
#define NVML_DEVICE_NAME_V2_BUFFER_SIZE 96
#define NVML_SYSTEM_DRIVER_VERSION_BUFFER_SIZE 80
#define NVML_SYSTEM_NVML_VERSION_BUFFER_SIZE 80
#define NVML_GPU_FABRIC_UUID_LEN 16

typedef struct nvmlDevice_st *nvmlDevice_t;
typedef unsigned int nvmlDeviceArchitecture_t;
typedef unsigned int nvmlBusType_t;
typedef unsigned int nvmlAffinityScope_t;
typedef unsigned char nvmlGpuFabricState_t;

typedef union {
    char str[NVML_DEVICE_UUID_ASCII_LEN];
    unsigned char bytes[NVML_DEVICE_UUID_BINARY_LEN];
} nvmlUUIDValue_t;

typedef struct {
    unsigned int version; /* nvmlUUID_v1 */
    unsigned int type;    /* NVML_UUID_TYPE_ */
    nvmlUUIDValue_t value;
} nvmlUUID_v1_t;
typedef nvmlUUID_v1_t nvmlUUID_t;
#define nvmlUUID_v1 NVML_STRUCT_VERSION(UUID, 1)

typedef struct nvmlPciInfo_st {
    char busIdLegacy[NVML_DEVICE_PCI_BUS_ID_BUFFER_V2_SIZE]; /* 0000:01:00.0 */
    unsigned int domain, bus, device;
    unsigned int pciDeviceId;    /* device in the upper half, vendor in the lower */
    unsigned int pciSubSystemId;
    char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE]; /* 00000000:01:00.0 */
} nvmlPciInfo_t;

typedef struct {
    unsigned int version; /* nvmlPciInfoExt_v1 */
    unsigned int domain, bus, device;
    unsigned int pciDeviceId, pciSubSystemId;
    unsigned int baseClass, subClass;
    char busId[NVML_DEVICE_PCI_BUS_ID_BUFFER_SIZE];
} nvmlPciInfoExt_v1_t;
typedef nvmlPciInfoExt_v1_t nvmlPciInfoExt_t;
#define nvmlPciInfoExt_v1 NVML_STRUCT_VERSION(PciInfoExt, 1)

typedef struct nvmlMemory_st {
    unsigned long long total, free, used; /* bytes; used includes what the driver keeps for itself */
} nvmlMemory_t;

typedef struct nvmlMemory_v2_st {
    unsigned int version; /* nvmlMemory_v2 */
    unsigned long long total, reserved, free, used; /* bytes */
} nvmlMemory_v2_t;
#define nvmlMemory_v2 NVML_STRUCT_VERSION(Memory, 2)

typedef struct nvmlProcessInfo_v1_st {
    unsigned int pid;
    unsigned long long usedGpuMemory; /* bytes */
} nvmlProcessInfo_v1_t;

typedef struct nvmlProcessInfo_v2_st {
    unsigned int pid;
    unsigned long long usedGpuMemory;              /* bytes */
    unsigned int gpuInstanceId, computeInstanceId; /* 0xffffffff: none */
} nvmlProcessInfo_v2_t, nvmlProcessInfo_t;

typedef struct {
    unsigned char clusterUuid[NVML_GPU_FABRIC_UUID_LEN];
    nvmlReturn_t status;
    unsigned int cliqueId;
    nvmlGpuFabricState_t state; /* NVML_GPU_FABRIC_STATE_ */
} nvmlGpuFabricInfo_t;

typedef struct {
    unsigned int version; /* nvmlGpuFabricInfo_v2 */
    unsigned char clusterUuid[NVML_GPU_FABRIC_UUID_LEN];
    nvmlReturn_t status;
    unsigned int cliqueId;
    nvmlGpuFabricState_t state;
    unsigned int healthMask; /* 0: not reported */
} nvmlGpuFabricInfo_v2_t;
#define nvmlGpuFabricInfo_v2 NVML_STRUCT_VERSION(GpuFabricInfo, 2)

typedef struct {
    unsigned int version; /* nvmlGpuFabricInfo_v3 */
    unsigned char clusterUuid[NVML_GPU_FABRIC_UUID_LEN];
    nvmlReturn_t status;
    unsigned int cliqueId;
    nvmlGpuFabricState_t state;
    unsigned int healthMask;
    unsigned char healthSummary; /* 0: not reported */
} nvmlGpuFabricInfo_v3_t;
typedef nvmlGpuFabricInfo_v3_t nvmlGpuFabricInfoV_t;
#define nvmlGpuFabricInfo_v3 NVML_STRUCT_VERSION(GpuFabricInfo, 3)

typedef struct nvmlConfComputeSystemState_st {
    unsigned int environment, ccFeature, devToolsMode;
} nvmlConfComputeSystemState_t;

typedef struct {
    unsigned int version; /* nvmlSystemConfComputeSettings_v1 */
    unsigned int environment, ccFeature, devToolsMode, multiGpuMode;
} nvmlSystemConfComputeSettings_v1_t;
typedef nvmlSystemConfComputeSettings_v1_t nvmlSystemConfComputeSettings_t;
#define nvmlSystemConfComputeSettings_v1 NVML_STRUCT_VERSION(SystemConfComputeSettings, 1)

typedef union nvmlValue_st {
    double dVal;
    int siVal;
    unsigned int uiVal;
    unsigned long ulVal;
    unsigned long long ullVal;
    signed long long sllVal;
    unsigned short usVal;
} nvmlValue_t;

typedef struct nvmlFieldValue_st {
    unsigned int fieldId, scopeId;
    long long timestamp;   /* microseconds since 1970 */
    long long latencyUsec; /* microseconds */
    nvmlValueType_t valueType;
    nvmlReturn_t nvmlReturn; /* of this field alone */
    nvmlValue_t value;
} nvmlFieldValue_t;

#include "nvml_functions.h"

#ifdef __cplusplus
}
#endif
#endif
