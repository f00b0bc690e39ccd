/* SPDX-License-Identifier: Apache-2.0 */
#include "driver.h"

#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/cuda.h"
#include "subject.h"

#define GRANULE ((size_t)2 << 20)

static struct {
    CUresult (*init)(unsigned int);
    CUresult (*reserve)(CUdeviceptr *, size_t, size_t, CUdeviceptr, unsigned long long);
    CUresult (*create)(CUmemGenericAllocationHandle *, size_t, const CUmemAllocationProp *, unsigned long long);
    CUresult (*map)(CUdeviceptr, size_t, size_t, CUmemGenericAllocationHandle, unsigned long long);
    CUresult (*access)(CUdeviceptr, size_t, const CUmemAccessDesc *, size_t);
    CUresult (*ask)(unsigned long long *, const CUmemLocation *, CUdeviceptr);
    CUresult (*unmap)(CUdeviceptr, size_t);
    CUresult (*release)(CUmemGenericAllocationHandle);
    CUresult (*free)(CUdeviceptr, size_t);
} cu;

static bool find(void *library, const char *name, void *to)
{
    void *symbol = dlsym(library, name);
    if (!symbol)
        fprintf(stderr, "the library has no %s\n", name);
    memcpy(to, &symbol, sizeof symbol);
    return symbol != NULL;
}

bool driver_open(const char *library)
{
    void *loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
    if (!loaded) {
        fprintf(stderr, "%s\n", dlerror());
        return false;
    }
    bool ok = find(loaded, "cuInit", &cu.init) && find(loaded, "cuMemAddressReserve", &cu.reserve) &&
              find(loaded, "cuMemCreate", &cu.create) && find(loaded, "cuMemMap", &cu.map) &&
              find(loaded, "cuMemSetAccess", &cu.access) && find(loaded, "cuMemGetAccess", &cu.ask) &&
              find(loaded, "cuMemUnmap", &cu.unmap) &&
              find(loaded, "cuMemRelease", &cu.release) && find(loaded, "cuMemAddressFree", &cu.free);
    CUresult result = ok ? cu.init(0) : CUDA_SUCCESS;
    if (result != CUDA_SUCCESS)
        fprintf(stderr, "cuInit in %s says %d\n", library, (int)result);
    return ok && result == CUDA_SUCCESS;
}

static void need_cu(CUresult result, const char *what)
{
    if (result == CUDA_SUCCESS)
        return;
    fprintf(stderr, "%s says %d\n", what, (int)result);
    exit(1);
}

static const CUmemAllocationProp memory = {.type = CU_MEM_ALLOCATION_TYPE_PINNED,
                                           .location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = 0}};

struct driver_life {
    CUdeviceptr at;
    CUmemGenericAllocationHandle handle;
};

static struct driver_life begin(void)
{
    const CUmemAccessDesc rights = {memory.location, CU_MEM_ACCESS_FLAGS_PROT_READWRITE};
    struct driver_life life;
    need_cu(cu.reserve(&life.at, GRANULE, 0, 0, 0), "cuMemAddressReserve");
    need_cu(cu.create(&life.handle, GRANULE, &memory, 0), "cuMemCreate");
    need_cu(cu.map(life.at, GRANULE, 0, life.handle, 0), "cuMemMap");
    need_cu(cu.access(life.at, GRANULE, &rights, 1), "cuMemSetAccess");
    return life;
}

static void end(struct driver_life life)
{
    need_cu(cu.unmap(life.at, GRANULE), "cuMemUnmap");
    need_cu(cu.release(life.handle), "cuMemRelease");
    need_cu(cu.free(life.at, GRANULE), "cuMemAddressFree");
}

void driver_some_lives(void *state, unsigned units)
{
    (void)state;
    for (unsigned i = 0; i < units; i++)
        end(begin());
}

double driver_lives(void *state, unsigned units)
{
    double start = spent();
    driver_some_lives(state, units);
    return spent() - start;
}

double driver_questions(void *state, unsigned units)
{
    struct driver_life life = begin();
    unsigned long long rights;
    double start = spent();
    (void)state;
    for (unsigned i = 0; i < units; i++)
        need_cu(cu.ask(&rights, &memory.location, life.at), "cuMemGetAccess");
    double took = spent() - start;
    end(life);
    return took;
}
