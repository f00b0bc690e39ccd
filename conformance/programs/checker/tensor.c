/* SPDX-License-Identifier: Apache-2.0 */
#include "tensor.h"

static void take_memory(struct tensor *t)
{
    CUmemAllocationProp prop = buffer_prop(0);
    DO(cuMemCreate(&t->memory, t->size, &prop, 0));
}

static void show(struct tensor *t)
{
    DO(cuMemMap(t->at, t->size, 0, t->memory, 0));
    DO(buffer_allow(t->at, t->size, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
}

void tensor_open(struct tensor *t, size_t size)
{
    memset(t, 0, sizeof *t);
    t->size = (size + buffer_unit() - 1) / buffer_unit() * buffer_unit();
    DO(cuMemAddressReserve(&t->at, t->size, 0, 0, 0));
    take_memory(t);
    show(t);
}

void tensor_close(struct tensor *t)
{
    DO(cuMemUnmap(t->at, t->size));
    DO(cuMemRelease(t->memory));
    DO(cuMemAddressFree(t->at, t->size));
}

void tensor_sleep(struct tensor *t, bool keep)
{
    DO(cuCtxSynchronize());
    if (keep && (t->kept = malloc(t->size)))
        DO(cuMemcpyDtoH(t->kept, t->at, BYTES));
    DO(cuMemUnmap(t->at, t->size));
    DO(cuMemRelease(t->memory));
}

void tensor_wake(struct tensor *t)
{
    take_memory(t);
    show(t);
    if (t->kept) {
        DO(cuMemcpyHtoD(t->at, t->kept, BYTES));
        free(t->kept);
        t->kept = NULL;
    }
}

void tensor_move(struct tensor *t, bool same)
{
    CUdeviceptr old = t->at;
    DO(cuCtxSynchronize());
    DO(cuMemUnmap(old, t->size));
    if (!same) {
        DO(cuMemRelease(t->memory));
        take_memory(t);
    }
    DO(cuMemAddressReserve(&t->at, t->size, 0, 0, 0));
    show(t);
    DO(cuMemAddressFree(old, t->size));
}

void rows_upload(CUdeviceptr to, size_t pitch, const void *from, size_t width, size_t rows)
{
    CUDA_MEMCPY2D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_HOST;
    copy.srcHost = from;
    copy.srcPitch = width;
    copy.dstMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.dstDevice = to;
    copy.dstPitch = pitch;
    copy.WidthInBytes = width;
    copy.Height = rows;
    DO(cuMemcpy2D(&copy));
}

void rows_download(void *to, CUdeviceptr from, size_t pitch, size_t width, size_t rows)
{
    CUDA_MEMCPY2D copy;
    memset(&copy, 0, sizeof copy);
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = from;
    copy.srcPitch = pitch;
    copy.dstMemoryType = CU_MEMORYTYPE_HOST;
    copy.dstHost = to;
    copy.dstPitch = width;
    copy.WidthInBytes = width;
    copy.Height = rows;
    DO(cuMemcpy2D(&copy));
}
