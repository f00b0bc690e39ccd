/* SPDX-License-Identifier: Apache-2.0 */
/* Fills, of ranges and of rows. Compiled for both default streams. */
#include "abi.h"
#include "abi_capture.h"
#include "abi_sync.h"

CUresult cuMemsetD8(CUdeviceptr dstDevice, unsigned char uc, size_t N)
{
    ABI(ABI_SYNC(memset_d8, dstDevice, uc, N));
}

CUresult cuMemsetD16(CUdeviceptr dstDevice, unsigned short us, size_t N)
{
    ABI(ABI_SYNC(memset_d16, dstDevice, us, N));
}

CUresult cuMemsetD32(CUdeviceptr dstDevice, unsigned int ui, size_t N)
{
    ABI(ABI_SYNC(memset_d32, dstDevice, ui, N));
}

CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream, ABI_CAPTURE_WORK);
    ABI(vmm_memset_d8_async(sys, dstDevice, uc, N, abi_stream(hStream)));
}

CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream, ABI_CAPTURE_WORK);
    ABI(vmm_memset_d16_async(sys, dstDevice, us, N, abi_stream(hStream)));
}

CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream, ABI_CAPTURE_WORK);
    ABI(vmm_memset_d32_async(sys, dstDevice, ui, N, abi_stream(hStream)));
}

/* ---- rows ---- */

struct rows {
    CUdeviceptr start;
    size_t pitch, width, height; /* width in elements */
    unsigned element, value;
};

static vmm_result fill_row(vmm_system *sys, const struct rows *rows, CUdeviceptr at, vmm_stream stream)
{
    switch (rows->element) {
    case 1: return vmm_memset_d8_async(sys, at, (unsigned char)rows->value, rows->width, stream);
    case 2: return vmm_memset_d16_async(sys, at, (unsigned short)rows->value, rows->width, stream);
    default: return vmm_memset_d32_async(sys, at, rows->value, rows->width, stream);
    }
}

static CUresult fill_rows(vmm_system *sys, const struct rows *rows, vmm_stream stream, bool waits)
{
    vmm_result result = vmm_memset_d8_async(sys, rows->start, 0, 0, stream); /* nothing, but looks at context and stream */
    if (rows->height > 1 && rows->width > rows->pitch / rows->element)
        return abi_refuse(CUDA_ERROR_INVALID_VALUE, "cuMemsetD2D", "a row of %zu elements is longer than dstPitch, %zu",
                          rows->width, rows->pitch);
    /* The last row first: where rows run past the end of memory nothing has been done yet. */
    for (size_t i = rows->height; i-- > 0 && result == VMM_SUCCESS;)
        result = fill_row(sys, rows, rows->start + i * rows->pitch, stream);
    if (result == VMM_SUCCESS && waits)
        result = vmm_stream_synchronize(sys, stream);
    return (CUresult)result;
}

CUresult cuMemsetD2D8(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height)
{
    ABI(fill_rows(sys, &(struct rows){dstDevice, dstPitch, Width, Height, 1, uc}, ABI_SYNC_STREAM, true));
}

CUresult cuMemsetD2D16(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height)
{
    ABI(fill_rows(sys, &(struct rows){dstDevice, dstPitch, Width, Height, 2, us}, ABI_SYNC_STREAM, true));
}

CUresult cuMemsetD2D32(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height)
{
    ABI(fill_rows(sys, &(struct rows){dstDevice, dstPitch, Width, Height, 4, ui}, ABI_SYNC_STREAM, true));
}

CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height,
                           CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream, ABI_CAPTURE_WORK);
    ABI(fill_rows(sys, &(struct rows){dstDevice, dstPitch, Width, Height, 1, uc}, abi_stream(hStream), false));
}

CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height,
                            CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream, ABI_CAPTURE_WORK);
    ABI(fill_rows(sys, &(struct rows){dstDevice, dstPitch, Width, Height, 2, us}, abi_stream(hStream), false));
}

CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height,
                            CUstream hStream)
{
    ABI_NOT_CAPTURED(hStream, ABI_CAPTURE_WORK);
    ABI(fill_rows(sys, &(struct rows){dstDevice, dstPitch, Width, Height, 4, ui}, abi_stream(hStream), false));
}
