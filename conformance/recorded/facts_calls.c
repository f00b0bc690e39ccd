/* SPDX-License-Identifier: Apache-2.0 */
#include "facts_calls.h"

void fc_begin(struct facts *f, const char *function)
{
    f->call.function = function;
    f->call.count = 0;
}

void fc_arg(struct facts *f, const char *name, uint64_t value)
{
    if (f->call.count < FACTS_ARGS_MAX)
        f->call.args[f->call.count++] = (struct facts_arg){name, value};
}

/* Signed parameters are sign-extended, as explanations show them. */
void fc_arg_int(struct facts *f, const char *name, int value)
{
    fc_arg(f, name, (uint64_t)(int64_t)value);
}

void fc_arg_pointer(struct facts *f, const char *name, const void *pointer)
{
    fc_arg(f, name, (uint64_t)(uintptr_t)pointer);
}

static void arg_prop(struct facts *f, const vmm_mem_allocation_prop *prop)
{
    fc_arg_pointer(f, "prop", prop);
    if (!prop)
        return;
    fc_arg_int(f, "prop.type", prop->type);
    fc_arg_int(f, "prop.requestedHandleTypes", prop->requested_handle_types);
    fc_arg_int(f, "prop.location.type", prop->location.type);
    fc_arg_int(f, "prop.location.id", prop->location.id);
    fc_arg_pointer(f, "prop.win32HandleMetaData", prop->win32_handle_meta_data);
    fc_arg(f, "prop.allocFlags.compressionType", prop->alloc_flags.compression_type);
    fc_arg(f, "prop.allocFlags.gpuDirectRDMACapable", prop->alloc_flags.gpu_direct_rdma_capable);
    fc_arg(f, "prop.allocFlags.usage", prop->alloc_flags.usage);
    for (size_t i = 0; i < sizeof prop->alloc_flags.reserved; i++)
        fc_arg(f, "prop.allocFlags.reserved", prop->alloc_flags.reserved[i]);
}

vmm_result fc_granularity(struct facts *f, uint64_t *g, const vmm_mem_allocation_prop *prop, int option)
{
    fc_begin(f, "cuMemGetAllocationGranularity");
    fc_arg_pointer(f, "granularity", g);
    arg_prop(f, prop);
    fc_arg_int(f, "option", option);
    return vmm_mem_get_allocation_granularity(f->sys, g, prop, option);
}

vmm_result fc_create(struct facts *f, vmm_mem_generic_allocation_handle *handle, uint64_t size,
                     const vmm_mem_allocation_prop *prop, uint64_t flags)
{
    fc_begin(f, "cuMemCreate");
    fc_arg_pointer(f, "handle", handle);
    fc_arg(f, "size", size);
    arg_prop(f, prop);
    fc_arg(f, "flags", flags);
    return vmm_mem_create(f->sys, handle, size, prop, flags);
}

vmm_result fc_release(struct facts *f, vmm_mem_generic_allocation_handle handle)
{
    fc_begin(f, "cuMemRelease");
    fc_arg(f, "handle", handle);
    return vmm_mem_release(f->sys, handle);
}

vmm_result fc_retain(struct facts *f, vmm_mem_generic_allocation_handle *handle, vmm_deviceptr addr)
{
    fc_begin(f, "cuMemRetainAllocationHandle");
    fc_arg_pointer(f, "handle", handle);
    fc_arg(f, "addr", addr);
    return vmm_mem_retain_allocation_handle(f->sys, handle, addr);
}

vmm_result fc_properties(struct facts *f, vmm_mem_allocation_prop *prop, vmm_mem_generic_allocation_handle handle)
{
    fc_begin(f, "cuMemGetAllocationPropertiesFromHandle");
    fc_arg_pointer(f, "prop", prop);
    fc_arg(f, "handle", handle);
    return vmm_mem_get_allocation_properties_from_handle(f->sys, prop, handle);
}

vmm_result fc_reserve(struct facts *f, vmm_deviceptr *ptr, uint64_t size, uint64_t alignment, vmm_deviceptr addr,
                      uint64_t flags)
{
    fc_begin(f, "cuMemAddressReserve");
    fc_arg_pointer(f, "ptr", ptr);
    fc_arg(f, "size", size);
    fc_arg(f, "alignment", alignment);
    fc_arg(f, "addr", addr);
    fc_arg(f, "flags", flags);
    return vmm_mem_address_reserve(f->sys, ptr, size, alignment, addr, flags);
}

vmm_result fc_free(struct facts *f, vmm_deviceptr ptr, uint64_t size)
{
    fc_begin(f, "cuMemAddressFree");
    fc_arg(f, "ptr", ptr);
    fc_arg(f, "size", size);
    return vmm_mem_address_free(f->sys, ptr, size);
}

vmm_result fc_map(struct facts *f, vmm_deviceptr ptr, uint64_t size, uint64_t offset,
                  vmm_mem_generic_allocation_handle handle, uint64_t flags)
{
    fc_begin(f, "cuMemMap");
    fc_arg(f, "ptr", ptr);
    fc_arg(f, "size", size);
    fc_arg(f, "offset", offset);
    fc_arg(f, "handle", handle);
    fc_arg(f, "flags", flags);
    return vmm_mem_map(f->sys, ptr, size, offset, handle, flags);
}

vmm_result fc_unmap(struct facts *f, vmm_deviceptr ptr, uint64_t size)
{
    fc_begin(f, "cuMemUnmap");
    fc_arg(f, "ptr", ptr);
    fc_arg(f, "size", size);
    return vmm_mem_unmap(f->sys, ptr, size);
}

vmm_result fc_set_access(struct facts *f, vmm_deviceptr ptr, uint64_t size, const vmm_mem_access_desc *desc,
                         uint64_t count)
{
    fc_begin(f, "cuMemSetAccess");
    fc_arg(f, "ptr", ptr);
    fc_arg(f, "size", size);
    fc_arg_pointer(f, "desc", desc);
    fc_arg(f, "count", count);
    for (uint64_t i = 0; desc && i < count; i++) {
        fc_arg_int(f, "desc.flags", desc[i].flags);
        fc_arg_int(f, "desc.location.type", desc[i].location.type);
        fc_arg_int(f, "desc.location.id", desc[i].location.id);
    }
    return vmm_mem_set_access(f->sys, ptr, size, desc, count);
}

vmm_result fc_get_access(struct facts *f, uint64_t *flags, const vmm_mem_location *location, vmm_deviceptr ptr)
{
    fc_begin(f, "cuMemGetAccess");
    fc_arg_pointer(f, "flags", flags);
    fc_arg_pointer(f, "location", location);
    if (location) {
        fc_arg_int(f, "location.type", location->type);
        fc_arg_int(f, "location.id", location->id);
    }
    fc_arg(f, "ptr", ptr);
    return vmm_mem_get_access(f->sys, flags, location, ptr);
}

vmm_result fc_attribute(struct facts *f, void *data, vmm_pointer_attribute attribute, vmm_deviceptr ptr)
{
    fc_begin(f, "cuPointerGetAttribute");
    fc_arg_pointer(f, "data", data);
    fc_arg_int(f, "attribute", attribute);
    fc_arg(f, "ptr", ptr);
    return vmm_pointer_get_attribute(f->sys, data, attribute, ptr);
}

vmm_result fc_range(struct facts *f, vmm_deviceptr *base, uint64_t *size, vmm_deviceptr ptr)
{
    fc_begin(f, "cuMemGetAddressRange");
    fc_arg_pointer(f, "pbase", base);
    fc_arg_pointer(f, "psize", size);
    fc_arg(f, "dptr", ptr);
    return vmm_mem_get_address_range(f->sys, base, size, ptr);
}

vmm_result fc_alloc(struct facts *f, vmm_deviceptr *ptr, uint64_t size)
{
    fc_begin(f, "cuMemAlloc");
    fc_arg_pointer(f, "dptr", ptr);
    fc_arg(f, "bytesize", size);
    return vmm_mem_alloc(f->sys, ptr, size);
}

vmm_result fc_alloc_free(struct facts *f, vmm_deviceptr ptr)
{
    fc_begin(f, "cuMemFree");
    fc_arg(f, "dptr", ptr);
    return vmm_mem_free(f->sys, ptr);
}

vmm_result fc_htod(struct facts *f, vmm_deviceptr dst, const void *src, uint64_t size)
{
    fc_begin(f, "cuMemcpyHtoD");
    fc_arg(f, "dstDevice", dst);
    fc_arg_pointer(f, "srcHost", src);
    fc_arg(f, "ByteCount", size);
    return vmm_memcpy_htod(f->sys, dst, src, size);
}

vmm_result fc_dtoh(struct facts *f, void *dst, vmm_deviceptr src, uint64_t size)
{
    fc_begin(f, "cuMemcpyDtoH");
    fc_arg_pointer(f, "dstHost", dst);
    fc_arg(f, "srcDevice", src);
    fc_arg(f, "ByteCount", size);
    return vmm_memcpy_dtoh(f->sys, dst, src, size);
}

vmm_result fc_dtod(struct facts *f, vmm_deviceptr dst, vmm_deviceptr src, uint64_t size)
{
    fc_begin(f, "cuMemcpyDtoD");
    fc_arg(f, "dstDevice", dst);
    fc_arg(f, "srcDevice", src);
    fc_arg(f, "ByteCount", size);
    return vmm_memcpy_dtod(f->sys, dst, src, size);
}

vmm_result fc_fill(struct facts *f, vmm_deviceptr dst, unsigned char value, uint64_t n)
{
    fc_begin(f, "cuMemsetD8");
    fc_arg(f, "dstDevice", dst);
    fc_arg(f, "uc", value);
    fc_arg(f, "N", n);
    return vmm_memset_d8(f->sys, dst, value, n);
}

vmm_result fc_fill16(struct facts *f, vmm_deviceptr dst, unsigned short value, uint64_t n)
{
    fc_begin(f, "cuMemsetD16");
    fc_arg(f, "dstDevice", dst);
    fc_arg(f, "us", value);
    fc_arg(f, "N", n);
    return vmm_memset_d16(f->sys, dst, value, n);
}

vmm_result fc_fill32(struct facts *f, vmm_deviceptr dst, unsigned value, uint64_t n)
{
    fc_begin(f, "cuMemsetD32");
    fc_arg(f, "dstDevice", dst);
    fc_arg(f, "ui", value);
    fc_arg(f, "N", n);
    return vmm_memset_d32(f->sys, dst, value, n);
}

vmm_result fc_attributes(struct facts *f, unsigned count, const vmm_pointer_attribute *attributes, void **data,
                         vmm_deviceptr ptr)
{
    fc_begin(f, "cuPointerGetAttributes");
    fc_arg(f, "numAttributes", count);
    fc_arg_pointer(f, "attributes", attributes);
    fc_arg_pointer(f, "data", data);
    for (unsigned i = 0; attributes && data && i < count; i++) {
        fc_arg_int(f, "attributes", attributes[i]);
        fc_arg_pointer(f, "data", data[i]);
    }
    fc_arg(f, "ptr", ptr);
    return vmm_pointer_get_attributes(f->sys, count, attributes, data, ptr);
}

vmm_result fc_device_attribute(struct facts *f, int *value, vmm_device_attribute attribute, vmm_device device)
{
    fc_begin(f, "cuDeviceGetAttribute");
    fc_arg_pointer(f, "pi", value);
    fc_arg_int(f, "attrib", attribute);
    fc_arg_int(f, "dev", device);
    return vmm_device_get_attribute(f->sys, value, attribute, device);
}
