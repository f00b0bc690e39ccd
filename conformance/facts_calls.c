#include "facts_calls.h"

#include <string.h>

static void begin(struct facts *f, const char *function)
{
    f->call.function = function;
    f->call.count = 0;
}

static void arg(struct facts *f, const char *name, uint64_t value)
{
    if (f->call.count < FACTS_ARGS_MAX)
        f->call.args[f->call.count++] = (struct facts_arg){name, value};
}

/* Signed parameters are sign-extended, as explanations show them. */
static void arg_int(struct facts *f, const char *name, int value)
{
    arg(f, name, (uint64_t)(int64_t)value);
}

static void arg_pointer(struct facts *f, const char *name, const void *pointer)
{
    arg(f, name, (uint64_t)(uintptr_t)pointer);
}

static void arg_prop(struct facts *f, const vmm_mem_allocation_prop *prop)
{
    arg_pointer(f, "prop", prop);
    if (!prop)
        return;
    arg_int(f, "prop.type", prop->type);
    arg_int(f, "prop.requestedHandleTypes", prop->requested_handle_types);
    arg_int(f, "prop.location.type", prop->location.type);
    arg_int(f, "prop.location.id", prop->location.id);
    arg_pointer(f, "prop.win32HandleMetaData", prop->win32_handle_meta_data);
    arg(f, "prop.allocFlags.compressionType", prop->alloc_flags.compression_type);
    arg(f, "prop.allocFlags.gpuDirectRDMACapable", prop->alloc_flags.gpu_direct_rdma_capable);
    arg(f, "prop.allocFlags.usage", prop->alloc_flags.usage);
    for (size_t i = 0; i < sizeof prop->alloc_flags.reserved; i++)
        arg(f, "prop.allocFlags.reserved", prop->alloc_flags.reserved[i]);
}

vmm_result fc_granularity(struct facts *f, uint64_t *g, const vmm_mem_allocation_prop *prop, int option)
{
    begin(f, "cuMemGetAllocationGranularity");
    arg_pointer(f, "granularity", g);
    arg_prop(f, prop);
    arg_int(f, "option", option);
    return vmm_mem_get_allocation_granularity(f->sys, g, prop, option);
}

vmm_result fc_create(struct facts *f, vmm_mem_generic_allocation_handle *handle, uint64_t size,
                     const vmm_mem_allocation_prop *prop, uint64_t flags)
{
    begin(f, "cuMemCreate");
    arg_pointer(f, "handle", handle);
    arg(f, "size", size);
    arg_prop(f, prop);
    arg(f, "flags", flags);
    return vmm_mem_create(f->sys, handle, size, prop, flags);
}

vmm_result fc_release(struct facts *f, vmm_mem_generic_allocation_handle handle)
{
    begin(f, "cuMemRelease");
    arg(f, "handle", handle);
    return vmm_mem_release(f->sys, handle);
}

vmm_result fc_retain(struct facts *f, vmm_mem_generic_allocation_handle *handle, vmm_deviceptr addr)
{
    begin(f, "cuMemRetainAllocationHandle");
    arg_pointer(f, "handle", handle);
    arg(f, "addr", addr);
    return vmm_mem_retain_allocation_handle(f->sys, handle, addr);
}

vmm_result fc_properties(struct facts *f, vmm_mem_allocation_prop *prop, vmm_mem_generic_allocation_handle handle)
{
    begin(f, "cuMemGetAllocationPropertiesFromHandle");
    arg_pointer(f, "prop", prop);
    arg(f, "handle", handle);
    return vmm_mem_get_allocation_properties_from_handle(f->sys, prop, handle);
}

vmm_result fc_reserve(struct facts *f, vmm_deviceptr *ptr, uint64_t size, uint64_t alignment, vmm_deviceptr addr,
                      uint64_t flags)
{
    begin(f, "cuMemAddressReserve");
    arg_pointer(f, "ptr", ptr);
    arg(f, "size", size);
    arg(f, "alignment", alignment);
    arg(f, "addr", addr);
    arg(f, "flags", flags);
    return vmm_mem_address_reserve(f->sys, ptr, size, alignment, addr, flags);
}

vmm_result fc_free(struct facts *f, vmm_deviceptr ptr, uint64_t size)
{
    begin(f, "cuMemAddressFree");
    arg(f, "ptr", ptr);
    arg(f, "size", size);
    return vmm_mem_address_free(f->sys, ptr, size);
}

vmm_result fc_map(struct facts *f, vmm_deviceptr ptr, uint64_t size, uint64_t offset,
                  vmm_mem_generic_allocation_handle handle, uint64_t flags)
{
    begin(f, "cuMemMap");
    arg(f, "ptr", ptr);
    arg(f, "size", size);
    arg(f, "offset", offset);
    arg(f, "handle", handle);
    arg(f, "flags", flags);
    return vmm_mem_map(f->sys, ptr, size, offset, handle, flags);
}

vmm_result fc_unmap(struct facts *f, vmm_deviceptr ptr, uint64_t size)
{
    begin(f, "cuMemUnmap");
    arg(f, "ptr", ptr);
    arg(f, "size", size);
    return vmm_mem_unmap(f->sys, ptr, size);
}

vmm_result fc_set_access(struct facts *f, vmm_deviceptr ptr, uint64_t size, const vmm_mem_access_desc *desc,
                         uint64_t count)
{
    begin(f, "cuMemSetAccess");
    arg(f, "ptr", ptr);
    arg(f, "size", size);
    arg_pointer(f, "desc", desc);
    arg(f, "count", count);
    for (uint64_t i = 0; desc && i < count; i++) {
        arg_int(f, "desc.flags", desc[i].flags);
        arg_int(f, "desc.location.type", desc[i].location.type);
        arg_int(f, "desc.location.id", desc[i].location.id);
    }
    return vmm_mem_set_access(f->sys, ptr, size, desc, count);
}

vmm_result fc_get_access(struct facts *f, uint64_t *flags, const vmm_mem_location *location, vmm_deviceptr ptr)
{
    begin(f, "cuMemGetAccess");
    arg_pointer(f, "flags", flags);
    arg_pointer(f, "location", location);
    if (location) {
        arg_int(f, "location.type", location->type);
        arg_int(f, "location.id", location->id);
    }
    arg(f, "ptr", ptr);
    return vmm_mem_get_access(f->sys, flags, location, ptr);
}

vmm_result fc_attribute(struct facts *f, void *data, vmm_pointer_attribute attribute, vmm_deviceptr ptr)
{
    begin(f, "cuPointerGetAttribute");
    arg_pointer(f, "data", data);
    arg_int(f, "attribute", attribute);
    arg(f, "ptr", ptr);
    return vmm_pointer_get_attribute(f->sys, data, attribute, ptr);
}

vmm_result fc_range(struct facts *f, vmm_deviceptr *base, uint64_t *size, vmm_deviceptr ptr)
{
    begin(f, "cuMemGetAddressRange");
    arg_pointer(f, "pbase", base);
    arg_pointer(f, "psize", size);
    arg(f, "dptr", ptr);
    return vmm_mem_get_address_range(f->sys, base, size, ptr);
}

vmm_result fc_alloc(struct facts *f, vmm_deviceptr *ptr, uint64_t size)
{
    begin(f, "cuMemAlloc");
    arg_pointer(f, "dptr", ptr);
    arg(f, "bytesize", size);
    return vmm_mem_alloc(f->sys, ptr, size);
}

vmm_result fc_alloc_free(struct facts *f, vmm_deviceptr ptr)
{
    begin(f, "cuMemFree");
    arg(f, "dptr", ptr);
    return vmm_mem_free(f->sys, ptr);
}

vmm_result fc_htod(struct facts *f, vmm_deviceptr dst, const void *src, uint64_t size)
{
    begin(f, "cuMemcpyHtoD");
    arg(f, "dst", dst);
    arg_pointer(f, "src", src);
    arg(f, "byteCount", size);
    return vmm_memcpy_htod(f->sys, dst, src, size);
}

vmm_result fc_dtoh(struct facts *f, void *dst, vmm_deviceptr src, uint64_t size)
{
    begin(f, "cuMemcpyDtoH");
    arg_pointer(f, "dst", dst);
    arg(f, "src", src);
    arg(f, "byteCount", size);
    return vmm_memcpy_dtoh(f->sys, dst, src, size);
}

vmm_result fc_dtod(struct facts *f, vmm_deviceptr dst, vmm_deviceptr src, uint64_t size)
{
    begin(f, "cuMemcpyDtoD");
    arg(f, "dst", dst);
    arg(f, "src", src);
    arg(f, "byteCount", size);
    return vmm_memcpy_dtod(f->sys, dst, src, size);
}

vmm_result fc_fill(struct facts *f, vmm_deviceptr dst, unsigned char value, uint64_t n)
{
    begin(f, "cuMemsetD8");
    arg(f, "dst", dst);
    arg(f, "value", value);
    arg(f, "n", n);
    return vmm_memset_d8(f->sys, dst, value, n);
}

vmm_result fc_device_attribute(struct facts *f, int *value, vmm_device_attribute attribute, vmm_device device)
{
    begin(f, "cuDeviceGetAttribute");
    arg_pointer(f, "pi", value);
    arg_int(f, "attrib", attribute);
    arg_int(f, "dev", device);
    return vmm_device_get_attribute(f->sys, value, attribute, device);
}
