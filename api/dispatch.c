/* SPDX-License-Identifier: Apache-2.0 */
/* Every public entry point: pack the parameters into a record, number it, pass it to the outermost backend, report. */
#include "system.h"
#include "thread.h"

static void tell(vmm_system *sys)
{
    vmm_report_fn report;
    void *user;
    life_take(&sys->lock);
    report = sys->report;
    user = sys->user;
    life_give(&sys->lock);
    if (!report)
        return;
    /* A copy: the function may make calls, which refill the thread's record. */
    vmm_detail detail = *vmm_last_detail();
    vmm_fault fault;
    int cancel = life_no_cancel(); /* it may hold what is the program's */
    if (detail.fault) {
        fault = *detail.fault;
        detail.fault = &fault;
    }
    report(user, &detail);
    life_may_cancel(cancel);
    *vmm_detail_here() = detail;
    if (detail.fault)
        vmm_detail_fault(&fault);
}

static inline uint64_t number_of(vmm_system *sys, struct vmm_thread *thread, const struct vmm_call *call)
{
    bool asks = vmm_call_asks((enum vmm_call_id)call->id);
    return asks ? ordinal_of_question(&sys->calls, &thread->ordinals) : ordinal_of_change(&sys->calls, &thread->ordinals);
}

/* A part of the program's call, told as that; its parts share one number. */
static inline void begin_part(vmm_system *sys, struct vmm_thread *thread, struct vmm_call *call, struct vmm_within *within)
{
    if (!within->number)
        within->number = number_of(sys, thread, call);
    call->number = within->number;
    vmm_detail_begin_in(&thread->detail, call)->function = vmm_told_name(vmm_told_in(within, call->id));
}

static vmm_result dispatch(vmm_system *sys, struct vmm_call *call)
{
    struct vmm_thread *thread = vmm_thread();
    struct vmm_within *within = vmm_within_now(&thread->within);
    if (within) {
        begin_part(sys, thread, call, within);
    } else {
        call->number = number_of(sys, thread, call);
        vmm_detail_begin_in(&thread->detail, call);
    }
    vmm_result result = vmm_backend_call(sys->top, call);
    if (thread->detail.severity != VMM_SEVERITY_NONE)
        tell(sys);
    return result;
}

void vmm_set_report(vmm_system *sys, vmm_report_fn report, void *user)
{
    life_take(&sys->lock);
    sys->report = report;
    sys->user = user;
    life_give(&sys->lock);
}

#define CALL(name, ...)                                                                  \
    do {                                                                                 \
        struct vmm_call_##name call = {{VMM_CALL_##name, 0}, __VA_ARGS__};               \
        return dispatch(sys, &call.head);                                                \
    } while (0)

vmm_result vmm_init(vmm_system *sys, unsigned int flags)
{
    CALL(init, flags);
}

vmm_result vmm_driver_get_version(vmm_system *sys, int *driver_version)
{
    CALL(driver_get_version, driver_version);
}

vmm_result vmm_device_get_count(vmm_system *sys, int *count)
{
    CALL(device_get_count, count);
}

vmm_result vmm_device_get(vmm_system *sys, vmm_device *device, int ordinal)
{
    CALL(device_get, device, ordinal);
}

vmm_result vmm_device_get_name(vmm_system *sys, char *name, int len, vmm_device dev)
{
    CALL(device_get_name, name, len, dev);
}

vmm_result vmm_device_get_attribute(vmm_system *sys, int *pi, vmm_device_attribute attrib, vmm_device dev)
{
    CALL(device_get_attribute, pi, attrib, dev);
}

vmm_result vmm_device_total_mem(vmm_system *sys, uint64_t *bytes, vmm_device dev)
{
    CALL(device_total_mem, bytes, dev);
}

vmm_result vmm_device_can_access_peer(vmm_system *sys, int *can_access_peer, vmm_device dev, vmm_device peer_dev)
{
    CALL(device_can_access_peer, can_access_peer, dev, peer_dev);
}

vmm_result vmm_device_primary_ctx_retain(vmm_system *sys, vmm_context *pctx, vmm_device dev)
{
    CALL(device_primary_ctx_retain, pctx, dev);
}

vmm_result vmm_device_primary_ctx_release(vmm_system *sys, vmm_device dev)
{
    CALL(device_primary_ctx_release, dev);
}

vmm_result vmm_device_primary_ctx_reset(vmm_system *sys, vmm_device dev)
{
    CALL(device_primary_ctx_reset, dev);
}

vmm_result vmm_ctx_create(vmm_system *sys, vmm_context *pctx, unsigned int flags, vmm_device dev)
{
    CALL(ctx_create, pctx, flags, dev);
}

vmm_result vmm_ctx_destroy(vmm_system *sys, vmm_context ctx)
{
    CALL(ctx_destroy, ctx);
}

vmm_result vmm_ctx_set_current(vmm_system *sys, vmm_context ctx)
{
    CALL(ctx_set_current, ctx);
}

vmm_result vmm_ctx_get_current(vmm_system *sys, vmm_context *pctx)
{
    CALL(ctx_get_current, pctx);
}

vmm_result vmm_ctx_get_device(vmm_system *sys, vmm_device *device)
{
    CALL(ctx_get_device, device);
}

vmm_result vmm_ctx_synchronize(vmm_system *sys)
{
    struct vmm_call_ctx_synchronize call = {{VMM_CALL_ctx_synchronize, 0}};
    return dispatch(sys, &call.head);
}

vmm_result vmm_stream_create(vmm_system *sys, vmm_stream *stream, unsigned int flags)
{
    CALL(stream_create, stream, flags);
}

vmm_result vmm_stream_destroy(vmm_system *sys, vmm_stream stream)
{
    CALL(stream_destroy, stream);
}

vmm_result vmm_stream_synchronize(vmm_system *sys, vmm_stream stream)
{
    CALL(stream_synchronize, stream);
}

vmm_result vmm_stream_query(vmm_system *sys, vmm_stream stream)
{
    CALL(stream_query, stream);
}

vmm_result vmm_event_create(vmm_system *sys, vmm_event *event, unsigned int flags)
{
    CALL(event_create, event, flags);
}

vmm_result vmm_event_destroy(vmm_system *sys, vmm_event event)
{
    CALL(event_destroy, event);
}

vmm_result vmm_event_record(vmm_system *sys, vmm_event event, vmm_stream stream)
{
    CALL(event_record, event, stream);
}

vmm_result vmm_event_query(vmm_system *sys, vmm_event event)
{
    CALL(event_query, event);
}

vmm_result vmm_event_synchronize(vmm_system *sys, vmm_event event)
{
    CALL(event_synchronize, event);
}

vmm_result vmm_stream_wait_event(vmm_system *sys, vmm_stream stream, vmm_event event, unsigned int flags)
{
    CALL(stream_wait_event, stream, event, flags);
}

vmm_result vmm_mem_get_info(vmm_system *sys, uint64_t *free, uint64_t *total)
{
    CALL(mem_get_info, free, total);
}

vmm_result vmm_mem_alloc(vmm_system *sys, vmm_deviceptr *dptr, uint64_t bytesize)
{
    CALL(mem_alloc, dptr, bytesize);
}

vmm_result vmm_mem_free(vmm_system *sys, vmm_deviceptr dptr)
{
    CALL(mem_free, dptr);
}

vmm_result vmm_mem_get_allocation_granularity(vmm_system *sys, uint64_t *granularity,
                                              const vmm_mem_allocation_prop *prop,
                                              vmm_mem_allocation_granularity_flags option)
{
    CALL(mem_get_allocation_granularity, granularity, prop, option);
}

vmm_result vmm_mem_create(vmm_system *sys, vmm_mem_generic_allocation_handle *handle, uint64_t size,
                          const vmm_mem_allocation_prop *prop, uint64_t flags)
{
    CALL(mem_create, handle, size, prop, flags);
}

vmm_result vmm_mem_release(vmm_system *sys, vmm_mem_generic_allocation_handle handle)
{
    CALL(mem_release, handle);
}

vmm_result vmm_mem_retain_allocation_handle(vmm_system *sys, vmm_mem_generic_allocation_handle *handle,
                                            vmm_deviceptr addr)
{
    CALL(mem_retain_allocation_handle, handle, addr);
}

vmm_result vmm_mem_get_allocation_properties_from_handle(vmm_system *sys, vmm_mem_allocation_prop *prop,
                                                         vmm_mem_generic_allocation_handle handle)
{
    CALL(mem_get_allocation_properties_from_handle, prop, handle);
}

vmm_result vmm_multicast_get_granularity(vmm_system *sys, uint64_t *granularity, const vmm_multicast_object_prop *prop,
                                         vmm_multicast_granularity_flags option)
{
    CALL(multicast_get_granularity, granularity, prop, option);
}

vmm_result vmm_multicast_create(vmm_system *sys, vmm_mem_generic_allocation_handle *mc_handle,
                                const vmm_multicast_object_prop *prop)
{
    CALL(multicast_create, mc_handle, prop);
}

vmm_result vmm_multicast_add_device(vmm_system *sys, vmm_mem_generic_allocation_handle mc_handle, vmm_device dev)
{
    CALL(multicast_add_device, mc_handle, dev);
}

vmm_result vmm_multicast_bind_mem(vmm_system *sys, vmm_mem_generic_allocation_handle mc_handle, uint64_t mc_offset,
                                  vmm_mem_generic_allocation_handle mem_handle, uint64_t mem_offset, uint64_t size,
                                  uint64_t flags)
{
    CALL(multicast_bind_mem, mc_handle, mc_offset, mem_handle, mem_offset, size, flags);
}

vmm_result vmm_multicast_bind_addr(vmm_system *sys, vmm_mem_generic_allocation_handle mc_handle, uint64_t mc_offset,
                                   vmm_deviceptr memptr, uint64_t size, uint64_t flags)
{
    CALL(multicast_bind_addr, mc_handle, mc_offset, memptr, size, flags);
}

vmm_result vmm_multicast_unbind(vmm_system *sys, vmm_mem_generic_allocation_handle mc_handle, vmm_device dev,
                                uint64_t mc_offset, uint64_t size)
{
    CALL(multicast_unbind, mc_handle, dev, mc_offset, size);
}

vmm_result vmm_mem_address_reserve(vmm_system *sys, vmm_deviceptr *ptr, uint64_t size, uint64_t alignment,
                                   vmm_deviceptr addr, uint64_t flags)
{
    CALL(mem_address_reserve, ptr, size, alignment, addr, flags);
}

vmm_result vmm_mem_address_free(vmm_system *sys, vmm_deviceptr ptr, uint64_t size)
{
    CALL(mem_address_free, ptr, size);
}

vmm_result vmm_mem_map(vmm_system *sys, vmm_deviceptr ptr, uint64_t size, uint64_t offset,
                       vmm_mem_generic_allocation_handle handle, uint64_t flags)
{
    CALL(mem_map, ptr, size, offset, handle, flags);
}

vmm_result vmm_mem_unmap(vmm_system *sys, vmm_deviceptr ptr, uint64_t size)
{
    CALL(mem_unmap, ptr, size);
}

vmm_result vmm_mem_set_access(vmm_system *sys, vmm_deviceptr ptr, uint64_t size, const vmm_mem_access_desc *desc,
                              uint64_t count)
{
    CALL(mem_set_access, ptr, size, desc, count);
}

vmm_result vmm_mem_get_access(vmm_system *sys, uint64_t *flags, const vmm_mem_location *location, vmm_deviceptr ptr)
{
    CALL(mem_get_access, flags, location, ptr);
}

vmm_result vmm_pointer_get_attribute(vmm_system *sys, void *data, vmm_pointer_attribute attribute, vmm_deviceptr ptr)
{
    CALL(pointer_get_attribute, data, attribute, ptr);
}

vmm_result vmm_pointer_get_attributes(vmm_system *sys, unsigned int num_attributes,
                                      const vmm_pointer_attribute *attributes, void **data, vmm_deviceptr ptr)
{
    CALL(pointer_get_attributes, num_attributes, attributes, data, ptr);
}

vmm_result vmm_mem_get_address_range(vmm_system *sys, vmm_deviceptr *pbase, uint64_t *psize, vmm_deviceptr dptr)
{
    CALL(mem_get_address_range, pbase, psize, dptr);
}

vmm_result vmm_mem_export_to_shareable_handle(vmm_system *sys, void *shareable_handle,
                                              vmm_mem_generic_allocation_handle handle,
                                              vmm_mem_allocation_handle_type handle_type, uint64_t flags)
{
    CALL(mem_export_to_shareable_handle, shareable_handle, handle, handle_type, flags);
}

vmm_result vmm_mem_import_from_shareable_handle(vmm_system *sys, vmm_mem_generic_allocation_handle *handle,
                                                void *os_handle, vmm_mem_allocation_handle_type sh_handle_type)
{
    CALL(mem_import_from_shareable_handle, handle, os_handle, sh_handle_type);
}

vmm_result vmm_mem_get_handle_for_address_range(vmm_system *sys, void *handle, vmm_deviceptr dptr, uint64_t size,
                                                vmm_mem_range_handle_type handle_type, uint64_t flags)
{
    CALL(mem_get_handle_for_address_range, handle, dptr, size, handle_type, flags);
}

vmm_result vmm_memcpy_htod(vmm_system *sys, vmm_deviceptr dst, const void *src, uint64_t byte_count)
{
    CALL(memcpy_htod, dst, src, byte_count);
}

vmm_result vmm_memcpy_dtoh(vmm_system *sys, void *dst, vmm_deviceptr src, uint64_t byte_count)
{
    CALL(memcpy_dtoh, dst, src, byte_count);
}

vmm_result vmm_memcpy_dtod(vmm_system *sys, vmm_deviceptr dst, vmm_deviceptr src, uint64_t byte_count)
{
    CALL(memcpy_dtod, dst, src, byte_count);
}

vmm_result vmm_memset_d8(vmm_system *sys, vmm_deviceptr dst, unsigned char value, uint64_t n)
{
    CALL(memset_d8, dst, value, n);
}

vmm_result vmm_memset_d16(vmm_system *sys, vmm_deviceptr dst, unsigned short value, uint64_t n)
{
    CALL(memset_d16, dst, value, n);
}

vmm_result vmm_memset_d32(vmm_system *sys, vmm_deviceptr dst, unsigned int value, uint64_t n)
{
    CALL(memset_d32, dst, value, n);
}

vmm_result vmm_memcpy_htod_async(vmm_system *sys, vmm_deviceptr dst, const void *src, uint64_t byte_count,
                                 vmm_stream stream)
{
    CALL(memcpy_htod_async, dst, src, byte_count, stream);
}

vmm_result vmm_memcpy_dtoh_async(vmm_system *sys, void *dst, vmm_deviceptr src, uint64_t byte_count, vmm_stream stream)
{
    CALL(memcpy_dtoh_async, dst, src, byte_count, stream);
}

vmm_result vmm_memcpy_dtod_async(vmm_system *sys, vmm_deviceptr dst, vmm_deviceptr src, uint64_t byte_count,
                                 vmm_stream stream)
{
    CALL(memcpy_dtod_async, dst, src, byte_count, stream);
}

vmm_result vmm_memset_d8_async(vmm_system *sys, vmm_deviceptr dst, unsigned char value, uint64_t n, vmm_stream stream)
{
    CALL(memset_d8_async, dst, value, n, stream);
}

vmm_result vmm_memset_d16_async(vmm_system *sys, vmm_deviceptr dst, unsigned short value, uint64_t n, vmm_stream stream)
{
    CALL(memset_d16_async, dst, value, n, stream);
}

vmm_result vmm_memset_d32_async(vmm_system *sys, vmm_deviceptr dst, unsigned int value, uint64_t n, vmm_stream stream)
{
    CALL(memset_d32_async, dst, value, n, stream);
}

vmm_result vmm_launch(vmm_system *sys, vmm_kernel kernel, unsigned int grid_dim, unsigned int block_dim,
                      const uint64_t *args, uint64_t count, vmm_stream stream)
{
    CALL(launch, kernel, grid_dim, block_dim, args, count, stream);
}

vmm_result vmm_launch_host_func(vmm_system *sys, vmm_stream stream, vmm_host_fn fn, void *user_data)
{
    CALL(launch_host_func, stream, fn, user_data);
}
