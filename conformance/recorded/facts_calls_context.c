/* SPDX-License-Identifier: Apache-2.0 */
#include "facts_calls.h"

vmm_result fc_init(struct facts *f, unsigned flags)
{
    fc_begin(f, "cuInit");
    fc_arg(f, "flags", flags);
    return vmm_init(f->sys, flags);
}

vmm_result fc_driver_version(struct facts *f, int *version)
{
    fc_begin(f, "cuDriverGetVersion");
    fc_arg_pointer(f, "driverVersion", version);
    return vmm_driver_get_version(f->sys, version);
}

vmm_result fc_device_count(struct facts *f, int *count)
{
    fc_begin(f, "cuDeviceGetCount");
    fc_arg_pointer(f, "count", count);
    return vmm_device_get_count(f->sys, count);
}

vmm_result fc_device(struct facts *f, vmm_device *device, int ordinal)
{
    fc_begin(f, "cuDeviceGet");
    fc_arg_pointer(f, "device", device);
    fc_arg_int(f, "ordinal", ordinal);
    return vmm_device_get(f->sys, device, ordinal);
}

vmm_result fc_device_name(struct facts *f, char *name, int len, vmm_device dev)
{
    fc_begin(f, "cuDeviceGetName");
    fc_arg_pointer(f, "name", name);
    fc_arg_int(f, "len", len);
    fc_arg_int(f, "dev", dev);
    return vmm_device_get_name(f->sys, name, len, dev);
}

vmm_result fc_device_total(struct facts *f, uint64_t *bytes, vmm_device dev)
{
    fc_begin(f, "cuDeviceTotalMem");
    fc_arg_pointer(f, "bytes", bytes);
    fc_arg_int(f, "dev", dev);
    return vmm_device_total_mem(f->sys, bytes, dev);
}

vmm_result fc_can_access_peer(struct facts *f, int *can, vmm_device dev, vmm_device peer)
{
    fc_begin(f, "cuDeviceCanAccessPeer");
    fc_arg_pointer(f, "canAccessPeer", can);
    fc_arg_int(f, "dev", dev);
    fc_arg_int(f, "peerDev", peer);
    return vmm_device_can_access_peer(f->sys, can, dev, peer);
}

vmm_result fc_primary_retain(struct facts *f, vmm_context *ctx, vmm_device dev)
{
    fc_begin(f, "cuDevicePrimaryCtxRetain");
    fc_arg_pointer(f, "pctx", ctx);
    fc_arg_int(f, "dev", dev);
    return vmm_device_primary_ctx_retain(f->sys, ctx, dev);
}

vmm_result fc_primary_release(struct facts *f, vmm_device dev)
{
    fc_begin(f, "cuDevicePrimaryCtxRelease");
    fc_arg_int(f, "dev", dev);
    return vmm_device_primary_ctx_release(f->sys, dev);
}

vmm_result fc_primary_reset(struct facts *f, vmm_device dev)
{
    fc_begin(f, "cuDevicePrimaryCtxReset");
    fc_arg_int(f, "dev", dev);
    return vmm_device_primary_ctx_reset(f->sys, dev);
}

vmm_result fc_ctx_create(struct facts *f, vmm_context *ctx, unsigned flags, vmm_device dev)
{
    fc_begin(f, "cuCtxCreate");
    fc_arg_pointer(f, "pctx", ctx);
    fc_arg(f, "flags", flags);
    fc_arg_int(f, "dev", dev);
    return vmm_ctx_create(f->sys, ctx, flags, dev);
}

vmm_result fc_ctx_destroy(struct facts *f, vmm_context ctx)
{
    fc_begin(f, "cuCtxDestroy");
    fc_arg_pointer(f, "ctx", ctx);
    return vmm_ctx_destroy(f->sys, ctx);
}

vmm_result fc_ctx_set_current(struct facts *f, vmm_context ctx)
{
    fc_begin(f, "cuCtxSetCurrent");
    fc_arg_pointer(f, "ctx", ctx);
    return vmm_ctx_set_current(f->sys, ctx);
}

vmm_result fc_ctx_get_current(struct facts *f, vmm_context *ctx)
{
    fc_begin(f, "cuCtxGetCurrent");
    fc_arg_pointer(f, "pctx", ctx);
    return vmm_ctx_get_current(f->sys, ctx);
}

vmm_result fc_ctx_get_device(struct facts *f, vmm_device *device)
{
    fc_begin(f, "cuCtxGetDevice");
    fc_arg_pointer(f, "device", device);
    return vmm_ctx_get_device(f->sys, device);
}

vmm_result fc_ctx_synchronize(struct facts *f)
{
    fc_begin(f, "cuCtxSynchronize");
    return vmm_ctx_synchronize(f->sys);
}

vmm_result fc_stream_create(struct facts *f, vmm_stream *stream, unsigned flags)
{
    fc_begin(f, "cuStreamCreate");
    fc_arg_pointer(f, "stream", stream);
    fc_arg(f, "flags", flags);
    return vmm_stream_create(f->sys, stream, flags);
}

vmm_result fc_stream_destroy(struct facts *f, vmm_stream stream)
{
    fc_begin(f, "cuStreamDestroy");
    fc_arg_pointer(f, "stream", stream);
    return vmm_stream_destroy(f->sys, stream);
}

vmm_result fc_stream_synchronize(struct facts *f, vmm_stream stream)
{
    fc_begin(f, "cuStreamSynchronize");
    fc_arg_pointer(f, "stream", stream);
    return vmm_stream_synchronize(f->sys, stream);
}

vmm_result fc_stream_query(struct facts *f, vmm_stream stream)
{
    fc_begin(f, "cuStreamQuery");
    fc_arg_pointer(f, "stream", stream);
    return vmm_stream_query(f->sys, stream);
}

vmm_result fc_host_func(struct facts *f, vmm_stream stream, vmm_host_fn fn, void *user_data)
{
    fc_begin(f, "cuLaunchHostFunc");
    fc_arg_pointer(f, "stream", stream);
    fc_arg(f, "fn", fn != NULL);
    fc_arg_pointer(f, "userData", user_data);
    return vmm_launch_host_func(f->sys, stream, fn, user_data);
}

vmm_result fc_event_create(struct facts *f, vmm_event *event, unsigned flags)
{
    fc_begin(f, "cuEventCreate");
    fc_arg_pointer(f, "event", event);
    fc_arg(f, "flags", flags);
    return vmm_event_create(f->sys, event, flags);
}

vmm_result fc_event_destroy(struct facts *f, vmm_event event)
{
    fc_begin(f, "cuEventDestroy");
    fc_arg_pointer(f, "event", event);
    return vmm_event_destroy(f->sys, event);
}

vmm_result fc_event_record(struct facts *f, vmm_event event, vmm_stream stream)
{
    fc_begin(f, "cuEventRecord");
    fc_arg_pointer(f, "event", event);
    fc_arg_pointer(f, "stream", stream);
    return vmm_event_record(f->sys, event, stream);
}

vmm_result fc_event_query(struct facts *f, vmm_event event)
{
    fc_begin(f, "cuEventQuery");
    fc_arg_pointer(f, "event", event);
    return vmm_event_query(f->sys, event);
}

vmm_result fc_event_synchronize(struct facts *f, vmm_event event)
{
    fc_begin(f, "cuEventSynchronize");
    fc_arg_pointer(f, "event", event);
    return vmm_event_synchronize(f->sys, event);
}

vmm_result fc_stream_wait_event(struct facts *f, vmm_stream stream, vmm_event event, unsigned flags)
{
    fc_begin(f, "cuStreamWaitEvent");
    fc_arg_pointer(f, "stream", stream);
    fc_arg_pointer(f, "event", event);
    fc_arg(f, "flags", flags);
    return vmm_stream_wait_event(f->sys, stream, event, flags);
}

vmm_result fc_memory_info(struct facts *f, uint64_t *free_bytes, uint64_t *total)
{
    fc_begin(f, "cuMemGetInfo");
    fc_arg_pointer(f, "free", free_bytes);
    fc_arg_pointer(f, "total", total);
    return vmm_mem_get_info(f->sys, free_bytes, total);
}
