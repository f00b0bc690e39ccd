/* SPDX-License-Identifier: Apache-2.0 */
#include "facts_driver.h"

#include "ask.h"
#include "../facts/driver/cuda.h"
#include "facts_calls.h"
#include "tap.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>

/* cuInit initialises the whole process, and so does its stand-in. The recording programs have one thread. */
static struct facts *driver;

void facts_driver_open(struct facts *f)
{
    driver = f;
}

/* Each process opens its own system at its first call, just as each loads its own driver. */
static struct facts *here(void)
{
    if (!driver->sys && vmm_open(driver->spec, &driver->sys) != VMM_SUCCESS)
        tap_bail("%s cannot be opened", driver->spec);
    return driver;
}

static bool crashes(void)
{
    const char *id = vmm_last_detail()->rule;
    const vmm_rule *rule = id ? vmm_rule_find(id) : NULL;
    return rule && rule->driver_580 == VMM_DRIVER_CRASHES;
}

static CUresult told(vmm_result result)
{
    if (result == VMM_SUCCESS || result == VMM_ERROR_NOT_READY)
        return result;
    const char *rule = vmm_last_detail()->rule, *fault = facts_unexplained(driver, result, crashes());
    printf("%c" FACTS_REFUSED "%s|%s%c", FACTS_REMARK, rule ? rule : "nothing", fault ? fault : "", FACTS_REMARK_END);
    fflush(stdout);
    if (crashes()) {
        signal(SIGSEGV, SIG_DFL);
        raise(SIGSEGV);
    }
    return result;
}

/* Addresses and handles are as wide as uint64_t, but another type to the compiler. */
#define WIDE_OUT(pointer, call)                                      \
    uint64_t wide = (pointer) ? *(pointer) : 0;                      \
    uint64_t *to = (pointer) ? &wide : NULL;                         \
    CUresult result = told(call);                                    \
    if (pointer)                                                     \
        *(pointer) = wide;                                           \
    return result

_Static_assert(sizeof(CUmemAllocationProp) == sizeof(vmm_mem_allocation_prop), "one layout");
_Static_assert(sizeof(CUmemAccessDesc) == sizeof(vmm_mem_access_desc), "one layout");
_Static_assert(sizeof(CUmemLocation) == sizeof(vmm_mem_location), "one layout");
_Static_assert(sizeof(size_t) == sizeof(uint64_t), "sizes of the driver are 64 bits wide");

CUresult cuDriverGetVersion(int *version)
{
    return told(fc_driver_version(here(), version));
}

CUresult cuGetErrorName(CUresult result, const char **name)
{
    *name = vmm_result_name(result);
    return VMM_SUCCESS;
}

static CUresult cannot(const char *capability)
{
    printf("%c" FACTS_LATER "%s%c", FACTS_REMARK, capability, FACTS_REMARK_END);
    fflush(stdout);
    return VMM_ERROR_NOT_SUPPORTED;
}

/* Calls that the API lacks are composed of those it has, as in libcuda.so.1; ci/abi-recorded holds that library's own
 * entry points to the same lines. */
CUresult cuDevicePrimaryCtxGetState(CUdevice dev, unsigned *flags, int *active)
{
    vmm_context current;
    CUresult result = told(fc_ctx_get_current(here(), &current));
    if (result == VMM_SUCCESS) {
        *flags = 0;
        *active = ask_primary(here()->sys, dev);
    }
    return result;
}

CUresult cuCtxPopCurrent(CUcontext *ctx)
{
    vmm_context current = NULL;
    CUresult result = told(fc_ctx_get_current(here(), &current));
    if (result == VMM_SUCCESS && !current)
        return told(fc_ctx_synchronize(here())); /* refused for the same reason, with its explanation */
    if (result == VMM_SUCCESS)
        result = told(fc_ctx_set_current(here(), NULL));
    if (result == VMM_SUCCESS)
        *ctx = current;
    return result;
}

CUresult cuMemExportToShareableHandle(void *out, CUmemGenericAllocationHandle handle, CUmemAllocationHandleType type,
                                      unsigned long long flags)
{
    return told(fc_export(here(), out, handle, type, flags));
}

CUresult cuMemImportFromShareableHandle(CUmemGenericAllocationHandle *handle, void *in,
                                        CUmemAllocationHandleType type)
{
    WIDE_OUT(handle, fc_import(here(), to, in, type));
}

CUresult cuEventCreate(CUevent *event, unsigned flags)
{
    return told(fc_event_create(here(), event, flags));
}

CUresult cuEventDestroy(CUevent event)
{
    return told(fc_event_destroy(here(), event));
}

CUresult cuEventRecord(CUevent event, CUstream stream)
{
    return told(fc_event_record(here(), event, stream));
}

CUresult cuEventQuery(CUevent event)
{
    return told(fc_event_query(here(), event));
}

CUresult cuEventSynchronize(CUevent event)
{
    return told(fc_event_synchronize(here(), event));
}

CUresult cuStreamWaitEvent(CUstream stream, CUevent event, unsigned flags)
{
    return told(fc_stream_wait_event(here(), stream, event, flags));
}

CUresult cuMemAlloc(CUdeviceptr *ptr, size_t size)
{
    WIDE_OUT(ptr, fc_alloc(here(), to, size));
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *prop,
                                       CUmemAllocationGranularity_flags option)
{
    vmm_mem_allocation_prop copy;
    if (prop)
        memcpy(&copy, prop, sizeof copy);
    WIDE_OUT(granularity, fc_granularity(here(), to, prop ? &copy : NULL, option));
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size, const CUmemAllocationProp *prop,
                     unsigned long long flags)
{
    vmm_mem_allocation_prop copy;
    if (prop)
        memcpy(&copy, prop, sizeof copy);
    WIDE_OUT(handle, fc_create(here(), to, size, prop ? &copy : NULL, flags));
}

CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *addr)
{
    WIDE_OUT(handle, fc_retain(here(), to, (vmm_deviceptr)(uintptr_t)addr));
}

CUresult cuMemGetAllocationPropertiesFromHandle(CUmemAllocationProp *prop, CUmemGenericAllocationHandle handle)
{
    vmm_mem_allocation_prop copy;
    if (prop)
        memcpy(&copy, prop, sizeof copy);
    CUresult result = told(fc_properties(here(), prop ? &copy : NULL, handle));
    if (prop)
        memcpy(prop, &copy, sizeof copy);
    return result;
}

CUresult cuMemAddressReserve(CUdeviceptr *ptr, size_t size, size_t alignment, CUdeviceptr addr,
                             unsigned long long flags)
{
    WIDE_OUT(ptr, fc_reserve(here(), to, size, alignment, addr, flags));
}

/* A count without a list stands alone; none of the recordings has a list longer than this. */
CUresult cuMemSetAccess(CUdeviceptr ptr, size_t size, const CUmemAccessDesc *desc, size_t count)
{
    static vmm_mem_access_desc copy[1024];
    if (desc && count > sizeof copy / sizeof copy[0])
        return cannot("a longer list of rights than the replay has room for");
    if (desc)
        memcpy(copy, desc, count * sizeof copy[0]);
    return told(fc_set_access(here(), ptr, size, desc ? copy : NULL, count));
}

CUresult cuMemGetAccess(unsigned long long *flags, const CUmemLocation *location, CUdeviceptr ptr)
{
    vmm_mem_location copy = {0, 0};
    if (location)
        copy = (vmm_mem_location){location->type, location->id};
    WIDE_OUT(flags, fc_get_access(here(), to, location ? &copy : NULL, ptr));
}

CUresult cuMemGetAddressRange(CUdeviceptr *base, size_t *size, CUdeviceptr ptr)
{
    WIDE_OUT(base, fc_range(here(), to, size, ptr));
}

CUresult cuMemGetHandleForAddressRange(void *handle, CUdeviceptr ptr, size_t size, CUmemRangeHandleType type,
                                       unsigned long long flags)
{
    return told(fc_dmabuf(here(), handle, ptr, size, type, flags));
}

CUresult cuCtxCreate(CUcontext *ctx, CUctxCreateParams *params, unsigned flags, CUdevice dev)
{
    return params ? cannot("context parameters") : told(fc_ctx_create(here(), ctx, flags, dev));
}

CUresult cuInit(unsigned flags)
{
    return told(fc_init(here(), flags));
}

CUresult cuDeviceGetCount(int *count)
{
    return told(fc_device_count(here(), count));
}

CUresult cuDeviceGet(CUdevice *device, int ordinal)
{
    return told(fc_device(here(), device, ordinal));
}

CUresult cuDeviceGetName(char *name, int len, CUdevice dev)
{
    return told(fc_device_name(here(), name, len, dev));
}

CUresult cuDeviceGetAttribute(int *value, CUdevice_attribute attribute, CUdevice dev)
{
    return told(fc_device_attribute(here(), value, attribute, dev));
}

CUresult cuDeviceTotalMem(size_t *bytes, CUdevice dev)
{
    return told(fc_device_total(here(), bytes, dev));
}

CUresult cuDeviceCanAccessPeer(int *can, CUdevice dev, CUdevice peer)
{
    return told(fc_can_access_peer(here(), can, dev, peer));
}

CUresult cuDevicePrimaryCtxRetain(CUcontext *ctx, CUdevice dev)
{
    return told(fc_primary_retain(here(), ctx, dev));
}

CUresult cuDevicePrimaryCtxRelease(CUdevice dev)
{
    return told(fc_primary_release(here(), dev));
}

CUresult cuDevicePrimaryCtxReset(CUdevice dev)
{
    return told(fc_primary_reset(here(), dev));
}

CUresult cuCtxDestroy(CUcontext ctx)
{
    return told(fc_ctx_destroy(here(), ctx));
}

CUresult cuCtxSetCurrent(CUcontext ctx)
{
    return told(fc_ctx_set_current(here(), ctx));
}

CUresult cuCtxGetCurrent(CUcontext *ctx)
{
    return told(fc_ctx_get_current(here(), ctx));
}

CUresult cuCtxGetDevice(CUdevice *dev)
{
    return told(fc_ctx_get_device(here(), dev));
}

CUresult cuCtxSynchronize(void)
{
    return told(fc_ctx_synchronize(here()));
}

CUresult cuStreamCreate(CUstream *stream, unsigned flags)
{
    return told(fc_stream_create(here(), stream, flags));
}

CUresult cuStreamDestroy(CUstream stream)
{
    return told(fc_stream_destroy(here(), stream));
}

CUresult cuStreamSynchronize(CUstream stream)
{
    return told(fc_stream_synchronize(here(), stream));
}

CUresult cuStreamQuery(CUstream stream)
{
    return told(fc_stream_query(here(), stream));
}

CUresult cuLaunchHostFunc(CUstream stream, CUhostFn fn, void *user_data)
{
    return told(fc_host_func(here(), stream, fn, user_data));
}

CUresult cuMemGetInfo(size_t *free_bytes, size_t *total)
{
    return told(fc_memory_info(here(), free_bytes, total));
}

CUresult cuMemFree(CUdeviceptr ptr)
{
    return told(fc_alloc_free(here(), ptr));
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
    return told(fc_release(here(), handle));
}

CUresult cuMemAddressFree(CUdeviceptr ptr, size_t size)
{
    return told(fc_free(here(), ptr, size));
}

CUresult cuMemMap(CUdeviceptr ptr, size_t size, size_t offset, CUmemGenericAllocationHandle handle,
                  unsigned long long flags)
{
    return told(fc_map(here(), ptr, size, offset, handle, flags));
}

CUresult cuMemUnmap(CUdeviceptr ptr, size_t size)
{
    return told(fc_unmap(here(), ptr, size));
}

CUresult cuPointerGetAttribute(void *data, CUpointer_attribute attribute, CUdeviceptr ptr)
{
    return told(fc_attribute(here(), data, attribute, ptr));
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data, CUdeviceptr ptr)
{
    return told(fc_attributes(here(), count, attributes, data, ptr));
}

CUresult cuMemcpyHtoD(CUdeviceptr dst, const void *src, size_t size)
{
    return told(fc_htod(here(), dst, src, size));
}

CUresult cuMemcpyDtoH(void *dst, CUdeviceptr src, size_t size)
{
    return told(fc_dtoh(here(), dst, src, size));
}

CUresult cuMemcpyDtoD(CUdeviceptr dst, CUdeviceptr src, size_t size)
{
    return told(fc_dtod(here(), dst, src, size));
}

CUresult cuMemsetD8(CUdeviceptr dst, unsigned char value, size_t n)
{
    return told(fc_fill(here(), dst, value, n));
}

CUresult cuMemsetD16(CUdeviceptr dst, unsigned short value, size_t n)
{
    return told(fc_fill16(here(), dst, value, n));
}

CUresult cuMemsetD32(CUdeviceptr dst, unsigned value, size_t n)
{
    return told(fc_fill32(here(), dst, value, n));
}

CUresult cuMemcpyHtoDAsync(CUdeviceptr dst, const void *src, size_t size, CUstream stream)
{
    return told(fc_htod_async(here(), dst, src, size, stream));
}

CUresult cuMemcpyDtoHAsync(void *dst, CUdeviceptr src, size_t size, CUstream stream)
{
    return told(fc_dtoh_async(here(), dst, src, size, stream));
}

CUresult cuMemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t size, CUstream stream)
{
    return told(fc_dtod_async(here(), dst, src, size, stream));
}

CUresult cuMemsetD8Async(CUdeviceptr dst, unsigned char value, size_t n, CUstream stream)
{
    return told(fc_fill_async(here(), dst, value, n, stream));
}
