/* SPDX-License-Identifier: Apache-2.0 */
/* What is never freed, and calls that have other owners than the program believes. */
#include <unistd.h>

#include "share.h"

/* A window on another's memory: unmapped and never released. The correct form has released the handle as soon as it was
 * mapped. */
PROGRAM(import_never_released, .group = "other")
{
    struct window window;
    CUmemGenericAllocationHandle memory = share_create();
    int descriptor = share_export(memory);
    share_import(&window, descriptor, buffer_unit(), BUG); /* caller: import_never_released */
    close(descriptor);
    DO(cuMemsetD8(window.at, 3, window.size));
    share_close(&window, false);
    DO(cuMemRelease(memory));
}

/* The second plane does not fit on the device: the program continues with less, and keeps the first. */
PROGRAM(error_path_keeps_handles, .group = "other")
{
    struct planes planes;
    size_t unit = buffer_unit(), much[2] = {unit, unit << 24}, little[2] = {unit, unit};
    if (!planes_open(&planes, much, 2, BUG)) /* caller: error_path_keeps_handles */
        fprintf(stderr, "smaller planes\n");
    if (planes_open(&planes, little, 2, BUG))
        planes_close(&planes);
}

/* A range that is not where it was wanted is as much the program's as any other. */
PROGRAM(reservation_forgotten, .group = "other")
{
    size_t size = 4 * buffer_unit();
    CUdeviceptr first = place_near(0x400000000000, size, false), second;
    second = place_near(first, size, BUG); /* caller: reservation_forgotten */
    DO(cuMemAddressFree(second, size));
    DO(cuMemAddressFree(first, size));
}

/* A stream for each request; one kind of request returns early. */
static void request(CUdeviceptr page, unsigned int number)
{
    CUstream stream;
    DO(cuStreamCreate(&stream, CU_STREAM_NON_BLOCKING)); /* finding: stream_of_a_request VMM-LEAK-STREAM */
    DO(cuMemsetD32Async(page, number, 1024, stream));
    DO(cuStreamSynchronize(stream));
    if (BUG && number % 3 == 2)
        return;
    DO(cuStreamDestroy(stream));
}

PROGRAM(stream_of_a_request, .group = "other")
{
    CUdeviceptr page = buffer_new(BYTES);
    for (unsigned int i = 0; i < 10; i++)
        request(page, i); /* caller: stream_of_a_request */
    buffer_free(page, BYTES);
}

/* Statistics of a pool are read and begun anew. The marks can be set to 0, what is in use cannot. */
PROGRAM(pool_statistics_reset, .group = "other")
{
    CUmemoryPool pool = scratch_pool();
    cuuint64_t value = 0;
    CUmemPool_attribute used = BUG ? CU_MEMPOOL_ATTR_USED_MEM_CURRENT : CU_MEMPOOL_ATTR_USED_MEM_HIGH;
    DO(cuMemPoolGetAttribute(pool, CU_MEMPOOL_ATTR_USED_MEM_CURRENT, &value));
    TRY(cuMemPoolSetAttribute(pool, used, &value)); /* finding: pool_statistics_reset VMM-POOL-ATTRIBUTE-READ-ONLY */
    DO(cuMemPoolDestroy(pool));
}

/* An event belongs to the context that was current when it was made; a stream of any context may wait for it. */
PROGRAM(event_of_another_context, .group = "other", .devices = 2)
{
    CUcontext here, there;
    CUstream mine = stream_new(CU_STREAM_NON_BLOCKING);
    DO(cuCtxGetCurrent(&here));
    CUevent event = event_new();
    there = also_device(1);
    CUstream theirs = stream_new(CU_STREAM_NON_BLOCKING);
    if (BUG)
        TRY(cuEventRecord(event, theirs)); /* finding: event_of_another_context VMM-EVENT-CONTEXT */
    else {
        DO(cuCtxSetCurrent(here));
        DO(cuEventRecord(event, mine));
        DO(cuCtxSetCurrent(there));
        DO(cuStreamWaitEvent(theirs, event, 0));
    }
    stream_end(theirs);
    DO(cuCtxSetCurrent(here));
    DO(cuEventDestroy(event));
    stream_end(mine);
}

/* A registry opens what any rank has offered, its own rank's offer included. */
PROGRAM(own_offer_opened, .group = "other")
{
    CUdeviceptr page, view = 0;
    CUipcMemHandle offer;
    DO(cuMemAlloc(&page, BYTES));
    DO(cuIpcGetMemHandle(&offer, page));
    /* finding: own_offer_opened VMM-IPC-OWN */
    if (BUG && TRY(cuIpcOpenMemHandle(&view, offer, CU_IPC_MEM_LAZY_ENABLE_PEER_ACCESS)))
        DO(cuIpcCloseMemHandle(view));
    DO(cuMemsetD8(view ? view : page, 0, BYTES));
    DO(cuMemFree(page));
}
