/* SPDX-License-Identifier: Apache-2.0 */
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
