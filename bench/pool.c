/* SPDX-License-Identifier: Apache-2.0 */
/* pool - a long trace, for programs that read traces: a pool of memory on two devices whose pieces are made and ended in turn.
 *
 *   bench-pool TRACE [CALLS]        calls.vtrace, 1000000
 *
 * 3,000 mappings live at a time, in 50 reservations; every 470th call or so is a mistake. TRACE is a name for the trace layer:
 * its end chooses the form. bench/view.py opens what it makes. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vmm.h"

enum { LIVE = 3000, SLOTS = 3200, PER_RANGE = 64, RANGES = SLOTS / PER_RANGE };
static const uint64_t granule = UINT64_C(2) << 20;

struct pool {
    vmm_system *sys;
    vmm_deviceptr range[RANGES];
    vmm_mem_generic_allocation_handle handle[SLOTS];
    uint64_t calls;
};

static void need(struct pool *pool, vmm_result result, const char *what)
{
    pool->calls++;
    if (result == VMM_SUCCESS)
        return;
    fprintf(stderr, "bench-pool: %s: %s\n", what, vmm_last_detail()->note);
    exit(1);
}

static vmm_deviceptr place_of(const struct pool *pool, unsigned slot)
{
    return pool->range[slot / PER_RANGE] + slot % PER_RANGE * granule;
}

static void make(struct pool *pool, uint64_t cycle)
{
    const unsigned slot = (unsigned)(cycle % SLOTS);
    const vmm_mem_allocation_prop prop = {.type = VMM_MEM_ALLOCATION_TYPE_PINNED,
                                          .location = {VMM_MEM_LOCATION_TYPE_DEVICE, (int)(cycle % 2)}};
    const vmm_mem_access_desc desc[2] = {{{VMM_MEM_LOCATION_TYPE_DEVICE, 0}, VMM_MEM_ACCESS_FLAGS_PROT_READWRITE},
                                         {{VMM_MEM_LOCATION_TYPE_DEVICE, 1}, cycle % 3 ? VMM_MEM_ACCESS_FLAGS_PROT_READ
                                                                                       : VMM_MEM_ACCESS_FLAGS_PROT_READWRITE}};
    need(pool, vmm_mem_create(pool->sys, &pool->handle[slot], granule, &prop, 0), "create");
    need(pool, vmm_mem_map(pool->sys, place_of(pool, slot), granule, 0, pool->handle[slot], 0), "map");
    need(pool, vmm_mem_set_access(pool->sys, place_of(pool, slot), granule, desc, 2), "set access");
    if (cycle % 94 == 7) { /* the same place again */
        vmm_mem_map(pool->sys, place_of(pool, slot), granule, 0, pool->handle[slot], 0);
        pool->calls++;
    }
}

static void end(struct pool *pool, uint64_t cycle)
{
    const unsigned slot = (unsigned)(cycle % SLOTS);
    need(pool, vmm_mem_unmap(pool->sys, place_of(pool, slot), granule), "unmap");
    need(pool, vmm_mem_release(pool->sys, pool->handle[slot]), "release");
}

int main(int argc, char **argv)
{
    static struct pool pool;
    const uint64_t most = argc > 2 ? strtoull(argv[2], NULL, 10) : 1000000;
    char spec[4096];
    if (argc < 2 || argc > 3 || snprintf(spec, sizeof spec, "trace=%s|sim:h200x2", argv[1]) >= (int)sizeof spec) {
        fprintf(stderr, "usage: bench-pool TRACE [CALLS]\n");
        return 2;
    }
    if (vmm_open(spec, &pool.sys) != VMM_SUCCESS) {
        fprintf(stderr, "bench-pool: %s\n", vmm_last_detail()->note);
        return 1;
    }
    need(&pool, vmm_init(pool.sys, 0), "init");
    for (unsigned i = 0; i < RANGES; i++)
        need(&pool, vmm_mem_address_reserve(pool.sys, &pool.range[i], PER_RANGE * granule, 0, 0, 0), "reserve");
    for (uint64_t cycle = 0; pool.calls < most; cycle++) {
        make(&pool, cycle);
        if (cycle >= LIVE)
            end(&pool, cycle - LIVE);
    }
    vmm_close(pool.sys);
    printf("%" PRIu64 " calls\n", pool.calls);
}
