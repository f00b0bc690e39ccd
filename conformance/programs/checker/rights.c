/* SPDX-License-Identifier: Apache-2.0 */
/* Rights that are missing, and rights that are taken. */
#include "growing.h"

/* Growth forgets the rights of what it adds. The correct form accesses the two sides of the seam separately. */
PROGRAM(growth_without_rights, .group = "other")
{
    struct growing list;
    size_t unit = buffer_unit();
    growing_open(&list, 4 * unit, 1, BUG ? GROWING_NO_RIGHTS : GROWING_RIGHT);
    growing_extend(&list, unit);
    growing_extend(&list, unit);
    DO(cuMemsetD8(list.base, 0, unit));
    TRY(cuMemsetD8(list.base + unit - 4096, 0, 8192)); /* finding: growth_without_rights VMM-COPY-NO-WRITE */
    growing_close(&list);
}

/* A second device writes its part of a buffer that lives on the first one. */
PROGRAM(second_device_without_rights, .group = "other", .devices = 2)
{
    struct growing shared;
    CUcontext home, other;
    DO(cuCtxGetCurrent(&home));
    other = also_device(1);
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    DO(cuCtxSetCurrent(home));
    growing_open(&shared, 4 * buffer_unit(), 2, BUG ? GROWING_ONE_DEVICE : GROWING_RIGHT);
    growing_extend(&shared, buffer_unit());
    DO(cuCtxSetCurrent(other));
    TRY(cuMemsetD32Async(shared.base + 4096, 1, 1024, stream)); /* finding: second_device_without_rights VMM-COPY-NO-WRITE */
    stream_end(stream);
    DO(cuCtxSetCurrent(home));
    growing_close(&shared);
}

/* Constants are sealed and then changed by a kernel. The correct form changes them through a second address with rights. */
PROGRAM(sealed_and_written, .group = "other", .sim = true)
{
    struct arena constants;
    CUdeviceptr second;
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    arena_open(&constants, 0);
    DO(arena_grow(&constants, 1));
    FILL(stream, constants.base, WORDS, 3);
    DO(cuStreamSynchronize(stream));
    DO(buffer_allow(constants.base, constants.chunk, 0, CU_MEM_ACCESS_FLAGS_PROT_READ));
    DO(cuMemAddressReserve(&second, constants.chunk, 0, 0, 0));
    DO(cuMemMap(second, constants.chunk, 0, constants.handle[0], 0));
    DO(buffer_allow(second, constants.chunk, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    ADD(stream, BUG ? constants.base : second, WORDS, 1); /* other: sealed_and_written */
    TRY(cuStreamSynchronize(stream)); /* finding: sealed_and_written VMM-FAULT-ACCESS */
    if (BUG)
        _Exit(0); /* the device is lost, and nothing can be freed */
    DO(cuStreamDestroy(stream));
    DO(cuMemUnmap(second, constants.chunk));
    DO(cuMemAddressFree(second, constants.chunk));
    arena_close(&constants);
}

/* A buffer is sealed under a fill. The correct form seals it under a copy that only reads. */
PROGRAM(sealed_under_a_fill, .group = "other", .sim = true)
{
    CUstream stream = stream_new(CU_STREAM_NON_BLOCKING);
    size_t unit = buffer_unit();
    CUdeviceptr page = buffer_new(unit), copy = buffer_new(unit);
    DO(cuMemsetD8Async(page, 1, unit, stream)); /* other: sealed_under_a_fill */
    if (!BUG) {
        DO(cuStreamSynchronize(stream));
        DO(cuMemcpyDtoDAsync(copy, page, unit, stream));
    }
    DO(buffer_allow(page, unit, 0, CU_MEM_ACCESS_FLAGS_PROT_READ)); /* caller: sealed_under_a_fill */
    TRY(cuStreamSynchronize(stream)); /* also: sealed_under_a_fill VMM-FAULT-COPY */
    if (BUG)
        _Exit(0); /* the device is lost, and nothing can be freed */
    DO(cuStreamDestroy(stream));
    buffer_free(page, unit);
    buffer_free(copy, unit);
}
