/* SPDX-License-Identifier: Apache-2.0 */
/* Fills of ranges and of rows. Compiled for both default streams. */
#include "abi.h"
#include "abi_capture.h"
#include "abi_registered.h"
#include "abi_rows.h"
#include "abi_sync.h"

#define ABI_FILL(element, value, stream, call)                                                            \
    ABI(abi_is_registered(dstDevice) ? abi_registered_fill(sys, dstDevice, element, value, N, stream) : (CUresult)(call))

/* The parameters after hStream are the members of vmm_memset_node_params. */
#define ABI_FILL_OR_CAPTURE(hStream, ...)                                                                                 \
    ABI_OR_CAPTURE(hStream, abi_capture_add_fill(__func__, captured_, &(const vmm_memset_node_params){__VA_ARGS__}))

CUresult cuMemsetD8(CUdeviceptr dstDevice, unsigned char uc, size_t N)
{
    ABI_NOT_IMPLICITLY(ABI_SYNC_STREAM);
    ABI_FILL(1, uc, ABI_SYNC_STREAM, ABI_SYNC(memset_d8, dstDevice, uc, N));
}

CUresult cuMemsetD16(CUdeviceptr dstDevice, unsigned short us, size_t N)
{
    ABI_NOT_IMPLICITLY(ABI_SYNC_STREAM);
    ABI_FILL(2, us, ABI_SYNC_STREAM, ABI_SYNC(memset_d16, dstDevice, us, N));
}

CUresult cuMemsetD32(CUdeviceptr dstDevice, unsigned int ui, size_t N)
{
    ABI_NOT_IMPLICITLY(ABI_SYNC_STREAM);
    ABI_FILL(4, ui, ABI_SYNC_STREAM, ABI_SYNC(memset_d32, dstDevice, ui, N));
}

CUresult cuMemsetD8Async(CUdeviceptr dstDevice, unsigned char uc, size_t N, CUstream hStream)
{
    ABI_FILL_OR_CAPTURE(hStream, dstDevice, 0, uc, 1, N, 1);
    ABI_FILL(1, uc, abi_stream(hStream), vmm_memset_d8_async(sys, dstDevice, uc, N, abi_stream(hStream)));
}

CUresult cuMemsetD16Async(CUdeviceptr dstDevice, unsigned short us, size_t N, CUstream hStream)
{
    ABI_FILL_OR_CAPTURE(hStream, dstDevice, 0, us, 2, N, 1);
    ABI_FILL(2, us, abi_stream(hStream), vmm_memset_d16_async(sys, dstDevice, us, N, abi_stream(hStream)));
}

CUresult cuMemsetD32Async(CUdeviceptr dstDevice, unsigned int ui, size_t N, CUstream hStream)
{
    ABI_FILL_OR_CAPTURE(hStream, dstDevice, 0, ui, 4, N, 1);
    ABI_FILL(4, ui, abi_stream(hStream), vmm_memset_d32_async(sys, dstDevice, ui, N, abi_stream(hStream)));
}

/* ---- rows ---- */

CUresult cuMemsetD2D8(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height)
{
    ABI_NOT_IMPLICITLY(ABI_SYNC_STREAM);
    ABI_INITIALISED(abi_fill_rows(sys, &(struct abi_fill){dstDevice, dstPitch, Width, Height, 1, uc}, ABI_SYNC_STREAM, true));
}

CUresult cuMemsetD2D16(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height)
{
    ABI_NOT_IMPLICITLY(ABI_SYNC_STREAM);
    ABI_INITIALISED(abi_fill_rows(sys, &(struct abi_fill){dstDevice, dstPitch, Width, Height, 2, us}, ABI_SYNC_STREAM, true));
}

CUresult cuMemsetD2D32(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height)
{
    ABI_NOT_IMPLICITLY(ABI_SYNC_STREAM);
    ABI_INITIALISED(abi_fill_rows(sys, &(struct abi_fill){dstDevice, dstPitch, Width, Height, 4, ui}, ABI_SYNC_STREAM, true));
}

CUresult cuMemsetD2D8Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned char uc, size_t Width, size_t Height,
                           CUstream hStream)
{
    ABI_FILL_OR_CAPTURE(hStream, dstDevice, dstPitch, uc, 1, Width, Height);
    ABI_INITIALISED(
        abi_fill_rows(sys, &(struct abi_fill){dstDevice, dstPitch, Width, Height, 1, uc}, abi_stream(hStream), false));
}

CUresult cuMemsetD2D16Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned short us, size_t Width, size_t Height,
                            CUstream hStream)
{
    ABI_FILL_OR_CAPTURE(hStream, dstDevice, dstPitch, us, 2, Width, Height);
    ABI_INITIALISED(
        abi_fill_rows(sys, &(struct abi_fill){dstDevice, dstPitch, Width, Height, 2, us}, abi_stream(hStream), false));
}

CUresult cuMemsetD2D32Async(CUdeviceptr dstDevice, size_t dstPitch, unsigned int ui, size_t Width, size_t Height,
                            CUstream hStream)
{
    ABI_FILL_OR_CAPTURE(hStream, dstDevice, dstPitch, ui, 4, Width, Height);
    ABI_INITIALISED(
        abi_fill_rows(sys, &(struct abi_fill){dstDevice, dstPitch, Width, Height, 4, ui}, abi_stream(hStream), false));
}
