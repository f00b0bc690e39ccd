#include "facts_calls.h"

/* Work that is put into a stream. */

vmm_result fc_htod_async(struct facts *f, vmm_deviceptr dst, const void *src, uint64_t size, vmm_stream stream)
{
    fc_begin(f, "cuMemcpyHtoDAsync");
    fc_arg(f, "dstDevice", dst);
    fc_arg_pointer(f, "srcHost", src);
    fc_arg(f, "ByteCount", size);
    fc_arg_pointer(f, "stream", stream);
    return vmm_memcpy_htod_async(f->sys, dst, src, size, stream);
}

vmm_result fc_dtoh_async(struct facts *f, void *dst, vmm_deviceptr src, uint64_t size, vmm_stream stream)
{
    fc_begin(f, "cuMemcpyDtoHAsync");
    fc_arg_pointer(f, "dstHost", dst);
    fc_arg(f, "srcDevice", src);
    fc_arg(f, "ByteCount", size);
    fc_arg_pointer(f, "stream", stream);
    return vmm_memcpy_dtoh_async(f->sys, dst, src, size, stream);
}

vmm_result fc_dtod_async(struct facts *f, vmm_deviceptr dst, vmm_deviceptr src, uint64_t size, vmm_stream stream)
{
    fc_begin(f, "cuMemcpyDtoDAsync");
    fc_arg(f, "dstDevice", dst);
    fc_arg(f, "srcDevice", src);
    fc_arg(f, "ByteCount", size);
    fc_arg_pointer(f, "stream", stream);
    return vmm_memcpy_dtod_async(f->sys, dst, src, size, stream);
}

vmm_result fc_fill_async(struct facts *f, vmm_deviceptr dst, unsigned char value, uint64_t n, vmm_stream stream)
{
    fc_begin(f, "cuMemsetD8Async");
    fc_arg(f, "dstDevice", dst);
    fc_arg(f, "uc", value);
    fc_arg(f, "N", n);
    fc_arg_pointer(f, "stream", stream);
    return vmm_memset_d8_async(f->sys, dst, value, n, stream);
}

vmm_result fc_host_func(struct facts *f, vmm_stream stream, vmm_host_fn fn, void *user_data)
{
    fc_begin(f, "cuLaunchHostFunc");
    fc_arg_pointer(f, "stream", stream);
    fc_arg(f, "fn", (uint64_t)(uintptr_t)fn);
    fc_arg_pointer(f, "userData", user_data);
    return vmm_launch_host_func(f->sys, stream, fn, user_data);
}

vmm_result fc_stream_query(struct facts *f, vmm_stream stream)
{
    fc_begin(f, "cuStreamQuery");
    fc_arg_pointer(f, "stream", stream);
    return vmm_stream_query(f->sys, stream);
}
