/* SPDX-License-Identifier: Apache-2.0 */
#include "live.h"

#include <stdio.h>
#include <stdlib.h>

#include "subject.h"

#define GRANULE (UINT64_C(2) << 20)

const vmm_mem_allocation_prop live_memory = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                             .location = {VMM_MEM_LOCATION_TYPE_DEVICE, 0}};
const vmm_mem_access_desc live_rights = {{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE};

void need(vmm_result result, const char *what)
{
    if (result == VMM_SUCCESS)
        return;
    char text[1024];
    vmm_detail_text(vmm_last_detail(), text, sizeof text);
    fprintf(stderr, "%s: %s", what, text);
    exit(1);
}

static void *room(size_t size)
{
    void *memory_for_it = malloc(size);
    if (!memory_for_it) {
        fputs("the host has no memory left\n", stderr);
        exit(1);
    }
    return memory_for_it;
}

void live_open(struct live *live, const char *spec, uint64_t count, uint64_t life_size)
{
    vmm_context ctx;
    *live = (struct live){.count = count, .size = GRANULE, .chance = 1, .life_size = life_size};
    need(vmm_open(spec, &live->sys), spec);
    need(vmm_init(live->sys, 0), "init");
    need(vmm_ctx_create(live->sys, &ctx, 0, 0), "context");
    need(vmm_mem_create(live->sys, &live->handle, GRANULE, &live_memory, 0), "create");
    need(vmm_mem_address_reserve(live->sys, &live->at, count * GRANULE, 0, 0, 0), "reserve");
    for (uint64_t i = 0; i < count; i++) {
        need(vmm_mem_map(live->sys, live->at + i * GRANULE, GRANULE, 0, live->handle, 0), "map");
        need(vmm_mem_set_access(live->sys, live->at + i * GRANULE, GRANULE, &live_rights, 1), "set access");
    }
    live->address = room(LIVE_BATCH * sizeof *live->address);
    live->made = room(LIVE_BATCH * sizeof *live->made);
}

void live_close(struct live *live)
{
    free(live->address);
    free(live->made);
    vmm_close(live->sys);
}

/* ---- lives ---- */

void live_some_lives(void *state, unsigned units)
{
    struct live *live = state;
    vmm_system *sys = live->sys;
    uint64_t size = live->life_size;
    for (unsigned i = 0; i < units; i++) {
        vmm_deviceptr at;
        vmm_mem_generic_allocation_handle handle;
        need(vmm_mem_address_reserve(sys, &at, size, 0, 0, 0), "reserve");
        need(vmm_mem_create(sys, &handle, size, &live_memory, 0), "create");
        need(vmm_mem_map(sys, at, size, 0, handle, 0), "map");
        need(vmm_mem_set_access(sys, at, size, &live_rights, 1), "set access");
        need(vmm_mem_unmap(sys, at, size), "unmap");
        need(vmm_mem_release(sys, handle), "release");
        need(vmm_mem_address_free(sys, at, size), "free");
    }
}

double live_lives(void *state, unsigned units)
{
    double start = spent();
    live_some_lives(state, units);
    return spent() - start;
}

/* ---- calls, one by one ---- */

#define CALL(name, ...)                              \
    double live_##name(void *state, unsigned units)  \
    {                                                \
        struct live *live = state;                   \
        vmm_system *sys = live->sys;                 \
        uint64_t size = live->life_size;             \
        double start = spent();                        \
        (void)size;                                  \
        for (unsigned i = 0; i < units; i++)         \
            need(__VA_ARGS__, #name);                \
        return spent() - start;                        \
    }

CALL(reserve, vmm_mem_address_reserve(sys, &live->address[i], size, 0, 0, 0))
CALL(create, vmm_mem_create(sys, &live->made[i], size, &live_memory, 0))
CALL(map, vmm_mem_map(sys, live->address[i], size, 0, live->made[i], 0))
CALL(set_access, vmm_mem_set_access(sys, live->address[i], size, &live_rights, 1))
/* analysers: internalAstError is wrong: cppcheck 2.10 does not know a literal among arguments */
CALL(get_access, vmm_mem_get_access(sys, &(uint64_t){0}, &live_rights.location, live->address[i]))
CALL(pointer_attribute,
     vmm_pointer_get_attribute(sys, &(uint64_t){0}, VMM_POINTER_ATTRIBUTE_RANGE_SIZE, live->address[i]))
CALL(unmap, vmm_mem_unmap(sys, live->address[i], size))
CALL(release, vmm_mem_release(sys, live->made[i]))
CALL(free, vmm_mem_address_free(sys, live->address[i], size))

/* ---- at random places ---- */

/* The address of one of the live mappings. */
static vmm_deviceptr somewhere(const struct live *live, uint64_t *chance)
{
    *chance = *chance * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return live->at + (*chance >> 33) % live->count * live->size;
}

void live_some_reads(void *state, unsigned units)
{
    struct live *live = state;
    uint64_t value = 0, chance = live->chance;
    for (unsigned i = 0; i < units; i++) {
        vmm_deviceptr at = somewhere(live, &chance);
        if (i % 2)
            need(vmm_mem_get_access(live->sys, &value, &live_rights.location, at), "get access");
        else
            need(vmm_pointer_get_attribute(live->sys, &value, VMM_POINTER_ATTRIBUTE_RANGE_SIZE, at), "attribute");
    }
}

double live_reads(void *state, unsigned units)
{
    double start = spent();
    live_some_reads(state, units);
    return spent() - start;
}

double live_remaps(void *state, unsigned units)
{
    struct live *live = state;
    double start = spent();
    for (unsigned i = 0; i < units; i++) {
        vmm_deviceptr at = somewhere(live, &live->chance);
        need(vmm_mem_unmap(live->sys, at, live->size), "unmap");
        need(vmm_mem_map(live->sys, at, live->size, 0, live->handle, 0), "map");
        need(vmm_mem_set_access(live->sys, at, live->size, &live_rights, 1), "set access");
    }
    return spent() - start;
}

static double works(struct live *live, unsigned units, unsigned at_once)
{
    double start = spent();
    for (unsigned i = 0; i < units; i++) {
        need(vmm_memset_d8_async(live->sys, live->at + i % live->size, 1, 1, NULL), "work");
        if (i % at_once == at_once - 1)
            need(vmm_ctx_synchronize(live->sys), "wait");
    }
    need(vmm_ctx_synchronize(live->sys), "wait");
    return spent() - start;
}

double live_works(void *state, unsigned units)
{
    return works(state, units, units);
}

double live_works_by_the_hundred(void *state, unsigned units)
{
    return works(state, units, 100);
}

double live_pieces(void *state, unsigned units)
{
    struct live *live = state;
    uint64_t most = UINT64_MAX;
    vmm_memory_pool pool = NULL;
    need(vmm_device_get_default_mem_pool(live->sys, &pool, 0), "default pool");
    need(vmm_mem_pool_set_attribute(live->sys, pool, VMM_MEMPOOL_ATTR_RELEASE_THRESHOLD, &most), "threshold");
    double start = spent();
    for (unsigned i = 0; i < units; i++) {
        vmm_deviceptr piece = 0;
        need(vmm_mem_alloc_async(live->sys, &piece, live->life_size, NULL), "allocate");
        need(vmm_mem_free_async(live->sys, piece, NULL), "free");
    }
    return spent() - start;
}
