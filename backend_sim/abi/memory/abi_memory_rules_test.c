/* SPDX-License-Identifier: Apache-2.0 */
/* Rules of pinned and managed memory, rows, and stream memory operations (rule_tests.h). */
#define _GNU_SOURCE /* MAP_ANONYMOUS */
#include <sys/mman.h>

#include "testing/rule_tests.h"

/* ---- pinned memory ---- */

static char own[SIZE];

TEST_BREAKS(REGISTER_ADDRESS, register_address_broken)
{
    REFUSED(cuMemHostRegister((void *)(UINTPTR_MAX / 2), 64, 0), ERROR_NOT_SUPPORTED);
}

TEST_NEAR_MISS(REGISTER_ADDRESS, register_address_kept)
{
    ACCEPTED(cuMemHostRegister(own, 64, 0));
    OK(cuMemHostUnregister(own));
}

TEST_BREAKS(REGISTER_MEMORY, register_memory_broken)
{
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    REFUSED(cuMemHostRegister((void *)(uintptr_t)memory, 64, 0), ERROR_INVALID_VALUE);
    REFUSED(cuMemHostRegister(page, 64, 0), ERROR_INVALID_VALUE);
    munmap(page, 4096);
}

TEST_NEAR_MISS(REGISTER_MEMORY, register_memory_kept)
{
    void *page = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    ACCEPTED(cuMemHostRegister(page, 64, CU_MEMHOSTREGISTER_READ_ONLY));
    OK(cuMemHostUnregister(page));
    munmap(page, 4096);
}

TEST_BREAKS(REGISTER_TWICE, register_twice_broken)
{
    OK(cuMemHostRegister(own, 64, 0));
    REFUSED(cuMemHostRegister(own + 63, 64, 0), ERROR_HOST_MEMORY_ALREADY_REGISTERED);
    OK(cuMemHostUnregister(own));
}

TEST_NEAR_MISS(REGISTER_TWICE, register_twice_kept)
{
    OK(cuMemHostRegister(own, 64, 0));
    ACCEPTED(cuMemHostRegister(own + 64, 64, 0));
    OK(cuMemHostUnregister(own));
    OK(cuMemHostUnregister(own + 64));
}

TEST_BREAKS(REGISTER_NOT_START, register_not_start_broken)
{
    OK(cuMemHostRegister(own, 64, 0));
    REFUSED(cuMemHostUnregister(own + 1), ERROR_INVALID_VALUE);
    OK(cuMemHostUnregister(own));
}

TEST_NEAR_MISS(REGISTER_NOT_START, register_not_start_kept)
{
    OK(cuMemHostRegister(own, 64, 0));
    ACCEPTED(cuMemHostUnregister(own));
}

TEST_BREAKS(REGISTER_NONE, register_none_broken)
{
    OK(cuMemHostRegister(own, 64, 0));
    OK(cuMemHostUnregister(own));
    REFUSED(cuMemHostUnregister(own), ERROR_HOST_MEMORY_NOT_REGISTERED);
}

TEST_NEAR_MISS(REGISTER_NONE, register_none_kept)
{
    OK(cuMemHostRegister(own, 64, 0));
    ACCEPTED(cuMemHostUnregister(own));
}

TEST_BREAKS(PINNED_UNKNOWN, pinned_unknown_broken)
{
    unsigned flags = 0;
    CUdeviceptr at = 1;
    REFUSED(cuMemHostGetFlags(&flags, own), ERROR_INVALID_VALUE);
    REFUSED(cuMemHostGetDevicePointer(&at, own, 0), ERROR_INVALID_VALUE);
    EQUAL(at, 0);
}

TEST_NEAR_MISS(PINNED_UNKNOWN, pinned_unknown_kept)
{
    unsigned flags = 0;
    OK(cuMemHostRegister(own, 64, 0));
    ACCEPTED(cuMemHostGetFlags(&flags, own));
    OK(cuMemHostUnregister(own));
}

TEST_BREAKS(PINNED_READ_ONLY, pinned_read_only_broken)
{
    own[0] = 3;
    OK(cuMemHostRegister(own, 64, CU_MEMHOSTREGISTER_READ_ONLY));
    REFUSED(cuMemcpyDtoD((CUdeviceptr)(uintptr_t)own, memory, 4), ERROR_INVALID_VALUE);
    CUdeviceptr to = (CUdeviceptr)(uintptr_t)own, from = memory; /* also as a copy of a batch */
    size_t size = 4, index = 0;
    CUmemcpyAttributes attributes = {.srcAccessOrder = CU_MEMCPY_SRC_ACCESS_ORDER_ANY};
    REFUSED(cuMemcpyBatchAsync(&to, &from, &size, 1, &attributes, &index, 1, CU_STREAM_PER_THREAD), ERROR_INVALID_VALUE);
    EQUAL(own[0], 3);
    OK(cuMemHostUnregister(own));
}

TEST_NEAR_MISS(PINNED_READ_ONLY, pinned_read_only_kept)
{
    OK(cuMemHostRegister(own, 64, CU_MEMHOSTREGISTER_READ_ONLY));
    ACCEPTED(cuMemcpyDtoD(memory, (CUdeviceptr)(uintptr_t)own, 4));
    OK(cuMemHostUnregister(own));
}

TEST_BREAKS(PINNED_VMM, pinned_vmm_broken)
{
    void *pinned = NULL;
    CUmemGenericAllocationHandle handle = 0;
    OK(cuMemHostAlloc(&pinned, 2 << 20, 0));
    REFUSED(cuMemUnmap((CUdeviceptr)(uintptr_t)pinned, 2 << 20), ERROR_INVALID_VALUE);
    REFUSED(cuMemRetainAllocationHandle(&handle, pinned), ERROR_INVALID_VALUE);
    OK(cuMemFreeHost(pinned));
}

/* Mapped memory of cuMemCreate, whose handle is released: it ends with its mapping. */
static CUdeviceptr mapped(void)
{
    CUdeviceptr range = 0;
    CUmemAllocationProp prop = {.type = CU_MEM_ALLOCATION_TYPE_PINNED, .location = {CU_MEM_LOCATION_TYPE_DEVICE, 0}};
    CUmemGenericAllocationHandle handle = 0;
    OK(cuMemCreate(&handle, 2 << 20, &prop, 0));
    OK(cuMemAddressReserve(&range, 2 << 20, 0, 0, 0));
    OK(cuMemMap(range, 2 << 20, 0, handle, 0));
    OK(cuMemRelease(handle));
    return range;
}

TEST_NEAR_MISS(PINNED_VMM, pinned_vmm_kept)
{
    CUdeviceptr range = mapped();
    CUmemGenericAllocationHandle again = 0;
    ACCEPTED(cuMemRetainAllocationHandle(&again, (void *)(uintptr_t)range));
    ACCEPTED(cuMemUnmap(range, 2 << 20));
    OK(cuMemRelease(again));
    OK(cuMemAddressFree(range, 2 << 20));
}

TEST_BREAKS(POINTER_SET, pointer_set_broken)
{
    CUdeviceptr range = mapped();
    REFUSED(cuPointerSetAttribute(&(unsigned){1}, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, range), ERROR_NOT_SUPPORTED);
    OK(cuMemUnmap(range, 2 << 20));
    OK(cuMemAddressFree(range, 2 << 20));
}

TEST_NEAR_MISS(POINTER_SET, pointer_set_kept)
{
    ACCEPTED(cuPointerSetAttribute(&(unsigned){1}, CU_POINTER_ATTRIBUTE_SYNC_MEMOPS, memory));
}

/* ---- rows ---- */

/* Two rows of 16 bytes from the program's memory into a part of the allocation. */
static CUDA_MEMCPY2D rows(void)
{
    return (CUDA_MEMCPY2D){.srcMemoryType = CU_MEMORYTYPE_HOST, .srcHost = own, .srcPitch = 32,
                           .dstMemoryType = CU_MEMORYTYPE_DEVICE, .dstDevice = memory, .dstPitch = 32,
                           .WidthInBytes = 16, .Height = 2};
}

TEST_BREAKS(ROWS_MEMORY, rows_memory_broken)
{
    CUDA_MEMCPY2D copy = rows();
    copy.srcMemoryType = CU_MEMORYTYPE_DEVICE;
    copy.srcDevice = (CUdeviceptr)(uintptr_t)own;
    REFUSED(cuMemcpy2D(&copy), ERROR_INVALID_VALUE);
    copy.srcMemoryType = (CUmemorytype)7;
    REFUSED(cuMemcpy2D(&copy), ERROR_INVALID_VALUE);
}

TEST_NEAR_MISS(ROWS_MEMORY, rows_memory_kept)
{
    CUDA_MEMCPY2D copy = rows();
    ACCEPTED(cuMemcpy2D(&copy));
}

TEST_BREAKS(ROWS_PITCH, rows_pitch_broken)
{
    CUDA_MEMCPY2D copy = rows();
    copy.srcPitch = 15;
    REFUSED(cuMemcpy2D(&copy), ERROR_INVALID_VALUE);
    REFUSED(cuMemsetD2D8(memory, 15, 1, 16, 2), ERROR_INVALID_VALUE);
}

TEST_NEAR_MISS(ROWS_PITCH, rows_pitch_kept)
{
    CUDA_MEMCPY2D copy = rows();
    copy.srcPitch = 16;
    ACCEPTED(cuMemcpy2D(&copy));
    ACCEPTED(cuMemsetD2D8(memory, 16, 1, 16, 2));
}

TEST_BREAKS(ROWS_END, rows_end_broken)
{
    CUDA_MEMCPY2D copy = rows();
    copy.dstPitch = SIZE - 15;
    REFUSED(cuMemcpy2D(&copy), ERROR_INVALID_VALUE);
    REFUSED(cuMemsetD2D8(memory, SIZE - 15, 1, 16, 2), ERROR_INVALID_VALUE);
}

TEST_NEAR_MISS(ROWS_END, rows_end_kept)
{
    CUDA_MEMCPY2D copy = rows();
    copy.dstPitch = SIZE - 16;
    ACCEPTED(cuMemcpy2D(&copy));
    ACCEPTED(cuMemsetD2D8(memory, SIZE - 16, 1, 16, 2));
}

/* ---- stream memory operations of the first version ---- */

typedef CUresult (*value32_call)(CUstream, CUdeviceptr, cuuint32_t, unsigned);
typedef CUresult (*value64_call)(CUstream, CUdeviceptr, cuuint64_t, unsigned);
typedef CUresult (*batch_call)(CUstream, unsigned, CUstreamBatchMemOpParams *, unsigned);

/* The form of a version and of the default streams. */
static void *form_of(const char *name, int version, cuuint64_t flags)
{
    void *at = NULL;
    CUdriverProcAddressQueryResult status;
    if (cuGetProcAddress(name, &at, version, flags, &status) != CUDA_SUCCESS || !at)
        tap_bail("%s of version %d does not exist", name, version);
    return at;
}

TEST_BREAKS(MEMOP_FIRST_VERSION, memop_first_version_broken)
{
    static const char *const narrow[] = {"cuStreamWriteValue32", "cuStreamWaitValue32"};
    static const char *const wide[] = {"cuStreamWriteValue64", "cuStreamWaitValue64"};
    for (cuuint64_t flags = 1; flags <= 2; flags++) {
        for (int i = 0; i < 2; i++) {
            value32_call call32;
            value64_call call64;
            void *at = form_of(narrow[i], 9000, flags);
            memcpy(&call32, &at, sizeof call32);
            at = form_of(wide[i], 9000, flags);
            memcpy(&call64, &at, sizeof call64);
            REFUSED(call32(NULL, memory, 1, 0), ERROR_NOT_SUPPORTED);
            REFUSED(call64(NULL, 1, 1, 99), ERROR_NOT_SUPPORTED); /* whatever the arguments are */
            REFUSED(call32(stream, memory, 1, 0), ERROR_NOT_SUPPORTED);
            REFUSED(call64(stream, memory, 1, 0), ERROR_NOT_SUPPORTED);
        }
        batch_call batch;
        void *at = form_of("cuStreamBatchMemOp", 9000, flags);
        memcpy(&batch, &at, sizeof batch);
        REFUSED(batch(NULL, 0, NULL, 0), ERROR_NOT_SUPPORTED);
        REFUSED(batch(stream, 255, NULL, 7), ERROR_NOT_SUPPORTED);
        rule = "VMM-MEMOP-COUNT";
        REFUSED(batch(NULL, 256, NULL, 0), ERROR_INVALID_VALUE);
        rule = "VMM-MEMOP-FIRST-VERSION";
    }
}

TEST_NEAR_MISS(MEMOP_FIRST_VERSION, memop_first_version_kept)
{
    value32_call call;
    for (cuuint64_t flags = 1; flags <= 2; flags++) {
        void *at = form_of("cuStreamWriteValue32", 11070, flags);
        memcpy(&call, &at, sizeof call);
        ACCEPTED(call(NULL, memory, 1, 0));
    }
    ACCEPTED(cuCtxSynchronize());
}

int main(void)
{
    return rule_tests();
}
