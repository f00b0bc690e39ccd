/* SPDX-License-Identifier: Apache-2.0 */
#include "share.h"

#include <unistd.h>

CUmemGenericAllocationHandle share_create(void)
{
    CUmemGenericAllocationHandle memory;
    CUmemAllocationProp prop = buffer_prop(0);
    prop.requestedHandleTypes = CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR;
    DO(cuMemCreate(&memory, buffer_unit(), &prop, 0));
    return memory;
}

int share_export(CUmemGenericAllocationHandle memory)
{
    int descriptor = -1;
    DO(cuMemExportToShareableHandle(&descriptor, memory, CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR, 0));
    return descriptor;
}

void share_import(struct window *w, int descriptor, size_t size, bool keep)
{
    w->size = size;
    /* finding: import_never_released VMM-LEAK-HANDLE; finding: reader_keeps_its_import VMM-LEAK-HANDLE */
    DO(cuMemImportFromShareableHandle(&w->handle, (void *)(uintptr_t)(unsigned int)descriptor,
                                      CU_MEM_HANDLE_TYPE_POSIX_FILE_DESCRIPTOR));
    DO(cuMemAddressReserve(&w->at, size, 0, 0, 0));
    DO(cuMemMap(w->at, size, 0, w->handle, 0));
    DO(buffer_allow(w->at, size, 0, CU_MEM_ACCESS_FLAGS_PROT_READWRITE));
    if (!keep)
        DO(cuMemRelease(w->handle));
}

void share_close(struct window *w, bool release)
{
    DO(cuMemUnmap(w->at, w->size));
    DO(cuMemAddressFree(w->at, w->size));
    if (release)
        DO(cuMemRelease(w->handle));
}

static void planes_drop(struct planes *p)
{
    while (p->count > 0)
        DO(cuMemRelease(p->handle[--p->count]));
}

bool planes_open(struct planes *p, const size_t *size, unsigned int count, bool leak)
{
    CUmemAllocationProp prop = buffer_prop(0);
    p->count = 0;
    for (unsigned int i = 0; i < count; i++) {
        /* finding: error_path_keeps_handles VMM-LEAK-HANDLE */
        if (cuMemCreate(&p->handle[i], size[i], &prop, 0) != CUDA_SUCCESS) {
            if (!leak)
                planes_drop(p);
            return false;
        }
        p->count++;
    }
    return true;
}

void planes_close(struct planes *p)
{
    planes_drop(p);
}

void counted_drop(struct counted *c, bool guarded)
{
    c->holders--;
    if (c->holders <= 0 && (!guarded || c->holders == 0))
        /* finding: released_twice VMM-RELEASE-HANDLE-STALE; other: released_twice; other: mapped_after_release */
        TRY(cuMemRelease(c->memory));
}

CUdeviceptr place_near(CUdeviceptr wanted, size_t size, bool forget)
{
    CUdeviceptr at = 0, other;
    DO(cuMemAddressReserve(&at, size, 0, wanted, 0)); /* finding: reservation_forgotten VMM-LEAK-RESERVATION */
    if (at == wanted)
        return at;
    other = at;
    DO(cuMemAddressReserve(&at, size, 0, 0, 0));
    if (!forget)
        DO(cuMemAddressFree(other, size));
    return at;
}

CUmemoryPool scratch_pool(void)
{
    CUmemPoolProps props;
    CUmemoryPool pool;
    memset(&props, 0, sizeof props);
    props.allocType = CU_MEM_ALLOCATION_TYPE_PINNED;
    props.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    DO(cuMemPoolCreate(&pool, &props));
    return pool;
}

void scratch_free(CUdeviceptr block, CUstream stream)
{
    /* finding: pool_memory_freed_twice VMM-POOL-FREE-UNKNOWN; other: pool_memory_freed_twice; other: used_after_the_free */
    TRY(cuMemFreeAsync(block, stream));
}
